import { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'
import { hintKey, Hints } from '../hints.ts'
import type { Hint, Ref } from '../store.ts'
import type { Database } from './connections.ts'
import { CHANNEL, hintsIn } from './notify.ts'
import { SCHEMA } from './schema.ts'
import { setLimits, type Statement } from './session.ts'

const POLL_MS = 1_500

/** Overlap of polls: a write may become visible this much later than its timestamp. */
const OVERLAP_MS = 10_000

const RECONNECT_AFTER_MS = 500

const HEARTBEAT_MS = 1_500
/** Of the connection and of a heartbeat. */
const ANSWER_MS = 2_000

interface Changed extends Ref {
  readonly kind: Hint['kind']
  readonly seq: number
  /** Differs after each write. */
  readonly mark: string
}

/**
 * Hints about commits of other processes, while there are listeners. LISTEN has its own connection; polling covers for
 * it, because that connection can break and poolers pass no notifications. A heartbeat detects a connection that broke
 * silently.
 */
export class Listener {
  readonly hints = new Hints(
    () => this.#start(),
    () => this.#end(),
  )
  readonly #url: string
  readonly #database: Database
  readonly #self: string
  #stop: AbortController | undefined
  #listening: Promise<void> = Promise.resolve()
  #polling: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined
  #polledAt = 0
  #seen: ReadonlyMap<string, string> = new Map()

  constructor(url: string, database: Database, self: string) {
    this.#url = url
    this.#database = database
    this.#self = self
  }

  async close(): Promise<void> {
    this.#end()
    await this.#listening
    await this.#polling
  }

  #start(): void {
    const stop = new AbortController()
    this.#stop = stop
    this.#polledAt = performance.now()
    this.#seen = new Map()
    this.#timer = setInterval(() => this.#poll(), POLL_MS).unref()
    const before = this.#listening
    this.#listening = this.#listen(stop.signal).then(() => before)
  }

  #end(): void {
    clearInterval(this.#timer)
    this.#stop?.abort()
  }

  async #listen(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#follow(signal)
      await delay(RECONNECT_AFTER_MS, undefined, { signal, ref: false }).catch(() => {})
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    // Our own, so that it can be dropped without a goodbye.
    const socket = new Socket()
    const client = new Client({
      connectionString: this.#url,
      application_name: 'runsheet-listen',
      connectionTimeoutMillis: ANSWER_MS,
      query_timeout: ANSWER_MS,
      keepAlive: true,
      pipeline: true,
      stream: () => socket,
    })
    const over = new AbortController()
    const stop = (): void => void socket.destroy()
    signal.addEventListener('abort', stop)
    client.on('error', () => {})
    client.once('end', () => over.abort())
    client.on('notification', ({ payload }) => {
      for (const hint of hintsIn(payload, this.#self)) this.hints.publish(hint)
    })
    try {
      await client.connect()
      setLimits(client, ANSWER_MS)
      await client.query(`LISTEN ${CHANNEL}`)
      // Catch up on writes from before LISTEN.
      this.#poll()
      for (;;) {
        await delay(HEARTBEAT_MS, undefined, { signal: over.signal, ref: false })
        await client.query(';')
      }
    } catch {
      // Polling continues meanwhile.
      socket.destroy()
    } finally {
      signal.removeEventListener('abort', stop)
    }
  }

  #poll(): void {
    this.#polling ??= this.#publishChanged().finally(() => {
      this.#polling = undefined
    })
  }

  async #publishChanged(): Promise<void> {
    const now = performance.now()
    const back = now - this.#polledAt + OVERLAP_MS
    try {
      const changed = await this.#database.query<Changed>(CHANGED, [back])
      const seen = new Map<string, string>()
      for (const { mark, ...hint } of changed) {
        seen.set(hintKey(hint), mark)
        if (this.#seen.get(hintKey(hint)) !== mark) this.hints.publish(hint)
      }
      this.#seen = seen
      this.#polledAt = now
    } catch {
      // The next poll starts at the last one that succeeded.
    }
  }
}

const SINCE = `statement_timestamp() - $1::float8 * interval '1 millisecond'`

const CHANGED: Statement = {
  name: 'runsheet-changed',
  text: `SELECT 'log' AS kind, tenant, conversation, seq, xmin::text AS mark
    FROM ${SCHEMA}.conversations WHERE changed_at >= ${SINCE} AND seq > 0
    UNION ALL
    SELECT 'text', tenant, conversation, 0, xmin::text FROM ${SCHEMA}.live WHERE changed_at >= ${SINCE}`,
}
