import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type CheckScene, checkScene } from '../../test/support/check-scene.ts'
import { inLongRun } from '../../test/support/children.ts'
import { fault } from '../../test/support/faults.ts'
import { git, hasGit } from '../../test/support/repository.ts'
import { FileHasher } from './file-hash.ts'
import { fingerprint, LIMITS, type Limits } from './fingerprint.ts'
import type { Program } from '../domain/check.ts'
import { findProgram } from './program.ts'

function repository(): CheckScene {
  const scene = checkScene()
  git(scene.folder, 'init', '-q', '-b', 'main')
  scene.write('a.txt', 'a')
  scene.write('src/b.txt', 'b')
  scene.write('.gitignore', 'ignored/\n')
  git(scene.folder, 'add', '.')
  git(scene.folder, 'commit', '-qm', 'one')
  return scene
}

interface Options {
  readonly also?: readonly string[]
  readonly hasher?: FileHasher
  readonly exclude?: readonly string[]
  readonly limits?: Partial<Limits>
}

function taken(scene: CheckScene, { hasher = new FileHasher(), exclude = [], also, limits = {} }: Options = {}) {
  const path = scene.env['PATH'] ?? ''
  const { path: program } = findProgram('git', { workspace: scene.workspace, cwd: '/', path }) as Program
  const root = scene.workspace.path
  return fingerprint({ root, git: { program, path }, exclude, also, limits: { ...LIMITS, ...limits } }, hasher)
}

fault('a workspace that hides a change, or attacks who reads it')

