import { execFileSync } from 'node:child_process'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { inLongRun } from '../../test/support/children.ts'
import { fault, held } from '../../test/support/faults.ts'
import { splitWords } from '../domain/command-line.ts'
import { Problem } from '../domain/text.ts'

const SYNTAX = [
  ' ',
  '\t',
  "'",
  '"',
  '\\',
  '$',
  '`',
  '*',
  '?',
  '[',
  ']',
  '{',
  '}',
  ',',
  '.',
  '~',
  '#',
  '=',
  '!',
  '-',
  '%',
]

fault('a command line that a shell would read differently')

it.runIf(process.platform !== 'win32')('[CR1] a line that is taken has the same words in a shell', () => {
  const line = fc
    .array(fc.constantFrom(...SYNTAX, 'a', 'b', 'é'), { maxLength: 14 })
    .map(parts => `x ${parts.join('')}`)
  const lines = fc
    .sample(line, inLongRun(200_000, 10_000))
    .map(text => ({ text, words: splitWords(text) }))
    .flatMap(({ text, words }) => (words instanceof Problem ? [] : [{ text, words }]))
  expect(lines.length).toBeGreaterThan(500)
  const script = lines.map(({ text }) => `printf '%s\\0' ${text}\nprintf '\\n\\0'`).join('\n')
  // No programs to run.
  const read = execFileSync('/bin/sh', { input: script, env: { PATH: '' }, encoding: 'utf8' })
  const shells = read.split('\n\0').slice(0, -1)
  expect(shells).toEqual(lines.map(({ words }) => words.map(word => `${word}\0`).join('')))
  held(lines.length)
})
