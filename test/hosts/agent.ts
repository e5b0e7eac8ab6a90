import { GATE_MARK } from '../../src/core/views/digest.ts'
import type { ModelAnswer, ModelRequest, OfferedTool, ToolResult } from './model/model.ts'
import type { ModelScript } from './model/scripted-model.ts'

/** A call of one of the host's own tools, by the name that the host has for it. */
export interface OwnCall {
  readonly name: string
  readonly arguments: object
}

export interface Work {
  readonly tasks: readonly { readonly title: string; readonly check?: string }[]
  /** Calls of the host's own tools before a task is claimed; `attempt` counts its claims from 0. */
  readonly before?: (task: string, attempt: number) => readonly OwnCall[]
  /** Why it disputes a task instead of claiming it. */
  readonly disputes?: (task: string, attempt: number) => string | undefined
  /** After how many settled tasks it stops, with the rest open. */
  readonly stopsAfter?: number
  /** Goes on when the gate sends it back (default), or stops again. */
  readonly heedsGate?: boolean
}

/** An agent that proposes a plan, waits for the person, works through it and answers. */
export function worker(work: Work): ModelScript {
  const { tasks, before = () => [], disputes = () => undefined, stopsAfter = Infinity, heedsGate = true } = work
  return request => {
    const ours = request.results.filter(isOurs)
    const last = ours.at(-1)
    if (!last) return call(request, 'plan', { tasks })
    const says = (field: string): string => fieldIn(last.text, field)
    const remaining = says('remaining')
    if (says('status') === 'pending_review') return call(request, 'await_review', { review_id: says('review_id') })
    if (says('status') === 'checking') return call(request, 'await_review', { claim_id: says('claim_id') })
    if (says('cancelled') === 'true') return { text: `REFUSED: ${says('reason')}` }
    const [, number, title = ''] = /^(\d+) (.*)$/.exec(says('next')) ?? []
    if (number === undefined) return { text: remaining === '0' ? 'DONE' : `CONFUSED by ${last.text}` }
    const id = Number(number)
    const isHeld = heedsGate && request.said.some(text => text.includes(GATE_MARK))
    const settled = new Set(updates(ours).map(({ id: settledId }) => settledId))
    if (!isHeld && settled.size >= stopsAfter) return { text: `STOPPED EARLY: ${remaining} open` }
    const attempt = updates(ours).filter(update => update.id === id).length
    const own = before(title, attempt)[callsSince(request, last)]
    if (own) return { call: own }
    const why = disputes(title, attempt)
    if (why !== undefined) return call(request, 'update', { id, status: 'disputed', outcome: why })
    return call(request, 'update', { id, outcome: `Did number ${number}.` })
  }
}

/** An agent that only answers. */
export const talker: ModelScript = () => ({ text: 'Hello.' })

/** A call of one of our tools, whatever prefix or group the host has for them. */
function call({ tools }: ModelRequest, name: string, args: object): ModelAnswer {
  const offered = tools.find(tool => isNamed(tool, name))
  if (offered) return { call: { name: offered.name, namespace: offered.namespace, arguments: args } }
  // Qwen Code has MCP tools called through a tool of its own.
  const bridge = tools.find(tool => tool.name === 'tool_call')
  if (bridge) return { call: { name: bridge.name, arguments: { name: `mcp__runsheet__${name}`, arguments: args } } }
  return { text: `NO TOOL ${name} among ${tools.map(tool => tool.name).join(', ')}` }
}

/** A field of our answer. Hosts put words around it, and some put it into JSON of their own. */
const fieldIn = (text: string, field: string): string =>
  new RegExp(`"${field}":(?:"([^"]*)"|(\\w+))`).exec(text.replaceAll('\\', ''))?.slice(1).join('') ?? ''

const isNamed = ({ name, namespace = '' }: OfferedTool, ours: string): boolean =>
  (name === ours && namespace.includes('runsheet')) || (name.includes('runsheet') && name.endsWith(`_${ours}`))

const isOurs = ({ name }: ToolResult): boolean => /(^|_)(plan|update|tasks|await_review)$/.test(name)

const updates = (ours: readonly ToolResult[]): readonly { readonly id?: number }[] =>
  ours.flatMap(({ name, arguments: args }) => {
    if (!name.endsWith('update')) return []
    return [(typeof args === 'string' ? JSON.parse(args) : (args ?? {})) as { readonly id?: number }]
  })

/** How many calls of the host's own tools were answered since. */
const callsSince = ({ results }: ModelRequest, last: ToolResult): number =>
  results.length - 1 - results.lastIndexOf(last)
