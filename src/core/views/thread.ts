import type { Check } from '../proof/check.ts'
import type { Reading } from '../model/conversation.ts'
import type { Instant } from '../model/instant.ts'
import { lastTurnOf, planOf } from '../model/plan.ts'
import { type PlanCard, planCard } from './plan-card.ts'
import { captures, OWN_TOOLS } from '../model/policy.ts'
import { isApproved, type Proofs } from '../proof/proof.ts'
import { valueIn, valuesIn } from '../model/table.ts'
import { isSettledElsewhere, type PlanTally, tallied, tallyOf } from './tally.ts'
import type { Mark, MarkOf, TaskThen } from './thread-log.ts'
import { type Message, type MessageCall, ownWords } from './transcript.ts'
import { type EndReason, isFinished, type Turn, type TurnStatus } from '../model/turn.ts'
import { startedBy, type View } from './view.ts'

/** A turn as the page shows it. */
export interface ThreadTurn {
  readonly turn_id: string
  readonly items: readonly ThreadItem[]
  /**
   * The counts of its plan, including the turns that it continues: now, or as it ended if another turn continues it.
   * Undefined without tasks, and if they are items for a person.
   */
  readonly tally: PlanTally | undefined
  /** The end of the turn; undefined while it goes on. */
  readonly end: TurnEnd | undefined
  /** An agent elsewhere never reports that it is done: true if its plan has nothing open and no review waits. */
  readonly is_settled?: true
}

/** One item of a turn, in the order of the log. */
export type ThreadItem =
  /**
   * A person's request, or the agent's words outside of any step with the tools that it used then. `decided`: the
   * decision on a reopened plan asked, in our words.
   */
  | {
      readonly kind: 'message'
      readonly message: Message
      readonly calls: readonly MessageCall[]
      readonly decided?: 'approved' | 'changes_requested'
    }
  | { readonly kind: 'plan'; readonly card: PlanCard }
  | { readonly kind: 'step'; readonly step: WorkedStep }
  /** The number of times that the gate sent the agent back, and the agent's answers before that. */
  | { readonly kind: 'follow_ups'; readonly count: number; readonly messages: readonly Message[] }
  /** A check of the whole plan. */
  | { readonly kind: 'run'; readonly run: StepRun }

/** The work on one task in a turn, and the task's status: now, or if `taken_up`, at the end of the turn. */
export interface WorkedStep extends TaskThen {
  readonly task_id: string
  /** A later turn continued the plan of this one, or worked on the task itself. */
  readonly taken_up?: 'plan' | 'task'
  /** Its checks that are not approved; they never run. */
  readonly unapproved?: readonly Check[]
  readonly items: readonly StepItem[]
}

/** One item of the work on a task. */
export type StepItem =
  | { readonly kind: 'text'; readonly message: Message }
  | { readonly kind: 'call'; readonly call: MessageCall }
  | { readonly kind: 'run'; readonly run: StepRun }
  | MarkOf<'report' | 'claim' | 'verdict'>

/** A run of a check; `check` is undefined where it is no longer known. */
export type StepRun = Omit<MarkOf<'run'>, 'kind'> & { readonly check: Check | undefined }

/** The end of a turn. */
export interface TurnEnd {
  readonly at: Instant
  readonly status: TurnStatus
  readonly because?: EndReason
  readonly failure?: { readonly code: string; readonly message: string }
  /**
   * Set on the latest turn if another turn can continue it: its plan has open tasks, or blocked ones that can be
   * reopened.
   */
  readonly left: 'open' | 'blocked' | undefined
}

/** The input of these functions: a state or its snapshot. */
export type ThreadState = Proofs & Reading<'policy' | 'running_turn' | 'latest_turn' | 'reviews' | 'pending_reviews'>

