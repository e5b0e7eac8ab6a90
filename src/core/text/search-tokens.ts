/** Raise it when a text yields other tokens, or an event another text. Stores then rebuild the index. */
export const SEARCH_VERSION = 1

/** Longer words are compared by their beginning. */
const MAX_WORD = 32

/** Characters of a text that are indexed: enough for the longest task, and for the beginning of a longer message. */
const MAX_TEXT = 20_000

/** One character of a run: its folded text, and its place in the original. A run of ASCII is one unit. */
interface Unit {
  readonly text: string
  readonly start: number
  readonly end: number
}

export interface Run {
  /** A script that separates words, one that does not, or a sign that stands for itself, such as an emoji. */
  readonly kind: 'word' | 'unspaced' | 'sign'
  readonly units: readonly Unit[]
}

export interface Token {
  readonly text: string
  readonly units: readonly Unit[]
}

/**
 * The words of a text in order, folded. Scripts without spaces give a bigram for each character and the last character
 * alone, so that every character begins a token.
 */
export function tokensOf(text: string): readonly string[] {
  const indexed = text.slice(0, MAX_TEXT).toWellFormed()
  if (ASCII.test(indexed)) return (indexed.toLowerCase().match(ASCII_WORDS) ?? []).map(word => word.slice(0, MAX_WORD))
  return [...tokensIn(indexed)].map(token => token.text)
}

export function* tokensIn(text: string): Generator<Token> {
  for (const { kind, units } of runsIn(text)) {
    if (kind !== 'unspaced') yield tokenOf(units)
    else for (const index of units.keys()) yield tokenOf(units.slice(index, index + 2))
  }
}

export function* runsIn(text: string): Generator<Run> {
  let run: { kind: Run['kind']; units: Unit[] } | undefined
  for (const match of text.matchAll(CHARACTERS)) {
    const [characters] = match
    const unit = { text: folded(characters), start: match.index, end: match.index + characters.length }
    if (unit.text === '') continue
    const kind = kindOf(characters)
    if (run && run.kind === kind && kind !== 'sign' && run.units.at(-1)?.end === unit.start) {
      run.units.push(unit)
      continue
    }
    if (run) yield run
    run = { kind, units: [unit] }
  }
  if (run) yield run
}

export function tokenOf(units: readonly Unit[]): Token {
  const text = units.map(unit => unit.text).join('')
  return { text: text.length <= MAX_WORD ? text : Array.from(text).slice(0, MAX_WORD).join(''), units }
}

export function endOf({ units }: Token, length: number): number {
  let left = length
  for (const { text, start, end } of units) {
    if (left <= text.length) return end - start === text.length ? start + left : end
    left -= text.length
  }
  return units.at(-1)?.end ?? 0
}

const ASCII = /^[\0-\x7f]*$/
const ASCII_WORDS = /[a-z0-9]+/g

/**
 * In this order: a run of ASCII without a last letter that has a mark; a Hangul syllable in parts; a letter or digit
 * with its marks; a flag; an emoji.
 */
const CHARACTERS =
  /[A-Za-z0-9]+(?![\p{M}\p{Default_Ignorable_Code_Point}])|[\u1100-\u115f]+[\u1160-\u11a7]*[\u11a8-\u11ff]*|[\p{L}\p{N}][\p{M}\p{Default_Ignorable_Code_Point}\uff9e\uff9f]*|\p{Regional_Indicator}{2}|\p{Extended_Pictographic}/gv

/** Scripts that do not separate words by spaces; also Hangul, whose words include their particles. */
const UNSPACED =
  /^[[\p{L}\p{N}]&&[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{Script=Bopomofo}\p{Script=Yi}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}\p{Script=Javanese}\p{Script=Balinese}]]/v

const LETTER = /^[\p{L}\p{N}]/u

function kindOf(characters: string): Run['kind'] {
  if (ASCII.test(characters)) return 'word'
  if (UNSPACED.test(characters)) return 'unspaced'
  return LETTER.test(characters) ? 'word' : 'sign'
}

/** A fast path: ideographs, kana and Hangul syllables that folding does not change. */
const UNCHANGED = /^[\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uac00-\ud7a3]$/

/**
 * Marks of no particular script are diacritics, except those of kana, which make another letter. Hebrew pointing also
 * counts.
 */
const DIACRITICS =
  /[[\p{Mn}&&[\p{Script=Inherited}\p{Script=Hebrew}]]--[\u3099\u309a]]|\p{Default_Ignorable_Code_Point}/gv

/** Letters that Unicode does not decompose, and what people type for them. */
const ALIKE: Readonly<Record<string, string>> = {
  ς: 'σ',
  æ: 'ae',
  đ: 'd',
  ð: 'd',
  ħ: 'h',
  ł: 'l',
  ø: 'o',
  œ: 'oe',
  þ: 'th',
  ŧ: 't',
}
const ALIKE_LETTERS = /[ςæđðħłøœþŧ]/g

const NOT_IN_WORDS = /[^\p{L}\p{N}\p{M}\p{Extended_Pictographic}\p{Regional_Indicator}]/gu

function folded(characters: string): string {
  if (ASCII.test(characters)) return characters.toLowerCase()
  if (UNCHANGED.test(characters)) return characters
  return (
    characters
      .normalize('NFKD')
      .replace(DIACRITICS, '')
      // Upper case expands ß; lower case leaves it.
      .toLowerCase()
      .toUpperCase()
      .toLowerCase()
      .replace(ALIKE_LETTERS, letter => ALIKE[letter] ?? letter)
      .normalize('NFC')
      .replace(NOT_IN_WORDS, '')
  )
}
