import { describe, expect, it } from 'vitest'
import { sayProblem } from '../views/say.ts'
import { asProse, isBlank, isId, line, Problem, prose, tagList } from './text.ts'

const ASTRAL = '🗒'
const HALVES = ['\ud83d', 'a\ude00b', '\ude00\ud83d']

/** Letters of the tag block, with its end. */
const tagsOf = (text: string): string =>
  Array.from(`${text}\u007f`, letter => String.fromCodePoint(0xe0000 + (letter.codePointAt(0) ?? 0))).join('')

const message = (value: unknown): string => {
  if (value instanceof Problem) return sayProblem(value.fact)
  throw new Error(`No problem with ${JSON.stringify(value)}`)
}

describe('ids', () => {
  it('[ID1] an id is 1 to 128 characters', () => {
    expect(isId('a')).toBe(true)
    expect(isId('x'.repeat(128))).toBe(true)
    expect(isId('')).toBe(false)
    expect(isId('x'.repeat(129))).toBe(false)
  })

  it('[ID1] an id holds A-Z a-z 0-9 _ - and nothing else', () => {
    expect(isId('AZaz09_-')).toBe(true)
    for (const other of ['a b', 'a/b', '..', 'a.b', 'a\\b', 'é', 'a\n', '\u0000', '%2e', 'a:b', ASTRAL]) {
      expect(isId(other), JSON.stringify(other)).toBe(false)
    }
  })

  it('[ID1] only a string is an id', () => {
    for (const other of [undefined, null, 7, {}, ['abc']]) expect(isId(other)).toBe(false)
  })
})

describe('one line', () => {
  it('[TA6] a title is trimmed', () => {
    expect(line('  Buy milk \u00a0')).toBe('Buy milk')
  })

  it('[TA6] each control character and line break becomes a space', () => {
    expect(line('a\nb\r\nc\td\u0000e\u001bf\u007fg\u0085h\u2028i\u2029j')).toBe('a b  c d e f g h i j')
  })

  it('[TA6] a title holds 400 code points and not 401, however many units those are', () => {
    expect(line('x'.repeat(400))).toBe('x'.repeat(400))
    expect(message(line('x'.repeat(401)))).toBe('must be at most 400 characters, got 401')
    expect(line(ASTRAL.repeat(400))).toBe(ASTRAL.repeat(400))
    expect(message(line(ASTRAL.repeat(401)))).toBe('must be at most 400 characters, got 401')
  })

  it('[TA6] trimmed characters do not count', () => {
    expect(line(`\n ${'x'.repeat(400)} \t`)).toBe('x'.repeat(400))
  })

  it('[TA6] a title is not empty, not even once it is cleaned', () => {
    for (const empty of ['', '   ', '\n\t', '\u0000\u007f', '\u2028']) {
      expect(message(line(empty))).toBe('must not be empty')
    }
  })

  it.each([
    '👩\u200d👧',
    '👩🏽\u200d🚀',
    '🕵🏽\u200d♂\ufe0f',
    '🏳\ufe0f\u200d🌈',
    '❤\ufe0f',
    '☎\ufe0e',
    '1\ufe0f\u20e3',
    '🇩🇪',
    `Visit 🏴${tagsOf('gbsct')} and 🏴${tagsOf('gbeng')}`,
    'می\u200cخواهم',
    'नमस्\u200dते',
    'क्\u200c\u0937',
    'ශ්\u200dරී',
    'അവന്\u200d',
    'ᠰᠠᠶ\u180eᠠ',
    'שלום \u200f!',
  ])('[TA6] emoji and scripts keep the invisible characters that they need: %j', text => {
    expect([line(text), prose(text), tagList([text])]).toEqual([text, text, [text]])
  })

  it.each([
    ['of the tag block', `Buy${tagsOf('rm -rf')} milk`],
    ['of the tag block, behind a flag that no font has', `Buy 🏴${tagsOf('delete')}`, 'Buy 🏴'],
    ['of the tag block, after a flag', `Buy 🏴${tagsOf('gbsct')}${tagsOf('x')}`, `Buy 🏴${tagsOf('gbsct')}`],
    ['of the tag block, alone', 'Buy\u{e0001}\u{e0067} milk'],
    ['variation selectors in a row', 'Buy ❤\ufe0f\ufe0e\ufe0f\u{e0101}\u{e01ef}', 'Buy ❤\ufe0f'],
    ['a variation selector after a letter or digit', 'B\ufe0fuy 1\ufe0f milk', 'Buy 1 milk'],
    ['zero-width characters in a row', 'Buy\u200b\u200c\u200d\u2060\ufeff milk'],
    ['joiners between Latin letters', 'B\u200du\u200cy milk'],
    ['marks of direction in a row', 'مرحبا\u061c\u061c\u200f', 'مرحبا\u061c'],
    ['Mongolian selectors in a row', 'ᠰ\u180b\u180c\u180d', 'ᠰ\u180b'],
    ['joiners in a row', 'می\u200c\u200c\u200dخ', 'میخ'],
    ['a joiner after an emoji', '👩\u200d milk', '👩 milk'],
    ['marks of direction in Latin text', 'B\u200eu\u200fy\u061c milk'],
    ['fillers and soft hyphens', 'Buy\u3164\u00ad\u115f\u034f milk'],
    ['annotations', 'Buy\ufff9\ufffb milk'],
  ])('[TA6] other invisible characters are left out: %s', (_, text, clean = 'Buy milk') => {
    expect([line(text), prose(text), tagList([text])]).toEqual([clean, clean, [clean]])
    expect(asProse(text)).toBe(clean)
  })

  it('[TA6] a text of zero-width characters is empty', () => {
    for (const nothing of ['\u200b', '\u200d\u200c\u2060', '\ufeff\u200b', '\u3164', ' \u00ad ', '\u{e0020}']) {
      expect(message(line(nothing)), JSON.stringify(nothing)).toBe('must not be empty')
      expect(isBlank(nothing)).toBe(true)
    }
  })

  it('[TA6] a text without a visible letter, number, punctuation mark or symbol is empty', () => {
    const blank = [
      '\ufff9\ufffa\ufffb',
      '\u2800',
      '\ufffc',
      '\u0301',
      '\u20dd',
      '\u{1d159}',
      '\u{13441}',
      '\u115f\u1160',
    ]
    for (const nothing of [...blank, '\u180e', '\u034f', '\ue000', '\u0378', blank.join(' ')]) {
      expect(message(line(nothing)), JSON.stringify(nothing)).toBe('must not be empty')
      expect([prose(nothing), asProse(nothing), isBlank(nothing)]).toEqual(['', '', true])
    }
    for (const text of ['é', 'e\u0301', '七', '٣', '…', '→', '❤\ufe0f', '🇩🇪', '⠁', '\u2800x', '\ufffd', '½', '€']) {
      expect([line(text), prose(text)], text).toEqual([text, text])
    }
  })

  it('[TA6] bidirectional controls become spaces: a title reads as it is stored', () => {
    expect(line('pay \u202ednuf eht\u202c now \u2066x\u2069')).toBe('pay  dnuf eht  now  x')
    expect(prose('a\n\u202eb\u2067c')).toBe('a\n b c')
    // Right-to-left text needs none of them.
    for (const text of ['שלום \u200f!', 'مرحبا\u061c']) expect(line(text)).toBe(text)
  })

  it('a lone surrogate is refused', () => {
    for (const half of HALVES) {
      expect(isBlank(half)).toBe(false)
      expect(message(line(half))).toBe('must be well-formed Unicode: it contains half of a surrogate pair')
    }
  })

  it('[TA6] anything but a string is refused, and its type is named', () => {
    expect(message(line(7))).toBe('must be a string, got number')
    expect(message(line(null))).toBe('must be a string, got null')
    expect(message(line(['a']))).toBe('must be a string, got an array')
    expect(message(line({}))).toBe('must be a string, got object')
  })
})

