import { expect, it } from 'vitest'
import { plainLine, plainMarkdown } from './text.ts'

it.each([
  ['**Twelve** figures, *all* checked', 'Twelve figures, all checked'],
  ['***Very*** ~~old~~ `npm test` passes', 'Very old npm test passes'],
  ['See [the report](https://example.org/a "Q3") and ![a chart](x.png)', 'See the report and a chart'],
  ['# Report\n\n| a | b |\n|---|---|\n| **1** | 2 |', 'Report\n\na · b\n1 · 2'],
  ['## Done\n\n- [x] one\n- two\n> said', 'Done\n\n- one\n- two\nsaid'],
  ['```ts\nconst a = 1\n```', 'const a = 1'],
  ['one\n\n---\n\ntwo', 'one\n\ntwo'],
  ['这是**重要**的：`完成`', '这是重要的：完成'],
  // What only looks like it.
  ['2*3*4 = 24, a * b * c', '2*3*4 = 24, a * b * c'],
  ['snake_case and __init__.py', 'snake_case and __init__.py'],
  ['*.ts,*.js and src/**/*.test.ts', '*.ts,*.js and src/**/*.test.ts'],
  ['cat a | wc', 'cat a | wc'],
  ['#hashtag, C# and 5 > 3', '#hashtag, C# and 5 > 3'],
  ['[x] and [1]', '[x] and [1]'],
  ['**never closed', '**never closed'],
  ['', ''],
])('an outcome in Markdown is shown as words: %j', (text, words) => {
  expect(plainMarkdown(text)).toBe(words)
})

it.each([
  ['Found:\n\n- one\n- **two**\n  lines\n\n\n1. three\n2. four', 'Found: one · two lines · 1. three · 2. four'],
  ['A sentence that\ngoes on.\n\n```sh\nnpm test\n```', 'A sentence that goes on. npm test'],
  ['- 3 files', '3 files'],
  ['a - b', 'a - b'],
  ['', ''],
])('folded, it is one line: %j', (text, line) => {
  expect(plainLine(text)).toBe(line)
})

it.each(['*a ', '[(', '| ', '`', '- ', '---', '> ', '~~x'])('so is a long one without an end: %j', piece => {
  const text = `x ${piece.repeat(20_000)}`
  expect(plainMarkdown(text).length).toBeLessThanOrEqual(text.length)
})
