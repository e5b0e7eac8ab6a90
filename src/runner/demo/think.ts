import { LIMITS } from '../../domain/text.ts'
import { toolNames } from '../../toolsets/index.ts'
import { compute } from './compute.ts'
import { planFor } from './goals.ts'
import { caseIn, verdictOn } from './judge.ts'
import { checkFor, mending, mendingSteps } from './mend.ts'
import { type Phrases, phrasesFor } from './phrases.ts'
import { type Call, PLANNERS } from './planners.ts'
import { planIn, revisedPlan, titlesIn, wishedInstead } from './sent-back.ts'
import { isGoal, isQuestion, isSmallTalk, stepsIn } from './split.ts'
import { type Standing, standingIn, type Step } from './standing.ts'
import { asRecord, filled, type Offered, readable, textOf, toolFor } from './tools.ts'
import { beyondTitle, type Done, isSimulated, type Past, textFor, workOn } from './texts.ts'

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

const SYNTHETIC = /^(?:NEXT_TODO: |The plan is not finished\.|That step is not done yet)/

interface Scene {
  readonly prompt: Prompt
  readonly message: string
  readonly request: string
  readonly since: readonly Message[]
  readonly phrases: Phrases
  /** The offered planning tool; empty in the last call of a budget. */
  readonly planner: string
}

/** The next text or call. Depends on the prompt alone. */
export function think(prompt: Prompt): Reply {
  if (prompt.system.startsWith('You are the assessor')) return { text: verdictOn(caseIn(prompt.messages)) }
  const scene = sceneOf(prompt)
  // A new message to a list is about new items; open ones wait for the person.
  const isNewItem = scene.since.length === 0 && PLANNERS[scene.planner]?.saysOutcome === true
  const standing = isNewItem ? undefined : standingIn(prompt.system)
  const added = standing && scene.planner !== '' ? stepsAdded(scene) : []
  if (added.length > 0) return propose(scene, added)
  if (standing && standing.open.length > 0 && scene.planner !== '') return work(scene, standing)
  const planned = scene.since.findLast(message => message.role === 'tool' && message.tool === scene.planner)
  if (planned?.role === 'tool') return afterPlan(scene, planned.result, standing)
  // An earlier plan, or the last call of a budget.
  if (standing) return report(scene, standing)
  const steps = scene.planner === '' ? [] : stepsFor(scene)
  return steps.length > 0 ? propose(scene, steps) : plain(scene)
}

function sceneOf(prompt: Prompt): Scene {
  const place = prompt.messages.findLastIndex(message => message.role === 'user' && !SYNTHETIC.test(message.text))
  const said = prompt.messages[place]
  const message = said?.role === 'user' ? said.text : ''
  const request = readable(message)
  const planner = Object.keys(PLANNERS).find(name => prompt.tools.some(tool => tool.name === name)) ?? ''
  return { prompt, message, request, since: prompt.messages.slice(place + 1), phrases: phrasesFor(request), planner }
}

/** Steps that the request names, or those of a plan for its goal. */
function stepsFor({ prompt, message, request, phrases }: Scene): readonly string[] {
  const mended = mendingSteps(prompt.tools, request)
  if (mended) return mended
  const changed = planIn(message, phrases)
  if (changed) return changed
  const steps = stepsIn(request)
  if (steps.length >= 2) return steps
  const [goal = ''] = steps
  const isSingle = compute(goal) !== undefined || toolFor(prompt.tools, goal) !== undefined
  return isSingle || !isGoal(request) ? [] : planFor(goal)
}

/** Steps of a message that arrived while the plan was worked on, as far as they are readable. */
function stepsAdded({ prompt, request, since }: Scene): readonly string[] {
  const isNew = since.length === 0 && prompt.messages.at(-2)?.role === 'tool'
  const steps = isNew ? stepsIn(request) : []
  const [only = ''] = steps
  return steps.length >= 2 || compute(only) !== undefined || textFor(only) !== undefined ? steps : []
}

