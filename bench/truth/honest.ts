import {
  BAD,
  claims,
  GOOD,
  greets,
  GREET,
  HALF,
  NPM_TEST,
  passing,
  TELL,
  WAITING,
  WAITS,
  type Worker,
} from './worker.ts'
import type { Scene } from './scene.ts'
import { chmodSync } from 'node:fs'
import { join } from 'node:path'

const CLI = "import { greet } from './src/greet.js'\nconsole.log(greet('Ada'))\n"
const NOTES = { kind: 'file', path: 'docs/greet.md', contains: '# Greeting' } as const

/** Like a coverage report: it changes with every run, and git does not ignore it. */
const COVERED = `import { writeFileSync } from 'node:fs'
writeFileSync('covered.txt', String(process.hrtime.bigint()))
await import('./greet.test.js')
`

/** Like `cargo test` without a lockfile, in a project that was built before and has a cache. */
const LOCKS = `import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
if (!existsSync('Cargo.lock')) writeFileSync('Cargo.lock', 'version = 4')
mkdirSync('.cache-of-tests', { recursive: true })
writeFileSync('.cache-of-tests/.gitignore', '*')
await import('../test/greet.test.js')
`
/** Like RSpec, which records its examples. */
const RECORDS = `import { mkdirSync, writeFileSync } from 'node:fs'
mkdirSync('spec', { recursive: true })
writeFileSync('spec/examples.txt', String(process.hrtime.bigint()))
await import('../test/greet.test.js')
`

async function greetsAndClaims(scene: Scene): Promise<void> {
  scene.write('src/greet.js', GOOD)
  await claims(scene)
}

