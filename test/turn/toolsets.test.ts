import { afterEach, describe, expect, it } from 'vitest'
import type { Json } from '../../src/core/model/event.ts'
import type { ToolsetName } from '../../src/core/model/policy.ts'
import type { ModelRequest } from '../support/provider.ts'
import { startTurns, type TestTurns } from '../support/turns.ts'

let server: TestTurns | undefined
afterEach(() => server?.close())

async function turns(options: Parameters<typeof startTurns>[0]): Promise<TestTurns> {
  server = await startTurns(options)
  return server
}

const planning: Readonly<Record<ToolsetName, { tool: string; args: Json }>> = {
  manage_todos: { tool: 'manage_todos', args: { add: ['Look'] } },
  checklist: { tool: 'add_multiple_checklist_items', args: { items: [{ title: 'Look' }] } },
  task_manager: { tool: 'add_task', args: { tasks: [{ title: 'Look' }] } },
  turn_todos: { tool: 'create_todo', args: { items: [{ title: 'Look' }] } },
  task_list: { tool: 'AddTask', args: { title: 'Look' } },
  runsheet: { tool: 'plan', args: { tasks: [{ title: 'Look' }] } },
}
const lastMessage = ({ messages }: ModelRequest): string => messages.at(-1)?.content ?? ''
/** The first id of a task that a prompt names. */
const idIn = ({ messages }: ModelRequest): string =>
  /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(JSON.stringify(messages))?.[0] ?? ''

describe('the gate', () => {
  it.each([
    ['runsheet', 'update and its outcome'],
    ['task_manager', 'with update_task and say in the outcome'],
    ['turn_todos', 'cancel it: status cancelled'],
    ['checklist', 'update_checklist_items when it is done'],
    ['task_list', 'CompleteTask when it is done'],
  ] as const)('[TS26] %s: follows up in the words of the toolset', async (toolset, words) => {
    const at = await turns({ answers: (_, count) => (count === 0 ? { calls: [planning[toolset]] } : 'Done.') })
    await at.chat({ toolset, review: false, assessor: false, gate: true })
    expect(lastMessage(at.provider.asked[2]?.request ?? { model: '', messages: [] })).toContain(words)
  })

  it('[TS26] a todo that is cancelled as the follow-up says ends the turn', async () => {
    const at = await turns({
      answers: (request, count) => {
        if (count === 0) return { calls: [planning.turn_todos] }
        if (!lastMessage(request).includes('cancel it: status cancelled')) return 'It cannot be done.'
        const args = { todoId: idIn(request), status: 'cancelled', outcome: 'There is no light' }
        return { calls: [{ tool: 'complete_todo', args }] }
      },
    })
    const reader = await at.chat({ toolset: 'turn_todos' })
    expect(reader.of('gate_followed')).toHaveLength(1)
    expect(await at.tasks()).toMatchObject([{ status: 'cancelled', outcome: 'There is no light' }])
  })
})

describe('complete_todo in a judged turn', () => {
  const completing = (outcome: string) => (request: ModelRequest, count: number) => {
    if (count === 0) return { calls: [planning.turn_todos] }
    return count < 4 ? { calls: [{ tool: 'complete_todo', args: { todoId: idIn(request), outcome } }] } : 'Done.'
  }

  it('answers in its own form once the claim is granted; again it is refused', async () => {
    const at = await turns({ answers: completing('Looked left'), assessor: () => 'OK' })
    const reader = await at.chat({ toolset: 'turn_todos', assessor: true })
    const [, first, again] = reader.of('tool_answered').map(({ data }) => data)
    expect(first).toMatchObject({ ok: true, result: { status: 'completed', outcome: 'Looked left', remaining: 0 } })
    expect(again).toMatchObject({
      ok: false,
      result: { error: expect.stringMatching(/already completed\. Nothing is open/) },
    })
  })

  it('one that the judge has blocked is refused with what is open', async () => {
    const at = await turns({ answers: completing('Looked left'), assessor: () => 'NOT_OK: no proof' })
    const reader = await at.chat({ toolset: 'turn_todos', assessor: true })
    expect(reader.of('tool_answered')[3]?.data).toMatchObject({
      ok: false,
      result: { error: expect.stringMatching(/is already blocked\. Nothing is open\.$/) },
    })
    expect(at.provider.judged).toHaveLength(2)
    expect(await at.statuses()).toEqual([['Look', 'blocked']])
  })
})

describe('checklist', () => {
  it('a comma-separated string is refused with the form, and the next prompt lists what exists', async () => {
    const add = (items: Json) => ({ calls: [{ tool: 'add_multiple_checklist_items', args: { items } }] })
    const at = await turns({
      answers: [add([{ title: 'Milk' }]), add('Bread, eggs'), add([{ title: 'Bread' }]), 'Listed.'],
    })
    const reader = await at.chat({ toolset: 'checklist' })
    const refusal = reader.of('tool_answered')[1]?.data
    expect(refusal?.ok).toBe(false)
    expect(JSON.stringify(refusal?.result)).toContain('not a comma-separated string: {')
    const guidance = 'Already on the checklist: Milk. Do not create these again.'
    expect([0, 1, 2, 3].map(count => at.provider.system(count).includes(guidance))).toEqual([false, false, true, false])
    expect(await at.statuses()).toEqual([
      ['Milk', 'pending'],
      ['Bread', 'pending'],
    ])
  })

  it('items that an earlier turn made are ticked in a later one, by the ids of the digest', async () => {
    const at = await turns({
      answers: (request, count) => {
        if (count === 0) return { calls: [planning.checklist] }
        if (count !== 2) return 'Well.'
        const [, id] = /\n- (\S+) Look/.exec(request.messages[0]?.content ?? '') ?? []
        return {
          text: 'It was done.',
          calls: [{ tool: 'update_checklist_items', args: { items: [{ id, isChecked: true }] } }],
        }
      },
    })
    await at.chat({ toolset: 'checklist' })
    expect(await at.statuses()).toEqual([['Look', 'pending']])
    const reader = await at.chat({ turn_id: 't2', message: 'I looked.' })
    expect(reader.of('tool_answered')[0]?.data).toMatchObject({ ok: true, result: { failedItems: [] } })
    expect(await at.statuses()).toEqual([['Look', 'completed']])
    expect(at.provider.tools(2)).toEqual(['add_multiple_checklist_items', 'update_checklist_items'])
    expect(at.provider.system(3)).not.toContain('Open from earlier turns')
  })
})
