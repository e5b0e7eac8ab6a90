import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type CheckScene, checkScene } from '../../test/support/check-scene.ts'
import { git, hasGit } from '../../test/support/repository.ts'
import { DEFAULT_PROTECT, type RunnableCheck, type RunnableSpec } from '../domain/check.ts'
import { redactor } from '../domain/redact.ts'
import { approvalHash } from './hash.ts'
import { lookAt } from './look.ts'
import { type CheckOptions, runCheck } from './run-check.ts'

const options = (scene: CheckScene, more: Partial<CheckOptions> = {}): CheckOptions => ({
  ...scene,
  dataFolder: join(scene.folder, 'data'),
  protect: DEFAULT_PROTECT,
  redact: redactor(),
  ...more,
})

const approved = <S extends RunnableSpec>(scene: CheckScene, spec: S): S & Pick<RunnableCheck, 'id' | 'hash'> => ({
  ...spec,
  id: 'c1',
  hash: approvalHash(spec, scene),
})

describe('a run of a check', () => {
  it('[CR22] has a result, how long it took, and what it was about', async () => {
    const scene = checkScene()
    scene.write('package.json', '{}')
    scene.script('check.sh', 'echo hi; exit 1')
    const run = await runCheck(approved(scene, { kind: 'command', run: ['./check.sh'] }), options(scene))
    expect(run).toMatchObject({ result: 'failed', exit: 1, tail: 'hi\n', duration_ms: expect.any(Number) })
    expect(Object.keys(run.files ?? {})).toEqual(['check.sh', 'package.json'])
    expect(run).not.toHaveProperty('guarded')
    expect(run.fingerprint).toMatch(/^[0-9a-f]{64}$/)
    scene.write('../outside', 'x')
    symlinkSync('../outside', join(scene.folder, 'link'))
    expect(await runCheck(approved(scene, { kind: 'file', path: 'a' }), options(scene))).not.toHaveProperty(
      'fingerprint',
    )
  })

  it('[CR22] names the guarded files that differ from the baseline', async () => {
    const scene = checkScene()
    scene.write('a.test.js', 'one')
    const check = approved(scene, { kind: 'file', path: 'a.test.js' })
    const other = approved(scene, { kind: 'file', path: 'b' })
    const { files: baseline } = await runCheck(check, options(scene))
    scene.write('a.test.js', 'two')
    expect(await runCheck(check, options(scene, { baseline }))).toMatchObject({ result: 'passed', guarded: [] })
    expect(await runCheck(other, options(scene, { baseline }))).toMatchObject({ guarded: ['a.test.js'] })
  })

  it('[CR22] can be compared with one look at what all checks are about', async () => {
    const scene = checkScene()
    for (const path of ['a.test.js', 'check.sh', 'src/a', 'other']) scene.script(path)
    const command = approved(scene, { kind: 'command', run: ['./check.sh'] })
    const unchanged = approved(scene, { kind: 'unchanged', paths: ['src/**'] })
    const { files } = await lookAt([command, unchanged], options(scene))
    expect([...(files?.keys() ?? [])]).toEqual(['a.test.js', 'check.sh', 'src/a'])
    const compared = options(scene, { baseline: Object.fromEntries(files ?? []) })
    expect(await runCheck(command, compared)).toMatchObject({ result: 'passed', guarded: [] })
    expect(await runCheck(unchanged, compared)).toMatchObject({ result: 'passed', guarded: [] })
  })

  it('[CR22] tells nothing of files that are too many', async () => {
    const scene = checkScene()
    for (const path of ['a.test.js', 'b.test.js']) scene.write(path, 'x')
    const limits = { files: 1 }
    const run = await runCheck(
      approved(scene, { kind: 'file', path: 'a.test.js' }),
      options(scene, { limits, baseline: {} }),
    )
    expect(run).toMatchObject({ result: 'passed' })
    expect(run).not.toHaveProperty('files')
    expect(run).not.toHaveProperty('guarded')
    const unchanged = approved(scene, { kind: 'unchanged', paths: ['*'] })
    expect(await runCheck(unchanged, options(scene, { limits, baseline: {} }))).toMatchObject({
      result: 'inconclusive',
    })
  })

  it('[CR16] [CR22] compares unchanged files with what an earlier run saw', async () => {
    const scene = checkScene()
    scene.write('src/a.js', 'one')
    const check = approved(scene, { kind: 'unchanged', paths: ['src/**'] })
    const first = await runCheck(check, options(scene))
    expect(first).toMatchObject({ result: 'inconclusive', files: { 'src/a.js': expect.any(String) } })
    const baseline = first.files
    expect(await runCheck(check, options(scene, { baseline }))).toMatchObject({ result: 'passed' })
    scene.write('src/a.js', 'two')
    expect(await runCheck(check, options(scene, { baseline }))).toMatchObject({ result: 'failed' })
  })

  it('[CR22] runs nothing but what was approved', async () => {
    const scene = checkScene()
    const check = approved(scene, { kind: 'command', run: ['touch', 'ran'] })
    const reason = expect.stringMatching(
      /^What it runs has changed since it was approved: .* A person can approve it again/,
    )
    const refused = { result: 'inconclusive', reason, changed: true }
    for (const [forged, more] of [
      [{ ...check, run: ['touch', 'ran', 'more'] }, {}],
      [{ ...check, timeout_ms: 1_000 }, {}],
      [check, { wrap: ['env'] }],
      [check, { env: { ...scene.env, PATH: '/nowhere' } }],
      [check, { workspace: { ...scene.workspace, machine: 'elsewhere' } }],
    ] as const) {
      expect(await runCheck(forged, options(scene, more))).toMatchObject(refused)
    }
    expect(await runCheck(approved(scene, { kind: 'file', path: 'ran', absent: true }), options(scene))).toMatchObject({
      result: 'passed',
    })
  })

  it('[CR22] asks right before it starts, and does not start if that fails', async () => {
    const scene = checkScene()
    const check = approved(scene, { kind: 'command', run: ['touch', 'ran'] })
    const beforeStart = () => Promise.reject(new Error('the lease is lost'))
    await expect(runCheck(check, options(scene, { beforeStart }))).rejects.toThrow('the lease is lost')
    const absent = approved(scene, { kind: 'file', path: 'ran', absent: true })
    expect(await runCheck(absent, options(scene))).toMatchObject({ result: 'passed' })
  })

  it.runIf(hasGit)('[CR22] has the fingerprint from before the run, without our own files (needs git)', async () => {
    const scene = checkScene()
    git(scene.folder, 'init', '-q')
    scene.write('a', 'a')
    const check = approved(scene, { kind: 'command', run: ['touch', 'b'] })
    const first = await runCheck(check, options(scene))
    const second = await runCheck(check, options(scene))
    expect(first.fingerprint).toMatch(/^[0-9a-f]{64}$/)
    expect(second.fingerprint).not.toBe(first.fingerprint)
    scene.write('data/runsheet.db', 'x')
    scene.write('.agents/tasks.json', 'x')
    expect((await runCheck(check, options(scene))).fingerprint).toBe(second.fingerprint)
    const inside = { ...scene, workspace: { machine: 'here', path: join(scene.folder, 'data') } }
    const own = await runCheck(approved(inside, { kind: 'file', path: 'runsheet.db' }), options(inside))
    expect(own.fingerprint).toBeDefined()
  })
})
