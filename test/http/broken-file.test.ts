import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openDoor } from '../../src/engine/door/door.ts'
import { openFileStore } from '../../src/store/files/store.ts'
import { fault } from '../support/faults.ts'
import { scratchFolder } from '../support/scratch.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { follow } from '../support/sse.ts'

const FILE = '.agents/tasks/c1.json'
const MESSAGE = 'Task file is corrupt or invalid.'
const ERROR = { error: { code: 'file_invalid', message: MESSAGE, file: FILE } }

interface Broken extends TestServer {
  readonly folder: string
  readonly write: (text: string) => void
  readonly call: (tool: string, args: object) => Promise<unknown>
  /** The lines of the log. */
  readonly lines: () => Record<string, unknown>[]
}

/** A server on JSON files, with one task in the file of `c1`. */
async function started(): Promise<Broken> {
  const folder = scratchFolder()
  const server = await startServer({ door: openDoor({ store: await openFileStore({ data: folder }) }) })
  onTestFinished(async () => {
    await server.close()
    rmSync(folder, { recursive: true })
  })
  const call: Broken['call'] = (tool, args) =>
    server.agent.call('task_list', tool, { session_id: 'c1', turn_id: 't1', arguments: args })
  await call('AddTask', { title: 'Look' })
  const lines = (): Record<string, unknown>[] =>
    server
      .logged()
      .split('\n')
      .flatMap(line => (line === '' ? [] : [JSON.parse(line) as Record<string, unknown>]))
  return { ...server, folder, call, lines, write: text => writeFileSync(join(folder, FILE), text) }
}

fault('a broken task file')

it('[FI10] a tool answers the fixed text, and what reads or changes the list 409 with the file', async () => {
  const server = await started()
  server.write('{ "tasks": [')
  expect(await server.call('ListTasks', {})).toEqual({ result: `Error: ${MESSAGE}` })
  expect(await server.call('AddTask', { title: 'Leap' })).toEqual({ result: `Error: ${MESSAGE}` })
  for (const [method, body] of [['GET'], ['POST', { title: 'x' }]] as const) {
    const answer = await server.ask(method, '/api/sessions/c1/tasks', { body })
    expect([method, answer.status, await answer.json()]).toEqual([method, 409, ERROR])
  }
})

it('the rest of the conversation goes on with its log', async () => {
  const server = await started()
  server.write('[]')
  const follower = await follow(server, 'c1')
  onTestFinished(() => follower.cut())
  for (const [method, path, body] of [
    ['GET', '', undefined],
    ['GET', '/snapshot', undefined],
    ['GET', '/timeline', undefined],
    ['PUT', '/policy', { gate: true }],
    ['POST', '/turns/t1/stop', undefined],
  ] as const) {
    const answer = await server.ask(method, `/api/sessions/c1${path}`, { body })
    expect([path, answer.status]).toEqual([path, expect.toSatisfy((status: number) => status < 300)])
  }
})

it('the failure is logged once, with the file and what is wrong with it, until it changes', async () => {
  const server = await started()
  server.write('{ "tasks": {} }')
  for (let times = 0; times < 3; times += 1) {
    await server.call('ListTasks', {})
    await server.ask('GET', '/api/sessions/c1/tasks')
  }
  const first = server.lines()
  expect(first).toMatchObject([
    {
      level: 50,
      msg: 'storage failed',
      err: { code: 'file_invalid', file: FILE, detail: 'the top level is not an object with an array "tasks"' },
    },
  ])
  expect(JSON.stringify(first)).not.toMatch(/"stack"/)
  expect(JSON.stringify(first)).not.toContain(server.folder)
  server.write('not JSON')
  await server.ask('GET', '/api/sessions/c1/tasks')
  await server.ask('GET', '/api/sessions/c1/tasks')
  expect(server.lines()).toMatchObject([{}, { err: { file: FILE, detail: expect.stringContaining('JSON') } }])
  server.write('{ "tasks": [] }')
  expect((await server.ask('GET', '/api/sessions/c1/tasks')).status).toBe(200)
  server.write('not JSON')
  await server.ask('GET', '/api/sessions/c1/tasks')
  expect(server.lines()).toHaveLength(3)
})

it('a file of another tenant is named under its folder', async () => {
  const folder = scratchFolder()
  const store = await openFileStore({ data: folder })
  onTestFinished(async () => {
    await store.close()
    rmSync(folder, { recursive: true })
  })
  const ref = { tenant: 'acme', conversation: '0190A000-0000-7000-8000-000000000001' }
  const file = '.agents/tasks/acme/0190a000000070008000000000000001.json'
  mkdirSync(join(folder, '.agents', 'tasks', 'acme'), { recursive: true })
  writeFileSync(join(folder, file), '{')
  await expect(store.load(ref, 'list')).rejects.toMatchObject({ code: 'file_invalid', message: MESSAGE, file })
})
