import { describe, expect, it } from 'vitest'
import { dataOf, type Driver, frozen, inRun, outside } from '../../../test/support/domain.ts'
import type { CommandOf } from '../model/command.ts'
import { MAX_REPORTS } from '../proof/evidence.ts'

const reports = (chat: Driver, more: Partial<CommandOf<'add_evidence'>> = {}): CommandOf<'add_evidence'> => ({
  type: 'add_evidence',
  evidence_id: chat.id(),
  source: 'agent',
  tool: 'Bash',
  arguments: { command: 'npm test' },
  answer: 'ok 3',
  ok: true,
  ...more,
})

/** An agent elsewhere with a plan; the first task is in progress. */
function working(...titles: readonly string[]): Driver {
  const chat = outside()
  chat.run(chat.adds('model', ...titles))
  return chat
}

describe('a report of a tool call', () => {
  it('[PF16] belongs to the task in progress, and to its plan', () => {
    const chat = working('A', 'B')
    const events = chat.run(reports(chat, { source: 'host' }))
    expect(events).toMatchObject([{ type: 'evidence_added', turn_id: 'turn-1' }])
    expect(dataOf(events, 'evidence_added')).toEqual([
      {
        evidence_id: expect.any(String),
        task_id: chat.task(1).id,
        source: 'host',
        tool: 'Bash',
        arguments: { command: 'npm test' },
        answer: 'ok 3',
        ok: true,
      },
    ])
  })

  it("[PF16] of several tasks in progress, the latest turn's counts; without one, the one that was started last", () => {
    const chat = working('A')
    chat.wait(1_000).run({ type: 'open_turn', turn_id: 'turn-2', toolset: 'runsheet', plans: true })
    chat.run(chat.adds('model', 'B'))
    const taskOf = (): string | undefined => dataOf(chat.run(reports(chat)), 'evidence_added')[0]?.task_id
    expect(taskOf()).toBe(chat.task(2).id)
    chat.wait(1_000).run({ type: 'open_turn', turn_id: 'turn-3', toolset: 'runsheet', plans: true })
    expect(taskOf()).toBe(chat.task(2).id)
  })

  it('[PF16] belongs to the listed task that it names; an unknown one is refused', () => {
    const chat = working('A', 'B')
    expect(dataOf(chat.run(reports(chat, { task: 2 })), 'evidence_added')[0]?.task_id).toBe(chat.task(2).id)
    expect(chat.refusal(reports(chat, { task: 9 })).code).toBe('task_not_found')
  })

  it('[PF16] is not stored while no task is in progress, whatever it names', () => {
    const chat = working('A')
    chat.run(chat.sets('model', 1, { status: 'blocked', outcome: 'No key.' }))
    expect(chat.run(reports(chat))).toEqual([])
    expect(chat.run(reports(chat, { task: 1 }))).toEqual([])
    expect(outside().run(reports(chat))).toEqual([])
  })

  it('[PF16] is refused while a turn of ours runs', () => {
    const chat = inRun()
    chat.run(chat.adds('model', 'A'))
    expect(chat.refusal(reports(chat)).code).toBe('turn_running')
  })

  it.each([
    ['an empty name', { tool: ' \n ' }, 'tool'],
    ['a name of 201 characters', { tool: 'x'.repeat(201) }, 'tool'],
    ['no name', { tool: undefined as never }, 'tool'],
    ['a success that is none', { ok: 'yes' as never }, 'ok'],
  ])('[PF16] with %s is refused', (_, more, field) => {
    const chat = working('A')
    const refusal = chat.refusal(reports(chat, more))
    expect([refusal.code, 'field' in refusal.data ? refusal.data.field : undefined]).toEqual(['invalid_field', field])
  })

  it('is stored up to 1,000 times in a turn', () => {
    const chat = working('A')
    for (let count = 0; count < MAX_REPORTS; count += 1) chat.run(reports(chat))
    expect(chat.run(reports(chat, { ok: false }))).toEqual([])
    expect(chat.state.turns.get('turn-1')?.reports).toBe(1_000)
  })

  it('[PF19] changes nothing but the number of reports, so that the state stays small', () => {
    const chat = working('A', 'B')
    chat.answer()
    const before = chat.state
    chat.run(reports(chat))
    const { seq, updated_at, turns } = chat.state
    expect(turns.get('turn-1')).toEqual({ ...before.turns.get('turn-1'), reports: 1 })
    expect(frozen({ ...chat.state, turns: before.turns })).toEqual(frozen({ ...before, seq, updated_at }))
  })
})
