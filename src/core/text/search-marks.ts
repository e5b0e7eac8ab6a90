import { fits, type Term } from './search.ts'
import { endOf, tokensIn } from './search-tokens.ts'

/** A piece of a text; `match` marks pieces that match the search. Joined, the pieces are the text. */
export interface Part {
  readonly text: string
  /** It matches the search. */
  readonly match?: true
}

/** Characters of an excerpt, and the maximum of them before the first match. */
const EXCERPT = 160
const LEAD = 40

export const marked = (text: string, terms: readonly Term[]): readonly Part[] =>
  parts(text, 0, text.length, rangesIn(text, terms, text.length))

/** The text around the first match, in parts, on one line; empty if nothing matches. */
export function excerpt(raw: string, terms: readonly Term[]): readonly Part[] {
  const text = raw.replace(/\s/g, ' ')
  const [first] = rangesIn(text, terms, 1)
  if (!first) return []
  const start = boundary(text, Math.max(0, first.start - LEAD))
  const end = boundary(text, Math.min(text.length, Math.max(start + EXCERPT, first.end)))
  const inside = text.slice(start, end)
  const shown = parts(inside, 0, inside.length, rangesIn(inside, terms, inside.length))
  return [...(start > 0 ? ELLIPSIS : []), ...shown, ...(end < text.length ? ELLIPSIS : [])]
}

interface Range {
  readonly start: number
  readonly end: number
}

const ELLIPSIS: readonly Part[] = [{ text: '…' }]

/** The first `limit` matches in order; adjacent and overlapping ones are merged. */
function rangesIn(text: string, terms: readonly Term[], limit: number): Range[] {
  const ranges: Range[] = []
  for (const token of tokensIn(text)) {
    const lengths = terms.filter(term => fits(token.text, term)).map(term => term.token.length)
    if (lengths.length === 0) continue
    const start = token.units[0]?.start ?? 0
    const end = endOf(token, Math.max(...lengths))
    const last = ranges.at(-1)
    if (last && start <= last.end) ranges[ranges.length - 1] = { start: last.start, end: Math.max(end, last.end) }
    else if (ranges.length === limit) break
    else ranges.push({ start, end })
  }
  return ranges
}

function parts(text: string, from: number, to: number, ranges: readonly Range[]): Part[] {
  const list: Part[] = []
  let at = from
  for (const { start, end } of ranges) {
    if (start > at) list.push({ text: text.slice(at, start) })
    list.push({ text: text.slice(start, end), match: true })
    at = end
  }
  if (at < to) list.push({ text: text.slice(at, to) })
  return list
}

/** Never splits a surrogate pair. */
const boundary = (text: string, at: number): number => (/[\udc00-\udfff]/.test(text.charAt(at)) ? at - 1 : at)
