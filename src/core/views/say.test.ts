import { describe, expect, it } from 'vitest'
import { inRun } from '../../../test/support/domain.ts'
import type { Check } from '../proof/check.ts'
import type { TaskFields } from '../model/fields.ts'
import { invalidField, Refusal, type RefusalCode, type RefusalData } from '../model/refusal.ts'
import { say } from './say.ts'

const chat = inRun()
chat.run(chat.adds('person', 'Look', 'Leap'))
const task = chat.task(1)
const open = { open: [task, chat.task(2)], more: 3 }

/** One of each: a code without a sample does not compile. */
const SAMPLES: RefusalData = {
  invalid_id: { field: 'turn_id', rule: 'format' },
  invalid_field: { field: 'title', row: 2, rule: 'too_long', limit: 400, got: 401 },
  batch_empty: {},
  batch_too_large: { limit: 20, got: 21 },
  too_many_open: { limit: 1_000, got: 1_001 },
  two_in_progress: { row: 1 },
  task_not_found: { ref: 9, ...open },
  task_settled: { task, status: 'completed', ...open },
  status_not_allowed: { field: 'status', task, from: 'completed', to: 'blocked', allowed: ['pending'] },
  outcome_required: { field: 'outcome', task, to: 'blocked' },
  version_mismatch: { task, expected: 7 },
  edited_by_person: { task, changed: { title: 'Peek', status: 'completed', updated_at: 'x' } },
  reviewed_tasks_are_fixed: { action: 'reword' },
  not_accepted: { task, verdict: 'not_ok', reason: 'There is no test.' },
  disputes_spent: { task, times: 2 },
  not_disputed: { task },
  claims_spent: { task, by: 'checks', times: 6 },
  settled_by_person: { task, field: 'title' },
  rejected_task_stays: { task, action: 'reword', by: 'checks' },
  check_failed: { task, check: 'npm test', exit: 1, reds: 2 },
  plan_check_failed: { task, check: 'npm test', exit: 1 },
  not_checked: { task, check: 'npm test', reason: 'The program npm was not found.' },
  claim_open: { task },
  check_not_found: { task, check_id: 'check-1' },
  check_not_runnable: { task, check: 'npm test', because: 'unapproved' },
  assessor_required: { toolset: 'manage_todos' },
  persons_only: { action: 'change_toolset', toolset: 'checklist' },
  no_turn: {},
  turn_not_found: { turn_id: 't1' },
  turn_running: { turn_id: 't1' },
  turn_conflict: { turn_id: 't1' },
  turn_finished: { turn_id: 't1', status: 'stopped' },
  no_own_turn: {},
  too_many_queued: { limit: 20 },
  message_not_found: { message_id: 'm1' },
  message_delivered: { message_id: 'm1' },
  message_withdrawn: { message_id: 'm1' },
  message_changed: { queued: { message_id: 'm1', text: 'Hi', version: 2, queued_at: task.created_at }, expected: 1 },
  approval_not_found: { approval_id: 'a1' },
  approval_already_decided: { approval_id: 'a1', decision: 'deny' },
  review_not_found: { review_id: 'rev-1' },
  review_already_decided: { review_id: 'rev-1', status: 'confirmed' },
  review_expired: { review_id: 'rev-1' },
  review_not_reopenable: { review_id: 'rev-1', status: 'confirmed' },
  review_without_deadline: { review_id: 'rev-1' },
  too_many_reviews: { limit: 20 },
  setting_locked: { field: 'model', by: '--model' },
  not_undoable: { because: 'changed', task, fields: ['title'], by: 'agent' },
}
const refusals = (Object.keys(SAMPLES) as RefusalCode[]).map(
  code => new Refusal(...([code, SAMPLES[code]] as ConstructorParameters<typeof Refusal>)),
)

