import { visible } from './visible.ts'

// Escapes other people's text for Markdown pasted into a pull request: it must stay text on the page that renders it.

/** A line of text that cannot end the line, format, link, mention somebody, refer to an issue, or be HTML. */
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
