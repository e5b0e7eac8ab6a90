import { CLIENT_INFO_META_KEY } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { TOOLSETS, type ToolsetName } from '../../core/model/policy.ts'
import { Refusal } from '../../core/model/refusal.ts'
import { isId } from '../../core/model/text.ts'
import { clientConversation, conversationOf, HEADERS } from './binding.ts'
import type { Meta } from './client-info.ts'
import { isTasksUri, tasksUri } from './resource-updates.ts'

export const isToolsetName = (name: string): name is ToolsetName => Object.hasOwn(TOOLSETS, name)

export function headerProblem(headers: Headers): string | undefined {
  const [session, turn, toolset] = [HEADERS.session, HEADERS.turn, HEADERS.toolset].map(name => headers.get(name))
  if (typeof toolset === 'string' && !isToolsetName(toolset)) {
    return `Unknown toolset. Runsheet-Toolset must be one of: ${Object.keys(TOOLSETS).join(', ')}.`
  }
  const isInvalid = [session, turn].some(id => typeof id === 'string' && !isId(id))
  return isInvalid ? 'Runsheet-Session and Runsheet-Turn must be 1 to 128 letters, digits, - or _.' : undefined
}

const LISTEN = z.looseObject({ method: z.literal('subscriptions/listen') })
const LISTEN_PARAMS = z.looseObject({
  params: z.looseObject({
    notifications: z.looseObject({ resourceSubscriptions: z.array(z.unknown()).optional() }).optional(),
    // Values stay unknown: an invalid session id must be rejected, not treated as absent.
    _meta: z.record(z.string(), z.unknown()).optional(),
  }),
})
const CLIENT_INFO = z.looseObject({ name: z.string() })

export const isListenRequest = (body: unknown): boolean => LISTEN.safeParse(body).success

/** Whether a request subscribes to the task list of a conversation other than its own. */
export function subscribesElsewhere(headers: Headers, body: unknown): boolean {
  const { data } = LISTEN_PARAMS.safeParse(body)
  if (!data || !isListenRequest(body)) return false
  const { notifications, _meta = {} } = data.params
  const own = ownList(headers, _meta)
  const uris = notifications?.resourceSubscriptions ?? []
  return uris.some(uri => typeof uri === 'string' && isTasksUri(uri) && uri !== own)
}

/** The URI of the request's own task list; undefined if its conversation is invalid. */
function ownList(headers: Headers, meta: Meta): string | undefined {
  const client = CLIENT_INFO.safeParse(meta[CLIENT_INFO_META_KEY]).data?.name
  try {
    const conversation = conversationOf(meta, { headers, client, own: () => clientConversation(client) })
    return isId(conversation) ? tasksUri(conversation) : undefined
  } catch (error) {
    if (error instanceof Refusal) return undefined
    throw error
  }
}
