import { describe, expect, it, vi } from 'vitest'
import type { ToolsetName } from '../../src/core/model/policy.ts'
import type { ReviewRequest } from '../../src/core/model/review.ts'
import type { ErrorBody, ReviewsAnswer, SessionAnswer, ToolAnswer } from '../../src/core/views/wire.ts'
import { openDoor } from '../../src/engine/door/door.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import { type Answered, type CheckedServer, started, storeWith } from '../support/checked.ts'
import { CREATING, PATIENCE, resultOf, REVIEWS, Table } from '../support/reviews.ts'
import { placeFor } from '../support/stores.ts'

const BLANK = { details: '', criteria: '', priority: 'medium', status: 'todo', tags: [] }
const DAY = 86_400_000

/** A server that a waiting call comes back from at once, and a conversation with review on. */
const brief = async (policy: Parameters<typeof Table.laid>[1] = {}): Promise<Table> =>
  Table.laid(await started({ reviewWaitMs: 1 }), policy)

const errorOf = (answer: Answered<unknown>): ErrorBody => (answer.body as { error: ErrorBody }).error

describe('a review that waits', () => {
  it('is in the log before a call waits for it', async () => {
    const table = await brief()
    const review_id = await table.proposed('call-1')
    expect(await table.types()).toEqual(['policy_set', 'turn_opened', 'tool_called', 'task_create_review_required'])
    const required = (await table.log()).at(-1)
    const { body } = await table.review(review_id)
    expect(body).toEqual({ review: required?.data })
    expect(await table.pending()).toEqual([required?.data])
    expect(body.review).toMatchObject({
      review_id,
      status: 'pending',
      session_id: 'c1',
      conversation_turn_id: 't1',
      tool_call_id: 'call-1',
      draft_tasks: [
        { ...BLANK, title: 'A', details: 'd', tags: ['x'] },
        { ...BLANK, title: 'B' },
      ],
      timeout_ms: 120_000,
    })
    expect(Date.parse(body.review.expires_at ?? '') - Date.parse(required?.timestamp ?? '')).toBe(120_000)
    expect(await table.titles()).toEqual([])
  })

  it('is listed for its conversation and for all, soonest over first', async () => {
    const server = await started({ reviewWaitMs: 1 })
    const slow = await Table.laid(server, { session: 'slow', review_timeout_ms: DAY })
    const quick = await Table.laid(server, { session: 'quick', toolset: 'runsheet', review_timeout_ms: 60_000 })
    const ids = [await slow.proposed(), await quick.proposed()]
    expect((await slow.pending()).map(({ review_id }) => review_id)).toEqual([ids[0]])
    expect((await quick.pending()).map(({ review_id }) => review_id)).toEqual([ids[1]])
    expect((await slow.pending('')).map(({ review_id }) => review_id)).toEqual([ids[1], ids[0]])
    expect(await slow.pending('nobody')).toEqual([])
    await slow.decide(ids[0] ?? '', { action: 'cancel' })
    expect((await slow.pending('')).map(({ review_id }) => review_id)).toEqual([ids[1]])
  })

  it('is listed with when and by which agent it was opened, if that is asked for', async () => {
    const server = await started({ reviewWaitMs: 1 })
    const table = await Table.laid(server, { session: 'c1' })
    const review_id = await table.proposed()
    const asked_at = (await table.log()).find(({ type }) => type === 'task_create_review_required')?.timestamp
    const path = '/api/task-manager/reviews/pending'
    const listed = async (query: string): Promise<ReviewsAnswer> =>
      (await server.ask<ReviewsAnswer>('GET', `${path}${query}`)).body
    expect((await listed('?origins=true')).origins).toEqual([{ review_id, asked_at }])
    expect((await listed('')).origins).toBeUndefined()
    expect((await server.ask('GET', `${path}?origins=1`)).status).toBe(400)
  })

  it('is listed page by page', async () => {
    const server = await started({ reviewWaitMs: 1 })
    const ids: string[] = []
    for (let index = 0; index < 5; index += 1)
      ids.push(await (await Table.laid(server, { session: `c${index}` })).proposed())
    const page = (query: string): Promise<Answered<ReviewsAnswer>> => server.ask('GET', `${REVIEWS}/pending?${query}`)
    const listed: string[][] = []
    for (let cursor: string | undefined = ''; cursor !== undefined; ) {
      const { body } = await page(`limit=2${cursor && `&cursor=${cursor}`}`)
      listed.push(body.reviews.map(({ review_id }) => review_id))
      cursor = body.next_cursor
    }
    expect(listed).toEqual([ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)])
    expect(Object.keys((await page('limit=5')).body)).toEqual(['reviews', 'sessions'])
    for (const query of ['limit=0', 'limit=201', 'cursor=junk']) {
      const refused = await page(query)
      expect([refused.status, errorOf(refused).code]).toEqual([400, 'invalid_request'])
    }
  })

  it('with long drafts, a page has 1 MB of them at most', async () => {
    const server = await started({ reviewWaitMs: 1 })
    const long = { tasks: Array.from({ length: 20 }, () => ({ title: 'a', details: 'x'.repeat(7_900) })) }
    for (let index = 0; index < 12; index += 1)
      await (await Table.laid(server, { session: `c${index}` })).proposed(undefined, long)
    const { body } = await server.ask<ReviewsAnswer>('GET', `${REVIEWS}/pending?limit=200`)
    expect([body.reviews.length, typeof body.next_cursor]).toEqual([6, 'string'])
  })

  it('names where the proposal came from', async () => {
    const table = await brief()
    const sources = { source_user_message_id: 'message 1', source_assistant_message_id: 'message 2' }
    const [tool, input] = CREATING.task_manager
    const body = { session_id: 'c1', turn_id: 't1', arguments: input, ...sources }
    await table.server.ask('POST', `/api/toolsets/task_manager/tools/${tool}`, { as: 'agent', body })
    const [review] = await table.pending()
    expect(review).toMatchObject(sources)
    await table.confirm(review?.review_id ?? '', { draft_index: 0 })
    const { tasks } = await table.server.person.tasks('c1')
    expect(tasks).toMatchObject([sources])
  })

  it('may be read by an agent, and shows its turn as parked', async () => {
    const table = await brief()
    const id = await table.proposed()
    const { body } = await table.server.ask<SessionAnswer>('GET', '/api/sessions/c1', { as: 'agent' })
    expect(body.turns).toMatchObject([{ turn_id: 't1', status: 'open', parked: true }])
    expect(body.reviews).toEqual(await table.pending())
    expect((await table.server.ask('GET', `${REVIEWS}/${id}`, { as: 'agent' })).status).toBe(200)
    await table.decide(id, { action: 'cancel' })
    const after = await table.server.ask<SessionAnswer>('GET', '/api/sessions/c1', { as: 'agent' })
    expect(after.body.turns).toMatchObject([{ parked: false }])
    expect(after.body.reviews).toMatchObject([{ review_id: id, status: 'cancelled' }])
  })

  it('does not exist with review off: the call is answered', async () => {
    const table = await brief({ review: false })
    expect(resultOf(await table.call())).toMatchObject({ created_count: 2 })
    expect(await table.pending()).toEqual([])
    expect(await table.types()).not.toContain('task_create_review_required')
  })

  it('an unknown one is 404, wherever it is named', async () => {
    const { server } = await brief()
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['POST', '/decision', { action: 'cancel' }],
      ['PUT', '/panels/p', undefined],
      ['DELETE', '/panels/p', undefined],
    ] as const) {
      expect((await server.refused(404, method, `${REVIEWS}/rev_none${path}`, { body })).code).toBe('review_not_found')
    }
  })

  it('an id of another form is 400', async () => {
    const { server } = await brief()
    const bad = { field: 'review_id', code: 'invalid_id' }
    expect(await server.refused(400, 'GET', `${REVIEWS}/a.b`)).toMatchObject(bad)
    expect(await server.refused(400, 'GET', `${REVIEWS}/pending?session_id=a.b`)).toMatchObject({ field: 'session_id' })
    expect(await server.refused(400, 'PUT', `${REVIEWS}/r/panels/a.b`)).toMatchObject({ field: 'panel' })
  })
})

