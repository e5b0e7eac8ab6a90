import { LIMITS, clip, cut } from '../core/model/text.ts'
import { toolNames } from '../engine/toolsets/index.ts'
import { verdictOn } from './judge.ts'
import {
  SIMULATED,
  capitalised,
  compute,
  isCompound,
  isGoal,
  isQuestion,
  isReport,
  isTalk,
  planFor,
  stepsIn,
  write,
} from './texts.ts'
import { isSandboxTool, mending, mendingSteps, rowFor } from './sandbox.ts'

interface Offered {
  readonly name: string
  readonly schema?: Schema
}
export interface Schema {
  readonly properties?: Readonly<Record<string, { readonly type?: string }>>
  readonly required?: readonly string[]
}
export interface Prompt {
  readonly system: string
  readonly messages: readonly Message[]
  readonly tools: readonly Offered[]
}
export type Message =
  | { readonly role: 'user' | 'assistant'; readonly text: string; readonly calls?: readonly Call[] }
  | { readonly role: 'tool'; readonly tool: string; readonly result: unknown }
export interface Reply {
  readonly text: string
  readonly calls?: readonly Call[]
}

const DEMO = 'I am the demo model. For real work, connect a model in Settings (or set RUNSHEET_MODEL).'
const SYNTHETIC = /^(?:NEXT_TODO: |The plan is not finished\.|That step is not done yet)/

interface Scene {
  readonly prompt: Prompt
  readonly message: string
  readonly request: string
  readonly since: readonly Message[]
  /** The offered planning tool; empty in the last call of a budget. */
  readonly planner: string
}

/** The next text or call. Depends on the prompt alone. */
export function think(prompt: Prompt): Reply {
  if (prompt.system.startsWith('You are the assessor'))
    return { text: verdictOn(prompt.messages.flatMap(message => ('text' in message ? [message] : []))) }
  const place = prompt.messages.findLastIndex(message => message.role === 'user' && !SYNTHETIC.test(message.text))
  const said = prompt.messages[place]
  const message = said?.role === 'user' ? said.text : ''
  const planner = Object.keys(PLANNERS).find(name => prompt.tools.some(tool => tool.name === name)) ?? ''
  // Bounded, because some regular expressions are quadratic.
  const scene = { prompt, message, request: clip(message, 4_000), since: prompt.messages.slice(place + 1), planner }
  return next(scene)
}

function next(scene: Scene): Reply {
  const { prompt, since, planner } = scene
  // A new message to a list is about new items; open ones wait for the person.
  const isNewItem = since.length === 0 && PLANNERS[planner]?.saysOutcome === true
  const standing = isNewItem ? undefined : standingIn(prompt.system)
  if (standing && planner !== '') {
    const added = since.length === 0 && prompt.messages.at(-2)?.role === 'tool' ? stepsIn(scene.request) : []
    if (added.length >= 2 || added.some(title => doable(title))) return propose(scene, added)
    if (standing.open.length > 0) return work(scene, standing)
  }
  const planned = since.findLast(message => message.role === 'tool' && message.tool === planner)
  if (planned?.role === 'tool') return afterPlan(scene, planned.result, standing)
  if (standing) return report(standing)
  const steps = planner === '' ? [] : stepsFor(scene)
  return steps.length > 0 ? propose(scene, steps) : plain(scene)
}

const doable = (title: string): boolean => compute(title) !== undefined || write(title) !== undefined

function stepsFor({ prompt, message, request }: Scene): readonly string[] {
  const known = mendingSteps(prompt.tools, request) ?? planIn(message)
  if (known) return known
  const steps = stepsIn(request)
  const [goal = ''] = steps
  if (steps.length >= 2) return steps
  return compute(goal) === undefined && isGoal(goal) ? planFor(goal) : []
}

function propose({ prompt, planner }: Scene, steps: readonly string[], heard = ''): Reply {
  const taken = steps.slice(0, LIMITS.batch)
  const left = steps.length > taken.length ? ` (of ${steps.length}; a plan holds at most ${taken.length})` : ''
  const text = `I propose a plan of ${taken.length} ${taken.length === 1 ? 'step' : 'steps'}${left}.`
  const { plan, saysOutcome: isList } = PLANNERS[planner] ?? {}
  return {
    text: isList ? heard : `${heard}${text}`,
    calls: plan?.(taken.map(title => rowFor(prompt.tools, title))) ?? [],
  }
}

/** Nothing to plan: compute a result, or just reply. */
function plain({ request }: Scene): Reply {
  const isGreeting = isTalk(request) || !isQuestion(request)
  const words = isGreeting ? 'Hello! Tell me what you want done, and I will plan it.' : 'I cannot answer that.'
  return { text: compute(request) ?? `${words} ${DEMO}` }
}

