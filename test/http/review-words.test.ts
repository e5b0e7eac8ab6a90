import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import type { ToolsetName } from '../../src/core/model/policy.ts'
import type { ErrorBody, ExtendAnswer, SessionAnswer } from '../../src/core/views/wire.ts'
import { openDoor } from '../../src/engine/door/door.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { type Answered, type CheckedServer, started } from '../support/checked.ts'
import { CREATING, PATIENCE, resultOf, REVIEWS, Table } from '../support/reviews.ts'
import { scratchFolder } from '../support/scratch.ts'

const brief = async (policy: Parameters<typeof Table.laid>[1] = {}): Promise<Table> =>
  Table.laid(await started({ reviewWaitMs: 1 }), policy)

const errorOf = (answer: Answered<unknown>): ErrorBody => (answer.body as { error: ErrorBody }).error

/** What each toolset calls a title. */
const TITLE: Record<ToolsetName, string> = {
  manage_todos: 'description',
  checklist: 'title',
  task_manager: 'title',
  turn_todos: 'title',
  task_list: 'title',
  runsheet: 'title',
}

describe('comments on rows', () => {
  it.each(Object.keys(CREATING) as ToolsetName[])(
    '[TS10] of a confirmed plan reach the model of %s, with the ids of the tasks and its own words',
    async toolset => {
      const table = await brief({ toolset })
      const id = await table.proposed('call-1')
      const row_comments = [{ draft_index: 0, comment: 'Ask Ann' }]
      const tasks = [{ draft_index: 0, title: 'A2' }, { title: 'C' }]
      const { status, body } = await table.decide(id, { action: 'confirm', tasks, comment: 'Go', row_comments })
      expect(status).toBe(200)
      const said = { [TITLE[toolset]]: 'A', comment: 'Ask Ann' }
      expect(body.result).toMatchObject({ comment: 'Go', row_comments: [said] })
      expect(resultOf(await table.call('call-1'))).toEqual(body.result)
      const { row_comments: answered } = body.result as { row_comments: { id: string | number }[] }
      const shown = (await table.server.person.tasks('c1')).tasks.find(({ title }) => title === 'A2')
      expect([shown?.id, shown?.number, String(shown?.number)]).toContain(answered[0]?.id)
    },
  )

  it.each(Object.keys(CREATING) as ToolsetName[])(
    '[TS10] of a plan that was sent back or rejected reach the model of %s',
    async toolset => {
      for (const action of ['revise', 'cancel'] as const) {
        const table = await brief({ toolset })
        const id = await table.proposed('call-1')
        const row_comments = [{ draft_index: 0, comment: 'Too vague' }]
        const { body } = await table.decide(id, { action, row_comments })
        const reason = action === 'revise' ? 'changes_requested' : 'user_cancelled'
        const said = { [TITLE[toolset]]: 'A', comment: 'Too vague' }
        expect(body.result).toMatchObject({ confirmed: false, cancelled: true, reason, row_comments: [said] })
        expect(body.result).not.toHaveProperty('comment')
        expect(resultOf(await table.call('call-1'))).toEqual(body.result)
        const resolved = (await table.log()).find(({ type }) => type === 'task_create_review_resolved')
        expect(resolved?.data).toMatchObject({ row_comments: [{ draft_index: 0, title: 'A', comment: 'Too vague' }] })
        await table.server.close()
      }
    },
  )

  it('are in the snapshot, and those of rows that do not exist are 422 with their place', async () => {
    const table = await brief()
    const id = await table.proposed()
    const wrong = await table.decide(id, { action: 'cancel', row_comments: [{ draft_index: 7, comment: 'x' }] })
    expect([wrong.status, errorOf(wrong).field]).toEqual([422, 'row_comments[0].draft_index'])
    const unknown = await table.decide(id, { action: 'cancel', row_comments: [{ draft_index: 0, says: 'x' }] })
    expect(unknown.status).toBe(422)
    await table.decide(id, { action: 'cancel', row_comments: [{ draft_index: 1, comment: 'Why?' }] })
    const { view } = await table.server.person.snapshot('c1')
    expect(view.resolutions[id]?.row_comments).toEqual([{ draft_index: 1, title: 'B', comment: 'Why?' }])
  })
})

