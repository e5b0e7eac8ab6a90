import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { quoteWords, splitWords } from './check-text.ts'
import { Problem } from '../model/text.ts'

const refused = (line: string): string => {
  const words = splitWords(line)
  if (!(words instanceof Problem)) throw new Error(`taken as ${JSON.stringify(words)}`)
  return words.fact.expected ?? words.fact.rule
}

describe('a command line', () => {
  it.each([
    ['npm test', ['npm', 'test']],
    ["  npm test -- --grep 'a b'\n", ['npm', 'test', '--', '--grep', 'a b']],
    ['a\tb  c', ['a', 'b', 'c']],
    [String.raw`grep "say \"hi\"" a\ b`, ['grep', 'say "hi"', 'a b']],
    [String.raw`grep 'a\b' "a\b" a\\b`, ['grep', String.raw`a\b`, String.raw`a\b`, String.raw`a\b`]],
    [`x '' ""`, ['x', '', '']],
    [`x a'b'"c"d`, ['x', 'abcd']],
    [String.raw`x '|' "&&" \; '$HOME' "\$HOME" '*' \~`, ['x', '|', '&&', ';', '$HOME', '$HOME', '*', '~']],
    ['grep foo$ HEAD~1 a#b {} a=b @{u}', ['grep', 'foo$', 'HEAD~1', 'a#b', '{}', 'a=b', '@{u}']],
    ['[ -f package.json ]', ['[', '-f', 'package.json', ']']],
    ['env CI=1 npm test', ['env', 'CI=1', 'npm', 'test']],
    ['prüfe "日本 語"', ['prüfe', '日本 語']],
  ])('[CR1] %s', (line, words) => {
    expect(splitWords(line)).toEqual(words)
  })

  it.each(['a | b', 'a || b', 'a && b', 'a & b', 'a; b', 'a > b', 'a 2>&1', 'a < b', 'a $(b)', 'a `b`', '(a)'])(
    '[CR1] %s belongs in a script',
    line => {
      expect(refused(line)).toContain('put it in a script and name the script')
      const operator = line.replace(/^a /, '')
      expect(splitWords(`a '${operator}'`)).toEqual(['a', operator])
    },
  )

  it.each(['"$(a)"', '"`a`"', 'a\nb', 'a \r\n b', 'a\\\nb', 'a "\\\n"', '! a', 'if a', '{ a', 'time a', '[[ a ]]'])(
    '[CR1] %j is syntax of a shell, too',
    line => {
      expect(refused(line)).toContain('put it in a script and name the script')
    },
  )

  it.each([
    ['a $HOME', 'variables'],
    ['a "$HOME"', 'variables'],
    ['a ${HOME}', 'variables'],
    ["a $'b'", 'variables'],
    ['a $?', 'variables'],
    ['a *.ts', 'wildcards'],
    ['a file?', 'wildcards'],
    ['a [ab]', 'wildcards'],
    ['a {b,c}', 'braces'],
    ['a {1..3}', 'braces'],
    ['~/a', '~'],
    ['a --b=~/c', '~'],
    ['a # b', 'a comment'],
  ])('[CR1] %s would silently stay as it is', (line, what) => {
    expect(refused(line)).toContain(`a command without ${what}: there is no shell`)
  })

  it.each([`a 'b`, `a "b`, `a "b\\"`, 'a b\\'])('[CR1] %s is not finished', line => {
    expect(refused(line)).toMatch(/closed|backslash/)
  })

  it('[CR1] a variable for one command is set with env', () => {
    expect(refused('CI=1 npm test')).toContain('env NAME=value')
  })

  it.each(['', ' \t\n'])('[CR1] %j has no words', line => {
    expect(refused(line)).toBe('empty')
  })

  it('[CR1] a line has a limit, whatever is in it', () => {
    expect(refused('x'.repeat(8_001))).toBe('too_long')
    for (const each of ['{', '[', '"', '\\', '$', ',{', '}'])
      expect(splitWords(each.repeat(8_000 / each.length))).toBeDefined()
  })

  it('[CR1] words that are quoted are read back as they were', () => {
    const word = fc.oneof(
      fc.string(),
      fc.string({ unit: 'binary-ascii' }),
      fc.constantFrom('time', 'a=b', '--a=b', '-', "'"),
    )
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 8 }), words => {
        expect(splitWords(quoteWords(words))).toEqual(words)
      }),
    )
  })

  it('[CR1] words that need no quotes get none', () => {
    expect(quoteWords(['npm', 'test', '--', '--grep=a', 'a b'])).toBe("npm test -- --grep=a 'a b'")
  })
})
