import type { Cut, Json, ToolCallRecord, Usage } from '../../core/model/event.ts'

/** Per step; further calls are refused. */
const MAX_CALLS = 32
/** Reading stops at these limits, so that an endless answer fills neither memory nor log. */
const READ_LIMITS = { text: 1_000_000, arguments: 2_000_000, calls: 2 * MAX_CALLS } as const

export interface ModelAnswer {
  readonly text: string
  /** Why the answer is incomplete, and how much of `text` the model wrote; a note follows that. */
  readonly cut?: { readonly cut: Cut; readonly answer_length: number }
  readonly calls: readonly ToolCallRecord[]
  readonly parts: Json
  readonly usage: Usage
}

export class Received {
  readonly calls: ToolCallRecord[] = []
  readonly #begun = new Map<string, string>()
  readonly #used: Set<string>
  readonly #counts = { text: 0, arguments: 0, calls: 0 }
  #text = ''

  constructor(usedIds: ReadonlySet<string>) {
    this.#used = new Set(usedIds)
  }

  get text(): string {
    return this.#text
  }

  get exceeded(): keyof typeof READ_LIMITS | undefined {
    return LIMIT_NAMES.find(name => this.#counts[name] > READ_LIMITS[name])
  }

  count(what: keyof typeof READ_LIMITS, size: number): void {
    this.#counts[what] += size
  }

  addText(delta: string): void {
    this.#text += delta.slice(0, Math.max(0, READ_LIMITS.text - this.#counts.text))
    this.count('text', delta.length)
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

  /** The answer up to the limit. Incomplete calls are refused. */
  cutShort(limit: keyof typeof READ_LIMITS): ModelAnswer {
    // The cut may split a surrogate pair.
    this.#text = headOf(this.#text, this.#text.length)
    for (const [id, tool] of this.#begun) this.#record(id, tool, {}, `${TOO_MUCH[limit]} This call was not made.`)
    const why = `The answer was cut off here, after ${this.text.length.toLocaleString('en')} characters. ${TOO_MUCH[limit]}`
    // An incomplete call's refusal already says so.
    const note = this.#begun.size > 0 ? '' : why
    const text = withNote(this.text, note)
    const calls = this.calls.map(({ tool_call_id: toolCallId, tool: toolName, arguments: input }) => ({
      type: 'tool-call',
      toolCallId,
      toolName,
      input: asObject(input),
    }))
    return {
      text,
      ...(limit === 'text' && note !== '' ? this.cut('too_long') : {}),
      calls: this.calls,
      parts: [...(text === '' ? [] : [{ type: 'text', text }]), ...calls],
      usage: {},
    }
  }

  cut(cut: Cut): Pick<ModelAnswer, 'cut'> {
    return { cut: { cut, answer_length: this.text.length } }
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

/** Up to `length` UTF-16 code units, without splitting a surrogate pair. */
export function headOf(text: string, length: number): string {
  const head = text.slice(0, Math.max(0, length))
  return /[\ud800-\udbff]/.test(head.at(-1) ?? '') ? head.slice(0, -1) : head
}

function unused(id: string, used: ReadonlySet<string>): string {
  const name = id === '' ? 'call' : id.slice(0, 180)
  if (!used.has(name) && id !== '') return name
  for (let count = 2; ; count += 1) if (!used.has(`${name}_${count}`)) return `${name}_${count}`
}

export const withNote = (text: string, note: string): string => [text, note].filter(each => each !== '').join('\n\n')

/** Providers accept only objects in the history, whatever their model sent. */
export const asObject = <T>(input: T): T | Record<string, never> =>
  typeof input === 'object' && input !== null ? input : {}

export const asJson = (value: unknown): Json => JSON.parse(JSON.stringify(value ?? null)) as Json
