import { describe, expect, it } from 'vitest'
import type { Json } from '../../src/core/model/event.ts'
import type { TaskAnswer, TaskView } from '../../src/core/views/wire.ts'
import { type Answered, type CheckedServer, started } from '../support/checked.ts'
import type { StoreKind } from '../support/stores.ts'

/** A conversation with these tasks of an agent. */
async function planned(...titles: readonly string[]): Promise<CheckedServer> {
  return plannedOn('memory', ...titles)
}

async function plannedOn(store: StoreKind, ...titles: readonly string[]): Promise<CheckedServer> {
  const server = await started({ host: { review: false }, store })
  await call(server, 'plan', { tasks: titles.map(title => ({ title })) })
  return server
}

async function call(server: CheckedServer, tool: string, args: unknown): Promise<Json> {
  const answer = await server.agent.call('runsheet', tool, { session_id: 'c1', turn_id: 't1', arguments: args })
  return 'result' in answer ? answer.result : null
}

const undo = (server: CheckedServer, { id, version }: TaskView, as?: 'agent'): Promise<Answered<TaskAnswer>> =>
  server.ask('POST', `/api/sessions/c1/tasks/${id}/undo`, { body: { version }, ...(as ? { as } : {}) })

async function taskOf(server: CheckedServer, title: string): Promise<TaskView> {
  const { tasks } = await server.person.tasks('c1')
  const found = tasks.find(task => task.title === title)
  if (!found) throw new Error(`There is no task ${title}`)
  return found
}

const titles = async (server: CheckedServer): Promise<string[]> =>
  (await server.person.tasks('c1')).tasks.map(({ title }) => title)

describe("a person's change", () => {
  it.each(['sqlite', 'json'] as const)('[TA21] is undone and made again (%s)', async store => {
    const server = await plannedOn(store, 'A', 'B', 'C')
    const b = await taskOf(server, 'B')
    const removed = await server.person.removeTask('c1', b.id, b.version)
    expect(await titles(server)).toEqual(['A', 'C'])
    const back = await undo(server, removed.task)
    expect([back.status, back.headers.get('etag'), back.body.task.number]).toEqual([200, '"3"', 2])
    expect(await titles(server)).toEqual(['A', 'B', 'C'])
    const again = await undo(server, back.body.task)
    expect(again.body.task.removed_at).toEqual(expect.any(String))
    expect(await titles(server)).toEqual(['A', 'C'])
    await undo(server, again.body.task)
    expect(await titles(server)).toEqual(['A', 'B', 'C'])
    // Found again, and its history is whole.
    expect((await server.person.search('B')).tasks.map(({ id }) => id)).toEqual([b.id])
    const { events } = await server.person.timeline('c1', b.id)
    expect(events.map(({ type }) => type)).toEqual([
      'task_created',
      'task_removed',
      'task_changed',
      'task_removed',
      'task_changed',
    ])
  })

  it('may be a new task, a move or an edit', async () => {
    const server = await planned('A', 'B')
    const { task: added } = await server.person.addTask('c1', { title: 'C' })
    expect((await undo(server, added)).body.task.removed_at).toEqual(expect.any(String))
    const a = await taskOf(server, 'A')
    const b = await taskOf(server, 'B')
    const moved = await server.person.changeTask('c1', a.id, a.version, { position: b.position })
    expect(await titles(server)).toEqual(['B', 'A'])
    await undo(server, moved.task)
    expect(await titles(server)).toEqual(['A', 'B'])
    const edited = await server.person.changeTask('c1', b.id, b.version, { title: 'B2', tags: ['x'] })
    expect((await undo(server, edited.task)).body.task).toMatchObject({ title: 'B', tags: [] })
  })

  it('[TA21] is not undone once the agent changed the same: 409 with who, what and the task', async () => {
    const server = await planned('A', 'B')
    const a = await taskOf(server, 'A')
    const { task } = await server.person.changeTask('c1', a.id, a.version, { status: 'pending' })
    await call(server, 'tasks', {})
    await call(server, 'update', { id: 1, outcome: 'Done.' })
    const refused = await server.refused(409, 'POST', `/api/sessions/c1/tasks/${a.id}/undo`, {
      body: { version: task.version },
    })
    expect(refused).toMatchObject({
      code: 'not_undoable',
      because: 'changed',
      by: 'agent',
      task: { status: 'completed' },
    })
    expect(refused.message).toMatch(/^The agent has changed task 1 since \(.*status.*\)\. Nothing was undone\.$/)
  })

  it('an unknown task is 404, an unknown version 409, an agent 403, and no version 422', async () => {
    const server = await planned('A')
    const a = await taskOf(server, 'A')
    const path = (id: string): string => `/api/sessions/c1/tasks/${id}/undo`
    expect(await server.refused(404, 'POST', path('nowhere'), { body: { version: 1 } })).toMatchObject({
      code: 'task_not_found',
    })
    expect(await server.refused(409, 'POST', path(a.id), { body: { version: 9 } })).toMatchObject({
      code: 'not_undoable',
      because: 'unknown',
    })
    // The agent's own.
    expect(await server.refused(409, 'POST', path(a.id), { body: { version: 1 } })).toMatchObject({
      because: 'not_persons',
    })
    expect((await undo(server, a, 'agent')).status).toBe(403)
    await server.refused(422, 'POST', path(a.id), { body: {} })
  })

  it('is recorded with who undid it', async () => {
    const server = await planned('A')
    const a = await taskOf(server, 'A')
    const { task } = await server.person.changeTask('c1', a.id, a.version, { title: 'A2' })
    await undo(server, task)
    const { events } = await server.person.timeline('c1', a.id)
    expect(events.at(-1)?.data).toMatchObject({ by: 'person', origin: { actor: 'person', edge: 'http' } })
  })
})

