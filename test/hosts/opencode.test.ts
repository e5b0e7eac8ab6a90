import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { worker } from './agent.ts'
import { opencode } from './drivers/opencode.ts'
import { sceneOf } from './opened.ts'
import { Person } from './person.ts'
import { hostSuite } from './suite.ts'

hostSuite(opencode)

const opened = sceneOf(opencode)

it('OpenCode in a subfolder of a clone, where nobody ran setup: its chats have plans and evidence of their own', async () => {
  const scene = await opened()
  const { model, project } = scene
  const before = () => [opencode.shell('echo evidence-42')]
  model.script = worker({ tasks: [{ title: 'Look' }], before })
  await scene.setup('--scope', 'project')
  const { pid = 0 } = new Person(join(project, '.runsheet')).server ?? {}
  process.kill(pid)
  await expect.poll(() => scene.processes()).not.toContain(pid)
  rmSync(join(project, '.runsheet'), { recursive: true })
  mkdirSync(join(project, 'src'))
  const args = opencode.args('Look at it.', { modelUrl: model.url, session: undefined, server: undefined })
  const run = scene.start('sh', ['-c', 'cd src && exec opencode "$@"', 'sh', ...args])
  const person = new Person(join(project, 'src', '.runsheet'))
  await expect.poll(() => person.server).toBeDefined()
  await person.confirm(await person.review(AbortSignal.timeout(60_000)))
  const { printed } = await run.ended
  const [plan] = await person.plans()
  expect(plan?.tasks).toMatchObject([{ title: 'Look', status: 'completed' }])
  expect(plan?.session).toBe(opencode.sessionIn(printed))
  expect(plan?.events.map(({ type }) => type)).toContain('evidence_added')
})
