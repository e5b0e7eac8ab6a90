import { type BigIntStats, lstatSync, statSync } from 'node:fs'
import { StoreError } from './store-error.ts'

/** Identifies a file behind any path. BigInt, because some file systems have 64-bit inode numbers. */
export type Identity = Pick<BigIntStats, 'dev' | 'ino'>

export const statOf = (path: string): BigIntStats | undefined =>
  looked(() => statSync(path, { bigint: true, throwIfNoEntry: false }))

/** Does not follow a link. */
export const lstatOf = (path: string): BigIntStats | undefined =>
  looked(() => lstatSync(path, { bigint: true, throwIfNoEntry: false }))

export const isSameFile = (one: Identity | undefined, other: Identity | undefined): boolean =>
  one !== undefined && one.ino === other?.ino && one.dev === other.dev

function looked(look: () => BigIntStats | undefined): BigIntStats | undefined {
  try {
    return look()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOTDIR') return undefined
    throw new StoreError('io', `The data folder cannot be read (${code}).`, { cause: error })
  }
}
