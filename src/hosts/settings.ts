import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { isOurs, type HookGroup } from './hooks.ts'
import { OTHER_TRANSPORTS } from './host.ts'
import { diffWords, patchWords, type Hunk } from './diff.ts'
import { SettingsError, appendJson, isBare, readJson, removeJson, setJson } from './json-edit.ts'
import { readToml, removeTable, setTable, type Table } from './toml-edit.ts'

export type Settings = SettingsFile | OwnFile

export interface SettingsFile {
  readonly path: string
  readonly format: 'json' | 'toml'
  readonly server?: ServerEntry
  readonly item?: { readonly path: readonly string[]; readonly value: string }
  /** By event. Undefined: we have no hooks in this file. */
  readonly hooks?: Readonly<Record<string, HookGroup>>
}

interface ServerEntry {
  readonly path: readonly string[]
  readonly value: Table
}

export interface OwnFile {
  readonly path: string
  readonly format: 'own'
  readonly text: string
  /** The start of its first line, which identifies the file as ours. */
  readonly mark: string
}

/** Writes our entries and keeps everything else. Undefined: no file. */
export function merge(settings: Settings, before: string | undefined): string | undefined {
  if (settings.format === 'own') return mergeOwn(settings, before)
  const [bom, text] = split(before ?? '')
  const edited = settings.format === 'toml' ? mergeToml(settings, text) : mergeJson(settings, text)
  return before === undefined && edited === '' ? undefined : bom + edited
}

/** Removes our entries, and the objects and lists that this empties. */
export function unmerge(settings: Settings, before: string): string | undefined {
  if (settings.format === 'own') return before.startsWith(settings.mark) ? undefined : before
  const [bom, text] = split(before)
  const { format, server, item } = settings
  if (format === 'toml') return bom + (server ? removeTable(text, server.path) : text)
  let left = server ? pruned(text, server.path) : text
  const index = item ? listAt(readJson(left), item.path).indexOf(item.value) : -1
  if (item && index !== -1) left = pruned(left, [...item.path, index])
  return bom + (settings.hooks ? withoutHooks(left, {}) : left)
}

export function dataOf(settings: SettingsFile, text: string): unknown {
  const [, body] = split(text)
  return settings.format === 'toml' ? readToml(body) : (readJson(body) ?? {})
}

export const valueAt = (data: unknown, path: readonly (string | number)[]): unknown =>
  path.reduce<unknown>(
    (node, key) => (typeof node === 'object' && node !== null ? (node as Record<string, unknown>)[key] : undefined),
    data,
  )

function mergeOwn({ text, mark }: OwnFile, before: string | undefined): string {
  if (before === undefined || before.startsWith(mark)) return text
  throw new SettingsError('it is not a file of ours. Move it away')
}

function mergeToml({ server }: SettingsFile, text: string): string {
  if (!server) return text
  const edited = setTable(text, server.path, server.value, OTHER_TRANSPORTS)
  try {
    readToml(edited)
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error
    throw new SettingsError('its form does not allow to add an entry safely. Add it by hand')
  }
  return edited
}

function mergeJson({ server, item, hooks }: SettingsFile, before: string): string {
  let text = before
  if (server) {
    const data = readJson(text)
    const value = mergedServer(server, data)
    if (!isDeepStrictEqual(valueAt(data, server.path), value)) text = setJson(text, server.path, value)
  }
  if (item && !listAt(readJson(text), item.path).includes(item.value)) text = appendJson(text, item.path, item.value)
  if (!hooks) return text
  for (const [event, group] of Object.entries(hooks)) {
    const isThere = groupsIn(text)[event]?.some(each => isDeepStrictEqual(each, group))
    if (!isThere) text = appendJson(text, ['hooks', event], group)
  }
  return withoutHooks(text, hooks)
}

/** Keeps a person's own keys in our entry, but not another transport's. */
const mergedServer = ({ path, value }: ServerEntry, data: unknown): Table => {
  const present = valueAt(data, path)
  const own = isTable(present) ? Object.entries(present).filter(([key]) => !OTHER_TRANSPORTS.includes(key)) : []
  return { ...Object.fromEntries(own), ...value }
}