describe('a decision', () => {
  it('[RH2] confirm writes the edited rows in their order; what a row leaves out is as in its draft', async () => {
    const table = await brief()
    const input = {
      tasks: [
        { title: 'A', details: 'd', priority: 'high', tags: ['x'] },
        { title: 'B', status: 'doing' },
        { title: 'C' },
      ],
    }
    const id = await table.proposed('call-1', input)
    const { status, body } = await table.decide(id, {
      action: 'confirm',
      comment: 'go',
      tasks: [
        { title: 'New', criteria: 'it works' },
        { draft_index: 2 },
        { draft_index: 0, title: ' A2 ', details: '', status: 'done' },
      ],
    })
    expect(status).toBe(200)
    expect(body.review).toMatchObject({ review_id: id, status: 'confirmed' })
    const { tasks } = await table.server.person.tasks('c1')
    expect(tasks).toMatchObject([
      { ...BLANK, title: 'New', criteria: 'it works', status: 'in_progress', created_by: 'user' },
      { ...BLANK, title: 'C', status: 'pending', created_by: 'tool' },
      { title: 'A2', details: '', priority: 'high', tags: ['x'], status: 'completed', judged_by: 'person' },
    ])
    expect(tasks[2]).not.toHaveProperty('outcome')
    expect(body.result).toMatchObject({
      confirmed: true,
      created_count: 3,
      session_id: 'c1',
      conversation_turn_id: 't1',
      comment: 'go',
      tasks: tasks.map(({ id, title }) => ({ id, title })),
      changes: {
        kept: [{ ...BLANK, title: 'C' }],
        edited: [
          {
            from: { ...BLANK, title: 'A', details: 'd', priority: 'high', tags: ['x'] },
            to: { ...BLANK, title: 'A2', priority: 'high', tags: ['x'], status: 'done' },
          },
        ],
        added: [{ ...BLANK, title: 'New', criteria: 'it works' }],
        removed: [{ ...BLANK, title: 'B', status: 'doing' }],
        reordered: true,
      },
    })
    const resolved = (await table.log()).find(({ type }) => type === 'task_create_review_resolved')
    expect(resolved?.data).toMatchObject({ action: 'confirm', via: 'http', created_count: 3, comment: 'go' })
  })

  it.each(Object.keys(CREATING) as ToolsetName[])(
    '[RH2] what it answers is what the waiting call of %s answers, and what the review then shows',
    async toolset => {
      const table = await Table.laid(await started(), { toolset })
      const waiting = table.call('call-1')
      const { review_id } = await table.asked()
      const decided = await table.confirm(
        review_id,
        { draft_index: 0, title: 'A2' },
        { title: 'Added', status: 'blocked' },
      )
      const answered = await waiting
      expect([decided.status, answered.status]).toEqual([200, 200])
      expect(answered.text).toBe(JSON.stringify({ result: decided.body.result }))
      expect((await table.review(review_id)).body).toEqual(decided.body)
      expect((await table.log()).findLast(({ type }) => type === 'tool_answered')?.data).toMatchObject({
        tool_call_id: 'call-1',
        result: decided.body.result,
        ok: true,
      })
      expect(await table.titles()).toEqual(['A2', 'Added'])
      expect(decided.body.result).toHaveProperty('changes')
    },
  )

  it.each(Object.keys(CREATING) as ToolsetName[])('[RH2] the same holds for a cancel with %s', async toolset => {
    const table = await Table.laid(await started(), { toolset })
    const waiting = table.call('call-1')
    const { review_id } = await table.asked()
    const decided = await table.decide(review_id, { action: 'cancel', comment: 'not now' })
    expect((await waiting).text).toBe(JSON.stringify({ result: decided.body.result }))
    expect(decided.body.review.status).toBe('cancelled')
    expect(decided.body.result).toMatchObject({
      confirmed: false,
      cancelled: true,
      reason: 'user_cancelled',
      comment: 'not now',
      ...(toolset === 'manage_todos' ? { success: false, state: { total: 0 } } : {}),
    })
    expect(await table.titles()).toEqual([])
  })

  it('[RH2] a toolset that the person changes meanwhile does not change what the tool that asked answers', async () => {
    const table = await Table.laid(await started(), { toolset: 'task_manager' })
    const waiting = table.call('call-1')
    const { review_id } = await table.asked()
    await table.server.person.setPolicy('c1', { toolset: 'runsheet' })
    const decided = await table.confirm(review_id, { draft_index: 0 })
    expect(decided.body.result).toMatchObject({ confirmed: true, created_count: 1 })
    expect((await waiting).text).toBe(JSON.stringify({ result: decided.body.result }))
    expect((await table.review(review_id)).body).toEqual(decided.body)
  })

  it('[RH2] a cancel may say why; it tells what it was told and no more', async () => {
    const table = await brief()
    const id = await table.proposed()
    const { body } = await table.decide(id, { action: 'cancel', reason: 'panel_closed' })
    expect(body.result).toEqual({ confirmed: false, cancelled: true, reason: 'panel_closed' })
  })

  it('[RH2] is on disk before it is answered', async () => {
    const place = await placeFor('sqlite', '')
    const [one, other] = [await place.open(), await place.open()]
    const table = await Table.laid(await started({ door: openDoor({ store: one }), reviewWaitMs: 1 }))
    const id = await table.proposed()
    const { body } = await table.confirm(id, { draft_index: 0 })
    const found = await other.queries.review('local', id)
    expect(found?.record.review).toEqual(body.review)
    await other.close()
    await table.server.close()
    await place.remove()
  })

  it('is a person’s: an agent gets 403, and the review waits on', async () => {
    const table = await brief()
    const id = await table.proposed()
    const as = 'agent'
    const body = { action: 'confirm', tasks: [{ draft_index: 0 }] }
    for (const [method, path, more] of [
      ['POST', 'decision', { body }],
      ['PUT', 'panels/p', {}],
      ['DELETE', 'panels/p', {}],
    ] as const) {
      const { code } = await table.server.refused(403, method, `${REVIEWS}/${id}/${path}`, { as, ...more })
      expect(code).toBe('persons_only')
    }
    expect((await table.pending()).map(({ review_id }) => review_id)).toEqual([id])
  })
})

