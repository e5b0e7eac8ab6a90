import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import Markdown from 'react-markdown'
import remarkGfm from 'remark-gfm'
import { describe, expect, it } from 'vitest'
import { inCode, inText } from './plain-text.ts'

const rendered = (markdown: string): string =>
  renderToStaticMarkup(createElement(Markdown, { remarkPlugins: [remarkGfm] }, markdown))

/** The text that a browser shows. */
const shown = (html: string): string =>
  html
    .replaceAll(/<[^>]+>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#x27;', "'")
    .replaceAll('&amp;', '&')

const HOSTILE = [
  '**bold** _it_ ~~gone~~ `code`',
  '<img src=x onerror=alert(1)> <!-- -->',
  '[click](https://example.com) ![image](https://example.com/x.png)',
  'https://example.com and www.example.com',
  '@octocat closes #12, GH-12',
  'a | b || c',
  '&lt;b&gt; &amp; $x$ \\',
  '[^1] [x] <https://example.com>',
  '```js',
]

describe("other people's text in Markdown", () => {
  it.each(HOSTILE)('[RC9] is shown as it is, and does nothing: %s', text => {
    const html = rendered(`| a |\n| --- |\n| ${inText(text)} |`)
    expect(html.match(/<[a-z]+/g)).toEqual(['<table', '<thead', '<tr', '<th', '<tbody', '<tr', '<td'])
    expect(shown(html).replaceAll('\u200b', '')).toBe(`a${text}`)
  })

  it('[RC9] mentions nobody, and refers to nothing', () => {
    const text = shown(rendered(inText('@octocat fixes #12, gh-7 and https://github.com/o/r/issues/1')))
    expect(text).not.toMatch(/@\w|#\d|gh-\d|:\/\//i)
  })

  it('[RC9] stays on its line, and shows control characters', () => {
    expect(inText('a\n\n# b\r\n- c')).toBe(String.raw`a \# b - c`)
    expect(inText('a\u202eb\u0007')).toBe(String.raw`a\\u{202e}b\\u{7}`)
  })

  it.each(['npm test', '`', 'a ``b` c', '`x`', '<b> @octocat #1 **x**', ''])('[RC9] is code as it is: %s', text => {
    const html = rendered(`- ${inCode(text)}`)
    expect(html).toMatch(/^<ul>\n<li><code>[^]*<\/code><\/li>\n<\/ul>$/)
    expect(shown(html).trim()).toBe(text)
  })
})
