import { jsonSchema, type LanguageModel, type ModelMessage, NoSuchToolError, streamText, tool, type ToolSet } from 'ai'
import type { Json, ToolCallRecord, Usage } from '../domain/event.ts'
import { jsonSchemaOf } from '../toolsets/formats.ts'
import type { Toolset } from '../toolsets/toolset.ts'
import type { OutsideTool } from './outside.ts'

/** In UTF-16 code units; the rest of the text is dropped. */
const MAX_TEXT = 100_000
/** Per step; further calls are refused. */
const MAX_CALLS = 32
/** Where reading stops, so that an endless answer fills neither memory nor log. */
const READ_LIMITS = { text: 1_000_000, arguments: 2_000_000, calls: 2 * MAX_CALLS } as const

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

/**
 * Calls the model once, without retries. Throws if the call fails; `onText` has the text up to then. An answer beyond
 * `READ_LIMITS` is not read any further, and says so.
 */
export async function askModel(question: Question): Promise<ModelAnswer> {
  const { model, instructions, messages, tools, signal, onText } = question
  const enough = new AbortController()
  const result = streamText({
    model,
    instructions,
    messages: [...messages],
    tools,
    abortSignal: AbortSignal.any([signal, enough.signal]),
    maxRetries: 0,
    // The stream reports errors, too; the default handler prints them.
    onError: () => {},
  })
  const answer = new Received(question.usedIds)
  for await (const part of result.stream) {
    question.heard()
    switch (part.type) {
      case 'text-delta':
        if (answer.addText(part.text)) onText(answer.text)
        break
      case 'reasoning-delta':
        answer.count('text', part.text.length)
        break
      case 'tool-input-start':
        answer.beginCall(part.id, part.toolName)
        break
      case 'tool-input-delta':
        answer.growCall(part.id, part.delta.length)
        break
      case 'tool-call':
        answer.addCall(part.toolCallId, part.toolName, part.input, part.invalid ? problemWith(part.error) : undefined)
        break
      case 'error':
        throw part.error
      case 'finish-step':
        // Some providers end the stream when the connection breaks: half an answer is an error.
        if (part.finishReason === 'interrupted') throw new Error('the answer ended early')
        answer.note = NOTES[part.finishReason] ?? ''
        break
      case 'abort':
        throw signal.reason ?? new Error('aborted')
      default:
    }
    if (answer.exceeded) {
      enough.abort()
      return answer.cutShort(answer.exceeded)
    }
  }
  const [usage, response] = await Promise.all([result.usage, result.response])
  const { inputTokens = 0, outputTokens = 0, totalTokens = inputTokens + outputTokens } = usage
  return {
    text: withNote(answer.text, answer.note),
    calls: answer.calls,
    parts: partsOf(response.messages, answer.calls),
    usage: { input_tokens: inputTokens, output_tokens: outputTokens, total_tokens: totalTokens },
  }
}

/** What a text ends with when it is incomplete. */
const NOTES: Readonly<Record<string, string>> = {
  length: 'The answer was cut off here: the model reached its output limit.',
  'content-filter': "The answer was cut off here by the provider's content filter.",
}

const withNote = (text: string, note: string): string => [text, note].filter(each => each !== '').join('\n\n')

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

/** An answer as far as it has been received. */
class Received {
  note = ''
  readonly calls: ToolCallRecord[] = []
  /** Calls whose arguments are still being received: id to tool. */
  readonly #begun = new Map<string, string>()
  readonly #used: Set<string>
  readonly #counts = { text: 0, arguments: 0, calls: 0 }
  #text = ''

  constructor(usedIds: ReadonlySet<string>) {
    this.#used = new Set(usedIds)
  }

  get text(): string {
    return bounded(this.#text)
  }

  /** The limit that the answer is beyond. */
  get exceeded(): keyof typeof READ_LIMITS | undefined {
    return LIMIT_NAMES.find(name => this.#counts[name] > READ_LIMITS[name])
  }

  count(what: keyof typeof READ_LIMITS, size: number): void {
    this.#counts[what] += size
  }

  /** Whether the kept text has grown. */
  addText(delta: string): boolean {
    this.count('text', delta.length)
    if (this.#text.length >= MAX_TEXT) return false
    this.#text += delta
    return true
  }

  beginCall(id: string, tool: string): void {
    this.#begun.set(id, tool)
    this.count('arguments', tool.length)
    this.count('calls', 1)
  }

  growCall(id: string, size: number): void {
    if (this.#begun.has(id)) this.count('arguments', size)
  }

  addCall(id: string, tool: string, input: unknown, problem: string | undefined): void {
    const args = asJson(input)
    // Not every provider streams the arguments.
    if (!this.#begun.delete(id)) {
      this.count('calls', 1)
      this.count('arguments', tool.length + JSON.stringify(args).length)
    }
    if (this.exceeded) this.#begun.set(id, tool)
    else this.#record(id, tool, args, problem)
  }

  /** The answer up to where reading stopped. The calls that were not complete are refused. */
  cutShort(limit: keyof typeof READ_LIMITS): ModelAnswer {
    for (const [id, tool] of this.#begun) this.#record(id, tool, {}, `${TOO_MUCH[limit]} This call was not made.`)
    const note = this.#begun.size > 0 ? '' : `The answer was cut off here. ${TOO_MUCH[limit]}`
    const text = withNote(this.text, note)
    const calls = this.calls.map(({ tool_call_id: toolCallId, tool: toolName, arguments: input }) => ({
      type: 'tool-call',
      toolCallId,
      toolName,
      input: asObject(input),
    }))
    return {
      text,
      calls: this.calls,
      parts: [...(text === '' ? [] : [{ type: 'text', text }]), ...calls],
      usage: {},
    }
  }

  #record(id: string, tool: string, args: Json, problem: string | undefined): void {
    const tool_call_id = unused(id, this.#used)
    this.#used.add(tool_call_id)
    const tooMany = this.calls.length >= MAX_CALLS ? `A step can make at most ${MAX_CALLS} calls.` : undefined
    const why = tooMany ?? problem
    this.calls.push({ tool_call_id, tool, arguments: args, ...(why === undefined ? {} : { problem: why }) })
  }
}

const LIMIT_NAMES = Object.keys(READ_LIMITS) as (keyof typeof READ_LIMITS)[]

const TOO_MUCH: Record<keyof typeof READ_LIMITS, string> = {
  text: 'An answer can have at most 1 MB of text.',
  arguments: 'A step can have at most 2 MB of arguments, in all its calls together.',
  calls: `A step can make at most ${MAX_CALLS} calls.`,
}

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
function partsOf(messages: readonly ModelMessage[], calls: readonly ToolCallRecord[]): Json {
  let count = 0
  const parts = messages.flatMap(message =>
    message.role === 'assistant' && Array.isArray(message.content) ? message.content : [],
  )
  const kept = parts.map(part => {
    if (part.type !== 'tool-call') return part.type === 'text' ? { ...part, text: bounded(part.text) } : part
    const toolCallId = calls[count]?.tool_call_id ?? part.toolCallId
    count += 1
    return { ...part, toolCallId, input: asObject(part.input) }
  })
  return asJson(kept)
}

/** Providers accept only objects back, whatever their model sent. */
const asObject = <T>(input: T): T | Record<string, never> => (typeof input === 'object' && input !== null ? input : {})

const problemWith = (error: unknown): string =>
  NoSuchToolError.isInstance(error) ? UNKNOWN_TOOL : 'The arguments are not valid JSON.'

const asJson = (value: unknown): Json => JSON.parse(JSON.stringify(value ?? null)) as Json
