import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { RunnableSpec } from '../core/proof/check.ts'
import {
  DEFAULT_PROTECT,
  NO_COVERS,
  WORK_FOLDERS,
  changesOutOfScope,
  fromGit,
  partedScope,
  type SeenFiles,
} from './scope.ts'
import type { Scope, Scopes } from '../core/proof/scope.ts'

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
  /** New since the first runs. */
  readonly added?: readonly string[]
  readonly rules?: readonly string[]
  readonly isPartial?: boolean
}

/** The paths of the changes by what they are. */
function found({ check = NODE_TEST, scopes, protect = [], written = [], isPartial = false, ...files }: Case) {
  const { changed = [], touched = [], added = [], rules } = files
  const all = [...changed, ...touched, ...added]
  const at = (version: (path: string) => string): Readonly<Record<string, string>> =>
    Object.fromEntries(all.map(path => [path, version(path)]))
  const known = Object.entries(at(() => 'first')).filter(([path]) => !added.includes(path))
  const record = { covers: NO_COVERS, listed: Object.fromEntries(known), watched: {}, written }
  const before = seen(
    at(path => (touched.includes(path) ? 'first' : 'work')),
    rules,
  )
  const ran = seen(
    at(path => (touched.includes(path) ? 'run' : 'work')),
    rules,
  )
  const after = touched.length > 0 ? ran : before
  const unscoped: Scopes = { own: [{ isApproved: false }], begun: [{ isApproved: false }] }
  const changes = changesOutOfScope(
    { check, root: ROOT, protect, before, after, isPartial },
    record,
    scopes ?? unscoped,
  )
  const kinds = Map.groupBy(changes, ({ is }) => is)
  return Object.fromEntries([...kinds].map(([is, each]) => [is, each.map(({ path }) => path)]))
}

const NOTHING = {}
const given = (globs: readonly string[]): Scope => ({ globs, isApproved: true })
const scoped = (own: readonly string[], ...others: readonly (readonly string[])[]): Scopes => ({
  own: [given(own)],
  begun: [own, ...others].map(given),
})

it('the table is at most 50 patterns, and the docs print it', () => {
  expect(DEFAULT_PROTECT.length).toBeLessThanOrEqual(50)
  const docs = readFileSync(new URL('../../docs/checks.md', import.meta.url), 'utf8').split('\n')
  expect([...DEFAULT_PROTECT, ...WORK_FOLDERS].filter(glob => !docs.includes(glob))).toEqual([])
})

describe('a step without a scope', () => {
  it.each(['src/a.js', 'lib/deep/a.py', 'docs/a.md', 'packages/a/src/b.ts', 'apps/web/public/a.svg'])(
    '[CR17] may change %s',
    path => expect(found({ changed: [path] })).toEqual(NOTHING),
  )
  it.each(['index.js', 'tools/a.js', 'packages/a/check.js'])('may not change %s', path =>
    expect(found({ changed: [path] })).toEqual({ outside: [path] }),
  )
  it.each(['src/a.test.js', 'test/data.json', 'package.json'])('may not change %s, which is protected', path =>
    expect(found({ changed: [path] })).toEqual({ protected: [path] }),
  )
  it('and a scope that no person approved only narrow it', () => {
    const scope: Scope = { globs: ['src/a/**', 'tools/**', 'test/**'], isApproved: false }
    const scopes = { own: [scope], begun: [scope] }
    const changed = ['src/a/x.js', 'src/b/x.js', 'test/x.js', 'tools/x.js']
    expect(found({ scopes, changed })).toEqual({ outside: ['src/b/x.js', 'tools/x.js'], protected: ['test/x.js'] })
  })
})

describe('a step with a scope', () => {
  it('[CR17] may change what is in it, and what is in the scope of another step that has begun', () => {
    const scopes = scoped(['src/a/**'], ['src/b/**'])
    expect(found({ scopes, changed: ['src/a/x.js', 'src/b/x.js'] })).toEqual(NOTHING)
    expect(found({ scopes, changed: ['src/c/x.js'] })).toEqual({ outside: ['src/c/x.js'] })
  })

  it('that changed its own tests is told apart', () => {
    const scopes = scoped(['src/**', 'test/**'])
    expect(found({ scopes, changed: ['src/x.js', 'test/x.js'] })).toEqual({ own: ['test/x.js'] })
  })

  it('may not change protected files that only another step may change', () => {
    const scopes = scoped(['src/**'], ['test/**'])
    expect(found({ scopes, changed: ['test/x.js'] })).toEqual({ protected: ['test/x.js'] })
  })
})

