import { setTimeout as delay } from 'node:timers/promises'
import type { GetPromptResult, McpServer, ServerContext } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { planDigest, proofDigest } from '../../core/views/digest.ts'
import { cut, isBlank, LIMITS } from '../../core/model/text.ts'
import type { HostTraits } from '../../hosts/hosts.ts'
import { namesOf } from '../../engine/toolsets/guidance.ts'
import type { Toolset } from '../../engine/toolsets/toolset.ts'
import { clientOf } from './client-info.ts'
import type { Connection } from './connection.ts'

export interface PromptOptions {
  readonly toolset: Toolset
  readonly connection: Connection
  readonly pageUrl: (conversation: string, signedIn: boolean) => Promise<string | undefined>
}

/** A person waits for the prompt, which is still useful without the URL. */
const PAGE_MS = 1_000

/** Adds the prompts that hosts show as slash commands: plan, status and proof. */
export function offerPrompts(server: McpServer, { toolset, connection, pageUrl }: PromptOptions): void {
  const linkTo = (conversation: string): Promise<string | undefined> =>
    pageUrl(conversation, false).catch(() => undefined)
  server.registerPrompt(
    'plan',
    {
      title: 'Plan this with me',
      description: 'Plan before you work: I review the steps.',
      argsSchema: PLAN_ARGUMENTS,
    },
    ({ goal }, ctx) => said(planText(toolset, goal, clientOf(server, ctx).traits)),
  )
  server.registerPrompt(
    'status',
    { title: 'Where the plan stands', description: 'What is done, what is next, and what waits for me.' },
    async (ctx: ServerContext) => {
      const conversation = connection.conversationOf(ctx)
      const state = await connection.stateOf(conversation)
      const digest = planDigest(state)
      const waits = state.pending_reviews.length > 0
      const page = waits ? await Promise.race([linkTo(conversation), delay(PAGE_MS, undefined)]) : undefined
      const where = page === undefined ? [] : [`The review is decided at ${page}`]
      return said([STATUS, digest === '' ? withoutPlan(toolset) : digest, ...where].join('\n\n'))
    },
  )
  server.registerPrompt(
    'done',
    { title: 'What was proven', description: 'Which steps are proven, and which rest on your word.' },
    async (ctx: ServerContext) => {
      const digest = proofDigest(await connection.stateOf(connection.conversationOf(ctx)))
      return said([DONE, digest === '' ? withoutPlan(toolset) : digest].join('\n\n'))
    },
  )
}

const PLAN_ARGUMENTS = z.object({ goal: z.string().optional().describe('what to plan') })

const STATUS =
  'Tell me briefly where the plan stands: what is done, what you are at, what is next, and what waits for me. Do not change anything.'
const DONE =
  'Tell me briefly what was proven, what a person or a model judged, and what rests on your word alone. Do not change anything.'

function planText(toolset: Toolset, goal: string | undefined, { splitsArguments }: HostTraits): string {
  const named = splitsArguments ? 'what the arguments of this command say.' : `this: ${cut(goal ?? '', LIMITS.text)}`
  const what = goal === undefined || isBlank(goal) ? 'what we have talked about.' : named
  const tool = toolset.tools.find(({ created }) => created)
  const names = namesOf(toolset)
  return [
    `Plan ${what}`,
    `Look at what you need to know first, but change nothing yet. Then propose the steps with ${names(tool?.name ?? '')}, each one small enough to check. If I am asked to review them, wait for my decision and follow what I changed; then work through them in order.`,
  ].join('\n\n')
}

/** A host that serves several chats from one process may not name this one. */
function withoutPlan(toolset: Toolset): string {
  const list = toolset.tools.find(({ reads }) => reads)
  const look = list ? `Look with ${namesOf(toolset)(list.name)}; if there is none, say so.` : 'Say so.'
  return `No plan of this conversation is known here. ${look}`
}

const said = (text: string): GetPromptResult => ({ messages: [{ role: 'user', content: { type: 'text', text } }] })
