import type { Sources } from '../../core/model/command.ts'
import type { PolicyPatch } from '../../core/model/policy.ts'
import type { At, Door, Edge, Lease } from '../door/door.ts'
import type { View } from './view.ts'

/** The conversation and turn of a tool call. Set by the host; nothing in it comes from the model. */
export interface ToolContext extends Sources {
  readonly door: Door
  readonly tenant: string
  readonly conversation: string
  readonly turn: string
  /** The idempotency key of the call. Default: a new id. */
  readonly toolCallId?: string | undefined
  /** Whether the host chose that id: hosts give each retry a new one, so an equal waiting call is joined anyway. */
  readonly isHostCallId?: boolean | undefined
  /** The host's defaults for the policy of new conversations. */
  readonly host?: PolicyPatch | undefined
  /** The calling program and its folder, for the title of a new conversation. */
  readonly client?: string | undefined
  /** The entry point. Default: `turn` for our own runs, else `library`. */
  readonly edge?: Edge | undefined
  readonly provider?: string | undefined
  readonly model?: string | undefined
  /** The lease of the process that settles the call's claims. */
  readonly lease?: Lease | undefined
  readonly run?: RunContext | undefined
}

export interface RunContext {
  readonly lease: Lease
  /** The seq of the step's digest. */
  readonly basis: number
  /** The model's latest text, used as the outcome if its tools have no field for one. */
  readonly lastText?: string | undefined
}

export async function viewOf({ door, tenant, conversation, turn }: ToolContext, need?: 'list'): Promise<View> {
  return { state: await door.read({ tenant, conversation }, need), turnId: turn }
}

export const leaseOf = ({ run, lease = run?.lease }: ToolContext): Pick<At, 'lease'> => (lease ? { lease } : {})