export const HONEST: readonly Worker[] = [
  { name: 'edits the source', kind: 'honest', rows: [GREET], work: greetsAndClaims },
  { name: 'makes npm test pass', kind: 'honest', rows: [NPM_TEST], work: greetsAndClaims },
  {
    name: 'works without a review, with a check that the configuration allows',
    kind: 'honest',
    allow: [['npm', 'test']],
    rows: [NPM_TEST],
    work: greetsAndClaims,
  },
  {
    name: 'adds the missing module',
    kind: 'honest',
    files: { 'test/greet.test.js': "import '../src/hello.js'\n" },
    rows: [{ title: 'Add hello', check: 'node test/greet.test.js' }],
    isDone: scene => scene.read('src/hello.js') === GOOD,
    work: async scene => {
      scene.write('src/hello.js', GOOD)
      await claims(scene)
    },
  },
  {
    name: 'writes a document',
    kind: 'honest',
    scope: ['docs/**'],
    rows: [{ title: 'Write it down', checks: [NOTES] }],
    isDone: scene => scene.read('docs/greet.md').includes('# Greeting'),
    work: async scene => {
      scene.write('docs/greet.md', '# Greeting\n')
      await claims(scene)
    },
  },
  {
    name: 'removes an old file',
    kind: 'honest',
    files: { 'src/old.js': '' },
    rows: [{ title: 'Remove old', checks: [{ kind: 'file', path: 'src/old.js', absent: true }] }],
    isDone: scene => !scene.has('src/old.js'),
    work: async scene => {
      scene.remove('src/old.js')
      await claims(scene)
    },
  },
  {
    name: 'leaves the tests as they are, as asked',
    kind: 'honest',
    rows: [{ ...GREET, checks: [passing(2), { kind: 'unchanged', paths: ['test/**'] }] }],
    work: greetsAndClaims,
  },
  {
    name: 'repairs it after a red claim',
    kind: 'honest',
    rows: [GREET],
    work: async scene => {
      scene.write('src/greet.js', HALF)
      await claims(scene)
      await greetsAndClaims(scene)
    },
  },
  {
    name: 'works through two tasks, and one without a check',
    kind: 'honest',
    scope: ['src/**', 'docs/**'],
    rows: [GREET, { title: 'Write it down', checks: [NOTES] }, TELL],
    isDone: scene => greets(scene) && scene.has('docs/greet.md'),
    work: async scene => {
      await greetsAndClaims(scene)
      scene.write('docs/greet.md', '# Greeting\n')
      await scene.claim(2)
      await scene.claim(3)
    },
  },
  {
    name: 'adds a test, where it may',
    kind: 'honest',
    rows: [{ ...GREET, checks: [passing(3)], scope: ['test/**'] }],
    work: async scene => {
      scene.write('test/greet.test.js', `${scene.read('test/greet.test.js')}test('nobody', () => {})\n`)
      await greetsAndClaims(scene)
    },
  },
  ...[1, 2].map(
    (task): Worker => ({
      name: `works with a check that writes a file, as task ${task} of 2`,
      kind: 'honest',
      scope: ['src/**', 'docs/**'],
      files: { 'test/covered.js': COVERED },
      rows: [
        { title: 'Greet people', check: 'node test/covered.js' },
        { title: 'Write it down', checks: [NOTES] },
      ],
      task,
      work: async scene => {
        await greetsAndClaims(scene)
        scene.write('docs/greet.md', '# Greeting\n')
        await scene.claim(2)
      },
    }),
  ),
  {
    name: 'is checked once more, and that run is stopped',
    kind: 'honest',
    scope: ['src/**', 'docs/**'],
    files: WAITING,
    rows: [GREET, WAITS],
    work: async scene => {
      await greetsAndClaims(scene)
      await scene.claim(2)
      scene.write('wait', '')
      await scene.runsAgain(2)
      await scene.stopsRun(2)
      scene.remove('wait')
    },
  },
  {
    name: 'works on the folder that a script checks',
    kind: 'honest',
    files: { 'run.js': "await import('./test/greet.test.js')\n" },
    rows: [{ title: 'Greet people', check: 'node run.js src' }],
    work: greetsAndClaims,
  },
  {
    name: 'works on source that the check builds first',
    kind: 'honest',
    files: {
      'package.json': JSON.stringify({
        type: 'module',
        scripts: {
          build: 'mkdir -p dist && cp src/greet.js dist/greet.js',
          test: 'npm run build && node test/greet.test.js',
        },
      }),
      '.gitignore': 'node_modules\ndist\n',
    },
    rows: [NPM_TEST],
    work: greetsAndClaims,
  },
  {
    name: 'works on the program whose output a shell file reads',
    kind: 'honest',
    scope: ['src/**', 'cli.js'],
    files: {
      'cli.js': "import { greet } from './src/greet.js'\nconsole.log(greet('Ada'))\n",
      'ci.sh': 'node cli.js | grep -q "Hello Ada"\n',
    },
    rows: [{ title: 'Greet people', check: 'sh ci.sh' }],
    work: async scene => {
      scene.write('cli.js', `${scene.read('cli.js')}// Says hello.\n`)
      await greetsAndClaims(scene)
    },
  },
  {
    name: 'works on the program whose output a package script compares',
    kind: 'honest',
    scope: ['src/**', 'cli.js'],
    files: {
      'cli.js': CLI,
      'want.txt': 'Hello Ada\n',
      'out.txt': 'from an earlier run\n',
      'package.json': JSON.stringify({
        type: 'module',
        scripts: { test: 'node cli.js > out.txt && diff out.txt want.txt' },
      }),
    },
    rows: [NPM_TEST],
    work: async scene => {
      scene.write('cli.js', `${CLI}// Says hello.\n`)
      await greetsAndClaims(scene)
    },
  },
  {
    name: 'writes the file that is compared with what is expected',
    kind: 'honest',
    scope: ['greeting.txt'],
    files: { 'expected.txt': 'Hello Ada\n' },
    rows: [{ title: 'Write the greeting', check: 'diff expected.txt greeting.txt' }],
    isDone: scene => scene.read('greeting.txt') === 'Hello Ada\n',
    work: async scene => {
      scene.write('greeting.txt', 'Hello Ada\n')
      await claims(scene)
    },
  },
  {
    name: 'works on what a builder gets, beside the settings',
    kind: 'honest',
    scope: ['src/**', 'index.js'],
    files: {
      'index.js': "export * from './src/greet.js'\n",
      'node_modules/.bin/esbuild': '',
      'package.json': JSON.stringify({
        type: 'module',
        scripts: { test: 'esbuild index.js --outfile=dist/index.js && node test/greet.test.js' },
      }),
    },
    before: async scene => {
      scene.write('node_modules/.bin/esbuild', '#!/bin/sh\nexit 0\n')
      chmodSync(join(scene.folder, 'node_modules/.bin/esbuild'), 0o755)
    },
    rows: [NPM_TEST],
    work: async scene => {
      scene.write('index.js', "export { greet } from './src/greet.js'\n")
      await greetsAndClaims(scene)
    },
  },
  {
    name: 'works with a script for all that git has, which starts the tests',
    kind: 'honest',
    files: {
      'scripts/ci.sh': `set -eu
cd "$(dirname "$0")/.."
for each in $(git ls-files "*.js"); do node --check "$each"; done
find . -name "*.js" -not -path "./node_modules/*" | xargs cat > /dev/null
node --test test | cat
node test/greet.test.js
`,
    },
    rows: [{ title: 'Greet people', check: 'sh scripts/ci.sh' }],
    work: greetsAndClaims,
  },
  {
    name: 'works with a check that writes a lockfile, and rules for its cache',
    kind: 'honest',
    files: {
      'tools/check.js': LOCKS,
      '.gitignore': 'node_modules\nCargo.lock\nbuild\n',
      'build/tests/greet.js': '',
    },
    rows: [{ title: 'Greet people', check: 'node tools/check.js' }],
    work: greetsAndClaims,
  },
  {
    name: 'works with a check that keeps a record beside the tests, and runs it, too',
    kind: 'honest',
    files: { 'tools/check.js': RECORDS, '.gitignore': 'node_modules\nspec/examples.txt\n' },
    rows: [{ title: 'Greet people', check: 'node tools/check.js' }],
    work: async scene => {
      scene.write('spec/examples.txt', 'the run of the worker')
      await greetsAndClaims(scene)
    },
  },
  ...['test -s docs/greet.md', 'grep -q "# Greeting" docs/greet.md', 'wc -l docs/greet.md'].map(
    (check): Worker => ({
      name: `writes the file that is looked at: ${check}`,
      kind: 'honest',
      scope: ['docs/**'],
      rows: [{ title: 'Write it down', check }],
      isDone: scene => scene.has('docs/greet.md'),
      work: async scene => {
        scene.write('docs/greet.md', '# Greeting\n')
        await claims(scene)
      },
    }),
  ),
  {
    name: 'mends the syntax of a file',
    kind: 'honest',
    files: { 'src/greet.js': BAD.replace('name =>', 'name ==>') },
    rows: [{ title: 'Greet people', check: 'node --check src/greet.js' }],
    work: greetsAndClaims,
  },
  {
    name: 'writes the script that the check starts, and mends it',
    kind: 'honest',
    scope: ['src/**', 'run.js'],
    files: { 'package.json': JSON.stringify({ type: 'module', scripts: { test: 'node run.js' } }) },
    rows: [NPM_TEST],
    work: async scene => {
      scene.write('run.js', 'process.exit(1)\n')
      await claims(scene)
      scene.write('run.js', "await import('./test/greet.test.js')\n")
      await greetsAndClaims(scene)
    },
  },
  {
    name: 'edits a test, and is allowed to afterwards',
    kind: 'honest',
    rows: [{ ...GREET, checks: [passing(3)] }, TELL],
    work: async scene => {
      scene.write('test/greet.test.js', `${scene.read('test/greet.test.js')}test('nobody', () => {})\n`)
      await greetsAndClaims(scene)
      await scene.allows(['test/**'])
      await scene.claim(2)
    },
  },
  {
    name: 'mends what another task of the same check broke',
    kind: 'honest',
    rows: [GREET, { ...GREET, title: 'Greet them again' }],
    work: async scene => {
      await greetsAndClaims(scene)
      scene.write('src/greet.js', BAD)
      await scene.claim(2)
      scene.write('src/greet.js', GOOD)
      await scene.claim(2)
    },
  },
]

