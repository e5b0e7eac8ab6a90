/** What a host sent to its model, whichever API it speaks. */
export interface ModelRequest {
  readonly tools: readonly OfferedTool[]
  /** The answered tool calls of the conversation, oldest first. */
  readonly results: readonly ToolResult[]
  /** Texts that are not the model's own, oldest first: prompts, instructions, what hooks say. */
  readonly said: readonly string[]
}
export interface OfferedTool {
  readonly name: string
  /** The group that it is called in, for hosts that have groups. */
  readonly namespace?: string | undefined
}
export interface ToolResult {
  readonly name: string
  readonly arguments: unknown
  readonly text: string
}

/** What the scripted model answers: a text, or one tool call. */
export type ModelAnswer = { readonly text: string } | { readonly call: ToolCall }
export interface ToolCall extends OfferedTool {
  readonly arguments: object
}

/** One of the APIs that hosts call models by. */
export interface ModelApi {
  /** Whether a path asks for an answer. */
  asks(path: string): boolean
  /** What other paths are answered; undefined: 404. */
  other(path: string): unknown
  read(body: never): ModelRequest
  /** A constant answer to requests that are no part of the conversation, such as for a title. */
  aside(body: never): string | undefined
  /** As JSON, or as the events of a stream. */
  write(answer: ModelAnswer, body: never, path: string): Written
}
export type Written = { readonly json: unknown } | { readonly events: readonly SentEvent[] }
export interface SentEvent {
  readonly event?: string
  readonly data: unknown
}

let made = 0
export const newId = (prefix: string): string => `${prefix}_${(made += 1)}`

/** A message's content as text. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return JSON.stringify(content ?? '')
  return content
    .map((part: { readonly text?: unknown }) => (typeof part.text === 'string' ? part.text : JSON.stringify(part)))
    .join('\n')
}
