import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { checkScene, type CheckScene } from '../../test/support/check-scene.ts'
import type { CommandCheck } from '../core/proof/check.ts'
import { DEFAULT_PROTECT } from './scope.ts'
import { redactor } from '../core/text/redact.ts'
import type { Scopes } from '../core/proof/scope.ts'
import { globsOf } from './files.ts'
import { approvalHash } from './approval.ts'
import type { LookOptions } from './look.ts'
import type { Outcome } from './obstacle.ts'
import { recordFiles, runCheck } from './run-check.ts'

interface Ran extends Pick<Outcome, 'result' | 'tail'> {
  /** Paths of the changes that a person has to accept. */
  readonly changed: readonly string[]
}

const UNSCOPED: Scopes = { own: [{ isApproved: false }], begun: [{ isApproved: false }] }

/** Runs a command in a workspace whose files were recorded before `work`. */
async function ranAfter(
  scene: CheckScene,
  spec: CommandCheck,
  work: () => void = () => {},
  protect: readonly string[] = [],
  scopes: Scopes = UNSCOPED,
  more: Partial<LookOptions> = {},
): Promise<Ran> {
  const check = { ...spec, id: 'c1', hash: approvalHash(spec, scene) }
  const options = { ...scene, dataFolder: join(scene.folder, '../data'), protect, redact: redactor(), ...more }
  const record = await recordFiles([check], options)
  work()
  const { result, tail, changes } = await runCheck(check, {
    ...options,
    checks: [check],
    records: [record],
    scopes: [scopes],
  })
  return { result, ...(tail === undefined ? {} : { tail }), changed: (changes?.[0] ?? []).map(({ path }) => path) }
}

const command = (...run: readonly string[]): CommandCheck => ({ kind: 'command', run })

describe('files during a run', () => {
  it.each([
    ['replaced and put back', 'cp data.json test/data.json; cp kept.json test/data.json'],
    [
      'replaced by a rename and put back',
      'mv test/data.json kept; cp data.json test/data.json; mv kept test/data.json',
    ],
    ['changed', 'cp data.json test/data.json'],
    ['deleted', 'rm test/data.json'],
  ])('one that is %s counts as changed', async (_, script) => {
    const scene = checkScene()
    scene.write('test/data.json', '1')
    scene.write('kept.json', '1')
    scene.write('data.json', '2')
    const ran = await ranAfter(scene, command('sh', '-c', script))
    expect(ran).toMatchObject({ result: 'passed', changed: ['test/data.json'] })
  })

  it('those that are only read do not', async () => {
    const scene = checkScene()
    scene.write('test/data.json', '1')
    const ran = await ranAfter(scene, command('sh', '-c', 'cat test/data.json; touch test'))
    expect(ran).toMatchObject({ result: 'passed', changed: [] })
  })

  it.skipIf(spawnSync('python3', ['--version']).status !== 0)(
    '[CR6] Python neither leaves bytecode beside them nor reads what lies there',
    async () => {
      const scene = checkScene()
      scene.write('tests/__init__.py', '')
      scene.write('tests/test_a.py', 'import unittest\nclass T(unittest.TestCase):\n  def test(self): pass\n')
      const check = command('python3', '-m', 'unittest', 'tests.test_a')
      expect(await ranAfter(scene, check)).toMatchObject({ result: 'passed', changed: [] })
      execFileSync('python3', ['-m', 'py_compile', 'tests/test_a.py'], { cwd: scene.folder })
      // As large and as old as what was compiled: Python would take the bytecode for it.
      const file = join(scene.folder, 'tests/test_a.py')
      const { atime, mtime } = statSync(file)
      scene.write('tests/test_a.py', readFileSync(file, 'utf8').replace('pass', '1/ 0'))
      utimesSync(file, atime, mtime)
      const ran = await ranAfter(scene, check)
      expect(ran).toMatchObject({ result: 'failed', changed: [] })
    },
  )

  it.skipIf(spawnSync('python3', ['--version']).status !== 0)(
    '[CR6] a check may compile Python: to an empty folder outside the workspace, which is thrown away',
    async () => {
      const scene = checkScene()
      scene.write('tests/test_a.py', 'x = 1\n')
      const script =
        'import os, sys, py_compile as p; print(p.compile("tests/test_a.py")); print(os.listdir(sys.pycache_prefix))'
      const prefixes = []
      for (const _ of ['first', 'second']) {
        const ran = await ranAfter(scene, command('python3', '-c', script))
        expect(ran).toMatchObject({ result: 'passed', changed: [] })
        const [file = '', entries] = ran.tail?.split('\n') ?? []
        expect(entries).toBe(`['${scene.folder.split('/')[1]}']`)
        prefixes.push(file)
      }
      expect(new Set(prefixes)).toHaveLength(2)
      expect(prefixes.filter(existsSync)).toEqual([])
      expect(existsSync(join(scene.folder, 'tests/__pycache__'))).toBe(false)
      const whole = await ranAfter(scene, command('python3', '-m', 'compileall', '-q', 'tests'))
      expect(whole).toMatchObject({ result: 'passed', changed: [] })
    },
  )
})