describe('the same decision again', () => {
  it('answers the same, byte for byte, also with other key order and after the tasks changed', async () => {
    const table = await brief()
    const id = await table.proposed('call-1')
    const first = await table.decide(id, {
      action: 'confirm',
      comment: 'go',
      tasks: [{ draft_index: 0, title: 'A2' }, { title: 'New' }],
    })
    const [task] = (await table.server.person.tasks('c1')).tasks
    await table.server.person.changeTask('c1', task?.id ?? '', task?.version ?? 0, { title: 'A3', status: 'completed' })
    await table.server.person.addTask('c1', { title: 'Later' })
    const again = await table.decide(id, {
      tasks: [{ title: 'A2', draft_index: 0 }, { title: 'New' }],
      comment: 'go',
      action: 'confirm',
    })
    expect([first.status, again.status]).toEqual([200, 200])
    expect(again.text).toBe(first.text)
    expect(await table.titles()).toEqual(['A3', 'New', 'Later'])
  })

  it('also for a cancel', async () => {
    const table = await brief()
    const id = await table.proposed()
    const first = await table.decide(id, { action: 'cancel', reason: 'x', comment: 'y' })
    const again = await table.decide(id, { comment: 'y', reason: 'x', action: 'cancel' })
    expect([again.status, again.text]).toEqual([200, first.text])
  })

  it('also after a restart; another one is still refused then', async () => {
    const place = await placeFor('sqlite', '')
    const serve = async (): Promise<CheckedServer> =>
      started({ door: openDoor({ store: await place.open() }), reviewWaitMs: 1 })
    const before = await Table.laid(await serve())
    const id = await before.proposed()
    const decision = { action: 'confirm', tasks: [{ draft_index: 1 }, { draft_index: 0 }] }
    const first = await before.decide(id, decision)
    await before.server.close()
    const table = new Table(await serve())
    const again = await table.decide(id, decision)
    expect([again.status, again.text]).toEqual([200, first.text])
    expect(errorOf(await table.decide(id, { action: 'cancel' })).code).toBe('review_already_decided')
    expect(await table.titles()).toEqual(['B', 'A'])
    await table.server.close()
    await place.remove()
  })

  it('another one is 409 review_already_decided', async () => {
    const table = await brief()
    const id = await table.proposed()
    await table.confirm(id, { draft_index: 0 })
    for (const body of [
      { action: 'cancel' },
      { action: 'confirm', tasks: [{ draft_index: 1 }] },
      { action: 'confirm', tasks: [{ draft_index: 0 }], comment: 'go' },
    ]) {
      const answer = await table.decide(id, body)
      expect([answer.status, errorOf(answer).code]).toEqual([409, 'review_already_decided'])
    }
    expect(await table.titles()).toEqual(['A'])
  })
})

describe('rows that are wrong', () => {
  const good = { draft_index: 0 }
  const twenty = (more: number) => Array.from({ length: 20 + more }, (_, index) => ({ title: `Task ${index}` }))
  it.each([
    ['an empty title', [good, { title: ' ' }], { row: 1, field: 'title' }],
    ['no title', [good, { details: 'x' }], { row: 1, field: 'title' }],
    ['a title of 401', [{ title: 'x'.repeat(401) }], { row: 0, field: 'title' }],
    ['half a surrogate', [{ title: '\ud83d' }], { row: 0, field: 'title' }],
    ['details of 8,001', [good, { title: 'x', details: 'x'.repeat(8_001) }], { row: 1, field: 'details' }],
    ['criteria of 8,001', [{ title: 'x', criteria: 'x'.repeat(8_001) }], { row: 0, field: 'criteria' }],
    [
      'two doing',
      [
        { ...good, status: 'doing' },
        { title: 'x', status: 'doing' },
      ],
      { code: 'two_in_progress', row: 1, field: 'status' },
    ],
    ['an unknown status', [{ ...good, status: 'pending' }], { row: 0, field: 'status' }],
    ['an unknown priority', [{ ...good, priority: 'urgent' }], { row: 0, field: 'priority' }],
    ['an empty tag', [{ ...good, tags: ['a', ' '] }], { row: 0, field: 'tags' }],
    ['a tag of 65', [{ ...good, tags: ['x'.repeat(65)] }], { row: 0, field: 'tags' }],
    ['21 tags', [{ ...good, tags: Array.from({ length: 21 }, (_, i) => `t${i}`) }], { row: 0, field: 'tags' }],
    ['tags as a string', [{ ...good, tags: 'a,b' }], { row: 0, field: 'tags' }],
    ['a tag as a number', [good, { ...good, tags: [1] }], { row: 1, field: 'tags' }],
    ['a draft_index out of range', [good, { draft_index: 2 }], { row: 1, field: 'draft_index' }],
    ['a negative draft_index', [{ draft_index: -1 }], { row: 0, field: 'draft_index' }],
    ['half a draft_index', [{ draft_index: 0.5 }], { row: 0, field: 'draft_index' }],
    ['a draft_index twice', [good, good], { row: 1, field: 'draft_index' }],
    ['a title as a number', [good, { title: 7 }], { row: 1, field: 'title' }],
    ['null as a title', [{ ...good, title: null }], { row: 0, field: 'title' }],
    ['an unknown key', [good, { title: 'x', owner: 'me' }], { row: 1, field: 'owner' }],
    ['a row that is no object', [good, 'x'], { row: 1, field: 'tasks' }],
    ['rows that are no array', { title: 'x' }, { field: 'tasks' }],
    ['no rows', undefined, { field: 'tasks' }],
    ['0 rows', [], { code: 'batch_empty' }],
    ['21 rows', twenty(1), { code: 'batch_too_large' }],
  ])('%s: 422 with row and field, and the review can still be confirmed', async (_, tasks, where) => {
    const table = await brief()
    const id = await table.proposed()
    const answer = await table.decide(id, { action: 'confirm', tasks })
    expect([answer.status, errorOf(answer)]).toEqual([
      422,
      expect.objectContaining({ code: 'invalid_field', ...where }),
    ])
    if (!('row' in where)) expect(errorOf(answer)).not.toHaveProperty('row')
    expect((await table.pending()).map(({ review_id }) => review_id)).toEqual([id])
    expect(await table.titles()).toEqual([])
    expect((await table.confirm(id, ...twenty(0))).status).toBe(200)
    expect(await table.titles()).toHaveLength(20)
  })

  it.each([
    ['no action', {}, 'action'],
    ['an unknown action', { action: 'maybe' }, 'action'],
    ['an unknown key', { action: 'cancel', tasks: [] }, 'tasks'],
    ['an empty reason', { action: 'cancel', reason: ' ' }, 'reason'],
    ['a reason of another type', { action: 'cancel', reason: 1 }, 'reason'],
    ['a comment of 8,001', { action: 'cancel', comment: 'x'.repeat(8_001) }, 'comment'],
    ['a comment of another type', { action: 'confirm', tasks: [good], comment: {} }, 'comment'],
    ['no object', [], 'body'],
  ])('%s is 422', async (_, body, field) => {
    const table = await brief()
    const id = await table.proposed()
    const answer = await table.decide(id, body)
    expect([answer.status, errorOf(answer)]).toEqual([422, expect.objectContaining({ code: 'invalid_field', field })])
    expect((await table.decide(id, { action: 'cancel' })).status).toBe(200)
  })

  it('titles are cleaned and counted in code points as anywhere', async () => {
    const table = await brief()
    const id = await table.proposed()
    const wide = '🙂'.repeat(400)
    expect((await table.confirm(id, { title: ' a\nb ' }, { title: wide })).status).toBe(200)
    expect(await table.titles()).toEqual(['a b', wide])
  })
})

