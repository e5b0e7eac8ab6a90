import type * as z from 'zod'
import type { Json } from '../domain/event.ts'
import type { Toolset as ToolsetName } from '../domain/policy.ts'
import type { Changes } from '../domain/review.ts'
import type { Task } from '../domain/task.ts'
import type { PENDING, ToolCall } from './call.ts'
import type { View } from './view.ts'

export type JsonObject = { readonly [key: string]: Json }

/** One tool: what a model is told of it, what it takes, and which commands that comes to. No rule lives here. */
export interface Tool<I = never> {
  readonly name: string
  readonly description: string
  /** The one source for validation and for the JSON Schema. */
  readonly input: z.ZodType<I>
  /** The right form in one line, for refusals. */
  readonly example: string
  /** Where the rules' element `row` stands in the input; absent where there is only one. */
  readonly at?: (row: number, field: string) => string
  /** What it answers when it is not refused, and nobody has to be asked. */
  readonly output: z.ZodObject
  /** Whether it only reads; may take something away; and whether calling it again with the same changes nothing more. */
  readonly reads?: boolean
  readonly removes?: boolean
  readonly repeats?: boolean
  readonly run: (call: ToolCall, input: I) => Json | typeof PENDING
  /** What a creating tool answers once its tasks are there, at once or after a review. */
  readonly created?: (view: View, tasks: readonly Task[]) => JsonObject
}

export interface Toolset {
  readonly name: ToolsetName
  readonly tools: readonly Tool[]
  /** For the system prompt, where its tools are allowed. */
  readonly prompt: string
  /** For a model that got the form wrong: the form in one sentence, and what exists already. */
  readonly retry: (view: View) => string
  /** How its model knows a task. */
  readonly idOf: (task: Task) => string | number
  /** Its names for fields and statuses, where the rules have others. */
  readonly words?: Readonly<Record<string, string>>
  /** What it says of an id that is not there, where that is fixed. */
  readonly unknown?: string
  /** A refusal in this toolset's form. */
  readonly refused: (message: string, view: View) => Json
  /** What a person changed, where the toolset has shorter words for it than the row-by-row form. */
  readonly changes?: (changes: Changes, tasks: readonly Task[]) => Json
  /** What it answers when a review was not confirmed, beyond the common form. */
  readonly unconfirmed?: (answer: JsonObject, view: View) => Json
}

/** Keeps a tool's input type together with what it runs on. */
export const tool = <I>(definition: Tool<I>): Tool => definition as unknown as Tool
