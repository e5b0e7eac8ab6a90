import { expect, it } from 'vitest'
import { checkScene, FOREVER } from '../../test/support/check-scene.ts'
import type { CheckSpec } from '../domain/check.ts'
import { redactor } from '../domain/redact.ts'
import { LocalWorkspaces } from './local-workspaces.ts'

it('[TC9] a run that outlasts the time for all runs at confirmation says so; it was not stopped by hand', async () => {
  const scene = checkScene()
  scene.script('slow', FOREVER)
  const { workspace } = scene
  const workspaces = new LocalWorkspaces({
    workspaces: [workspace],
    machine: () => workspace.machine,
    environment: scene.env,
    env: scene.env,
    dataFolder: '/nowhere',
    redact: redactor(),
    newId: () => 'c1',
  })
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
