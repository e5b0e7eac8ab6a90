import { deed } from './deeds.ts'
import { stepsIn } from './split.ts'

/** A conversation, as the demo model sees it. */
export interface Seen {
  readonly system: string
  readonly turns: readonly Heard[]
  /** Names of the tools that there are, with what each needs. */
  readonly tools: readonly { readonly name: string; readonly description: string; readonly schema: Schema }[]
}
export type Heard =
  | { readonly role: 'user' | 'assistant'; readonly text: string }
  | { readonly role: 'tool'; readonly tool: string; readonly result: unknown }
export interface Schema {
  readonly properties?: Readonly<Record<string, { readonly type?: string }>>
  readonly required?: readonly string[]
}

export interface Thought {
  readonly text: string
  readonly call?: { readonly tool: string; readonly input: unknown }
}

/** How each vocabulary plans and settles; the first that is there is used. */
const PLANNERS: Readonly<Record<string, { plan: (steps: string[]) => unknown; settle?: Settle }>> = {
  plan: {
    plan: steps => ({ tasks: steps.map(title => ({ title })) }),
    settle: (id, outcome, isBlocked) => ({
      tool: 'update',
      input: { id: Number(id), outcome, ...(isBlocked ? { status: 'blocked' } : {}) },
    }),
  },
  add_task: {
    plan: steps => ({ tasks: steps.map(title => ({ title })) }),
    settle: (id, outcome, isBlocked) =>
      isBlocked
        ? { tool: 'update_task', input: { id, status: 'blocked', outcome } }
        : { tool: 'complete_task', input: { id, outcome } },
  },
  create_todo: {
    plan: steps => ({ items: steps.map(title => ({ title })) }),
    settle: (id, outcome, isBlocked) => ({
      tool: 'complete_todo',
      input: { todoId: id, outcome, ...(isBlocked ? { status: 'cancelled' } : {}) },
    }),
  },
  // Its steps are settled by what is said of them.
  manage_todos: { plan: steps => ({ add: steps }) },
}
type Settle = (id: string, outcome: string, isBlocked: boolean) => { readonly tool: string; readonly input: unknown }

const DEMO =
  'I am the demo model: I need no network and know nothing of my own, but I plan, work through and finish what you ask, so that you can see how Runsheet does it.'
/** What the run says on a person's behalf. */
const SAID_FOR = /^(?:NEXT_TODO: |The plan is not finished\.|That step is not done yet)/

/** What to say or call next, from what was heard alone. */
export function think(seen: Seen): Thought {
  if (seen.system.startsWith('You are the assessor')) return { text: verdict(seen) }
  const { request, since } = thisTurn(seen.turns)
  const planner = Object.keys(PLANNERS).find(name => seen.tools.some(tool => tool.name === name))
  const now = currentIn(seen.system)
  if (now && planner) return work(seen, since, now, planner)
  const planned = since.findLast(heard => heard.role === 'tool' && heard.tool === planner)
  if (planned?.role === 'tool') return afterPlan(seen, since, planned.result, planner ?? '')
  const steps = stepsIn(request)
  if (planner && steps.length >= 2) return planning(planner, steps)
  return { text: `${deed(request)}\n\n${DEMO}` }
}

const planning = (planner: string, steps: string[]): Thought => ({
  text: `I see ${steps.length} steps, and propose them as a plan.`,
  call: { tool: planner, input: PLANNERS[planner]?.plan(steps) },
})

/** The request that this is about, and what came of it so far. */
function thisTurn(turns: readonly Heard[]): { request: string; since: readonly Heard[] } {
  const place = turns.findLastIndex(heard => heard.role === 'user' && !SAID_FOR.test(heard.text))
  const heard = turns[place]
  return { request: heard?.role === 'user' ? heard.text : '', since: turns.slice(place + 1) }
}

interface Current {
  readonly id: string
  readonly title: string
}

/** The digest says which step it is: as it stands now, whoever changed it. */
function currentIn(system: string): Current | undefined {
  const [, id, title] = /^Now:\n- (\S+) (.+)$/m.exec(system) ?? []
  return id === undefined || title === undefined ? undefined : { id, title }
}

function work(seen: Seen, since: readonly Heard[], now: Current, planner: string): Thought {
  const last = since.at(-1)
  const { settle } = PLANNERS[planner] ?? {}
  const refusal = last?.role === 'tool' ? errorIn(last.result) : undefined
  if (refusal !== undefined && settle && isPlans(seen, last, planner)) {
    return { text: '', call: settle(now.id, `It was not accepted: ${refusal}`.slice(0, 400), true) }
  }
  const helper = toolFor(seen, now.title, planner)
  const answered = helper && since.findLast(heard => heard.role === 'tool' && heard.tool === helper.name)
  const isFresh = last?.role === 'tool' && last.tool === helper?.name
  if (helper && !isFresh && !(answered && settledSince(since, helper.name) === 0)) {
    return { text: '', call: { tool: helper.name, input: filled(helper.schema, now.title) } }
  }
  const outcome = isFresh && last?.role === 'tool' ? `${helper?.name} answered: ${short(last.result)}` : deed(now.title)
  if (!settle) return { text: outcome }
  return { text: '', call: settle(now.id, outcome, false) }
}

