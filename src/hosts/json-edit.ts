import { parseTree, printParseErrorCode, type Node, type ParseError } from 'jsonc-parser'

/** A settings file that cannot be read or merged. The message omits the file's name; callers add it. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError'
}

// Edits of JSON and JSONC that keep every other byte. jsonc-parser's own `modify` reformats the lines around its edit.

const MAX_WIDTH = 100

type JsonPath = readonly (string | number)[]

/** Undefined if the text holds only whitespace and comments. */
export function readJson(text: string): unknown {
  const root = rootOf(text)
  return root === undefined ? undefined : valueOf(root)
}

export function setJson(text: string, path: readonly string[], value: unknown): string {
  const root = rootOf(text)
  if (root === undefined)
    return `${text}${text === '' || text.endsWith('\n') ? '' : eolOf(text)}${document(path, value, eolOf(text))}`
  const { node, rest } = deepest(root, path)
  const [key, ...below] = rest
  if (key === undefined) return replace(text, node, value)
  if (node.type !== 'object') throw notA('an object', path.slice(0, path.length - rest.length))
  return insert(text, node, nested(below, value), key)
}

export function appendJson(text: string, path: readonly string[], item: unknown): string {
  const root = rootOf(text)
  const array = root === undefined ? undefined : at(root, path)
  if (!array) return setJson(text, path, [item])
  if (array.type !== 'array') throw notA('a list', path)
  return insert(text, array, item)
}

export function isBare(text: string, path: JsonPath): boolean {
  const root = rootOf(text)
  const node = root === undefined ? undefined : at(root, path)
  return node !== undefined && /^[{[]\s*[}\]]$/.test(text.slice(node.offset, node.offset + node.length))
}

/** Removes the property or item at a path. Comments stay. */
export function removeJson(text: string, path: JsonPath): string {
  const root = rootOf(text)
  const found = root === undefined ? undefined : at(root, path)
  const child = found?.parent?.type === 'property' ? found.parent : found
  const container = child?.parent
  if (!child || !container) return text
  const siblings = container.children ?? []
  const end = child.offset + child.length
  const { comma, hasComments } = gapFrom(text, end)
  const cutEnd = comma === undefined || hasComments ? end : comma + 1
  const before = siblings[siblings.indexOf(child) - 1]
  const gapBefore = gapFrom(text, before ? before.offset + before.length : container.offset + 1)
  const cuts: [from: number, to: number][] = [[startOfCut(text, gapBefore, cutEnd), cutEnd]]
  if (comma !== undefined && hasComments) cuts.push([comma, comma + 1])
  if (comma === undefined && before && gapBefore.comma !== undefined) cuts.push([gapBefore.comma, gapBefore.comma + 1])
  const left = cuts.sort(([a], [b]) => b - a).reduce((left, [from, to]) => left.slice(0, from) + left.slice(to), text)
  return siblings.length === 1 ? collapsed(left, container.offset) : left
}

function rootOf(text: string): Node | undefined {
  const errors: ParseError[] = []
  const root = parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true })
  const [error] = errors
  if (error) {
    const { line, column } = placeOf(text, error.offset)
    throw new SettingsError(`line ${line}, column ${column}: ${words(printParseErrorCode(error.error))}`)
  }
  if (root !== undefined && root.type !== 'object') throw new SettingsError('it must be a JSON object, {…}')
  return root
}

/** The last of duplicate names counts, as in every JSON parser. */
function childOf(node: Node, key: string | number): Node | undefined {
  if (typeof key === 'number') return node.type === 'array' ? node.children?.[key] : undefined
  if (node.type !== 'object') return undefined
  return node.children?.findLast(({ children }) => children?.[0]?.value === key)?.children?.[1]
}

const at = (node: Node, [key, ...rest]: JsonPath): Node | undefined => {
  if (key === undefined) return node
  const child = childOf(node, key)
  return child && at(child, rest)
}

function deepest(node: Node, path: readonly string[]): { node: Node; rest: readonly string[] } {
  const [key, ...rest] = path
  const child = key === undefined ? undefined : childOf(node, key)
  return child ? deepest(child, rest) : { node, rest: path }
}

function valueOf(node: Node): unknown {
  if (node.type === 'array') return (node.children ?? []).map(valueOf)
  if (node.type !== 'object') return node.value as unknown
  const pairs = (node.children ?? []).flatMap(({ children: [key, value] = [] }) =>
    key && value ? [[String(key.value), valueOf(value)] as const] : [],
  )
  return Object.fromEntries(pairs)
}

function replace(text: string, node: Node, value: unknown): string {
  const style = styleOf(text)
  const rendered =
    style.isCompact || !isMultiLine(text, node)
      ? JSON.stringify(value)
      : render(value, lineIndent(text, node.offset), style)
  return text.slice(0, node.offset) + rendered + text.slice(node.offset + node.length)
}