describe('several lines', () => {
  it('line ends become \\n, tabs stay, other control characters become spaces', () => {
    expect(prose('a\r\nb\rc\nd\te\u0000f\u001bg\u007fh\u0085i')).toBe('a\nb\nc\nd\te f g h i')
  })

  it('it holds 8,000 code points and not 8,001', () => {
    expect(prose('x'.repeat(8_000))).toBe('x'.repeat(8_000))
    expect(message(prose('x'.repeat(8_001)))).toBe('must be at most 8000 characters, got 8001')
    expect(prose(ASTRAL.repeat(8_000))).toBe(ASTRAL.repeat(8_000))
    expect(message(prose(ASTRAL.repeat(8_001)))).toBe('must be at most 8000 characters, got 8001')
  })

  it('it may be empty, and is when nothing but space is left', () => {
    expect(prose('')).toBe('')
    expect(prose(' \r\n\t ')).toBe('')
  })

  it('[TA6] a text of several lines is empty if nothing in it is visible', () => {
    for (const text of ['\u200b', '\ufeff \u2060\n\u200d', '\u00ad', '\u202e']) expect(prose(text)).toBe('')
    expect(prose('a\u200bb')).toBe('ab')
  })

  it('what a model wrote freely is repaired instead of refused', () => {
    expect(asProse(' a\ud83d\r\nb\u0000 ')).toBe('a\ufffd\nb')
    expect(asProse(`  ${ASTRAL.repeat(9_000)}`)).toBe(ASTRAL.repeat(8_000))
    expect(asProse('\u200b')).toBe('')
  })

  it('a lone surrogate is refused, and so is anything but a string', () => {
    for (const half of HALVES) expect(prose(half)).toBeInstanceOf(Problem)
    expect(message(prose(undefined))).toBe('must be a string, got undefined')
  })
})

describe('tags', () => {
  const tags = (count: number): string[] => Array.from({ length: count }, (_, index) => `tag-${index}`)

  it('20 tags are taken and 21 are not', () => {
    expect(tagList(tags(20))).toEqual(tags(20))
    expect(message(tagList(tags(21)))).toBe('must have at most 20 entries, got 21')
  })

  it('a tag has 1 to 64 code points, and a refusal names the one that does not', () => {
    expect(tagList([ASTRAL.repeat(64)])).toEqual([ASTRAL.repeat(64)])
    expect(message(tagList(['ok', ASTRAL.repeat(65)]))).toBe('must be at most 64 characters, got 65')
    expect(message(tagList(['ok', 'ok', ' ']))).toBe('must not be empty')
    expect(message(tagList([null]))).toBe('must be a string, got null')
    expect(message(tagList(['\ud83d']))).toMatch(/^must be well-formed/)
  })

  it('repeated tags count once, as they are after cleaning', () => {
    expect(tagList([...tags(20), ' tag-0\n', 'tag-19'])).toEqual(tags(20))
  })

  it('a string is not a list of tags', () => {
    expect(message(tagList('a,b'))).toBe('must be an array, got string')
  })
})
