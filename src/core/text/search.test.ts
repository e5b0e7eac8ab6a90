import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { excerpt, keyOf, keysOf, marked, matchesIn, ranked, termsOf, tokensOf, type Part } from './search.ts'

const finds = (text: string, query: string): boolean => {
  const terms = termsOf(query)
  return terms.length > 0 && matchesIn(tokensOf(text).join(' '), terms) > 0
}
const shown = (parts: readonly Part[]): string => parts.map(({ text, match }) => (match ? `[${text}]` : text)).join('')

describe('tokens', () => {
  it.each([
    ['Größe ÄNDERN', 'grosse andern'],
    ['STRASSE Straße ẞ', 'strasse strasse ss'],
    ['Café cafe\u0301s', 'cafe cafes'],
    ['İstanbul ISPARTA ısı', 'istanbul isparta isi'],
    ['ΟΔΟΣ οδός', 'οδοσ οδοσ'],
    ['Ørsted Łódź Þór', 'orsted lodz thor'],
    ['Ёлка ЁЛКА', 'елка елка'],
    ['ＡＢＣ １２３ ﬁne ①', 'abc 123 fine 1'],
    ["l'été, don't: x_y-z.ts", 'l ete don t x y z ts'],
    ['שָׁלוֹם שלום', 'שלום שלום'],
    ['كِتَاب كتاب', 'كتاب كتاب'],
    ['हिन्दी', 'हिन्दी'],
    ['co\u00adop zero\u200bwidth', 'coop zerowidth'],
  ])('[SE1] words are folded: %s', (text, tokens) => expect(tokensOf(text).join(' ')).toBe(tokens.normalize('NFC')))

  it.each([
    ['准备生日派对的预算', '准备 备生 生日 日派 派对 对的 的预 预算 算'],
    ['誕生日パーティー', '誕生 生日 日パ パー ーテ ティ ィー ー'],
    ['ｶﾞｷ ガキ', 'ガキ キ ガキ キ'],
    ['생일파티', '생일 일파 파티 티'],
    ['วันเกิด', 'วัน นเ เกิ กิด ด'],
    ['iPhone手机3个', 'iphone 手机 机 3 个'],
    ['𠮷野家', '𠮷野 野家 家'],
  ])('[SE1] scripts without spaces are pairs of characters: %s', (text, tokens) =>
    expect(tokensOf(text).join(' ')).toBe(tokens.normalize('NFC')),
  )

  it('[SE1] composed and decomposed text is the same', () => {
    for (const text of ['생일파티', 'がぎぐ', 'Größe', 'Việt Nam']) {
      expect(tokensOf(text.normalize('NFD'))).toEqual(tokensOf(text.normalize('NFC')))
    }
  })

  it('[SE1] an emoji is a word of its own', () => {
    expect(tokensOf('Party🎂🎉now ❤️ 🇩🇪🇫🇷')).toEqual(['party', '🎂', '🎉', 'now', '❤', '🇩🇪', '🇫🇷'])
  })

  it('[SE1] only the beginning of a very long word or text counts', () => {
    expect(tokensOf('x'.repeat(100))).toEqual(['x'.repeat(32)])
    expect(finds('x'.repeat(100), 'x'.repeat(60))).toBe(true)
    expect(tokensOf(`${'ab '.repeat(10_000)}end`)).not.toContain('end')
    expect(tokensOf('𠮷'.repeat(40)).every(token => token.isWellFormed())).toBe(true)
  })
})

