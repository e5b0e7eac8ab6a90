import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type CheckScene, checkScene } from '../../test/support/check-scene.ts'
import { type CommandCheck, DEFAULT_PROTECT } from '../domain/check.ts'
import { redactor } from '../domain/redact.ts'
import { approvalHash } from './hash.ts'
import { lookAt } from './look.ts'
import { runCheck } from './run-check.ts'

/** Its run before the work, and the one after it. */
async function bothRuns(scene: CheckScene, lines: readonly string[], work: () => void = () => {}) {
  execFileSync('git', ['init', '-q', scene.folder])
  scene.write('.gitignore', '.env\n*.txt\n*.js\n')
  scene.script('check.sh', ...lines)
  const spec: CommandCheck = { kind: 'command', run: ['./check.sh'] }
  const check = { ...spec, id: 'c1', hash: approvalHash(spec, scene) }
  const options = { ...scene, dataFolder: '/nowhere', protect: DEFAULT_PROTECT, redact: redactor() }
  const { files } = await lookAt([check], options)
  const before = Object.fromEntries(files ?? [])
  const { wrote, ...first } = await runCheck(check, { ...options, baseline: before, isFirst: true })
  work()
  const confirmed = { baseline: { ...before, ...wrote }, written: Object.keys(wrote ?? {}) }
  const later = await runCheck(check, { ...options, ...confirmed })
  return [first.guarded, later.guarded]
}

describe('what a check writes itself', () => {
  it.each([
    ['a new lockfile', '[ -e Cargo.lock ] || echo 1 > Cargo.lock'],
    ['a lockfile in another form', 'echo 4 > package-lock.json'],
    ['an ignored file in a folder of tests', 'mkdir -p spec; date +%N > spec/examples.txt'],
  ])('[CR28] before the work is no change: %s', async (_, line) => {
    const scene = checkScene()
    scene.write('package-lock.json', '3')
    // After the first run, a lockfile stays as it is.
    const lines = [`[ -e ran ] && ${line.includes('lock') ? 'exit 0' : 'true'}`, 'touch ran', line]
    expect(await bothRuns(scene, lines)).toEqual([[], []])
  })

  it('[CR28] again and again is no change, whoever else runs it', async () => {
    const scene = checkScene()
    const work = (): void => void scene.write('spec/examples.txt', 'own run')
    expect(await bothRuns(scene, ['mkdir -p spec; date +%N > spec/examples.txt'], work)).toEqual([[], []])
  })

  it.each([
    ['a file that git does not ignore', 'mkdir -p test; date +%N > test/data.json', 'test/data.json'],
    ['a setting, even if it is ignored', 'date +%N > .env', '.env'],
    ['a test, even if it is ignored', 'mkdir -p test; date +%N > test/a.test.js', 'test/a.test.js'],
  ])('[CR28] counts as changed if it is %s', async (_, line, path) => {
    expect(await bothRuns(checkScene(), [line])).toEqual([[path], [path]])
  })

  it('[CR28] once counts as changed when somebody else changes it', async () => {
    const scene = checkScene()
    const lines = ['[ -e test/made.txt ] || { mkdir -p test; echo 1 > test/made.txt; echo 1 > yarn.lock; }']
    const work = (): void => {
      scene.write('test/made.txt', '2')
      scene.write('yarn.lock', '2')
    }
    expect(await bothRuns(scene, lines, work)).toEqual([[], ['test/made.txt', 'yarn.lock']])
  })

  it('[CR28] in a later run counts as changed if it is a lockfile', async () => {
    const scene = checkScene()
    expect(await bothRuns(scene, ['date +%N > Cargo.lock'])).toEqual([[], ['Cargo.lock']])
  })

  const CACHE = 'mkdir -p tests/.cache; [ -e tests/.cache/.gitignore ] || echo "*" > tests/.cache/.gitignore'

  it('[CR28] before the work is no change: the cache of a runner in a folder of tests, which ignores itself', async () => {
    const scene = checkScene()
    scene.write('tests/data.json', '1')
    expect(await bothRuns(scene, [CACHE, 'date +%N > tests/.cache/last'])).toEqual([[], []])
  })

  it('[CR28] counts as changed if it is a `.gitignore` above guarded files, or one that is changed later', async () => {
    const scene = checkScene()
    scene.write('tests/data.json', '1')
    const above = await bothRuns(scene, ['echo "*" > tests/.gitignore'])
    expect(above).toEqual([['tests/.gitignore'], ['tests/.gitignore']])
    const other = checkScene()
    other.script('change.sh', 'exit 0')
    const work = (): void => void other.script('change.sh', 'echo "!a" >> tests/.cache/.gitignore')
    const changed = await bothRuns(other, [CACHE, 'sh -c "./change.sh"'], work)
    expect(changed[1]).toContain('tests/.cache/.gitignore')
  })
})

describe('a check that installs first', () => {
  const INSTALL = 'rm -rf node_modules/.bin; mkdir -p node_modules/.bin; ln -s ../t/t.js node_modules/.bin/t'
  const installed = (): CheckScene => {
    const scene = checkScene()
    scene.write('node_modules/t/t.js', '')
    scene.write('package-lock.json', '3')
    return scene
  }

  it.each([
    ['those that were there', INSTALL],
    ['new ones', ':'],
  ])('[CR28] writes lockfiles and the programs of npm again, with the same content: %s', async (_, before) => {
    const scene = installed()
    execFileSync('sh', ['-c', before], { cwd: scene.folder })
    const lines = [INSTALL, 'echo 3 > lock', 'tr -d "\\n" < lock > package-lock.json']
    expect(await bothRuns(scene, lines)).toEqual([[], []])
  })

  it.each([
    ['by what installs', 'x/x.js'],
    ['by somebody else', 't/t.js'],
  ])('[CR28] counts as changed if the programs are others later, %s', async (who, to) => {
    const scene = installed()
    scene.write('node_modules/x/x.js', '1')
    const link = `${INSTALL}; [ ! -e done ] || ln -sf ../${to} node_modules/.bin/t`
    const work = (): void => {
      scene.write('done', '')
      if (who === 'by somebody else') scene.write('node_modules/t/t.js', '2')
    }
    expect(await bothRuns(scene, [link], work)).toEqual([[], ['node_modules/.bin/t']])
  })

  it('[TC5] a program of npm that only a later run replaces and puts back counts as changed', async () => {
    const scene = installed()
    execFileSync('sh', ['-c', INSTALL], { cwd: scene.folder })
    const swap = '[ ! -e done ] || { rm node_modules/.bin/t; ln -s ../t/t.js node_modules/.bin/t; }'
    const work = (): void => void scene.write('done', '')
    expect(await bothRuns(scene, [swap], work)).toEqual([[], ['node_modules/.bin/t']])
  })

  it.each([
    ['is source', 'exit 0', []],
    ['is guarded if the check starts it', 'npx own --all', ['packages/own/src/cli.js']],
  ])('[TC6] a program of a package of the workspace itself %s', async (_, line, expected) => {
    const scene = installed()
    scene.write('packages/own/src/cli.js', '1')
    mkdirSync(join(scene.folder, 'node_modules/.bin'), { recursive: true })
    symlinkSync('../../packages/own/src/cli.js', join(scene.folder, 'node_modules/.bin/own'))
    const work = (): void => void scene.write('packages/own/src/cli.js', '2')
    expect(await bothRuns(scene, [`: || ${line}`], work)).toEqual([[], expected])
  })
})
