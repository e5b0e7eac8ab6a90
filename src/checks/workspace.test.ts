import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, realpathSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { checkScene } from '../../test/support/check-scene.ts'
import { scratchFolder } from '../../test/support/scratch.ts'
import { Obstacle } from './obstacle.ts'
import { fileIn, folderIn, machineId, openWorkspace, pathFrom } from './workspace.ts'

function scratch(): string {
  const folder = realpathSync(scratchFolder())
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

const reason = (found: unknown): string => (found instanceof Obstacle ? found.reason : `found ${String(found)}`)

describe('a workspace', () => {
  it('is a folder by its real path', () => {
    const root = scratch()
    mkdirSync(join(root, 'real'))
    writeFileSync(join(root, 'file'), '')
    symlinkSync('real', join(root, 'link'))
    expect(openWorkspace(join(root, 'link'), 'here')).toEqual({ machine: 'here', path: join(root, 'real') })
    expect(reason(openWorkspace(join(root, 'file'), 'here'))).toContain('is not a folder')
    expect(reason(openWorkspace(join(root, 'none'), 'here'))).toContain('no such file or directory')
  })

  it('is on a machine that keeps its name, also if several processes ask first', async () => {
    const folder = join(scratch(), 'config', 'runsheet')
    const module = fileURLToPath(new URL('./workspace.ts', import.meta.url))
    const script = `import(${JSON.stringify(module)}).then(m => console.log(m.machineId(${JSON.stringify(folder)}, 'h')))`
    const asked = await Promise.all([1, 2, 3].map(() => promisify(execFile)(process.execPath, ['-e', script])))
    const names = new Set(asked.map(({ stdout }) => stdout.trim()))
    expect([...names]).toEqual([machineId(folder, 'h')])
    expect(machineId(folder, 'h')).toMatch(/^h-[0-9a-f]{12}$/)
    expect(machineId(folder, 'other:host/x')).toMatch(/^other-host-x-[0-9a-f]{12}$/)
    expect(statSync(join(folder, 'machine-id')).mode & 0o777).toBe(0o600)
  })

  it('a damaged id is an error that says what to do', () => {
    const folder = scratch()
    writeFileSync(join(folder, 'machine-id'), 'x')
    expect(() => machineId(folder)).toThrow(/Delete it/)
    expect(readFileSync(join(folder, 'machine-id'), 'utf8')).toBe('x')
  })

  it('holds its files and folders; links may lead around in it, not out of it', () => {
    const { workspace, folder, write } = checkScene()
    write('a/b.txt', 'x')
    write('../outside.txt', 'x')
    symlinkSync('a/b.txt', join(folder, 'inner'))
    symlinkSync('../outside.txt', join(folder, 'outer'))
    symlinkSync('..', join(folder, 'up'))
    symlinkSync('nowhere', join(folder, 'dangling'))
    symlinkSync('circle', join(folder, 'circle'))
    expect(fileIn(workspace, 'a/b.txt')).toBe(join(folder, 'a/b.txt'))
    expect(fileIn(workspace, 'inner')).toBe(join(folder, 'a/b.txt'))
    expect(folderIn(workspace, '.')).toBe(folder)
    expect(reason(fileIn(workspace, 'a'))).toBe('a is not a regular file.')
    expect(reason(folderIn(workspace, 'inner'))).toBe('inner is not a folder.')
    for (const path of ['outer', 'up/outside.txt']) {
      expect(reason(fileIn(workspace, path))).toBe(`${path} leads out of the workspace.`)
    }
    for (const path of ['../outside.txt', 'a/../../outside.txt', join(folder, 'a/b.txt')]) {
      expect(reason(fileIn(workspace, path))).toBe(`${path} is not inside the workspace.`)
    }
    for (const path of ['dangling', 'circle', 'a/b.txt/c']) {
      expect(reason(fileIn(workspace, path))).toContain('cannot be found')
    }
  })

  it('a path is inside or not by its parts, not by its letters', () => {
    expect(pathFrom('/a/b', '/a/b')).toBe('')
    expect(pathFrom('/a/b', '/a/b/c/d')).toBe('c/d')
    expect(pathFrom('/a/b', '/a/b/..c')).toBe('..c')
    expect(pathFrom('/a/b', '/a/bc')).toBeUndefined()
    expect(pathFrom('/a/b', '/a')).toBeUndefined()
    expect(pathFrom('/', '/a')).toBe('a')
  })
})
