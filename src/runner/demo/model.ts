import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import type { LanguageModel } from 'ai'
import { type Heard, type Schema, type Seen, think, type Thought } from './think.ts'

/** A model that is built in: it needs no network and no key. `paceMs` lets a person follow. */
export function demoModel({ paceMs = 0 }: { readonly paceMs?: number } = {}): LanguageModel {
  return {
    specificationVersion: 'v4',
    provider: 'runsheet',
    modelId: 'demo',
    supportedUrls: {},
    doGenerate: async options => {
      const { text, call } = think(seenIn(options))
      return {
        content: [
          ...(text === '' ? [] : [{ type: 'text' as const, text }]),
          ...(call ? [toolCall(options, call)] : []),
        ],
        finishReason: finish(call),
        usage: usageOf(options, text),
        warnings: [],
      }
    },
    doStream: async options => ({ stream: streamFrom(streamed(options, paceMs)) }),
  } satisfies LanguageModelV4
}

async function* streamed(
  options: LanguageModelV4CallOptions,
  paceMs: number,
): AsyncGenerator<LanguageModelV4StreamPart> {
  const { text, call } = think(seenIn(options))
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
  if (call) yield toolCall(options, call)
  yield { type: 'finish', finishReason: finish(call), usage: usageOf(options, text) }
}

function toolCall({ prompt }: LanguageModelV4CallOptions, { tool, input }: NonNullable<Thought['call']>) {
  return {
    type: 'tool-call' as const,
    toolCallId: `demo-${prompt.length}`,
    toolName: tool,
    input: JSON.stringify(input),
  }
}

const finish = (call: Thought['call']) =>
  call ? { unified: 'tool-calls' as const, raw: undefined } : { unified: 'stop' as const, raw: undefined }

function seenIn({ prompt, tools = [] }: LanguageModelV4CallOptions): Seen {
  return {
    system: prompt.flatMap(message => (message.role === 'system' ? [message.content] : [])).join('\n\n'),
    turns: prompt.flatMap(heardIn),
    tools: tools.flatMap(tool =>
      tool.type === 'function'
        ? [{ name: tool.name, description: tool.description ?? '', schema: tool.inputSchema as Schema }]
        : [],
    ),
  }
}

function heardIn(message: LanguageModelV4CallOptions['prompt'][number]): Heard[] {
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
      return text === '' ? [] : [{ role: message.role, text }]
    }
  }
}

/** Words, for want of tokens. */
function usageOf({ prompt }: LanguageModelV4CallOptions, text: string) {
  const count = (of: string): number => of.split(/\s+/).filter(Boolean).length
  const input = count(JSON.stringify(prompt))
  const output = count(text)
  return {
    inputTokens: { total: input, noCache: input, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: output, text: output, reasoning: undefined },
  }
}

function pace(ms: number, signal: AbortSignal | undefined): Promise<void> {
  if (ms === 0) return Promise.resolve()
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms)
    signal?.addEventListener(
      'abort',
      () => {
        clearTimeout(timer)
        reject(signal.reason)
      },
      { once: true },
    )
  })
}

/** As `ReadableStream.from`, which not every environment has. */
function streamFrom<T>(parts: AsyncGenerator<T>): ReadableStream<T> {
  return new ReadableStream<T>({
    pull: async controller => {
      const { done, value } = await parts.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: async () => {
      await parts.return(undefined)
    },
  })
}
