import type { Conversation } from '../../core/model/conversation.ts'
import { originOf } from '../../core/model/origin.ts'
import { redactor } from '../../core/text/redact.ts'
import type { TurnDeps, TurnOptions } from '../turn/drive.ts'
import type { HeldLease } from './held-lease.ts'
import { LiveText } from '../turn/live.ts'
import { DEFAULT_LIMITS, noTools, type OutsideTools, withoutSecrets } from './outside.ts'

const RETRY_MS = 1_000

/** Loaded with the first turn, or once the server is up: with AI SDK it takes as long as the rest of the start. */
export const importDrive = () => import('../turn/drive.ts')

export function turnDeps(options: TurnOptions): TurnDeps {
  const { outside = noTools, redact = redactor(), onText = () => {}, onError } = options
  const door = options.door.from(originOf('agent', 'turn'))
  return {
    limits: DEFAULT_LIMITS,
    rules: () => ({}),
    retryMs: RETRY_MS,
    ...options,
    door,
    outside: withoutFailures(withoutSecrets(outside, redact), error => onError?.(error)),
    redact,
    live: new LiveText(door, onText),
  }
}

export class DriveWork {
  readonly held: HeldLease
  readonly #deps: TurnDeps
  readonly #stop = new AbortController()
  readonly #leave = new AbortController()

  constructor(held: HeldLease, deps: TurnDeps) {
    this.held = held
    this.#deps = deps
  }

  get isOver(): boolean {
    return this.#leave.signal.aborted
  }

  async run(): Promise<void> {
    try {
      const { drive } = await importDrive()
      await drive(this.held, this.#deps, { stop: this.#stop.signal, leave: this.#leave.signal })
    } finally {
      this.#deps.live.forget(this.held.lease)
    }
  }

  saw({ turns }: Conversation): void {
    if (turns.get(this.held.lease.turn)?.stop_requested) this.#stop.abort(new Error('Stopped.'))
  }

  leave(): void {
    this.#leave.abort(new Error('The worker was closed.'))
  }

  lose(): void {
    this.#leave.abort(new Error('Taken over.'))
  }
}

const withoutFailures = (outside: OutsideTools, onError: (error: unknown) => void): OutsideTools => ({
  list: async model => {
    try {
      return await outside.list(model)
    } catch (error) {
      onError(error)
      return []
    }
  },
  close: () => outside.close(),
})
