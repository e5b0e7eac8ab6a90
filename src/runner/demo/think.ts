import type { Case } from '../case.ts'
import { LIMITS } from '../../domain/text.ts'
import { toolNames } from '../../toolsets/index.ts'
import { resultOf, compute } from './compute.ts'
import { isQuestion, isSmallTalk, stepsIn } from './split.ts'

/** The prompt of one model call. */
export interface Prompt {
  readonly system: string
  readonly messages: readonly Message[]
  /** The offered tools. */
  readonly tools: readonly { readonly name: string; readonly description: string; readonly schema: Schema }[]
}
export type Message =
  | { readonly role: 'user' | 'assistant'; readonly text: string }
  | { readonly role: 'tool'; readonly tool: string; readonly result: unknown }
export interface Schema {
  readonly properties?: Readonly<Record<string, { readonly type?: string }>>
  readonly required?: readonly string[]
}

export interface Reply {
  readonly text: string
  readonly call?: { readonly tool: string; readonly input: unknown }
}

/** How each toolset plans and settles, by its planning tool. */
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
  // Text answers settle its steps.
  manage_todos: { plan: steps => ({ add: steps }) },
}
type Settle = (id: string, outcome: string, isBlocked: boolean) => { readonly tool: string; readonly input: unknown }

const DEMO =
  'I am the demo model. I need no network and know nothing, but I plan what you ask, work through it and finish it, so that you can see how Runsheet works. For real work, set RUNSHEET_MODEL to a real model.'
const HINT = 'Give me several steps (a list, or “first …, then …”), and I will plan them and work through them.'
/** The starts of synthetic user messages. */
const NOT_DONE = 'That step is not done yet'
const SYNTHETIC = new RegExp(`^(?:NEXT_TODO: |The plan is not finished\\.|${NOT_DONE})`)

/** What to say or call next. Depends on the prompt alone. */
export function think(prompt: Prompt): Reply {
  if (prompt.system.startsWith('You are the assessor')) return { text: verdict(prompt) }
  const { request, since } = thisTurn(prompt.messages)
  const planner = Object.keys(PLANNERS).find(name => prompt.tools.some(tool => tool.name === name))
  const now = currentIn(prompt.system)
  if (now && planner) return work(prompt, since, now, planner)
  const planned = since.findLast(message => message.role === 'tool' && message.tool === planner)
  if (planned?.role === 'tool') return afterPlan(prompt, since, planned.result, planner ?? '')
  // An earlier plan, or the last call of a budget, which has no tools.
  if (prompt.system.includes(DIGEST)) return { text: report(prompt) }
  const steps = stepsIn(request)
  if (planner && steps.length >= 2) return planning(planner, steps)
  return plain(prompt, since, request)
}

const DIGEST = '## Where the plan stands'

function planning(planner: string, steps: readonly string[], why = ''): Reply {
  const taken = steps.slice(0, LIMITS.batch)
  const more = steps.length > taken.length ? ` (of ${steps.length}; a plan holds at most ${LIMITS.batch})` : ''
  return {
    text: `${why}I see ${taken.length} ${taken.length === 1 ? 'step' : 'steps'}${more} and propose ${taken.length === 1 ? 'it' : 'them'} as a plan.`,
    call: { tool: planner, input: PLANNERS[planner]?.plan([...taken]) },
  }
}

/** Nothing to plan: use a tool that fits, compute a result, or just reply. */
function plain(prompt: Prompt, since: readonly Message[], request: string): Reply {
  const helper = toolFor(prompt, request)
  const answer = since.findLast(message => message.role === 'tool' && message.tool === helper?.name)
  if (helper && !answer) return { text: '', call: { tool: helper.name, input: filled(helper.schema, request) } }
  if (helper && answer?.role === 'tool') return { text: `${helper.name} answered: ${short(answer.result)}\n\n${DEMO}` }
  const done = compute(request)
  if (done !== undefined) return { text: `${done}\n\n${DEMO}` }
  const word = isSmallTalk(request) ? 'Hello!' : isQuestion(request) ? 'I cannot answer that.' : resultOf(request)
  return { text: `${word} ${DEMO}\n\n${HINT}` }
}

/** The request of this turn, and the messages since. */
function thisTurn(messages: readonly Message[]): { request: string; since: readonly Message[] } {
  const place = messages.findLastIndex(message => message.role === 'user' && !SYNTHETIC.test(message.text))
  const message = messages[place]
  return { request: message?.role === 'user' ? message.text : '', since: messages.slice(place + 1) }
}

interface Current {
  readonly id: string
  readonly title: string
}

/** The current step, from the digest. The last match counts: the request, which comes first, may look like one. */
function currentIn(system: string): Current | undefined {
  const [, id, title] = [...system.matchAll(/^Now:\n- (\S+) (.+)$/gm)].at(-1) ?? []
  return id === undefined || title === undefined ? undefined : { id, title }
}

