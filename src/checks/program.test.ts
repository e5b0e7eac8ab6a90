import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { checkScene, type CheckScene } from '../../test/support/check-scene.ts'
import type { CheckSpec } from '../core/proof/check.ts'
import { checkEnvironment, findProgram, searchPath } from './program.ts'
import { approvalHash } from './approval.ts'
import { Obstacle } from './obstacle.ts'

const find = ({ workspace, folder, env }: CheckScene, word: string, path = env['PATH'] ?? '') =>
  findProgram(word, { workspace, cwd: folder, path })

describe('the environment of a check', () => {
  it('[CR6] has PATH, HOME, LANG, CI, no new bytecode of Python, and what is configured, and none of our keys', () => {
    const { workspace } = checkScene()
    const ours = {
      PATH: '/usr/bin',
      HOME: '/home/me',
      LANG: 'C.UTF-8',
      RUNSHEET_TOKEN: 'x',
      OPENAI_API_KEY: 'x',
      NODE_OPTIONS: '--import=x',
      GIT_DIR: '/x',
    }
    expect(checkEnvironment(ours, workspace)).toEqual({
      PATH: '/usr/bin',
      HOME: '/home/me',
      LANG: 'C.UTF-8',
      CI: '1',
      PYTHONDONTWRITEBYTECODE: '1',
    })
    const configured = { CI: '', PYTHONDONTWRITEBYTECODE: '', A: 'b' }
    expect(checkEnvironment({}, workspace, configured)).toEqual({
      PATH: '/usr/local/bin:/usr/bin:/bin',
      CI: '',
      PYTHONDONTWRITEBYTECODE: '',
      A: 'b',
    })
  })

  it('[CR6] finds no program in the workspace, nor by a relative folder, not even a configured one', () => {
    const { workspace, folder } = checkScene()
    mkdirSync(join(folder, 'bin'))
    const link = join(folder, '..', 'link')
    symlinkSync(join(folder, 'bin'), link)
    const path = ['', '.', 'bin', folder, join(folder, 'bin'), join(folder, 'later'), link, '/usr/bin', `${folder}-2`]
    expect(searchPath(path.join(delimiter), workspace)).toBe(`/usr/bin:${folder}-2`)
    expect(checkEnvironment({}, workspace, { PATH: `${folder}:/opt/bin` })['PATH']).toBe('/opt/bin')
  })
})

describe('the program of a check', () => {
  it('[CR6] is found in the search path, past what cannot be run', () => {
    const scene = checkScene()
    const path = ['one', 'two', 'three'].map(name => join(scene.folder, '..', name)).join(delimiter)
    mkdirSync(join(scene.folder, '../one/tool'), { recursive: true })
    scene.write('../two/tool', 'x')
    expect((find(scene, 'tool', path) as Obstacle).reason).toContain('is a folder')
    const file = scene.script('../three/tool')
    expect(find(scene, 'tool', path)).toEqual({ path: file, file })
  })

  it('[CR6] keeps the name it was called by; its file is behind the link', () => {
    const scene = checkScene()
    const file = scene.script('../real')
    symlinkSync(file, join(scene.folder, 'tool'))
    expect(find(scene, './tool')).toEqual({ path: join(scene.folder, 'tool'), file })
    expect(find(scene, file)).toEqual({ path: file, file })
  })
})

describe('what is approved', () => {
  const command: CheckSpec = { kind: 'command', run: ['sh', '-c', 'x'], exit: 0, contains: 'a' }

  it('[CR7] changes with every field, the workspace, the wrapper and the program', () => {
    const scene = checkScene()
    const other = checkScene()
    const checks: CheckSpec[] = [
      command,
      { ...command, run: ['sh', '-c', 'y'] },
      { ...command, run: ['sh', '-cx'] },
      { ...command, run: ['sh -c', 'x'] },
      { ...command, cwd: 'a' },
      { ...command, exit: 1 },
      { ...command, contains: 'b' },
      { ...command, timeout_ms: 1_000 },
      { kind: 'file', path: 'a' },
      { kind: 'file', path: 'a', absent: true },
      { kind: 'file', path: 'a', contains: 'a' },
      { kind: 'unchanged', paths: ['a'] },
      { kind: 'unchanged', paths: ['a', 'b'] },
      { kind: 'person', ask: 'a' },
    ]
    const hashes = [
      ...checks.map(check => approvalHash(check, scene)),
      approvalHash(command, other),
      approvalHash(command, { ...scene, workspace: { ...scene.workspace, machine: 'elsewhere' } }),
      approvalHash(command, { ...scene, wrap: ['env'] }),
      approvalHash(command, { ...scene, wrap: ['env', '-i'] }),
      approvalHash(command, { ...scene, env: { ...scene.env, PATH: '/nowhere' } }),
    ]
    expect(new Set(hashes).size).toBe(hashes.length)
    expect(hashes.every(hash => /^[0-9a-f]{64}$/.test(hash))).toBe(true)
  })

  it('[CR7] is the same whatever the order of the fields, the id and a hash from outside', () => {
    const scene = checkScene()
    const same = { contains: 'a', exit: 0, run: ['sh', '-c', 'x'], kind: 'command', id: 'x', hash: 'y' } as const
    expect(approvalHash(same, scene)).toBe(approvalHash(command, scene))
  })

  it('[CR7] covers the place of a script that does not exist yet, and what a link to it leads to', () => {
    const scene = checkScene()
    const check: CheckSpec = { kind: 'command', run: ['./check.sh'] }
    const missing = approvalHash(check, scene)
    const file = scene.script('check.sh')
    expect(approvalHash(check, scene)).toBe(missing)
    chmodSync(file, 0o644)
    expect(approvalHash(check, scene)).toBe(missing)
    renameSync(file, join(scene.folder, 'other.sh'))
    symlinkSync('other.sh', file)
    expect(approvalHash(check, scene)).not.toBe(missing)
    rmSync(file)
  })
})
