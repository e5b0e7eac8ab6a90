import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { checkScene, FOREVER } from '../../test/support/check-scene.ts'
import type { Check, CheckSpec } from '../domain/check.ts'
import { redactor } from '../domain/redact.ts'
import { LocalWorkspaces } from './local-workspaces.ts'

const workspacesOf = ({ workspace, env }: ReturnType<typeof checkScene>): LocalWorkspaces =>
  new LocalWorkspaces({
    workspaces: [workspace],
    machine: () => workspace.machine,
    environment: env,
    env,
    dataFolder: '/nowhere',
    redact: redactor(),
    newId: () => 'c1',
  })

it('[CM12] a run says which guarded files changed since each confirmation, without the leave of each task', async () => {
  const scene = checkScene()
  scene.script('t.sh', 'exit 1')
  const { workspace } = scene
  const workspaces = workspacesOf(scene)
  const spec: CheckSpec = { kind: 'command', run: ['./t.sh'] }
  const check = { ...spec, id: 'c1', hash: workspaces.hash(spec, workspace) }
  const none = { covers: [], files: {} }
  const first = (await workspaces.baselineOf(workspace, [check], none)) ?? none
  scene.script('t.sh', 'exit 0')
  const second = (await workspaces.baselineOf(workspace, [check], none)) ?? none
  const others = [
    { task_id: 'may', baseline: first, mayChange: ['t.sh'] },
    { task_id: 'may not', baseline: first, mayChange: [] },
    { baseline: second, mayChange: [] },
  ]
  const { signal } = new AbortController()
  const ran = await workspaces.run(check, { workspace, baseline: second, mayChange: [], others, also: [], signal })
  expect(ran).toMatchObject({
    result: 'passed',
    others: [{ task_id: 'may not', guarded: ['t.sh'], guard: expect.stringMatching(/^[0-9a-f]{64}$/) }],
  })
  expect(ran).not.toHaveProperty('guarded')
})

it('[CR29] a file that a command starts is guarded if it was there when the check was confirmed, whenever one looks', async () => {
  const scene = checkScene()
  const { workspace } = scene
  const workspaces = workspacesOf(scene)
  const made = (...run: string[]): Check => {
    const spec: CheckSpec = { kind: 'command', run }
    return { ...spec, id: 'c1', hash: workspaces.hash(spec, workspace) }
  }
  const check = made('sh', '-c', 'sh there.sh; sh later.sh')
  scene.script('there.sh', 'exit 0')
  const baseline = await workspaces.baselineOf(workspace, [check], { covers: [], files: {} })
  expect(Object.keys(baseline?.files ?? {})).toContain('there.sh')
  scene.script('later.sh', 'exit 1')
  expect(baseline && (await workspaces.baselineOf(workspace, [check], baseline))).toBeUndefined()
  const other = made('sh', '-c', 'sh later.sh')
  expect(baseline && (await workspaces.baselineOf(workspace, [check, other], baseline))).toMatchObject({
    covers: [other.hash],
    files: { 'later.sh': expect.any(String) },
  })
})

it('[CM12] guarded files that are too many to compare are accepted as they are at that moment', async () => {
  const scene = checkScene()
  scene.script('t.sh', 'exit 0')
  const { workspace } = scene
  const workspaces = workspacesOf(scene)
  const spec: CheckSpec = { kind: 'command', run: ['./t.sh'] }
  const check = { ...spec, id: 'c1', hash: workspaces.hash(spec, workspace) }
  const baseline = { covers: [], files: {}, incomplete: true } as const
  const { signal } = new AbortController()
  const guard = async () =>
    (await workspaces.run(check, { workspace, baseline, mayChange: [], also: [], signal })).guard
  const accepted = await guard()
  expect(accepted).toMatch(/^unwatched:/)
  expect(await guard()).toBe(accepted)
  scene.script('t.sh', 'true')
  expect(await guard()).not.toBe(accepted)
})

it('[TC9] a run that outlasts the time for all runs at confirmation says so; it was not stopped by hand', async () => {
  const scene = checkScene()
  scene.script('slow', FOREVER)
  const { workspace } = scene
  const workspaces = workspacesOf(scene)
  const spec: CheckSpec = { kind: 'command', run: ['./slow'] }
  const check = { ...spec, id: 'c1', hash: workspaces.hash(spec, workspace) }
  const run = (signal: AbortSignal, maxMs?: number) =>
    workspaces.run(check, { workspace, baseline: { covers: [], files: {} }, mayChange: [], also: [], signal, maxMs })
  const cutOff = await run(new AbortController().signal, 20)
  expect(cutOff).toMatchObject({
    result: 'inconclusive',
    reason: 'Time ran out: all runs at confirmation together took too long.',
  })
  const stopped = await run(AbortSignal.abort(), 60_000)
  expect(stopped).toMatchObject({ result: 'inconclusive', reason: 'It was stopped.' })
})

it('[CR33] a run without a result says which guarded files changed, too: cut off, or not what was approved', async () => {
  const scene = checkScene()
  scene.script('slow', FOREVER)
  scene.write('a.test.js', '1')
  const { workspace } = scene
  const workspaces = workspacesOf(scene)
  const spec: CheckSpec = { kind: 'command', run: ['./slow'] }
  const check = { ...spec, id: 'c1', hash: workspaces.hash(spec, workspace) }
  const none = { covers: [], files: {} }
  const baseline = (await workspaces.baselineOf(workspace, [check], none)) ?? none
  scene.write('a.test.js', '2')
  const { signal } = new AbortController()
  const run = (of: Check, maxMs?: number) =>
    workspaces.run(of, { workspace, baseline, mayChange: [], also: [], signal, maxMs })
  expect(await run(check, 20)).toMatchObject({ result: 'inconclusive', guarded: ['a.test.js'] })
  const other = await run({ ...check, hash: 'of another program' })
  expect(other).toMatchObject({ result: 'inconclusive', changed: true, guarded: ['a.test.js'] })
  expect(other).not.toHaveProperty('fingerprint')
})

it('[CR32] files that cannot be told are accepted with the workspace as it is', async () => {
  const scene = checkScene()
  scene.script('t.sh', 'git ls-files | grep check | xargs -n1 sh')
  const { workspace } = scene
  const workspaces = workspacesOf(scene)
  const spec: CheckSpec = { kind: 'command', run: ['./t.sh'] }
  const check = { ...spec, id: 'c1', hash: workspaces.hash(spec, workspace) }
  const none = { covers: [], files: {} }
  execFileSync('git', ['init', '-q', scene.folder])
  const baseline = (await workspaces.baselineOf(workspace, [check], none)) ?? none
  const { signal } = new AbortController()
  const run = () => workspaces.run(check, { workspace, baseline, mayChange: [], also: [], signal })
  const { guarded, guard } = await run()
  expect(guarded).toEqual(['files that its scripts find when they run'])
  expect((await run()).guard).toBe(guard)
  scene.write('a', '')
  expect((await run()).guard).not.toBe(guard)
})
