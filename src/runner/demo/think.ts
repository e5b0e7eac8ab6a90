import { toolsets } from '../../toolsets/index.ts'
import { resultOf, compute } from './compute.ts'
import { isQuestion, isSmallTalk, stepsIn } from './split.ts'

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
  'I am the demo model: I need no network and know nothing of my own, but I plan, work through and finish what you ask, so that you can see how Runsheet does it. For real work, set RUNSHEET_MODEL to a real model.'
const HINT = 'Give me several steps (a list, or “first …, then …”), and I plan them and work through them.'
/** As many as a batch may hold. */
const MOST_STEPS = 20
/** What the run says on a person's behalf. */
const NOT_DONE = 'That step is not done yet'
const SAID_FOR = new RegExp(`^(?:NEXT_TODO: |The plan is not finished\\.|${NOT_DONE})`)

/** What to say or call next, from what was heard alone. */
export function think(seen: Seen): Thought {
  if (seen.system.startsWith('You are the assessor')) return { text: verdict(seen) }
  const { request, since } = thisTurn(seen.turns)
  const planner = Object.keys(PLANNERS).find(name => seen.tools.some(tool => tool.name === name))
  const now = currentIn(seen.system)
  if (now && planner) return work(seen, since, now, planner)
  const planned = since.findLast(heard => heard.role === 'tool' && heard.tool === planner)
  if (planned?.role === 'tool') return afterPlan(seen, since, planned.result, planner ?? '')
  // A plan that was made before, or the last call of a budget, which has no tools.
  if (seen.system.includes(DIGEST)) return { text: report(seen) }
  const steps = stepsIn(request)
  if (planner && steps.length >= 2) return planning(planner, steps)
  return plain(seen, since, request)
}

const DIGEST = '## Where the plan stands'

function planning(planner: string, steps: readonly string[], why = ''): Thought {
  const taken = steps.slice(0, MOST_STEPS)
  const more = steps.length > taken.length ? ` (of ${steps.length}: that is as many as one plan may hold)` : ''
  return {
    text: `${why}I see ${taken.length} ${taken.length === 1 ? 'step' : 'steps'}${more}, and propose ${taken.length === 1 ? 'it' : 'them'} as a plan.`,
    call: { tool: planner, input: PLANNERS[planner]?.plan([...taken]) },
  }
}

/** Nothing to plan: a tool that fits, the little that we can do, or a friendly word. */
function plain(seen: Seen, since: readonly Heard[], request: string): Thought {
  const helper = toolFor(seen, request)
  const answer = since.findLast(heard => heard.role === 'tool' && heard.tool === helper?.name)
  if (helper && !answer) return { text: '', call: { tool: helper.name, input: filled(helper.schema, request) } }
  if (helper && answer?.role === 'tool') return { text: `${helper.name} answered: ${short(answer.result)}\n\n${DEMO}` }
  const done = compute(request)
  if (done !== undefined) return { text: `${done}\n\n${DEMO}` }
  const word = isSmallTalk(request) ? 'Hello!' : isQuestion(request) ? 'I cannot answer that.' : resultOf(request)
  return { text: `${word} ${DEMO}\n\n${HINT}` }
}

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

/** The digest says which step it is: as it stands now, whoever changed it. It stands behind the request. */
function currentIn(system: string): Current | undefined {
  const [, id, title] = [...system.matchAll(/^Now:\n- (\S+) (.+)$/gm)].at(-1) ?? []
  return id === undefined || title === undefined ? undefined : { id, title }
}

function work(seen: Seen, since: readonly Heard[], now: Current, planner: string): Thought {
  const last = since.at(-1)
  const { settle } = PLANNERS[planner] ?? {}
  const settled = (outcome: string, isBlocked: boolean): Thought =>
    settle ? { text: '', call: settle(now.id, outcome, isBlocked) } : { text: outcome }
  if (last?.role === 'tool' && isPlans(last, planner)) {
    const refusal = errorIn(last.result)
    if (refusal !== undefined) return settled(`It was not accepted: ${refusal}`.slice(0, 400), true)
  }
  if (last?.role === 'user' && last.text.startsWith(NOT_DONE)) return settled(`I could not do it any better.`, true)
  const helper = toolFor(seen, now.title)
  if (helper && !(last?.role === 'tool' && last.tool === helper.name)) {
    return { text: '', call: { tool: helper.name, input: filled(helper.schema, now.title) } }
  }
  if (!helper || last?.role !== 'tool') return settled(resultOf(now.title), false)
  const failed = errorIn(last.result)
  if (failed !== undefined) return settled(`${helper.name} failed: ${short(failed)}`, true)
  return settled(`${helper.name} answered: ${short(last.result)}`, false)
}

/** Nothing is current: the plan is done, or was never made. */
function afterPlan(seen: Seen, since: readonly Heard[], result: unknown, planner: string): Thought {
  const answer = asRecord(result)
  if (answer['confirmed'] === false) return rejected(since, answer, planner)
  const error = errorIn(result)
  if (error !== undefined) return { text: `The plan could not be made: ${error}\n\n${DEMO}` }
  const comment =
    typeof answer['comment'] === 'string' ? `You said: “${answer['comment']}”. I passed it on with the plan.` : ''
  return { text: report(seen, comment) }
}

