import { CLIENT_INFO_META_KEY } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { TOOLSETS, type ToolsetName } from '../domain/policy.ts'
import { isId } from '../domain/text.ts'
import { clientConversation, HEADERS, META } from './binding.ts'
import { isTasksUri, tasksUri } from './tasks-uri.ts'

export const isToolsetName = (name: string): name is ToolsetName => Object.hasOwn(TOOLSETS, name)

/** What is wrong with the Runsheet headers of a request, if anything. */
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
  const client = CLIENT_INFO.safeParse(_meta[CLIENT_INFO_META_KEY]).data?.name
  const inMeta = _meta[META.session]
  const session = inMeta === undefined ? (headers.get(HEADERS.session) ?? clientConversation(client)) : inMeta
  const own = typeof session === 'string' && isId(session) ? tasksUri(session) : undefined
  const uris = notifications?.resourceSubscriptions ?? []
  return uris.some(uri => typeof uri === 'string' && isTasksUri(uri) && uri !== own)
}