describe('decisions that race', () => {
  it('of 100 different ones exactly one wins', async () => {
    const table = await brief()
    const id = await table.proposed()
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        index % 2 === 0
          ? table.confirm(id, { title: `Task ${index}` })
          : table.decide(id, { action: 'cancel', comment: `${index}` }),
      ),
    )
    const won = answers.filter(({ status }) => status === 200)
    expect(won).toHaveLength(1)
    const lost = answers.filter(({ status }) => status === 409)
    expect(lost).toHaveLength(99)
    expect(new Set(lost.map(answer => errorOf(answer).code))).toEqual(new Set(['review_already_decided']))
    expect((await table.review(id)).body).toEqual(won[0]?.body)
    expect(await table.titles()).toHaveLength(won[0]?.body.review.status === 'confirmed' ? 1 : 0)
    expect((await table.types()).filter(type => type === 'task_create_review_resolved')).toHaveLength(1)
  })

  it.each(['memory', 'sqlite'] as const)('100 equal ones are all answered, and write once (%s)', async store => {
    const table = await Table.laid(await started({ reviewWaitMs: 1, store }))
    const id = await table.proposed()
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => table.confirm(id, { draft_index: 1 }, { title: 'New' })),
    )
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(await table.titles()).toEqual(['B', 'New'])
  })
})

describe('time that runs out', () => {
  it('cancels: the waiting call is told review_timeout, and a decision gets 409 review_expired', async () => {
    const table = await Table.laid(await started(), { review_timeout_ms: 60 })
    const answer = await table.call('call-1')
    expect(resultOf(answer)).toEqual({ confirmed: false, cancelled: true, reason: 'review_timeout' })
    const [review_id = ''] = (await table.log()).flatMap(event =>
      event.type === 'task_create_review_required' ? [event.data.review_id] : [],
    )
    expect((await table.review(review_id)).body).toMatchObject({
      review: { status: 'expired', timeout_ms: 60 },
      result: resultOf(answer),
    })
    for (const body of [{ action: 'cancel' }, { action: 'confirm', tasks: [{ draft_index: 0 }] }]) {
      const late = await table.decide(review_id, body)
      expect([late.status, errorOf(late).code]).toEqual([409, 'review_expired'])
    }
    const resolved = (await table.log()).filter(({ type }) => type === 'task_create_review_resolved')
    expect(resolved.map(({ data }) => data)).toMatchObject([
      { action: 'cancel', reason: 'review_timeout', via: 'system' },
    ])
    expect(await table.titles()).toEqual([])
  })

  it('an overdue review reads as expired before that is in the log', async () => {
    let skew = 0
    const store = storeWith(openMemoryStore({ skewMs: () => skew }), { due: async () => ({ reviews: [] }) })
    const table = await Table.laid(await started({ door: openDoor({ store }), reviewWaitMs: 1 }))
    const id = await table.proposed()
    skew = 120_001
    expect(await table.pending()).toEqual([])
    expect(await table.pending('')).toEqual([])
    expect((await table.review(id)).body).toMatchObject({ review: { status: 'expired' } })
    const { body } = await table.server.ask<SessionAnswer>('GET', '/api/sessions/c1')
    expect(body.reviews).toMatchObject([{ review_id: id, status: 'expired' }])
    expect(errorOf(await table.confirm(id, { draft_index: 0 })).code).toBe('review_expired')
    expect((await table.server.refused(409, 'PUT', `${REVIEWS}/${id}/panels/p`)).code).toBe('review_expired')
    expect(await table.types()).not.toContain('task_create_review_resolved')
  })

  it('a person may set up to 30 days, and no more', async () => {
    const table = await brief({ review_timeout_ms: 30 * DAY })
    await table.proposed()
    const [review] = await table.pending()
    const required = (await table.log()).at(-1)
    expect(review?.timeout_ms).toBe(30 * DAY)
    expect(Date.parse(review?.expires_at ?? '') - Date.parse(required?.timestamp ?? '')).toBe(30 * DAY)
    for (const review_timeout_ms of [30 * DAY + 1, 0, -1, 1.5, '60000']) {
      const error = await table.server.refused(422, 'PUT', '/api/sessions/c1/policy', { body: { review_timeout_ms } })
      expect(error).toMatchObject({ code: 'invalid_field', field: 'review_timeout_ms' })
    }
  })
})

