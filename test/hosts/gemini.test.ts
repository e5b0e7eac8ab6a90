import { expect, it } from 'vitest'
import { talker } from './agent.ts'
import { gemini } from './drivers/gemini.ts'
import { sceneOf } from './opened.ts'
import { hostSuite } from './suite.ts'

hostSuite(gemini)

const opened = sceneOf(gemini)

it('Gemini CLI does not run without a terminal in a folder that it does not trust; doctor says so', async () => {
  const scene = await opened()
  scene.model.script = talker
  const untrusted = { GEMINI_CLI_TRUST_WORKSPACE: '' }
  await scene.setup()
  const args = gemini.args('Hello.', { modelUrl: scene.model.url, session: undefined, server: undefined })
  expect(await scene.start('gemini', args, untrusted).ended).toMatchObject({ code: 55 })
  expect(await scene.start('gemini', ['--skip-trust', ...args], untrusted).ended).toMatchObject({ code: 0 })
  const ours = { ...untrusted, RUNSHEET_BROWSER: 'off' }
  const before = await scene.start('runsheet', ['doctor', 'gemini'], ours).ended
  expect(before.printed).toContain(`note   Gemini CLI has not asked yet whether to trust ${scene.project}`)
  scene.addSettings({ '.gemini/trustedFolders.json': JSON.stringify({ [scene.project]: 'DO_NOT_TRUST' }) })
  const after = await scene.start('runsheet', ['doctor', 'gemini'], ours).ended
  expect(after).toMatchObject({ code: 1 })
  expect(after.printed).toContain(`WRONG  Gemini CLI does not trust ${scene.project}`)
})