function work(prompt: Prompt, since: readonly Message[], now: Current, planner: string): Reply {
  const last = since.at(-1)
  const { settle } = PLANNERS[planner] ?? {}
  const settled = (outcome: string, isBlocked: boolean): Reply =>
    settle ? { text: '', call: settle(now.id, outcome, isBlocked) } : { text: outcome }
  if (last?.role === 'tool' && isSettlingAnswer(last, planner)) {
    const refusal = errorIn(last.result)
    if (refusal !== undefined) return settled(`It was not accepted: ${refusal}`.slice(0, 400), true)
  }
  if (last?.role === 'user' && last.text.startsWith(NOT_DONE)) return settled(`I could not do it any better.`, true)
  const helper = toolFor(prompt, now.title)
  if (helper && !(last?.role === 'tool' && last.tool === helper.name)) {
    return { text: '', call: { tool: helper.name, input: filled(helper.schema, now.title) } }
  }
  if (!helper || last?.role !== 'tool') return settled(resultOf(now.title), false)
  const failed = errorIn(last.result)
  if (failed !== undefined) return settled(`${helper.name} failed: ${short(failed)}`, true)
  return settled(`${helper.name} answered: ${short(last.result)}`, false)
}

/** No step is current: the plan is done or was never created. */
function afterPlan(prompt: Prompt, since: readonly Message[], result: unknown, planner: string): Reply {
  const answer = asRecord(result)
  if (answer['confirmed'] === false) return rejected(since, answer, planner)
  const error = errorIn(result)
  if (error !== undefined) return { text: `The plan could not be created: ${error}\n\n${DEMO}` }
  const comment =
    typeof answer['comment'] === 'string' ? `You said: “${answer['comment']}”. I passed it on with the plan.` : ''
  return { text: report(prompt, comment) }
}

/** The settled steps and their outcomes, from the digest. */
function report({ system }: Prompt, comment = ''): string {
  const settled = [...system.matchAll(/^- \S+ (.+?) \((completed|blocked|cancelled)(?:: (.*))?\)$/gm)]
  const lines = settled.map(([, title, status, outcome]) => {
    const word = status === 'completed' ? '' : ` (${status})`
    return `- ${title}${word}${outcome ? `: ${outcome}` : ''}`
  })
  const isDone = currentIn(system) === undefined
  const opening = isDone ? 'Finished.' : 'This is as far as I got.'
  return [opening, lines.join('\n'), comment, DEMO].filter(part => part !== '').join('\n\n')
}

/** After a rejection, proposes once what the person wants instead. */
function rejected(since: readonly Message[], answer: Readonly<Record<string, unknown>>, planner: string): Reply {
  const comment = typeof answer['comment'] === 'string' ? answer['comment'] : ''
  const tries = since.filter(message => message.role === 'tool' && message.tool === planner).length
  const steps = stepsIn(comment.replace(/,?\s*\binstead\b/gi, '')).filter(step => !NO.test(step) && !isQuestion(step))
  if (steps.length >= 1 && tries === 1) return planning(planner, steps, `You said: “${comment}”. `)
  const reasons: Readonly<Record<string, string>> = {
    review_timeout: 'The review timed out, so nothing was written.',
    panel_closed: 'The review was closed without a decision, so nothing was written.',
  }
  const reason = reasons[String(answer['reason'])] ?? 'You rejected the plan, so nothing was written.'
  const said = comment === '' ? '' : ` You said: “${comment}”.`
  return { text: `${reason}${said} Tell me what you would like instead.\n\n${DEMO}` }
}

/** How a comment starts that says what is wrong rather than what to do. */
const NO =
  /^(?:no|nope|not|don't|do not|never|stop|too|only|just|fewer|less|wrong|wait|later|maybe|why|不|别|没|太)(?:\b|\p{Script=Han}|$)/iu

/** An outside tool whose name or description matches the step and whose arguments the step can fill. */
function toolFor(prompt: Prompt, title: string): Prompt['tools'][number] | undefined {
  const words = new Set(wordsIn(title))
  return prompt.tools.find(({ name, description, schema }) => {
    if (toolNames.has(name) || !canFill(schema, title)) return false
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

const isSettlingAnswer = (message: Message, planner: string): boolean =>
  message.role === 'tool' && toolNames.has(message.tool) && message.tool !== planner

const numbersIn = (title: string): number[] => (title.match(/-?\d+(?:\.\d+)?/g) ?? []).map(Number)
const isNumber = (type: string | undefined): boolean => type === 'number' || type === 'integer'

function canFill({ required = [], properties = {} }: Schema, title: string): boolean {
  const types = required.map(name => properties[name]?.type)
  if (types.some(type => !isNumber(type) && type !== 'string' && type !== 'boolean')) return false
  return types.filter(isNumber).length <= numbersIn(title).length
}

/** Numbers in order; for a string the quoted part, or the whole title. */
function filled({ required = [], properties = {} }: Schema, title: string): Record<string, unknown> {
  const numbers = numbersIn(title)
  const [, quoted = title] = /["“'‘](.+)["”'’]/.exec(title) ?? []
  const value = (type: string | undefined): unknown =>
    type === 'boolean' ? true : isNumber(type) ? numbers.shift() : quoted
  return Object.fromEntries(required.map(name => [name, value(properties[name]?.type)]))
}

/** The demo assessor: there must be an outcome, and it must not report a failure. */
function verdict({ messages }: Prompt): string {
  // The case is the last line of its prompt.
  const text = messages.map(message => (message.role === 'tool' ? '' : message.text)).join('\n')
  const { outcome, worker_text } = JSON.parse(text.slice(text.lastIndexOf('\n') + 1)) as Case
  const said = outcome.trim() === '' ? worker_text.join('\n') : outcome
  if (said.trim() === '') return 'NOT_OK: there is no outcome.'
  // Quotes are the task's own wording.
  const statement = said.replaceAll(/“[^”]*”/g, '')
  if (/\b(?:could not|cannot|can't|failed|Error:|not done)/i.test(statement))
    return 'NOT_OK: the outcome says that it failed.'
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
