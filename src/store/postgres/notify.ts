import { setTimeout as delay } from 'node:timers/promises'
import { hintKey } from '../hints.ts'
import type { Hint } from '../store.ts'
import type { Database, Statement } from './connections.ts'

export const CHANNEL = 'runsheet'

/** PostgreSQL takes no more than 7,999 bytes. */
const MOST_BYTES = 7_900

/** After each message, so that a busy process sends a hundred a second and not one for each commit. */
const PAUSE_MS = 10

type Message = readonly [sender: string, hints: readonly Told[]]
type Told = readonly [tenant: string, conversation: string, seq: number, kind: Hint['kind']]

/** Tells the other processes what was written: afterwards, the newest of each conversation, one message at a time. */
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
      // Whoever commits in the same turn of the event loop goes along.
      await new Promise(resolve => setImmediate(resolve))
      const hints = [...this.#waiting.values()]
      this.#waiting.clear()
      try {
        await this.#database.use(session => session.query(NOTIFY, [payloads(this.#sender, hints)]), 0)
      } catch {
        // Only hints: those who listen look for themselves as well.
      }
      await delay(PAUSE_MS)
    }
    this.#busy = undefined
  }
}

/** What another process said; nothing if it is our own echo, or not ours at all. */
export function heard(payload: string | undefined, self: string): Hint[] {
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

const told = (hint: Hint): Told => [hint.tenant, hint.conversation, hint.kind === 'log' ? hint.seq : 0, hint.kind]

/** As few messages as the size allows. */
function payloads(sender: string, hints: readonly Hint[]): string[] {
  const whole = JSON.stringify([sender, hints.map(told)] satisfies Message)
  if (Buffer.byteLength(whole) <= MOST_BYTES) return [whole]
  // One that does not fit alone is left to those who look.
  if (hints.length === 1) return []
  const half = Math.ceil(hints.length / 2)
  return [...payloads(sender, hints.slice(0, half)), ...payloads(sender, hints.slice(half))]
}

// Nothing is lost with it, so nobody waits for a flush.
const NOTIFY: Statement = {
  name: 'runsheet-notify',
  text: `SELECT set_config('synchronous_commit', 'off', true), pg_notify('${CHANNEL}', payload)
    FROM unnest($1::text[]) AS payload`,
}
