import { jsonSchema, type LanguageModel, type ModelMessage, streamText, tool, type ToolSet } from 'ai'
import type { Json, ToolCallRecord, Usage } from '../domain/event.ts'
import { jsonSchemaOf } from '../toolsets/formats.ts'
import type { Toolset } from '../toolsets/toolset.ts'
import type { OutsideTool } from './outside.ts'

/** An answer of this length says nothing that a longer one would not. */
const MOST_TEXT = 100_000
/** More calls than this in one step are a model that has lost its way: the rest is told so. */
const MOST_CALLS = 32

export interface Question {
  readonly model: LanguageModel
  readonly instructions: string
  readonly messages: readonly ModelMessage[]
  /** None for the last call of a budget, which is to be an answer. */
  readonly tools: ToolSet
  readonly signal: AbortSignal
  readonly onText: (text: string) => void
  /** Something came: the line is alive. */
  readonly heard: () => void
  /** Ids of calls that this turn has used already: models repeat them. */
  readonly usedIds: ReadonlySet<string>
}

/** What one call of the model came to. */
export interface Said {
  readonly text: string
  readonly calls: readonly ToolCallRecord[]
  readonly parts: Json
  readonly usage: Usage
}

/** Asks once. Whatever goes wrong is thrown, with what was said until then in `onText`. */
export async function askModel(question: Question): Promise<Said> {
  const { model, instructions, messages, tools, signal, onText } = question
  const result = streamText({
    model,
    instructions,
    messages: [...messages],
    tools,
    abortSignal: signal,
    maxRetries: 0,
    // Told here by the stream itself; by default it would go to the console.
    onError: () => {},
  })
  let said = ''
  let text = ''
  let note = ''
  const calls: ToolCallRecord[] = []
  const renamed = new Map<number, string>()
  const used = new Set(question.usedIds)
  for await (const part of result.stream) {
    question.heard()
    switch (part.type) {
      case 'text-delta':
        if (said.length >= MOST_TEXT) break
        said += part.text
        onText((text = bounded(said)))
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
          ...(calls.length >= MOST_CALLS ? { problem: `More than ${MOST_CALLS} calls at once; make fewer.` } : {}),
        })
        break
      }
      case 'error':
        throw part.error
      case 'finish-step':
        // Some providers' streams just end when the line does: half an answer is none.
        if (part.finishReason === 'interrupted') throw new Error('the answer broke off')
        if (part.finishReason === 'length')
          note = 'The answer was cut off here: it reached the length that the model may write.'
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

/** The tools of a step. They have no `execute`: a step is stored before anything is done for it. */
export function toolsFor(toolset: Toolset, outside: readonly OutsideTool[]): ToolSet {
  const own = OWN.get(toolset) ?? ownTools(toolset)
  OWN.set(toolset, own)
  const others = outside.map(each => [
    each.name,
    tool({ description: each.description, inputSchema: jsonSchema(each.inputSchema) }),
  ])
  return { ...Object.fromEntries(others), ...own }
}

/** Made once: a schema is as costly to make as a step is to store. */
const OWN = new Map<Toolset, ToolSet>()

const ownTools = ({ tools }: Toolset): ToolSet =>
  Object.fromEntries(
    tools.map(each => [
      each.name,
      tool({ description: each.description, inputSchema: jsonSchema(jsonSchemaOf(each)) }),
    ]),
  )

/** Not cut through a character. */
function bounded(text: string): string {
  const cut = text.slice(0, MOST_TEXT)
  return /[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut
}

function unused(id: string, used: ReadonlySet<string>): string {
  const name = id === '' ? 'call' : id.slice(0, 180)
  if (!used.has(name) && id !== '') return name
  for (let count = 2; ; count += 1) if (!used.has(`${name}_${count}`)) return `${name}_${count}`
}

/** What the model said, as its provider wants it back, with the ids that its calls go by here. */
function partsOf(messages: readonly ModelMessage[], renamed: ReadonlyMap<number, string>): Json {
  let count = 0
  const parts = messages.flatMap(message =>
    message.role === 'assistant' && Array.isArray(message.content) ? message.content : [],
  )
  const kept = parts.map(part => {
    if (part.type !== 'tool-call') return part.type === 'text' ? { ...part, text: bounded(part.text) } : part
    const toolCallId = renamed.get(count) ?? part.toolCallId
    count += 1
    // A provider takes back objects only, whatever it was that its model sent.
    const input = typeof part.input === 'object' && part.input !== null ? part.input : {}
    return { ...part, toolCallId, input }
  })
  return asJson(kept)
}

function problemWith(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return message.startsWith('Model tried to call unavailable tool')
    ? 'unknown tool'
    : 'The arguments are not valid JSON.'
}

const asJson = (value: unknown): Json => JSON.parse(JSON.stringify(value ?? null)) as Json
