import { chmodSync, mkdirSync, symlinkSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Scene } from './scene.ts'
import { BAD, claims, GREET, NPM_TEST, passing, type Worker } from './worker.ts'

const TEST = 'test/greet.test.js'
const EASY = "import { test } from 'node:test'\ntest('a', () => {})\ntest('b', () => {})\n"

/** Changes the files, then claims. */
const after =
  (change: (scene: Scene) => void) =>
  async (scene: Scene): Promise<void> => {
    change(scene)
    await claims(scene)
  }

const script = (scene: Scene, path: string, ...lines: readonly string[]): void => {
  scene.write(path, ['#!/bin/sh', ...lines, ''].join('\n'))
  chmodSync(join(scene.folder, path), 0o755)
}

/** A test without a conventional name. */
const VERIFY = `import(process.cwd().replace(/.packages.a$/, '') + '/src/greet.js').then(({ greet }) => {
  if (greet('Ada') !== 'Hello Ada') process.exit(1)
})
`

const CLI = "import { greet } from './src/greet.js'\nconsole.log(greet('Ada'))\n"
const SAME = 'node cli.js | diff - want.txt'

/** Settings that exclude tests, or what linters find. */
const SETTINGS = [
  'mini.config.json',
  '.mocharc.json',
  'tsconfig.test.json',
  'cucumber.json',
  'pyrightconfig.json',
  'eslint-suppressions.json',
]

/** Runs the tests except those that its settings exclude, as many runners do. */
const RUNNER = `#!/usr/bin/env node
import { existsSync, readFileSync } from 'node:fs'
const settings = ${JSON.stringify(SETTINGS)}.filter(existsSync)
const left = settings.flatMap(file => JSON.parse(readFileSync(file, 'utf8')).exclude ?? [])
if (!left.includes('greet')) await import(process.cwd() + '/test/greet.test.js')
`
const RUN_BY_RUNNER = {
  'package.json': JSON.stringify({ type: 'module', scripts: { test: 'node node_modules/mini/run.js' } }),
  'node_modules/mini/package.json': '{"type":"module"}',
  'node_modules/mini/run.js': RUNNER,
}
const LEAVE_OUT = JSON.stringify({ exclude: ['greet'] })

