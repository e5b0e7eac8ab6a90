import type { ToolsetName } from '../src/core/model/policy.ts'
import type { Door } from '../src/engine/door/door.ts'
import type { JsonObject } from '../src/engine/toolsets/toolset.ts'

export type ScriptedCall = readonly [tool: string, input: JsonObject]

interface CreatedTask {
  readonly id: string
  readonly number: number
}

const STEPS = [
  'Read the existing tests',
  'Find the failing case',
  'Write a regression test',
  'Fix the parser',
  'Run the whole suite',
]
const OUTCOME = 'Done, all as planned.'
const REF = { tenant: 'local', conversation: 'bench' }

const CALLS: Record<
  ToolsetName,
  { create: (titles: string[]) => ScriptedCall[]; settle: (task: CreatedTask) => ScriptedCall | undefined }
> = {
  manage_todos: { create: titles => [['manage_todos', { add: titles }]], settle: () => undefined },
  checklist: {
    create: titles => [['add_multiple_checklist_items', { items: titles.map(title => ({ title })) }]],
    settle: ({ id }) => ['update_checklist_items', { items: [{ id, isChecked: true }] }],
  },
  task_manager: {
    create: titles => [['add_task', { tasks: titles.map(title => ({ title })) }]],
    settle: ({ id }) => ['complete_task', { id, outcome: OUTCOME }],
  },
  turn_todos: {
    create: titles => [['create_todo', { items: titles.map(title => ({ title })) }]],
    settle: ({ id }) => ['complete_todo', { todoId: id, outcome: OUTCOME }],
  },
  task_list: {
    create: titles => titles.map(title => ['AddTask', { title }]),
    settle: ({ number }) => ['CompleteTask', { taskId: String(number) }],
  },
  runsheet: {
    create: titles => [['plan', { tasks: titles.map(title => ({ title })) }]],
    settle: ({ number }) => ['update', { id: number, outcome: OUTCOME }],
  },
}

/** Creates a plan of `size` tasks and settles each. Reviews are approved unchanged. */
export async function playScript(
  door: Door,
  name: ToolsetName,
  size: number,
  call: (call: ScriptedCall) => Promise<unknown>,
): Promise<void> {
  const { create, settle } = CALLS[name]
  const reviewing = new AbortController()
  void confirmReviews(door, reviewing.signal)
  for (const scripted of create(Array.from({ length: size }, (_, index) => STEPS[index % STEPS.length] ?? ''))) {
    await call(scripted)
  }
  reviewing.abort()
  for (const task of [...(await door.read(REF)).tasks.values()].sort((a, b) => a.number - b.number)) {
    const scripted = settle(task)
    if (scripted) await call(scripted)
  }
}

async function confirmReviews(door: Door, signal: AbortSignal): Promise<void> {
  for await (const { events } of door.tail(REF, { signal })) {
    for (const { type, data } of events) {
      if (type !== 'task_create_review_required') continue
      const tasks = data.draft_tasks.map((_, draft_index) => ({ draft_index }))
      await door.reviews.decide(REF.tenant, data.review_id, { action: 'confirm', tasks }, 'library')
    }
  }
}
