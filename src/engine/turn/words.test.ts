import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Desk, memoryDoor } from '../../../test/support/desk.ts'
import { RunDriver } from '../../../test/support/runs.ts'
import type { PolicyPatch } from '../../core/model/policy.ts'
import { Refusal } from '../../core/model/refusal.ts'
import { STATUSES } from '../../core/model/task.ts'
import type { Door } from '../door/door.ts'
import { digestOf } from '../toolsets/digest.ts'
import { explain } from '../toolsets/explain.ts'
import { namesOf, openAiTools, plainJsonSchema, promptFor, retryFor, withPrefix } from '../toolsets/guidance.ts'
import { toolsets } from '../toolsets/index.ts'
import type { Tool, Toolset } from '../toolsets/toolset.ts'
import { followUpText } from './messages.ts'

const all = Object.values(toolsets)
let door: Door
beforeEach(() => {
  door = memoryDoor()
})
afterEach(() => door.close())

describe('what a model is told', () => {
  it.each(all)('[TS26] $name: no text names a tool, field or status that it lacks', async toolset => {
    const own = wordsIn(definitionsOf(toolset.tools))
    for (const text of [...instructionsFor(toolset), ...(await refusalsOf(toolset)), digestFor(toolset)]) {
      expect(
        PROTOCOL.filter(word => says(text, word) && !own.has(word)),
        text,
      ).toEqual([])
    }
  })

  it.each([
    ['manage_todos', ['description', 'status']],
    ['checklist', ['title', 'the box']],
    ['task_manager', ['title', 'details', 'priority', 'tags', 'status', 'outcome']],
    ['turn_todos', ['title', 'context', 'completionCriteria', 'status', 'outcome']],
    ['task_list', ['title', 'description', 'the task']],
    ['runsheet', ['title', 'done_when', 'status', 'outcome']],
  ] as const)("[TS26] %s: a person's changes are told by its own fields only", async (name, fields) => {
    const fences = (await refusalsOf(toolsets[name])).filter(text => text.startsWith('A person changed'))
    const named = fences.flatMap(text => [...text.matchAll(/[:,] ([\w ]+) (?:is|are) now /g)].map(([, field]) => field))
    expect(new Set(named)).toEqual(new Set(fields))
  })

  it.each(all)('[TS26] $name: its instructions ask for no status that its tools cannot set', toolset => {
    const settable = wordsIn(toolset.tools.filter(({ reads }) => !reads).map(({ input }) => plainJsonSchema(input)))
    for (const text of instructionsFor(toolset)) {
      expect(
        STATUSES.filter(status => says(text, status) && !settable.has(status)),
        text,
      ).toEqual([])
    }
  })

  it.each([
    ['runsheet', 'set it to blocked and say in the outcome what is in the way'],
    ['task_manager', 'set it to blocked with update_task and say in the outcome what is in the way'],
    ['turn_todos', 'cancel it: status cancelled, with the reason as its outcome'],
    ['checklist', 'leave it unticked and say why in your answer'],
    ['task_list', 'leave it open and say why in your answer'],
    ['manage_todos', 'or why it cannot be done'],
  ] as const)('[TS26] %s: the follow-up says how a task that cannot be done is put aside', (name, words) => {
    expect(followUp(toolsets[name])).toContain(words)
  })

  it.each(all)('$name: with a prefix every tool name in every text carries it', async toolset => {
    const prefixed = withPrefix(toolset, 'my_')
    const names = toolset.tools.map(({ name }) => name)
    expect(openAiTools(prefixed).map(({ function: { name } }) => name)).toEqual(names.map(name => `my_${name}`))
    const texts = [...instructionsFor(prefixed).slice(0, 3), ...(await refusalsOf(prefixed))]
    for (const text of texts) {
      // The names of the default toolset are words, too: `plan`, `update`, `tasks`.
      const bare = names.filter(name => /[_A-Z]/.test(name) && says(text, name))
      expect(bare, text).toEqual([])
    }
    const [section = '', , guidance = ''] = texts
    expect(section).toContain('my_')
    expect(guidance).toMatch(/^my_\w+ takes /)
    expect(await errorsOf(prefixed, names[0] ?? '', {})).toEqual([
      expect.stringContaining(`Available: ${names.map(name => `my_${name}`).join(', ')}.`),
    ])
  })
})