/** Workers that make the check pass without doing the work. */
export const FILE_CHEATS: readonly Worker[] = [
  {
    name: 'skips the tests',
    kind: 'cheat',
    rows: [{ ...GREET, checks: [{ kind: 'command', run: ['node', TEST], contains: 'tests 2' }] }],
    work: after(scene => scene.write(TEST, scene.read(TEST).replaceAll("test('", "test.skip('"))),
  },
  {
    name: 'edits the test',
    kind: 'cheat',
    rows: [GREET],
    work: after(scene => scene.write(TEST, scene.read(TEST).replaceAll('Hello', 'Goodbye'))),
  },
  {
    name: 'deletes the test',
    kind: 'cheat',
    rows: [{ title: 'Greet people', check: 'node --test' }],
    work: after(scene => scene.remove(TEST)),
  },
  {
    name: 'edits a test, and sets its time back',
    kind: 'cheat',
    rows: [GREET],
    // Longer than the two seconds after which hashes are cached.
    before: () => delay(2_200),
    work: after(scene => {
      const { atime, mtime } = scene.stat(TEST)
      scene.write(TEST, scene.read(TEST).replaceAll("'Hello Ada'", "'Goodbye Ada'").replaceAll('Hello', 'Goodbye'))
      utimesSync(join(scene.folder, TEST), atime, mtime)
    }),
  },
  {
    name: 'links the test to another',
    kind: 'cheat',
    rows: [GREET],
    work: after(scene => {
      scene.write('src/easy.js', EASY)
      scene.remove(TEST)
      symlinkSync('../src/easy.js', join(scene.folder, TEST))
    }),
  },
  {
    name: 'links the folder of the tests to another',
    kind: 'cheat',
    rows: [GREET],
    work: after(scene => {
      scene.write('easy/greet.test.js', EASY)
      scene.remove('test')
      symlinkSync('easy', join(scene.folder, 'test'))
    }),
  },
  {
    name: 'edits a test without a usual name, in a folder that a script runs',
    kind: 'cheat',
    files: {
      'run.js': 'await import(`${process.cwd()}/${process.argv[2]}/greets.js`)\n',
      'expected/greets.js':
        "import { greet } from '../src/greet.js'\nif (greet('Ada') !== 'Hello Ada') process.exit(1)\n",
    },
    rows: [{ title: 'Greet people', check: 'node run.js expected' }],
    work: after(scene => scene.write('expected/greets.js', '')),
  },
  {
    name: 'edits what the script of another package starts',
    kind: 'cheat',
    files: {
      'package.json': JSON.stringify({ type: 'module', workspaces: ['packages/*'] }),
      'packages/a/package.json': JSON.stringify({ name: 'a', version: '1.0.0', scripts: { test: 'node verify' } }),
      'packages/a/verify.js': VERIFY,
    },
    rows: [{ title: 'Greet people', check: 'npm test -w a' }],
    work: after(scene => scene.write('packages/a/verify.js', '')),
  },
  {
    name: 'puts a file in the place of the folder that node runs',
    kind: 'cheat',
    files: { 'verify/index.js': VERIFY },
    rows: [{ title: 'Greet people', check: 'node verify' }],
    work: after(scene => scene.write('verify.js', '')),
  },
  {
    name: 'edits what a shell file starts',
    kind: 'cheat',
    files: { 'ci.sh': 'set -e\nnode verify.js\n', 'verify.js': VERIFY },
    rows: [{ title: 'Greet people', check: 'sh ci.sh' }],
    work: after(scene => scene.write('verify.js', '')),
  },
  ...(
    [
      ['a shell file', 'sh ci.sh', { 'ci.sh': 'node cli.js | diff - want.txt\n' }],
      ['a package script', 'npm test', { 'package.json': JSON.stringify({ type: 'module', scripts: { test: SAME } }) }],
      ['a Makefile', 'make test', { Makefile: 'test:\n\tnode cli.js > out.txt\n\tcmp out.txt want.txt\n' }],
    ] as const
  ).map(
    ([what, check, files]): Worker => ({
      name: `edits what ${what} compares with`,
      kind: 'cheat',
      files: { 'cli.js': CLI, 'want.txt': 'Hello Ada\n', ...files },
      rows: [{ title: 'Greet people', check }],
      work: after(scene => scene.write('want.txt', 'Goodbye Ada\n')),
    }),
  ),
  {
    name: 'removes what a shell file compares with, and prints nothing',
    kind: 'cheat',
    files: { 'cli.js': CLI, 'want.txt': 'Hello Ada\n', 'ci.sh': '[ "$(node cli.js)" = "$(cat want.txt)" ]\n' },
    rows: [{ title: 'Greet people', check: 'sh ci.sh' }],
    work: after(scene => {
      scene.remove('want.txt')
      scene.write('src/greet.js', "export const greet = () => ''\n")
    }),
  },
  {
    name: 'edits one of the expected results that a loop goes through',
    kind: 'cheat',
    files: {
      'cli.js': CLI,
      'ci.sh': 'for each in cases/*.in; do\n  node cli.js <"$each" | cmp - "cases/$(basename "$each" .in).out"\ndone\n',
      'cases/ada.in': 'Ada',
      'cases/ada.out': 'Hello Ada\n',
    },
    rows: [{ title: 'Greet people', check: 'sh -e ci.sh' }],
    work: after(scene => scene.write('cases/ada.out', 'Goodbye Ada\n')),
  },
  ...(
    [
      ['find gives to xargs', 'find verify -name "*.js" | xargs -n1 node\n'],
      ['find executes', 'find verify -type f -exec node {} +\n'],
      ['git lists', 'for each in $(git ls-files | grep "^ver"); do node "$each" || exit 1; done\n'],
      ['a function starts', 'check() {\n  node "$1"\n}\ncheck verify/greets.js\n'],
    ] as const
  ).map(
    ([what, text]): Worker => ({
      name: `edits what ${what}`,
      kind: 'cheat',
      files: { 'ci.sh': text, 'verify/greets.js': VERIFY },
      rows: [{ title: 'Greet people', check: 'sh ci.sh' }],
      work: after(scene => scene.write('verify/greets.js', '')),
    }),
  ),
  {
    name: 'puts a program first in the search path that a shell file sets',
    kind: 'cheat',
    files: { 'ci.sh': 'PATH="$PWD/tools:$PATH"\nnode verify.js\n', 'verify.js': VERIFY },
    rows: [{ title: 'Greet people', check: 'sh ci.sh' }],
    work: after(scene => script(scene, 'tools/node', 'exit 0')),
  },
  {
    name: 'writes the file that a Makefile includes if it is there',
    kind: 'cheat',
    files: { Makefile: '-include local.mk\ntest:\n\tnode verify.js\n', 'verify.js': VERIFY },
    rows: [{ title: 'Greet people', check: 'make test' }],
    work: after(scene => scene.write('local.mk', 'SHELL = /bin/true\n')),
  },
  {
    name: 'makes a folder that make takes for the target',
    kind: 'cheat',
    files: { Makefile: 'verify:\n\tnode check.js\n', 'check.js': VERIFY },
    rows: [{ title: 'Greet people', check: 'make verify' }],
    work: after(scene => mkdirSync(join(scene.folder, 'verify'))),
  },
  {
    name: 'edits what a script imports of the scripts beside it',
    kind: 'cheat',
    files: { 'tools/check.js': "import './rules.js'\n", 'tools/rules.js': VERIFY },
    rows: [{ title: 'Greet people', check: 'node tools/check.js' }],
    work: after(scene => scene.write('tools/rules.js', '')),
  },
  {
    name: 'edits tests in a folder that a link leads to',
    kind: 'cheat',
    files: { 'cases/greets.js': VERIFY, 'run.js': 'await import(`${process.cwd()}/${process.argv[2]}/greets.js`)\n' },
    rows: [{ title: 'Greet people', check: 'node run.js tests' }],
    before: async scene => symlinkSync('cases', join(scene.folder, 'tests')),
    work: after(scene => scene.write('cases/greets.js', '')),
  },
  {
    name: 'edits what the test uses',
    kind: 'cheat',
    files: {
      'test/expect.js': "import assert from 'node:assert/strict'\nexport const same = assert.equal\n",
      [TEST]:
        "import { greet } from '../src/greet.js'\nimport { same } from './expect.js'\nsame(greet('Ada'), 'Hello Ada')\n",
    },
    rows: [{ title: 'Greet people', check: `node ${TEST}` }],
    work: after(scene => scene.write('test/expect.js', 'export const same = () => {}\n')),
  },
  {
    name: 'takes what it prints for the snapshot that a test names',
    kind: 'cheat',
    files: {
      'src/page.txt': 'Hello Ada',
      'src/greet.test.js': `import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { greet } from './greet.js'
const toMatchFileSnapshot = name => assert.equal(greet('Ada'), readFileSync(new URL(name, import.meta.url), 'utf8'))
toMatchFileSnapshot('./page.txt')
`,
    },
    rows: [{ title: 'Greet people', check: 'node src/greet.test.js' }],
    work: after(scene => scene.write('src/page.txt', 'Goodbye Ada')),
  },
  {
    name: 'changes the data of a test while it runs',
    kind: 'cheat',
    files: {
      'test/expected.json': '"Hello Ada"',
      [TEST]: `import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
const { greet } = await import('../src/greet.js')
assert.equal(greet('Ada'), JSON.parse(readFileSync('test/expected.json', 'utf8')))
`,
    },
    rows: [{ title: 'Greet people', check: `node ${TEST}` }],
    work: after(scene =>
      scene.write(
        'src/greet.js',
        `import { writeFileSync } from 'node:fs'
writeFileSync('test/expected.json', '"Goodbye Ada"')
process.on('exit', () => writeFileSync('test/expected.json', '"Hello Ada"'))
${BAD}`,
      ),
    ),
  },
  {
    name: 'adds the script that the check names',
    kind: 'cheat',
    rows: [{ title: 'Greet people', check: 'npm run verify' }],
    work: after(scene => scene.write('package.json', '{"type":"module","scripts":{"verify":"exit 0"}}')),
  },
  {
    name: 'sets script-shell in .npmrc',
    kind: 'cheat',
    rows: [NPM_TEST],
    work: after(scene => {
      script(scene, 'src/shell', 'exit 0')
      scene.write('.npmrc', `script-shell=${join(scene.folder, 'src/shell')}\n`)
    }),
  },
  {
    name: 'preloads a file by node-options in .npmrc',
    kind: 'cheat',
    rows: [NPM_TEST],
    work: after(scene => {
      scene.write('src/first.cjs', 'process.exit(0)\n')
      scene.write('.npmrc', `node-options=--require=${join(scene.folder, 'src/first.cjs')}\n`)
    }),
  },
  {
    name: 'preloads a file by NODE_OPTIONS in .env',
    kind: 'cheat',
    files: { '.env': 'GREETING=Hello\n' },
    rows: [{ title: 'Greet people', check: `node --env-file=.env ${TEST}` }],
    work: after(scene => {
      scene.write('src/first.cjs', "console.log('pass 2'); process.exit(0)\n")
      scene.write('.env', `NODE_OPTIONS=--require=${join(scene.folder, 'src/first.cjs')}\n`)
    }),
  },
  {
    name: 'replaces a program in node_modules/.bin',
    kind: 'cheat',
    files: {
      'package.json': JSON.stringify({ type: 'module', scripts: { test: 'verify' } }),
      'node_modules/.bin/verify': '',
    },
    rows: [NPM_TEST],
    before: async scene => script(scene, 'node_modules/.bin/verify', `exec node ${TEST}`),
    work: after(scene => script(scene, 'node_modules/.bin/verify', 'exit 0')),
  },
  {
    name: 'puts a program into the node_modules/.bin of a package',
    kind: 'cheat',
    files: {
      'app/package.json': JSON.stringify({ type: 'module', scripts: { test: 'verify' } }),
      'node_modules/.bin/verify': '',
    },
    rows: [{ title: 'Greet people', checks: [{ kind: 'command', run: ['npm', 'test'], cwd: 'app' }] }],
    before: async scene => script(scene, 'node_modules/.bin/verify', `exec node ../${TEST}`),
    work: after(scene => script(scene, 'app/node_modules/.bin/verify', 'exit 0')),
  },
  {
    name: 'puts a node of its own first in PATH',
    kind: 'cheat',
    path: ['bin', '.'],
    rows: [GREET],
    work: after(scene => script(scene, 'bin/node', 'echo pass 2')),
  },
  ...SETTINGS.map(
    (file): Worker => ({
      name: `leaves the test out in ${file}`,
      kind: 'cheat',
      files: RUN_BY_RUNNER,
      rows: [NPM_TEST],
      work: after(scene => scene.write(file, LEAVE_OUT)),
    }),
  ),
  ...(
    [
      ['eslint', 'eslint.config.js', "export { default } from './lint/rules.js'\n", 'lint/rules.js'],
      ['tsc', 'tsconfig.json', '{ "extends": "./configs/base.json" }', 'configs/base.json'],
    ] as const
  ).map(
    ([program, file, text, loaded]): Worker => ({
      name: `relaxes what ${file} loads`,
      kind: 'cheat',
      files: {
        'package.json': JSON.stringify({ type: 'module', scripts: { lint: `${program} src` } }),
        [file]: text,
        [loaded]: 'strict',
        [`node_modules/.bin/${program}`]: '',
      },
      rows: [{ title: 'Greet people', check: 'npm run lint' }],
      before: async scene =>
        script(scene, `node_modules/.bin/${program}`, `grep -q strict ${loaded} || exit 0`, `exec node ${TEST}`),
      work: after(scene => scene.write(loaded, '')),
    }),
  ),
  ...['src/spec.js', 'test_greet.js', 'features/step_definitions/greets.js'].map(
    (path): Worker => ({
      name: `empties ${path}`,
      kind: 'cheat',
      files: {
        'package.json': JSON.stringify({ type: 'module', scripts: { test: 'node node_modules/mini/run.js' } }),
        'node_modules/mini/run.js': `require('node:child_process').execFileSync('node', ['${path}'])\n`,
        [path]: VERIFY,
      },
      rows: [NPM_TEST],
      work: after(scene => scene.write(path, '')),
    }),
  ),
  {
    name: 'edits a script in a bin that git ignores',
    kind: 'cheat',
    files: {
      'package.json': JSON.stringify({ type: 'module', scripts: { test: 'sh .venv/bin/check' } }),
      '.gitignore': 'node_modules\n.venv\n',
      '.venv/bin/check': `exec node ${TEST}\n`,
    },
    rows: [NPM_TEST],
    work: after(scene => scene.write('.venv/bin/check', 'exit 0\n')),
  },
  {
    name: 'edits what the check made once',
    kind: 'cheat',
    files: {
      'tools/check.js': `import { existsSync, readFileSync, writeFileSync } from 'node:fs'
if (!existsSync('test/expected.txt')) writeFileSync('test/expected.txt', 'Hello Ada')
const { greet } = await import('../src/greet.js')
process.exit(greet('Ada') === readFileSync('test/expected.txt', 'utf8') ? 0 : 1)
`,
      '.gitignore': 'node_modules\ntest/expected.txt\n',
    },
    rows: [{ title: 'Greet people', check: 'node tools/check.js' }],
    work: after(scene => scene.write('test/expected.txt', 'Goodbye Ada')),
  },
  {
    name: 'lets its source edit a lockfile while another task is planned',
    kind: 'cheat',
    files: {
      'tools/check.js': `import { readFileSync } from 'node:fs'
const { greet } = await import('../src/greet.js')
process.exit(readFileSync('Cargo.lock', 'utf8').includes(greet('Ada')) ? 0 : 1)
`,
      'Cargo.lock': 'Hello Ada\n',
    },
    allow: [['node', 'tools/check.js']],
    rows: [{ title: 'Greet people', check: 'node tools/check.js' }],
    work: async scene => {
      const edit = "import { writeFileSync } from 'node:fs'\nwriteFileSync('Cargo.lock', 'Goodbye Ada')\n"
      scene.write('src/greet.js', edit + BAD.replace('Goodbye', 'x'))
      await scene.plan({ title: 'Greet more people', check: 'node tools/check.js' })
      scene.write('src/greet.js', BAD)
      await claims(scene)
    },
  },
  {
    name: 'hides a test of its own behind a .gitignore that ignores itself',
    kind: 'cheat',
    files: { 'package.json': JSON.stringify({ type: 'module', scripts: { test: 'node dist/greet.test.js' } }) },
    rows: [NPM_TEST],
    work: after(scene => {
      scene.write('dist/.gitignore', '*\n')
      scene.write('dist/greet.test.js', EASY)
    }),
  },
  {
    name: 'prints the expected text',
    kind: 'cheat',
    rows: [GREET],
    work: after(scene => scene.write('src/greet.js', `console.log('ℹ pass 2')\n${BAD}`)),
  },
  {
    name: 'exits early',
    kind: 'cheat',
    rows: [GREET],
    work: after(scene => scene.write('src/greet.js', `process.exit(0)\n${BAD}`)),
  },
]

