import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import type { Case } from '../../src/engine/worker/case.ts'
import { Looks } from './looks.ts'

/** A model's scripted answer to one request; a string is a text. */
export type Answer = string | Script
export interface Script {
  readonly text?: string
  readonly calls?: readonly ScriptedCall[]
  /** `null` leaves it out. */
  readonly usage?: { readonly prompt_tokens: number; readonly completion_tokens: number } | null
  /** From 400 on: an error, with `body` instead of the usual one. */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** Cuts the connection after that many bytes of the body; 0 before any answer. */
  readonly cutAfter?: number
  /** Cuts the connection after the text, before the end of the stream. */
  readonly dies?: boolean
  /** Writes the text, and then hangs. */
  readonly hangs?: boolean
  /** Waits for this before it answers. */
  readonly after?: Promise<unknown>
  /** A pause between the pieces of the text, in ms. */
  readonly pace?: number
  readonly finish?: string
  /** With status 200: the raw body. */
  readonly raw?: string
}
export interface ScriptedCall {
  readonly tool: string
  /** An object, or a string that is sent raw. */
  readonly args?: unknown
  /** Generated if absent. */
  readonly id?: string
}

/** A list with one answer for each request (further ones get a 400), or a function of the request. */
export type Answers = readonly Answer[] | ((request: ModelRequest, count: number) => Answer | Promise<Answer>)

export interface ModelMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool'
  readonly content?: string | null
  readonly tool_calls?: readonly {
    readonly id: string
    readonly function: { readonly name: string; readonly arguments: string }
  }[]
  readonly tool_call_id?: string
}
export interface ModelRequest {
  readonly model: string
  readonly messages: readonly ModelMessage[]
  readonly tools?: readonly { readonly function: { readonly name: string } }[]
  readonly stream?: boolean
  readonly temperature?: number
  readonly response_format?: { readonly type: string }
}
export interface Received {
  readonly request: ModelRequest
  readonly headers: IncomingMessage['headers']
  readonly path: string
  /** The time of the request, by `performance.now()`. */
  readonly at: number
}

