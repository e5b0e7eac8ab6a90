/** A range of a text: its start, and the place after its end. */
export type Range = readonly [from: number, to: number]

/** A text in the one form that all of its spellings have. */
export interface Folded {
  readonly text: string
  /** Where a range of it is in the original. An escape belongs to it as a whole. */
  readonly origin: (range: Range) => Range
}

/** In lower case, without line ends, and with the escapes of URLs, JSON and HTML replaced. */
export function fold(original: string): Folded {
  // Only this letter is longer in lower case.
  const lower = original.replaceAll('İ', 'i').toLowerCase()
  const texts: string[] = []
  const parts: Part[] = []
  let at = 0
  let done = 0
  const add = (text: string, to: number): void => {
    texts.push(text)
    parts.push({ at, from: done, to, isEscape: text.length !== to - done })
    at += text.length
    done = to
  }
  for (const { 0: escape, index } of lower.matchAll(ESCAPE)) {
    if (index > done) add(lower.slice(done, index), index)
    add(unescaped(escape), index + escape.length)
  }
  add(lower.slice(done), lower.length)
  const origin = ([from, to]: Range): Range => [originOf(parts, from)[0], originOf(parts, to - 1)[1]]
  return { text: texts.join(''), origin }
}

interface Part {
  /** Where it begins in the folded text. */
  readonly at: number
  /** Its range in the original. */
  readonly from: number
  readonly to: number
  readonly isEscape: boolean
}

/** Where one character comes from. */
function originOf(parts: readonly Part[], place: number): Range {
  let low = 0
  let high = parts.length - 1
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if ((parts[middle]?.at ?? 0) <= place) low = middle
    else high = middle - 1
  }
  const { at, from, to, isEscape } = parts[low] ?? { at: 0, from: 0, to: 0, isEscape: false }
  return isEscape ? [from, to] : [from + place - at, from + place - at + 1]
}

/** `%2f`, `%252f`; `\/`, `\"`, `\n`, `\u002f` behind any number of backslashes; `&amp;`, `&#47;`; line ends; characters of no width. */
const ESCAPE =
  /%(?:25){0,3}[2-7][\da-f]|\\{1,8}(?:u00[2-7][\da-f]|x[2-7][\da-f]|["'/nrt])|\\{2,8}|&(?:amp|lt|gt|quot|apos|#\d{2,3}|#x[2-7][\da-f]);|[ \t]{0,16}[\r\n]\s*|[\u00ad\u200b-\u200d\u2060\ufeff]/g

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

function unescaped(escape: string): string {
  const [, kind = '', rest = ''] = /^(%(?:25)*(?=..)|&#x?|&|\\+[ux]|\\+)(.*?);?$/s.exec(escape) ?? []
  if (kind === '') return ''
  if (kind === '&') return ENTITIES[rest] ?? ''
  if (kind === '&#') return character(Number(rest))
  if (/^%|[ux]$/.test(kind)) return character(Number.parseInt(rest, 16))
  if (rest === '') return '\\'
  return /[nrt]/.test(rest) ? '' : rest
}

const character = (code: number): string => String.fromCharCode(code).toLowerCase()