/** Removes our handlers, except the first group that equals the wanted one. */
function withoutHooks(before: string, wanted: Readonly<Record<string, HookGroup>>): string {
  let text = before
  for (const [event, groups] of Object.entries(groupsIn(before))) {
    const good = groups.findIndex(group => isDeepStrictEqual(group, wanted[event]))
    for (const [index, group] of [...groups.entries()].toReversed()) {
      if (index === good || !Array.isArray(group?.hooks) || !group.hooks.some(isOurs)) continue
      const path = ['hooks', event, index]
      if (group.hooks.every(isOurs)) text = pruned(text, path)
      else
        for (const [at, handler] of [...group.hooks.entries()].toReversed())
          if (isOurs(handler)) text = removeJson(text, [...path, 'hooks', at])
    }
  }
  return text
}

/** Removes an entry, and the objects and lists that this empties. */
function pruned(text: string, path: readonly (string | number)[]): string {
  let left = removeJson(text, path)
  if (left === text) return text
  for (let at = path.slice(0, -1); at.length > 0 && isBare(left, at); at = at.slice(0, -1)) left = removeJson(left, at)
  return left
}

const isTable = (value: unknown): value is Table => typeof value === 'object' && value !== null && !Array.isArray(value)

/** By event. */
function groupsIn(text: string): Readonly<Record<string, readonly HookGroup[]>> {
  const all = valueAt(readJson(text), ['hooks'])
  if (!isTable(all)) return {}
  return Object.fromEntries(
    Object.entries(all).filter((entry): entry is [string, HookGroup[]] => Array.isArray(entry[1])),
  )
}

function listAt(data: unknown, path: readonly string[]): readonly unknown[] {
  const value = valueAt(data, path)
  return Array.isArray(value) ? value : []
}

/** Some editors write a byte order mark. */
const split = (text: string): readonly [bom: string, text: string] =>
  text.startsWith('\uFEFF') ? ['\uFEFF', text.slice(1)] : ['', text]

/** Lets setup restore a file byte for byte. */
export interface FileRecord {
  readonly sha256: string
  /** Patch from that text to the original. Undefined: there was no file. */
  readonly undo?: readonly Hunk[]
}

/** A file before and after a change. Undefined: no file. */
export interface Change {
  readonly path: string
  readonly before: string | undefined
  readonly after: string | undefined
  readonly record: FileRecord | undefined
}

export function addition(settings: Settings, before: string | undefined, record: FileRecord | undefined): Change {
  const { path } = settings
  const inPlace = merge(settings, before)
  if (inPlace === before) return { path, before, after: before, record }
  const original = record ? withoutUs(settings, before, record) : before
  // Merge into the original, so that earlier choices leave no empty containers.
  const after = isAsWritten(before, record) ? merge(settings, original) : inPlace
  if (after === undefined) return { path, before, after, record: undefined }
  const undo = original === undefined ? {} : { undo: diffWords(after, original) }
  return { path, before, after, record: { sha256: hash(after), ...undo } }
}

export function removal(settings: Settings, before: string | undefined, record: FileRecord | undefined): Change {
  return { path: settings.path, before, after: withoutUs(settings, before, record), record: undefined }
}

const isAsWritten = (text: string | undefined, record: FileRecord | undefined): boolean =>
  text !== undefined && record?.sha256 === hash(text)

function withoutUs(settings: Settings, before: string | undefined, record: FileRecord | undefined): string | undefined {
  if (before === undefined) return undefined
  if (isAsWritten(before, record)) return record?.undo && patchWords(before, record.undo)
  const left = unmerge(settings, before)
  // Without a record, as in a clone, a file that holds nothing else counts as made by setup.
  const wasMade = record?.undo === undefined && left !== before
  return wasMade && left !== undefined && isBlank(left) ? undefined : left
}

const isBlank = (text: string): boolean => /^\uFEFF?\s*(\{\s*\}\s*)?$/.test(text)

const hash = (text: string): string => createHash('sha256').update(text).digest('hex')