/** Works on the current step; where steps cannot be put aside, on the first that can be done. */
function work(scene: Scene, standing: Standing): Reply {
  const { prompt, since, planner } = scene
  const { settle, putAside } = PLANNERS[planner] ?? {}
  const [now] = standing.open
  const last = since.at(-1)
  const refusal =
    last?.role === 'tool' && toolNames.has(last.tool) && last.tool !== planner ? errorIn(last.result) : undefined
  if (
    now &&
    refusal &&
    / (?:was not accepted|is not done: its check|was not checked)/.test(refusal.split(` ${now.id}`)[1] ?? '')
  ) {
    const again = mending(prompt.tools, now.title, since, refusal)
    if (again && 'call' in again) return { text: '', calls: [again.call] }
    const why = cut(`It was not accepted: ${refusal}`, 400)
    return putAside ? { text: '', calls: [putAside(now.id, why)] } : report(standing)
  }
  for (const step of putAside || !settle ? standing.open.slice(0, 1) : standing.open) {
    const reply = attempt(scene, step, standing)
    if (reply) return reply
  }
  return report(standing)
}

function attempt({ prompt, since, planner }: Scene, { id, title }: Step, standing: Standing): Reply | undefined {
  const { settle, putAside, saysOutcome } = PLANNERS[planner] ?? {}
  const settled = (outcome: string): Reply =>
    settle ? { text: saysOutcome ? outcome : '', calls: [settle(id, outcome)] } : { text: outcome }
  const aside = (why: string): Reply | undefined =>
    putAside ? { text: '', calls: [putAside(id, cut(why, 400))] } : settle ? undefined : { text: why }
  const isFirst = standing.open[0]?.id === id
  if (standing.hasDetails && isFirst)
    return aside(`${SIMULATED} the demo model goes by the title alone, and this step has details.`)
  const deed = mending(prompt.tools, title, since)
  if (deed)
    return 'call' in deed
      ? { text: '', calls: [deed.call] }
      : 'outcome' in deed
        ? settled(deed.outcome)
        : aside(deed.failed)
  const helper = helperFor(prompt.tools, title)
  const answer = since.findLast(message => message.role === 'tool' && !toolNames.has(message.tool))
  if (helper && (answer?.role !== 'tool' || answer.tool !== helper.tool)) return { text: '', calls: [helper] }
  if (helper && answer?.role === 'tool') {
    const failed = errorIn(answer.result)
    const said = typeof answer.result === 'string' ? answer.result : JSON.stringify(answer.result)
    return failed === undefined
      ? settled(cut(`${helper.tool} answered: ${said.replaceAll(/\s+/g, ' ')}`, 400))
      : aside(`${helper.tool} failed: ${failed}`)
  }
  const done = standing.settled.filter(({ isDone }) => isDone)
  if (isReport(title) && (done.length === 0 || done.length < standing.settled.length || !isFirst))
    return aside(`${SIMULATED} not every step before this one was done, so there is nothing to report on.`)
  const outcome = compute(title) ?? write(title, done)
  return outcome === undefined ? aside(`${SIMULATED} the demo model has no tool for this.`) : settled(outcome)
}

/** The page shows the steps with their outcomes; the answer does not list them again. */
function report({ open, settled }: Standing, heard = ''): Reply {
  const [done, of] = [settled.filter(({ isDone }) => isDone).length, open.length + settled.length]
  const isSimulated = settled.some(({ outcome }) => outcome.startsWith(SIMULATED))
  const parts = [
    done === of ? 'Finished.' : `${done} of ${of} ${of === 1 ? 'step is' : 'steps are'} done.`,
    isSimulated ? 'I have no tool for the rest, so I only simulated it.' : '',
    open.length > 0 ? `Left open for you: ${open.map(({ title }) => title).join('; ')}.` : '',
    heard,
  ]
  return { text: parts.filter(part => part !== '').join('\n\n') }
}

/** No step is open: the plan is done or was never created. */
function afterPlan(scene: Scene, result: unknown, standing: Standing | undefined): Reply {
  const answer = asRecord(result)
  const comment = textOf(answer['comment'])
  const heard = comment === '' ? '' : `You said: “${comment}”. `
  if (answer['confirmed'] === false) return rejected(scene, answer, heard)
  const error = errorIn(result)
  if (error !== undefined) return { text: `The plan could not be created: ${error}` }
  return report(
    standing ?? { open: [], settled: [], hasDetails: false },
    heard && `${heard}I passed it on with the plan.`,
  )
}

const REJECTED: Readonly<Record<string, string>> = {
  review_timeout: 'The review timed out',
  panel_closed: 'The review was closed without a decision',
  superseded: 'Another plan took its place',
}