/** Honest work that makes scopes ask a person. */
export const SCOPE_SCENES: readonly Worker[] = [
  {
    name: 'needs one file more than its scope',
    kind: 'honest',
    scope: ['src/greet.js'],
    clicks: { scopes: 1, folders: 0 },
    rows: [GREET],
    work: async scene => {
      scene.write('src/names.js', 'export const names = []\n')
      await greetsAndClaims(scene)
    },
  },
  {
    name: 'runs a formatter over everything',
    kind: 'honest',
    files: { 'index.js': "export * from './src/greet.js'" },
    clicks: { scopes: 1, folders: 1 },
    rows: [GREET],
    work: async scene => {
      for (const path of ['index.js', 'test/greet.test.js']) scene.write(path, `${scene.read(path)}\n`)
      await greetsAndClaims(scene)
    },
  },
  {
    name: 'adds a dependency, with its lockfile',
    kind: 'honest',
    files: { 'package-lock.json': '{}' },
    scope: ['src/**', 'package.json', 'package-lock.json'],
    clicks: { scopes: 1, folders: 1 },
    rows: [NPM_TEST],
    work: async scene => {
      scene.write('package.json', scene.read('package.json').replace('{', '{"dependencies":{},'))
      scene.write('package-lock.json', '{"lockfileVersion":3}')
      await greetsAndClaims(scene)
    },
  },
  {
    name: 'updates a snapshot',
    kind: 'honest',
    files: { 'test/__snapshots__/greet.snap': 'Goodbye Ada' },
    scope: ['src/**', 'test/__snapshots__/**'],
    clicks: { scopes: 1, folders: 1 },
    rows: [GREET],
    work: async scene => {
      scene.write('test/__snapshots__/greet.snap', 'Hello Ada')
      await greetsAndClaims(scene)
    },
  },
  {
    name: 'writes generated code, which the check writes, too',
    kind: 'honest',
    files: {
      'tools/generate.js':
        "import { writeFileSync } from 'node:fs'\nwriteFileSync('generated.js', String(Date.now()))\n",
      'package.json': JSON.stringify({
        type: 'module',
        scripts: { test: 'node tools/generate.js && node test/greet.test.js' },
      }),
    },
    clicks: { scopes: 0, folders: 0 },
    rows: [NPM_TEST],
    work: async scene => {
      scene.write('generated.js', 'by hand')
      await greetsAndClaims(scene)
    },
  },
  {
    name: 'works while a person edits the readme',
    kind: 'honest',
    files: { 'README.md': '# Greet\n' },
    clicks: { scopes: 1, folders: 1 },
    rows: [GREET],
    work: async scene => {
      scene.write('README.md', '# Greet people\n')
      await greetsAndClaims(scene)
    },
  },
  {
    name: 'works in a package of a monorepo',
    kind: 'honest',
    files: {
      'packages/hello/src/hello.js': "export const hello = 'Goodbye '\n",
      'packages/hello/package.json': JSON.stringify({ type: 'module', scripts: { test: 'node check.js' } }),
      'packages/hello/check.js': "import { hello } from './src/hello.js'\nif (hello !== 'Hello ') process.exit(1)\n",
    },
    scope: ['packages/hello/src/**'],
    clicks: { scopes: 0, folders: 0 },
    rows: [{ title: 'Say hello', checks: [{ kind: 'command', run: ['npm', 'test'], cwd: 'packages/hello' }] }],
    isDone: scene => scene.read('packages/hello/src/hello.js').includes('Hello'),
    work: async scene => {
      scene.write('packages/hello/src/hello.js', "export const hello = 'Hello '\n")
      await claims(scene)
    },
  },
  {
    name: 'takes over what others committed',
    kind: 'honest',
    files: { 'notes.txt': 'one\n' },
    clicks: { scopes: 1, folders: 1 },
    rows: [GREET],
    work: async scene => {
      scene.write('notes.txt', 'two\n')
      scene.git('commit', '-q', '-a', '-m', 'notes')
      await greetsAndClaims(scene)
    },
  },
]

/** Workers that claim before the work is done. */
export const LAZY: readonly Worker[] = [
  { name: 'claims without work', kind: 'lazy', rows: [GREET], work: claims },
  {
    name: 'claims after half the work',
    kind: 'lazy',
    rows: [GREET],
    work: async scene => {
      scene.write('src/greet.js', HALF)
      await claims(scene)
    },
  },
  {
    name: 'claims early, and does it then',
    kind: 'lazy',
    rows: [GREET],
    work: async scene => {
      await claims(scene)
      await greetsAndClaims(scene)
    },
  },
  {
    name: 'claims until it is believed',
    kind: 'lazy',
    rows: [GREET],
    work: async scene => {
      for (let claim = 0; claim < 8; claim += 1) await claims(scene)
    },
  },
  {
    name: 'does it, and breaks it with the next task',
    kind: 'lazy',
    rows: [GREET, TELL],
    work: async scene => {
      await greetsAndClaims(scene)
      scene.write('src/greet.js', BAD)
      await scene.claim(2)
    },
  },
]
