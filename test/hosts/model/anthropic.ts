import { type ModelApi, type ModelRequest, newId, textOf, type ToolResult } from './model.ts'

interface Body {
  readonly model: string
  readonly stream?: boolean
  readonly system?: unknown
  readonly tools?: readonly { readonly name: string }[]
  readonly messages: readonly { readonly role: string; readonly content: string | readonly Part[] }[]
}
type Part =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly input: unknown }
  | { readonly type: 'tool_result'; readonly tool_use_id: string; readonly content: unknown }

const USAGE = { input_tokens: 100, output_tokens: 10, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 }

/** Anthropic's Messages API, as Claude Code speaks it. */
export const anthropic: ModelApi = {
  asks: path => /^\/v1\/messages(\?|$)/.test(path),
  other: path => (path.startsWith('/v1/messages/count_tokens') ? { input_tokens: 100 } : undefined),
  aside: ({ tools = [] }: Body) => (tools.length === 0 ? 'A short title' : undefined),
  read,
  write: (answer, { model, stream }: Body) => {
    const block =
      'call' in answer
        ? { type: 'tool_use', id: newId('toolu'), name: answer.call.name, input: answer.call.arguments }
        : { type: 'text', text: answer.text }
    const stop_reason = 'call' in answer ? 'tool_use' : 'end_turn'
    const about = { id: newId('msg'), type: 'message', role: 'assistant', model, stop_sequence: null, usage: USAGE }
    if (!stream) return { json: { ...about, content: [block], stop_reason } }
    const start = 'call' in answer ? { ...block, input: {} } : { ...block, text: '' }
    const delta =
      'call' in answer
        ? { type: 'input_json_delta', partial_json: JSON.stringify(answer.call.arguments) }
        : { type: 'text_delta', text: answer.text }
    const events = [
      { type: 'message_start', message: { ...about, content: [], stop_reason: null } },
      { type: 'content_block_start', index: 0, content_block: start },
      { type: 'content_block_delta', index: 0, delta },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 10 } },
      { type: 'message_stop' },
    ]
    return { events: events.map(data => ({ event: data.type, data })) }
  },
}

function read({ system, messages, tools = [] }: Body): ModelRequest {
  const calls = new Map<string, Extract<Part, { type: 'tool_use' }>>()
  const results: ToolResult[] = []
  const said = [textOf(system)]
  for (const { role, content } of messages) {
    for (const part of typeof content === 'string' ? [{ type: 'text', text: content } as const] : content) {
      if (part.type === 'tool_use') calls.set(part.id, part)
      if (part.type === 'tool_result') {
        const { name = '', input } = calls.get(part.tool_use_id) ?? {}
        results.push({ name, arguments: input, text: textOf(part.content) })
      }
      if (part.type === 'text' && role !== 'assistant') said.push(part.text)
    }
  }
  return { tools, results, said }
}