const definitionsOf = (tools: readonly Tool[]): unknown[] =>
  tools.map(({ name, input, output }) => [name, plainJsonSchema(input), plainJsonSchema(output)])

const wordsIn = (value: unknown): Set<string> => new Set(JSON.stringify(value).match(/\w+/g) ?? [])

const says = (text: string, word: string): boolean => new RegExp(String.raw`(?<![\w])${word}(?![\w])`).test(text)

/** Every tool name, field and status of every toolset that is not a common word. */
const PROTOCOL = [
  ...new Set([
    ...[...wordsIn(definitionsOf(all.flatMap(({ tools }) => tools)))].filter(word => /[a-z][_A-Z]/.test(word)),
    ...STATUSES,
    'outcome',
    'todo',
    'doing',
    'agent_type',
    'parent_id',
    'criteria',
  ]),
].filter(word => word !== 'JSON')

/** The section for the system prompt, judged and not, the guidance for a retry, and the gate's follow-up. */
const instructionsFor = (toolset: Toolset): string[] => [
  promptFor(toolset),
  promptFor(toolset, { isRun: true }),
  retryFor(toolset, { state: runOf(toolset).state, turnId: 'turn-1' }),
  followUp(toolset),
]

const followUp = (toolset: Toolset): string => followUpText(runOf(toolset).told)

function runOf({ name }: Toolset): RunDriver {
  return new RunDriver({ toolset: name, assessor: name === 'manage_todos' }).plan('Look', 'Leap')
}

/** With a task in every status, and one that an earlier turn left. */
function digestFor(toolset: Toolset): string {
  const run = runOf(toolset)
  run.finish('turn-1')
  run.start('turn-2')
  run.run(run.adds('model', 'A', 'B', 'C', 'D', 'E'))
  run.run(run.sets('person', 3, { status: 'completed', outcome: 'x' }))
  run.run(run.sets('person', 4, { status: 'blocked', outcome: 'x' }))
  run.run(run.sets('person', 5, { status: 'cancelled', outcome: 'x' }))
  return digestOf({ state: run.state, turnId: 'turn-2', request: 'Do it' })
}

/** Inputs that some tool takes, and some that none does. */
const INPUTS: readonly unknown[] = [
  null,
  {},
  'Look, leap',
  { items: 'Look, leap', tasks: 'Look, leap', add: 'Look, leap', title: 1, taskId: 1, todoId: 1, id: null },
  { items: [{}], tasks: [{}], add: [1] },
  { items: [], tasks: [] },
  { items: [{ title: 'x'.repeat(401) }], tasks: [{ title: 'x'.repeat(401) }], add: ['x'.repeat(401)], title: '\ud83d' },
  {
    items: Array.from({ length: 21 }, () => ({ title: 'x' })),
    tasks: Array.from({ length: 21 }, () => ({ title: 'x' })),
    add: Array.from({ length: 21 }, () => 'x'),
  },
  { items: [{ title: 'x' }], contextTaskId: 'nowhere' },
  {
    tasks: [
      { title: 'x', status: 'doing' },
      { title: 'y', status: 'doing' },
    ],
  },
  { tasks: [{ title: 'x', status: 'cancelled' }] },
]
const aims: readonly ((id: string, number: number) => unknown)[] = [
  id => ({ id, outcome: '' }),
  (_, id) => ({ id }),
  (_, id) => ({ id, status: 'blocked' }),
  id => ({ id, status: 'blocked' }),
  id => ({ id, title: 'Other', outcome: 'x' }),
  id => ({ id, status: 'done', outcome: 'x' }),
  (_, id) => ({ id, outcome: 'x' }),
  (_, id) => ({ id, status: 'cancelled' }),
  todoId => ({ todoId, outcome: ' ' }),
  todoId => ({ todoId, outcome: 'x' }),
  (_, number) => ({ taskId: String(number) }),
  (_, number) => ({ delete: [number] }),
  id => ({ items: [{ id, title: 'Other' }] }),
  id => ({ items: [{ id, isChecked: true }] }),
]
const EVERYTHING = {
  title: 'New',
  details: 'd',
  criteria: 'c',
  priority: 'high',
  tags: ['t'],
  outcome: 'o',
  position: 9,
} as const

const refusals = new Map<Toolset, Promise<string[]>>()

