import { plainText } from '../../core/text/plain-text.ts'
import type { Environment } from '../environment.ts'

// Prepares untrusted text for a terminal: bounded lines and width, no control characters.

export const oneLine = (text: string): string =>
  PLAIN.test(text) ? text.trim() : plainText(text.toWellFormed()).replaceAll(/\s+/g, ' ').trim()

export function widthOf(text: string): number {
  if (PLAIN.test(text)) return text.length
  let width = 0
  for (const point of text) width += columnsOf(point)
  return width
}

/** Cuts to one line of at most `columns`, with an ellipsis. */
export function fitted(text: string, columns: number): string {
  const line = oneLine(text)
  if (widthOf(line) <= columns) return line
  const head = headOf(line, columns - 1)
  // A single wide character may already be too wide.
  return `${widthOf(head) < columns ? head.trimEnd() : ''}…`
}

export const wrapped = (text: string, columns: number): string[] =>
  plainText(text.toWellFormed())
    .replaceAll('\t', '    ')
    .split('\n')
    .flatMap(line => brokenLine(line, columns))

export interface Paint {
  readonly bold: (text: string) => string
  readonly dim: (text: string) => string
  readonly green: (text: string) => string
  readonly yellow: (text: string) => string
  readonly red: (text: string) => string
}

/** Colours only terminals, and respects `NO_COLOR` (no-color.org). */
export function paintFor(stream: { readonly isTTY?: boolean }, environment: Environment): Paint {
  const isOn = stream.isTTY === true && !environment['NO_COLOR'] && environment['TERM'] !== 'dumb'
  const style =
    (on: number, off: number) =>
    (text: string): string =>
      isOn ? `\u001b[${on}m${text}\u001b[${off}m` : text
  return { bold: style(1, 22), dim: style(2, 22), green: style(32, 39), yellow: style(33, 39), red: style(31, 39) }
}

/** A readable width within the terminal's. */
export const columnsOfTerminal = ({ columns }: { readonly columns?: number }): number =>
  // Some terminals report a width of 0.
  Math.max(MIN_COLUMNS, Math.min(columns || DEFAULT_COLUMNS, MAX_COLUMNS))

const DEFAULT_COLUMNS = 80
const MIN_COLUMNS = 20
const MAX_COLUMNS = 100

/** Breaks after spaces if possible. Never changes the text, which may be a command. */
function brokenLine(line: string, columns: number): string[] {
  const lines: string[] = []
  let rest = line
  while (widthOf(rest) > columns) {
    const head = headOf(rest, columns)
    const afterSpace = head.lastIndexOf(' ') + 1
    const length = afterSpace > head.length / 2 ? afterSpace : head.length
    lines.push(rest.slice(0, length))
    rest = rest.slice(length)
  }
  return [...lines, rest]
}

/** At most `columns` wide, but at least one code point. */
function headOf(text: string, columns: number): string {
  let [head, room] = ['', columns]
  for (const point of text) {
    room -= columnsOf(point)
    if (room < 0 && head !== '') return head
    head += point
  }
  return head
}

/** Fast path: building the Unicode tables of the other patterns takes milliseconds. */
const PLAIN = /^[\x20-\x7e]*$/

const columnsOf = (point: string): number => (ZERO_WIDTH.test(point) ? 0 : WIDE.test(point) ? 2 : 1)

const ZERO_WIDTH = /[\p{Mn}\p{Me}\p{Cf}]/u
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u