/** Changes the plan as requested, and accepts a rejection. */
function rejected(scene: Scene, answer: Readonly<Record<string, unknown>>, heard: string): Reply {
  const { since, planner } = scene
  const calls = since.flatMap(message => (message.role === 'assistant' ? (message.calls ?? []) : []))
  const titles = calls
    .filter(({ tool }) => tool === planner)
    .map(({ input }) => titlesIn(input))
    .at(-1)
  if (answer['reason'] === 'changes_requested') return propose(scene, revised(answer, titles ?? stepsFor(scene)), heard)
  const why = REJECTED[textOf(answer['reason'])] ?? 'You rejected the plan'
  return { text: `${why}, so nothing was written. ${heard}Tell me what you would like instead.` }
}

/** The rows as the person left them, with what they said about them. */
function revised(answer: Readonly<Record<string, unknown>>, proposed: readonly string[]): readonly string[] {
  const rows = (list: unknown): Readonly<Record<string, unknown>>[] => (Array.isArray(list) ? list.map(asRecord) : [])
  const { kept, edited, added, removed } = asRecord(answer['changes'])
  const isEdited = [edited, added, removed].some(list => rows(list).length > 0)
  const now = [...rows(kept), ...rows(edited).map(({ to }) => asRecord(to)), ...rows(added)]
  const titles = isEdited ? now.map(({ title }) => textOf(title)) : proposed
  const comments = rows(answer['row_comments'])
  const noted = titles.map(title => {
    // Toolsets have their own names for the title.
    const said = textOf(comments.find(each => Object.values(each).includes(title))?.['comment'])
    return said === '' ? title : cut(`${title} (${said})`, LIMITS.title)
  })
  const isChanged = isEdited || comments.length > 0
  return changed(noted, clip(textOf(answer['comment']), 4_000), isChanged)
}

/** Adds and removes what a comment names. Another one becomes a step, unless the plan has changed anyway. */
function changed(rows: readonly string[], comment: string, isChanged = false): readonly string[] {
  const wishes = stepsIn(comment)
  const named = (verbs: RegExp): string[] => wishes.flatMap(wish => verbs.exec(wish)?.[1] ?? [])
  const added = named(/^(?:add|include)\s+(?:a step(?: to)?\s*:?\s*)?(.+)$/i).map(capitalised)
  const removed = named(/^(?:remove|drop|skip)\s+(?:the\s+)?[“"]?([^”"]+)/i).map(each => each.toLowerCase())
  const after = [...rows.filter(row => !removed.some(each => row.toLowerCase().includes(each))), ...added]
  if (after.length > 0 && after.join('\n') !== rows.join('\n')) return after
  const step = cut(`Take into account: “${comment.replaceAll(/\s+/g, ' ')}”`, LIMITS.title)
  return isChanged ? rows : [...rows.filter(row => row !== step).slice(0, LIMITS.batch - 1), step]
}

/** The plan in the message of a turn that changes one: see `messageFor` in `decide/reopened.ts`. */
function planIn(message: string): readonly string[] | undefined {
  const change = /^Change the plan:\s(?<comment>[^]*?)\n(?:My version of it|The plan):\n- (?<rows>[^]*)$/
  const { comment = '', rows } = change.exec(clip(message, LIMITS.message))?.groups ?? {}
  return rows === undefined ? undefined : changed(rows.split('\n- '), clip(comment, 4_000))
}

function titlesIn(input: unknown): readonly string[] {
  const { tasks, items, add, title } = asRecord(input)
  const rows: readonly unknown[] = [tasks, items, add].find(Array.isArray) ?? [{ title }]
  return rows.map(row => textOf(row) || textOf(asRecord(row)['title']))
}

/** A call of an outside tool that the title names, if texts are all that it needs. */
function helperFor(tools: readonly Offered[], title: string): Call | undefined {
  const words = new Set(title.toLowerCase().match(/\p{L}{3,}/gu))
  const helper = tools.find(({ name, schema: { properties, required = [] } = {} }) => {
    const isNamed = (name.split('__').at(-1) ?? '').split('_').every(word => words.has(word.toLowerCase()))
    const needsTexts = required.every(field => properties?.[field]?.type === 'string')
    return isNamed && needsTexts && !toolNames.has(name) && !isSandboxTool(name) && !isCompound(title)
  })
  const [, quoted = title] = /["“](.+)["”]/.exec(title) ?? []
  const input = Object.fromEntries((helper?.schema?.required ?? []).map(name => [name, quoted]))
  return helper && { tool: helper.name, input }
}

