import { createHash } from 'node:crypto'
import { diffLines, type Hunk, patch } from './line-diff.ts'
import { dataOf, type Kept, keptIn, merge, ownHooks, type Settings, unmerge } from './settings.ts'

/** What setup has to know of a file to take its entries out again, byte for byte. */
export interface FileRecord {
  /** The hash of the text that setup wrote. */
  readonly sha256: string
  /** Turns that text back into the one that was there. Undefined: there was no file. */
  readonly undo?: readonly Hunk[]
  readonly kept: Kept
}

/** A file before and after. Undefined: no file. */
export interface Change {
  readonly path: string
  readonly before: string | undefined
  readonly after: string | undefined
  /** What to know of it from now on. */
  readonly record: FileRecord | undefined
}

/** What setup does to a file. */
export function addition(settings: Settings, before: string | undefined, record: FileRecord | undefined): Change {
  const { path } = settings
  const after = merge(settings, before)
  if (after === before) return { path, before, after, record }
  const original = originalOf(settings, before, record)
  const kept = record?.kept ?? keptIn(settings, original)
  const undo = original === undefined ? {} : { undo: diffLines(after ?? '', original) }
  return { path, before, after, record: { sha256: hash(after ?? ''), ...undo, kept } }
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
  if (record && isAsWritten(before, record)) return record.undo && patch(before, record.undo)
  const left = unmerge(settings, before, record?.kept ?? [])
  const wasMade = record !== undefined && record.undo === undefined
  return wasMade && left !== undefined && isEmpty(settings, left) ? undefined : left
}

/** The text without setup's work. An entry that somebody else made counts as theirs, until setup has written it. */
function originalOf(
  settings: Settings,
  before: string | undefined,
  record: FileRecord | undefined,
): string | undefined {
  if (before === undefined || record) return withoutUs(settings, before, record)
  const isOurs = settings.format === 'own' || Object.keys(ownHooks(dataOf(settings, before))).length > 0
  return isOurs ? unmerge(settings, before, []) : before
}

const isEmpty = (settings: Settings, text: string): boolean =>
  settings.format !== 'own' && Object.keys(dataOf(settings, text) as object).length === 0

const hash = (text: string): string => createHash('sha256').update(text).digest('hex')