describe('what is built', () => {
  const BUILD = ['rm -rf dist', 'mkdir dist', 'date +%N > dist/a.test.js', 'date +%N > dist/named.js']
  const dist = (scene: CheckScene, rules: string): CheckScene => {
    execFileSync('git', ['init', '-q', scene.folder])
    scene.write('.gitignore', rules)
    scene.script('build.sh', ...BUILD)
    return scene
  }

  it('is not changed: the check may build it anew', async () => {
    const scene = dist(checkScene(), 'dist/\n')
    scene.write('dist/old.test.js', '')
    const ran = await ranAfter(scene, command('./build.sh'), () => scene.write('dist/b.test.js', ''))
    expect(ran).toMatchObject({ result: 'passed', changed: [] })
  })

  it('may lie in `lib`, `es` or `compiled`, which are folders of source unless they are ignored', async () => {
    const scene = dist(checkScene(), 'dist/\nlib/\ncompiled/\n/es/\n')
    const paths = ['lib/a.test.js', 'compiled/a.test.js', 'es/a.test.js', 'web/es/a.test.js']
    const ran = await ranAfter(scene, command('./build.sh'), () => {
      for (const path of paths) scene.write(path, '')
    })
    expect(ran.changed).toEqual(['web/es/a.test.js'])
  })

  it.each([
    ['lies in no folder of output', 'gen/\n', 'gen/a.test.js'],
    ['is not ignored by git', '*.log\n', 'dist/a.test.js'],
  ])('is nothing that %s', async (_, rules, path) => {
    const scene = dist(checkScene(), rules)
    const ran = await ranAfter(scene, command('./build.sh'), () => {
      scene.write('build.sh', '#!/bin/sh\n')
      scene.write(path, '')
    })
    expect(ran.changed).toEqual(['build.sh', path].sort())
  })

  it('is nothing that git tracks, or a check or `protect` names', async () => {
    const scene = dist(checkScene(), 'dist/\n')
    for (const path of ['dist/tracked.test.js', 'dist/named.js', 'dist/mine.js']) scene.write(path, '')
    execFileSync('git', ['-C', scene.folder, 'add', '-f', 'dist/tracked.test.js'])
    const ran = await ranAfter(
      scene,
      command('./build.sh', 'dist/named.js'),
      () => {
        execFileSync('git', ['-C', scene.folder, 'rm', '-q', '--cached', 'dist/tracked.test.js'])
        scene.write('dist/mine.js', 'x')
      },
      ['dist/mine.js'],
    )
    expect(ran.changed).toEqual(['dist/mine.js', 'dist/named.js', 'dist/tracked.test.js'])
  })

  it('goes by the `.gitignore` files of the confirmation: those that changed since are named', async () => {
    const scene = dist(checkScene(), 'node_modules/\n')
    const ran = await ranAfter(scene, command('./build.sh'), () => scene.write('.gitignore', 'dist/\n'))
    expect(ran.changed).toEqual(['.gitignore'])
    const other = dist(checkScene(), 'node_modules/\n')
    other.script('none.sh', 'exit 0')
    const none = await ranAfter(other, command('./none.sh'), () => other.write('.gitignore', 'dist/\n'))
    expect(none.changed).toEqual([])
  })

  it('goes by no other rules of git', async () => {
    const scene = dist(checkScene(), '')
    scene.write('ignored', 'dist/\n')
    const ran = await ranAfter(scene, command('./build.sh'), () => {
      scene.write('.git/info/exclude', 'dist/\n')
      execFileSync('git', ['-C', scene.folder, 'config', 'core.excludesFile', join(scene.folder, 'ignored')])
    })
    expect(ran.changed).toEqual(['dist/a.test.js'])
  })
})

