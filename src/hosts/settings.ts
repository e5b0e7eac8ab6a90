import { isDeepStrictEqual } from 'node:util'
import { type HookGroup, isOurs } from './hooks.ts'
import { OTHER_TRANSPORTS, type PlacedHook } from './host.ts'
import { appendJson, isBare, readJson, removeJson, setJson } from './json-edit.ts'
import { SettingsError, UnsafeForm } from './settings-error.ts'
import { inlineEntry, readToml, removeTable, setTable, type Table } from './toml-edit.ts'

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

export const callHooks = (files: readonly Settings[]): boolean =>
  files.some(file => file.format === 'own' || Object.keys(file.hooks ?? {}).length > 0)

/** State before setup that `unmerge` must not treat as ours. */
export interface Former {
  readonly kept: readonly string[]
  /** Values that setup overwrote in an existing entry of our name; undefined if there was none. */
  readonly server?: Table
}

/** Writes our entries and keeps everything else. Undefined: no file. */
export function merge(settings: Settings, before: string | undefined): string | undefined {
  if (settings.format === 'own') return mergeOwn(settings, before)
  const [bom, text] = split(before ?? '')
  const edited = settings.format === 'toml' ? mergeToml(settings, text) : mergeJson(settings, text)
  checkRest(settings, text, edited, settings.server && mergedServer(settings.server, dataOf(settings, text)))
  return before === undefined && edited === '' ? undefined : bom + edited
}

/** Removes our entries, and the containers that this empties unless they existed before setup. */
export function unmerge(settings: Settings, before: string, former: Former): string | undefined {
  if (settings.format === 'own') return before.startsWith(settings.mark) ? undefined : before
  const [bom, text] = split(before)
  const entry = formerServer(settings, dataOf(settings, text), former)
  const edited =
    settings.format === 'json' ? unmergeJson(settings, text, former, entry) : unmergeToml(settings, text, former, entry)
  checkRest(settings, text, edited, entry)
  return bom + edited
}

/** Lines for a person to add to a file that setup cannot edit. */
export function byHand(settings: Settings): readonly string[] {
  if (settings.format === 'own') return []
  const { format, server } = settings
  const text = format === 'toml' && server ? inlineEntry(server.path, server.value) : (merge(settings, undefined) ?? '')
  return text.trimEnd().split('\n')
}

