import { expect, vi } from 'vitest'
import type { Json, StoredEvent } from '../../src/core/model/event.ts'
import type { PolicyPatch, ToolsetName } from '../../src/core/model/policy.ts'
import type { ReviewRequest, SubmittedRow } from '../../src/core/model/review.ts'
import type { DecisionAnswer, ReviewAnswer, ToolAnswer } from '../../src/core/views/wire.ts'
import type { Answered, CheckedServer } from './checked.ts'
import type { AskOptions } from './server.ts'

export const REVIEWS = '/api/task-manager/reviews'

/** For tests: the one tool of each toolset that creates, and a call of it. */
export const CREATING: Record<ToolsetName, readonly [tool: string, input: unknown]> = {
  manage_todos: ['manage_todos', { add: ['A', 'B'] }],
  checklist: ['add_multiple_checklist_items', { items: [{ title: 'A' }, { title: 'B', isChecked: true }] }],
  task_manager: ['add_task', { tasks: [{ title: 'A', details: 'd', tags: ['x'] }, { title: 'B' }] }],
  turn_todos: ['create_todo', { items: [{ title: 'A' }, { title: 'B', order: 1, agentType: 'tester' }] }],
  task_list: ['AddTask', { title: 'A', description: 'd' }],
  runsheet: ['plan', { tasks: [{ title: 'A', done_when: 'c' }, { title: 'B' }] }],
}

/** For tests: an agent that proposes, and the person who reviews, in one conversation. */
export class Table {
  readonly server: CheckedServer
  readonly toolset: ToolsetName
  readonly session: string

  constructor(server: CheckedServer, toolset: ToolsetName = 'task_manager', session = 'c1') {
    this.server = server
    this.toolset = toolset
    this.session = session
  }

  /** A conversation with review on. */
  static async laid(
    server: CheckedServer,
    { toolset = 'task_manager', session = 'c1', ...policy }: PolicyPatch & { session?: string } = {},
  ): Promise<Table> {
    const table = new Table(server, toolset, session)
    const path = `/api/sessions/${session}/policy`
    const answer = await server.ask('PUT', path, { body: { toolset, review: true, ...policy } })
    expect(answer.status).toBe(200)
    return table
  }

  /** The creating call, or one with other arguments. */
  call(
    tool_call_id?: string,
    input: unknown = CREATING[this.toolset][1],
    turn_id = 't1',
  ): Promise<Answered<ToolAnswer>> {
    const [tool] = CREATING[this.toolset]
    const body = { session_id: this.session, turn_id, arguments: input, ...(tool_call_id ? { tool_call_id } : {}) }
    return this.server.ask('POST', `/api/toolsets/${this.toolset}/tools/${tool}`, { as: 'agent', body })
  }

  /** A call that returns with its review pending: for servers that hold calls briefly. */
  async proposed(tool_call_id?: string, input?: unknown): Promise<string> {
    const { status, body } = await this.call(tool_call_id, input)
    expect([status, body]).toEqual([202, { status: 'pending_review', review_id: expect.any(String) }])
    return 'review_id' in body ? body.review_id : ''
  }

  async pending(session: string | undefined = this.session): Promise<readonly ReviewRequest[]> {
    const path = `${REVIEWS}/pending${session === '' ? '' : `?session_id=${session}`}`
    const { status, body } = await this.server.ask<{ reviews: ReviewRequest[] }>('GET', path)
    expect(status).toBe(200)
    return body.reviews
  }

  /** The review of a waiting call, once it exists. */
  asked(): Promise<ReviewRequest> {
    return vi.waitFor(async () => {
      const [review] = await this.pending()
      if (!review) throw new Error('nothing waits yet')
      return review
    }, PATIENCE)
  }

  /** The one review in the route's answer. */
  async review(id: string): Promise<Answered<{ review: ReviewRequest; result?: Json }>> {
    const answered = await this.server.ask<ReviewAnswer>('GET', `${REVIEWS}/${id}`)
    const { reviews, ...rest } = answered.body
    const [review] = reviews
    if (!review || reviews.length > 1) throw new Error(`${reviews.length} reviews where there is one`)
    return { ...answered, body: { review, ...rest } }
  }

  decide(id: string, body: unknown, options: AskOptions = {}): Promise<Answered<DecisionAnswer>> {
    return this.server.ask('POST', `${REVIEWS}/${id}/decision`, { body, ...options })
  }

  confirm(id: string, ...tasks: readonly SubmittedRow[]): Promise<Answered<DecisionAnswer>> {
    return this.decide(id, { action: 'confirm', tasks })
  }

  async log(): Promise<readonly StoredEvent[]> {
    return this.server.door.conversations.eventsAfter({ tenant: 'local', conversation: this.session }, 0, 10_000)
  }

  async types(): Promise<string[]> {
    return (await this.log()).map(({ type }) => type)
  }

  async titles(): Promise<string[]> {
    const { tasks } = await this.server.person.tasks(this.session)
    return tasks.map(({ title }) => title)
  }
}

export const PATIENCE = { timeout: 20_000, interval: 5 } as const

/** The result of an answered call. */
export function resultOf({ status, body }: Answered<ToolAnswer>): Json {
  expect([status, body]).toEqual([200, { result: expect.anything() }])
  return 'result' in body ? body.result : null
}
