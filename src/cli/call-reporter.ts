import type { ObservedCall } from '../door/door.ts'
import type { ReportedCall } from '../http/plan-metrics.ts'

/** A server that counts calls, and the token to report them with. */
export interface ReportTarget {
  readonly url: string
  readonly token: string
}

const DELAY_MS = 1_000
/** What the server takes at once. Calls beyond it, while no server runs, are not reported. */
const MAX_CALLS = 100
const TIMEOUT_MS = 5_000

/** Reports calls to the metrics of the page's server, in the background. A lost report is a missing count, nothing else. */
export class CallReporter {
  readonly #target: () => ReportTarget | undefined
  #calls: ReportedCall[] = []
  #timer: NodeJS.Timeout | undefined

  /** `target` finds the server whenever there is something to report; undefined if none runs. */
  constructor(target: () => ReportTarget | undefined) {
    this.#target = target
  }

  add({ toolset, tool, outcome, items, duration_ms }: ObservedCall): void {
    if (this.#calls.length >= MAX_CALLS) return
    this.#calls.push({ toolset, tool, outcome, items, duration_ms })
    this.#timer ??= setTimeout(() => void this.flush(), DELAY_MS).unref()
  }

  /** Sends what has been collected. Never rejects. */
  async flush(timeoutMs = TIMEOUT_MS): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#calls.length > 0) await this.#send(timeoutMs).catch(() => {})
  }

  async #send(timeoutMs: number): Promise<void> {
    const target = this.#target()
    if (!target) return
    const calls = this.#calls
    this.#calls = []
    await fetch(new URL('/api/metrics/calls', target.url), {
      method: 'POST',
      headers: { authorization: `Bearer ${target.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ calls }),
      signal: AbortSignal.timeout(timeoutMs),
    })
  }
}
