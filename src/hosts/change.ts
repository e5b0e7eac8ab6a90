import { createHash } from 'node:crypto'
import { diffWords, type Hunk, patchWords } from './line-diff.ts'
import { dataOf, type Former, formerIn, merge, ownHooks, type Settings, unmerge } from './settings.ts'

/** Lets setup restore a file byte for byte. */
export interface FileRecord {
  readonly sha256: string
  /** Patch from that text to the original. Undefined: there was no file. */
  readonly undo?: readonly Hunk[]
  readonly former: Former
}

/** A file before and after a change. Undefined: no file. */
export interface Change {
  readonly path: string
  readonly before: string | undefined
  readonly after: string | undefined
  readonly record: FileRecord | undefined
}

const NOTHING: Former = { kept: [] }

export function addition(settings: Settings, before: string | undefined, record: FileRecord | undefined): Change {
  const { path } = settings
  const inPlace = merge(settings, before)
  if (inPlace === before) return { path, before, after: before, record }
  const original = originalOf(settings, before, record)
  // Merge into the original, so that earlier choices leave no empty containers.
  const after = before !== undefined && record && isAsWritten(before, record) ? merge(settings, original) : inPlace
  if (after === undefined) return { path, before, after, record: undefined }
  const undo = original === undefined ? {} : { undo: diffWords(after, original) }
  return {
    path,
    before,
    after,
    record: {
      sha256: hash(after),
      ...undo,
      former: before === undefined ? NOTHING : (record?.former ?? formerIn(settings, original)),
    },
  }
}

export function removal(settings: Settings, before: string | undefined, record: FileRecord | undefined): Change {
  const { path } = settings
  return { path, before, after: withoutUs(settings, before, record), record: undefined }
}

const isAsWritten = (text: string, record: FileRecord): boolean => record.sha256 === hash(text)

function withoutUs(settings: Settings, before: string | undefined, record: FileRecord | undefined): string | undefined {
  if (before === undefined) return undefined
  if (record && isAsWritten(before, record)) return record.undo && patchWords(before, record.undo)
  const left = unmerge(settings, before, record?.former ?? NOTHING)
  // Without a record, as in a clone, a file that holds nothing else counts as made by setup.
  const wasMade = record?.undo === undefined && left !== before
  return wasMade && left !== undefined && isBlank(left) ? undefined : left
}

/** The text without our entries. An entry that someone else wrote counts as theirs until setup overwrites it. */
function originalOf(
  settings: Settings,
  before: string | undefined,
  record: FileRecord | undefined,
): string | undefined {
  if (before === undefined || record) return withoutUs(settings, before, record)
  const isOurs = settings.format === 'own' || Object.keys(ownHooks(dataOf(settings, before))).length > 0
  return isOurs ? withoutUs(settings, before, undefined) : before
}

const isBlank = (text: string): boolean => /^\uFEFF?\s*(\{\s*\}\s*)?$/.test(text)

const hash = (text: string): string => createHash('sha256').update(text).digest('hex')
