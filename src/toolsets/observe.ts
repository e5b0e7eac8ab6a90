import type { Logger } from 'pino'

/** What is known of a call afterwards: figures and names, never what the tasks say. */
export interface ObservedCall {
  readonly toolset: string
  readonly tool: string
  /** How many elements the call brought, where it brings a list. */
  readonly items: number
  readonly duration_ms: number
  readonly outcome: 'ok' | 'refused' | 'pending_review' | 'claimed' | 'failed'
  readonly provider?: string
  readonly model?: string
}

/** An observer that writes each call to a log, at debug. */
export const logCalls =
  (logger: Pick<Logger, 'debug'>) =>
  (call: ObservedCall): void =>
    logger.debug(call, 'tool call')

/** The length of the list that an input brings. */
export function countItems(input: unknown): number {
  if (typeof input !== 'object' || input === null) return 0
  return Object.values(input).reduce(
    (most: number, value: unknown) => (Array.isArray(value) ? Math.max(most, value.length) : most),
    0,
  )
}