describe('more time for a review', () => {
  const extend = (table: Table, id: string, body: object = {}, as?: 'agent'): Promise<Answered<ExtendAnswer>> =>
    table.server.ask('POST', `${REVIEWS}/${id}/extend`, { body, ...(as ? { as } : {}) })

  it('moves its deadline for every reader, and every window hears of it', async () => {
    const table = await brief({ review_timeout_ms: 60_000 })
    const id = await table.proposed()
    const live = table.server.person.live('c1')
    await vi.waitFor(() => expect(live.snapshot().conversation.pending_reviews).toEqual([id]), PATIENCE)
    const { status, body } = await extend(table, id, { ms: 3_600_000 })
    const { expires_at } = body.review
    expect([status, body.review.status]).toEqual([200, 'pending'])
    expect(Date.parse(expires_at ?? '') - Date.now()).toBeGreaterThan(3_500_000)
    await vi.waitFor(() => expect(live.snapshot().conversation.reviews[id]).toMatchObject({ expires_at }), PATIENCE)
    live.close()
    expect(await table.pending()).toMatchObject([{ review_id: id, expires_at }])
    expect((await table.review(id)).body.review).toMatchObject({ expires_at })
    const session = await table.server.ask<SessionAnswer>('GET', '/api/sessions/c1')
    expect(session.body.reviews).toMatchObject([{ expires_at }])
    // The latest deadline counts.
    expect((await extend(table, id)).body.review).toMatchObject({ expires_at })
    expect((await table.types()).filter(type => type === 'review_extended')).toHaveLength(1)
  })

  it('holds in every process, after a restart too, until it has passed', async () => {
    const folder = scratchFolder()
    const skew = { ms: 0 }
    const serve = async (): Promise<CheckedServer> => {
      const store = await openSqliteStore({ path: join(folder, 'runsheet.db'), skewMs: () => skew.ms })
      return started({ door: openDoor({ store }), reviewWaitMs: 1 })
    }
    const table = await Table.laid(await serve(), { review_timeout_ms: 60_000 })
    const other = new Table(await serve())
    const id = await table.proposed()
    const { body } = await extend(table, id, { ms: 3_600_000 })
    await table.server.close()
    // The first deadline has passed.
    skew.ms = 120_000
    const restarted = new Table(await serve())
    for (const each of [other, restarted]) {
      expect(await each.pending()).toMatchObject([{ review_id: id, expires_at: body.review.expires_at }])
    }
    skew.ms = 3_700_000
    // A server looks for what is due when it starts.
    const last = new Table(await serve())
    await vi.waitFor(async () => expect(await other.types()).toContain('task_create_review_resolved'), PATIENCE)
    expect((await restarted.review(id)).body.review.status).toBe('expired')
    await Promise.all([other, restarted, last].map(({ server }) => server.close()))
    rmSync(folder, { recursive: true })
  })

  it('is a person’s, and refused once it is decided, over or without a deadline', async () => {
    const skew = { ms: 0 }
    const door = openDoor({ store: openMemoryStore({ skewMs: () => skew.ms }) })
    const server = await started({ door, reviewWaitMs: 1 })
    const table = await Table.laid(server, { review_timeout_ms: 60_000 })
    const id = await table.proposed()
    expect(await extend(table, id, {}, 'agent')).toMatchObject({ status: 403 })
    for (const ms of [0, 2_592_000_001, 1.5]) expect((await extend(table, id, { ms })).status).toBe(422)
    const patient = await Table.laid(server, { toolset: 'runsheet', session: 'c2' })
    expect(errorOf(await extend(patient, await patient.proposed())).code).toBe('review_without_deadline')
    expect(await extend(table, 'rev_nowhere')).toMatchObject({ status: 404 })
    skew.ms = 60_000
    expect(errorOf(await extend(table, id)).code).toBe('review_expired')
    const decided = await table.proposed('call-2')
    await table.decide(decided, { action: 'cancel' })
    expect(errorOf(await extend(table, decided)).code).toBe('review_already_decided')
  })
})
