import { type ModelApi, type ModelRequest, newId, textOf, type ToolResult } from './model.ts'

interface Body {
  readonly model: string
  readonly stream?: boolean
  readonly tools?: readonly { readonly function: { readonly name: string } }[]
  readonly messages: readonly Message[]
}
interface Message {
  readonly role: string
  readonly content?: unknown
  readonly tool_call_id?: string
  readonly tool_calls?: readonly { readonly id: string; readonly function: Called }[]
}
interface Called {
  readonly name: string
  readonly arguments: string
}

const USAGE = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 }

/** OpenAI's chat completions, as OpenCode and Qwen Code speak them. */
export const chat: ModelApi = {
  asks: path => path.includes('/chat/completions'),
  other: path => (path.includes('/models') ? { object: 'list', data: [{ id: 'fake', object: 'model' }] } : undefined),
  aside: ({ tools = [] }: Body) => (tools.length === 0 ? 'A short title' : undefined),
  read,
  write: (answer, { model, stream }: Body) => {
    const tool_calls =
      'call' in answer
        ? [
            {
              index: 0,
              id: newId('call'),
              type: 'function',
              function: { name: answer.call.name, arguments: JSON.stringify(answer.call.arguments) },
            },
          ]
        : undefined
    const content = 'text' in answer ? answer.text : null
    const message = { role: 'assistant', content, ...(tool_calls ? { tool_calls } : {}) }
    const finish_reason = tool_calls ? 'tool_calls' : 'stop'
    const about = { id: newId('chatcmpl'), created: 1, model }
    if (!stream) {
      const choices = [{ index: 0, message, finish_reason }]
      return { json: { ...about, object: 'chat.completion', choices, usage: USAGE } }
    }
    const chunk = (more: object): { data: unknown } => ({
      data: { ...about, object: 'chat.completion.chunk', ...more },
    })
    return {
      events: [
        chunk({ choices: [{ index: 0, delta: message, finish_reason: null }] }),
        chunk({ choices: [{ index: 0, delta: {}, finish_reason }] }),
        chunk({ choices: [], usage: USAGE }),
        { data: '[DONE]' },
      ],
    }
  },
}

function read({ messages, tools = [] }: Body): ModelRequest {
  const calls = new Map<string, Called>()
  const results: ToolResult[] = []
  const said: string[] = []
  for (const { role, content, tool_calls = [], tool_call_id = '' } of messages) {
    for (const call of tool_calls) calls.set(call.id, call.function)
    if (role === 'tool') results.push({ ...meant(calls.get(tool_call_id)), text: textOf(content) })
    else if (role !== 'assistant') said.push(textOf(content))
  }
  return { tools: tools.map(tool => ({ name: tool.function.name })), results, said }
}

/** Qwen Code has MCP tools called through a tool of its own. */
function meant(called: Called = { name: '', arguments: '{}' }): Pick<ToolResult, 'name' | 'arguments'> {
  const given = JSON.parse(called.arguments || '{}') as { readonly name?: string; readonly arguments?: unknown }
  if (called.name !== 'tool_call') return { name: called.name, arguments: given }
  return { name: given.name ?? '', arguments: given.arguments }
}
