import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'
import { hintKey, Hints } from '../hints.ts'
import type { Hint, Ref } from '../store.ts'
import { type Database, PATIENCE_MS, type Statement } from './connections.ts'
import { CHANNEL, heard } from './notify.ts'

const LOOK_EVERY_MS = 1_500

/** How much further back each look goes: a write may become visible that much later than it was made. */
const OVERLAP_MS = 10_000

const RECONNECT_AFTER_MS = 500

interface Changed extends Ref {
  readonly kind: Hint['kind']
  readonly seq: number
  /** Differs after each write. */
  readonly mark: string
}

/**
 * Notices what other processes commit, while anybody listens: told at once on a connection of its own, and by a look
 * every now and then, because that connection can break, and behind a pooler nothing comes through it.
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
  #looking: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined
  #lookedAt = 0
  #seen: ReadonlyMap<string, string> = new Map()

  constructor(url: string, database: Database, self: string) {
    this.#url = url
    this.#database = database
    this.#self = self
  }

  async close(): Promise<void> {
    this.#end()
    await this.#listening
    await this.#looking
  }

  #start(): void {
    const stop = new AbortController()
    this.#stop = stop
    this.#lookedAt = performance.now()
    this.#seen = new Map()
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS).unref()
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
        connectionTimeoutMillis: PATIENCE_MS,
      })
      client.on('error', () => {})
      client.on('notification', ({ payload }) => {
        for (const hint of heard(payload, this.#self)) this.hints.publish(hint)
      })
      const ended = new Promise<void>(resolve => client.once('end', () => resolve()))
      try {
        await client.connect()
        await client.query(`LISTEN ${CHANNEL}`)
        // What was written until now, since nobody told us.
        this.#look()
        await Promise.race([ended, aborted(signal)])
      } catch {
        // Looking goes on meanwhile.
      }
      await client.end()
      await delay(RECONNECT_AFTER_MS, undefined, { signal, ref: false }).catch(() => {})
    }
  }

  #look(): void {
    this.#looking ??= this.#publishChanged().finally(() => {
      this.#looking = undefined
    })
  }

  async #publishChanged(): Promise<void> {
    const now = performance.now()
    const back = now - this.#lookedAt + OVERLAP_MS
    try {
      const changed = await this.#database.use(session => session.query<Changed>(CHANGED, [back]), 0)
      const seen = new Map<string, string>()
      for (const { mark, ...hint } of changed) {
        seen.set(hintKey(hint), mark)
        if (this.#seen.get(hintKey(hint)) !== mark) this.hints.publish(hint)
      }
      this.#seen = seen
      this.#lookedAt = now
    } catch {
      // The next look goes back as far as the last one that succeeded.
    }
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

const SINCE = `statement_timestamp() - $1::float8 * interval '1 millisecond'`

const CHANGED: Statement = {
  name: 'runsheet-changed',
  text: `SELECT 'log' AS kind, tenant, conversation, seq, xmin::text AS mark
    FROM runsheet.conversations WHERE changed_at >= ${SINCE} AND seq > 0
    UNION ALL
    SELECT 'text', tenant, conversation, 0, xmin::text FROM runsheet.live WHERE changed_at >= ${SINCE}`,
}
