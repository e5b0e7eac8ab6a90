import { setTimeout as delay } from 'node:timers/promises'
import { aborted } from 'node:util'
import { Client } from 'pg'
import { hintKey, Hints } from '../hints.ts'
import type { Hint, Ref } from '../store.ts'
import { type Database, MAX_WAIT_MS, type Statement } from './connections.ts'
import { CHANNEL, hintsIn } from './notify.ts'

const POLL_MS = 1_500

/** How far polls overlap: a write may become visible this much later than its timestamp. */
const OVERLAP_MS = 10_000

const RECONNECT_AFTER_MS = 500

interface Changed extends Ref {
  readonly kind: Hint['kind']
  readonly seq: number
  /** Differs after each write. */
  readonly mark: string
}

/**
 * Hints about commits of other processes, while there are listeners: by LISTEN on a connection of its own, and by
 * polling, because that connection can break and poolers pass no notifications.
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
      const client = new Client({
        connectionString: this.#url,
        application_name: 'runsheet-listen',
        keepAlive: true,
        connectionTimeoutMillis: MAX_WAIT_MS,
      })
      client.on('error', () => {})
      client.on('notification', ({ payload }) => {
        for (const hint of hintsIn(payload, this.#self)) this.hints.publish(hint)
      })
      const ended = new Promise<void>(resolve => client.once('end', () => resolve()))
      try {
        await client.connect()
        await client.query(`LISTEN ${CHANNEL}`)
        // Catch up on what was written before LISTEN.
        this.#poll()
        await Promise.race([ended, aborted(signal, client)])
      } catch {
        // Polling goes on meanwhile.
      }
      await client.end()
      await delay(RECONNECT_AFTER_MS, undefined, { signal, ref: false }).catch(() => {})
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
      const changed = await this.#database.use(session => session.query<Changed>(CHANGED, [back]), 0)
      const seen = new Map<string, string>()
      for (const { mark, ...hint } of changed) {
        seen.set(hintKey(hint), mark)
        if (this.#seen.get(hintKey(hint)) !== mark) this.hints.publish(hint)
      }
      this.#seen = seen
      this.#polledAt = now
    } catch {
      // The next poll goes back to the last one that succeeded.
    }
  }
}

const SINCE = `statement_timestamp() - $1::float8 * interval '1 millisecond'`

const CHANGED: Statement = {
  name: 'runsheet-changed',
  text: `SELECT 'log' AS kind, tenant, conversation, seq, xmin::text AS mark
    FROM runsheet.conversations WHERE changed_at >= ${SINCE} AND seq > 0
    UNION ALL
    SELECT 'text', tenant, conversation, 0, xmin::text FROM runsheet.live WHERE changed_at >= ${SINCE}`,
}
