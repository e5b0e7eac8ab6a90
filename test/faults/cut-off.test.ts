import { rmSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { verified } from '../support/damage.ts'
import { fault } from '../support/faults.ts'
import { scratchFolder } from '../support/scratch.ts'
import { serveWatched, type WatchedServer } from '../support/watched-server.ts'

fault('a -shm that is cut off under a server')

let data: string
let ends: (() => unknown)[]
beforeEach(() => {
  data = scratchFolder()
  ends = []
})
afterEach(async () => {
  for (const end of ends.toReversed()) await end()
  rmSync(data, { recursive: true })
})

async function serve(): Promise<WatchedServer> {
  const server = await serveWatched(data)
  ends.push(() => server.child.process.kill('SIGKILL'))
  return server
}

it('[FA1] a -shm that is cut off may end the server; nothing is lost, and the next start works', async () => {
  const server = await serve()
  for (let tasks = 0; tasks < 10; tasks += 1) await server.addTask()
  truncateSync(join(data, 'runsheet.db-shm'), 0)
  // SQLite has it mapped: the system ends who reads what is gone (SIGBUS).
  await server.addTask().catch(() => {})
  server.child.process.kill('SIGKILL')
  await server.child.ended
  expect(await verified(join(data, 'runsheet.db'))).toEqual([])
  const again = await serve()
  expect((await again.person.tasks('c1')).tasks.length).toBeGreaterThanOrEqual(10)
  await again.addTask()
  expect(await again.stop()).toBe(0)
})