describe.runIf(hasGit)('a fingerprint (needs git)', () => {
  it('[CR18] changes with contents, names, modes and links, tracked or not', () => {
    const scene = repository()
    const seen = [taken(scene)]
    const after = (change: () => void): void => {
      change()
      seen.push(taken(scene))
    }
    after(() => scene.write('a.txt', 'A'))
    after(() => scene.write('new.txt', 'n'))
    after(() => scene.write('new.txt', 'N'))
    after(() => renameSync(join(scene.folder, 'new.txt'), join(scene.folder, 'newer.txt')))
    after(() => chmodSync(join(scene.folder, 'a.txt'), 0o755))
    after(() => symlinkSync('a.txt', join(scene.folder, 'link')))
    after(() => {
      rmSync(join(scene.folder, 'link'))
      symlinkSync('src/b.txt', join(scene.folder, 'link'))
    })
    after(() => rmSync(join(scene.folder, 'src/b.txt')))
    after(() => scene.write('tab\there\nand "there"', 'x'))
    after(() => writeFileSync(Buffer.concat([Buffer.from(`${scene.folder}/`), Buffer.from([0xff])]), 'x'))
    expect(seen).not.toContain(undefined)
    expect(new Set(seen).size).toBe(seen.length)
  })

  it('[TC8] changes with an ignored file that a check names', () => {
    const scene = repository()
    const also = ['./ignored/out.txt', 'a.txt']
    const plain = taken(scene)
    expect(taken(scene, { also })).toBe(plain)
    const seen = new Set([plain])
    for (const content of ['1', '2']) {
      scene.write('ignored/out.txt', content)
      expect(taken(scene)).toBe(plain)
      seen.add(taken(scene, { also }))
    }
    expect(seen.size).toBe(3)
  })

  it('[CR18] stays where nothing in the files changes: ignored ones, times, staging, commits, branches', () => {
    const scene = repository()
    scene.write('a.txt', 'A')
    const before = taken(scene)
    scene.write('ignored/x', 'x')
    utimesSync(join(scene.folder, 'a.txt'), 1, 1)
    expect(taken(scene)).toBe(before)
    git(scene.folder, 'add', '.')
    expect(taken(scene)).toBe(before)
    git(scene.folder, 'commit', '-qm', 'two')
    git(scene.folder, 'switch', '-qc', 'other')
    expect(taken(scene)).toBe(before)
    scene.write('a.txt', 'other')
    scene.write('a.txt', 'A')
    expect(taken(scene)).toBe(before)
  })

  it('[CR18] leaves out the data folder and .agents', () => {
    const scene = repository()
    const exclude = ['.agents', 'données/runsheet']
    const before = taken(scene, { exclude })
    scene.write('.agents/tasks.json', '{}')
    scene.write('données/runsheet/runsheet.db', 'x')
    expect(taken(scene, { exclude })).toBe(before)
    scene.write('données/runsheet2', 'x')
    expect(taken(scene, { exclude })).not.toBe(before)
  })

  it('[CR18] is of the workspace only, if that is a part of a repository', () => {
    const scene = repository()
    const part = { ...scene, workspace: { machine: 'here', path: join(scene.folder, 'src') } }
    const before = taken(part)
    scene.write('a.txt', 'A')
    expect(taken(part)).toBe(before)
    scene.write('src/b.txt', 'B')
    expect(taken(part)).not.toBe(before)
  })

  it('[CR18] works in the middle of a rebase, and sees how a conflict is resolved', () => {
    const scene = repository()
    git(scene.folder, 'switch', '-qc', 'other')
    scene.write('a.txt', 'theirs')
    git(scene.folder, 'commit', '-qam', 'theirs')
    git(scene.folder, 'switch', '-q', 'main')
    scene.write('a.txt', 'ours')
    git(scene.folder, 'commit', '-qam', 'ours')
    expect(() => git(scene.folder, 'rebase', 'other')).toThrow()
    expect(existsSync(join(scene.folder, '.git/rebase-merge'))).toBe(true)
    const before = taken(scene)
    scene.write('a.txt', 'both')
    expect(before).toBeDefined()
    expect(taken(scene)).not.toBe(before)
  })

  it('[CR18] reads no file through a linked folder', () => {
    const scene = repository()
    scene.write('../outside/b.txt', 'secret')
    rmSync(join(scene.folder, 'src'), { recursive: true })
    symlinkSync('../outside', join(scene.folder, 'src'))
    const before = taken(scene)
    scene.write('../outside/b.txt', 'changed')
    expect(before).toBeDefined()
    expect(taken(scene)).toBe(before)
  })

  it('[CR19] is none without a repository, in an ignored folder of one, and in an empty one', () => {
    expect(taken(checkScene())).toBeUndefined()
    const scene = repository()
    scene.write('ignored/x', 'x')
    const ignored = { ...scene, workspace: { machine: 'here', path: join(scene.folder, 'ignored') } }
    expect(taken(ignored)).toBeUndefined()
    git(scene.folder, 'add', '-f', 'ignored/x')
    expect(taken(ignored)).toBeUndefined()
    const empty = checkScene()
    git(empty.folder, 'init', '-q')
    expect(taken(empty)).toBeUndefined()
    const damaged = repository()
    writeFileSync(join(damaged.folder, '.git/index'), 'x')
    expect(taken(damaged)).toBeUndefined()
  })

  it('[CR19] is none where git does not see all: submodules and repositories inside', () => {
    const scene = repository()
    const inner = repository()
    git(scene.folder, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner.folder, 'sub')
    expect(taken(scene)).toBeUndefined()
    git(scene.folder, 'submodule', '--quiet', 'deinit', '-f', 'sub')
    expect(taken(scene)).toBeDefined()
    const nested = repository()
    git(nested.folder, 'init', '-q', 'data/nested')
    nested.write('data/nested/x', 'x')
    expect(taken(nested)).toBeUndefined()
    expect(taken(nested, { exclude: ['data'] })).toBeDefined()
  })

  it('[CR19] is none above its limits, or where a file cannot be hashed', () => {
    const scene = repository()
    expect(taken(scene, { limits: { files: 3 } })).toBeDefined()
    expect(taken(scene, { limits: { files: 2 } })).toBeUndefined()
    scene.write('untracked', 'x'.repeat(1_000))
    expect(taken(scene, { limits: { files: 3 } })).toBeUndefined()
    expect(taken(scene, { limits: { bytes: 1_050 } })).toBeDefined()
    expect(taken(scene, { limits: { bytes: 1_000 } })).toBeUndefined()
  })

  it('[CR19] a repository of too many files is answered without reading them', () => {
    const scene = repository()
    const count = inLongRun(100_000, 1_000)
    const hasher = new FileHasher()
    for (let at = 0; at < count; at += 1) {
      if (at % 1_000 === 0) mkdirSync(join(scene.folder, `many/${at / 1_000}`), { recursive: true })
      writeFileSync(join(scene.folder, `many/${Math.floor(at / 1_000)}/${at}`), 'x')
    }
    const limits = { files: inLongRun(20_000, 200) }
    expect(taken(scene, { hasher, limits })).toBeUndefined()
    git(scene.folder, 'add', '.')
    expect(taken(scene, { hasher, limits })).toBeUndefined()
    expect(hasher.reads).toBe(0)
  })

  it('[CR20] nothing that a repository configures is run', () => {
    const scene = repository()
    const spy = scene.script('../spy', `echo ran >>${join(scene.folder, '../ran')}`, 'cat')
    for (const [name, value] of [
      ['core.fsmonitor', spy],
      ['core.hooksPath', join(scene.folder, '..')],
      ['core.pager', spy],
      ['core.sshCommand', spy],
      ['core.attributesFile', join(scene.folder, '.gitattributes')],
      ['filter.spy.clean', spy],
      ['filter.spy.smudge', spy],
      ['filter.spy.process', spy],
      ['diff.external', spy],
      ['alias.ls-files', `!${spy}`],
    ] as const) {
      git(scene.folder, 'config', name, value)
    }
    scene.write('.gitattributes', '* filter=spy\n')
    scene.script('../post-index-change', `echo ran >>${join(scene.folder, '../ran')}`)
    const before = taken(scene)
    scene.write('a.txt', 'A')
    expect(before).toBeDefined()
    expect(taken(scene)).not.toBe(before)
    expect(existsSync(join(scene.folder, '../ran'))).toBe(false)
  })

  it('[CR20] no variable of git reaches it, and no configuration of the user', () => {
    const scene = repository()
    const other = repository()
    const before = taken(scene)
    process.env['GIT_DIR'] = join(other.folder, '.git')
    process.env['GIT_INDEX_FILE'] = join(other.folder, '.git/index')
    try {
      expect(taken(scene)).toBe(before)
    } finally {
      delete process.env['GIT_DIR']
      delete process.env['GIT_INDEX_FILE']
    }
  })
})