function propose({ prompt, planner, phrases, request }: Scene, steps: readonly string[], why = ''): Reply {
  const taken = steps.slice(0, LIMITS.batch)
  const isAsked = stepsIn(request).length >= 2 && why === '' && !mendingSteps(prompt.tools, request)
  const text = isAsked ? phrases.stepsSeen(taken.length, steps.length) : phrases.planned(taken.length)
  const { plan, saysOutcome: isList } = PLANNERS[planner] ?? {}
  const planned = taken.map(title => {
    const check = checkFor(prompt.tools, title)
    return { title, ...(check === undefined ? {} : { check }) }
  })
  return { text: isList ? why : `${why}${text}`, calls: plan?.(planned) ?? [] }
}

/** Nothing to plan: use a tool that fits, compute a result, or just reply. */
function plain({ prompt, since, request, phrases }: Scene): Reply {
  const helper = toolFor(prompt.tools, request)
  const answer = since.findLast(message => message.role === 'tool' && message.tool === helper?.name)
  if (helper && !answer) return { text: '', calls: [{ tool: helper.name, input: filled(helper.schema, request) }] }
  if (helper && answer?.role === 'tool') return { text: phrases.toolAnswered(helper.name, short(answer.result)) }
  const result = compute(request)
  if (result !== undefined) return { text: result }
  const isTalk = isSmallTalk(request) || !isQuestion(request)
  return { text: `${isTalk ? phrases.hello : phrases.noAnswer} ${phrases.demo}` }
}

/** Works on the current step; where steps cannot be put aside, on the first that can be done. */
function work(scene: Scene, standing: Standing): Reply {
  const { since, planner } = scene
  const [now] = standing.open
  const { settle, putAside } = PLANNERS[planner] ?? {}
  const refusal = refusalOf(since.at(-1), planner)
  if (now && refusal !== undefined && isTurnedDown(refusal, now)) {
    const again = mended(scene, now, refusal)
    if (again) return again
    const why = scene.phrases.notAccepted(refusal).slice(0, 400)
    return putAside ? { text: '', calls: [putAside(now.id, why)] } : report(scene, standing)
  }
  for (const step of putAside || !settle ? standing.open.slice(0, 1) : standing.open) {
    const reply = attempt(scene, step, standing)
    if (reply) return reply
  }
  return report(scene, standing)
}

/** Whether the judge, a check, or the lack of one refuses a claim. */
const isTurnedDown = (refusal: string, { id }: Step): boolean =>
  ['was not accepted', 'is not done: its check', 'was not checked'].some(words => refusal.includes(` ${id} ${words}`))

function pastOf(step: Step, { open, settled }: Standing): Past {
  const done = settled.filter(({ isDone }) => isDone)
  return { done, hasGaps: done.length < settled.length || open[0]?.id !== step.id }
}

function attempt(scene: Scene, step: Step, standing: Standing): Reply | undefined {
  const { prompt, since, phrases } = scene
  const { id, title } = step
  const { settled, aside } = endingsOf(scene, step)
  if (standing.hasDetails && standing.open[0]?.id === id) return aside(beyondTitle(title))
  const mend = mended(scene, step)
  if (mend) return mend
  const helper = toolFor(prompt.tools, title)
  if (!helper) {
    const result = workOn(title, pastOf(step, standing))
    return 'outcome' in result ? settled(result.outcome) : aside(result.simulated)
  }
  const answer = since.findLast(message => message.role === 'tool' && !toolNames.has(message.tool))
  const isAnswered = answer?.role === 'tool' && answer.tool === helper.name
  const failed = isAnswered ? errorIn(answer.result) : undefined
  if (failed !== undefined) return aside(phrases.toolFailed(helper.name, short(failed)))
  if (isAnswered && since.at(-1) === answer) return settled(phrases.toolAnswered(helper.name, short(answer.result)))
  return { text: '', calls: [{ tool: helper.name, input: filled(helper.schema, title) }] }
}

function endingsOf({ planner }: Scene, { id }: Step) {
  const { settle, putAside, saysOutcome } = PLANNERS[planner] ?? {}
  return {
    settled: (outcome: string): Reply =>
      settle ? { text: saysOutcome ? outcome : '', calls: [settle(id, outcome)] } : { text: outcome },
    aside: (reason: string): Reply | undefined =>
      putAside ? { text: '', calls: [putAside(id, reason)] } : settle ? undefined : { text: reason },
  }
}

function mended(scene: Scene, step: Step, refusal?: string): Reply | undefined {
  const deed = mending(scene.prompt.tools, step.title, scene.since, refusal)
  if (!deed) return undefined
  if ('call' in deed) return { text: '', calls: [deed.call] }
  const { settled, aside } = endingsOf(scene, step)
  return 'outcome' in deed ? settled(deed.outcome) : aside(scene.phrases.notAccepted(deed.failed).slice(0, 400))
}

