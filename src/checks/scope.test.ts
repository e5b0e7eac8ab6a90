import { describe, expect, it } from 'vitest'
import type { RunnableSpec } from '../domain/check.ts'
import { DEFAULT_PROTECT } from '../domain/check.ts'
import { changesOutOfScope, PROTECTED, type ScopeFindings, type Scopes, type SeenFiles } from './scope.ts'

const ROOT = '/work'
const NODE_TEST: RunnableSpec = { kind: 'command', run: ['node', '--test'] }
const seen = (files: Readonly<Record<string, string>>, rules: readonly string[] = []): SeenFiles => ({
  files: new Map(Object.entries(files)),
  stamps: new Map(Object.entries(files)),
  rules: new Set(rules),
})

interface Case {
  readonly check?: RunnableSpec
  readonly scopes?: Scopes
  readonly protect?: readonly string[]
  readonly written?: readonly string[]
  /** Changed since the first runs of the plan. */
  readonly changed?: readonly string[]
  /** Changed during the run. */
  readonly touched?: readonly string[]
  readonly rules?: readonly string[]
}

function found({ check = NODE_TEST, scopes, protect = [], written = [], ...files }: Case): ScopeFindings {
  const { changed = [], touched = [], rules } = files
  const all = [...changed, ...touched]
  const at = (version: (path: string) => string): Readonly<Record<string, string>> =>
    Object.fromEntries(all.map(path => [path, version(path)]))
  const plan = { files: seen(at(() => 'first')).files, written: new Set(written) }
  const before = seen(
    at(path => (changed.includes(path) ? 'work' : 'first')),
    rules,
  )
  const after = seen(at(path => (touched.includes(path) ? 'run' : 'work')))
  const run = { before, after: touched.length > 0 ? after : before }
  return changesOutOfScope(check, ROOT, protect, scopes ?? { own: undefined, begun: [undefined] }, plan, run)
}

const NOTHING = { outside: [], own: [] }
const scoped = (own: readonly string[], ...others: readonly (readonly string[])[]): Scopes => ({
  own,
  begun: [own, ...others],
})

it('protects at most 50 patterns', () => {
  expect(PROTECTED.length).toBeLessThanOrEqual(50)
  expect(PROTECTED).toEqual(expect.arrayContaining([...DEFAULT_PROTECT]))
})

describe('a step without a scope', () => {
  it.each(['src/a.js', 'lib/deep/a.py', 'docs/a.md', 'packages/a/src/b.ts', 'apps/web/public/a.svg'])(
    'may change %s',
    path => expect(found({ changed: [path] })).toEqual(NOTHING),
  )
  it.each(['index.js', 'tools/a.js', 'packages/a/check.js', 'src/a.test.js', 'test/data.json', 'package.json'])(
    'may not change %s',
    path => expect(found({ changed: [path] })).toEqual({ outside: [path], own: [] }),
  )
})

describe('a step with a scope', () => {
  it('may change what is in it, and what is in the scope of another step that has begun', () => {
    const scopes = scoped(['src/a/**'], ['src/b/**'])
    expect(found({ scopes, changed: ['src/a/x.js', 'src/b/x.js'] })).toEqual(NOTHING)
    expect(found({ scopes, changed: ['src/c/x.js'] })).toEqual({ outside: ['src/c/x.js'], own: [] })
  })

  it('that changed its own tests is told apart', () => {
    const scopes = scoped(['src/**', 'test/**'])
    expect(found({ scopes, changed: ['src/x.js', 'test/x.js'] })).toEqual({ outside: [], own: ['test/x.js'] })
  })

  it('may not change protected files that only another step may change', () => {
    const scopes = scoped(['src/**'], ['test/**'])
    expect(found({ scopes, changed: ['test/x.js'] })).toEqual({ outside: ['test/x.js'], own: [] })
  })
})

describe('the words of a command', () => {
  const check: RunnableSpec = { kind: 'command', run: ['node', 'tools/check.js', 'src', 'cases', '--out=src/out.json'] }

  it.each(['tools/check.js', 'cases/a.txt', 'src/out.json'])('%s is protected, as a file or in a folder', path => {
    expect(found({ check, changed: [path] }).outside).toEqual([path])
  })

  it('a folder of work is the work itself', () => {
    expect(found({ check, changed: ['src/a.js'] })).toEqual(NOTHING)
  })

  it('are allowed by the scope of the step', () => {
    expect(found({ check, scopes: scoped(['tools/**']), changed: ['tools/check.js'] })).toEqual(NOTHING)
  })

  it('what a program only looks at is the work', () => {
    const looks: RunnableSpec = { kind: 'command', run: ['grep', '-q', 'x', 'docs/a.md'] }
    expect(found({ check: looks, changed: ['docs/a.md'] })).toEqual(NOTHING)
  })

  it('the programs of the package that it runs in are protected', () => {
    const inApp: RunnableSpec = { kind: 'command', run: ['npm', 'test'], cwd: 'app' }
    expect(found({ check: inApp, changed: ['app/node_modules/.bin/x'] }).outside).toEqual(['app/node_modules/.bin/x'])
  })
})

describe('what the first runs wrote', () => {
  const written = ['out.txt', 'test/record.txt']

  it('later runs may write', () => {
    expect(found({ written, touched: written })).toEqual(NOTHING)
  })

  it('others may change only where it is not protected', () => {
    expect(found({ written, changed: written })).toEqual({ outside: ['test/record.txt'], own: [] })
  })

  it('anything else that a run writes is out of scope', () => {
    expect(found({ touched: ['out.txt'] })).toEqual({ outside: ['out.txt'], own: [] })
  })
})

it('a check of files is about them', () => {
  expect(found({ check: { kind: 'file', path: 'notes.txt' }, changed: ['notes.txt'] })).toEqual(NOTHING)
  expect(found({ check: { kind: 'unchanged', paths: ['*.txt'] }, changed: ['notes.txt'] })).toEqual(NOTHING)
})

it('a .gitignore counts only where it hides protected files', () => {
  expect(found({ changed: ['dist/.gitignore'] })).toEqual(NOTHING)
  expect(found({ changed: ['dist/.gitignore'], rules: ['dist/.gitignore'] }).outside).toEqual(['dist/.gitignore'])
})

it('what the settings protect is protected', () => {
  expect(found({ protect: ['src/schema/**'], changed: ['src/schema/a.sql'] }).outside).toEqual(['src/schema/a.sql'])
})
