import { visible } from './visible.ts'

// Other people's text in Markdown that is pasted into a pull request: it must stay text on the page that renders it.

/** A line of text. It cannot end the line, format, link, mention somebody, refer to an issue, or be HTML. */
export const inText = (text: string): string =>
  oneLine(text)
    .replaceAll(/[\\`*_[\]<>|~#&$@!]/g, String.raw`\$&`)
    // Sites look for these in the rendered text, where the backslash is gone.
    .replaceAll(/@|#(?=\d)|\bGH(?=-\d)|\bwww(?=\.)|:(?=\/\/)/gi, `$&${NOTHING}`)

/** A line of code, in which nothing means anything. */
export function inCode(text: string): string {
  const line = oneLine(text)
  const longest = Math.max(0, ...(line.match(/`+/g) ?? []).map(({ length }) => length))
  const fence = '`'.repeat(longest + 1)
  const room = line.startsWith('`') || line.endsWith('`') || line === '' ? ' ' : ''
  return `${fence}${room}${line}${room}${fence}`
}

/** Zero width. */
const NOTHING = '\u200b'

const oneLine = (text: string): string => visible(text.trim().replaceAll(/\s+/g, ' '))