describe('panels', () => {
  const panel = (table: Table, method: 'PUT' | 'DELETE', id: string, name: string) =>
    table.server.ask(method, `${REVIEWS}/${id}/panels/${name}`)
  const closesAt = async (table: Table, id: string): Promise<string | null | undefined> =>
    (await table.server.door.read({ tenant: 'local', conversation: 'c1' })).reviews.get(id)?.closes_at

  it('a while after the last one left, with none back, the review is cancelled', async () => {
    const table = await Table.laid(await started(), { panel_grace_ms: 30 })
    const waiting = table.call('call-1')
    const { review_id } = await table.asked()
    expect(await panel(table, 'PUT', review_id, 'p')).toMatchObject({ status: 204, text: '' })
    expect(await panel(table, 'DELETE', review_id, 'p')).toMatchObject({ status: 204, text: '' })
    expect(resultOf(await waiting)).toEqual({ confirmed: false, cancelled: true, reason: 'panel_closed' })
    expect((await table.review(review_id)).body.review.status).toBe('cancelled')
    expect(errorOf(await table.decide(review_id, { action: 'cancel' })).code).toBe('review_already_decided')
  })

  it('a panel that comes back within the grace keeps it', async () => {
    const table = await brief({ panel_grace_ms: 60_000 })
    const id = await table.proposed()
    await panel(table, 'PUT', id, 'p')
    await panel(table, 'DELETE', id, 'p')
    const closes = await closesAt(table, id)
    const left = (await table.log()).at(-1)
    expect(Date.parse(closes ?? '') - Date.parse(left?.timestamp ?? '')).toBe(60_000)
    await panel(table, 'PUT', id, 'p2')
    expect(await closesAt(table, id)).toBeNull()
    expect((await table.confirm(id, { draft_index: 0 })).status).toBe(200)
  })

  it('a grace that is over counts before that is in the log', async () => {
    let skew = 0
    const store = storeWith(openMemoryStore({ skewMs: () => skew }), { due: async () => ({ reviews: [] }) })
    const table = await Table.laid(await started({ door: openDoor({ store }), reviewWaitMs: 1 }))
    const id = await table.proposed()
    await panel(table, 'PUT', id, 'p')
    await panel(table, 'DELETE', id, 'p')
    skew = 15_001
    expect((await table.review(id)).body.review.status).toBe('cancelled')
    expect(await table.pending()).toEqual([])
    expect(errorOf(await table.confirm(id, { draft_index: 0 })).code).toBe('review_already_decided')
  })

  it('of two panels both have to leave; leaving twice counts once', async () => {
    const table = await brief({ panel_grace_ms: 60_000 })
    const id = await table.proposed()
    for (const name of ['a', 'b', 'a']) await panel(table, 'PUT', id, name)
    await panel(table, 'DELETE', id, 'a')
    expect(await closesAt(table, id)).toBeNull()
    await panel(table, 'DELETE', id, 'b')
    const closes = await closesAt(table, id)
    expect(closes).not.toBeNull()
    await panel(table, 'DELETE', id, 'b')
    await panel(table, 'DELETE', id, 'never-there')
    expect(await closesAt(table, id)).toBe(closes)
    expect((await table.types()).filter(type => type.startsWith('review_panel'))).toHaveLength(4)
  })

  it('leaving a decided review changes nothing; opening a panel on it is refused', async () => {
    const table = await brief()
    const id = await table.proposed()
    await panel(table, 'PUT', id, 'p')
    await table.confirm(id, { draft_index: 0 })
    expect((await panel(table, 'DELETE', id, 'p')).status).toBe(204)
    expect((await table.server.refused(409, 'PUT', `${REVIEWS}/${id}/panels/p`)).code).toBe('review_already_decided')
    expect((await table.review(id)).body.review.status).toBe('confirmed')
  })
})

describe('a restart', () => {
  it('keeps the review with its deadline; deciding works, and the call that waited gets the answer', async () => {
    const place = await placeFor('sqlite', '')
    const serve = async (): Promise<CheckedServer> => started({ door: openDoor({ store: await place.open() }) })
    const before = await Table.laid(await serve())
    const interrupted = before.call('call-1')
    const asked = await before.asked()
    await before.server.close()
    expect(await interrupted).toMatchObject({ status: 202, body: { review_id: asked.review_id } })

    const table = new Table(await serve())
    expect(await table.pending()).toEqual([asked])
    const waiting = table.call('call-1')
    const decided = await table.confirm(asked.review_id, { draft_index: 1 })
    expect(resultOf(await waiting)).toEqual(decided.body.result)
    expect(await table.titles()).toEqual(['B'])
    expect((await table.types()).filter(type => type === 'task_create_review_required')).toHaveLength(1)
    await table.server.close()
    await place.remove()
  })

  it('a deadline that passed during the restart is kept', async () => {
    const place = await placeFor('sqlite', '')
    const serve = async (): Promise<CheckedServer> =>
      started({ door: openDoor({ store: await place.open() }), reviewWaitMs: 1 })
    const before = await Table.laid(await serve(), { review_timeout_ms: 200 })
    // The deadline may come before the answer does, on a busy machine; then there is nothing left to interrupt.
    await before.call('call-1')
    await before.server.close()
    const table = new Table(await started({ door: openDoor({ store: await place.open() }) }))
    expect(resultOf(await table.call('call-1'))).toMatchObject({ reason: 'review_timeout' })
    await table.server.close()
    await place.remove()
  })
})

describe('a call that waits', () => {
  it('[HT22] answers 202 after a while, each time it asks, and then the decision', async () => {
    const table = await Table.laid(await started({ reviewWaitMs: 50 }))
    const first = await table.call('call-1')
    expect(first).toMatchObject({ status: 202, body: { status: 'pending_review' } })
    expect(await table.call('call-1')).toMatchObject({ status: 202, text: first.text })
    const id = 'review_id' in first.body ? first.body.review_id : ''
    const decided = await table.confirm(id, { draft_index: 0 })
    const answered = await table.call('call-1')
    expect(resultOf(answered)).toEqual(decided.body.result)
    expect((await table.call('call-1')).text).toBe(answered.text)
    expect((await table.types()).filter(type => type === 'tool_answered')).toHaveLength(1)
  })

  it('[HT22] an answer that was not delivered yet contains edits made since the decision', async () => {
    const table = await brief()
    const id = await table.proposed('call-1')
    await table.confirm(id, { draft_index: 0 })
    const [task] = (await table.server.person.tasks('c1')).tasks
    await table.server.person.changeTask('c1', task?.id ?? '', task?.version ?? 0, { title: 'Reworded' })
    const answered = await table.call('call-1')
    expect(resultOf(answered)).toMatchObject({ tasks: [{ title: 'Reworded' }] })
    await table.server.person.changeTask('c1', task?.id ?? '', (task?.version ?? 0) + 1, { title: 'Again' })
    expect((await table.call('call-1')).text).toBe(answered.text)
  })

  it('[HT22] the end of the server answers 202 at once', async () => {
    const table = await Table.laid(await started())
    const waiting = table.call('call-1')
    const { review_id } = await table.asked()
    await table.server.server.close(20_000)
    expect(await waiting).toMatchObject({ status: 202, body: { status: 'pending_review', review_id } })
  })

  it('[HT22] also where the end comes while the call is being taken', async () => {
    const gate = Promise.withResolvers<void>()
    const taking = Promise.withResolvers<void>()
    const memory = openMemoryStore()
    const store = storeWith(memory, {
      commit: async (at, decide) => {
        const committed = await memory.commit(at, decide)
        if (at.once?.key === 'call:t1:call-1') {
          taking.resolve()
          await gate.promise
        }
        return committed
      },
    })
    const table = await Table.laid(await started({ door: openDoor({ store }) }))
    const waiting = table.call('call-1')
    await taking.promise
    const closed = table.server.server.close(20_000)
    gate.resolve()
    expect((await waiting).status).toBe(202)
    await closed
  })

  it('[HT22] a client that disconnects leaves the review pending', async () => {
    const table = await Table.laid(await started())
    const gone = new AbortController()
    const [tool, input] = CREATING.task_manager
    const request = { session_id: 'c1', turn_id: 't1', tool_call_id: 'call-1', arguments: input }
    const call = table.server.agent.call('task_manager', tool, request, gone.signal)
    const { review_id } = await table.asked()
    gone.abort()
    await expect(call).rejects.toThrow('aborted')
    expect((await table.pending()).map(review => review.review_id)).toEqual([review_id])
    const decided = await table.confirm(review_id, { draft_index: 0 })
    expect(resultOf(await table.call('call-1'))).toEqual(decided.body.result)
  })

  it('[HT22] a client that disconnects leaves no waiter behind', async () => {
    const memory = openMemoryStore()
    const listening: AbortSignal[] = []
    const store = storeWith(memory, {
      changes: signal => {
        listening.push(signal)
        return memory.changes(signal)
      },
    })
    const table = await Table.laid(await started({ door: openDoor({ store }), reviewWaitMs: DAY }))
    const gone = new AbortController()
    const [tool, input] = CREATING.task_manager
    const request = { session_id: 'c1', turn_id: 't1', arguments: input }
    const call = table.server.agent.call('task_manager', tool, request, gone.signal)
    // The log is listened to while a call waits.
    await vi.waitFor(() => expect(listening.map(({ aborted }) => aborted)).toEqual([false]), PATIENCE)
    gone.abort()
    await expect(call).rejects.toThrow('aborted')
    await vi.waitFor(() => expect(listening.map(({ aborted }) => aborted)).toEqual([true]), PATIENCE)
  })

  it('[HT22] a turn that is stopped ends its review: the call is told turn_stopped', async () => {
    const table = await Table.laid(await started())
    const waiting = table.call('call-1')
    const { review_id } = await table.asked()
    await table.server.person.stop('c1', 't1')
    expect(resultOf(await waiting)).toEqual({ confirmed: false, cancelled: true, reason: 'turn_stopped' })
    expect((await table.review(review_id)).body.review.status).toBe('cancelled')
  })
})