/** No step is open: the plan is done or was never created. */
function afterPlan(scene: Scene, result: unknown, standing: Standing | undefined): Reply {
  const { phrases } = scene
  const answer = asRecord(result)
  if (answer['confirmed'] === false) return rejected(scene, answer)
  const error = errorIn(result)
  if (error !== undefined) return { text: phrases.planFailed(error) }
  const comment = textOf(answer['comment'])
  const heard = comment === '' ? '' : `${phrases.youSaid(comment)} ${phrases.passedOn}`
  return report(scene, standing ?? { open: [], settled: [], hasDetails: false }, heard)
}

/** Finished steps with their texts, and unfinished ones. */
function report({ phrases }: Scene, standing: Standing, heard = ''): Reply {
  const { open, settled } = standing
  const done = settled.filter(({ isDone }) => isDone)
  const rest = settled.filter(({ isDone }) => !isDone)
  const left = open.filter(step => 'simulated' in workOn(step.title, pastOf(step, standing))).map(({ title }) => title)
  const parts = [
    left.length > 0 && done.length === 0 ? '' : phrases.done(done.length, open.length + settled.length),
    done.map(step => lineFor(step, done)).join('\n'),
    ...rest.flatMap(({ title, outcome }) => (isSimulated(outcome) ? [] : [phrases.notDone(title, outcome)])),
    rest.some(({ outcome }) => isSimulated(outcome)) ? phrases.simulated : '',
    left.length === 0 ? '' : phrases.leftOpen(left),
    heard,
  ]
  return { text: parts.filter(part => part !== '').join('\n\n') }
}

/** The full outcome where the demo model wrote it, because the digest cuts it to one line. */
function lineFor({ title, outcome }: Done, done: readonly Done[]): string {
  const before = done.slice(
    0,
    done.findIndex(each => each.title === title),
  )
  const work = workOn(title, { done: before, hasGaps: false })
  const text = 'outcome' in work ? work.outcome : ''
  const isOwn = text.includes('\n') && text.replaceAll(/\s+/g, ' ').startsWith(outcome.replace(/…$/, ''))
  return isOwn
    ? `- ${title}:\n\n${text.replaceAll(/^/gm, '  ')}\n`
    : `- ${title}${outcome === '' ? '' : `: ${outcome}`}`
}

/** Changes the plan as requested; after a rejection, proposes once what the person wants instead. */
function rejected(scene: Scene, answer: Readonly<Record<string, unknown>>): Reply {
  const { since, planner, phrases } = scene
  const comment = textOf(answer['comment'])
  const said = comment === '' ? '' : `${phrases.youSaid(comment)} `
  const reason = textOf(answer['reason'])
  const tries = since.filter(message => message.role === 'tool' && message.tool === planner).length
  if (reason === 'changes_requested') {
    return propose(scene, revisedPlan(answer, lastPlan(scene) ?? stepsFor(scene), phrases), said)
  }
  const steps = wishedInstead(comment)
  if (steps.length >= 1 && tries === 1) return propose(scene, steps, said)
  return { text: `${phrases.rejected(reason)} ${said}${phrases.instead}` }
}

function lastPlan({ since, planner }: Scene): readonly string[] | undefined {
  const plans = since.flatMap(message => {
    const calls = message.role === 'assistant' ? (message.calls ?? []) : []
    const titles = calls.flatMap(({ tool, input }) => (tool === planner ? titlesIn(input) : []))
    return titles.length > 0 ? [titles] : []
  })
  return plans.at(-1)
}

const refusalOf = (message: Message | undefined, planner: string): string | undefined =>
  message?.role === 'tool' && toolNames.has(message.tool) && message.tool !== planner
    ? errorIn(message.result)
    : undefined

function errorIn(result: unknown): string | undefined {
  if (typeof result === 'string') return result.startsWith('Error:') ? result : undefined
  const { error, failedItems } = asRecord(result)
  if (Array.isArray(failedItems)) return errorIn(failedItems[0])
  return typeof error === 'string' ? error : undefined
}

function short(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.replaceAll(/\s+/g, ' ').slice(0, 300)
}
