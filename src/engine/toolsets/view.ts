import { listed, openTasks, type Conversation } from '../../core/model/conversation.ts'
import { isIdle } from '../../core/decide/turns.ts'
import { TOOLSETS, captures, type PolicyPatch } from '../../core/model/policy.ts'
import type { Task } from '../../core/model/task.ts'
import { cut } from '../../core/model/text.ts'
import type { Sources } from '../../core/model/command.ts'
import type { At, Door, Edge, Lease } from '../door/door.ts'

export interface View {
  readonly state: Conversation
  readonly turnId: string
  /** A read must see what a settling call would continue with (PL7). */
  readonly reads?: boolean
}

/** The turn whose plan `remaining` counts, or undefined for the whole list. */
function scopeOf({ state, turnId }: View): string | undefined {
  return captures(state.policy) ? undefined : turnId
}

export const tasksIn = (view: View): Task[] => listed(view.state, scopeOf(view))

export function openIn(view: View): Task[] {
  const { state, turnId, reads = false } = view
  const goesOn = reads && state.policy && TOOLSETS[state.policy.toolset].scope === 'conversation'
  return openTasks(state, goesOn && state.running_turn !== turnId && isIdle(state, turnId) ? undefined : scopeOf(view))
}

export function nextIn(view: View): Task | undefined {
  const open = openIn(view)
  return open.find(task => task.status === 'in_progress') ?? open[0]
}

export const remainingIn = (view: View): number => openIn(view).length

/** Enough for a plan; the retry text is part of the next prompt. */
const MAX_EXISTING = 40
const MAX_TITLE = 200

/**
 * The end of a retry text: the existing tasks by name, the newest if there are many, and what not to repeat. Empty if
 * there are none.
 */
export function existing(
  where: string,
  tasks: readonly Task[],
  advice: string,
  idOf?: (task: Task) => string | number,
): string {
  if (tasks.length === 0) return ''
  const names = tasks.slice(-MAX_EXISTING).map(task => {
    const title = cut(task.title, MAX_TITLE)
    return idOf ? `${idOf(task)} ${title}` : title
  })
  const more = tasks.length - names.length
  return ` ${where}: ${names.join('; ')}${more > 0 ? ` and ${more} more` : ''}. ${advice}`
}

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