describe('remembered hashes', () => {
  /** Long after the files were written. */
  const later = (): number => Date.now() + 60_000

  it.runIf(hasGit)('[CR21] a file that was not touched is not read again (needs git)', () => {
    const scene = repository()
    const hasher = new FileHasher(later)
    const first = taken(scene, { hasher })
    expect(hasher.reads).toBe(3)
    expect(taken(scene, { hasher })).toBe(first)
    expect(hasher.reads).toBe(3)
    scene.write('a.txt', 'A')
    expect(taken(scene, { hasher })).not.toBe(first)
    expect(hasher.reads).toBe(4)
  })

  it('[CR21] backdating a file, or putting another in its place, does not help', () => {
    const scene = checkScene()
    const file = scene.write('a', 'one')
    utimesSync(file, 1_000, 1_000)
    const hasher = new FileHasher(later)
    const one = hasher.hash(file)
    scene.write('a', 'two')
    utimesSync(file, 1_000, 1_000)
    const two = hasher.hash(file)
    expect(two).not.toBe(one)
    const other = scene.write('b', 'six')
    utimesSync(other, 1_000, 1_000)
    renameSync(other, file)
    expect(hasher.hash(file)).not.toBe(two)
    expect(hasher.reads).toBe(3)
  })

  it('[CR21] of a file that was written a moment ago is not remembered: clocks of file systems are coarse', () => {
    const file = checkScene().write('a', 'one')
    for (const now of [Date.now, () => 0]) {
      const hasher = new FileHasher(now)
      expect(hasher.hash(file)).toBe(hasher.hash(file))
      expect(hasher.reads).toBe(2)
    }
  })
})