/** What the tools refuse, collected once for each toolset. */
function refusalsOf(toolset: Toolset): Promise<string[]> {
  const known = refusals.get(toolset) ?? provoked(toolset)
  refusals.set(toolset, known)
  return known
}

/** Wrong forms, unknown ids, edited, settled and reviewed tasks; and what only a judged run refuses. */
async function provoked(toolset: Toolset): Promise<string[]> {
  const { name, tools, refused } = toolset
  const texts: string[] = []
  for (const review of [false, true]) {
    for (const tool of tools) {
      door = memoryDoor()
      const desk = new Desk(door, toolset, { review, ...ALWAYS })
      await plan(desk, review)
      const call = async (input: unknown): Promise<void> => {
        texts.push(...errorsIn(await answerOf(desk, tool, input)))
      }
      for (const input of INPUTS) await call(input)
      for (const aim of aims) await call(aim('nowhere', 99))
      for (const status of STATUSES) {
        for (const aim of aims) {
          const id = door.newId()
          await desk.edit({ create: [{ id, title: 'Look' }] })
          await desk.person({ task: id, fields: { ...EVERYTHING, status } })
          const number = (await desk.state()).tasks.get(id)?.number ?? 0
          // The first is fenced.
          await call(aim(id, number))
          await call(aim(id, number))
        }
      }
    }
  }
  const { state } = runOf(toolset)
  const [task] = [...state.tasks.values()]
  if (!task) throw new Error('no task')
  const judged = [
    new Refusal('not_accepted', { task, verdict: 'not_ok', reason: 'no proof.' }),
    new Refusal('not_accepted', { task: { ...task, status: 'blocked' }, verdict: 'not_ok', reason: 'no proof.' }),
    new Refusal('not_accepted', { task, verdict: 'unknown', reason: 'no proof.' }),
    new Refusal('rejected_task_stays', { task, action: 'delete', by: 'assessor' }),
    new Refusal('rejected_task_stays', { task, action: 'reword', by: 'assessor' }),
    new Refusal('too_many_open', { limit: 1_000, got: 1_001 }),
  ]
  const said = judged.map(refusal => errorsIn(refused(explain(refusal, toolset), { state, turnId: 'turn-1' })))
  return [...new Set([...texts, ...said.flat(), ...(await errorsOf(toolset, `${name}_nothing`, {}))])]
}

const ALWAYS: PolicyPatch = { gate: false, review_timeout_ms: 1_000 }

async function plan(desk: Desk, review: boolean): Promise<void> {
  const tool = desk.toolset.tools.find(({ created }) => created)
  const title = 'Look'
  const input = {
    manage_todos: { add: [title] },
    checklist: { items: [{ title }] },
    task_manager: { tasks: [{ title }] },
    turn_todos: { items: [{ title }] },
    task_list: { title },
    runsheet: { tasks: [{ title }] },
  }[desk.toolset.name]
  const call = desk.call(nameOf(desk, tool), input)
  if (review) await desk.decide({ action: 'confirm', tasks: [{ draft_index: 0 }] })
  await call
}

async function answerOf(desk: Desk, tool: Tool, input: unknown): Promise<unknown> {
  const call = await desk.take(nameOf(desk, tool), input)
  if (call.status === 'pending_review') await desk.decide({ action: 'cancel' })
  return call.status === 'answered' && !call.ok
    ? call.result
    : call.status === 'answered'
      ? failuresIn(call.result)
      : {}
}

const nameOf = ({ toolset }: Desk, tool: Tool | undefined): string => namesOf(toolset)(tool?.name ?? '')

const failuresIn = (result: unknown): unknown =>
  typeof result === 'object' && result !== null && 'failedItems' in result ? result.failedItems : {}

const errorsOf = async (toolset: Toolset, tool: string, input: unknown): Promise<string[]> =>
  errorsIn(await new Desk(door, toolset).call(tool, input))

/** The `error` texts in an answer. */
function errorsIn(answer: unknown): string[] {
  if (typeof answer !== 'object' || answer === null) return typeof answer === 'string' ? [answer] : []
  return Object.entries(answer).flatMap(([key, value]: [string, unknown]) => {
    // A key that no tool has is the model's own word.
    if (key === 'error') return [String(value).replace(/^\w+ is not a known field/, '')]
    return typeof value === 'object' && key !== 'state' ? errorsIn(value) : []
  })
}
