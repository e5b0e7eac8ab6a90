import type { Logger } from 'pino'
import type { Observer } from '../door/door.ts'

/** An observer that logs each call at debug level. */
export const logCalls =
  (logger: Pick<Logger, 'debug'>): Observer =>
  call =>
    logger.debug(call, 'tool call')

/** The length of the longest list in an input. */
export function countItems(input: unknown): number {
  if (typeof input !== 'object' || input === null) return 0
  return Object.values(input).reduce(
    (max: number, value: unknown) => (Array.isArray(value) ? Math.max(max, value.length) : max),
    0,
  )
}
