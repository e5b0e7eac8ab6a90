import { rmSync } from 'node:fs'
import { expect, it, onTestFinished } from 'vitest'
import { startCli } from '../support/cli-turns.ts'
import { Provider } from '../support/provider.ts'
import { scratchFolder } from '../support/scratch.ts'
import { MODEL } from '../support/turns.ts'

const FIRST = 'Could you please report on the third quarter?'

it.each([
  ['on', 'Third quarter report', 1],
  ['off', FIRST, 0],
] as const)('with titles %s, the server titles a conversation: %s', async (titles, title, asked) => {
  const provider = await Provider.start(['Here.', 'And here.'])
  provider.titles(['Third quarter report'])
  const data = scratchFolder()
  const env = { RUNSHEET_MODEL: MODEL, RUNSHEET_MODEL_URL: provider.url, RUNSHEET_TITLES: titles }
  const server = await startCli({ data, env })
  onTestFinished(async () => {
    await server.end()
    await provider.close()
    rmSync(data, { recursive: true })
  })
  for (const turn_id of ['t1', 't2']) {
    const reader = await server.chat({ session_id: 'c1', turn_id, message: FIRST, toolset: 'turn_todos' })
    expect(reader.of('turn_finished')).toHaveLength(1)
  }
  await expect.poll(async () => (await server.person.session('c1')).session.title).toBe(title)
  expect(provider.named).toHaveLength(asked)
})
