import type { Logger } from 'pino'
import type { Observer } from '../door/door.ts'

/** An observer that writes each call to a log, at debug. */
export const logCalls =
  (logger: Pick<Logger, 'debug'>): Observer =>
  call =>
    logger.debug(call, 'tool call')

/** The length of the list that an input brings. */
export function countItems(input: unknown): number {
  if (typeof input !== 'object' || input === null) return 0
  return Object.values(input).reduce(
    (most: number, value: unknown) => (Array.isArray(value) ? Math.max(most, value.length) : most),
    0,
  )
}
