import { Socket } from 'node:net'
import { setImmediate, setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'
import { hintKey, Hints } from '../hints.ts'
import type { Hint } from '../store.ts'
import { type Connections, setLimits } from './connections.ts'
import { SCHEMA } from './schema.ts'

const CHANNEL = 'runsheet'

/** Pause after each message: a busy process sends a hundred per second instead of one per commit. */
const NOTIFY_PAUSE_MS = 10
/** PostgreSQL's limit is 8,000 bytes. */
const MAX_BYTES = 7_900

const POLL_MS = 1_500
/** Overlap of polls: a write may become visible this much later than its timestamp. */
const OVERLAP_MS = 10_000
const RECONNECT_AFTER_MS = 500
/** Of the connection and of a poll. */
const ANSWER_MS = 2_000

/** Tells other processes what changed. Hints are optional: listeners also poll. */
export class Notifier {
  readonly #database: Connections
  readonly #sender: string
  readonly #waiting = new Map<string, Hint>()
  #busy: Promise<void> | undefined

  constructor(database: Connections, sender: string) {
    this.#database = database
    this.#sender = sender
  }

  add(hint: Hint): void {
    this.#waiting.set(hintKey(hint), hint)
    this.#busy ??= this.#run()
  }

  async idle(): Promise<void> {
    await this.#busy
  }

  async #run(): Promise<void> {
    while (this.#waiting.size > 0) {
      // Commits of the same event loop turn share a message.
      await setImmediate()
      const payloads = [...this.#waiting.values()].map(hint => JSON.stringify({ sender: this.#sender, hint }))
      this.#waiting.clear()
      const sendable = payloads.filter(payload => Buffer.byteLength(payload) <= MAX_BYTES)
      await this.#database.query(NOTIFY, [sendable]).catch(() => {})
      await delay(NOTIFY_PAUSE_MS)
    }
    this.#busy = undefined
  }
}

/** Another process's hint; undefined for our own echo and for foreign messages. */
function hintIn(payload: string | undefined, self: string): Hint | undefined {
  try {
    const { sender, hint } = JSON.parse(payload ?? '')
    return sender === self || typeof hint?.conversation !== 'string' ? undefined : hint
  } catch {
    return undefined
  }
}

type Changed = Hint & {
  /** Differs after each write. */
  readonly mark: string
}

/**
 * Hints about commits of other processes, while there are listeners: by NOTIFY, and by a poll on the same connection,
 * because poolers pass no notifications. The poll also notices a connection that broke silently.
 */
export class Listener {
  readonly hints = new Hints(
    () => this.#start(),
    () => this.#stop.abort(),
  )
  readonly #url: string
  readonly #self: string
  #stop = new AbortController()
  #listening: Promise<void> = Promise.resolve()
  #polledAt = 0
  #seen: ReadonlyMap<string, string> = new Map()

  constructor(url: string, self: string) {
    this.#url = url
    this.#self = self
  }

  async close(): Promise<void> {
    this.#stop.abort()
    await this.#listening
  }

  #start(): void {
    this.#stop = new AbortController()
    const { signal } = this.#stop
    this.#listening = this.#listening.then(() => this.#listen(signal))
    this.#polledAt = performance.now()
    this.#seen = new Map()
  }

  async #listen(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#follow(signal)
      await delay(RECONNECT_AFTER_MS, undefined, { signal, ref: false }).catch(() => {})
    }
  }

  /** Returns once the connection is lost. */
  async #follow(signal: AbortSignal): Promise<void> {
    // Our own, so that it can be dropped without a goodbye.
    const socket = new Socket()
    const client = new Client({
      connectionString: this.#url,
      application_name: 'runsheet-listen',
      connectionTimeoutMillis: ANSWER_MS,
      query_timeout: ANSWER_MS,
      keepAlive: true,
      stream: () => socket,
    })
    const over = new AbortController()
    const stop = (): void => void socket.destroy()
    signal.addEventListener('abort', stop)
    client.on('error', () => {})
    client.once('end', () => over.abort())
    client.on('notification', ({ payload }) => {
      const hint = hintIn(payload, this.#self)
      if (hint) this.hints.publish(hint)
    })
    try {
      await client.connect()
      setLimits(client, ANSWER_MS)
      await client.query(`LISTEN ${CHANNEL}`)
      for (;;) {
        await this.#poll(client)
        await delay(POLL_MS, undefined, { signal: over.signal, ref: false })
      }
    } catch {
      socket.destroy()
    } finally {
      signal.removeEventListener('abort', stop)
    }
  }

  async #poll(client: Client): Promise<void> {
    const now = performance.now()
    const { rows } = await client.query<Changed>(CHANGED, [now - this.#polledAt + OVERLAP_MS])
    const seen = new Map<string, string>()
    for (const { mark, ...hint } of rows) {
      seen.set(hintKey(hint), mark)
      if (this.#seen.get(hintKey(hint)) !== mark) this.hints.publish(hint)
    }
    this.#seen = seen
    this.#polledAt = now
  }
}

// Not flushed, because losing a hint is harmless.
const NOTIFY = `SELECT set_config('synchronous_commit', 'off', true), pg_notify('${CHANNEL}', payload)
  FROM unnest($1::text[]) AS payload`

const SINCE = `statement_timestamp() - $1::float8 * interval '1 millisecond'`

const CHANGED = `SELECT 'log' AS kind, tenant, conversation, seq, xmin::text AS mark
  FROM ${SCHEMA}.conversations WHERE changed_at >= ${SINCE} AND seq > 0
  UNION ALL
  SELECT 'text', tenant, conversation, 0, xmin::text FROM ${SCHEMA}.live WHERE changed_at >= ${SINCE}`
