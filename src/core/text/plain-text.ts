/** Removes what a terminal would obey: escape sequences, control characters and direction changes. */
export const plainText = (text: string): string =>
  text
    .replaceAll(ESCAPES, '')
    .replaceAll(/\r\n?|[\u2028\u2029]/g, '\n')
    .replaceAll(CONTROLS, '')

const [ESC, BEL, CSI] = ['\u001b', '\u0007', '\u009b']
/**
 * Titles and links; colours and cursor movements; all others. Linear, unlike Node's own pattern: no match runs past an
 * escape.
 */
const ESCAPES = new RegExp(
  [
    `${ESC}[\\]PX^_][^${BEL}${ESC}]*(?:${BEL}|${ESC}\\\\)`,
    `(?:${ESC}\\[|${CSI})[0-?]*[ -/]*[@-~]`,
    `${ESC}[ -/]*[0-~]`,
  ].join('|'),
  'g',
)

const CONTROLS = /[^\P{Cc}\n\t]|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/gu

/** Escapes control, invisible and direction characters of a file's text or a path, for a terminal. */
export const visible = (text: string): string =>
  text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, char => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`)

/** Keeps head and tail of a long text and says how much is left out. Errors are often at the end. */
export function excerpt(text: string, limit: number): string {
  if (text.length <= limit) return text
  const head = Math.ceil(limit / 2)
  const tail = text.length - limit + head
  const left = `[${text.length - limit} characters left out]`
  return `${text.slice(0, head).toWellFormed()}\n${left}\n${text.slice(tail).toWellFormed()}`
}

// Escapes other people's text for Markdown pasted into a pull request: it must stay text on the page that renders it.

/** One line of text without line breaks, formatting, links, mentions, issue references or HTML. */
export const inText = (text: string): string =>
  oneLine(text)
    .replaceAll(/[\\`*_[\]<>|~#&$@!]/g, String.raw`\$&`)
    // Sites look for these in the rendered text, where the backslash is gone.
    .replaceAll(/@|#(?=\d)|\bGH(?=-\d)|\bwww(?=\.)|:(?=\/\/)/gi, `$&${NOTHING}`)

export function inCode(text: string): string {
  const line = oneLine(text)
  const longest = Math.max(0, ...(line.match(/`+/g) ?? []).map(({ length }) => length))
  const fence = '`'.repeat(longest + 1)
  const room = line.startsWith('`') || line.endsWith('`') || line === '' ? ' ' : ''
  return `${fence}${room}${line}${room}${fence}`
}

/** A zero-width space. */
const NOTHING = '\u200b'

const oneLine = (text: string): string => visible(text.trim().replaceAll(/\s+/g, ' '))
