import { describe, expect, it } from 'vitest'
import { redactor } from './redact.ts'

const KEY = 'Quite-ordinary/words+of <a> "key"&more'
const TOKEN = 'quite-ordinary-words-of-a-token'
const { error, content } = redactor({ known: [KEY, TOKEN], suspected: ['Project-Of-Ours'] })

const base64 = (text: string): string => Buffer.from(text).toString('base64')
const inUrl = encodeURIComponent(KEY)
const inHtml = KEY.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

describe('a secret in an error', () => {
  it.each([
    ['in upper case', KEY.toUpperCase()],
    ['in a URL', inUrl],
    ['in a URL, in lower case', inUrl.toLowerCase()],
    ['in a form', inUrl.replaceAll('%20', '+')],
    ['in a URL in a URL', encodeURIComponent(inUrl)],
    ['in JSON', JSON.stringify(KEY).slice(1, -1)],
    ['in JSON, with its slashes escaped', JSON.stringify(KEY).slice(1, -1).replaceAll('/', '\\/')],
    ['in JSON in JSON', JSON.stringify(JSON.stringify(KEY)).slice(3, -3)],
    ['in HTML', inHtml],
    ['broken by a line end', TOKEN.replace('words', 'wor\r\n    ds')],
    ['as hex digits', Buffer.from(TOKEN).toString('hex')],
    ['its beginning', TOKEN.slice(0, 20)],
    ['its beginning, cut', `${TOKEN.slice(0, 18)}…`],
    ['its end', TOKEN.slice(-20)],
    ['a suspected one', 'PROJECT-of-ours'],
  ])('[TR38] is found %s', (_, written) => {
    expect(error(`bad ${written} 1`)).toMatch(/^bad \S{0,4}\[redacted\] 1$/)
  })

  it.each(['', 'u', 'us', 'user:'])('[TR38] is found in base64, behind "%s"', before => {
    for (const encode of [base64, (text: string) => Buffer.from(text).toString('base64url')]) {
      const clean = error(`sent ${encode(before + TOKEN)} 1`)
      // The characters at its edges also hold bits of what is around it.
      expect(clean).toMatch(/^sent .{0,8}\[redacted\].{0,3} 1$/)
    }
  })

  it('[TR38] is found where it touches another, and nothing else is lost', () => {
    expect(error(`a${TOKEN}${KEY}b ${TOKEN} c`)).toBe('a[redacted][redacted]b [redacted] c')
    expect(error(`%41 &amp; \\n İ ${inUrl} %41 &amp; \\n\nİ`)).toBe('%41 &amp; \\n İ [redacted] %41 &amp; \\n\nİ')
  })

  it.each([
    ['what many begin with', 'The key must start with quite-ordin.'],
    ['a short end', 'The key ends in ****oken.'],
    ['a part of an address', 'cannot reach https://hooks.example.test/'],
    ['a part of what may be one', 'no project-of-o'],
  ])('[TR38] is not seen in %s', (_, text) => {
    const { error: clean } = redactor({
      known: [TOKEN, 'https://hooks.example.test/services/abc'],
      suspected: ['project-of-ours-and-others'],
    })
    expect(clean(text)).toBe(text)
  })
})

it.each([KEY, inUrl, inUrl.replaceAll(/%../g, each => each.toLowerCase()), JSON.stringify(KEY).slice(1, -1), inHtml])(
  'a result loses a secret as it is, in a URL, in JSON and in HTML: %s',
  written => {
    expect(content([`a ${written} b`, 'quite', TOKEN.toUpperCase()])).toEqual([
      'a [redacted] b',
      'quite',
      TOKEN.toUpperCase(),
    ])
  },
)
