import { planOf } from '../../src/core/model/plan.ts'
import { expect } from 'vitest'
import type { Check, CheckSpec } from '../../src/core/proof/check.ts'
import type { Command, RunOutcome } from '../../src/core/model/command.ts'
import type { StoredEvent } from '../../src/core/model/event.ts'
import type { RunReason } from '../../src/core/proof/proof.ts'
import type { DraftRow } from '../../src/core/model/review.ts'
import type { DecisionAnswer, SentRow, TaskView } from '../../src/core/views/wire.ts'
import { plainMaker } from '../../src/engine/door/checks.ts'
import { type Answered, type CheckedServer, started } from './checked.ts'
import { type SettleCall, settlesIn } from './domain.ts'
import { REVIEWS } from './reviews.ts'
import { BY_PLAN } from './asked-by.ts'

/** For tests: where the turns of a bench have their checks. */
export const PLACE = { machine: 'desk-1', path: '/work/app' } as const
const HERE = { tenant: 'local', conversation: 'c1' } as const
const TURN = 't1'
export const TASKS = '/api/sessions/c1/tasks'

export const NPM_TEST: CheckSpec = { kind: 'command', run: ['npm', 'test'] }
export const LOOK: CheckSpec = { kind: 'person', ask: 'Does the page load?' }

/** For tests: a model's check, as an edge with the workspace makes it. */
export const proposed = (spec: CheckSpec, id = 'check-of-the-model'): Check => ({
  ...spec,
  id,
  hash: plainMaker.hash(spec, PLACE),
})

interface ProposedRow {
  readonly title: string
  readonly checks?: readonly Check[]
}

/** For tests: a turn of an agent elsewhere in a workspace, and the person beside it. No process runs its checks. */
export class Bench {
  readonly server: CheckedServer
  #runs = 0

  constructor(server: CheckedServer) {
    this.server = server
  }

  /** `done`: the checks of the whole plan. */
  static async set(
    review = true,
    { done, ...options }: Parameters<typeof started>[0] & { readonly done?: readonly Check[] } = {},
  ): Promise<Bench> {
    const bench = new Bench(await started({ store: 'sqlite', ...options }))
    const host = { review, assessor: false }
    const place = { workspace: PLACE, done_checks: done }
    await bench.run({ type: 'open_turn', turn_id: TURN, toolset: 'runsheet', ...place, host })
    return bench
  }

  async run(...commands: readonly Command[]): Promise<readonly StoredEvent[]> {
    return (await this.server.door.run(HERE, ...commands)).events
  }

  /** A plan of the model that waits for its review. */
  proposes(...rows: readonly ProposedRow[]): Promise<string> {
    return this.offers([], ...rows)
  }

  /** The same, with commands to pick checks from. */
  async offers(commands: readonly string[], ...rows: readonly ProposedRow[]): Promise<string> {
    const review_id = `rev_${this.server.door.newId()}`
    const create = rows.map(row => ({ ...row, id: this.server.door.newId() }))
    const review = { ...BY_PLAN, review_id, tool_call_id: 'call-1', commands }
    await this.run({ type: 'edit_tasks', by: 'model', turn_id: TURN, create, review })
    return review_id
  }

  async draft(review: string): Promise<readonly DraftRow[]> {
    return (await this.server.person.review(review)).review.draft_tasks
  }

  confirms(review: string, ...tasks: readonly SentRow[]): Promise<Answered<DecisionAnswer>> {
    return this.server.ask('POST', `${REVIEWS}/${review}/decision`, { body: { action: 'confirm', tasks } })
  }

  /** A person's task with these checks. */
  async adds(...checks: readonly CheckSpec[]): Promise<TaskView> {
    return (await this.server.person.addTask('c1', { title: 'A', checks })).task
  }

  async task(index = 0): Promise<TaskView> {
    const { tasks } = await this.server.person.tasks('c1')
    const task = tasks[index]
    if (!task) throw new Error(`there is no task ${index}`)
    return task
  }

  /** The process with the workspace makes the next run. */
  async ran(hash: string, why: RunReason, outcome: Partial<RunOutcome> & Pick<RunOutcome, 'result'>): Promise<void> {
    await this.begins(hash, why)
    const run_id = `run-${this.#runs}`
    const run: RunOutcome = { duration_ms: 5, ...outcome }
    await this.run({ type: 'end_check', turn_id: TURN, run_id, hash, outcome: run })
  }

  async begins(hash: string, why: RunReason): Promise<void> {
    this.#runs += 1
    const begun = await this.run({ type: 'start_check', turn_id: TURN, run_id: `run-${this.#runs}`, hash, why })
    expect(begun.map(({ type }) => type)).toEqual(['check_started'])
  }

  /** The model claims a task. */
  async claims(task: TaskView, call = 'call-2', isJudged = false): Promise<void> {
    const { seq } = await this.server.door.read(HERE)
    const claim = {
      claim_id: `${call}-claim`,
      task_id: task.id,
      status: 'completed',
      outcome: 'Done.',
      seal: 's',
      ...(isJudged ? { judge: true as const } : {}),
    } as const
    const change = [{ task: task.id, fields: { status: 'completed', outcome: 'Done.' } as const }]
    const held = { toolset: 'runsheet', tool: 'update', edit: { change }, items: 0 } as const
    await this.run({ type: 'make_claims', turn_id: TURN, tool_call_id: call, basis: seq, claims: [claim], held })
  }

  /** The call of a claim that its checks did not pass is refused. */
  async refuses(call = 'call-2'): Promise<void> {
    await this.#settle({ type: 'settle_call', turn_id: TURN, tool_call_id: call })
  }

  /** The call of a claim whose checks are over is made, on the files that the last run saw. */
  async settles(_task: TaskView, call = 'call-2'): Promise<void> {
    const state = await this.server.door.read(HERE)
    const seen = { fingerprint: planOf(state, TURN).looked?.fingerprint }
    await this.#settle({ type: 'settle_call', turn_id: TURN, tool_call_id: call, seen })
  }

  async #settle(call: SettleCall): Promise<void> {
    await this.server.door.transact(HERE, transaction => {
      transaction.take(settlesIn(transaction.state, call, transaction.now))
    })
  }

  async log(): Promise<readonly StoredEvent[]> {
    return this.server.door.conversations.eventsAfter(HERE, 0, 1_000)
  }

  /** The log after seq `after`, by type. */
  async types(after = 0): Promise<readonly string[]> {
    return (await this.log()).filter(({ seq }) => seq > after).map(({ type }) => type)
  }
}