describe('the same call', () => {
  it('[HT22][TS15] without an id waits on the same review: of 20 at once the first one opens it', async () => {
    const table = await Table.laid(await started())
    const calls = Array.from({ length: 20 }, () => table.call())
    // A call that came after the decision would be another call.
    await vi.waitFor(async () => {
      const { text } = await table.server.ask('GET', '/metrics', { as: 'nobody' })
      expect(text).toContain('\nrunsheet_review_waiters 20\n')
    }, PATIENCE)
    const waiting = await table.pending()
    expect(waiting).toHaveLength(1)
    const decided = await table.confirm(waiting[0]?.review_id ?? '', { draft_index: 0 })
    const answers = await Promise.all(calls)
    expect(new Set(answers.map(({ text }) => text))).toEqual(new Set([JSON.stringify({ result: decided.body.result })]))
    expect(await table.titles()).toEqual(['A'])
    expect((await table.types()).filter(type => type === 'tool_answered')).toHaveLength(1)
  })

  it('[HT22][TS15] with other arguments, in another turn or under an id of its own it is another call', async () => {
    const table = await brief()
    const id = await table.proposed()
    expect(await table.proposed()).toBe(id)
    const [, input] = CREATING.task_manager
    const reordered = {
      tasks: (input as { tasks: object[] }).tasks.map(row => Object.fromEntries(Object.entries(row).toReversed())),
    }
    expect(await table.proposed(undefined, reordered)).toBe(id)
    const others = [await table.proposed(undefined, { tasks: [{ title: 'Other' }] }), await table.proposed('call-1')]
    const elsewhere = await table.call('', input, 't2')
    const ids = [id, ...others, 'review_id' in elsewhere.body ? elsewhere.body.review_id : '']
    expect(new Set(ids).size).toBe(4)
    // In a turn the newest plan supersedes the others.
    expect((await table.pending()).map(({ review_id }) => review_id)).toEqual(ids.slice(2))
  })

  it('[HT22][TS15] after a decision whose answer it missed gets that answer, and then opens a new review', async () => {
    const table = await brief()
    const first = await table.proposed()
    await table.decide(first, { action: 'cancel' })
    expect(await table.call()).toMatchObject({ status: 200, body: { result: { reason: 'user_cancelled' } } })
    const second = await table.proposed()
    expect(second).not.toBe(first)
    await table.confirm(second, { draft_index: 0 })
    expect(await table.call()).toMatchObject({ status: 200, body: { result: { confirmed: true } } })
    expect(await table.proposed()).not.toBe(second)
  })

  it('[HT22] under a known id answers what it answered, and does nothing again', async () => {
    const table = await brief({ review: false })
    const first = await table.call('call-1')
    await table.server.person.addTask('c1', { title: 'Mine' })
    expect(await table.call('call-1')).toMatchObject({ status: 200, text: first.text })
    expect(await table.titles()).toEqual(['A', 'B', 'Mine'])
    expect((await table.call('call-1', undefined, 't2')).status).toBe(200)
    expect(await table.titles()).toHaveLength(5)
  })

  it('[HT22][TS14] under the id that our event shows waits on, and answers the same', async () => {
    const table = await brief()
    const id = await table.proposed()
    const [review] = await table.pending()
    const ours = review?.tool_call_id
    expect(await table.proposed(ours)).toBe(id)
    const conflict = await table.call(ours, { tasks: [{ title: 'Other' }] })
    expect([conflict.status, errorOf(conflict).code]).toEqual([409, 'tool_call_conflict'])
    const decided = await table.confirm(id, { draft_index: 0 })
    expect(resultOf(await table.call(ours))).toEqual(decided.body.result)
    expect(resultOf(await table.call(ours))).toEqual(decided.body.result)
    expect(await table.titles()).toEqual(['A'])
  })

  it('under a known id with other arguments is 409 tool_call_conflict, decided or not', async () => {
    const table = await brief()
    const other = { tasks: [{ title: 'Other' }] }
    const id = await table.proposed('call-1')
    const conflict = async (): Promise<void> => {
      const answer = await table.call('call-1', other)
      expect([answer.status, errorOf(answer).code]).toEqual([409, 'tool_call_conflict'])
    }
    await conflict()
    await table.confirm(id, { draft_index: 0 })
    await conflict()
    await table.call('call-1')
    await conflict()
    expect(await table.pending()).toEqual([])
    expect(await table.titles()).toEqual(['A'])
  })
})

