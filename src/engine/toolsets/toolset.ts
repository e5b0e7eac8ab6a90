import * as z from 'zod'
import type { ModelEdit, NewTask } from '../../core/model/command.ts'
import type { Json, NewEvent } from '../../core/model/event.ts'
import type { ToolsetName } from '../../core/model/policy.ts'
import type { Changes, ConfirmedTask } from '../../core/model/review.ts'
import type { Refusal, TaskName } from '../../core/model/refusal.ts'
import type { Vocabulary } from '../../core/views/say.ts'
import type { Task } from '../../core/model/task.ts'
import type { Translation } from './translation.ts'
import type { View } from './view.ts'

export type JsonObject = { readonly [key: string]: Json }

export interface ToolEdit extends Pick<ModelEdit, 'change' | 'remove' | 'each'> {
  readonly create?: readonly Omit<NewTask, 'id'>[]
  /** Each draft's index in the input, if the tool dropped elements. */
  readonly sent?: readonly number[]
}

export interface Done {
  readonly edit: ModelEdit
  readonly events: readonly NewEvent[]
  readonly made: readonly Task[]
  /** Created tasks that were sent as done but are not. */
  readonly notDone: readonly { readonly id: string; readonly reason: string }[]
  readonly refusals: ReadonlyMap<number, Refusal>
}

/** One tool: its description, its schemas, the edit that it translates to, and its answer. Rules live in the domain. */
export interface Tool<I = never, S extends z.ZodType = z.ZodType> {
  readonly name: string
  readonly description: string
  /** Validates the arguments; the JSON Schema is derived from it. */
  readonly input: S
  /** The right form in one line, shown in refusals. */
  readonly example: string
  /** The right form of a dispute. */
  readonly disputing?: string
  /** Input and example with a `check` per new task, for turns that have a workspace. */
  readonly checked?: { readonly input: z.ZodType; readonly example: string }
  /** For external agents only; in our own turns the answer in text does the same. */
  readonly isOutside?: true
  /** Changes an existing task: a check is refused, because only a person changes those. */
  readonly isForExisting?: true
  /** The path of a field of element `row`; absent for a single element. */
  readonly at?: (row: number, field: string) => string
  readonly output: z.ZodObject
  /** Hints for hosts: read-only, destructive, idempotent. */
  readonly reads?: boolean
  readonly removes?: boolean
  readonly repeats?: boolean
  /** The answer of a tool that only reads. */
  readonly read?: (view: View, input: I) => JsonObject
  /** The changes of a call, or its answer if there are none. Throws a refusal for bad arguments. */
  readonly edit?: (call: Translation, input: I) => ToolEdit | { readonly unchanged: JsonObject }
  readonly answer?: (view: View, done: Done) => JsonObject
  /** For the planning tool: the answer once the tasks exist, at once or after a review. */
  readonly created?: (view: View, tasks: readonly Task[]) => JsonObject
}

export type NameOf = (tool: string) => string

/** Texts that name tools take a `NameOf`, so that a prefix applies to all of them; refusals name none. */
export interface Toolset {
  readonly name: ToolsetName
  /** With their bare names, which events and metrics use. */
  readonly tools: readonly Tool[]
  /** Precedes each tool name that a model reads or sends. */
  readonly prefix?: string
  /** Whether its planning tool takes checks. */
  readonly hasChecks?: true
  readonly prompt: (named: NameOf) => string
  /** The same for external agents, if they settle tasks in another way. */
  readonly outsidePrompt?: (named: NameOf) => string
  /** Guidance after a malformed call: the right form, and the existing tasks. */
  readonly retry: (view: View, named: NameOf) => string
  /** How to settle a task, and what to do with an impossible one; follows "do the work, and". */
  readonly settling: (named: NameOf) => string
  /** The model's names for tasks, fields and statuses. */
  readonly vocabulary: Vocabulary & { readonly idOf: (task: TaskName) => string | number }
  /** Wraps a refusal's message in the toolset's answer. */
  readonly refused: (message: string, view: View) => Json
  /** The person's changes in the toolset's own short form. Default: row by row. */
  readonly changes?: (changes: Changes, made: readonly ConfirmedTask[], tasks: readonly Task[]) => Json
  /** The answer for an unconfirmed review, if it differs from the common form. */
  readonly unconfirmed?: (answer: JsonObject, view: View) => JsonObject
}

/** The outcome of a review that a person reopened: an agent elsewhere gets it once, with its next answer. */
const review = z.looseObject({ review_id: z.string(), confirmed: z.boolean() })

export const check = z.string().optional().describe('a command that fails until it is done, e.g. npm test')
export const scope = z
  .array(z.string())
  .optional()
  .describe('globs of the files it changes, e.g. src/auth/**; other changes wait for the user')

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

export const tool = <I>(definition: Tool<I, z.ZodType<I>>): Tool => ({
  ...definition,
  reads: definition.read !== undefined,
  output: definition.output.extend({
    review: review.optional(),
    // Done tasks that a claim reopened, because their checks fail now.
    ...(definition.created || definition.read ? {} : { reopened: z.array(z.string()).optional() }),
    // Checks that did not pass, although nothing is open.
    ...(definition.created ? {} : { failing: z.array(z.string()).optional() }),
    // Says that checks were left out.
    ...(definition.checked ? { message: z.string().optional() } : {}),
  }),
})
