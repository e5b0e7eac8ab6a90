import * as z from 'zod'
import type { ModelEdit, NewTask } from '../domain/command.ts'
import type { Json, NewEvent } from '../domain/event.ts'
import type { ToolsetName } from '../domain/policy.ts'
import type { Changes, ConfirmedTask } from '../domain/review.ts'
import type { Refusal, TaskName } from '../domain/refusal.ts'
import type { Vocabulary } from '../domain/say.ts'
import type { Task } from '../domain/task.ts'
import type { Translation } from './translation.ts'
import type { View } from './view.ts'

export type JsonObject = { readonly [key: string]: Json }

/** What a call changes, as its tool asks for it. */
export interface ToolEdit extends Pick<ModelEdit, 'change' | 'remove' | 'each'> {
  readonly create?: readonly Omit<NewTask, 'id'>[]
  /** Each draft's index in the input, if the tool dropped some elements. */
  readonly sent?: readonly number[]
}

/** A call that was made. */
export interface Done {
  readonly edit: ModelEdit
  readonly events: readonly NewEvent[]
  /** The tasks that it created. */
  readonly made: readonly Task[]
  /** Those of them that were sent as done, and are not. */
  readonly notDone: readonly { readonly id: string; readonly reason: string }[]
  /** The elements that were refused. */
  readonly refusals: ReadonlyMap<number, Refusal>
}

/** One tool: its description, its schemas, the edit that it translates to, and the answer. Rules live in the domain. */
export interface Tool<I = never, S extends z.ZodType = z.ZodType> {
  readonly name: string
  readonly description: string
  /** Validates the arguments; the JSON Schema is made from it. */
  readonly input: S
  /** The right form in one line, shown in refusals. */
  readonly example: string
  /** Both with a `check` for each new task, for turns that have a workspace. */
  readonly checked?: { readonly input: z.ZodType; readonly example: string }
  /** For agents elsewhere only: in our own turns the answer in text does the same. */
  readonly isOutside?: true
  /** Changes a task that exists: a check is refused, because only a person changes those. */
  readonly isForExisting?: true
  /** The path of a field of element `row`; absent if there is only one element. */
  readonly at?: (row: number, field: string) => string
  /** The shape of a successful answer. */
  readonly output: z.ZodObject
  /** Hints for hosts: read-only, destructive, idempotent. */
  readonly reads?: boolean
  readonly removes?: boolean
  readonly repeats?: boolean
  /** For a tool that only reads: the answer. */
  readonly read?: (view: View, input: I) => JsonObject
  /** What a call changes, or its answer if that is nothing; throws what is wrong with its arguments. */
  readonly edit?: (call: Translation, input: I) => ToolEdit | { readonly unchanged: JsonObject }
  /** The answer once that is made. */
  readonly answer?: (view: View, done: Done) => JsonObject
  /** For the planning tool: its answer once the tasks exist, at once or after a review. */
  readonly created?: (view: View, tasks: readonly Task[]) => JsonObject
}

/** The name under which a model knows a tool. */
export type NameOf = (tool: string) => string

/** Texts that name tools take a `NameOf`, so that a prefix holds in all of them; refusals name none. */
export interface Toolset {
  readonly name: ToolsetName
  /** Under their bare names, which events and metrics keep. */
  readonly tools: readonly Tool[]
  /** Put before each tool name that a model reads or sends. */
  readonly prefix?: string
  /** Whether its planning tool takes checks. */
  readonly hasChecks?: true
  /** The section for the system prompt. */
  readonly prompt: (named: NameOf) => string
  /** The same for agents elsewhere, if they settle tasks in another way. */
  readonly outsidePrompt?: (named: NameOf) => string
  /** Guidance for a model that got the form wrong: the right form, and what exists already. */
  readonly retry: (view: View, named: NameOf) => string
  /** How to settle a task, and what to do with one that cannot be done; follows "do the work, and". */
  readonly settling: (named: NameOf) => string
  /** How its model names tasks, fields and statuses. */
  readonly vocabulary: Vocabulary & { readonly idOf: (task: TaskName) => string | number }
  /** Wraps a refusal's message in the toolset's answer. */
  readonly refused: (message: string, view: View) => Json
  /** The person's changes in the toolset's own short form. Default: row by row. */
  readonly changes?: (changes: Changes, made: readonly ConfirmedTask[], tasks: readonly Task[]) => Json
  /** The answer for an unconfirmed review, if it differs from the common form. */
  readonly unconfirmed?: (answer: JsonObject, view: View) => JsonObject
}

/** How a review ended that a person reopened meanwhile: an agent elsewhere hears it with its next answer, once. */
const review = z.looseObject({ review_id: z.string(), confirmed: z.boolean() })

/** The check of a new task, in the form that a model writes. */
export const check = z.string().optional().describe('a command that fails until it is done, e.g. npm test')

/** What a checked input adds to a new task. */
export interface Checked {
  readonly check?: string | undefined
}

/** The toolset for turns that have a workspace: its planning tool takes checks. */
export function withChecks(toolset: Toolset): Toolset {
  const known = CHECKED.get(toolset)
  if (known) return known
  const tools = toolset.tools.map(one => (one.checked ? { ...one, ...one.checked } : one))
  const checked: Toolset = { ...toolset, tools, hasChecks: true }
  CHECKED.set(toolset, checked)
  return checked
}

const CHECKED = new WeakMap<Toolset, Toolset>()

/** Infers the input type from the schema. */
export const tool = <I>(definition: Tool<I, z.ZodType<I>>): Tool => ({
  ...definition,
  reads: definition.read !== undefined,
  output: definition.output.extend({
    review: review.optional(),
    // Done tasks that a claim opened again, because their checks fail now.
    ...(definition.created || definition.read ? {} : { reopened: z.array(z.string()).optional() }),
    // Checks that did not pass, although nothing is open.
    ...(definition.created ? {} : { failing: z.array(z.string()).optional() }),
    // That checks were left out.
    ...(definition.checked ? { message: z.string().optional() } : {}),
  }),
})