export function formerIn(settings: Settings, before: string | undefined): Former {
  if (settings.format === 'own' || before === undefined) return { kept: [] }
  const data = dataOf(settings, before)
  const { item, server } = settings
  const isItemThere = item !== undefined && listAt(data, item.path).includes(item.value)
  const there = containers(settings, data).filter(path => valueAt(data, path) !== undefined)
  const entry = server && valueAt(data, server.path)
  const isReplaced = (key: string): boolean => OTHER_TRANSPORTS.includes(key) || Object.hasOwn(server?.value ?? {}, key)
  return {
    kept: [...there.map(keyOf), ...(isItemThere ? [itemKey(item.path)] : [])],
    ...(isTable(entry) ? { server: pick(entry, isReplaced) } : {}),
  }
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

export function ownHooks(data: unknown): Readonly<Record<string, readonly HookGroup[]>> {
  const own = eventsIn(data).map(event => [event, groupsAt(data, event).filter(hasOurs)] as const)
  return Object.fromEntries(own.filter(([, groups]) => groups.length > 0))
}

export const placesOfHooks = (data: unknown, path: string): readonly PlacedHook[] =>
  eventsIn(data).flatMap(event =>
    groupsAt(data, event).flatMap(({ hooks, matcher }, group) =>
      (Array.isArray(hooks) ? hooks : []).flatMap((value, handler) =>
        isOurs(value) ? [{ path, event, group, handler, value, matcher }] : [],
      ),
    ),
  )

function mergeOwn({ text, mark }: OwnFile, before: string | undefined): string {
  if (before === undefined || before.startsWith(mark)) return text
  throw new SettingsError('it is not a file of ours. Move it away')
}

function mergeToml({ server }: SettingsFile, text: string): string {
  return server ? setTable(text, server.path, server.value, OTHER_TRANSPORTS) : text
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
  const events = Object.keys(ownHooks(readJson(text)))
  text = withoutHooks(text, hooks)
  for (const event of events) if (isBare(text, ['hooks', event])) text = removeJson(text, ['hooks', event])
  for (const [event, group] of Object.entries(hooks)) {
    const isThere = groupsAt(readJson(text), event).some(each => isDeepStrictEqual(each, group))
    if (!isThere) text = appendJson(text, ['hooks', event], group)
  }
  return text
}

/** Keeps a person's own keys in our entry, but not another transport's. */
const mergedServer = ({ path, value }: ServerEntry, data: unknown): Table => {
  const present = valueAt(data, path)
  return { ...(isTable(present) ? pick(present, key => !OTHER_TRANSPORTS.includes(key)) : {}), ...value }
}

/** Our entry as it was before setup, plus keys that others added since; undefined if it should be removed. */
function formerServer({ server }: SettingsFile, data: unknown, former: Former): Table | undefined {
  const present = server && valueAt(data, server.path)
  if (!former.server || !isTable(present)) return undefined
  return { ...former.server, ...pick(present, key => !Object.hasOwn(server?.value ?? {}, key)) }
}

function unmergeToml({ server }: SettingsFile, text: string, former: Former, entry: Table | undefined): string {
  if (!server) return text
  if (!entry) return removeTable(text, server.path)
  const drop = Object.keys(server.value).filter(key => !Object.hasOwn(entry, key))
  return setTable(text, server.path, former.server ?? {}, drop)
}

function unmergeJson(settings: SettingsFile, before: string, { kept }: Former, entry: Table | undefined): string {
  const { server, item, hooks } = settings
  const paths = containers(settings, readJson(before))
  let text = before
  if (server) text = entry ? setJson(before, server.path, entry) : removeJson(before, server.path)
  if (item && !kept.includes(itemKey(item.path))) {
    const index = listAt(readJson(text), item.path).indexOf(item.value)
    if (index !== -1) text = removeJson(text, [...item.path, index])
  }
  if (hooks) text = withoutHooks(text, {})
  for (const path of paths) {
    if (isBare(text, path) && !kept.includes(keyOf(path))) text = removeJson(text, path)
  }
  return text
}

/** Removes our handlers, except the first group that equals the wanted one. */
function withoutHooks(before: string, wanted: Readonly<Record<string, HookGroup>>): string {
  let text = before
  for (const [event, all] of Object.entries(valueAt(readJson(before), ['hooks']) ?? {})) {
    if (!Array.isArray(all)) continue
    const groups = all as readonly HookGroup[]
    const good = groups.findIndex(group => isDeepStrictEqual(group, wanted[event]))
    for (const [index, group] of [...groups.entries()].toReversed()) {
      if (index === good || !hasOurs(group)) continue
      const path = ['hooks', event, index]
      if (group.hooks.every(isOurs)) text = removeJson(text, path)
      else {
        for (const [at, handler] of [...group.hooks.entries()].toReversed())
          if (isOurs(handler)) text = removeJson(text, [...path, 'hooks', at])
      }
    }
  }
  return text
}

/** Safety net for every format: refuses an edit that changes anything but our entries. */
function checkRest(settings: SettingsFile, before: string, after: string, entry: Table | undefined): void {
  const others = (text: string): unknown => withoutOurs(settings, structuredClone(dataOf(settings, text)))
  try {
    const { server } = settings
    const isRight = !server || isDeepStrictEqual(valueAt(dataOf(settings, after), server.path), entry)
    if (isRight && isDeepStrictEqual(others(before), others(after))) return
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error
  }
  throw new UnsafeForm(
    'its form does not allow to add or remove entries safely. Edit it by hand; --print shows what to write',
  )
}

function withoutOurs(settings: SettingsFile, data: unknown): unknown {
  const { server, item, hooks } = settings
  const drop = (path: readonly string[]): void => {
    const parent = valueAt(data, path.slice(0, -1))
    if (typeof parent === 'object' && parent !== null) Reflect.deleteProperty(parent, path.at(-1) ?? '')
  }
  const put = (path: readonly string[], list: readonly unknown[]): void => {
    const parent = valueAt(data, path.slice(0, -1))
    if (typeof parent === 'object' && parent !== null) Reflect.set(parent, path.at(-1) ?? '', list)
  }
  const paths = containers(settings, data)
  if (server) drop(server.path)
  if (item)
    put(
      item.path,
      listAt(data, item.path).filter(each => each !== item.value),
    )
  for (const event of hooks ? eventsIn(data) : []) {
    const groups = valueAt(data, ['hooks', event])
    if (!Array.isArray(groups)) continue
    const left = (groups as readonly HookGroup[]).flatMap(group => {
      if (!hasOurs(group)) return [group]
      const hooks = group.hooks.filter(each => !isOurs(each))
      return hooks.length === 0 ? [] : [{ ...group, hooks }]
    })
    put(['hooks', event], left)
  }
  for (const path of paths) {
    const value = valueAt(data, path)
    if (typeof value === 'object' && value !== null && Object.keys(value).length === 0) drop(path)
  }
  return data
}

/** Objects and lists that hold our entries, innermost first. */
function containers({ server, item, hooks }: SettingsFile, data: unknown): readonly (readonly string[])[] {
  const events = hooks ? [...Object.keys(hooks), ...eventsIn(data)] : []
  const full = [
    ...(server ? [server.path.slice(0, -1)] : []),
    ...(item ? [item.path] : []),
    ...[...new Set(events)].map(event => ['hooks', event]),
    ...(hooks ? [['hooks']] : []),
  ]
  const all = full.flatMap(path => path.map((_, index) => path.slice(0, index + 1)))
  const byKey = new Map(all.map(path => [keyOf(path), path]))
  return [...byKey.values()].sort((a, b) => b.length - a.length)
}

const isTable = (value: unknown): value is Table => typeof value === 'object' && value !== null && !Array.isArray(value)

const pick = (table: Table, isPicked: (key: string) => boolean): Table =>
  Object.fromEntries(Object.entries(table).filter(([key]) => isPicked(key)))

const hasOurs = (group: HookGroup | undefined): group is HookGroup =>
  Array.isArray(group?.hooks) && group.hooks.some(isOurs)

const groupsAt = (data: unknown, event: string): readonly HookGroup[] =>
  listAt(data, ['hooks', event]) as readonly HookGroup[]

function listAt(data: unknown, path: readonly string[]): readonly unknown[] {
  const value = valueAt(data, path)
  return Array.isArray(value) ? value : []
}

const eventsIn = (data: unknown): readonly string[] =>
  Object.keys((valueAt(data, ['hooks']) as object | undefined) ?? {})

const keyOf = (path: readonly string[]): string => path.join('.')
const itemKey = (path: readonly string[]): string => `${keyOf(path)}[]`

/** Some editors write a byte order mark. */
const split = (text: string): readonly [bom: string, text: string] =>
  text.startsWith('\uFEFF') ? ['\uFEFF', text.slice(1)] : ['', text]