/** The turns in order: requests and decisions, the work by step, and the end of each. */
export function threadOf(
  state: ThreadState,
  { messages, resolutions, thread }: Pick<View, 'messages' | 'resolutions' | 'thread'>,
): readonly ThreadTurn[] {
  const turns = [...valuesIn(state.turns)].sort((a, b) => (a.started_at < b.started_at ? -1 : 1))
  const said = Map.groupBy(messages, ({ turn_id }) => turn_id)
  const tasks = Map.groupBy(valuesIn(state.tasks), ({ plan_id }) => plan_id)
  const marksOf = ({ id }: Turn): readonly Mark[] => valueIn(thread, id) ?? []
  const names = new Map(turns.flatMap(marksOf).flatMap(notesIn))
  const latest = new Map(turns.flatMap(turn => marksOf(turn).flatMap(mark => workedIn(mark).map(id => [id, turn.id]))))
  const then = new Map<string, TaskThen>()
  return turns.map(turn => {
    const marks = marksOf(turn)
    for (const [id, task] of marks.flatMap(notesIn)) then.set(id, task)
    const end = marks.findLast((mark): mark is MarkOf<'end'> => mark.kind === 'end')
    const plan = planOf(state, turn.id)
    const isContinued = end !== undefined && (lastTurnOf(plan) !== turn.id || plan.is_taken === true)
    const now = (): PlanTally | undefined => tallyOf(state, tasks.get(plan.id) ?? [])
    const tally = captures(state.policy) ? undefined : isContinued ? recorded(end) : now()
    const own = new Map(said.get(turn.id)?.map(message => [message.message_id, message]))
    const heading = (id: string): Heading => {
      const isLatest = latest.get(id) === turn.id
      const left = isLatest && !isContinued ? undefined : then.get(id)
      if (left) return { ...left, taken_up: isLatest ? 'plan' : 'task' }
      return valueIn(state.tasks, id) ?? { ...(names.get(id) ?? UNKNOWN), status: 'removed' }
    }
    const items = itemsOf(marks, { state, turn, heading, resolutions, message: id => own.get(id) })
    const told = { turn_id: turn.id, items, tally, end: end && endOf(state, turn, marks, end, tally) }
    return isSettledElsewhere(state, turn, tally) ? { ...told, is_settled: true } : told
  })
}

function recorded({ counts, standings }: MarkOf<'end'>): PlanTally | undefined {
  const tally = tallied(counts)
  return tally.total === 0 ? undefined : { ...tally, standings }
}

function endOf(
  { latest_turn, running_turn }: ThreadState,
  turn: Turn,
  marks: readonly Mark[],
  { at, status, because }: MarkOf<'end'>,
  tally: PlanTally | undefined,
): TurnEnd {
  const failure = marks.findLast((mark): mark is MarkOf<'failure'> => mark.kind === 'failure')
  const canGoOn = turn.id === latest_turn && running_turn === null && isFinished(turn) && tally !== undefined
  return {
    at,
    status,
    ...(because === undefined ? {} : { because }),
    ...(failure ? { failure: { code: failure.code, message: failure.message } } : {}),
    left: !canGoOn ? undefined : tally.open > 0 ? 'open' : tally.blocked > 0 ? 'blocked' : undefined,
  }
}

interface Source {
  readonly state: ThreadState
  readonly turn: Turn
  readonly heading: (taskId: string) => Heading
  readonly resolutions: View['resolutions']
  readonly message: (id: string) => Message | undefined
}

function itemsOf(marks: readonly Mark[], source: Source): readonly ThreadItem[] {
  const { state, turn, heading, resolutions, message } = source
  const isOwn = ownCalls(marks)
  const answer = answerIn(marks, message)
  const worked = new Set(marks.flatMap(workedIn))
  const followed = new Set(marks.flatMap(mark => (mark.kind === 'follow_up' ? (mark.message_id ?? []) : [])))
  const items: ThreadItem[] = []
  const steps = new Map<string, StepItem[]>()
  const step = (taskId: string): StepItem[] => {
    const known = steps.get(taskId)
    if (known) return known
    const work: StepItem[] = []
    steps.set(taskId, work)
    const unapproved = unapprovedOf(state, taskId)
    items.push({ kind: 'step', step: { task_id: taskId, ...headingOf(heading(taskId)), ...unapproved, items: work } })
    return work
  }
  const decided = startedBy(resolutions, turn.id)
  const tell = ({ kind, message_id, task_id }: Told): void => {
    const known = message(message_id)
    if (!known || followed.has(message_id)) return
    // The end of the turn says the rest.
    const found = { ...known, text: ownWords(known) }
    const calls = (found.tool_calls ?? []).filter(({ tool }) => !isOwn(tool))
    if (found.text === '' && calls.length === 0 && found.cut === undefined) return
    if (task_id === undefined || message_id === answer) {
      const asked = kind === 'request' && decided ? { decided } : {}
      return void items.push({ kind: 'message', message: found, calls, ...asked })
    }
    if (found.text !== '' || found.cut !== undefined) step(task_id).push({ kind: 'text', message: found })
    for (const call of calls) step(task_id).push({ kind: 'call', call })
  }
  for (const mark of marks) {
    switch (mark.kind) {
      case 'request':
      case 'said':
        tell(mark)
        break
      case 'task':
        step(mark.task_id)
        break
      case 'claim':
      case 'verdict':
      case 'report':
        step(mark.task_id).push(mark)
        break
      case 'run': {
        const { kind, ...made } = mark
        const run = { ...made, check: checkOf(state, turn, made) }
        if (made.task_id === undefined) items.push({ kind, run })
        else if (worked.has(made.task_id)) step(made.task_id).push({ kind, run })
        break
      }
      case 'follow_up':
        if (!items.some(({ kind }) => kind === 'follow_ups')) items.push(followUpsIn(marks, message))
        break
      case 'plan': {
        const card = planCard(mark, valueIn(resolutions, mark.review_id), state)
        if (card) items.push({ kind: 'plan', card })
        break
      }
      case 'failure':
      case 'end':
        break
    }
  }
  return items
}

