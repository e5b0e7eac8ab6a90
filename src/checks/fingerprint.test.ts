import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { checkScene, type CheckScene } from '../../test/support/check-scene.ts'
import { inLongRun } from '../../test/support/children.ts'
import { fault } from '../../test/support/faults.ts'
import { git, hasGit } from '../../test/support/repository.ts'
import { FileHasher, type Limits } from './files.ts'
import { LIMITS, PLAIN_LIMITS, fingerprint, type FingerprintRequest } from './fingerprint.ts'
import type { Program } from '../core/proof/check.ts'
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

function request(scene: CheckScene, { exclude = [], also, limits = {} }: Options = {}): FingerprintRequest {
  const path = scene.env['PATH'] ?? ''
  const { path: program } = findProgram('git', { workspace: scene.workspace, cwd: '/', path }) as Program
  const root = scene.workspace.path
  return { root, git: { program, path }, exclude, also, limits: { ...LIMITS, ...limits } }
}

const taken = (scene: CheckScene, options: Options = {}) =>
  fingerprint(request(scene, options), options.hasher ?? new FileHasher())

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
    expect(seen).not.toContain(undefined)
    expect(new Set(seen).size).toBe(seen.length)
  })

  it('changes with an ignored file that a check names', () => {
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

  it('[CR18] counts a link with the file of the workspace that it leads to, ignored or not', () => {
    const scene = repository()
    scene.write('ignored/b.txt', 'b')
    rmSync(join(scene.folder, 'src/b.txt'))
    symlinkSync('../ignored/b.txt', join(scene.folder, 'src/b.txt'))
    const seen = [taken(scene)]
    scene.write('ignored/b.txt', 'B')
    seen.push(taken(scene))
    rmSync(join(scene.folder, 'ignored'), { recursive: true })
    seen.push(taken(scene))
    expect(seen).not.toContain(undefined)
    expect(new Set(seen).size).toBe(3)
  })

  it.each([
    ['a folder outside', '../outside', 'src'],
    ['a folder inside, whose files may be ignored', 'ignored', 'src'],
    ['a file outside', '../outside/b.txt', 'a.txt'],
  ])('is none if a link leads to %s', (_, target, link) => {
    const scene = repository()
    scene.write('../outside/b.txt', 'b')
    scene.write('ignored/b.txt', 'b')
    rmSync(join(scene.folder, link), { recursive: true })
    symlinkSync(target, join(scene.folder, link))
    expect(taken(scene)).toBeUndefined()
  })

  it('sees files that git is made to ignore, if they are named', () => {
    const scene = repository()
    scene.write('src/new.txt', 'n')
    const also = ['src/new.txt']
    scene.write('.git/info/exclude', 'src/new.txt\n')
    const before = taken(scene, { also })
    scene.write('src/new.txt', 'N')
    expect(taken(scene, { also })).not.toBe(before)
  })

  it('is none with a name that is not UTF-8', () => {
    const scene = repository()
    writeFileSync(Buffer.concat([Buffer.from(`${scene.folder}/`), Buffer.from([0xff])]), 'x')
    expect(taken(scene)).toBeUndefined()
  })

  it('is none where git cannot tell', () => {
    const empty = checkScene()
    git(empty.folder, 'init', '-q')
    expect(taken(empty)).toBeDefined()
    const damaged = repository()
    writeFileSync(join(damaged.folder, '.git/index'), 'x')
    expect(taken(damaged)).toBeUndefined()
  })

  it('of a folder that its repository ignores is of all files there, whatever git tracks of them', () => {
    const scene = repository()
    scene.write('ignored/x', 'x')
    const ignored = { ...scene, workspace: { machine: 'here', path: join(scene.folder, 'ignored') } }
    const before = taken(ignored)
    expect(before).toBeDefined()
    git(scene.folder, 'add', '-f', 'ignored/x')
    expect(taken(ignored)).toBe(before)
    scene.write('ignored/y', 'y')
    expect(taken(ignored)).not.toBe(before)
  })

  it('is none where git does not see all: submodules and repositories inside', () => {
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

  it('is none above its limits, or where a file cannot be hashed', () => {
    const scene = repository()
    expect(taken(scene, { limits: { files: 3 } })).toBeDefined()
    expect(taken(scene, { limits: { files: 2 } })).toBeUndefined()
    scene.write('untracked', 'x'.repeat(1_000))
    expect(taken(scene, { limits: { files: 3 } })).toBeUndefined()
    expect(taken(scene, { limits: { bytes: 1_050 } })).toBeDefined()
    expect(taken(scene, { limits: { bytes: 1_000 } })).toBeUndefined()
  })

  it('a repository of too many files is answered without reading them', () => {
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

  it('nothing that a repository configures is run', () => {
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

  it('no variable of git reaches it, and no configuration of the user', () => {
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

describe('a fingerprint without git', () => {
  const plainScene = (): CheckScene => {
    const scene = checkScene()
    scene.write('a.txt', 'a')
    scene.write('src/b.txt', 'b')
    return scene
  }
  const without = (scene: CheckScene, { exclude = [], limits = {}, hasher = new FileHasher() }: Options = {}) => {
    const root = scene.workspace.path
    return fingerprint({ root, git: undefined, exclude, limits: { ...LIMITS, ...limits } }, hasher)
  }

  it('changes with every file and link, in any folder', () => {
    const scene = plainScene()
    const seen = [without(scene)]
    const after = (change: () => void): void => {
      change()
      seen.push(without(scene))
    }
    after(() => scene.write('src/b.txt', 'B'))
    after(() => scene.write('.gitignore', '*\n'))
    after(() => scene.write('node_modules/x/index.js', 'x'))
    after(() => renameSync(join(scene.folder, 'a.txt'), join(scene.folder, 'c.txt')))
    after(() => chmodSync(join(scene.folder, 'c.txt'), 0o755))
    after(() => symlinkSync('c.txt', join(scene.folder, 'link')))
    expect(seen).not.toContain(undefined)
    expect(new Set(seen).size).toBe(seen.length)
  })

  it.runIf(hasGit)('with git: a `.git` that it does not take for a repository is none', () => {
    const scene = plainScene()
    const before = taken(scene)
    mkdirSync(join(scene.folder, '.git'))
    expect(before).toBeDefined()
    expect(taken(scene)).toBe(before)
  })

  it('leaves out .git, node_modules/.cache, the data folder and .agents', () => {
    const scene = plainScene()
    const exclude = ['.agents', 'données/runsheet']
    const before = without(scene, { exclude })
    for (const path of ['.git/x', 'src/.git', 'node_modules/.cache/x', '.agents/x', 'données/runsheet/x']) {
      scene.write(path, 'x')
    }
    expect(without(scene, { exclude })).toBe(before)
    scene.write('.cache/x', 'x')
    expect(without(scene, { exclude })).not.toBe(before)
  })

  it.each([
    ['a folder', 'src'],
    ['a folder above', '..'],
    ['a file outside', '../outside.txt'],
  ])('follows no link: one to %s leaves none', (_, target) => {
    const scene = plainScene()
    scene.write('../outside.txt', 'x')
    symlinkSync(target, join(scene.folder, 'link'))
    expect(without(scene)).toBeUndefined()
  })

  it('is none above 2,000 files and folders or 32 MB, or a lower limit, and nothing is read for that', () => {
    expect(PLAIN_LIMITS).toEqual({ files: 2_000, bytes: 32_000_000 })
    const scene = plainScene()
    const hasher = new FileHasher()
    expect(without(scene, { limits: { files: 3 } })).toBeDefined()
    expect(without(scene, { limits: { files: 2 }, hasher })).toBeUndefined()
    expect(without(scene, { limits: { bytes: 1 }, hasher })).toBeUndefined()
    for (let at = 0; at < 2_000; at += 1) mkdirSync(join(scene.folder, `empty/${at}`), { recursive: true })
    expect(without(scene, { hasher })).toBeUndefined()
    expect(hasher.reads).toBe(0)
  })

  it.runIf(hasGit)('is never of a repository that git cannot read (needs git)', () => {
    const scene = repository()
    scene.write('.git/config', '[')
    expect(taken(scene)).toBeUndefined()
  })
})

describe('remembered hashes', () => {
  /** Long after the files were written. */
  const later = (): number => Date.now() + 60_000

  it.runIf(hasGit)('a file that was not touched is not read again (needs git)', () => {
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

  it('backdating a file, or putting another in its place, does not help', () => {
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

  it('of a file that was written a moment ago is not remembered: clocks of file systems are coarse', () => {
    const file = checkScene().write('a', 'one')
    for (const now of [Date.now, () => 0]) {
      const hasher = new FileHasher(now)
      expect(hasher.hash(file)).toBe(hasher.hash(file))
      expect(hasher.reads).toBe(2)
    }
  })
})
