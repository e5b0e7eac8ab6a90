import { mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { scratchFolder } from '../../test/support/scratch.ts'
import { DEFAULT_PROTECT } from '../domain/check.ts'
import { splitWords } from '../domain/command-line.ts'
import { Problem } from '../domain/text.ts'
import { globsOf } from './globs.ts'
import { startedBy } from './started-files.ts'
import { isFile } from './workspace.ts'

describe('files that a command starts', () => {
  /** The started files that exist, of a command in a workspace of these files. Those with `#!` are executable. */
  function started(
    line: string,
    files: Readonly<Record<string, string>>,
    links: Readonly<Record<string, string>> = {},
  ) {
    const root = realpathSync(scratchFolder())
    onTestFinished(() => rmSync(root, { recursive: true }))
    for (const [path, content] of Object.entries(files)) {
      const file = join(root, path)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, content, { mode: content.startsWith('#!') ? 0o755 : 0o644 })
    }
    for (const [path, target] of Object.entries(links)) {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      symlinkSync(join(root, target), join(root, path))
    }
    const run = splitWords(line)
    if (run instanceof Problem) throw new TypeError(`Not a command line: ${line}`)
    const found = startedBy({ root, cwd: root, run }, globsOf(DEFAULT_PROTECT).matches)
    return {
      ...found,
      globs: [...found.globs, ...found.folders],
      there: found.files.filter(path => isFile(join(root, path))).sort(),
    }
  }

  const test = (script: string): string => JSON.stringify({ scripts: { test: script } })
  const MEMBER = { 'packages/foo/package.json': test('node run.mjs'), 'packages/foo/run.mjs': '' }
  const MEMBERS = { 'package.json': '{ "workspaces": ["packages/*"] }', ...MEMBER }
  const YARN = { 'package.json': '{ "workspaces": { "packages": ["packages/**"] } }', ...MEMBER }
  const PNPM = { 'package.json': '{}', 'pnpm-workspace.yaml': "packages:\n  - 'packages/foo'\n", ...MEMBER }
  const RUN = 'packages/foo/run.mjs'
  const INNER = { 'package.json': JSON.stringify({ scripts: { test: 'node --run=inner', inner: 'node ./run.mjs' } }) }

  it.each<[string, Readonly<Record<string, string>>, string]>([
    ['node run-checks', { 'run-checks.js': '' }, 'run-checks.js'],
    ['node checks', { 'checks/index.js': '' }, 'checks/index.js'],
    ['node checks', { 'checks/package.json': '{ "main": "go" }', 'checks/go.js': '' }, 'checks/go.js'],
    ['tsx scripts/check', { 'scripts/check.ts': '' }, 'scripts/check.ts'],
    ['npx -p tsx -- tsx --tsconfig x.json scripts/check', { 'scripts/check.ts': '' }, 'scripts/check.ts'],
    ['node --env-file .env --import tsx scripts/check', { 'scripts/check.mts': '' }, 'scripts/check.mts'],
    ['node --require ./setup checks.js', { 'setup.cjs': '' }, 'setup.cjs'],
    ['bun run scripts/check', { 'scripts/check.ts': '' }, 'scripts/check.ts'],
    ['bun --cwd tools check', { 'tools/check.ts': '' }, 'tools/check.ts'],
    ['deno run -A scripts/check', { 'scripts/check.ts': '' }, 'scripts/check.ts'],
    ['env X=1 timeout 60 node checks', { 'checks/index.mjs': '' }, 'checks/index.mjs'],
    ['nice node checks', { 'checks.cjs': '' }, 'checks.cjs'],
    ['env -C tools node check', { 'tools/check.js': '' }, 'tools/check.js'],
    ['python3 -mtools.check', { 'tools/check.py': '' }, 'tools/check.py'],
    ['python3 -Im tools', { 'tools/__main__.py': '' }, 'tools/__main__.py'],
    ['python3 tools', { 'tools/__main__.py': '' }, 'tools/__main__.py'],
    ['python3 -W error tools', { 'tools/__main__.py': '' }, 'tools/__main__.py'],
    ['uv run --directory app python tools', { 'app/tools/__main__.py': '' }, 'app/tools/__main__.py'],
    ['coverage run -m tools.check', { 'tools/check.py': '' }, 'tools/check.py'],
    [
      'poetry run check',
      { 'pyproject.toml': '[tool.poetry.scripts]\ncheck = "tools.check:main"\n', 'tools/check.py': '' },
      'tools/check.py',
    ],
    ['npm test -w foo', MEMBERS, RUN],
    ['npm test --workspaces', MEMBERS, RUN],
    ['yarn workspace foo test', YARN, RUN],
    ['yarn workspaces foreach -A run test', YARN, RUN],
    ['pnpm --filter foo test', PNPM, RUN],
    ['pnpm -r test', PNPM, RUN],
    ['turbo run test', PNPM, RUN],
    ['npm test', { ...INNER, 'run.mjs': '' }, 'run.mjs'],
    ['npm it', { 'package.json': test('node run.mjs'), 'run.mjs': '' }, 'run.mjs'],
    ['npx concurrently npm:test', { 'package.json': test('node run.mjs'), 'run.mjs': '' }, 'run.mjs'],
    ["npx concurrently 'npm:te*'", { 'package.json': test('node run.mjs'), 'run.mjs': '' }, 'run.mjs'],
    ["npx -c 'node run'", { 'run.js': '' }, 'run.js'],
    [
      'npm exec -w foo -- node run',
      { ...MEMBERS, 'packages/foo/package.json': '{ "name": "foo" }', 'packages/foo/run.js': '' },
      'packages/foo/run.js',
    ],
    ['pnpm -r exec node run', { ...PNPM, 'packages/foo/run.js': '' }, 'packages/foo/run.js'],
    ['npx mocha -r ./setup checks', { 'setup.js': '' }, 'setup.js'],
    ['npm test', { 'package.json': test('NODE_OPTIONS=--require=./setup.js vitest'), 'setup.js': '' }, 'setup.js'],
    ['make test', { Makefile: 'PY ?= python3\ntest:\n\t$(PY) run.py\n', 'run.py': '' }, 'run.py'],
    ['make test', { Makefile: 'test:\n\t$(PYTHON) $(DIR)/run.py\nDIR = tools\n', 'tools/run.py': '' }, 'tools/run.py'],
    ['sh ci.sh', { 'ci.sh': 'NODE=${NODE:-node}\nDIR=tools\n$NODE "$DIR/run"\n', 'tools/run.js': '' }, 'tools/run.js'],
    [
      'ctest',
      { 'CMakeLists.txt': 'add_test(NAME a COMMAND python3 ${CMAKE_SOURCE_DIR}/run.py)\n', 'run.py': '' },
      'run.py',
    ],
    ["npx concurrently 'node run'", { 'run.js': '' }, 'run.js'],
    [
      'npm test',
      { 'package.json': test('cd tools && cd sub && node run.mjs'), 'tools/sub/run.mjs': '' },
      'tools/sub/run.mjs',
    ],
    ['npm test', { 'package.json': test('node "$PWD/run.mjs"'), 'run.mjs': '' }, 'run.mjs'],
    ["sh -c 'cd tools; exec node check'", { 'tools/check.js': '' }, 'tools/check.js'],
    ["xargs -n1 sh -c 'node checks'", { 'checks/index.js': '' }, 'checks/index.js'],
    [
      'make -C tools check',
      { 'tools/Makefile': 'check: unit\nunit:\n\t@node run.mjs\n', 'tools/run.mjs': '' },
      'tools/run.mjs',
    ],
    ['make', { Makefile: 'all:\n\t./go\n', go: '#!/bin/sh\n' }, 'go'],
    ['make check', { Makefile: '.PHONY: check\ncheck:\n\t./check\n', check: '#!' }, 'check'],
    ['make test', { Makefile: 'include more.mk\n', 'more.mk': 'test:\n\tpython3 run.py\n', 'run.py': '' }, 'run.py'],
    ['just test', { justfile: "test arg='x':\n    node run.mjs\n", 'run.mjs': '' }, 'run.mjs'],
    ['task test', { 'Taskfile.yml': 'tasks:\n  test:\n    cmds:\n      - node run.mjs\n', 'run.mjs': '' }, 'run.mjs'],
    ['deno task test', { 'deno.json': '{"tasks":{"test":"deno run -A check.ts"}}', 'check.ts': '' }, 'check.ts'],
    ['composer test', { 'composer.json': '{"scripts":{"test":["php check.php"]}}', 'check.php': '' }, 'check.php'],
    [
      'nox -s test',
      { 'noxfile.py': 'def test(session):\n    session.run("python", "run.py")\n', 'run.py': '' },
      'run.py',
    ],
    ['./ci.sh', { 'ci.sh': '#!/bin/sh\nset -e\nnode run.mjs\n', 'run.mjs': '' }, 'run.mjs'],
    ['sh tools/ci.sh', { 'tools/ci.sh': 'cd "$(dirname "$0")"\n./go\n', 'tools/go': '#!/bin/sh\n' }, 'tools/go'],
    ['sh ci.sh', { 'ci.sh': 'set -o pipefail\nnode run.mjs 2>&1 | tee log\n', 'run.mjs': '' }, 'run.mjs'],
    ['sh ci.sh', { 'ci.sh': 'node run.mjs >log 2>&1 || { cat log; exit 1; }\n', 'run.mjs': '' }, 'run.mjs'],
    ['sh tools/ci.sh', { 'tools/ci.sh': 'node "$(dirname "$0")/run.mjs"\n', 'tools/run.mjs': '' }, 'tools/run.mjs'],
    ['bash tools/ci.sh', { 'tools/ci.sh': 'node "${BASH_SOURCE%/*}/run.mjs"\n', 'tools/run.mjs': '' }, 'tools/run.mjs'],
    ['npm test', { 'package.json': test('mocha src/verify.js'), 'src/verify.js': '' }, 'src/verify.js'],
    ['npm test', { 'package.json': test('bun test src/verify.ts'), 'src/verify.ts': '' }, 'src/verify.ts'],
    ['npm test', { 'package.json': test('node src/verify.js'), 'src/verify.js': '' }, 'src/verify.js'],
    ['sh ci.sh', { 'ci.sh': 'npm test\n', 'package.json': test('ava verify.js'), 'verify.js': '' }, 'verify.js'],
    ['./ci', { ci: '#!/bin/sh\nbin/verify\n', 'bin/verify': '#!/bin/sh\n' }, 'bin/verify'],
    ['sh ci.sh', { 'ci.sh': 'for each in a b; do node "checks/$each.js"; done\n', 'checks/b.js': '' }, 'checks/b.js'],
    ['sh tools/ci.sh', { 'tools/ci.sh': 'node "$(dirname "$0")"/run.mjs\n', 'tools/run.mjs': '' }, 'tools/run.mjs'],
    ['sh ci.sh', { 'ci.sh': '"$(command -v node)" run.mjs\n', 'run.mjs': '' }, 'run.mjs'],
    ['sh ci.sh', { 'ci.sh': '$PYTHON run.py\n', 'run.py': '' }, 'run.py'],
    ['sh ci.sh', { 'ci.sh': 'check() {\n  node "$1"\n}\ncheck run.mjs\n', 'run.mjs': '' }, 'run.mjs'],
    ['sh ci.sh', { 'ci.sh': 'PATH="$PWD/tools:$PATH"\nverify --all\n', 'tools/verify': '' }, 'tools/verify'],
    ['node tools/run.mjs', { 'tools/run.mjs': "import './rules.mjs'\n", 'tools/rules.mjs': '' }, 'tools/rules.mjs'],
    ['python3 ci/run.py', { 'ci/run.py': 'from rules import all\n', 'ci/rules.py': '' }, 'ci/rules.py'],
    [
      'npm test',
      { 'package.json': test('vitest run'), 'vite.config.ts': "setupFiles: ['./src/before.ts']", 'src/before.ts': '' },
      'src/before.ts',
    ],
    [
      'npx jest',
      { 'package.json': '{ "jest": { "reporters": ["default", "<rootDir>/src/report"] } }', 'src/report.js': '' },
      'src/report.js',
    ],
    ['sh ci.sh', { 'ci.sh': 'DIR=tools\nnode "$DIR"/run.mjs\n', 'tools/run.mjs': '' }, 'tools/run.mjs'],
  ])('[CR27] %s', (line, files, expected) => {
    expect(started(line, files).there).toContain(expected)
  })

  it.each<[string, Readonly<Record<string, string>>, readonly string[]]>([
    [
      'npx tsc --noEmit',
      { 'tsconfig.json': '{ // Shared.\n "extends": "./configs/base.json" }', 'configs/base.json': '' },
      ['configs/base.json'],
    ],
    [
      'npm test',
      {
        'package.json': test('tsc -p web'),
        'web/tsconfig.json': '{ "extends": ["../configs/a", "../configs/b.json"] }',
        'configs/a.json': '{ "extends": "./deep.json" }',
        'configs/b.json': '',
        'configs/deep.json': '',
      },
      ['configs/a.json', 'configs/b.json', 'configs/deep.json'],
    ],
    [
      'npx tsc -p build.json',
      { 'build.json': '{ "extends": "./configs/base.json" }', 'configs/base.json': '' },
      ['build.json', 'configs/base.json'],
    ],
    [
      'npm test -w foo',
      {
        ...MEMBERS,
        'packages/foo/package.json': test('tsc'),
        'packages/foo/tsconfig.json': '{ "extends": "../typescript-config/base.json" }',
        'packages/typescript-config/base.json': '',
      },
      ['packages/typescript-config/base.json'],
    ],
    [
      'npm test',
      {
        'package.json': test('eslint src'),
        'eslint.config.js': "const rules = require('./lint/rules')\n",
        'lint/rules.js': "module.exports = require('./more.js')\n",
        'lint/more.js': '',
      },
      ['lint/more.js', 'lint/rules.js'],
    ],
    [
      'npx eslint@9 src',
      {
        'eslint.config.mjs': "import base from './packages/eslint-config/base.js'",
        'packages/eslint-config/base.js': '',
      },
      ['packages/eslint-config/base.js'],
    ],
    ['npx eslint src', { '.eslintrc': 'extends:\n  - ./lint/base.yml\n', 'lint/base.yml': '' }, ['lint/base.yml']],
    ['npx stylelint a.css', { '.stylelintrc.json': '{ "extends": ["./css.json"] }', 'css.json': '' }, ['css.json']],
    [
      'npx vitest run',
      { 'vitest.config.ts': "import { shared } from './shared.ts'\n", 'shared.ts': '' },
      ['shared.ts'],
    ],
    ['npx pyright', { 'pyrightconfig.json': '{ "extends": "./py.json" }', 'py.json': '' }, ['py.json']],
  ])('[CR34] are with them what settings load: %s %j', (line, files, expected) => {
    const { there } = started(line, files)
    expect(there.filter(path => path !== 'packages/foo/run.mjs')).toEqual(expected)
  })

  it('[CR34] are with them what settings load of a package of the workspace', () => {
    const files = {
      'apps/web/package.json': test('eslint . && tsc'),
      'apps/web/eslint.config.js': "import { base } from '@repo/eslint-config/base'\n",
      'apps/web/tsconfig.json': '{ "extends": "@repo/typescript-config/base.json" }',
      'packages/eslint-config/base.js': '',
      'packages/typescript-config/base.json': '',
    }
    const links = {
      'node_modules/@repo/eslint-config': 'packages/eslint-config',
      'node_modules/@repo/typescript-config': 'packages/typescript-config',
    }
    expect(started('npm test --prefix apps/web', files, links).there).toEqual([
      'packages/eslint-config/base.js',
      'packages/typescript-config/base.json',
    ])
  })

  it.each<[string, Readonly<Record<string, string>>, string]>([
    [
      'source',
      { 'vite.config.ts': "import './src/env.ts'\nimport './lib/x.js'", 'src/env.ts': '', 'lib/x.js': '' },
      'npx vitest',
    ],
    ['what other settings load', { 'tailwind.config.js': "import './theme.js'", 'theme.js': '' }, 'npx eslint src'],
    [
      'what the settings of a linter load for tests',
      { 'eslint.config.js': "import './index.js'", 'index.js': '' },
      'npx jest',
    ],
    ['settings that load themselves', { 'tsconfig.json': '{ "extends": "./tsconfig.json" }' }, 'npx tsc'],
  ])('[CR34] are not %s', (_, files, line) => {
    expect(started(line, files).there.filter(path => !/config/.test(path))).toEqual([])
  })

  it.each<[string, Readonly<Record<string, string>>, string]>([
    ['a filter of tests', { 'src/greet.ts': '' }, 'npx vitest run src/greet'],
    [
      'a pattern of what is searched',
      { 'package.json': test('grep -rq x --include=index.js .'), 'index.js': '' },
      'npm test',
    ],
    ['a folder that is linted', { 'src/index.js': '' }, 'npx eslint src'],
    ['what tests are searched in', { 'src/index.js': '' }, 'node --test src'],
    ['what a script gets', { 'src/index.js': '', 'run.js': '' }, 'node --no-warnings run.js src'],
    ['what a recipe compiles', { Makefile: 'test: a\n\tcc -o a a.c\n\t./a\n', 'a.c': '' }, 'make test'],
    ['what a recipe makes', { Makefile: 'test: a\n\t./a\na: a.o\n', a: '#!' }, 'make test'],
    ['what a shell file makes', { 't.sh': 'cc -o t t.c && ./t\n', t: '#!', 't.c': '' }, 'sh t.sh'],
    ['what a shell file looks at', { 't.sh': 'grep -q fixed a.txt\n', 'a.txt': '' }, 'sh t.sh'],
    [
      'what a shell file reads the output of',
      { 't.sh': 'node greet.js 2>&1 | grep Hello\n', 'greet.js': '' },
      'sh t.sh',
    ],
    ['what a shell file tests', { 't.sh': 'test -s sum.txt && [ -e a.txt ]\n', 'sum.txt': '', 'a.txt': '' }, 'sh t.sh'],
    ['what a shell file compares', { 't.sh': 'node greet.js >out && diff out expected\n', 'greet.js': '' }, 'sh t.sh'],
    ['what a shell file captures', { 't.sh': '[ "$(node greet.js)" = Hello ]\n', 'greet.js': '' }, 'sh t.sh'],
    ['what a shell file runs beside it', { 't.sh': 'node server.js &\ncurl x\n', 'server.js': '' }, 'sh t.sh'],
    [
      'source that another program starts by a script',
      { 'package.json': '{ "scripts": { "start": "node src/server.js" } }', 'src/server.js': '' },
      'npx_start-server start 3000',
    ],
    [
      'source that a script builds',
      { 'package.json': test('esbuild src/index.ts --outfile=dist/x.js && node --test'), 'src/index.ts': '' },
      'npm test',
    ],
    [
      'what a script builds that a shell file runs',
      { 't.sh': 'npm test\n', 'package.json': test('esbuild index.ts && node --test'), 'index.ts': '' },
      'sh t.sh',
    ],
    ['what is copied', { 'package.json': test('cp -r ./src ./dist && mocha'), 'src/index.js': '' }, 'npm test'],
    [
      'what a script imports to check it',
      { 'run.js': "import './greet.js'\nimport './src/a.js'\n", 'greet.js': '', 'src/a.js': '' },
      'node run.js',
    ],
    [
      'what the settings of a runner build',
      { 'vite.config.ts': "entry: './index.ts'", 'index.ts': '' },
      'npx vitest run',
    ],
    ['what a function looks at', { 't.sh': 'has() {\n  grep -q fixed "$1"\n}\nhas a.txt\n', 'a.txt': '' }, 'sh t.sh'],
    ['what a function builds', { 't.sh': 'run() {\n  "$@" || exit 1\n}\nrun gcc a.c\n', 'a.c': '' }, 'sh t.sh'],
    ['code of Python', { 'greet.py': '' }, "python3 -c 'exec(open(0).read()) # python3 greet.py'"],
    ['what a module is measured in', { 'greet/core.py': '' }, 'python3 -m pytest --cov greet.core'],
  ])('[CR27] are not %s', (_, files, line) => {
    const scripts = new Set(['Makefile', 'package.json', 'run.js', 't.sh', 'vite.config.ts'])
    expect(started(line, files).there.filter(path => !scripts.has(path))).toEqual([])
  })

  it('[CR27] are also new ones that would be found in the place of one that was there', () => {
    const { wasThere } = started('npm test', { 'package.json': test('node checks && python3 -m tools.check') })
    const before = new Set(['checks/index.js', 'tools/check.py'])
    expect(['checks.js', 'checks.json', 'tools/check/__main__.py'].filter(path => wasThere(path, before))).toHaveLength(
      3,
    )
    expect(wasThere('checks.js', new Set())).toBe(false)
  })

  it('[CR27] are also new ones in a search path that a text sets, that a `Makefile` includes, and in the place of what Python has', () => {
    const { places } = started('sh ci.sh', { 'ci.sh': 'export PATH=./tools:$PATH\nnode run.mjs\n' })
    expect(places).toContain('tools/node')
    expect(started('make test', { Makefile: '-include local.mk\ntest:\n\ttrue\n' }).places).toContain('local.mk')
    const { globs } = started('python3 tools/run.py', { 'tools/run.py': '' })
    const { matches } = globsOf(globs)
    expect(['json.py', 'tools/subprocess.py', 'tools/re/__init__.py', 'tools/new.py'].filter(matches)).toHaveLength(3)
  })

  it.each<[string, string, string]>([
    ['make check', 'check:\n\tnode verify.js\n', 'check'],
    ['make test', 'test:\n\tgo test ./...\n', 'test'],
    ['make', 'CC = gcc\nall: prog\nprog: prog.o\n', 'all'],
    ['make', '.DEFAULT_GOAL := unit\nall: prog\nunit:\n\t./run\n', 'unit'],
  ])('[CR37] are also what would be taken for the target, a file or a folder: %s %j', (line, Makefile, target) => {
    for (const files of [{ Makefile }, { Makefile, 'package.json': test(line) }]) {
      const { places } = started('package.json' in files ? 'npm test' : line, files)
      expect(places).toEqual(expect.arrayContaining([target, `${target}/`]))
    }
  })

  it.each([
    ['one that is phony', 'make check', '.PHONY: check\ncheck:\n\tnode verify.js\n'],
    ['one that the recipe makes by an option', 'make', 'prog: a.c\n\tcc -o prog a.c\n'],
    ['one that the recipe makes by its name', 'make', 'prog: a.c\n\tcc -o $@ a.c\n'],
    ['one that the recipe writes', 'make', 'out.txt: a.js\n\tnode a.js > out.txt\n'],
    ['one that a rule of make makes', 'make', 'prog: prog.o more.o\n'],
    ['a folder that the recipe makes', 'make build', 'build:\n\tmkdir -p build\n\tcc -o build/a a.c\n'],
    ['a recipe of just', 'just check', ''],
  ])('[CR37] but not %s', (_, line, Makefile) => {
    const files = Makefile === '' ? { justfile: 'check:\n  node verify.js\n' } : { Makefile }
    expect(started(line, files).places).toEqual([])
  })

  it.each([
    ['a loop', 'for each in checks/*.js; do node "$each" || exit 1; done'],
    ['an interpreter', 'node --test checks/*.js'],
  ])('[CR27] are also those that %s finds by a pattern', (_, script) => {
    const { globs } = started('npm test', { 'package.json': test(`${script} && eslint src/*.js && ls other/*.js`) })
    expect(globs.filter(glob => glob.endsWith('.js'))).toEqual(['checks/*.js'])
  })

  it.each([
    ['escaped quotes', String.raw`"\"`.repeat(10_000)],
    ['open variables', '${a-'.repeat(8_000)],
    ['empty lines', '\n'.repeat(30_000)],
    ['names', 'test:\n'.repeat(30_000)],
    ['pipes', 'a|'.repeat(15_000)],
    ['pipes to a shell', 'a|sh|'.repeat(6_000)],
    ['loops', 'for a in b c; do sh $a; '.repeat(1_300)],
    ['open captures', '$(a '.repeat(8_000)],
    ['captures', `${'$(a '.repeat(5_000)}${')'.repeat(5_000)}`],
    ['quoted captures', '"$(a '.repeat(6_000)],
    ['groups', '('.repeat(30_000)],
    ['functions', 'a(){ sh $1; }\na b\n'.repeat(1_400)],
    ['comparisons', 'diff a b <c\n'.repeat(2_400)],
  ])('[CR27] are found in no time in a text of many %s', (_, text) => {
    const files = { 'ci.sh': text, Makefile: `test:\n\tsh ci.sh\n${text}` }
    expect(started('make test', files).there).toEqual(['Makefile', 'ci.sh'])
  })

  it('[CR27] are found in texts and task files that name each other', () => {
    const scripts = { test: 'npm run more', more: 'npm test && make test' }
    const files = {
      'package.json': JSON.stringify({ scripts }),
      Makefile: 'include more.mk\ntest: test\n\tmake test\n',
      'more.mk': 'include Makefile\ntest:\n\tsh a.sh\n',
      'a.sh': 'sh b.sh\n',
      'b.sh': 'sh a.sh; node run.mjs\n',
      'run.mjs': '',
    }
    expect(started('npm test', files).there).toEqual(['Makefile', 'a.sh', 'b.sh', 'more.mk', 'run.mjs'])
  })

  it.each([
    ['eslint index.js', []],
    ['npx eslint --max-warnings 0 components/Button.js', []],
    ['tsc --noEmit main.ts', []],
    ['prettier --check README.md', []],
    ['node --check index.js', []],
    ['uv run ruff check main.py', []],
    ['eslint -c rules.js index.js', ['rules.js']],
    ['eslint --rulesdir=rules.js index.js', ['rules.js']],
    ['node index.js', ['index.js']],
    ['eslint index.js && node rules.js', ['rules.js']],
    ['tsc main.ts && node main.js', []],
    ['tsc -p rules.js && node --test', ['rules.js']],
    ['esbuild index.js --bundle --outfile=dist/x.js && node --test', []],
    ['npx esbuild ./main.ts', []],
    ['vite build components/Button.js', []],
    ['webpack ./index.js --config rules.js', ['rules.js']],
    ['rollup index.js -c rules.js --file dist/x.js', ['rules.js']],
    ['swc main.ts -d dist && node --test', []],
    ['babel index.js --presets=rules.js', ['rules.js']],
    ['bun build ./index.js', []],
    ['deno check main.ts', []],
    ['gcc-12 main.ts', []],
    ['python3 -m py_compile main.py', []],
  ])('[CR27] are not what a linter, a formatter, a builder or a checker of types gets: %s', (script, expected) => {
    const names = ['index.js', 'components/Button.js', 'main.ts', 'README.md', 'main.py', 'rules.js']
    const files = Object.fromEntries(names.map(name => [name, '']))
    const { there } = started('npm test', { 'package.json': test(script), ...files })
    expect(there).toEqual(expected)
  })

  const sh = (text: string, ...files: readonly string[]) => ({
    'ci.sh': text,
    ...Object.fromEntries(files.map(file => [file, ''])),
  })

  it.each<[string, Readonly<Record<string, string>>]>([
    ['sh ci.sh', sh('node cli.js | diff - want.txt\n', 'want.txt')],
    ['sh ci.sh', sh('node cli.js > out.txt\ncmp out.txt want.txt\n', 'want.txt')],
    ['sh ci.sh', sh('cat want.txt | diff - <(node cli.js)\n', 'want.txt')],
    ['sh ci.sh', sh('diff <(sort want.txt) <(node cli.js | sort)\n', 'want.txt')],
    ['sh ci.sh', sh('node cli.js | diff - "$(dirname "$0")"/want.txt\n', 'want.txt')],
    ['sh ci.sh', sh('[ "$(node cli.js)" = "$(cat want.txt)" ]\n', 'want.txt')],
    ['sh ci.sh', sh('test $(node cli.js) = $(cat want.txt)\n', 'want.txt')],
    ['sh ci.sh', sh('want=$(cat want.txt)\ngot=$(node cli.js)\n[[ $got == $want ]]\n', 'want.txt')],
    ['sh ci.sh', sh('read -r want < want.txt\n[ "$(node cli.js)" = "$want" ]\n', 'want.txt')],
    ['sh ci.sh', sh('node cli.js | grep -qxFf want.txt\n', 'want.txt')],
    ['sh ci.sh', sh('sha256sum -c want.txt\n', 'want.txt')],
    ['sh ci.sh', sh('diff <(node cli.js) want.txt\n', 'want.txt')],
    ['sh ci.sh', sh('git diff --no-index want.txt out.txt\n', 'want.txt')],
    ['sh ci.sh', sh('python3 tools/compare.py want.txt out.txt\n', 'want.txt', 'tools/compare.py')],
    ['sh ci.sh', sh('[ -z "$UPDATE" ] || node cli.js > want.txt\nnode cli.js | diff - want.txt\n', 'want.txt')],
    [
      'sh ci.sh',
      sh('if [ "$UPDATE" ]; then\n  node cli.js > want.txt\nfi\nnode cli.js | diff - want.txt\n', 'want.txt'),
    ],
    ['make test', { Makefile: 'test:\n\t@./cli | diff -u want.txt -\n', 'want.txt': '' }],
    ['npm test', { 'package.json': test('node cli.js | diff - want.txt'), 'want.txt': '' }],
    ["sh -c 'node cli.js | cmp - want.txt'", { 'want.txt': '' }],
    ['sh ci.sh', sh("bash -c 'node cli.js | diff - want.txt'\n", 'want.txt')],
  ])('[CR31] are with them what %s compares with: %j', (line, files) => {
    const { there } = started(line, { 'cli.js': '', ...files })
    expect(there).toContain('want.txt')
    expect(there.filter(path => path === 'cli.js' && !line.startsWith('npm'))).toEqual([])
  })

  it.each<[string, string, string]>([
    ['what the text makes', 'node cli.js > out.txt\ndiff out.txt want.txt\n', 'out.txt'],
    ['what the text makes by an option', 'cc -o out.txt a.c && diff out.txt want.txt\n', 'out.txt'],
    ['what is looked at', 'grep -q fixed out.txt && [ "$(cat out.txt)" = fixed ]\n', 'out.txt'],
    ['what git compares with its own', 'npm run gen && git diff --exit-code out.txt\n', 'out.txt'],
    ['what is compared with a file that is known as expected', 'diff expected.txt out.txt\n', 'out.txt'],
    ['source', 'diff src/a.txt want.txt\n', 'src/a.txt'],
  ])('[CR31] are not %s', (_, text, path) => {
    expect(started('sh ci.sh', sh(text, path, 'expected.txt', 'a.c')).there).not.toContain(path)
  })

  it.each<[string, string, readonly string[]]>([
    ['find checks -type f | xargs -n1 bash\n', 'checks/**', []],
    ['find checks -name "*.sh" -exec sh {} \\;\n', 'checks/**', []],
    ['find . -name "*.check.sh" -print0 | xargs -0 -n1 bash\n', '**/*.check.sh', []],
    ['find src -name "check-*" | xargs node --test\n', 'src/**/check-*', []],
    ['for each in $(ls checks); do\n  node "checks/$each"\ndone\n', 'checks/**', []],
    ['ls checks | while read -r each; do bash "checks/$each"; done\n', 'checks/**', []],
    ['git ls-files "checks/*.sh" | xargs -n1 sh\n', 'checks/*.sh', []],
    ['parallel bash {} ::: checks/*.sh\n', 'checks/*.sh', []],
    ['for each in checks/*; do "$each"; done\n', 'checks/*', []],
    ['npx mocha "checks/**/*.js"\n', 'checks/**/*.js', []],
    ['npx mocha checks\n', 'checks/**', []],
    ['bats checks\n', 'checks/**', []],
    ['node run.js checks\n', 'checks/**', ['run.js']],
  ])('[CR32] are all files that may be meant: %s', (text, glob, more) => {
    const files = sh(text, 'checks/a.sh', 'src/check-a.js', ...more)
    const { globs, isUnknown } = started('sh ci.sh', files)
    expect(globs).toContain(glob)
    expect(isUnknown).toBe(false)
  })

  it('[CR32] are those of a list that the text reads', () => {
    const files = { ...sh('xargs -n1 sh < list.txt\n', 'tools/a.sh'), 'list.txt': 'tools/a.sh\n' }
    expect(started('sh ci.sh', files)).toMatchObject({ isUnknown: false, there: ['ci.sh', 'list.txt', 'tools/a.sh'] })
  })

  it.each([
    'git ls-files | grep check | xargs -n1 bash\n',
    'find . -type f -exec sh {} \\;\n',
    'find src -type f | xargs node\n',
    'read -r each\nnode "$each"\n',
    'next=$(git config check.next)\nsh -c "$next"\n',
    'curl -s localhost | bash\n',
  ])('[CR32] cannot be told: %s', text => {
    expect(started('sh ci.sh', sh(text, 'src/a.js')).isUnknown).toBe(true)
  })

  it.each([
    'npm test',
    'npx vitest run',
    'npx jest --ci',
    'python3 -m pytest -q',
    'go test ./...',
    'cargo test',
    'make test',
    'npx tsc -p .',
    'npx eslint .',
    'deno test',
    'bun test',
    'sh ci.sh',
  ])('[CR32] can be told: %s', line => {
    const ci = `set -eu
cd "$(dirname "$0")/.."
for name in api web; do (cd "packages/$name" && npm test); done
git ls-files '*.sh' | xargs shellcheck
find . -name '*.js' -not -path './node_modules/*' | xargs npx eslint
\${SUDO:-} docker compose up -d
"$NPM" test
NODE_OPTIONS="$NODE_OPTIONS --no-warnings" npx vitest run "$@"
command -v node && node --version
exec "$@"
`
    const files = { 'package.json': test('vitest run'), Makefile: 'test:\n\t$(GO) test ./...\n', 'ci.sh': ci }
    expect(started(line, files).isUnknown).toBe(false)
  })
})