/** What became of the plan, by the digest. */
function report({ system }: Seen, comment = ''): string {
  const settled = [...system.matchAll(/^- \S+ (.+?) \((completed|blocked|cancelled)(?:: (.*))?\)$/gm)]
  const lines = settled.map(([, title, status, outcome]) => {
    const word = status === 'completed' ? '' : ` (${status})`
    return `- ${title}${word}${outcome ? `: ${outcome}` : ''}`
  })
  const isDone = currentIn(system) === undefined
  const opening = isDone ? 'Finished.' : 'This is how far I came.'
  return [opening, lines.join('\n'), comment, DEMO].filter(part => part !== '').join('\n\n')
}

/** A no is a no; what the person wants instead is proposed once. */
function rejected(since: readonly Heard[], answer: Readonly<Record<string, unknown>>, planner: string): Thought {
  const comment = typeof answer['comment'] === 'string' ? answer['comment'] : ''
  const tries = since.filter(heard => heard.role === 'tool' && heard.tool === planner).length
  const steps = stepsIn(comment.replace(/,?\s*\binstead\b/gi, '')).filter(step => !NO.test(step) && !isQuestion(step))
  if (steps.length >= 1 && tries === 1) return planning(planner, steps, `You said: “${comment}”. `)
  const reasons: Readonly<Record<string, string>> = {
    review_timeout: 'Nobody decided about the plan in time, so nothing was written.',
    panel_closed: 'The plan was closed without a decision, so nothing was written.',
  }
  const reason = reasons[String(answer['reason'])] ?? 'You did not want this plan, so nothing was written.'
  const said = comment === '' ? '' : ` You said: “${comment}”.`
  return { text: `${reason}${said} Tell me what you would like instead.\n\n${DEMO}` }
}

/** What a comment begins with that says what is wrong, and not what to do. */
const NO =
  /^(?:no|nope|not|don't|do not|never|stop|too|only|just|fewer|less|wrong|wait|later|maybe|why|不|别|没|太)(?:\b|\p{Script=Han}|$)/iu

/** A tool from elsewhere whose name is in the step, or whose description speaks of it, and that a text is enough for. */
function toolFor(seen: Seen, title: string): Seen['tools'][number] | undefined {
  const words = new Set(wordsIn(title))
  return seen.tools.find(({ name, description, schema }) => {
    if (OWN.has(name) || !canFill(schema, title)) return false
    const own = wordsIn(name.split('__').at(-1) ?? '')
    return own.some(word => words.has(word)) || wordsIn(description).filter(word => words.has(word)).length >= 2
  })
}

const wordsIn = (text: string): string[] =>
  [...new Set(text.toLowerCase().match(/\p{L}{3,}/gu) ?? [])].filter(word => !COMMON.has(word))
const COMMON = new Set(
  'the and for with that this then from into use using tool tools get set its you your are was not all any can has have'.split(
    ' ',
  ),
)

/** The tools of a plan are no help with its steps. */
const OWN: ReadonlySet<string> = new Set(Object.values(toolsets).flatMap(({ tools }) => tools.map(({ name }) => name)))

const isPlans = (heard: Heard, planner: string): boolean =>
  heard.role === 'tool' && OWN.has(heard.tool) && heard.tool !== planner

const numbersIn = (title: string): number[] => (title.match(/-?\d+(?:\.\d+)?/g) ?? []).map(Number)
const isNumber = (type: string | undefined): boolean => type === 'number' || type === 'integer'

function canFill({ required = [], properties = {} }: Schema, title: string): boolean {
  const types = required.map(name => properties[name]?.type)
  if (types.some(type => !isNumber(type) && type !== 'string' && type !== 'boolean')) return false
  return types.filter(isNumber).length <= numbersIn(title).length
}

/** Numbers in their order; for a text what is quoted, or all of it. */
function filled({ required = [], properties = {} }: Schema, title: string): Record<string, unknown> {
  const numbers = numbersIn(title)
  const [, quoted = title] = /["“'‘](.+)["”'’]/.exec(title) ?? []
  const value = (type: string | undefined): unknown =>
    type === 'boolean' ? true : isNumber(type) ? numbers.shift() : quoted
  return Object.fromEntries(required.map(name => [name, value(properties[name]?.type)]))
}

/** As an assessor: something must have come of it, and nothing may say that it did not work. */
function verdict({ turns }: Seen): string {
  const prompt = turns.map(heard => (heard.role === 'tool' ? '' : heard.text)).join('\n')
  const [, said = ''] = /The worker says: ([\s\S]*?)\n\nWhat the tools answered:/.exec(prompt) ?? []
  const [, wrote = ''] = /What the worker wrote:\n([\s\S]*)$/.exec(prompt) ?? []
  const proof = [said, wrote].filter(text => text.trim() !== '' && text.trim() !== '(nothing)').join('\n')
  if (proof === '') return 'NOT_OK: nothing says what came of it.'
  // What is quoted is the task's own wording.
  const own = (said === '(nothing)' ? wrote : said).replaceAll(/“[^”]*”/g, '')
  if (/\b(?:could not|cannot|can't|failed|Error:|not done)/i.test(own))
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
