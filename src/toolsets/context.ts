import type { Sources } from '../domain/command.ts'
import type { PolicyPatch } from '../domain/policy.ts'
import type { Edge, Lease, Door } from '../door/door.ts'

/** The conversation and turn of a tool call. The host sets it; nothing in it comes from the model. */
export interface ToolContext extends Sources {
  readonly door: Door
  readonly tenant: string
  readonly conversation: string
  readonly turn: string
  /** The idempotency key of the call. Default: a new id. */
  readonly toolCallId?: string | undefined
  /** The host's defaults for the policy of new conversations. */
  readonly host?: PolicyPatch | undefined
  /** The program that calls and its folder: the beginning of the title of a new conversation. */
  readonly client?: string | undefined
  /** The way in. Default: `turn` for a run of ours, else `library`. */
  readonly edge?: Edge | undefined
  readonly provider?: string | undefined
  readonly model?: string | undefined
  /** The lease of a process that settles the claims of a call. */
  readonly lease?: Lease | undefined
  /** Set for calls from our own runs. */
  readonly run?: RunContext | undefined
}

export interface RunContext {
  readonly lease: Lease
  /** The seq of the digest that the step was given. */
  readonly basis: number
  /** The model's latest text: the outcome, if its tools have no field for one. */
  readonly lastText?: string | undefined
}