describe('a plan that is sent back', () => {
  it.each(Object.keys(CREATING) as ToolsetName[])('tells the model of %s what to change', async toolset => {
    const table = await Table.laid(await started(), { toolset })
    const waiting = table.call('call-1')
    const { review_id } = await table.asked()
    const tasks = [{ draft_index: 0, title: 'A2' }]
    const decided = await table.decide(review_id, { action: 'revise', comment: 'Only the first', tasks })
    expect([decided.status, decided.body.review.status]).toEqual([200, 'cancelled'])
    expect((await waiting).text).toBe(JSON.stringify({ result: decided.body.result }))
    expect(decided.body.result).toMatchObject({
      confirmed: false,
      cancelled: true,
      reason: 'changes_requested',
      comment: 'Only the first',
      changes: { edited: [{ from: { title: 'A' }, to: { title: 'A2' } }] },
      ...(toolset === 'manage_todos' ? { success: false, state: { total: 0 } } : {}),
    })
    expect(await table.titles()).toEqual([])
    const next = table.call('call-2')
    expect(await table.asked()).toMatchObject({ revises: review_id })
    await table.decide((await table.asked()).review_id, { action: 'cancel' })
    await next
  })

  it.each([
    ['no comment', { action: 'revise' }, 'comment'],
    ['a blank comment', { action: 'revise', comment: ' \n' }, 'comment'],
    ['a row without a title', { action: 'revise', comment: 'x', tasks: [{ title: '' }] }, 'title'],
    ['an unknown key', { action: 'revise', comment: 'x', reason: 'y' }, 'reason'],
  ])('%s is 422, and the review waits on', async (_, body, field) => {
    const table = await brief()
    const id = await table.proposed()
    const answer = await table.decide(id, body)
    expect([answer.status, errorOf(answer)]).toEqual([422, expect.objectContaining({ code: 'invalid_field', field })])
    expect(await table.pending()).toHaveLength(1)
  })

  it('the same body again answers the same; another one is 409', async () => {
    const table = await brief()
    const id = await table.proposed()
    const first = await table.decide(id, { action: 'revise', comment: 'x' })
    const again = await table.decide(id, { comment: 'x', action: 'revise' })
    expect([again.status, again.text]).toEqual([200, first.text])
    expect(errorOf(await table.decide(id, { action: 'revise', comment: 'y' })).code).toBe('review_already_decided')
  })
})

describe('rows in the shape of the draft', () => {
  it.each(Object.keys(CREATING) as ToolsetName[])(
    '[RE21] draft_tasks of %s may be sent back as they are',
    async toolset => {
      const table = await Table.laid(await started({ reviewWaitMs: 1 }), { toolset })
      const id = await table.proposed()
      const [review] = await table.pending()
      const decided = await table.decide(id, { action: 'confirm', tasks: review?.draft_tasks })
      expect(decided.status).toBe(200)
      const resolved = (await table.log()).find(({ type }) => type === 'task_create_review_resolved')
      expect(resolved?.data).toMatchObject({ changes: { edited: [], added: [], removed: [], reordered: false } })
      const { tasks } = await table.server.person.tasks('c1')
      expect(tasks.map(({ created_by }) => created_by)).toEqual(review?.draft_tasks.map(() => 'tool'))
    },
  )

  it('[RE21] in the second design’s own shape, without draft_index: another priority and another title are edits', async () => {
    const table = await brief()
    const id = await table.proposed()
    const tasks = [
      { title: 'A', details: 'd', priority: 'high', status: 'todo', tags: ['x'] },
      { title: 'C', details: '', priority: 'medium', status: 'todo', tags: [] },
      { title: 'New', details: '', priority: 'low', status: 'todo', tags: [] },
    ]
    const { body } = await table.decide(id, { action: 'confirm', tasks: tasks.slice(0, 2) })
    const edited = [
      { from: { title: 'A', priority: 'medium' }, to: { title: 'A', priority: 'high' } },
      { from: { title: 'B' }, to: { title: 'C' } },
    ]
    expect(body.result).toMatchObject({ changes: { kept: [], edited, added: [], removed: [] } })
    const more = await table.decide(await table.proposed('call-2'), { action: 'confirm', tasks })
    expect(more.body.result).toMatchObject({ changes: { edited, added: [{ title: 'New' }], removed: [] } })
  })

  it('[RE21] a row with draft_index null is new', async () => {
    const table = await brief()
    const { body } = await table.confirm(await table.proposed(), { title: 'A', draft_index: null })
    expect(body.result).toMatchObject({ changes: { kept: [], added: [{ title: 'A' }], removed: [{}, {}] } })
  })
})

describe('a review without a deadline', () => {
  it('is the rule but in task_manager: it is listed last, and survives its panels', async () => {
    const server = await started({ reviewWaitMs: 1 })
    const table = await Table.laid(server, { session: 'patient', toolset: 'runsheet' })
    const id = await table.proposed()
    const quick = await Table.laid(server, { session: 'quick' })
    const ids = [await quick.proposed(), id]
    expect((await table.pending('')).map(({ review_id }) => review_id)).toEqual(ids)
    for (const method of ['PUT', 'DELETE'] as const) await server.ask(method, `${REVIEWS}/${id}/panels/p`)
    const { body } = await table.review(id)
    expect(body.review).toMatchObject({ status: 'pending', timeout_ms: null, expires_at: null })
    expect((await server.door.read({ tenant: 'local', conversation: 'patient' })).reviews.get(id)?.closes_at).toBeNull()
    expect((await table.confirm(id, { draft_index: 0 })).status).toBe(200)
  })

  it('a person may take the deadline away, and give one', async () => {
    const table = await brief({ review_timeout_ms: null, panel_grace_ms: null })
    expect(await table.server.person.setPolicy('c1', { review_timeout_ms: 5 })).toMatchObject({
      policy: { review_timeout_ms: 5, panel_grace_ms: null },
    })
    for (const body of [{ max_steps: null }, { review_timeout_ms: 'never' }]) {
      expect((await table.server.refused(422, 'PUT', '/api/sessions/c1/policy', { body })).code).toBe('invalid_field')
    }
  })

  it('[RE24] a newer plan in the same turn supersedes it, and the call that waited hears so', async () => {
    const table = await Table.laid(await started(), { toolset: 'runsheet' })
    const first = table.call('call-1')
    await table.asked()
    const second = table.call('call-2', { tasks: [{ title: 'Better' }] })
    expect(resultOf(await first)).toMatchObject({ confirmed: false, cancelled: true, reason: 'superseded' })
    const { review_id, draft_tasks } = await table.asked()
    expect(draft_tasks).toMatchObject([{ title: 'Better' }])
    await table.confirm(review_id, { draft_index: 0 })
    expect(resultOf(await second)).toMatchObject({ remaining: 1 })
  })

  it('the model is told in words when a turn has proposed too often', async () => {
    const table = await Table.laid(await started({ reviewWaitMs: 1 }), { toolset: 'runsheet' })
    for (let n = 0; n < 20; n += 1) await table.proposed(`call-${n}`)
    expect(resultOf(await table.call('call-20'))).toMatchObject({
      error: expect.stringContaining('This turn has already proposed 20 plans'),
    })
  })
})

/** A call that reads or changes nothing that matters, for each toolset. */
const READING: Record<ToolsetName, readonly [tool: string, input: unknown]> = {
  manage_todos: ['manage_todos', {}],
  checklist: ['update_checklist_items', { items: [{ id: 'none', isChecked: true }] }],
  task_manager: ['list_tasks', {}],
  turn_todos: ['list_todo', {}],
  task_list: ['ListTasks', {}],
  runsheet: ['tasks', {}],
}