describe('the words of a command', () => {
  const check: RunnableSpec = { kind: 'command', run: ['node', 'tools/check.js', 'src', 'cases', '--out=src/out.json'] }

  it.each(['tools/check.js', 'cases/a.txt', 'src/out.json'])('%s is protected, as a file or in a folder', path => {
    expect(found({ check, changed: [path] })).toEqual({ protected: [path] })
  })

  it('a folder of work is the work itself', () => {
    expect(found({ check, changed: ['src/a.js'] })).toEqual(NOTHING)
  })

  it('[CR17] in the scope of the step are its own tests, but for new files, which are the work', () => {
    const scopes = scoped(['tools/**', 'cases/**'])
    expect(found({ check, scopes, changed: ['tools/check.js'] })).toEqual({ own: ['tools/check.js'] })
    expect(found({ check, scopes, added: ['cases/new.txt'] })).toEqual(NOTHING)
  })

  it('what a program only looks at is the work', () => {
    const looks: RunnableSpec = { kind: 'command', run: ['grep', '-q', 'x', 'docs/a.md'] }
    expect(found({ check: looks, changed: ['docs/a.md'] })).toEqual(NOTHING)
  })

  it('the programs of the package that it runs in are protected', () => {
    const inApp: RunnableSpec = { kind: 'command', run: ['npm', 'test'], cwd: 'app' }
    const path = 'app/node_modules/.bin/x'
    expect(found({ check: inApp, changed: [path] })).toEqual({ protected: [path] })
  })
})

describe('what the first runs wrote', () => {
  const written = ['out.txt', 'test/record.txt']

  it('later runs may write', () => {
    expect(found({ written, touched: written })).toEqual(NOTHING)
  })

  it('others may change only where it is not protected', () => {
    expect(found({ written, changed: written })).toEqual({ protected: ['test/record.txt'] })
  })

  it('anything else that a run writes is out of scope', () => {
    expect(found({ touched: ['out.txt'] })).toEqual({ outside: ['out.txt'] })
  })
})

it('a check of files is about them', () => {
  expect(found({ check: { kind: 'file', path: 'notes.txt' }, changed: ['notes.txt'] })).toEqual(NOTHING)
  expect(found({ check: { kind: 'unchanged', paths: ['*.txt'] }, changed: ['notes.txt'] })).toEqual(NOTHING)
})

it('a .gitignore counts only where it hides protected files', () => {
  expect(found({ changed: ['dist/.gitignore'] })).toEqual(NOTHING)
  const path = 'dist/.gitignore'
  expect(found({ changed: [path], rules: [path] })).toEqual({ protected: [path] })
})

it('what the settings protect is protected', () => {
  const path = 'src/schema/a.sql'
  expect(found({ protect: ['src/schema/**'], changed: [path] })).toEqual({ protected: [path] })
})

it('a check of the whole plan asks only about protected files that no step may change', () => {
  const scopes: Scopes = { ...scoped(['test/a.js']), isOfPlan: true }
  const changed = ['test/a.js', 'test/b.js', 'notes.txt']
  expect(found({ scopes, changed })).toEqual({ protected: ['test/b.js'] })
})

it('with too many files only protected ones are told', () => {
  expect(found({ isPartial: true, changed: ['notes.txt', 'test/x.js'] })).toEqual({ protected: ['test/x.js'] })
})

it('files as a newer commit has them are one change; protected ones stay apart', () => {
  const changes = [
    { path: 'a', is: 'outside', hash: '1' },
    { path: 'b', is: 'outside' },
    { path: 'test/c', is: 'protected', hash: '3' },
  ] as const
  const [own, kept, git] = fromGit(changes, 'c0ffee', ({ path }) => path !== 'b')
  expect([own, kept]).toEqual([changes[1], changes[2]])
  expect(git).toMatchObject({ path: 'git:c0ffee', is: 'git', files: 1, hash: expect.any(String) })
  expect(fromGit(changes, 'c0ffee', () => false)).toBe(changes)
})

describe('a glob that a model proposes needs a word of its own if it', () => {
  const check: RunnableSpec = { kind: 'command', run: ['node', 'tools/check.js', 'src/cases'] }
  it.each<[string, readonly string[]]>([
    ['names every file', ['**', '**/*', '*']],
    ['names protected files', ['test/**', '**/*.test.ts', 'package.json', '*.json', 'src/{a,b}.test.js', '**/tests/*']],
    ['names a word of its check', ['tools/**', 'tools/check.js', 'src/cases', '**/*.js']],
    ['is written in another way', ['te[s]t/a.js', 't?st/a.js', '!(src)/**', '+(test)/a.js']],
    ['names what the settings protect', ['src/schema/**', 'src/**/a.sql']],
  ])('%s', (_, globs) => {
    expect(partedScope(globs, check, ROOT, ['src/schema/a.sql'])).toEqual({ asks_scope: globs })
  })

  it('and not otherwise', () => {
    const globs = ['src/auth/**', 'lib/**/*.ts', 'CHANGELOG.md', 'docs/**']
    expect(partedScope(globs, check, ROOT, [])).toEqual({ scope: globs })
    expect(partedScope(['src/**', 'test/**'], undefined, ROOT, [])).toEqual({
      scope: ['src/**'],
      asks_scope: ['test/**'],
    })
    expect(partedScope([], check, ROOT, [])).toEqual({})
  })
})
