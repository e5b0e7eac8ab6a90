import { describe, expect, it } from 'vitest'
import { Desk, memoryDoor } from '../../../test/support/desk.ts'
import type { Json } from '../../core/model/event.ts'
import type { ToolsetName } from '../../core/model/policy.ts'
import { toolsets } from './index.ts'

const TASK = { title: 'Look', check: 'npm test' }
/** The planning tool of each toolset that takes checks. */
const PLANNING: readonly (readonly [ToolsetName, string, Json])[] = [
  ['runsheet', 'plan', { tasks: [TASK] }],
  ['task_manager', 'add_task', { tasks: [TASK] }],
  ['task_list', 'AddTask', TASK],
  ['turn_todos', 'create_todo', { items: [TASK] }],
]
const SAID = {
  message: expect.stringMatching(
    /^The checks were left out: Runsheet has no workspace.* starts Runsheet with --workspace FOLDER\.$/,
  ),
}

describe.each(PLANNING)('%s without a workspace', (name, tool, input) => {
  it('a check is left out, the task is made, and the answer says so', async () => {
    const desk = new Desk(memoryDoor(), toolsets[name], { review: false, assessor: false })
    expect(await desk.call(tool, input)).toMatchObject(SAID)
    expect(await desk.tasks()).toMatchObject([{ title: 'Look' }])
  })

  it('also after a review', async () => {
    const desk = new Desk(memoryDoor(), toolsets[name], { review: true, assessor: false })
    const answer = desk.call(tool, input)
    expect(await desk.decided(answer, { action: 'confirm', tasks: [{ draft_index: 0 }] })).toMatchObject(SAID)
  })

  it.each(['', '  ', null, true, ['npm', 'test']])('%j is no check, and nothing is said', async check => {
    const desk = new Desk(memoryDoor(), toolsets[name], { review: false, assessor: false })
    const sent = JSON.parse(JSON.stringify(input).replace('"npm test"', JSON.stringify(check))) as Json
    expect(await desk.call(tool, sent)).not.toHaveProperty('message')
    expect(await desk.tasks()).toHaveLength(1)
  })
})

it('every toolset that takes checks is tried here', () => {
  const taking = Object.values(toolsets).filter(({ tools }) => tools.some(({ checked }) => checked))
  expect(taking.map(({ name }) => name).toSorted()).toEqual(PLANNING.map(([name]) => name).toSorted())
})

describe.each([
  ['task_manager', 'update_task', 'add_task'],
  ['runsheet', 'update', 'plan'],
] as const)('%s: a check for a task that exists', (name, tool, plan) => {
  const made = async () => {
    const desk = new Desk(memoryDoor(), toolsets[name], { review: false, assessor: false })
    await desk.call(plan, { tasks: [{ title: 'Look' }] })
    const [task] = await desk.tasks()
    return { desk, id: name === 'runsheet' ? task?.number : task?.id }
  }

  it.each([{ check: 'node --version' }, { checks: [] }])(
    '[PF26] %j is refused, with what to do, and nothing is changed',
    async sent => {
      const { desk, id } = await made()
      const before = await desk.tasks()
      expect(await desk.call(tool, { id, status: 'blocked', outcome: 'x', ...sent })).toMatchObject({
        error: expect.stringMatching(/^Only a person can change the checks of a task.*Send the call again without/),
      })
      expect(await desk.tasks()).toEqual(before)
    },
  )

  it.each(['', null])('[PF26] %j is no check', async check => {
    const { desk, id } = await made()
    expect(await desk.call(tool, { id, status: 'blocked', outcome: 'x', check })).not.toHaveProperty('error')
  })
})