describe('a verdict that a person overrules', () => {
  it('[TA14][TA19] accepted anyway, the task is done on their word until they reopen it', async () => {
    const server = await planned('A', 'B')
    await call(server, 'update', { id: 1, status: 'blocked', outcome: 'Not accepted: figures are missing' })
    const blocked = await taskOf(server, 'A')
    const outcome = 'Twelve figures.'
    const { task } = await server.person.changeTask('c1', blocked.id, blocked.version, { status: 'completed', outcome })
    expect(task).toMatchObject({ status: 'completed', judged_by: 'person', standing: 'confirmed', outcome })
    await call(server, 'tasks', {})
    expect(await call(server, 'update', { id: 1, status: 'todo' })).toMatchObject({ error: expect.any(String) })
    const reopened = await server.person.changeTask('c1', task.id, task.version, { status: 'pending' })
    expect(reopened.task).toMatchObject({ status: 'pending', judged_by: null })
    await call(server, 'tasks', {})
    expect(await call(server, 'update', { id: 1, outcome: 'Now really.' })).toMatchObject({ next: '2 B' })
  })
})

describe('templates', () => {
  it('are renamed; a name that is taken is 409, an unknown template 404, a bad name 422', async () => {
    const server = await started({ store: 'sqlite' })
    await server.person.saveTemplate('release', [{ title: 'Tag it' }])
    await server.person.saveTemplate('other', [{ title: 'x' }])
    const renamed = await server.person.renameTemplate('release', 'Release ü')
    expect(renamed).toMatchObject({ name: 'Release ü', tasks: [{ title: 'Tag it' }] })
    expect((await server.person.templates()).templates.map(({ name }) => name)).toEqual(['Release ü', 'other'])
    expect(await server.person.template('Release ü')).toEqual(renamed)
    expect(await server.person.renameTemplate('other', 'other')).toMatchObject({ name: 'other' })
    const path = (name: string): string => `/api/task-manager/templates/${encodeURIComponent(name)}/rename`
    expect(await server.refused(409, 'POST', path('other'), { body: { name: 'Release ü' } })).toMatchObject({
      code: 'template_exists',
    })
    expect(await server.refused(404, 'POST', path('release'), { body: { name: 'x' } })).toMatchObject({
      code: 'template_not_found',
    })
    for (const name of ['', ' x', 'x'.repeat(65)]) await server.refused(422, 'POST', path('other'), { body: { name } })
    expect((await server.ask('POST', path('other'), { as: 'agent', body: { name: 'x' } })).status).toBe(403)
  })
})
