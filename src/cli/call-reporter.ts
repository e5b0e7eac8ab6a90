import type { ObservedCall } from '../door/door.ts'
import type { ReportedCall } from '../http/plan-metrics.ts'

export interface ReportTarget {
  readonly url: string
  readonly token: string
}

const DELAY_MS = 1_000
/** The server's limit per request. Further calls are dropped while no server runs. */
const MAX_CALLS = 100
const TIMEOUT_MS = 5_000

/** Reports calls to the page server's metrics in the background. A lost report costs only a count. */
export class CallReporter {
  readonly #target: () => ReportTarget | undefined
  #calls: ReportedCall[] = []
  #timer: NodeJS.Timeout | undefined

  /** `target` is resolved at each report; undefined if no server runs. */
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
