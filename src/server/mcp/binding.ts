import { createHmac, timingSafeEqual } from 'node:crypto'
import type { ServerContext } from '@modelcontextprotocol/server'
import type { Sources } from '../../core/model/command.ts'
import { isPlanOver, type Conversation } from '../../core/model/conversation.ts'
import { TOOLSETS, policyNow, type HostPolicy, type ToolsetName } from '../../core/model/policy.ts'
import { invalidField } from '../../core/model/refusal.ts'
import { LIMITS, Problem, isId, line } from '../../core/model/text.ts'
import type { Door, Ref } from '../../engine/door/door.ts'
import { hostId, hostReference } from '../../hosts/hosts.ts'
import { hostMeta, sessionIn, type Environment, type Meta } from './client-info.ts'
import { toolsets } from '../../engine/toolsets/index.ts'
import type { Toolset } from '../../engine/toolsets/toolset.ts'

/** Keys that a host may set in a request's `_meta`. Models neither see nor set them. */
const META = {
  session: 'runsheet/session_id',
  turn: 'runsheet/turn_id',
  call: 'runsheet/tool_call_id',
  userMessage: 'runsheet/source_user_message_id',
  assistantMessage: 'runsheet/source_assistant_message_id',
} as const

export const HEADERS = { session: 'runsheet-session', turn: 'runsheet-turn', toolset: 'runsheet-toolset' } as const

export const isToolsetName = (name: string): name is ToolsetName => Object.hasOwn(TOOLSETS, name)

export function headerProblem(headers: Headers): string | undefined {
  const [session, turn, toolset] = [HEADERS.session, HEADERS.turn, HEADERS.toolset].map(name => headers.get(name))
  if (typeof toolset === 'string' && !isToolsetName(toolset)) {
    return `Unknown toolset. Runsheet-Toolset must be one of: ${Object.keys(TOOLSETS).join(', ')}.`
  }
  const isInvalid = [session, turn].some(id => typeof id === 'string' && !isId(id))
  return isInvalid ? 'Runsheet-Session and Runsheet-Turn must be 1 to 128 letters, digits, - or _.' : undefined
}

/** The conversation and turn of a request, as its host names them. */
export interface Binding {
  readonly conversation: string
  /** Undefined if the host names none; then each plan gets its own turn. */
  readonly turn: string | undefined
  readonly toolCallId: string | undefined
  /** Whether the id is the host's own: it identifies the call for the host, and not necessarily for us. */
  readonly isHostCallId: boolean
  readonly sources: Sources
}

export interface ConversationNames {
  readonly headers?: Headers | undefined
  readonly session?: string | undefined
  /** Environment from the host that started this process; absent over HTTP. */
  readonly environment?: Environment | undefined
  readonly client?: string | undefined
  readonly signed?: SignedCall | undefined
  readonly hooked?: Hooked | undefined
  /** For a host that names none: one per process, MCP session or client. */
  readonly own: () => string
}

export interface Hooked {
  readonly session: string
  readonly turn: string | undefined
}

/** The conversation of a request. An invalid `_meta` is refused, not ignored. */
export function conversationOf(meta: Meta | undefined, names: ConversationNames): string {
  const { headers, session, environment = {}, client, signed, hooked, own } = names
  return (
    named(meta, META.session) ??
    headers?.get(HEADERS.session) ??
    session ??
    hostMeta(meta, client).session ??
    signed?.session ??
    hooked?.session ??
    sessionIn(environment, client) ??
    own()
  )
}

export function bindingOf({ mcpReq, http }: ServerContext, names: ConversationNames): Binding {
  const meta: Meta | undefined = mcpReq._meta
  const headers = http?.req?.headers
  const host = hostMeta(meta, names.client)
  const toolCallId = named(meta, META.call)
  const hostCall = host.call ?? names.signed?.call
  return {
    conversation: conversationOf(meta, { ...names, headers }),
    turn: named(meta, META.turn) ?? headers?.get(HEADERS.turn) ?? host.turn ?? names.hooked?.turn,
    toolCallId: toolCallId ?? hostCall,
    isHostCallId: toolCallId === undefined && hostCall !== undefined,
    sources: {
      source_user_message_id: named(meta, META.userMessage),
      source_assistant_message_id: named(meta, META.assistantMessage),
    },
  }
}

function named(meta: Meta | undefined, key: string): string | undefined {
  const value = meta?.[key]
  if (value === undefined) return undefined
  const clean = line(value, LIMITS.reference)
  if (clean instanceof Problem) throw invalidField(`_meta ${key}`, clean.fact)
  return clean
}

/** The conversation of a client without sessions: one per client name. */
export const clientConversation = (client = 'client'): string =>
  `mcp-${client.replaceAll(/[^A-Za-z0-9_-]+/g, '-').slice(0, 64) || 'client'}`

/**
 * The turn of a call whose host names none: the current plan's, or a new one if the call creates and that plan is over.
 * Derived from the log, so that concurrent calls and restarted processes agree.
 */
export function turnFor(state: Conversation, creates: boolean): string {
  const latest = state.turns.get(state.latest_turn ?? '')
  if (latest?.status === 'open') {
    // Checked last, because isPlanOver scans the whole list.
    const isOver = creates && (latest.stop_requested || isPlanOver(state, latest.id))
    if (!isOver) return latest.id
  }
  let number = state.turns.size + 1
  while (state.turns.has(`plan_${number}`)) number += 1
  return `plan_${number}`
}

/** Added by Runsheet's OpenCode plugin, because one process of ours serves all its chats. */
export const SESSION_ARGUMENT = 'runsheet_session'

export interface SignedCall {
  readonly session: string
  readonly call: string | undefined
}

interface SignedInput {
  readonly input: unknown
  /** `invalid`: a model made it up, or it was signed with another secret. */
  readonly signed: SignedCall | 'invalid' | undefined
}

export function signedInput(raw: unknown, secret: () => string | undefined): SignedInput {
  if (typeof raw !== 'object' || raw === null || !Object.hasOwn(raw, SESSION_ARGUMENT)) {
    return { input: raw, signed: undefined }
  }
  const { [SESSION_ARGUMENT]: signature, ...input } = raw as Readonly<Record<string, unknown>>
  return { input, signed: verified(signature, secret()) ?? 'invalid' }
}

/** The plugin's signature. It covers the call, so that no other call can reuse it. */
export const signatureOf = (secret: string, id: string, call: string): string =>
  createHmac('sha256', secret)
    .update(JSON.stringify([id, call]))
    .digest('hex')

function verified(signature: unknown, secret: string | undefined): SignedCall | undefined {
  if (secret === undefined || typeof signature !== 'object' || signature === null) return undefined
  const { id, call, mac } = signature as Readonly<Record<string, unknown>>
  if (typeof id !== 'string' || typeof call !== 'string' || typeof mac !== 'string') return undefined
  const expected = Buffer.from(signatureOf(secret, id, call))
  const given = Buffer.from(mac)
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined
  const session = hostId(id)
  return session === undefined ? undefined : { session, call: hostReference(call) }
}

interface ToolsetDeps {
  readonly door: Door
  readonly host: HostPolicy
}

/** The toolset of a conversation: its own, else the default. */
export async function toolsetOf(ref: Ref, { door, host }: ToolsetDeps): Promise<Toolset> {
  const { policy } = await door.read(ref)
  return toolsets[policy?.toolset ?? policyNow(host).toolset ?? 'runsheet']
}