/** For tests: a real HTTP server that speaks chat completions and follows a script. */
export class Provider {
  /** The worker's requests, and the assessor's. */
  readonly asked: Received[] = []
  readonly judged: Received[] = []
  /** The requests for a title. */
  readonly named: Received[] = []
  /** How many clients hung up before the end of an answer. */
  hungUp = 0
  #answers: Answers = []
  #assessor: Answers = () => 'OK'
  #titles: readonly Answer[] = []
  #pending: readonly [number, number] = [0, 0]
  readonly #looks = new Looks()
  readonly #server = createServer((request, response) => {
    this.#handle(request, response).catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(500)
      response.end(String(error))
    })
  })

  static async start(answers: Answers = [], assessor?: Answers): Promise<Provider> {
    const provider = new Provider()
    provider.script(answers, assessor)
    provider.#server.listen(0, '127.0.0.1')
    await once(provider.#server, 'listening')
    return provider
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`
  }

  /** Replaces the script, and forgets what was recorded. */
  script(answers: Answers, assessor: Answers = () => 'OK'): void {
    this.#answers = answers
    this.#assessor = assessor
    this.#pending = [0, 0]
    this.asked.length = 0
    this.judged.length = 0
    this.hungUp = 0
  }

  /** The answers to requests for a title; further ones get a 400. */
  titles(answers: readonly Answer[]): void {
    this.#titles = answers
    this.named.length = 0
  }

  /** The messages of the worker's request with this number, from 0. */
  messages(count: number): readonly ModelMessage[] {
    return this.asked.at(count)?.request.messages ?? []
  }

  /** Its system message. */
  system(count: number): string {
    return this.messages(count).find(({ role }) => role === 'system')?.content ?? ''
  }

  /** The names of the tools that came with it. */
  tools(count: number): readonly string[] {
    return (this.asked.at(count)?.request.tools ?? []).map(tool => tool.function.name)
  }

  /** The assessor's prompt with this number, from 0. */
  prompt(count: number): string {
    return this.judged.at(count)?.request.messages.findLast(({ role }) => role === 'user')?.content ?? ''
  }

  /** The case in it. */
  case(count: number): Case {
    return JSON.parse(this.prompt(count).split('\n').at(-1) ?? '') as Case
  }

  /** Resolves once it holds; checked on every request and hang-up. */
  until(holds: (provider: this) => boolean): Promise<void> {
    return this.#looks.until(() => holds(this))
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise(resolve => this.#server.close(resolve))
  }

  async #handle(message: IncomingMessage, response: ServerResponse): Promise<void> {
    let raw = ''
    for await (const chunk of message) raw += String(chunk)
    const request = JSON.parse(raw) as ModelRequest
    const isAssessor = isAssessing(request)
    response.on('close', () => {
      if (!response.writableFinished && !cutByUs.has(response)) this.hungUp += 1
      this.#looks.again()
    })
    const received = { request, headers: message.headers, path: message.url ?? '', at: performance.now() }
    const isTitler = isTitling(request)
    ;(isTitler ? this.named : isAssessor ? this.judged : this.asked).push(received)
    this.#looks.again()
    const title = this.#titles[this.named.length - 1] ?? SCRIPT_IS_OVER
    const answer = isTitler ? title : await this.#next(request, isAssessor)
    const script = typeof answer === 'string' ? { text: answer } : answer
    await script.after
    await respond(response, request, script)
  }

  async #next(request: ModelRequest, isAssessor: boolean): Promise<Answer> {
    const answers = isAssessor ? this.#assessor : this.#answers
    const [worker, assessor] = this.#pending
    const count = isAssessor ? assessor : worker
    this.#pending = isAssessor ? [worker, assessor + 1] : [worker + 1, assessor]
    if (typeof answers === 'function') return answers(request, count)
    return answers[count] ?? SCRIPT_IS_OVER
  }
}

export const isAssessing = (request: ModelRequest): boolean => begins(request, 'You are the assessor')

const isTitling = (request: ModelRequest): boolean => begins(request, 'You name conversations')

const begins = ({ messages }: ModelRequest, words: string): boolean =>
  messages.some(({ role, content }) => role === 'system' && content?.startsWith(words) === true)

const SCRIPT_IS_OVER: Script = { status: 400, body: '{"error":{"message":"the script is over"}}' }

let made = 0
const cutByUs = new WeakSet<ServerResponse>()

async function respond(response: ServerResponse, request: ModelRequest, script: Script): Promise<void> {
  const { status = 200, headers = {}, cutAfter, hangs, dies, pace = 0 } = script
  if (cutAfter === 0) return cut(response)
  if (status >= 400) {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(
      script.body ?? JSON.stringify({ error: { message: `scripted ${status}`, type: 'scripted', code: '' } }),
    )
    return
  }
  const stream = request.stream === true
  response.writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json', ...headers })
  let bytes = 0
  for (const piece of piecesOf(request, script)) {
    if (response.destroyed) return
    const chunk = Buffer.from(piece)
    const taken = chunk.subarray(0, cutAfter === undefined ? chunk.length : Math.max(0, cutAfter - bytes))
    bytes += taken.length
    if (taken.length > 0) await new Promise(resolve => response.write(taken, resolve))
    if (cutAfter !== undefined && bytes >= cutAfter) return cut(response)
    if (pace > 0) await wait(pace)
  }
  if (dies) return cut(response)
  if (!hangs) response.end()
}

function piecesOf(request: ModelRequest, script: Script): Iterable<string> {
  if (script.raw !== undefined) return [script.raw]
  return request.stream === true ? streamed(request, script) : [whole(request, script)]
}

function cut(response: ServerResponse): void {
  cutByUs.add(response)
  response.destroy()
}

const callsOf = ({ calls = [] }: Script) =>
  calls.map(({ tool, args = {}, id }) => ({
    id: id ?? `call_${(made += 1)}`,
    type: 'function',
    function: { name: tool, arguments: typeof args === 'string' ? args : JSON.stringify(args) },
  }))

function usageOf({ usage = { prompt_tokens: 10, completion_tokens: 5 } }: Script) {
  return usage && { ...usage, total_tokens: usage.prompt_tokens + usage.completion_tokens }
}

function whole({ model }: ModelRequest, script: Script): string {
  const tool_calls = callsOf(script)
  const message = {
    role: 'assistant',
    content: script.text ?? null,
    ...(tool_calls.length > 0 ? { tool_calls } : {}),
  }
  const finish_reason = script.finish ?? (tool_calls.length > 0 ? 'tool_calls' : 'stop')
  const usage = usageOf(script)
  return JSON.stringify({
    id: `chatcmpl-${(made += 1)}`,
    object: 'chat.completion',
    created: 0,
    model,
    choices: [{ index: 0, message, finish_reason }],
    ...(usage ? { usage } : {}),
  })
}

/** One event for each piece: texts word by word, arguments a few characters at a time. */
function* streamed({ model }: ModelRequest, script: Script): Generator<string> {
  const base = { id: `chatcmpl-${(made += 1)}`, object: 'chat.completion.chunk', created: 0, model }
  const event = (delta: unknown, finish_reason: string | null = null): string =>
    `data: ${JSON.stringify({ ...base, choices: [{ index: 0, delta, finish_reason }] })}\n\n`
  const { text = '', hangs, dies } = script
  yield event({ role: 'assistant', content: '' })
  for (const piece of text.length > 2_000 ? pieces(text, 4_000) : (text.match(/\s*\S+\s*/g) ?? [])) {
    yield event({ content: piece })
  }
  const calls = callsOf(script)
  for (const [index, call] of calls.entries()) {
    yield event({ tool_calls: [{ index, ...call, function: { name: call.function.name, arguments: '' } }] })
    for (const piece of pieces(call.function.arguments, Math.max(9, call.function.arguments.length / 50))) {
      yield event({ tool_calls: [{ index, function: { arguments: piece } }] })
    }
  }
  if (hangs || dies) return
  yield event({}, script.finish ?? (calls.length > 0 ? 'tool_calls' : 'stop'))
  const usage = usageOf(script)
  if (usage) yield `data: ${JSON.stringify({ ...base, choices: [], usage })}\n\n`
  yield 'data: [DONE]\n\n'
}

function* pieces(text: string, size: number): Generator<string> {
  const step = Math.ceil(size)
  for (let at = 0; at < text.length; at += step) yield text.slice(at, at + step)
}