describe('a review that a person reopens', () => {
  const reopen = (table: Table, id: string, as: 'person' | 'agent' = 'person') =>
    table.server.ask<{ review: ReviewRequest }>('POST', `${REVIEWS}/${id}/reopen`, { as })
  const closed = { action: 'cancel', reason: 'panel_closed' }

  it.each(Object.keys(CREATING) as ToolsetName[])(
    'an agent elsewhere with %s hears of the outcome with its next answer, once',
    async toolset => {
      const table = await Table.laid(await started({ reviewWaitMs: 1 }), { toolset })
      const id = await table.proposed('call-1')
      await table.decide(id, closed)
      const before = await table.call('call-1')
      expect(resultOf(before)).toMatchObject({ confirmed: false, reason: 'panel_closed' })
      const { status, body } = await reopen(table, id)
      expect([status, body.review]).toMatchObject([200, { status: 'pending', reopens: id, conversation_turn_id: 't1' }])
      expect(await table.pending()).toEqual([body.review])
      const { draft_tasks } = body.review
      const decided = await table.decide(body.review.review_id, {
        action: 'confirm',
        tasks: draft_tasks,
        comment: 'ok',
      })
      expect(decided.body).not.toHaveProperty('turn_id')
      expect((await table.titles()).sort()).toEqual(draft_tasks.map(({ title }) => title))
      const [tool, input] = READING[toolset]
      const next = async () =>
        table.server.ask<ToolAnswer>('POST', `/api/toolsets/${toolset}/tools/${tool}`, {
          as: 'agent',
          body: { session_id: 'c1', turn_id: 't1', arguments: input },
        })
      expect(resultOf(await next())).toMatchObject({
        review: { review_id: body.review.review_id, confirmed: true, comment: 'ok', changes: expect.anything() },
      })
      expect(resultOf(await next())).not.toHaveProperty('review')
      expect((await table.call('call-1')).text).toBe(before.text)
    },
  )

  it('the outcome also comes with the answer to a plan that was proposed meanwhile', async () => {
    const table = await Table.laid(await started({ reviewWaitMs: 1 }), { toolset: 'runsheet' })
    const id = await table.proposed('call-1')
    await table.decide(id, closed)
    await table.call('call-1')
    const { body } = await reopen(table, id)
    await table.decide(body.review.review_id, { action: 'revise', comment: 'Shorter' })
    const second = await table.proposed('call-2')
    expect((await table.pending())[0]).toMatchObject({ revises: body.review.review_id })
    await table.confirm(second, { draft_index: 0 })
    expect(resultOf(await table.call('call-2'))).toMatchObject({
      ids: [1],
      review: { confirmed: false, reason: 'changes_requested', comment: 'Shorter' },
    })
  })

  it.each(['call-2', undefined])('an equal plan (id: %s) joins the reopened one that waits', async callId => {
    const table = await Table.laid(await started({ reviewWaitMs: 1 }), { toolset: 'runsheet' })
    const input = { tasks: [{ title: 'A' }, { title: 'B' }] }
    const first = await table.call(callId && 'call-1', input)
    const { review_id: id } = first.body as { review_id: string }
    await table.decide(id, closed)
    await table.call(callId && 'call-1', input)
    const { review } = (await reopen(table, id)).body
    const pending = { status: 'pending_review', review_id: review.review_id }
    expect((await table.call(callId, input)).body).toEqual(pending)
    expect(await table.pending()).toEqual([review])
    await table.confirm(review.review_id, { draft_index: 1 })
    const answer = await table.call(callId, input)
    expect(resultOf(answer)).toMatchObject({ ids: [1], next: '1 B', remaining: 1 })
    expect(resultOf(answer)).not.toHaveProperty('review')
    expect(resultOf(await table.call('call-3', { tasks: 'no plan' }))).not.toHaveProperty('review')
    expect(await table.titles()).toEqual(['B'])
  })

  it('another plan supersedes the reopened one, and does not report that', async () => {
    const table = await Table.laid(await started({ reviewWaitMs: 1 }), { toolset: 'runsheet' })
    const id = await table.proposed('call-1')
    await table.decide(id, closed)
    await table.call('call-1')
    const { review } = (await reopen(table, id)).body
    const better = { tasks: [{ title: 'Better' }] }
    const second = (await table.call('call-2', better)).body as { review_id: string }
    expect((await table.review(review.review_id)).body).toMatchObject({ result: { reason: 'superseded' } })
    await table.confirm(second.review_id, { draft_index: 0 })
    const answer = resultOf(await table.call('call-2', better))
    expect(answer).toMatchObject({ ids: [1], remaining: 1 })
    expect(answer).not.toHaveProperty('review')
  })

  it('the door leads from the old review to the one to wait for', async () => {
    const table = await brief()
    const id = await table.proposed('call-1')
    await table.decide(id, closed)
    const { review } = (await reopen(table, id)).body
    expect(await table.server.door.reviews.successorOf('local', id)).toBe(review.review_id)
    expect(await table.server.door.reviews.successorOf('local', review.review_id)).toBe(review.review_id)
    await expect(table.server.door.reviews.successorOf('local', 'none')).rejects.toMatchObject({
      code: 'review_not_found',
    })
  })

  it('timed out: its draft and a new deadline, also after a restart', async () => {
    const place = await placeFor('sqlite', '')
    const serve = async (): Promise<CheckedServer> =>
      started({ door: openDoor({ store: await place.open() }), reviewWaitMs: 1 })
    const before = await Table.laid(await serve(), { review_timeout_ms: 20 })
    const id = await before.proposed('call-1')
    await vi.waitFor(async () => expect((await before.review(id)).body.review.status).toBe('expired'), PATIENCE)
    await before.server.person.setPolicy('c1', { review_timeout_ms: DAY })
    await before.server.close()
    const table = new Table(await serve())
    const { body } = await reopen(table, id)
    expect(body.review).toMatchObject({ timeout_ms: DAY, draft_tasks: [{ title: 'A' }, { title: 'B' }] })
    expect((await table.confirm(body.review.review_id, { draft_index: 1 })).status).toBe(200)
    expect(await table.titles()).toEqual(['B'])
    await table.server.close()
    await place.remove()
  })

  it('one that was decided, or was reopened before, is 409 review_not_reopenable', async () => {
    const table = await brief()
    const decided = await table.proposed('call-1')
    await table.decide(decided, { action: 'cancel' })
    expect(errorOf(await reopen(table, decided))).toMatchObject({ code: 'review_not_reopenable', status: 'cancelled' })
    const id = await table.proposed('call-2')
    expect(errorOf(await reopen(table, id))).toMatchObject({ code: 'review_not_reopenable', status: 'pending' })
    await table.decide(id, closed)
    const { body } = await reopen(table, id)
    const again = await reopen(table, id)
    expect([again.status, errorOf(again)]).toMatchObject([409, { successor: body.review.review_id }])
  })

  it('only a person reopens', async () => {
    const table = await brief()
    const id = await table.proposed('call-1')
    await table.decide(id, closed)
    expect(errorOf(await reopen(table, id, 'agent')).code).toBe('persons_only')
    expect(await table.pending()).toEqual([])
    expect((await table.server.refused(404, 'POST', `${REVIEWS}/rev_none/reopen`)).code).toBe('review_not_found')
  })
})