type Told = Pick<MarkOf<'request' | 'said'>, 'kind' | 'message_id'> & { readonly task_id?: string }

/** Calls of the plan's own tools are left out: the steps already show their effect. */
function ownCalls(marks: readonly Mark[]): (tool: string) => boolean {
  const request = marks.find((mark): mark is MarkOf<'request'> => mark.kind === 'request')
  const own = request ? OWN_TOOLS[request.toolset] : []
  return tool => own.includes(tool)
}

/** The final message of a finished turn. It is not work on a step, even if one is still open. */
function answerIn(marks: readonly Mark[], message: Source['message']): string | undefined {
  if (!marks.some(({ kind }) => kind === 'end')) return undefined
  const last = marks.findLast((mark): mark is MarkOf<'said'> => mark.kind === 'said')
  const { role, tool_calls = [] } = message(last?.message_id ?? '') ?? {}
  return role === 'assistant' && tool_calls.length === 0 ? last?.message_id : undefined
}

function followUpsIn(marks: readonly Mark[], message: Source['message']): ThreadItem {
  const followUps = marks.filter((mark): mark is MarkOf<'follow_up'> => mark.kind === 'follow_up')
  const messages = followUps.flatMap(({ message_id }) => (message_id === undefined ? [] : (message(message_id) ?? [])))
  return { kind: 'follow_ups', count: followUps.length, messages }
}

type Heading = Omit<WorkedStep, 'task_id' | 'items' | 'unapproved'>

const UNKNOWN: TaskThen = { number: 0, title: '', status: 'removed' }

/** Picks these fields: a step has no other fields of its task. */
const headingOf = ({ number, title, status, outcome, taken_up }: Heading): Heading => ({
  number,
  title,
  status,
  ...(outcome === undefined ? {} : { outcome }),
  ...(taken_up === undefined ? {} : { taken_up }),
})

function unapprovedOf(state: ThreadState, taskId: string): Pick<WorkedStep, 'unapproved'> {
  const checks = valueIn(state.tasks, taskId)?.checks ?? []
  const unapproved = checks.filter(check => !isApproved(state, taskId, check))
  return unapproved.length === 0 ? {} : { unapproved }
}

const notesIn = (mark: Mark): readonly (readonly [string, TaskThen])[] =>
  mark.kind === 'task' ? [[mark.task_id, mark]] : []

/** The tasks that a mark is work on. A rerun of a check, for the end of a plan or for a person, is no work. */
const workedIn = (mark: Mark): readonly string[] => {
  if (!('task_id' in mark) || mark.task_id === undefined) return []
  return mark.kind === 'run' && mark.why !== 'claim' ? [] : [mark.task_id]
}

function checkOf(state: ThreadState, turn: Turn, { task_id, hash }: Omit<MarkOf<'run'>, 'kind'>): Check | undefined {
  const checks = task_id === undefined ? planOf(state, turn.id).done_checks : valueIn(state.tasks, task_id)?.checks
  return checks?.find(check => check.hash === hash)
}
