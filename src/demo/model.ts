import { ReadableStream } from 'node:stream/web'
import { setTimeout as delay } from 'node:timers/promises'
import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import type { LanguageModel } from 'ai'
import { think, type Call, type Message, type Prompt, type Schema } from './think.ts'

type PartStream = Awaited<ReturnType<LanguageModelV4['doStream']>>['stream']

/** The built-in model: no network, no key. `paceMs` slows it down to a pace that a person can follow. */
export function demoModel({ paceMs = 0 }: { readonly paceMs?: number } = {}): LanguageModel {
  return {
    specificationVersion: 'v4',
    provider: 'runsheet',
    modelId: 'demo',
    supportedUrls: {},
    doGenerate: async options => {
      const { text, calls = [] } = think(promptIn(options))
      const texts = text === '' ? [] : [{ type: 'text' as const, text }]
      const content = [...texts, ...calls.map((call, place) => toolCall(options, call, place))]
      return { content, finishReason: finish(calls), usage: usageOf(options, text), warnings: [] }
    },
    doStream: async options => {
      // The page's tests check this file against the DOM's ReadableStream, whose types differ from Node's.
      const stream: unknown = ReadableStream.from(streamed(options, paceMs))
      return { stream: stream as PartStream }
    },
  } satisfies LanguageModelV4
}

async function* streamed(
  options: LanguageModelV4CallOptions,
  paceMs: number,
): AsyncGenerator<LanguageModelV4StreamPart> {
  const { text, calls = [] } = think(promptIn(options))
  yield { type: 'stream-start', warnings: [] }
  await pace(paceMs * 10, options.abortSignal)
  if (text !== '') {
    yield { type: 'text-start', id: '1' }
    for (const delta of text.match(/\S+\s*|\s+/g) ?? []) {
      yield { type: 'text-delta', id: '1', delta }
      await pace(paceMs, options.abortSignal)
    }
    yield { type: 'text-end', id: '1' }
  }
  for (const [place, call] of calls.entries()) yield toolCall(options, call, place)
  yield { type: 'finish', finishReason: finish(calls), usage: usageOf(options, text) }
}

function toolCall({ prompt }: LanguageModelV4CallOptions, { tool, input }: Call, place: number) {
  return {
    type: 'tool-call' as const,
    toolCallId: `demo-${prompt.length}-${place}`,
    toolName: tool,
    input: JSON.stringify(input),
  }
}

const finish = (calls: readonly Call[]) =>
  calls.length > 0 ? { unified: 'tool-calls' as const, raw: undefined } : { unified: 'stop' as const, raw: undefined }

function promptIn({ prompt, tools = [] }: LanguageModelV4CallOptions): Prompt {
  return {
    system: prompt.flatMap(message => (message.role === 'system' ? [message.content] : [])).join('\n\n'),
    messages: prompt.flatMap(messagesIn),
    tools: tools.flatMap(tool =>
      tool.type === 'function' ? [{ name: tool.name, schema: tool.inputSchema as Schema }] : [],
    ),
  }
}

function messagesIn(message: LanguageModelV4CallOptions['prompt'][number]): Message[] {
  switch (message.role) {
    case 'system':
      return []
    case 'tool':
      return message.content.flatMap(part =>
        part.type === 'tool-result'
          ? [{ role: 'tool', tool: part.toolName, result: 'value' in part.output ? part.output.value : null }]
          : [],
      )
    default: {
      const text = message.content.flatMap(part => (part.type === 'text' ? [part.text] : [])).join('')
      const calls = message.content.flatMap(part =>
        part.type === 'tool-call' ? [{ tool: part.toolName, input: part.input }] : [],
      )
      return text === '' && calls.length === 0 ? [] : [{ role: message.role, text, calls }]
    }
  }
}

/** Counts words instead of tokens. */
function usageOf({ prompt }: LanguageModelV4CallOptions, text: string) {
  const count = (of: string): number => of.split(/\s+/).filter(Boolean).length
  const input = count(JSON.stringify(prompt))
  const output = count(text)
  return {
    inputTokens: { total: input, noCache: input, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: output, text: output, reasoning: undefined },
  }
}

async function pace(ms: number, signal: AbortSignal | undefined): Promise<void> {
  if (ms > 0) await delay(ms, undefined, signal ? { signal } : {})
}
