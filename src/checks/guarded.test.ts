import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type CheckScene, checkScene } from '../../test/support/check-scene.ts'
import { type CommandCheck, DEFAULT_PROTECT, type RunnableSpec } from '../domain/check.ts'
import { FileHasher } from './file-hash.ts'
import { type FileHashes, filesOf, hashFiles } from './files.ts'
import { LIMITS } from './fingerprint.ts'
import { guardChanges, guardsOf } from './guarded.ts'

describe('guarded files', () => {
  const command = (...run: string[]): CommandCheck => ({ kind: 'command', run })

  function guarded(
    scene: CheckScene,
    check: RunnableSpec,
  ): { files: FileHashes; changes(before: FileHashes): unknown } {
    const guards = guardsOf(check, scene, DEFAULT_PROTECT)
    const request = { root: scene.folder, ...guards, exclude: [], limits: LIMITS }
    const files = hashFiles(request, filesOf(request) ?? [], new FileHasher()) ?? new Map<string, string>()
    const now = { files, stamps: new Map(), rules: new Set<string>(), snapshots: new Set<string>() }
    const run = { before: now, after: now, written: now.rules }
    return { files, changes: before => guardChanges(before, run, guards) }
  }

  it('[CR17] are tests, configuration, lockfiles and tools, unless configured otherwise', () => {
    const scene = checkScene()
    const guardedPaths = [
      '.cargo/config.toml',
      '.mvn/maven.config',
      '.pytest.ini',
      'Makefile',
      'a.spec.js',
      'app/tests.py',
      'lib/tests/x',
      'node_modules/.bin/vitest',
      'package.json',
      'packages/a/.npmrc',
      'packages/a/package-lock.json',
      'packages/a/package.json',
      'packages/a/spec/a.rb',
      'packages/a/test/foo.js',
      'pnpm-lock.yaml',
      'pom.xml',
      'src/__tests__/a.js',
      'src/a-test.js',
      'src/a.test.ts',
      'src/conftest.py',
      'src/test.ts',
      'test.mjs',
      'test/data/x.bin',
      'tests/x',
      'vite.config.ts',
      'yarn.lock',
    ]
    const others = ['README.md', 'src/a.ts', 'node_modules/a/package.json', 'node_modules/a/test/x']
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

  const PACKAGE = {
    scripts: {
      pretest: 'sh pre.sh',
      test: 'NODE_ENV=x node "run all.mjs" && npm run -s more -- --in=data.json',
      more: "bash -c 'cd web; ./go.sh' | node plain",
      other: 'node other.mjs',
    },
  }

  it.each([
    [
      'a script of package.json',
      command('npm', 'test'),
      ['data.json', 'plain.js', 'pre.sh', 'run all.mjs', 'web/go.sh'],
    ],
    ['one that a program before it starts', command('timeout', '9', 'yarn', 'more'), ['plain.js', 'web/go.sh']],
    ['one that node runs', command('node', '--run', 'more'), ['plain.js', 'web/go.sh']],
    ['one of another package', command('pnpm', '--dir', 'web', 'check'), ['web/go.sh']],
    ['one of the package around', { ...command('npm', 'run', 'other'), cwd: 'cases' }, ['other.mjs']],
    [
      'the text of a shell',
      command('bash', '-ec', 'node other.mjs >log; npm run check --prefix web'),
      ['other.mjs', 'web/go.sh'],
    ],
    ['a module of Python', command('python3', '-B', '-m', 'tools.check'), ['tools/__init__.py', 'tools/check.py']],
    [
      'names that a runner of Python gets',
      command('python3', '-m', 'unittest', 'tools.check.T'),
      ['tools/__init__.py', 'tools/check.py'],
    ],
    ['no script of that name', command('npm', 'run', 'none'), []],
    ['code that node evaluates', command('node', '--eval', "import('./other.mjs') // npm test"), []],
  ])('[CR27] are also the files that %s names, if they are there', (_, check, expected) => {
    const scene = checkScene()
    const scripts = [
      'run all.mjs',
      'pre.sh',
      'plain.js',
      'other.mjs',
      'web/go.sh',
      'tools/check.py',
      'tools/__init__.py',
    ]
    for (const path of [...scripts, 'data.json', 'cases/x']) scene.write(path, path)
    scene.write('package.json', JSON.stringify(PACKAGE))
    scene.write('web/package.json', '{ "scripts": { "check": "./go.sh later.js" } }')
    const { files } = guarded(scene, check)
    expect([...files.keys()].filter(path => !path.startsWith('/') && !path.endsWith('package.json'))).toEqual(expected)
    for (const path of expected) scene.write(path, '')
    scene.write('web/later.js', 'new')
    expect(guarded(scene, check).changes(files)).toEqual(expected)
    for (const path of expected) rmSync(join(scene.folder, path))
    expect(guarded(scene, check).changes(files)).toEqual(expected)
  })

  it('[TC6] are also programs of the packages whose scripts the command runs, and of folders that these go to', () => {
    const scene = checkScene()
    scene.write('package.json', '{ "workspaces": ["packages/*"] }')
    scene.write('packages/foo/package.json', '{ "scripts": { "test": "cd app && npx verify" } }')
    const check = command('npm', 'test', '-w', 'foo')
    const { files } = guarded(scene, check)
    const bins = ['', 'packages/', 'packages/foo/', 'packages/foo/app/'].map(each => `${each}node_modules/.bin/node`)
    for (const path of [...bins, 'other/node_modules/.bin/node']) scene.write(path, '')
    expect(guarded(scene, check).changes(files)).toEqual(bins.sort())
  })

  it('[CR27] are not what a folder begins with, unless Node runs it', () => {
    const scene = checkScene()
    for (const path of ['index.js', 'src/index.js', 'app/index.js', 'checks/index.js', 'run.js'])
      scene.write(path, path)
    const lint = 'eslint . && grep -r x src && cd app && prettier --check . && node --no-warnings checks && node run'
    scene.write('package.json', JSON.stringify({ scripts: { lint } }))
    const { files } = guarded(scene, command('npm', 'run', 'lint'))
    const scripts = [...files.keys()].filter(path => !path.startsWith('/') && path.endsWith('.js'))
    expect(scripts).toEqual(['checks/index.js', 'run.js'])
  })

  it('[CR27] are also what would take the place of a runner that Python is told to start', () => {
    const scene = checkScene()
    const check = command('python3', '-m', 'unittest')
    const { files } = guarded(scene, check)
    scene.write('unittest.py', '')
    expect(guarded(scene, check).changes(files)).toEqual(['unittest.py'])
  })

  it.each([
    '',
    '[]',
    'null',
    '{ "scripts": 1 }',
    '{ "scripts": { "test": 1 } }',
    '{ "scripts": { "test": "npm test" } }',
  ])('[CR27] are found whatever package.json holds: %s', text => {
    const scene = checkScene()
    scene.write('package.json', text)
    expect(guarded(scene, command('npm', 'test')).files.has('package.json')).toBe(true)
  })

  it.each([
    ['test', '-s', 'a.js'],
    ['grep', '-q', 'x', 'a.js'],
    ['npx', 'eslint', 'a.js'],
    ['node', '--check', 'a.js'],
    ['python3', '-m', 'py_compile', 'a.js'],
  ])('[CR36] are not those that a program only looks at: %s %s %s', (...run) => {
    const scene = checkScene()
    scene.write('a.js', '1')
    const { files } = guarded(scene, command(...run))
    scene.write('a.js', '2')
    expect(guarded(scene, command(...run)).changes(files)).toEqual([])
  })

  it.each([
    [['node', 'a.js'], 'a.js'],
    [['cmp', 'a.js', 'b.js'], 'a.js'],
    [['npx', 'eslint', '-c', 'rules.js', 'a.js'], 'rules.js'],
    [['npx', 'eslint', '--config=rules.js', 'a.js'], 'rules.js'],
    [['npx', 'eslint', 'a.test.js'], 'a.test.js'],
    [['grep', '-qf', 'rules.js', 'a.js'], 'rules.js'],
    [['./eslint', 'a.js'], 'a.js'],
    [['python3', '-m', 'mypy', 'a.js'], 'mypy.py'],
  ])('[CR36] are still what runs, is compared with, or is named by an option or a pattern: %j', (run, path) => {
    const scene = checkScene()
    for (const each of ['a.js', 'b.js', 'rules.js', 'a.test.js', 'eslint']) scene.write(each, '1')
    const { files } = guarded(scene, command(...run))
    scene.write(path, '2')
    expect(guarded(scene, command(...run)).changes(files)).toEqual([path])
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
