import { join } from 'node:path'
import { expect, it } from 'vitest'
import { type CheckScene, checkScene, FOREVER } from '../../test/support/check-scene.ts'
import type { Check, CheckSpec } from '../core/proof/check.ts'
import { redactor } from '../core/text/redact.ts'
import type { Scopes } from '../core/proof/scope.ts'
import { LocalWorkspaces } from './local-workspaces.ts'
import type { RunOptions } from '../engine/worker/workspaces.ts'

const workspacesOf = ({ folder, workspace, env }: CheckScene): LocalWorkspaces =>
  new LocalWorkspaces({
    workspaces: [workspace],
    machine: () => workspace.machine,
    environment: env,
    env,
    dataFolder: join(folder, '../data'),
    redact: redactor(),
    newId: () => 'c1',
    protect: ['schema.sql'],
    allow: [['npm', 'test']],
  })

const UNSCOPED: Scopes = { own: [{ isApproved: false }], begun: [{ isApproved: false }] }

/** A workspace with an approved check and the plan's record. */
async function recorded(scene: CheckScene, run: string) {
  const workspaces = workspacesOf(scene)
  const { workspace } = scene
  const spec: CheckSpec = { kind: 'command', run: [run] }
  const check = { ...spec, id: 'c1', hash: workspaces.hash(spec, workspace) }
  const record = await workspaces.record(workspace, [check])
  const { signal } = new AbortController()
  const options = {
    workspace,
    compared: { record, scopes: UNSCOPED },
    checks: [check],
    isFirst: false,
    also: [],
    signal,
  }
  return {
    record,
    check,
    run: (more: Partial<RunOptions> = {}, of: Check = check) => workspaces.run(of, { ...options, ...more }),
  }
}

it('[CM12] a run says what changed out of scope, for its own task and for the others with the same check', async () => {
  const scene = checkScene()
  scene.script('t.sh', 'exit 1')
  const { run, record } = await recorded(scene, './t.sh')
  scene.script('t.sh', 'exit 0')
  const given = { globs: ['t.sh'], isApproved: true }
  const others = [
    { task_id: 'may', record, scopes: { own: [given], begun: [given] } },
    { task_id: 'may not', record, scopes: UNSCOPED },
  ]
  const changes = [{ path: 't.sh', is: 'protected', hash: expect.any(String) }]
  const own = [{ path: 't.sh', is: 'own', hash: expect.any(String) }]
  expect(await run({ others })).toMatchObject({
    result: 'passed',
    changes,
    others: [
      { task_id: 'may', changes: own },
      { task_id: 'may not', changes },
    ],
  })
})

it('a run that outlasts the time for all runs at confirmation says so; it was not stopped by hand', async () => {
  const scene = checkScene()
  scene.script('slow', FOREVER)
  const { run } = await recorded(scene, './slow')
  expect(await run({ maxMs: 20 })).toMatchObject({
    result: 'inconclusive',
    reason: 'Time ran out: all runs at confirmation together took too long.',
  })
  const stopped = await run({ signal: AbortSignal.abort(), maxMs: 60_000 })
  expect(stopped).toMatchObject({ result: 'inconclusive', reason: 'It was stopped.' })
})

it('a run without a result says what changed, too: cut off, or not what was approved', async () => {
  const scene = checkScene()
  scene.script('slow', FOREVER)
  scene.write('a.test.js', '1')
  const { run, check } = await recorded(scene, './slow')
  scene.write('a.test.js', '2')
  const changes = [{ path: 'a.test.js', is: 'protected' }]
  expect(await run({ maxMs: 20 })).toMatchObject({ result: 'inconclusive', changes })
  const other = await run({}, { ...check, hash: 'of another program' })
  expect(other).toMatchObject({ result: 'inconclusive', changed: true, changes })
  expect(other).not.toHaveProperty('fingerprint')
})

it("makes a check and a scope of a model's row, with the globs that need a person's word apart", () => {
  const { fromRow } = workspacesOf(checkScene()).offered() ?? {}
  expect(fromRow?.({ check: 'npm test', scope: ['src/**', 'test/**', '*.sql'] })).toMatchObject({
    checks: [{ run: ['npm', 'test'] }],
    allowed: [expect.any(String)],
    scope: ['src/**'],
    asks_scope: ['test/**', '*.sql'],
  })
  expect(fromRow?.({ scope: ['docs/**'] })).toEqual({ scope: ['docs/**'] })
  for (const glob of ['/etc/*', '../x', 'a/../../b', '']) {
    expect(fromRow?.({ scope: ['src/**', glob] })).toMatchObject({ data: { field: 'scope[1]' } })
  }
  expect(fromRow?.({ scope: Array.from({ length: 21 }, (_, at) => `${at}`) })).toMatchObject({
    data: { field: 'scope' },
  })
})
