import { setImmediate, setTimeout as delay } from 'node:timers/promises'
import { hintKey } from '../hints.ts'
import type { Hint } from '../store.ts'
import type { Database } from './connections.ts'
import type { Statement } from './session.ts'

export const CHANNEL = 'runsheet'

/** PostgreSQL's limit is 7,999 bytes. */
const MAX_BYTES = 7_900

/** Pause after each message: a busy process sends a hundred per second instead of one per commit. */
const PAUSE_MS = 10

type Message = readonly [sender: string, hints: readonly HintTuple[]]
type HintTuple = readonly [tenant: string, conversation: string, seq: number, kind: Hint['kind']]

export class Notifier {
  readonly #database: Database
  readonly #sender: string
  readonly #waiting = new Map<string, Hint>()
  #busy: Promise<void> | undefined

  constructor(database: Database, sender: string) {
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
      const hints = [...this.#waiting.values()]
      this.#waiting.clear()
      try {
        await this.#database.query(NOTIFY, [payloads(this.#sender, hints)])
      } catch {
        // Hints are optional: listeners also poll.
      }
      await delay(PAUSE_MS)
    }
    this.#busy = undefined
  }
}

/** Parses another process's hints; empty for our own echo and for foreign messages. */
export function hintsIn(payload: string | undefined, self: string): Hint[] {
  const message = parsed(payload)
  if (!message || message[0] === self) return []
  return message[1].map(([tenant, conversation, seq, kind]) =>
    kind === 'text' ? { tenant, conversation, kind } : { tenant, conversation, kind: 'log', seq },
  )
}

function parsed(payload: string | undefined): Message | undefined {
  try {
    const message: unknown = JSON.parse(payload ?? '')
    return isMessage(message) ? message : undefined
  } catch {
    return undefined
  }
}

function isMessage(message: unknown): message is Message {
  if (!Array.isArray(message) || typeof message[0] !== 'string' || !Array.isArray(message[1])) return false
  return message[1].every(
    hint =>
      Array.isArray(hint) && typeof hint[0] === 'string' && typeof hint[1] === 'string' && Number.isInteger(hint[2]),
  )
}

const asTuple = (hint: Hint): HintTuple => [
  hint.tenant,
  hint.conversation,
  hint.kind === 'log' ? hint.seq : 0,
  hint.kind,
]

function payloads(sender: string, hints: readonly Hint[]): string[] {
  const whole = JSON.stringify([sender, hints.map(asTuple)] satisfies Message)
  if (Buffer.byteLength(whole) <= MAX_BYTES) return [whole]
  // Polling covers a single hint that is too large.
  if (hints.length === 1) return []
  const half = Math.ceil(hints.length / 2)
  return [...payloads(sender, hints.slice(0, half)), ...payloads(sender, hints.slice(half))]
}

// Not flushed, because losing a hint is harmless.
const NOTIFY: Statement = {
  name: 'runsheet-notify',
  text: `SELECT set_config('synchronous_commit', 'off', true), pg_notify('${CHANNEL}', payload)
    FROM unnest($1::text[]) AS payload`,
}
