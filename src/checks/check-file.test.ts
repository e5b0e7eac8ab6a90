import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, symlinkSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type CheckScene, checkScene } from '../../test/support/check-scene.ts'
import type { FileCheck } from '../core/proof/check.ts'
import { checkFile } from './check-file.ts'

const look = ({ workspace }: CheckScene, path: string, options: Partial<FileCheck> = {}, maxBytes?: number) =>
  checkFile({ kind: 'file', path, ...options }, workspace, maxBytes)

describe('a check of a file', () => {
  it('passes if a regular file of the workspace exists and is not empty', async () => {
    const scene = checkScene()
    scene.write('docs/a.md', '# A')
    scene.write('empty', '')
    symlinkSync('docs/a.md', join(scene.folder, 'link'))
    expect(await look(scene, 'docs/a.md')).toEqual({ result: 'passed' })
    expect(await look(scene, 'link')).toEqual({ result: 'passed' })
    expect(await look(scene, 'none')).toEqual({ result: 'failed', reason: 'none does not exist.' })
    expect(await look(scene, 'docs/a.md/b')).toMatchObject({ result: 'failed' })
    expect(await look(scene, 'empty')).toEqual({ result: 'failed', reason: 'empty is empty.' })
    expect(await look(scene, 'docs')).toEqual({ result: 'failed', reason: 'docs is not a regular file.' })
  })

  it('fails at a link that leads out, or nowhere', async () => {
    const scene = checkScene()
    scene.write('../outside', 'x')
    symlinkSync('../outside', join(scene.folder, 'out'))
    symlinkSync('nowhere', join(scene.folder, 'dangling'))
    expect(await look(scene, 'out')).toEqual({ result: 'failed', reason: 'out leads out of the workspace.' })
    expect(await look(scene, 'dangling')).toMatchObject({ result: 'failed' })
  })

  it.runIf(process.platform !== 'win32')('does not wait for a pipe', async () => {
    const scene = checkScene()
    execFileSync('mkfifo', [join(scene.folder, 'pipe')])
    expect(await look(scene, 'pipe', { contains: 'x' })).toMatchObject({ result: 'failed' })
  })

  it('passes if nothing at all is there, where it must be absent', async () => {
    const scene = checkScene()
    scene.write('file', '')
    mkdirSync(join(scene.folder, 'folder'))
    symlinkSync('nowhere', join(scene.folder, 'dangling'))
    expect(await look(scene, 'none', { absent: true })).toEqual({ result: 'passed' })
    expect(await look(scene, 'file/below', { absent: true })).toEqual({ result: 'passed' })
    for (const path of ['file', 'folder', 'dangling']) {
      expect(await look(scene, path, { absent: true })).toEqual({ result: 'failed', reason: `${path} exists.` })
    }
  })

  it('finds its text, as far as it reads', async () => {
    const scene = checkScene()
    const file = scene.write('big', `${'x'.repeat(70_000)}needle`)
    expect(await look(scene, 'big', { contains: 'xneedle' })).toEqual({ result: 'passed' })
    expect(await look(scene, 'big', { contains: 'Needle' })).toMatchObject({ result: 'failed' })
    expect(await look(scene, 'big', { contains: 'needle' }, 70_000)).toMatchObject({ result: 'inconclusive' })
    truncateSync(file, 100_000_000)
    expect(await look(scene, 'big', { contains: 'needle!' })).toMatchObject({
      result: 'inconclusive',
      reason: 'big is larger than 64 MB, so it was not searched.',
    })
  })

  it('says nothing once the workspace is gone', async () => {
    const scene = checkScene()
    rmSync(scene.folder, { recursive: true })
    expect(await look(scene, 'a')).toMatchObject({ result: 'inconclusive' })
    expect(await look(scene, 'a', { absent: true })).toMatchObject({ result: 'inconclusive' })
  })
})
