import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { commandsIn } from './program.ts'

const folderWith = (files: Record<string, string>): string => {
  const folder = mkdtempSync(join(tmpdir(), 'runsheet-commands-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return folder
}

it('a review offers the scripts and targets of the workspace, checks first', () => {
  const scripts = { start: 'node .', test: 'vitest', 'check:types': 'tsc', 'bad name; rm': 'x', odd: 1 }
  const folder = folderWith({
    'package.json': JSON.stringify({ scripts }),
    Makefile: '.PHONY: test\nVAR := 1\nall: test\ntest:\n\tnode --test\n%.o: %.c\n',
  })
  expect(commandsIn(folder)).toEqual(['npm test', 'npm run check:types', 'make test', 'npm run start', 'make all'])
})

it('without them, or with files that are none, it offers nothing', () => {
  expect(commandsIn(folderWith({}))).toEqual([])
  expect(commandsIn(folderWith({ 'package.json': '{"scripts":', Makefile: '' }))).toEqual([])
})