describe('what is built, by a rule of the agent', () => {
  const tested = (scene: CheckScene): CheckScene => {
    execFileSync('git', ['init', '-q', scene.folder])
    scene.write('.gitignore', 'build/\n')
    scene.write('build/lib/tests/test_a.py', '')
    scene.script('check.sh', 'exit 0')
    return scene
  }

  it('is named by a `.gitignore` that ignores itself', async () => {
    const scene = tested(checkScene())
    const ran = await ranAfter(scene, command('./check.sh'), () => {
      scene.write('dist/.gitignore', '*\n')
      scene.write('dist/new.test.js', '')
    })
    expect(ran.changed).toEqual(['dist/.gitignore'])
  })

  it('is nothing that other `.gitignore` files say, as caches have them', async () => {
    const scene = tested(checkScene())
    const ran = await ranAfter(scene, command('./check.sh'), () => {
      for (const cache of ['.pytest_cache', 'htmlcov', 'build/lib/cache']) scene.write(`${cache}/.gitignore`, '*\n')
    })
    expect(ran.changed).toEqual([])
  })

  it('is not an empty folder with the name of a target', async () => {
    const scene = tested(checkScene())
    const ran = await ranAfter(scene, command('sh', '-c', 'true', 'verify'), () =>
      mkdirSync(join(scene.folder, 'verify')),
    )
    expect(ran.changed).toEqual(['verify/'])
  })

  it('is not a folder that a link of the check leads to', async () => {
    const scene = tested(checkScene())
    scene.write('cases/greets.js', '')
    symlinkSync('cases', join(scene.folder, 'linked'))
    const ran = await ranAfter(scene, command('sh', '-c', 'true', 'linked'), () => scene.write('cases/greets.js', '0'))
    expect(ran.changed).toEqual(['cases/greets.js'])
  })

  it('goes by the rules of the repository around the workspace, too', async () => {
    const scene = checkScene()
    execFileSync('git', ['init', '-q', dirname(scene.folder)])
    writeFileSync(join(dirname(scene.folder), '.gitignore'), 'dist/\n')
    scene.script('check.sh', 'mkdir -p dist; date +%N > dist/a.test.js')
    scene.write('.gitignore', '')
    const ran = await ranAfter(scene, command('./check.sh'), () => scene.write('.gitignore', 'x\n'))
    expect(ran.changed).toEqual([])
  })
})

describe('the table of protected files has', () => {
  it.each([
    'test/a.js',
    'a/__tests__/b.ts',
    'pkg/a_test.go',
    'test_a.py',
    'a.spec.ts',
    'a/__snapshots__/b.snap',
    '.mocharc.json',
    'web/tsconfig.app.json',
    'jest.config.js',
    'vitest.workspace.ts',
    '.babelrc',
    'pytest.ini',
    '.npmrc',
    '.yarnrc.yml',
    '.env',
    '.env.test',
    'package.json',
    'pyproject.toml',
    'conftest.py',
    'Cargo.toml',
    'Makefile',
    'justfile',
    'package-lock.json',
    'node_modules/.bin/jest',
    'pkg/testdata/greet.golden',
    'cases/expected.txt',
    'ada.expected',
    'src/greet.snap',
    'snapshots/greet.json',
    'test-utils/same.js',
    'Greet.Tests/A.cs',
    'src/GreetTest.java',
    't/greet.t',
    '.golangci.yml',
    'eslint-suppressions.json',
    'phpstan-baseline.neon',
    'mypy-baseline.txt',
    'android/lint-baseline.xml',
    '.basedpyright/baseline.json',
    '.betterer.results',
    'src/__image_snapshots__/a.png',
    'src/__screenshots__/a/b.png',
    'src/__file_snapshots__/a.html',
    'features/step_definitions/steps.js',
    'e2e-app/features/steps/steps.py',
    'features/support/env.js',
    'cucumber.js',
    'cucumber.yml',
    'src/tests.rs',
    'src/spec.js',
    'test_add.c',
    'test-add.cpp',
    'test.sh',
    'src/a.e2e-spec.ts',
    'a.robot',
    'src/androidTest/A.kt',
    'AppUITests/A.swift',
    'src/GreetIT.java',
    'goldens/a.png',
    'pyrightconfig.json',
    '.mypy.ini',
    'pylintrc',
    'phpstan.neon.dist',
    'psalm.xml',
    'analysis_options.yaml',
    '.swiftlint.yml',
    '.yamllint',
    '.shellcheckrc',
    'detekt.yml',
    '.size-limit.json',
  ])('[CR17] %s', path => {
    expect(globsOf(DEFAULT_PROTECT).matches(path)).toBe(true)
  })

  it.each([
    'src/a.ts',
    'include/expected.hpp',
    'src/user-verified.ts',
    'src/Contest.java',
    'README.md',
    'src/latest.ts',
    'docs/testing.md',
    'node_modules/a/index.js',
    '.github/a.yml',
    '.eslintcache',
    'src/features/login/index.ts',
    'src/features/support/chat.ts',
    'test_add.o',
    'docs/spec.md',
    'src/AUDIT.java',
    'src/contest/a.ts',
    'docs/screenshots/a.png',
    'src/baseline.ts',
    '.vimrc',
  ])('[CR17] not %s', path => {
    expect(globsOf(DEFAULT_PROTECT).matches(path)).toBe(false)
  })
})
