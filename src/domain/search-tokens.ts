/** Raise it whenever a text gives other tokens, or an event another text: stores then index everything again. */
export const SEARCH_VERSION = 1

/** Longer words are compared by their beginning. */
const MAX_WORD = 32

/** The part of a text that is indexed: the longest task fits, of a longer message its beginning. */
const MAX_TEXT = 20_000

/** One character of a run: its folded text, and where it is in the original. A run of ASCII is one unit. */
interface Unit {
  readonly text: string
  readonly start: number
  readonly end: number
}

/** Adjacent units of one kind. */
export interface Run {
  /** Of a script that separates words; or of one that does not; or a sign that stands for itself, such as an emoji. */
  readonly kind: 'word' | 'unspaced' | 'sign'
  readonly units: readonly Unit[]
}

/** A token, and the units it is made of. */
export interface Token {
  readonly text: string
  readonly units: readonly Unit[]
}

/**
 * The words of a text in order, folded. Scripts without spaces give a bigram for each character and the last character
 * alone, so that each of them begins a token.
 */
export function tokensOf(text: string): readonly string[] {
  const indexed = text.slice(0, MAX_TEXT).toWellFormed()
  if (ASCII.test(indexed)) return (indexed.toLowerCase().match(ASCII_WORDS) ?? []).map(word => word.slice(0, MAX_WORD))
  return [...tokensIn(indexed)].map(token => token.text)
}

/** The tokens of a text with their places in it. */
export function* tokensIn(text: string): Generator<Token> {
  for (const { kind, units } of runsIn(text)) {
    if (kind !== 'unspaced') yield tokenOf(units)
    else for (const index of units.keys()) yield tokenOf(units.slice(index, index + 2))
  }
}

/** The runs of a text, in order. */
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

/** Where the first `length` characters of a token end in the original text. */
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
 * In this order: a run of ASCII, but for a last letter that has a mark; a Hangul syllable in parts; a letter or digit with
 * its marks; a flag; an emoji.
 */
const CHARACTERS =
  /[A-Za-z0-9]+(?![\p{M}\p{Default_Ignorable_Code_Point}])|[\u1100-\u115f]+[\u1160-\u11a7]*[\u11a8-\u11ff]*|[\p{L}\p{N}][\p{M}\p{Default_Ignorable_Code_Point}\uff9e\uff9f]*|\p{Regional_Indicator}{2}|\p{Extended_Pictographic}/gv

/** Scripts whose words are not separated by spaces; Hangul too, whose words carry their particles with them. */
const UNSPACED =
  /^[[\p{L}\p{N}]&&[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{Script=Bopomofo}\p{Script=Yi}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}\p{Script=Javanese}\p{Script=Balinese}]]/v

const LETTER = /^[\p{L}\p{N}]/u

function kindOf(characters: string): Run['kind'] {
  if (ASCII.test(characters)) return 'word'
  if (UNSPACED.test(characters)) return 'unspaced'
  return LETTER.test(characters) ? 'word' : 'sign'
}

/** Ideographs, kana and Hangul syllables that folding leaves as they are. */
const UNCHANGED = /^[\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uac00-\ud7a3]$/

/** Marks of no script in particular are diacritics, but for those of kana, which make another letter; so is Hebrew pointing. */
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

/** Without case, diacritics and variants of width or form. */
function folded(characters: string): string {
  if (ASCII.test(characters)) return characters.toLowerCase()
  if (UNCHANGED.test(characters)) return characters
  return (
    characters
      .normalize('NFKD')
      .replace(DIACRITICS, '')
      // Upper case expands ß, which lower case leaves.
      .toLowerCase()
      .toUpperCase()
      .toLowerCase()
      .replace(ALIKE_LETTERS, letter => ALIKE[letter] ?? letter)
      .normalize('NFC')
      .replace(NOT_IN_WORDS, '')
  )
}
