import { jsonSchema, type LanguageModel, type ModelMessage, NoSuchToolError, streamText, tool, type ToolSet } from 'ai'
import type { Json, ToolCallRecord, Usage } from '../domain/event.ts'
import { jsonSchemaOf } from '../toolsets/formats.ts'
import type { Toolset } from '../toolsets/toolset.ts'
import type { OutsideTool } from './outside.ts'

/** In UTF-16 code units; the rest of the text is dropped. */
const MAX_TEXT = 100_000
/** Per step; further calls are refused. */
const MAX_CALLS = 32

/** The `problem` of a call whose tool was not offered. */
export const UNKNOWN_TOOL = 'unknown tool'

export interface Question {
  readonly model: LanguageModel
  readonly instructions: string
  readonly messages: readonly ModelMessage[]
  /** Empty for the last call of a budget, which has to be an answer. */
  readonly tools: ToolSet
  readonly signal: AbortSignal
  readonly onText: (text: string) => void
  /** Called for each part that arrives. */
  readonly heard: () => void
  /** Call ids that this turn has used already: models repeat them. */
  readonly usedIds: ReadonlySet<string>
}

/** The result of one model call. */
export interface ModelAnswer {
  readonly text: string
  readonly calls: readonly ToolCallRecord[]
  readonly parts: Json
  readonly usage: Usage
}

/** Calls the model once, without retries. Throws if the call fails; `onText` has the text up to then. */
export async function askModel(question: Question): Promise<ModelAnswer> {
  const { model, instructions, messages, tools, signal, onText } = question
  const result = streamText({
    model,
    instructions,
    messages: [...messages],
    tools,
    abortSignal: signal,
    maxRetries: 0,
    // The stream reports errors, too; the default handler prints them.
    onError: () => {},
  })
  let received = ''
  let text = ''
  let note = ''
  const calls: ToolCallRecord[] = []
  const renamed = new Map<number, string>()
  const used = new Set(question.usedIds)
  for await (const part of result.stream) {
    question.heard()
    switch (part.type) {
      case 'text-delta':
        if (received.length >= MAX_TEXT) break
        received += part.text
        onText((text = bounded(received)))
        break
      case 'tool-call': {
        const id = unused(part.toolCallId, used)
        used.add(id)
        renamed.set(calls.length, id)
        calls.push({
          tool_call_id: id,
          tool: part.toolName,
          arguments: asJson(part.input),
          ...(part.invalid ? { problem: problemWith(part.error) } : {}),
          ...(calls.length >= MAX_CALLS ? { problem: `A step can make at most ${MAX_CALLS} calls.` } : {}),
        })
        break
      }
      case 'error':
        throw part.error
      case 'finish-step':
        // Some providers end the stream when the connection breaks: half an answer is an error.
        if (part.finishReason === 'interrupted') throw new Error('the answer ended early')
        if (part.finishReason === 'length') note = 'The answer was cut off here: the model reached its output limit.'
        if (part.finishReason === 'content-filter')
          note = "The answer was cut off here by the provider's content filter."
        break
      case 'abort':
        throw signal.reason ?? new Error('aborted')
      default:
    }
  }
  const [usage, response] = await Promise.all([result.usage, result.response])
  const { inputTokens = 0, outputTokens = 0, totalTokens = inputTokens + outputTokens } = usage
  return {
    text: [text, note].filter(each => each !== '').join('\n\n'),
    calls,
    parts: partsOf(response.messages, renamed),
    usage: { input_tokens: inputTokens, output_tokens: outputTokens, total_tokens: totalTokens },
  }
}

/** The tools of a step. They have no `execute`, because a step is stored before its calls are made. */
export function toolsFor(toolset: Toolset, outside: readonly OutsideTool[]): ToolSet {
  const own = OWN_TOOLS.get(toolset) ?? ownTools(toolset)
  OWN_TOOLS.set(toolset, own)
  const others = outside.map(each => [
    each.name,
    tool({ description: each.description, inputSchema: jsonSchema(each.inputSchema) }),
  ])
  return { ...Object.fromEntries(others), ...own }
}

/** Cached: converting the schemas costs as much as storing a step. */
const OWN_TOOLS = new Map<Toolset, ToolSet>()

const ownTools = ({ tools }: Toolset): ToolSet =>
  Object.fromEntries(
    tools.map(each => [
      each.name,
      tool({ description: each.description, inputSchema: jsonSchema(jsonSchemaOf(each)) }),
    ]),
  )

/** Truncates without splitting a surrogate pair. */
function bounded(text: string): string {
  const cut = text.slice(0, MAX_TEXT)
  return /[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut
}

function unused(id: string, used: ReadonlySet<string>): string {
  const name = id === '' ? 'call' : id.slice(0, 180)
  if (!used.has(name) && id !== '') return name
  for (let count = 2; ; count += 1) if (!used.has(`${name}_${count}`)) return `${name}_${count}`
}

/** The answer in the provider's own parts, with our ids for its calls. */
function partsOf(messages: readonly ModelMessage[], renamed: ReadonlyMap<number, string>): Json {
  let count = 0
  const parts = messages.flatMap(message =>
    message.role === 'assistant' && Array.isArray(message.content) ? message.content : [],
  )
  const kept = parts.map(part => {
    if (part.type !== 'tool-call') return part.type === 'text' ? { ...part, text: bounded(part.text) } : part
    const toolCallId = renamed.get(count) ?? part.toolCallId
    count += 1
    // Providers accept only objects back, whatever their model sent.
    const input = typeof part.input === 'object' && part.input !== null ? part.input : {}
    return { ...part, toolCallId, input }
  })
  return asJson(kept)
}

const problemWith = (error: unknown): string =>
  NoSuchToolError.isInstance(error) ? UNKNOWN_TOOL : 'The arguments are not valid JSON.'

const asJson = (value: unknown): Json => JSON.parse(JSON.stringify(value ?? null)) as Json