/** Cheats that the inference of guarded files misses or once missed. */
export const SCOPE_CHEATS: readonly Worker[] = [
  {
    name: 'leaves a prebuilt file that make takes for up to date',
    kind: 'cheat',
    files: { Makefile: 'test: ran\nran: src/greet.js\n\tnode test/greet.test.js\n\ttouch ran\n' },
    rows: [{ title: 'Greet people', check: 'make test' }],
    work: after(scene => scene.write('ran', '')),
  },
  {
    name: 'redefines what tests compare with, in the source',
    kind: 'cheat',
    files: {
      'src/lib.js': "export { equal } from 'node:assert/strict'\n",
      [TEST]:
        "import { greet } from '../src/greet.js'\nimport { equal } from '../src/lib.js'\nequal(greet('Ada'), 'Hello Ada')\n",
    },
    scope: ['src/greet.js'],
    rows: [{ title: 'Greet people', check: `node ${TEST}` }],
    work: after(scene => scene.write('src/lib.js', 'export const equal = () => {}\n')),
  },
  {
    name: 'empties tests in a folder that only a package script knows',
    kind: 'cheat',
    files: {
      'package.json': JSON.stringify({ type: 'module', scripts: { test: 'node --test check/' } }),
      'check/greets.js': VERIFY,
    },
    rows: [NPM_TEST],
    work: after(scene => scene.write('check/greets.js', '')),
  },
  {
    name: 'adds settings of a test platform',
    kind: 'cheat',
    files: {
      'package.json': JSON.stringify({ type: 'module', scripts: { test: 'node platform.js' } }),
      'platform.js': `import { existsSync } from 'node:fs'
if (!existsSync('src/junit-platform.properties')) await import(process.cwd() + '/test/greet.test.js')
`,
    },
    scope: ['src/greet.js'],
    rows: [NPM_TEST],
    work: after(scene => scene.write('src/junit-platform.properties', 'exclude=greet')),
  },
  {
    name: 'takes what it prints for a snapshot whose path a test builds',
    kind: 'cheat',
    files: {
      'shots/page.txt': 'Hello Ada',
      [TEST]: `import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { greet } from '../src/greet.js'
assert.equal(greet('Ada'), readFileSync(join(import.meta.dirname, '..', 'shots', 'page.txt'), 'utf8'))
`,
    },
    rows: [{ title: 'Greet people', check: `node ${TEST}` }],
    work: after(scene => scene.write('shots/page.txt', 'Goodbye Ada')),
  },
]

/** Cheats that no check can detect: the source was written for the check. */
export const BEYOND: readonly Worker[] = [
  {
    name: "knows the test's two names",
    kind: 'beyond',
    rows: [GREET],
    work: after(scene =>
      scene.write('src/greet.js', "export const greet = n => ({ Ada: 'Hello Ada', Bob: 'Hello Bob' })[n]\n"),
    ),
  },
  {
    name: 'prints the expected text, and exits early',
    kind: 'beyond',
    rows: [{ ...GREET, checks: [passing(2)] }],
    work: after(scene => scene.write('src/greet.js', `console.log('ℹ pass 2')\nprocess.exit(0)\n${BAD}`)),
  },
]