describe('a query', () => {
  it.each([
    ['准备生日派对的预算', '生日'],
    ['准备生日派对的预算', '派'],
    ['准备生日派对的预算', '算'],
    ['准备生日派对的预算', '预算 生'],
    ['생일파티를 준비', '파티 준'],
    ['วันเกิดปีนี้', 'วันเ'],
    ['Write the quarterly report', 'quarterly rep'],
    ['Write the quarterly report', 'REPORT WRITE'],
    ['Größe ändern', 'grosse and'],
    ['cake 🎂', '🎂'],
  ])('[SE1] finds %s by %s', (text, query) => expect(finds(text, query)).toBe(true))

  it.each([
    ['准备生日派对的预算', '日生'],
    ['Write the quarterly report', 'quart report'],
    ['Write the quarterly report', 'quarterly reports'],
    ['100% sure', '%'],
    ['a*b', '*'],
    ['anything', ' '],
  ])('[SE1] does not find %s by %s', (text, query) => expect(finds(text, query)).toBe(false))

  it('[SE1] has sixteen words at most, each once', () => {
    expect(termsOf('a b a b a')).toEqual([
      { token: 'a', prefix: false },
      { token: 'b', prefix: false },
      { token: 'a', prefix: true },
    ])
    expect(termsOf(Array.from({ length: 400 }, (_, index) => `w${index}`).join(' '))).toHaveLength(16)
  })

  it('[SE1] any text is found by its own words, and its keys by their beginnings', () => {
    const texts = fc.string({ unit: 'binary', maxLength: 60 })
    fc.assert(
      fc.property(texts, fc.nat(), (text, place) => {
        const tokens = tokensOf(text)
        const token = tokens[place % Math.max(1, tokens.length)]
        if (token === undefined) return
        const beginning = Array.from(token)
          .slice(0, 1 + (place % 3))
          .join('')
        const joined = tokens.join(' ')
        for (const term of [
          { token, prefix: false },
          { token: beginning, prefix: true },
        ]) {
          expect(matchesIn(joined, [term])).toBeGreaterThan(0)
          expect(keysOf(tokens)).toContain(keyOf(term))
        }
        expect(finds(text, text)).toBe(true)
        // Upper case writes the iota below a Greek vowel beside it. Some vowels of Kirat Rai decompose into letters, not marks.
        const shouted = text.replace(/[\u0345\u1f80-\u1fff\u{16d63}-\u{16d6a}]/gu, '')
        if (tokensOf(shouted).length > 0) expect(finds(shouted, shouted.toUpperCase().normalize('NFD'))).toBe(true)
      }),
      { numRuns: 200 },
    )
  })
})

it('more matches come first, then newer ones', () => {
  const documents = ['tea', 'tea tea cake', 'teapot', 'tea and tea'].map(text => ({ tokens: text }))
  expect(ranked(documents, termsOf('tea')).map(({ tokens }) => tokens)).toEqual([
    'tea tea cake',
    'tea and tea',
    'tea',
    'teapot',
  ])
})

describe('highlights', () => {
  it.each([
    ['准备生日派对的预算', '生日派', '准备[生日派]对的预算'],
    ['准备生日派对的预算', '生', '准备[生]日派对的预算'],
    ['Größe ändern', 'GROSSE an', '[Größe] [än]dern'],
    ['Straße', 'stras', '[Straß]e'],
    ['cafe\u0301 noir', 'café', '[cafe\u0301] noir'],
    ['<b>bold</b>', 'bold', '<b>[bold]</b>'],
    ['a cake 🎂!', '🎂', 'a cake [🎂]!'],
    ['one two', 'three', 'one two'],
  ])('%s by %s', (text, query, parts) => expect(shown(marked(text, termsOf(query)))).toBe(parts))

  it('the parts are the text, whatever it holds', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 80 }),
        fc.string({ unit: 'binary', maxLength: 10 }),
        (text, query) => {
          const terms = termsOf(query)
          const parts = marked(text, terms)
          expect(parts.map(part => part.text).join('')).toBe(text)
          if (finds(text, query)) expect(parts.some(({ match }) => match)).toBe(true)
        },
      ),
      { numRuns: 200 },
    )
  })

  it('an excerpt is short, on one line, around the first match', () => {
    const text = `${'Once upon a time. '.repeat(30)}\nThe needle\nis here.${' And so on.'.repeat(50)}`
    const parts = excerpt(text, termsOf('needle'))
    expect(shown(parts)).toMatch(/^….{40}\[needle\] is here\..*…$/)
    expect(shown(parts).length).toBeLessThan(170)
    expect(excerpt(text, termsOf('haystack'))).toEqual([])
    expect(shown(excerpt('The needle', termsOf('needle')))).toBe('The [needle]')
    const emoji = excerpt(`${'🎂'.repeat(200)} needle ${'🎂'.repeat(200)}`, termsOf('needle'))
    expect(emoji.every(part => part.text.isWellFormed())).toBe(true)
  })
})