function errorIn(result: unknown): string | undefined {
  if (typeof result === 'string') return result.startsWith('Error:') ? result : undefined
  const { error, failedItems } = asRecord(result)
  return Array.isArray(failedItems) ? errorIn(failedItems[0]) : textOf(error) || undefined
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

const asRecord = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}

export interface Call {
  readonly tool: string
  readonly input: unknown
}
export interface PlannedStep {
  readonly title: string
  readonly check?: string
  readonly scope?: readonly string[]
}

interface Planner {
  readonly plan: (steps: readonly PlannedStep[]) => readonly Call[]
  /** Absent where a text settles the step. */
  readonly settle?: (id: string, outcome: string) => Call
  /** Absent where an impossible step is left open. */
  readonly putAside?: (id: string, reason: string) => Call
  /** Whether outcomes go into the text, because `settle` has no field for them. */
  readonly saysOutcome?: boolean
}

/** The planning tool of each toolset, and how its steps are settled. */
export const PLANNERS: Readonly<Record<string, Planner>> = {
  plan: {
    plan: tasks => [{ tool: 'plan', input: { tasks } }],
    settle: (id, outcome) => ({ tool: 'update', input: { id: Number(id), outcome } }),
    putAside: (id, outcome) => ({ tool: 'update', input: { id: Number(id), outcome, status: 'blocked' } }),
  },
  add_task: {
    plan: tasks => [{ tool: 'add_task', input: { tasks } }],
    settle: (id, outcome) => ({ tool: 'complete_task', input: { id, outcome } }),
    putAside: (id, outcome) => ({ tool: 'update_task', input: { id, status: 'blocked', outcome } }),
  },
  create_todo: {
    plan: items => [{ tool: 'create_todo', input: { items } }],
    settle: (todoId, outcome) => ({ tool: 'complete_todo', input: { todoId, outcome } }),
    putAside: (todoId, outcome) => ({ tool: 'complete_todo', input: { todoId, outcome, status: 'cancelled' } }),
  },
  add_multiple_checklist_items: {
    plan: steps => [{ tool: 'add_multiple_checklist_items', input: { items: steps.map(({ title }) => ({ title })) } }],
    settle: id => ({ tool: 'update_checklist_items', input: { items: [{ id, isChecked: true }] } }),
    saysOutcome: true,
  },
  AddTask: {
    plan: steps => steps.map(({ title }) => ({ tool: 'AddTask', input: { title } })),
    settle: taskId => ({ tool: 'CompleteTask', input: { taskId } }),
    saysOutcome: true,
  },
  manage_todos: { plan: steps => [{ tool: 'manage_todos', input: { add: steps.map(({ title }) => title) } }] },
}

export interface Step {
  readonly id: string
  readonly title: string
}
export interface Standing {
  /** The current step first. */
  readonly open: readonly Step[]
  readonly settled: readonly (Step & { readonly isDone: boolean; readonly outcome: string })[]
  /** Whether the current step has details or criteria besides its title. */
  readonly hasDetails: boolean
}

/** Reads the digest from its last line backwards, because the request, which comes first, may look like one itself. */
export function standingIn(system: string): Standing | undefined {
  const lines = system.split('\n')
  let at = lines.findLastIndex(line => /^\d+ (?:remaining|open)\.$/.test(line))
  if (at < 0) return undefined
  const sections = new Map<string, string[]>()
  for (const name of ['Open:', 'Next:', 'Now:', 'Settled:']) {
    const end = at
    while (/^(?:- | {2})/.test(lines[at - 1] ?? '')) at -= 1
    if (lines[at - 1] === name) {
      sections.set(name, lines.slice(at, end))
      at -= 1
    } else at = end
  }
  const of = (name: string): string[] => sections.get(name) ?? []
  return {
    open: [...of('Now:'), ...of('Next:'), ...of('Open:')].flatMap(stepIn),
    settled: of('Settled:').flatMap(settledIn),
    hasDetails: of('Now:').some(line => line.startsWith('  ')),
  }
}

function stepIn(line: string): Step[] {
  const [, id, title] = /^- (?!and \d+ more$)(\S+) (.+)$/.exec(line) ?? []
  return id === undefined || title === undefined ? [] : [{ id, title }]
}

/** The toolsets' words for completed come first. */
const SETTLED = /^(.+?) \((?:(completed|done|ticked)|blocked|cancelled|removed|unticked|not done)(?:: (.*))?\)$/

function settledIn(line: string): Standing['settled'] {
  return stepIn(line).flatMap(({ id, title: rest }) => {
    const [, title, done, outcome = ''] = SETTLED.exec(rest) ?? []
    return title === undefined ? [] : [{ id, title, isDone: done !== undefined, outcome }]
  })
}
