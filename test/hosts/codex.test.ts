import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { worker } from './agent.ts'
import { sceneOf } from './opened.ts'
import { codex } from './drivers/codex.ts'
import { hostSuite } from './suite.ts'

hostSuite(codex)

const opened = sceneOf(codex)

it('Codex starts although the database is damaged, and its agent is told', async () => {
  const scene = await opened()
  scene.model.script = worker({ tasks: [{ title: 'Look' }] })
  await scene.setup()
  await scene.endPage()
  for (const file of ['runsheet.db', 'runsheet.db-wal', 'runsheet.db-shm', 'runsheet.db-head']) {
    rmSync(join(scene.data, file), { force: true })
  }
  writeFileSync(join(scene.data, 'runsheet.db'), 'no database')
  const { code } = await scene.run('Look at it.').ended
  expect(code).toBe(0)
  expect(scene.model.asked.at(-1)?.request.results.at(-1)?.text).toContain('cannot open SQLite')
})
