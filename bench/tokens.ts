import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import type { Json } from '../src/domain/event.ts'
import type { Toolset as ToolsetName } from '../src/domain/policy.ts'
import { createRunsheet } from '../src/runsheet.ts'
import { openMemoryStore } from '../src/store/memory.ts'
import { openAiTools } from '../src/toolsets/formats.ts'
import { toolsets } from '../src/toolsets/index.ts'
import { callTool } from '../src/toolsets/perform.ts'
import type { JsonObject } from '../src/toolsets/toolset.ts'
import { type Line, printTable } from './table.ts'

const STEPS = [
  'Read the existing tests',
  'Find the failing case',
  'Write a regression test',
  'Fix the parser',
  'Run the whole suite',
]
const OUTCOME = 'Done, all as planned.'

/** How a model creates a plan and settles a task in each vocabulary. */
const SPEAK: Record<
  ToolsetName,
  { create: (titles: string[]) => [string, JsonObject][]; settle: (task: Made) => [string, JsonObject] | undefined }
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
interface Made {
  readonly id: string
  readonly number: number
}

export async function benchTokens(): Promise<void> {
  const lines: Line[] = []
  for (const name of Object.keys(toolsets) as ToolsetName[]) {
    const definitions = countTokens(JSON.stringify(openAiTools(toolsets[name])))
    const five = await traffic(name, 5)
    const twenty = await traffic(name, 20)
    const ours = name === 'runsheet'
    lines.push({
      what: name,
      ours: `${definitions} + ${five} = ${definitions + five}`,
      beside: `20 tasks: ${twenty}`,
      ratio: `prompt ${countTokens(toolsets[name].prompt)}`,
      goal: ours ? 'below 550, 20 tasks below 1,000' : '',
      met: ours ? definitions + five < 550 && twenty < 1_000 : undefined,
    })
  }
  printTable('Tokens (o200k_base): definitions + a plan of five from create to the last completion', lines)
  console.log(
    'Peers, the same work: Codex update_plan 561; TodoWrite compact 1,045; Gemini 2,042; MCP task servers 1,935 to 10,490.',
  )
}

/** The tokens of all calls and answers of a plan; a person confirms it unchanged if asked. */
async function traffic(name: ToolsetName, size: number): Promise<number> {
  const runsheet = createRunsheet({ store: openMemoryStore() })
  const ref = { tenant: 'local', conversation: 'bench' }
  const titles = Array.from({ length: size }, (_, index) => STEPS[index % STEPS.length] ?? '')
  let tokens = 0
  const say = async ([tool, input]: [string, JsonObject]): Promise<Json> => {
    const call = callTool(toolsets[name], tool, input, { runsheet, ...ref, turn: 'turn' })
    const answer = await Promise.race([call, decided().then(() => call)])
    tokens += countTokens(tool) + countTokens(JSON.stringify(input)) + countTokens(JSON.stringify(answer))
    return answer
  }
  /** The person, who confirms without changes. */
  const decided = async (): Promise<void> => {
    for await (const { events } of runsheet.tail(ref)) {
      for (const event of events) {
        if (event.type !== 'task_create_review_required') continue
        const tasks = event.data.draft_tasks.map((_, draft_index) => ({ draft_index }))
        return void (await runsheet.decideReview(
          'local',
          event.data.review_id,
          { action: 'confirm', tasks },
          'library',
        ))
      }
    }
  }
  for (const call of SPEAK[name].create(titles)) await say(call)
  for (const task of [...(await runsheet.read(ref)).tasks.values()].sort((a, b) => a.number - b.number)) {
    const call = SPEAK[name].settle(task)
    if (call) await say(call)
  }
  await runsheet.close()
  return tokens
}

await benchTokens()
