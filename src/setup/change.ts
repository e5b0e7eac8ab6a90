import { createHash } from 'node:crypto'
import { diffWords, type Hunk, patchWords } from './line-diff.ts'
import { dataOf, type Former, formerIn, merge, ownHooks, type Settings, unmerge } from './settings.ts'

/** What setup has to know of a file to take its entries out again, byte for byte. */
export interface FileRecord {
  /** The hash of the text that setup wrote. */
  readonly sha256: string
  /** Turns that text back into the one that was there. Undefined: there was no file. */
  readonly undo?: readonly Hunk[]
  readonly former: Former
}

/** A file before and after. Undefined: no file. */
export interface Change {
  readonly path: string
  readonly before: string | undefined
  readonly after: string | undefined
  /** What to know of it from now on. */
  readonly record: FileRecord | undefined
}

const NOTHING: Former = { kept: [] }

/** What setup does to a file. */
export function addition(settings: Settings, before: string | undefined, record: FileRecord | undefined): Change {
  const { path } = settings
  const inPlace = merge(settings, before)
  if (inPlace === before) return { path, before, after: before, record }
  const original = originalOf(settings, before, record)
  // As for the first time, so that earlier choices leave no empty containers.
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

/** What `--remove` does to a file. */
export function removal(settings: Settings, before: string | undefined, record: FileRecord | undefined): Change {
  const { path } = settings
  return { path, before, after: withoutUs(settings, before, record), record: undefined }
}

/** Nobody else has written the file since. */
const isAsWritten = (text: string, record: FileRecord): boolean => record.sha256 === hash(text)

function withoutUs(settings: Settings, before: string | undefined, record: FileRecord | undefined): string | undefined {
  if (before === undefined) return undefined
  if (record && isAsWritten(before, record)) return record.undo && patchWords(before, record.undo)
  const left = unmerge(settings, before, record?.former ?? NOTHING)
  // Without a record, as in a clone, a file with nothing else in it counts as made by setup.
  const wasMade = record?.undo === undefined && left !== before
  return wasMade && left !== undefined && isBlank(left) ? undefined : left
}

/** The text without setup's work. An entry that somebody else made counts as theirs, until setup has written it. */
function originalOf(
  settings: Settings,
  before: string | undefined,
  record: FileRecord | undefined,
): string | undefined {
  if (before === undefined || record) return withoutUs(settings, before, record)
  const isOurs = settings.format === 'own' || Object.keys(ownHooks(dataOf(settings, before))).length > 0
  return isOurs ? withoutUs(settings, before, undefined) : before
}

/** Neither data nor comments. */
const isBlank = (text: string): boolean => /^\uFEFF?\s*(\{\s*\}\s*)?$/.test(text)

const hash = (text: string): string => createHash('sha256').update(text).digest('hex')
