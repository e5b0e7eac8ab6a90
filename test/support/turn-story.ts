import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { OutsideTool } from '../../src/engine/worker/outside.ts'
import type { Json, StoredEvent } from '../../src/core/model/event.ts'
import type { Answer, ModelRequest } from './provider.ts'
import type { ChatBody } from './turns.ts'

/** A turn with the same course however often it is interrupted: the model's answer depends on the steps so far. */
export interface Story {
  readonly body: ChatBody
  readonly steps: readonly Answer[]
  /** The commits of its runner: the event types of each. */
  readonly commits: readonly string[]
  /** The final plan. */
  readonly tasks: readonly string[]
}

const plan: Answer = { calls: [{ tool: 'plan', args: { tasks: [{ title: 'a' }, { title: 'b' }] } }] }
const update = (id: number): Answer => ({ calls: [{ tool: 'update', args: { id, outcome: `did ${id}` } }] })
const STEP = 'step_finished'

export const STORIES = {
  /** A review, outside tools, judged claims, the gate. */
  reviewed: {
    body: { message: 'Do a and b.' },
    steps: [
      plan,
      { text: 'To work.', calls: [{ tool: 'send' }, { tool: 'lookup' }] },
      update(1),
      'I think that is all.',
      update(2),
      'All done.',
    ],
    commits: [
      STEP,
      'tool_called task_create_review_required',
      'tool_answered',
      STEP,
      'tool_called',
      'tool_answered',
      'tool_called',
      'tool_answered',
      STEP,
      'claim_made',
      'task_assessed task_changed task_changed claim_settled tool_answered',
      STEP,
      'gate_followed message_added',
      STEP,
      'claim_made',
      'task_assessed task_changed claim_settled tool_answered',
      STEP,
      'message_added turn_finished',
    ],
    tasks: ['a', 'b'],
  },
  /** The plan's own tool, a judged text, the next task taken up. */
  advanced: {
    body: { message: 'Do a and b.', toolset: 'manage_todos' },
    steps: [{ calls: [{ tool: 'manage_todos', args: { add: ['a', 'b'] } }] }, 'Did a.', 'Did b.'],
    commits: [
      STEP,
      'task_created task_created tool_answered',
      STEP,
      'claim_made',
      'task_assessed task_changed task_changed claim_settled todos_resubmitting message_added',
      STEP,
      'claim_made',
      'task_assessed task_changed claim_settled',
      'message_added turn_finished',
    ],
    tasks: ['a', 'b'],
  },
} as const satisfies Record<string, Story>

export const toldBy =
  ({ steps }: Story) =>
  ({ messages }: ModelRequest): Answer =>
    steps[messages.filter(({ role }) => role === 'assistant').length] ?? 'There is no more to tell.'

/** Tools on a server that outlives its callers and counts their calls. */
export class ToolServer {
  readonly calls: string[] = []
  /** Runs on every call, before its answer. */
  onCall: (tool: string) => void = () => {}
  readonly #server = createServer((request, response) => {
    const tool = request.url?.slice(1) ?? ''
    this.calls.push(tool)
    this.onCall(tool)
    response.end(JSON.stringify(`${tool} done`))
  })

  static async start(): Promise<ToolServer> {
    const tools = new ToolServer()
    tools.#server.listen(0, '127.0.0.1')
    await once(tools.#server, 'listening')
    return tools
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise(resolve => this.#server.close(resolve))
  }
}

export const outsideTools = (url: string): readonly OutsideTool[] =>
  ['send', 'lookup'].map(name => ({
    name,
    description: `${name}s`,
    inputSchema: { type: 'object' },
    isRepeatable: name === 'lookup',
    call: async (_, signal) => (await (await fetch(new URL(name, url), { signal })).json()) as Json,
  }))

/** The same tools, each call of which a person has to allow. */
export const guardedTools = (url: string): readonly OutsideTool[] =>
  outsideTools(url).map(tool => ({
    ...tool,
    from: { server: 'story', tool: tool.name, fingerprint: `${tool.name}.here`, isReadOnly: false, ask: 'all' },
  }))

/** Everything wrong with a finished turn, however often it was interrupted. */
export function faultsIn(story: Story, log: readonly StoredEvent[], calls: readonly string[]): string[] {
  const faults: string[] = []
  const must = (holds: boolean, what: string): void => void (holds || faults.push(what))
  const of = <T extends StoredEvent['type']>(type: T): Extract<StoredEvent, { type: T }>[] =>
    log.filter((event): event is Extract<StoredEvent, { type: T }> => event.type === type)
  const numbers = of('step_finished').map(({ data }) => data.step)
  must(
    log.every(({ seq }, index) => seq === index + 1),
    'a hole in the log',
  )
  must(String(numbers) === String(story.steps.map((_, index) => index + 1)), `steps ${numbers.join()}`)
  const made = of('step_finished').flatMap(({ data }) =>
    data.tool_calls.map(call => (call as unknown as { tool_call_id: string }).tool_call_id),
  )
  const answered = of('tool_answered').map(({ data }) => data.tool_call_id)
  must(String(made) === String(answered), `calls ${made.join()}, answers ${answered.join()}`)
  const created = of('task_created').map(({ data }) => data.task.title)
  must(String(created) === String(story.tasks), `tasks ${created.join()}`)
  const once = ['gate_followed', 'todos_resubmitting', 'turn_finished', 'task_create_review_required'] as const
  for (const type of once) {
    const wanted = story.commits.filter(commit => commit.split(' ').includes(type)).length
    must(of(type).length === wanted, `${of(type).length} × ${type}`)
  }
  const reviews = of('task_create_review_required').length
  must(of('task_create_review_resolved').length === reviews, 'a review that was not decided once')
  must(of('task_assessed').length === story.tasks.length, `${of('task_assessed').length} × task_assessed`)
  must(log.at(-1)?.type === 'turn_finished', 'it does not end with its end')
  must(of('turn_finished').at(0)?.data.status === 'done', `it ended ${of('turn_finished').at(0)?.data.status}`)
  for (const { data } of of('tool_answered').filter(({ data: { tool } }) => tool === 'send')) {
    const sent = calls.filter(tool => tool === 'send').length
    if (data.ok)
      must(sent === 1 && data.result === 'send done', `sent ${sent} times, answered ${JSON.stringify(data.result)}`)
    else
      must(
        sent <= 1 && JSON.stringify(data.result).includes('may have run'),
        `sent ${sent} times, and told ${JSON.stringify(data.result)}`,
      )
  }
  for (const { data } of of('tool_answered').filter(({ data: { tool } }) => tool === 'lookup')) {
    must(data.ok && data.result === 'lookup done', `looked up: ${JSON.stringify(data.result)}`)
  }
  return faults
}
