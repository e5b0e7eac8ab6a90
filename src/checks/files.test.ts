import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type CheckScene, checkScene } from '../../test/support/check-scene.ts'
import { type CommandCheck, DEFAULT_PROTECT, type RunnableSpec } from '../domain/check.ts'
import { checkUnchanged } from './check-unchanged.ts'
import { FileHasher } from './file-hash.ts'
import { type FileHashes, filesOf, type FilesRequest, hashFiles } from './files.ts'
import { LIMITS } from './fingerprint.ts'
import { guardChanges, guardsOf } from './guarded.ts'

const hashed = ({ folder }: CheckScene, globs: readonly string[], options: Partial<FilesRequest> = {}) => {
  const request = { root: folder, globs, paths: [], exclude: ['.agents'], limits: LIMITS, ...options }
  const found = filesOf(request)
  return found && hashFiles(request, found, new FileHasher())
}

const names = (...args: Parameters<typeof hashed>): readonly string[] => [...(hashed(...args)?.keys() ?? [])]

describe('the files that globs match', () => {
  it('[CR15] are sorted, dot files included, without .git, .agents and other people’s modules', () => {
    const scene = checkScene()
    for (const path of ['b.test.ts', 'a.test.ts', 'x/y/.c.test.ts', 'x/c.ts', 'test/.hidden', 'testing/z']) {
      scene.write(path, path)
    }
    for (const path of ['.git/a.test.ts', 'x/.git/a.test.ts', '.agents/a.test.ts', 'node_modules/m/a.test.ts']) {
      scene.write(path, path)
    }
    scene.write('node_modules/.bin/tool', 'x')
    expect(names(scene, ['**/*.test.*'])).toEqual(['a.test.ts', 'b.test.ts', 'x/y/.c.test.ts'])
    expect(names(scene, ['test/**', 'node_modules/.bin/**'])).toEqual(['node_modules/.bin/tool', 'test/.hidden'])
    expect(names(scene, ['./x/*.ts', '{x/y,nowhere}/**', '!x'])).toEqual(['x/c.ts', 'x/y/.c.test.ts'])
    expect(names(scene, ['../**', '/etc/**'])).toEqual([])
  })

  it('[CR15] are hashed; a link is its text and, inside the workspace, what it leads to', () => {
    const scene = checkScene()
    scene.write('m/tool.js', 'one')
    scene.write('../outside.js', 'one')
    mkdirSync(join(scene.folder, 'bin/sub'), { recursive: true })
    symlinkSync('../m/tool.js', join(scene.folder, 'bin/inner'))
    symlinkSync('../../outside.js', join(scene.folder, 'bin/outer'))
    symlinkSync('..', join(scene.folder, 'bin/up'))
    symlinkSync('nowhere', join(scene.folder, 'bin/dangling'))
    const before = hashed(scene, ['bin/**'])
    expect([...(before?.keys() ?? [])]).toEqual(['bin/dangling', 'bin/inner', 'bin/outer', 'bin/up'])
    scene.write('m/tool.js', 'two')
    scene.write('../outside.js', 'two')
    const after = hashed(scene, ['bin/**'])
    expect(after?.get('bin/inner')).not.toBe(before?.get('bin/inner'))
    expect(after?.get('bin/outer')).toBe(before?.get('bin/outer'))
    rmSync(join(scene.folder, 'bin/outer'))
    symlinkSync('../../elsewhere.js', join(scene.folder, 'bin/outer'))
    expect(hashed(scene, ['bin/**'])?.get('bin/outer')).not.toBe(before?.get('bin/outer'))
  })

  it.runIf(process.platform === 'linux')('[CR15] may be pipes, unreadable or oddly named: none is waited for', () => {
    const scene = checkScene()
    execFileSync('mkfifo', [join(scene.folder, 'pipe')])
    chmodSync(scene.write('closed', 'x'), 0)
    for (const path of ['__proto__', 'new\nline', '日本 語']) scene.write(path, 'x')
    expect(names(scene, ['**'])).toEqual(['__proto__', 'closed', 'new\nline', 'pipe', '日本 語'])
  })

  it('[CR15] are none if they are too many, too large or too far apart', () => {
    const scene = checkScene()
    for (let at = 0; at < 30; at += 1) scene.write(`${at}.txt`, 'x'.repeat(10))
    expect(hashed(scene, ['*'], { limits: { files: 30, bytes: 300 } })?.size).toBe(30)
    expect(hashed(scene, ['*'], { limits: { files: 29, bytes: 300 } })).toBeUndefined()
    expect(hashed(scene, ['*'], { limits: { files: 30, bytes: 299 } })).toBeUndefined()
    expect(hashed(scene, ['1.txt'], { limits: { files: 3, bytes: 300 } })?.size).toBe(1)
    expect(hashed(scene, ['1.txt'], { limits: { files: 2, bytes: 300 } })).toBeUndefined()
  })
})

