import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { checkScene, type CheckScene } from '../../test/support/check-scene.ts'
import { FileHasher, filesOf, hashFiles, type FilesRequest } from './files.ts'
import { LIMITS } from './fingerprint.ts'

const hashed = ({ folder }: CheckScene, globs: readonly string[], options: Partial<FilesRequest> = {}) => {
  const request = { root: folder, globs, paths: [], exclude: ['.agents'], limits: LIMITS, ...options }
  const found = filesOf(request)
  return found && hashFiles(request, found, new FileHasher())
}

const names = (...args: Parameters<typeof hashed>): readonly string[] => [...(hashed(...args)?.keys() ?? [])]

describe('the files that globs match', () => {
  it('are sorted, dot files included, without .git, .agents and other people’s modules', () => {
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

  it('are hashed; a link is its text and, inside the workspace, what it leads to', () => {
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

  it.runIf(process.platform === 'linux')('may be pipes, unreadable or oddly named: none is waited for', () => {
    const scene = checkScene()
    execFileSync('mkfifo', [join(scene.folder, 'pipe')])
    chmodSync(scene.write('closed', 'x'), 0)
    for (const path of ['__proto__', 'new\nline', '日本 語']) scene.write(path, 'x')
    expect(names(scene, ['**'])).toEqual(['__proto__', 'closed', 'new\nline', 'pipe', '日本 語'])
  })

  it('are none if they are too many, too large or too far apart', () => {
    const scene = checkScene()
    for (let at = 0; at < 30; at += 1) scene.write(`${at}.txt`, 'x'.repeat(10))
    expect(hashed(scene, ['*'], { limits: { files: 30, bytes: 300 } })?.size).toBe(30)
    expect(hashed(scene, ['*'], { limits: { files: 29, bytes: 300 } })).toBeUndefined()
    expect(hashed(scene, ['*'], { limits: { files: 30, bytes: 299 } })).toBeUndefined()
    expect(hashed(scene, ['1.txt'], { limits: { files: 3, bytes: 300 } })?.size).toBe(1)
    expect(hashed(scene, ['1.txt'], { limits: { files: 2, bytes: 300 } })).toBeUndefined()
  })
})
