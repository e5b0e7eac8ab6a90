import type { Sources } from '../domain/command.ts'
import type { PolicyPatch } from '../domain/policy.ts'
import type { At, Door, Edge, Lease } from '../door/door.ts'
import type { View } from './view.ts'

/** The conversation and turn of a tool call. The host sets it; nothing in it comes from the model. */
export interface ToolContext extends Sources {
  readonly door: Door
  readonly tenant: string
  readonly conversation: string
  readonly turn: string
  /** The idempotency key of the call. Default: a new id. */
  readonly toolCallId?: string | undefined
  /** Whose id that is: a host gives each try of its model a new one, and an equal call that waits is joined all the same. */
  readonly isHostCallId?: boolean | undefined
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

/** The conversation as the turn of a call sees it. */
export async function viewOf({ door, tenant, conversation, turn }: ToolContext, need?: 'list'): Promise<View> {
  return { state: await door.read({ tenant, conversation }, need), turnId: turn }
}

/** The lease that a commit of a call needs, if any. */
export const leaseOf = ({ run, lease = run?.lease }: ToolContext): Pick<At, 'lease'> => (lease ? { lease } : {})