describe('a check that files are unchanged', () => {
  const check = { kind: 'unchanged', paths: ['src/**', 'a.txt'] } as const

  it('[CR16] passes while its files are what they were, whatever else changes', () => {
    const scene = checkScene()
    scene.write('src/a', 'a')
    const baseline = hashed(scene, ['**'])
    scene.write('other', 'x')
    expect(checkUnchanged(check, baseline, hashed(scene, ['**']))).toEqual({ result: 'passed' })
    scene.write('src/a', 'A')
    scene.write('a.txt', 'new')
    expect(checkUnchanged(check, baseline, hashed(scene, ['**']))).toEqual({
      result: 'failed',
      reason: 'Changed: a.txt, src/a.',
    })
    rmSync(join(scene.folder, 'src'), { recursive: true })
    for (let at = 0; at < 9; at += 1) scene.write(`src/${at}`, 'x')
    expect(checkUnchanged(check, baseline, hashed(scene, ['**'])).reason).toBe(
      'Changed: a.txt, src/0, src/1, src/2, src/3 and 6 more.',
    )
  })

  it('[CR16] says nothing without something to compare', () => {
    expect(checkUnchanged(check, undefined, new Map())).toMatchObject({ result: 'inconclusive' })
    expect(checkUnchanged(check, new Map(), undefined)).toMatchObject({ result: 'inconclusive' })
  })
})

