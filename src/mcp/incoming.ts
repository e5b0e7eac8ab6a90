import { CLIENT_INFO_META_KEY } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { TOOLSETS, type ToolsetName } from '../domain/policy.ts'
import { isId } from '../domain/text.ts'
import { HEADERS, META } from './binding.ts'
import { isTasksUri, tasksUri } from './changed.ts'

export const isToolset = (name: string): name is ToolsetName => Object.hasOwn(TOOLSETS, name)

/** A name for everything that this client does, where it has no session that could give one. */
export const conversationOf = (client = 'client'): string =>
  `mcp-${client.replaceAll(/[^A-Za-z0-9_-]+/g, '-').slice(0, 64) || 'client'}`

/** What the headers name and there is not. */
export function misnamed(headers: Headers): string | undefined {
  const [session, turn, toolset] = [HEADERS.session, HEADERS.turn, HEADERS.toolset].map(name => headers.get(name))
  if (typeof toolset === 'string' && !isToolset(toolset)) {
    return `There is no such toolset. There are: ${Object.keys(TOOLSETS).join(', ')}.`
  }
  const wrong = [session, turn].some(id => typeof id === 'string' && !isId(id))
  return wrong ? 'A conversation or turn is named by 1 to 128 letters, digits, - or _.' : undefined
}

const LISTEN = z.looseObject({ method: z.literal('subscriptions/listen') })
const LISTENED = z.looseObject({
  params: z.looseObject({
    notifications: z.looseObject({ resourceSubscriptions: z.array(z.unknown()).optional() }).optional(),
    // Whatever is not as it should be here names nothing, and must not pass for not being there.
    _meta: z.record(z.string(), z.unknown()).optional(),
  }),
})
const CLIENT = z.looseObject({ name: z.string() })

export const isListening = (body: unknown): boolean => LISTEN.safeParse(body).success

/** Whether somebody subscribes to the list of a conversation that they are not in. */
export function listensElsewhere(headers: Headers, body: unknown): boolean {
  const { data } = LISTENED.safeParse(body)
  if (!data || !isListening(body)) return false
  const { notifications, _meta = {} } = data.params
  const client = CLIENT.safeParse(_meta[CLIENT_INFO_META_KEY]).data?.name
  const said = _meta[META.session]
  const named = said === undefined ? (headers.get(HEADERS.session) ?? conversationOf(client)) : said
  const ours = typeof named === 'string' && isId(named) ? tasksUri(named) : undefined
  const uris = notifications?.resourceSubscriptions ?? []
  return uris.some(uri => typeof uri === 'string' && isTasksUri(uri) && uri !== ours)
}
