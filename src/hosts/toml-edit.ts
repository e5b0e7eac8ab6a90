import { ParseError, getStaticTOMLValue, parseTOML, type AST } from 'toml-eslint-parser'
import { SettingsError, eolOf } from './json-edit.ts'

// Edits of TOML that keep every other byte.

export type Table = Readonly<Record<string, unknown>>

export const readToml = (text: string): Table => getStaticTOMLValue(parsed(text))

/** Sets keys in a table, which is appended if missing. Its other keys and its subtables stay. */
export function setTable(text: string, path: readonly string[], keys: Table, drop: readonly string[]): string {
  const own = nodesAt(parsed(text), path)
  const header = own.filter(isTable).find(({ resolvedKey }) => resolvedKey.length === path.length)
  if (!header) {
    const present = [...path].reduce<unknown>((data, key) => (data as Table | undefined)?.[key], readToml(text))
    const without = own.length === 0 ? text : cut(text, own)
    return append(without, path, { ...kept(present as Table | undefined, drop), ...keys })
  }
  const present = new Map(header.body.map(each => [each.key.keys.map(nameOf).join('.'), each]))
  const missing = Object.entries(keys).filter(([key]) => !present.has(key))
  const replaced = Object.entries(keys).flatMap(([key, value]): Edit[] => {
    const range = present.get(key)?.value.range
    return range ? [[range[0], range[1], render(value)]] : []
  })
  const dropped = drop.flatMap((key): Edit[] => {
    const node = present.get(key)
    return node ? [[...lines(text, node.range), '']] : []
  })
  // After a comment on the header's line.
  const end = header.range[1] + (/^[^\r\n]*/.exec(text.slice(header.range[1]))?.[0].length ?? 0)
  const added: Edit = [end, end, missing.map(([key, value]) => `${eolOf(text)}${key} = ${render(value)}`).join('')]
  return apply(text, [...replaced, ...dropped, added])
}

/** Removes a table and its subtables. */
export function removeTable(text: string, path: readonly string[]): string {
  return cut(text, nodesAt(parsed(text), path))
}

type Edit = readonly [from: number, to: number, text: string]

function parsed(text: string): AST.TOMLProgram {
  try {
    return parseTOML(text, { tomlVersion: '1.1' })
  } catch (error) {
    if (!(error instanceof ParseError)) throw error
    throw new SettingsError(`line ${error.lineNumber}, column ${error.column + 1}: ${error.message.toLowerCase()}`)
  }
}

const isTable = (node: AST.TOMLTable | AST.TOMLKeyValue): node is AST.TOMLTable => node.type === 'TOMLTable'

const nameOf = (key: AST.TOMLBare | AST.TOMLQuoted): string => (key.type === 'TOMLBare' ? key.name : key.value)

/** Tables and key-values, in any TOML form, whose path starts with this one. */
function nodesAt(program: AST.TOMLProgram, path: readonly string[]): (AST.TOMLTable | AST.TOMLKeyValue)[] {
  const starts = (keys: readonly (string | number)[]): boolean => path.every((key, index) => keys[index] === key)
  return program.body[0].body.flatMap((node): (AST.TOMLTable | AST.TOMLKeyValue)[] => {
    if (!isTable(node)) return starts(node.key.keys.map(nameOf)) ? [node] : []
    if (starts(node.resolvedKey)) return [node]
    return node.body.filter(each => starts([...node.resolvedKey, ...each.key.keys.map(nameOf)]))
  })
}

/** Cuts whole lines, and a table's blank line before it if another separator follows. */
function cut(text: string, nodes: readonly (AST.TOMLTable | AST.TOMLKeyValue)[]): string {
  return apply(
    text,
    nodes.map((node): Edit => {
      const [from, to] = lines(text, node.range)
      const [blank = ''] = /(?<=^|\n)\r?\n$/.exec(text.slice(0, from)) ?? []
      const isBeforeSpace = /^(\s*$|\r?\n)/.test(text.slice(to))
      return [isTable(node) && isBeforeSpace ? from - blank.length : from, to, '']
    }),
  )
}

function lines(text: string, [from, to]: readonly [number, number]): [number, number] {
  const end = text.indexOf('\n', to)
  return [text.lastIndexOf('\n', from - 1) + 1, end === -1 ? text.length : end + 1]
}

const apply = (text: string, edits: readonly Edit[]): string =>
  edits
    .toSorted(([a], [b]) => b - a)
    .reduce((left, [from, to, inserted]) => left.slice(0, from) + inserted + left.slice(to), text)

function append(text: string, path: readonly string[], keys: Table): string {
  const eol = eolOf(text)
  const rows = Object.entries(keys).map(([key, value]) => `${keyOf(key)} = ${render(value)}${eol}`)
  const gap = text.trim() === '' ? '' : text.endsWith('\n') ? eol : eol + eol
  return `${text}${gap}[${path.map(keyOf).join('.')}]${eol}${rows.join('')}`
}

const kept = (present: Table | undefined, drop: readonly string[]): Table =>
  Object.fromEntries(Object.entries(present ?? {}).filter(([key]) => !drop.includes(key)))

const keyOf = (key: string): string => (/^[\w-]+$/.test(key) ? key : JSON.stringify(key))

/** JSON strings, numbers, booleans and lists are valid TOML too. */
function render(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(render).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value).replaceAll('\x7f', '\\u007f')
  const rows = Object.entries(value).map(([key, each]) => `${keyOf(key)} = ${render(each)}`)
  return rows.length === 0 ? '{}' : `{ ${rows.join(', ')} }`
}