describe('what a refusal says', () => {
  it.each(refusals.map(refusal => [refusal.code, refusal] as const))('%s: one sentence or more', (_, refusal) => {
    expect(refusal.message).toMatch(/^[A-Za-z_][^\n]*\.$/)
    expect(refusal.message).not.toMatch(/undefined|\[object|NaN/)
  })

  it('names tasks, fields and statuses as its audience does', () => {
    const words = { completed: 'done', blocked: 'stuck', pending: 'todo', title: 'name', outcome: 'note' }
    const vocabulary = {
      idOf: ({ id }: { id: string }) => id.slice(0, 4),
      words,
      at: (row: number, field: string) => `${field} ${row + 1}`,
    }
    const said = Object.fromEntries(refusals.map(refusal => [refusal.code, say(refusal, vocabulary)]))
    const id = task.id.slice(0, 4)
    expect(said).toMatchObject({
      invalid_field: 'name 3 must be at most 400 characters, got 401.',
      status_not_allowed: `Task ${id} is done and cannot become stuck; it can become todo. Reopen it first: set it to todo.`,
      outcome_required: `Task ${id} needs an note to become stuck: say what is in the way.`,
      edited_by_person: `A person changed task ${id} since you last saw it: name is now "Peek", status is now "done". Your change was not made; continue from here.`,
    })
  })

  it("[TS26] of a person's changes names only the fields that its audience has", () => {
    const changed = { title: 'Peek', priority: 'high', tags: ['a', 'b'], position: 5 }
    const refusal = new Refusal('edited_by_person', { task, changed })
    const told = (...fields: (keyof TaskFields)[]): string => say(refusal, { fields })
    const rest = 'Your change was not made; continue from here.'
    expect(told('title', 'tags', 'status')).toBe(
      `A person changed task 1 since you last saw it: title is now "Peek", tags are now ["a","b"]. ${rest}`,
    )
    expect(told('details', 'status')).toBe(`A person changed task 1 since you last saw it. ${rest}`)
  })

  it("[TS26] names a person's checks in a few words, without ids and hashes", () => {
    const npm: Check = { kind: 'command', run: ['npm', 'test'], id: 'c1', hash: 'h1' }
    const told = (checks: readonly Check[] | null): string =>
      say(new Refusal('edited_by_person', { task, changed: { checks } }))
    expect(told([npm])).toContain('since you last saw it: checks are now ["npm test"].')
    expect(told(null)).toContain('since you last saw it: checks are now [].')
  })

  it('says what became of a claim, and that the task is blocked where its audience has a word for it', () => {
    const blocked = { ...task, status: 'blocked' } as const
    const refusal = new Refusal('not_accepted', { task: blocked, verdict: 'not_ok', reason: 'no test' })
    expect(say(refusal)).toBe('Task 1 was not accepted: no test. It is blocked now.')
    const words = { pending: 'not done', blocked: 'not done' }
    expect(say(refusal, { words })).toBe('Task 1 was not accepted: no test.')
    const unclear = new Refusal('not_accepted', { task, verdict: 'unknown', reason: 'The assessor said: Maybe' })
    expect(say(unclear)).toBe('Task 1 was not assessed. The assessor said: Maybe.')
  })

  it('lists what is open, and how much more there is', () => {
    expect(say(new Refusal('task_not_found', SAMPLES.task_not_found))).toBe(
      'There is no task with this id. Open: 1 (Look), 2 (Leap) and 3 more.',
    )
  })

  it('uses the sentences of its audience before ours', () => {
    const sentences = { batch_empty: () => '至少需要一个任务。' }
    expect(say(new Refusal('batch_empty', {}), { sentences })).toBe('至少需要一个任务。')
  })

  it('[RE26] which reviews can be reopened is said in full', () => {
    expect(say(new Refusal('review_not_reopenable', SAMPLES.review_not_reopenable))).toBe(
      'This review cannot be reopened: it is confirmed. Only a review that timed out, whose panel was closed, or that a form in an MCP host ended can be.',
    )
  })

  it('[BA2] can be about another element, or about none', () => {
    const refusal = invalidField('title', { rule: 'empty' }, 1)
    expect([refusal.message, refusal.at(4).message, refusal.at(undefined).message]).toEqual([
      'tasks[1].title must not be empty.',
      'tasks[4].title must not be empty.',
      'title must not be empty.',
    ])
  })
})
