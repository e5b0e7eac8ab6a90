import {
  NoSuchToolError,
  jsonSchema,
  streamText,
  tool,
  type LanguageModel,
  type ModelMessage,
  type TextStreamPart,
  type ToolSet,
} from 'ai'
import type { Cut, Json, ToolCallRecord } from '../../core/model/event.ts'
import { jsonSchemaOf } from '../toolsets/guidance.ts'
import type { Toolset } from '../toolsets/toolset.ts'
import type { OutsideTool } from '../worker/outside.ts'
import { Received, asJson, asObject, withNote, type ModelAnswer } from '../worker/received.ts'

export const UNKNOWN_TOOL = 'unknown tool'

export interface Question {
  readonly model: LanguageModel
  readonly instructions: string
  readonly messages: readonly ModelMessage[]
  /** Empty for the last call of a budget, which must be an answer. */
  readonly tools: ToolSet
  readonly signal: AbortSignal
  readonly onText: (text: string) => void
  /** Called for each non-empty part that arrives. */
  readonly heard: () => void
  /** Call ids already used in this turn, because models repeat them. */
  readonly usedIds: ReadonlySet<string>
}

/**
 * Calls the model once, without retries. Throws if the call fails; `onText` has received the text so far. An answer
 * that is too long is cut, and says so.
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
    // The stream reports errors, too; the default handler would print them.
    onError: () => {},
  })
  const answer = new Received(question.usedIds)
  let finish = ''
  for await (const part of result.stream) {
    if (!isEmpty(part)) question.heard()
    switch (part.type) {
      case 'text-delta':
        answer.addText(part.text)
        onText(answer.text)
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
        finish = part.finishReason
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
  const { cut, note } = CUTS[finish] ?? { note: '' }
  return {
    text: withNote(answer.text, note),
    ...(cut ? answer.cut(cut) : {}),
    calls: answer.calls,
    parts: partsOf(response.messages, answer.calls),
    usage: { input_tokens: inputTokens, output_tokens: outputTokens, total_tokens: totalTokens },
  }
}

/** A provider that repeatedly sends nothing counts as silent. */
const isEmpty = (part: TextStreamPart<ToolSet>): boolean =>
  ('text' in part && part.text === '') || ('delta' in part && part.delta === '')

/** Why a text is incomplete, and the note appended to it. */
const CUTS: Readonly<Record<string, { readonly cut: Cut; readonly note: string }>> = {
  length: { cut: 'output_limit', note: 'The answer was cut off here: the model reached its output limit.' },
  'content-filter': {
    cut: 'content_filter',
    note: "The answer was cut off here by the provider's content filter.",
  },
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

/** The answer in the provider's own format, with our call ids. */
function partsOf(messages: readonly ModelMessage[], calls: readonly ToolCallRecord[]): Json {
  let count = 0
  const parts = messages.flatMap(message =>
    message.role === 'assistant' && Array.isArray(message.content) ? message.content : [],
  )
  const kept = parts.map(part => {
    if (part.type !== 'tool-call') return part
    const toolCallId = calls[count]?.tool_call_id ?? part.toolCallId
    count += 1
    return { ...part, toolCallId, input: asObject(part.input) }
  })
  return asJson(kept)
}

const problemWith = (error: unknown): string =>
  NoSuchToolError.isInstance(error) ? UNKNOWN_TOOL : 'The arguments are not valid JSON.'