/** Adds a member after the last one and its comments. */
function insert(text: string, container: Node, value: unknown, key?: string): string {
  const style = styleOf(text)
  const last = container.children?.at(-1)
  const close = container.offset + container.length - 1
  const start = last ? last.offset + last.length : container.offset + 1
  const { comma, contentEnd } = gapFrom(text, start)
  const needsComma = last !== undefined && comma === undefined
  const head = text.slice(0, start) + (needsComma ? ',' : '') + text.slice(start, contentEnd)
  const trailing = last !== undefined && comma !== undefined ? ',' : ''
  const tail = text.slice(contentEnd, close)
  const isInline = last ? !isMultiLine(text, container) : style.isCompact
  const space = isInline ? (/[,:{[] /.test(text.slice(container.offset, close)) ? ' ' : '') : ''
  const name = key === undefined ? '' : `${JSON.stringify(key)}:${isInline ? space : ' '}`
  if (isInline)
    return `${head}${last ? space : ''}${name}${JSON.stringify(value)}${trailing}${tail}${text.slice(close)}`
  const indent = last ? lineIndent(text, last.offset) : lineIndent(text, container.offset) + style.unit
  const closing = last || tail.includes('\n') ? tail : style.eol + lineIndent(text, container.offset)
  return `${head}${style.eol}${indent}${name}${render(value, indent, style)}${trailing}${closing}${text.slice(close)}`
}

interface Gap {
  readonly comma?: number
  readonly contentEnd: number
  readonly hasComments: boolean
  readonly endsInLineComment: boolean
}

/** The comma and comments between two members, or before the container's end. */
function gapFrom(text: string, start: number): Gap {
  const token = /\s+|,|\/\/[^\r\n]*|\/\*[^]*?\*\//y
  token.lastIndex = start
  let gap: Gap = { contentEnd: start, hasComments: false, endsInLineComment: false }
  for (;;) {
    const [found] = token.exec(text) ?? []
    if (found === undefined) return gap
    if (found.trim() === '') continue
    const contentEnd = token.lastIndex
    gap =
      found === ','
        ? { ...gap, comma: contentEnd - 1, contentEnd, endsInLineComment: false }
        : {
            ...gap,
            contentEnd,
            hasComments: gap.hasComments || gap.comma === undefined,
            endsInLineComment: found.startsWith('//'),
          }
  }
}

function collapsed(text: string, offset: number): string {
  const [space = ''] = /^\s*/.exec(text.slice(offset + 1)) ?? []
  const close = text[offset + 1 + space.length]
  return close === '}' || close === ']' ? text.slice(0, offset + 1) + text.slice(offset + 1 + space.length) : text
}

interface Style {
  readonly eol: string
  readonly unit: string
  readonly isCompact: boolean
}

function styleOf(text: string): Style {
  const body = text.trim()
  const [, unit = '  '] = /\n([ \t]+)["[{]/.exec(body) ?? []
  return { eol: eolOf(text), unit, isCompact: !body.includes('\n') && !/^\{\s*\}$/.test(body) }
}

export const eolOf = (text: string): string => (text.includes('\r\n') ? '\r\n' : '\n')

/** Formats as a person would: on one line if it fits. */
function render(value: unknown, indent: string, style: Pick<Style, 'eol' | 'unit'>): string {
  const line = inline(value)
  if (typeof value !== 'object' || value === null || indent.length + line.length <= MAX_WIDTH) return line
  const inner = indent + style.unit
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  const members = membersOf(value).map(([name, each]) => `${inner}${name}${render(each, inner, style)}`)
  return [open, members.join(`,${style.eol}`), `${indent}${close}`].join(style.eol)
}

function inline(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = membersOf(value).map(([name, each]) => `${name}${inline(each)}`)
  if (Array.isArray(value)) return `[${members.join(', ')}]`
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`
}

const membersOf = (value: object): readonly (readonly [name: string, value: unknown])[] =>
  Array.isArray(value)
    ? value.map(each => ['', each] as const)
    : Object.entries(value).map(([key, each]) => [`${JSON.stringify(key)}: `, each] as const)

const document = (path: readonly string[], value: unknown, eol: string): string =>
  `${setJson('{}', path, value).replaceAll('\n', eol)}${eol}`

const nested = (path: readonly string[], value: unknown): unknown =>
  path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value)

const isMultiLine = (text: string, { offset, length }: Node): boolean =>
  text.slice(offset, offset + length).includes('\n')

function lineIndent(text: string, offset: number): string {
  const start = text.lastIndexOf('\n', offset - 1) + 1
  return /^[ \t]*/.exec(text.slice(start))?.[0] ?? ''
}

/** Cuts after the preceding content; a line comment keeps its line break if nothing else breaks the line. */
function startOfCut(text: string, { contentEnd, endsInLineComment }: Gap, cutEnd: number): number {
  if (!endsInLineComment || /^[ \t]*\r?\n/.test(text.slice(cutEnd))) return contentEnd
  return text.indexOf('\n', contentEnd) + 1
}

function placeOf(text: string, offset: number): { line: number; column: number } {
  const lines = text.slice(0, offset).split('\n')
  return { line: lines.length, column: (lines.at(-1) ?? '').length + 1 }
}

/** "ValueExpected" → "value expected". */
const words = (code: string): string => code.replaceAll(/(?<=[a-z])[A-Z]/g, letter => ` ${letter}`).toLowerCase()

const notA = (kind: string, path: JsonPath): SettingsError =>
  new SettingsError(`${path.join('.') || 'the file'} must be ${kind}`)
