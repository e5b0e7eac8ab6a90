import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { StoredEvent } from '../../src/core/model/event.ts'
import type { SessionList } from '../../src/core/views/session-list.ts'
import type { ReviewsAnswer, SessionAnswer, SessionsAnswer } from '../../src/core/views/wire.ts'
import { add, finish, propose, startTurn } from '../store/contract.ts'
import { type CheckedServer, started } from '../support/checked.ts'

const STORES = ['sqlite', 'json', 'postgres'] as const

const REVIEWED = { toolset: 'task_list', review: true } as const

/** A conversation whose turn has ended. */
async function ended(server: CheckedServer, conversation: string, message = `About ${conversation}`): Promise<void> {
  const ref = { tenant: 'local', conversation }
  await server.door.run(ref, startTurn('t1', {}, message))
  await server.door.run(ref, finish('t1'))
}

async function listed(server: CheckedServer, list?: SessionList): Promise<string[]> {
  const names: string[] = []
  for (let cursor = ''; ; ) {
    const query = `limit=2${list ? `&list=${list}` : ''}${cursor}`
    const { body } = await server.ask<SessionsAnswer>('GET', `/api/sessions?${query}`)
    names.push(...body.sessions.map(({ session_id }) => session_id))
    if (body.next_cursor === null) return names
    cursor = `&cursor=${body.next_cursor}`
  }
}

describe.each(STORES)('conversations on %s', store => {
  it('are pinned, archived and brought back; lists show them in that order', async () => {
    const server = await started({ store })
    for (const name of ['a', 'b', 'c', 'd']) await ended(server, name)
    expect(await server.person.fileSession('b', { pinned: true })).toMatchObject({ pinned: true, archived: false })
    expect(await server.person.fileSession('c', { archived: true })).toMatchObject({ archived: true })
    expect(await listed(server)).toEqual(['b', 'd', 'a'])
    expect(await listed(server, 'archived')).toEqual(['c'])
    expect(await listed(server, 'all')).toEqual(['d', 'c', 'b', 'a'])
    expect((await server.person.sessions({ q: 'about c' })).sessions).toMatchObject([{ archived: true }])
    await server.person.fileSession('c', { archived: false })
    expect(await listed(server)).toEqual(['b', 'd', 'c', 'a'])
  })

  it('have a mark while a turn runs or a plan waits, and after a turn that failed', async () => {
    const server = await started({ store })
    const at = (conversation: string) => ({ tenant: 'local', conversation })
    await ended(server, 'quiet')
    await server.door.run(at('runs'), startTurn('t1'))
    await server.door.run(at('waits'), startTurn('t1', REVIEWED, 'Plan it'), propose('t1', 'rev-1', 'Look'))
    const failed = { type: 'finish_turn', turn_id: 't1', because: 'error', steps: 0, usage: {} } as const
    await server.door.run(at('failed'), startTurn('t1'), failed)
    const { sessions } = await server.agent.sessions()
    expect(new Map(sessions.map(({ session_id, mark }) => [session_id, mark]))).toEqual(
      new Map([
        ['quiet', null],
        ['runs', 'running'],
        ['waits', 'waiting'],
        ['failed', 'failed'],
      ]),
    )
    const { body } = await server.ask<ReviewsAnswer>('GET', '/api/task-manager/reviews/pending')
    expect(body.reviews.map(({ session_id }) => session_id)).toEqual(['waits'])
    expect(body.sessions).toMatchObject([{ session_id: 'waits', title: 'Plan it', mark: 'waiting' }])
  })
})

describe('a title', () => {
  it("is a person's to set: in lists, in the conversation, in search and in the stream", async () => {
    const server = await started({ store: 'sqlite' })
    await ended(server, 'c1', 'Could you please report on the quarter?')
    const session = await server.person.fileSession('c1', { title: ' Q3\nreport ', pinned: true })
    expect(session).toMatchObject({ title: 'Q3 report', pinned: true })
    const { body } = await server.ask<SessionAnswer>('GET', '/api/sessions/c1')
    expect(body.session).toEqual(session)
    const { view, conversation } = await server.person.snapshot('c1')
    expect([view.title, conversation.titled_by, conversation.pinned]).toEqual(['Q3 report', 'person', true])
    expect((await server.person.find('q3')).results).toMatchObject([{ kind: 'conversation', session_id: 'c1' }])
  })

  it('a bad one changes nothing; agents and unknown conversations are refused', async () => {
    const server = await started()
    await ended(server, 'c1')
    const path = '/api/sessions/c1'
    const error = await server.refused(422, 'PATCH', path, { body: { title: ' ', pinned: true } })
    expect(error).toMatchObject({ code: 'invalid_field', field: 'title' })
    await server.refused(422, 'PATCH', path, { body: { name: 'x' } })
    await server.refused(403, 'PATCH', path, { as: 'agent', body: { pinned: true } })
    await server.refused(404, 'PATCH', '/api/sessions/nowhere', { body: { pinned: true } })
    expect((await server.ask<SessionAnswer>('GET', path)).body.session).toMatchObject({ pinned: false })
    const { body, status } = await server.ask('PATCH', path, { body: {} })
    expect([status, body]).toMatchObject([200, { session: { session_id: 'c1' } }])
  })
})

describe('an export', () => {
  it.each(STORES)('has the whole log, as `runsheet export` writes it, from %s', async store => {
    const server = await started({ store })
    const ref = { tenant: 'local', conversation: 'c1' }
    await server.door.run(ref, startTurn('t1', { toolset: 'task_list', review: false }, 'Odd \u2028 line'))
    for (let index = 0; index < 12; index += 1) await server.door.run(ref, add('t1', ...Array(10).fill('Step')))
    const { text, headers } = await server.ask('GET', '/api/sessions/c1/export.jsonl')
    expect(headers.get('content-disposition')).toBe('attachment; filename="runsheet-c1.jsonl"')
    const [head = '', ...lines] = text.trimEnd().split('\n')
    const events = await server.door.conversations.eventsAfter(ref, 0, 1_000)
    expect(lines.map(line => JSON.parse(line) as StoredEvent)).toEqual(events)
    const sha256 = createHash('sha256')
      .update(lines.map(line => `${line}\n`).join(''))
      .digest('hex')
    expect(JSON.parse(head)).toMatchObject({ format: 'runsheet-log', events: events.length, sha256 })
    expect(await (await server.person.exportSession('c1', 'jsonl')).text()).toBe(text)
  })

  it('as Markdown has the messages and the tasks', async () => {
    const server = await started()
    const ref = { tenant: 'local', conversation: 'c1' }
    await server.door.run(
      ref,
      startTurn('t1', { toolset: 'task_list', review: false }, 'Please look'),
      add('t1', 'Look'),
    )
    const { text, headers } = await server.ask('GET', '/api/sessions/c1/export.md')
    expect(headers.get('content-disposition')).toBe('attachment; filename="runsheet-c1.md"')
    expect(text).toMatch(/^# Please look\n/)
    expect(text).toContain('> Please look')
    expect(text).toContain('| 1 | Look | open |')
    expect(await (await server.person.exportSession('c1', 'md')).text()).toContain('> Please look')
  })

  it('is for persons, of a conversation that exists', async () => {
    const server = await started()
    await ended(server, 'c1')
    for (const ending of ['md', 'jsonl']) {
      await server.refused(403, 'GET', `/api/sessions/c1/export.${ending}`, { as: 'agent' })
      await server.refused(404, 'GET', `/api/sessions/nowhere/export.${ending}`)
    }
  })
})