/** Nothing is current: the plan is done, or was never made. */
function afterPlan(seen: Seen, since: readonly Heard[], result: unknown, planner: string): Thought {
  const answer = asRecord(result)
  if (answer['confirmed'] === false) return rejected(since, answer, planner)
  const error = errorIn(result)
  if (error !== undefined) return { text: `The plan could not be made: ${error}\n\n${DEMO}` }
  const settled = [...seen.system.matchAll(/^- \S+ (.+) \((completed|blocked|cancelled)(?:: (.*))?\)$/gm)]
  const lines = settled.map(([, title, status, outcome]) => `- ${title}: ${outcome ?? status}`)
  const comment =
    typeof answer['comment'] === 'string' ? `\n\nYou said: “${answer['comment']}”. I kept it in mind.` : ''
  return { text: `Finished.\n\n${lines.join('\n')}${comment}\n\n${DEMO}` }
}

/** A no is a no; what the person says with it is what they want instead, asked about once. */
function rejected(since: readonly Heard[], answer: Readonly<Record<string, unknown>>, planner: string): Thought {
  const comment = typeof answer['comment'] === 'string' ? answer['comment'] : ''
  const tries = since.filter(heard => heard.role === 'tool' && heard.tool === planner).length
  const steps = stepsIn(comment)
  if (steps.length >= 1 && comment !== '' && tries === 1) return planning(planner, steps)
  const reasons: Readonly<Record<string, string>> = {
    review_timeout: 'Nobody decided about the plan in time, so nothing was written.',
    panel_closed: 'The plan was closed without a decision, so nothing was written.',
  }
  const reason = reasons[String(answer['reason'])] ?? 'You did not want this plan, so nothing was written.'
  return { text: `${reason} Tell me what you would like instead.\n\n${DEMO}` }
}

/** A tool from elsewhere whose name or description speaks of the step, and that a text is enough for. */
function toolFor(seen: Seen, title: string, planner: string): Seen['tools'][number] | undefined {
  const words = new Set(title.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? [])
  return seen.tools.find(({ name, description, schema }) => {
    if (OWN[planner]?.includes(name)) return false
    const { required = [], properties = {} } = schema
    if (required.some(field => !['string', 'number', 'integer', 'boolean'].includes(properties[field]?.type ?? '')))
      return false
    const spoken = `${name.replaceAll(/[_-]+/g, ' ')} ${description}`.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? []
    return spoken.filter(word => words.has(word)).length >= 1
  })
}

const OWN: Readonly<Record<string, readonly string[]>> = {
  plan: ['plan', 'update', 'tasks'],
  add_task: ['add_task', 'list_tasks', 'update_task', 'complete_task', 'delete_task'],
  create_todo: ['create_todo', 'list_todo', 'complete_todo'],
  manage_todos: ['manage_todos'],
}

const isPlans = (_seen: Seen, heard: Heard | undefined, planner: string): boolean =>
  heard?.role === 'tool' && (OWN[planner] ?? []).includes(heard.tool)

/** How many steps were settled since that tool was used last. */
function settledSince(since: readonly Heard[], tool: string): number {
  const place = since.findLastIndex(heard => heard.role === 'tool' && heard.tool === tool)
  return since.slice(place + 1).filter(heard => heard.role === 'tool' || heard.text.startsWith('NEXT_TODO')).length
}

function filled(schema: Schema, title: string): Record<string, unknown> {
  const [digits = '1'] = title.match(/\d+/) ?? []
  const value = (type: string | undefined): unknown =>
    type === 'boolean' ? true : type === 'number' || type === 'integer' ? Number(digits) : title
  return Object.fromEntries((schema.required ?? []).map(name => [name, value(schema.properties?.[name]?.type)]))
}

/** As an assessor: something must have come of it, and nothing may say that it did not work. */
function verdict({ turns }: Seen): string {
  const prompt = turns.map(heard => (heard.role === 'tool' ? '' : heard.text)).join('\n')
  const [, said = ''] = /The worker says: ([\s\S]*?)\n\nWhat the tools answered:/.exec(prompt) ?? []
  const [, wrote = ''] = /What the worker wrote:\n([\s\S]*)$/.exec(prompt) ?? []
  const proof = [said, wrote].filter(text => text.trim() !== '' && text.trim() !== '(nothing)').join('\n')
  if (proof === '') return 'NOT_OK: nothing says what came of it.'
  if (/\b(?:could not|cannot|can't|failed|Error:|not done)\b/i.test(said || wrote))
    return 'NOT_OK: it says itself that it did not work.'
  return 'OK'
}

function errorIn(result: unknown): string | undefined {
  if (typeof result === 'string') return result.startsWith('Error:') ? result : undefined
  const { error } = asRecord(result)
  return typeof error === 'string' ? error : undefined
}

const asRecord = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}

function short(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.replaceAll(/\s+/g, ' ').slice(0, 300)
}
