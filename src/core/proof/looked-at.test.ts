import { describe, expect, it } from 'vitest'
import { splitWords } from './command-line.ts'
import { partedWords } from './looked-at.ts'
import { Problem } from '../model/text.ts'

describe('files that a program only looks at', () => {
  function lookedAt(line: string): readonly string[] {
    const run = splitWords(line)
    if (run instanceof Problem) throw new TypeError(`Not a command line: ${line}`)
    const { decides, looked } = partedWords(run)
    expect([...decides, ...looked].sort()).toEqual([...run].sort())
    return looked
  }

  it.each([
    ['test -s a.md'],
    ['test -f a.md'],
    ['[ -f a.md ]', 'a.md', ']'],
    ['grep -q "## Usage" a.md', '## Usage', 'a.md'],
    ['grep -c x a.md', 'x', 'a.md'],
    ['/usr/bin/egrep x a.md', 'x', 'a.md'],
    ['rg --quiet x a.md', 'x', 'a.md'],
    ['ls a.md'],
    ['stat -c %s a.md', '%s', 'a.md'],
    ['wc -l a.md'],
    ['head -n 1 a.md', '1', 'a.md'],
    ['npx eslint --quiet a.md'],
    ['npx eslint@9.1.0 a.md'],
    ['node_modules/.bin/eslint a.md'],
    ['npx prettier -c a.md'],
    ['pnpm exec prettier --check a.md'],
    ['uv run ruff check a.md', 'check', 'a.md'],
    ['.venv/bin/mypy --ignore-missing-imports a.md'],
    ['python3 -m flake8 a.md'],
    ['python3 -m py_compile a.md'],
    ['node --check a.md'],
    ['timeout 60 npx tsc --noEmit a.md'],
    ['shellcheck a.md'],
    ['rustfmt --check a.md'],
    ['gofmt -l a.md'],
    ['biome lint a.md', 'lint', 'a.md'],
  ])('of %s', (line, ...looked) => {
    expect(lookedAt(line)).toEqual(looked.length > 0 ? looked : ['a.md'])
  })

  it.each([
    'node a.js',
    'python3 a.py',
    'node --import ./b.js --check a.js',
    'sh a.sh',
    'diff a.txt b.txt',
    'cmp a.txt b.txt',
    './tools/eslint a.js',
    'make docs/index.html',
    'env -C web test -s a.md',
    'cat a.md',
  ])('none of %s', line => {
    expect(lookedAt(line)).toEqual([])
  })

  it.each([
    ['eslint -c rules.js a.js'],
    ['eslint --config=rules.js a.js'],
    ['eslint --suppressions-location rules.js a.js'],
    ['prettier --check --config rules.js a.js'],
    ['mypy --config-file rules.js a.js'],
    ['tsc -p rules.js'],
    ['pylint --load-plugins rules.js a.js'],
    ['grep -qxFf rules.js a.js'],
    ['rg --pre rules.js x a.js'],
  ])('not what an option names: %s', line => {
    expect(lookedAt(line)).not.toContain('rules.js')
  })
})
