import { type ModelApi, type ModelRequest, newId, type OfferedTool, textOf, type ToolResult } from './model.ts'

interface Body {
  readonly model: string
  readonly instructions?: string
  readonly input: readonly Item[]
  readonly tools?: readonly Tool[]
}
type Item = Readonly<Partial<Record<'type' | 'role' | 'call_id' | 'name' | 'arguments', string>>> & {
  readonly content?: unknown
  readonly output?: unknown
}
interface Tool extends Partial<OfferedTool> {
  readonly type: string
  readonly tools?: readonly OfferedTool[]
}

const USAGE = {
  input_tokens: 100,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 10,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 110,
}

/** OpenAI's Responses API, as Codex speaks it. */
export const responses: ModelApi = {
  asks: path => /\/responses(\?|$)/.test(path),
  other: path => (path.includes('/models') ? { object: 'list', data: [], models: [] } : undefined),
  aside: () => undefined,
  read,
  write: (answer, { model }: Body) => {
    const id = newId('item')
    const item =
      'call' in answer
        ? {
            type: 'function_call',
            id,
            call_id: newId('call'),
            name: answer.call.name,
            ...(answer.call.namespace === undefined ? {} : { namespace: answer.call.namespace }),
            arguments: JSON.stringify(answer.call.arguments),
            status: 'completed',
          }
        : {
            type: 'message',
            id,
            role: 'assistant',
            status: 'completed',
            content: [{ type: 'output_text', text: answer.text, annotations: [] }],
          }
    const empty = 'call' in answer ? { arguments: '' } : { content: [] }
    const response = { id: newId('resp'), object: 'response', status: 'in_progress', model, output: [] }
    const delta = 'text' in answer ? [{ type: 'response.output_text.delta', item_id: id, delta: answer.text }] : []
    const events = [
      { type: 'response.created', response },
      { type: 'response.output_item.added', item: { ...item, status: 'in_progress', ...empty } },
      ...delta.map(each => ({ ...each, content_index: 0 })),
      { type: 'response.output_item.done', item },
      { type: 'response.completed', response: { ...response, status: 'completed', output: [item], usage: USAGE } },
    ]
    return {
      events: events.map((data, sequence_number) => ({
        event: data.type,
        data: { sequence_number, output_index: 0, ...data },
      })),
    }
  },
}

function read({ instructions = '', input, tools = [] }: Body): ModelRequest {
  const calls = new Map<string | undefined, Item>()
  const results: ToolResult[] = []
  const said = [instructions]
  for (const item of input) {
    if (item.type === 'function_call' || item.type === 'custom_tool_call') calls.set(item.call_id, item)
    if (item.type === 'function_call_output' || item.type === 'custom_tool_call_output') {
      const { name = '', arguments: args } = calls.get(item.call_id) ?? {}
      results.push({ name, arguments: args, text: textOf(item.output) })
    }
    if (item.role !== undefined && item.role !== 'assistant') said.push(textOf(item.content))
  }
  const offered = tools.flatMap(tool =>
    tool.type === 'namespace'
      ? (tool.tools ?? []).map(({ name }) => ({ name, namespace: tool.name }))
      : [{ name: tool.name ?? tool.type }],
  )
  return { tools: offered, results, said }
}
