import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { checkScene, type CheckScene } from '../../test/support/check-scene.ts'
import { git, hasGit } from '../../test/support/repository.ts'
import type { RunnableCheck, RunnableSpec } from '../core/proof/check.ts'
import { redactor } from '../core/text/redact.ts'
import { approvalHash } from './approval.ts'
import { recordFiles, runCheck, type CheckOptions } from './run-check.ts'

const options = (scene: CheckScene, more: Partial<CheckOptions> = {}): CheckOptions => ({
  ...scene,
  dataFolder: join(scene.folder, 'data'),
  protect: [],
  redact: redactor(),
  ...more,
})

const approved = <S extends RunnableSpec>(scene: CheckScene, spec: S): S & Pick<RunnableCheck, 'id' | 'hash'> => ({
  ...spec,
  id: 'c1',
  hash: approvalHash(spec, scene),
})

describe('a run of a check', () => {
  it('has a result, how long it took, and what it was about', async () => {
    const scene = checkScene()
    scene.script('check.sh', 'echo hi; exit 1')
    const run = await runCheck(approved(scene, { kind: 'command', run: ['./check.sh'] }), options(scene))
    expect(run).toMatchObject({ result: 'failed', exit: 1, tail: 'hi\n', duration_ms: expect.any(Number) })
    expect(run).not.toHaveProperty('changes')
    expect(run.fingerprint).toMatch(/^[0-9a-f]{64}$/)
    scene.write('../outside', 'x')
    symlinkSync('../outside', join(scene.folder, 'link'))
    expect(await runCheck(approved(scene, { kind: 'file', path: 'a' }), options(scene))).not.toHaveProperty(
      'fingerprint',
    )
  })

  it('compares the files with the record of the plan, for each task', async () => {
    const scene = checkScene()
    scene.write('a.test.js', 'one')
    const check = approved(scene, { kind: 'file', path: 'b' })
    const record = await recordFiles([check], options(scene))
    scene.write('a.test.js', 'two')
    scene.write('notes.txt', 'two')
    const scopes = [{ isApproved: false }, { globs: ['*.test.js'], isApproved: true }].map(each => ({
      own: [each],
      begun: [each],
    }))
    const { changes } = await runCheck(check, options(scene, { records: [record, record], scopes }))
    expect(changes?.map(each => each.map(({ path, is }) => [path, is]))).toEqual([
      [
        ['a.test.js', 'protected'],
        ['notes.txt', 'outside'],
      ],
      [
        ['a.test.js', 'own'],
        ['notes.txt', 'outside'],
      ],
    ])
  })

  it('without a record asks for everything once', async () => {
    const scene = checkScene()
    const check = approved(scene, { kind: 'file', path: 'b' })
    const scopes = [{ own: [], begun: [] }]
    for (const record of [null, 'gone']) {
      const { changes } = await runCheck(check, options(scene, { records: [record], scopes }))
      expect(changes).toEqual([
        [expect.objectContaining({ is: 'protected', path: expect.stringMatching(/^any file/) })],
      ])
    }
  })

  it('records the files as a first run leaves them, and what it wrote; later approvals add files', async () => {
    const scene = checkScene()
    scene.script('check.sh', 'echo x >> out.txt')
    const check = approved(scene, { kind: 'command', run: ['./check.sh'] })
    const scopes = [{ own: [{ isApproved: false }], begun: [{ isApproved: false }] }]
    const first = await runCheck(check, options(scene, { records: [], scopes, isFirst: true }))
    expect(first.record).toEqual(expect.any(String))
    const again = options(scene, { records: [first.record ?? null], scopes, checks: [check] })
    expect(await runCheck(check, again)).toMatchObject({ changes: [[]] })
    scene.write('.cache/x.txt', '1')
    const other = approved(scene, { kind: 'command', run: ['cat', '.cache'] })
    const added = await runCheck(other, { ...again, checks: [check, other] })
    expect(added.record).toEqual(expect.any(String))
    expect(added.record).not.toBe(first.record)
  })

  it('says that it is partial if the files are too many, and asks if even the protected ones are', async () => {
    const scene = checkScene()
    for (const path of ['a.test.js', 'b.txt', 'c.txt']) scene.write(path, 'x')
    const check = approved(scene, { kind: 'file', path: 'c.txt' })
    const scopes = [{ own: [{ isApproved: false }], begun: [{ isApproved: false }] }]
    for (const [files, expected] of [
      [2, { isPartial: true, changes: [[{ path: 'a.test.js', is: 'protected' }]] }],
      [0, { isPartial: true, changes: [[{ path: 'more protected files than can be watched' }]] }],
    ] as const) {
      scene.write('a.test.js', 'x')
      const more = { limits: { files }, scopes }
      const record = await recordFiles([check], options(scene, more))
      scene.write('a.test.js', 'two')
      scene.write('b.txt', 'two')
      expect(await runCheck(check, options(scene, { ...more, records: [record] }))).toMatchObject(expected)
    }
  })

  it('compares unchanged files with the record', async () => {
    const scene = checkScene()
    scene.write('src/a.js', 'one')
    const check = approved(scene, { kind: 'unchanged', paths: ['src/**', 'a.txt'] })
    expect(await runCheck(check, options(scene))).toMatchObject({ result: 'inconclusive' })
    const record = await recordFiles([check], options(scene))
    const compared = options(scene, { records: [record], scopes: [{ own: [], begun: [] }] })
    scene.write('other', 'x')
    expect(await runCheck(check, compared)).toMatchObject({ result: 'passed' })
    scene.write('src/a.js', 'two')
    scene.write('a.txt', 'new')
    expect(await runCheck(check, compared)).toMatchObject({ result: 'failed', reason: 'Changed: a.txt, src/a.js.' })
    for (let at = 0; at < 6; at += 1) scene.write(`src/${at}`, 'x')
    expect(await runCheck(check, compared)).toMatchObject({
      reason: 'Changed: a.txt, src/0, src/1, src/2, src/3 and 3 more.',
    })
  })

  it('runs nothing but what was approved', async () => {
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

  it('asks right before it starts, and does not start if that fails', async () => {
    const scene = checkScene()
    const check = approved(scene, { kind: 'command', run: ['touch', 'ran'] })
    const beforeStart = () => Promise.reject(new Error('the lease is lost'))
    await expect(runCheck(check, options(scene, { beforeStart }))).rejects.toThrow('the lease is lost')
    const absent = approved(scene, { kind: 'file', path: 'ran', absent: true })
    expect(await runCheck(absent, options(scene))).toMatchObject({ result: 'passed' })
  })

  it.runIf(hasGit)('has the fingerprint from before the run, without our own files (needs git)', async () => {
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
