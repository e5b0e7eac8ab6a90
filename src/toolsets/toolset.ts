import type * as z from 'zod'
import type { Json } from '../domain/event.ts'
import type { ToolsetName } from '../domain/policy.ts'
import type { Changes, ConfirmedTask } from '../domain/review.ts'
import type { TaskName } from '../domain/refusal.ts'
import type { Vocabulary } from '../domain/say.ts'
import type { Task } from '../domain/task.ts'
import type { PENDING, ToolCall } from './tool-call.ts'
import type { View } from './view.ts'

export type JsonObject = { readonly [key: string]: Json }

/** One tool: its description, its schemas, and the commands it translates to. Rules live in the domain. */
export interface Tool<I = never> {
  readonly name: string
  readonly description: string
  /** Validates, and becomes the JSON Schema. */
  readonly input: z.ZodType<I>
  /** The right form in one line, shown in refusals. */
  readonly example: string
  /** The path of a field of element `row`; absent where there is only one element. */
  readonly at?: (row: number, field: string) => string
  /** The shape of its answer when it is neither refused nor waiting for a review. */
  readonly output: z.ZodObject
  /** Hints for hosts: read-only, destructive, idempotent. */
  readonly reads?: boolean
  readonly removes?: boolean
  readonly repeats?: boolean
  readonly run: (call: ToolCall, input: I) => Json | typeof PENDING
  /** For the tool that creates: its answer once the tasks exist, at once or after a review. */
  readonly created?: (view: View, tasks: readonly Task[]) => JsonObject
}

export interface Toolset {
  readonly name: ToolsetName
  readonly tools: readonly Tool[]
  /** The section for the system prompt. */
  readonly prompt: string
  /** Guidance for a model that got the form wrong: the form in one sentence, and what exists already. */
  readonly retry: (view: View) => string
  /** How its model names tasks, fields and statuses. */
  readonly vocabulary: Vocabulary & { readonly idOf: (task: TaskName) => string | number }
  /** The answer for a refusal. */
  readonly refused: (message: string, view: View) => Json
  /** What a person changed in the review, if the toolset has a shorter form than row by row. */
  readonly changes?: (changes: Changes, made: readonly ConfirmedTask[], tasks: readonly Task[]) => Json
  /** The answer when a review was not confirmed, if it differs from the common form. */
  readonly unconfirmed?: (answer: JsonObject, view: View) => Json
}

/** Ties a tool's input type to its schema. */
export const tool = <I>(definition: Tool<I>): Tool => definition as unknown as Tool
