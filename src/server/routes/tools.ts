import * as z from 'zod'
import type { WaitingApproval } from '../../core/views/wire.ts'
import { decideApproval, denyWaiting } from '../../engine/door/door.ts'
import { route, routes } from '../http/route.ts'
import * as s from '../http/schemas.ts'
import { shape } from '../http/openapi.ts'
import { known } from './sessions.ts'

const ofServer = z.object({ server: s.id })
const ofApproval = z.object({ session_id: s.id, approval_id: s.id })

const AFTER = { description: 'The tools after it', schema: shape('Tools') }
const NOT_SAVED = { description: '`settings_not_saved`: nothing was changed' }

// No route accepts a command to run: a compromised page could start anything.
export const toolRoutes = routes('Tools', {
  getTools: route('get', '/api/tools', 'person', {
    needs: 'tools',
    summary: 'The MCP servers and tools of the agent, and how each stands',
    answers: { 200: { description: 'The servers, without waiting for one that connects', schema: shape('Tools') } },
    handle: async (_, { tools: part }) => ({ body: part.view() }),
  }),
  setToolRules: route('put', '/api/tools/rules', 'person', {
    needs: 'tools',
    summary:
      'Sets whether calls of some tools of a server are asked about, always made, or never; "never" denies those that wait',
    body: s.ruleChange,
    answers: {
      200: AFTER,
      404: { description: '`server_not_found`, `tool_not_found`' },
      409: {
        description: '`tool_changed`: it is not as you saw it; `settings_unreadable`, `too_many_rules`',
      },
      503: NOT_SAVED,
    },
    handle: async ({ body, caller }, { door, tools: part }) => {
      const after = part.setRules(body)
      const { server, rule, tools: named } = body
      if (rule === 'never') {
        const isOff = (call: WaitingApproval): boolean =>
          call.server === server && named.some(({ name }) => name === call.server_tool)
        await denyWaiting(door, caller.tenant, isOff, 'http')
      }
      return { body: after }
    },
  }),
  removeToolServer: route('delete', '/api/tools/servers/:server', 'person', {
    needs: 'tools',
    summary: "Takes an MCP server out of the person's own settings file and denies its calls that wait",
    params: ofServer,
    answers: {
      200: AFTER,
      404: { description: '`server_not_found`' },
      409: { description: '`server_elsewhere`: another file names it, `file`' },
      503: NOT_SAVED,
    },
    handle: async ({ params, caller }, { door, tools: part }) => {
      const after = part.remove(params.server)
      await denyWaiting(door, caller.tenant, ({ server }) => server === params.server, 'http')
      return { body: after }
    },
  }),
  retryToolServer: route('post', '/api/tools/servers/:server/retry', 'person', {
    needs: 'tools',
    summary: 'Connects to a server that failed again, now',
    params: ofServer,
    answers: { 200: AFTER, 404: { description: '`server_not_found`' } },
    handle: async ({ params }, { tools: part }) => ({ body: part.retry(params.server) }),
  }),
  decideApproval: route('post', '/api/sessions/:session_id/approvals/:approval_id', 'person', {
    summary: 'Allows a call that waits, or does not; the same decision again changes nothing',
    params: ofApproval,
    body: s.sentApproval,
    answers: {
      200: { description: 'It is decided, and the turn goes on', schema: shape('ApprovalAnswer') },
      404: { description: '`approval_not_found`' },
      409: { description: '`approval_already_decided`, otherwise than you decide it' },
    },
    handle: async ({ ref, params: { approval_id }, body }, { door, tools: part }) => {
      await known(door, ref)
      const { request, isRepeated, seq } = await decideApproval(door, ref, approval_id, body, 'http')
      // Saved after the commit: if this process dies in between, the next call asks again.
      const isAlways = body.decision === 'always'
      const not_saved = isAlways ? (part ? part.saveAlways(request, isRepeated) : NO_RULES) : undefined
      return { body: { approval_id, decision: body.decision, ...(not_saved === undefined ? {} : { not_saved }), seq } }
    },
  }),
})

const NO_RULES = 'This server keeps no rules about tools.'