describe('guarded files', () => {
  const command = (...run: string[]): CommandCheck => ({ kind: 'command', run })

  function guarded(
    scene: CheckScene,
    check: RunnableSpec,
  ): { files: FileHashes; changes(before: FileHashes): unknown } {
    const guards = guardsOf(check, scene, DEFAULT_PROTECT)
    const files = hashed(scene, guards.globs, { paths: guards.paths }) ?? new Map<string, string>()
    return { files, changes: before => guardChanges(before, { files, hasBuilt: false }, guards) }
  }

  it('[CR17] are tests, configuration, lockfiles and tools, unless configured otherwise', () => {
    const scene = checkScene()
    const guardedPaths = [
      'Makefile',
      'a.spec.js',
      'lib/tests/x',
      'node_modules/.bin/vitest',
      'package.json',
      'packages/a/.npmrc',
      'packages/a/package-lock.json',
      'packages/a/package.json',
      'packages/a/spec/a.rb',
      'packages/a/test/foo.js',
      'pnpm-lock.yaml',
      'src/__tests__/a.js',
      'src/a-test.js',
      'src/a.test.ts',
      'src/conftest.py',
      'test/data/x.bin',
      'tests/x',
      'vite.config.ts',
      'yarn.lock',
    ]
    const others = ['README.md', 'src/a.ts', 'src/test.ts', 'node_modules/a/package.json', 'node_modules/a/test/x']
    for (const path of [...guardedPaths, ...others]) scene.write(path, path)
    expect([...guarded(scene, { kind: 'file', path: 'x' }).files.keys()]).toEqual(guardedPaths)
  })

  it('[CR17] are also the program and the words of a command that are files', () => {
    const scene = checkScene()
    const outside = scene.script('../tool')
    for (const path of ['check.sh', 'setup.js', 'data.json', 'lib/x', 'other']) scene.script(path)
    const check = command(
      outside,
      'check.sh',
      '--import=./setup.js',
      join(scene.folder, 'data.json'),
      'lib',
      '../x',
      '-v',
    )
    expect([...guarded(scene, check).files.keys()]).toEqual([outside, 'check.sh', 'data.json', 'setup.js'].sort())
    expect([...guarded(scene, command('./check.sh')).files.keys()]).toEqual(['check.sh'])
    const inside = { ...command('./x', '../other'), cwd: 'lib' }
    expect([...guarded(scene, inside).files.keys()]).toEqual(['lib/x', 'other'])
  })

  it.each([
    ['a script of the workspace', command('./run.sh', '-v', 'd')],
    ['one that an interpreter runs', command('node', '--no-warnings', 'run.js', '--in=d')],
    ['one in the folder of the command', { ...command('../run.sh', '../d'), cwd: 'e' }],
  ])('[CR17] are also those in a folder that is given to %s', (_, check) => {
    const scene = checkScene()
    for (const path of ['run.sh', 'run.js', 'd/x.mjs', 'd/f/y.json', 'e/z']) scene.write(path, path)
    const { files } = guarded(scene, check)
    expect([...files.keys()].filter(path => path.startsWith('d/') || path.startsWith('e/'))).toEqual([
      'd/f/y.json',
      'd/x.mjs',
    ])
    scene.write('d/x.mjs', '')
    expect(guarded(scene, check).changes(files)).toEqual(['d/x.mjs'])
  })

  it.each([
    ['the workspace', command('./run.sh', '.', './')],
    [
      'the folder of the command, or one that holds it',
      { ...command('../../run.sh', '.', '..', '../../d'), cwd: 'd/f' },
    ],
    ['where the work is done', command('./run.sh', 'src', 'packages/d', './lib/')],
    ['what checks write', command('./run.sh', '--out=coverage', 'dist')],
    ['a folder for a program that goes by names', command('eslint', 'd')],
    ['one for a program of a package', command('node', 'node_modules/eslint/bin.js', 'd')],
    ['one that the interpreter itself gets', command('node', '--test', 'd')],
  ])('[CR17] are not those in %s', (_, check) => {
    const scene = checkScene()
    for (const folder of ['d', 'd/f', 'src', 'packages/d', 'lib', 'coverage', 'dist']) scene.write(`${folder}/x`, 'x')
    expect([...guarded(scene, check).files.keys()].filter(path => path.endsWith('/x'))).toEqual([])
  })

  it('[CR17] that changed, vanished or are new are named; those of other checks are not', () => {
    const scene = checkScene()
    for (const path of ['a.test.js', 'b.test.js', 'package.json', 'check.sh', 'other.sh']) scene.script(path)
    const before = new Map([
      ...guarded(scene, command('./check.sh', 'later.js')).files,
      ...guarded(scene, command('./other.sh')).files,
    ])
    expect(guarded(scene, command('./check.sh')).changes(before)).toEqual([])
    scene.write('a.test.js', 'changed')
    rmSync(join(scene.folder, 'b.test.js'))
    scene.write('c.test.js', 'new')
    scene.write('later.js', 'new')
    scene.write('other.sh', 'changed')
    scene.write('src.js', 'new')
    const changed = ['a.test.js', 'b.test.js', 'c.test.js']
    expect(guarded(scene, command('./check.sh', 'later.js')).changes(before)).toEqual([...changed, 'later.js'])
    rmSync(join(scene.folder, 'check.sh'))
    expect(guarded(scene, command('./check.sh')).changes(before)).toEqual([
      'a.test.js',
      'b.test.js',
      'c.test.js',
      'check.sh',
    ])
  })

  it('[CR17] are never what the check itself looks at', () => {
    const scene = checkScene()
    scene.write('package.json', '{}')
    const file: RunnableSpec = { kind: 'file', path: './test/new.test.ts' }
    const unchanged: RunnableSpec = { kind: 'unchanged', paths: ['test/**'] }
    const before = new Map([...guarded(scene, file).files, ...guarded(scene, command('sh')).files])
    scene.write('test/new.test.ts', 'new')
    expect(guarded(scene, file).changes(before)).toEqual([])
    expect(guarded(scene, unchanged).changes(before)).toEqual([])
    expect(guarded(scene, command('sh')).changes(before)).toEqual(['test/new.test.ts'])
    scene.write('package.json', '{ }')
    expect(guarded(scene, file).changes(before)).toEqual(['package.json'])
  })
})
