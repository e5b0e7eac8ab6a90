import { DatabaseError } from 'pg'
import { StoreError, type StoreErrorCode } from '../store-error.ts'

type Known = readonly [code: StoreErrorCode, message: string]

const BUSY: Known = ['busy', 'The database was locked by others for too long.']
const CORRUPT: Known = ['corrupt', 'The database is damaged; nothing was written.']
const IO: Known = ['io', 'The connection to the database was lost.']

/** By SQLSTATE, or by its class: the first two characters. */
const KNOWN: Readonly<Record<string, Known>> = {
  '40001': BUSY,
  '40P01': BUSY,
  '55P03': BUSY,
  '57014': BUSY,
  '53300': ['busy', 'The database has no connections left.'],
  '53100': ['full', 'The disk of the database is full; nothing was written.'],
  '25006': ['readonly', 'The database is read-only.'],
  '42501': ['readonly', 'The database user has no permission to write.'],
  '25P03': IO,
  '08': IO,
  '57': IO,
  '28': ['io', 'The database refused the login.'],
  '3D': ['io', 'There is no such database.'],
  '53': ['io', 'The database ran out of resources.'],
  '58': ['io', 'The database could not read or write its files.'],
  XX001: CORRUPT,
  XX002: CORRUPT,
}

export function toStoreError(error: unknown): unknown {
  const state = sqlState(error)
  const known = state === undefined ? undefined : (KNOWN[state] ?? KNOWN[state.slice(0, 2)])
  return known ? new StoreError(...known, { cause: error }) : error
}

/** pg tells its own timeouts apart by their message only. */
const saysWith =
  (text: string) =>
  (error: unknown): boolean =>
    error instanceof Error && error.message === text
/** A statement was not answered in time. */
export const isMute = saysWith('Query read timeout')
/** All connections are in use. */
const isFull = saysWith('timeout exceeded when trying to connect')

export const busy = (): StoreError => new StoreError('busy', 'The database was busy with others for too long.')

export function connectionError(error: unknown): unknown {
  const known = toStoreError(error)
  if (known instanceof StoreError) return known
  if (isFull(error)) return busy()
  if (isMute(error)) return new StoreError('io', 'The database did not answer in time.', { cause: error })
  return new StoreError('io', 'The database could not be reached.', { cause: error })
}

export const unknownOutcome = (cause: unknown): StoreError =>
  new StoreError(
    'unknown_outcome',
    'The connection was lost while committing; whether it was written is unknown. Check before you retry.',
    { cause },
  )

export const isTransient = (error: unknown): boolean => ['40001', '40P01'].includes(sqlState(error) ?? '')

export const isDuplicate = (error: unknown): boolean => sqlState(error) === '23505'

/** An error that is not PostgreSQL's comes from the connection. */
export function endsConnection(error: unknown): boolean {
  const state = sqlState(error)
  return state === undefined || state.startsWith('08') || state.startsWith('57P') || ['25P03', '25P04'].includes(state)
}

/** The server ended the transaction for inactivity: a COMMIT sent after that was not executed. */
export const isRolledBack = (error: unknown): boolean => ['25P03', '25P04'].includes(sqlState(error) ?? '')

function sqlState(error: unknown): string | undefined {
  return error instanceof DatabaseError ? error.code : undefined
}
