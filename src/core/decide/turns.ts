import type { CommandOf, Rules, RunFact, TurnStart } from '../model/command.ts'
import type { Check, Workspace } from '../proof/check.ts'
import { apply, givenUpIn, isParked, listed, openTasks, stamped, type Conversation } from '../model/conversation.ts'
import type { NewEvent } from '../model/event.ts'
import type { Instant } from '../model/instant.ts'
import { Refusal, invalidField, invalidId } from '../model/refusal.ts'
import { TOOLSETS, captures, policyWith, samePolicy, type PolicyPatch, type ToolsetName } from '../model/policy.ts'
import { awaitsFinal } from '../proof/check-runs.ts'
import { claimOn } from '../proof/claims.ts'
import { unpassedChecks, whyUndone } from '../proof/check-state.ts'
import { standingsOf } from '../proof/standing.ts'
import { isBlank, isId } from '../model/text.ts'
import { approvalsOf, type ApprovalEnd } from '../model/tool-approval.ts'
import { checkedOf, isUnplanned, lastTurnOf, openOf, planById, planIdOf, planOf, type Plan } from '../model/plan.ts'
import type { Task } from '../model/task.ts'
import { ENDINGS, finalStatus, isFinished, isRunning, type Turn } from '../model/turn.ts'
import { missingRuns } from './requests.ts'
import { cancelReviewsOf } from './reviews.ts'
import { RUN_STOPPED, stopClaimsOf } from './proof.ts'
import { turnRunning } from './tasks.ts'
import { ListEditor } from './list-editor.ts'

type Fact = {
  readonly [T in RunFact['type']]: { readonly type: T; readonly data: Extract<RunFact, { type: T }>['data'] }
}[RunFact['type']]

export type TurnCommand =
  | {
      readonly type: 'set_policy'
      readonly by: 'person' | 'model'
      readonly policy: PolicyPatch
      readonly host?: PolicyPatch
    }
  | {
      /** A tool call of an agent elsewhere; opens its turn if it is new. */
      readonly type: 'open_turn'
      readonly turn_id: string
      /** The program that opens it and its folder, for people. */
      readonly client?: string | undefined
      /** The call creates a plan, so the turn joins none. */
      readonly plans?: boolean
      /** The call only reads, so the turn joins no plan. */
      readonly reads?: boolean
      readonly toolset?: ToolsetName | undefined
      readonly host?: PolicyPatch
      /** The workspace of a new turn, and the checks that run before its plan ends. */
      readonly workspace?: Workspace | undefined
      readonly done_checks?: readonly Check[] | undefined
    }
  | ({
      readonly type: 'start_turn'
      readonly turn_id: string
      readonly message_id: string
      readonly message: string
    } & TurnStart)
  | { readonly type: 'stop_turn'; readonly turn_id: string }
  | { readonly type: 'record'; readonly turn_id: string; readonly fact: Fact }

export const TURN_RULES: Rules<TurnCommand> = {
  set_policy: setPolicy,
  open_turn: openTurn,
  start_turn: startTurn,
  stop_turn: stopTurn,
  record,
}

function setPolicy(state: Conversation, command: CommandOf<'set_policy'>): NewEvent[] | Refusal {
  if (command.by === 'model') return new Refusal('persons_only', { action: 'set_policy' })
  if (state.running_turn !== null) return turnRunning(state.running_turn)
  const policy = policyWith(state.policy, command.host ?? {}, command.policy)
  if (policy instanceof Refusal) return policy
  if (state.policy && samePolicy(state.policy, policy)) return []
  return [{ type: 'policy_set', turn_id: null, data: { policy, by: command.by } }]
}

/**
 * Opens the turn of an agent elsewhere for a call. Unless the call creates a plan or only reads, an idle turn joins the
 * open one.
 */
function openTurn(state: Conversation, command: CommandOf<'open_turn'>, now: Instant): NewEvent[] | Refusal {
  const { turn_id, toolset, host = {}, plans = false, reads = false } = command
  if (!isId(turn_id)) return invalidId('turn_id')
  if (state.running_turn !== null) return turnRunning(state.running_turn)
  const turn = state.turns.get(turn_id)
  if (turn && turn.status !== 'open') return turnFinished(turn)
  if (turn?.stop_requested) return turnFinished({ ...turn, status: 'stopped' })
  const other = toolset === undefined ? undefined : toolsetMismatch(state, toolset, host)
  if (other) return other
  const policy = state.policy ?? policyWith(null, host, { toolset })
  if (policy instanceof Refusal) return policy
  const fixes: NewEvent[] = state.policy ? [] : [{ type: 'policy_set', turn_id, data: { policy, by: 'model' } }]
  const client = command.client === undefined ? {} : { client: command.client }
  const place = placeOf(command)
  const plan_id = turn?.plan_id ?? planOfNew(state, turn_id, policy.toolset)
  const data = { turn_id, plan_id, ...client, ...place }
  const opened: NewEvent[] = turn ? [] : [{ type: 'turn_opened', turn_id, data }]
  const mayJoin = TOOLSETS[policy.toolset].scope === 'conversation' && !captures(policy) && !plans && !reads
  if (!mayJoin || !isIdle(state, turn_id)) return [...fixes, ...opened]
  const joined = joining(state, turn_id)
  return withCurrent(state, [...fixes, ...opened, ...joined], joined.length > 0 ? [turn_id] : [], now)
}

/** A new turn begins a plan, or continues the plan of a conversation that has only one. */
const planOfNew = (state: Conversation, turnId: string, toolset: ToolsetName): string =>
  TOOLSETS[toolset].captures && state.latest_turn !== null ? planIdOf(state, state.latest_turn) : turnId

/**
 * An idle turn takes up open work: it joins the plan of the newest open task if it has no plan of its own, and that
 * plan takes over the open tasks of others.
 */
function joining(state: Conversation, turn_id: string): NewEvent[] {
  const open = openTasks(state)
  const [newest] = open.toSorted((a, b) => b.number - a.number)
  if (!newest) return []
  const own = planOf(state, turn_id)
  const plan_id = isUnplanned(own) ? newest.plan_id : own.id
  const others = open.filter(task => task.plan_id !== plan_id && !isHeldUp(state, task))
  return [joined(turn_id, plan_id, others)]
}

/** An open claim or run of the task needs the workspace of its current plan. */
const isHeldUp = (state: Conversation, { id }: Task): boolean =>
  claimOn(state, id) !== undefined || state.requests.some(({ task_id }) => task_id === id)

const joined = (turn_id: string, plan_id: string, tasks: readonly Task[]): NewEvent => ({
  type: 'plan_joined',
  turn_id,
  data: { turn_id, plan_id, task_ids: tasks.map(({ id }) => id) },
})

export function toolsetMismatch(
  { policy }: Conversation,
  toolset: ToolsetName,
  host: PolicyPatch = {},
): Refusal | undefined {
  const fixed = policy?.toolset ?? host.toolset
  if (fixed === undefined || fixed === toolset) return undefined
  return new Refusal('persons_only', { action: 'change_toolset', toolset: fixed })
}

export function startTurn(state: Conversation, command: CommandOf<'start_turn'>, now: Instant): NewEvent[] | Refusal {
  const { turn_id, message_id, message, model, endpoint, continue_turn_id } = command
  if (!isId(turn_id)) return invalidId('turn_id')
  if (!message.isWellFormed()) return invalidField('message', { rule: 'malformed_unicode' })
  if (isBlank(message)) return invalidField('message', { rule: 'empty' })
  if (state.turns.has(turn_id)) return new Refusal('turn_conflict', { turn_id })
  if (state.running_turn !== null) return turnRunning(state.running_turn)
  if (continue_turn_id !== undefined && !state.turns.has(continue_turn_id)) return turnNotFound(continue_turn_id)
  const policy = policyWith(state.policy, command.host ?? {}, command.policy ?? {})
  if (policy instanceof Refusal) return policy
  const plan_id =
    continue_turn_id === undefined ? planOfNew(state, turn_id, policy.toolset) : planIdOf(state, continue_turn_id)
  const sets = !state.policy || !samePolicy(state.policy, policy)
  const continued = continue_turn_id === undefined ? {} : { continue_turn_id }
  const place = { ...(endpoint === undefined ? {} : { endpoint }), ...placeOf(command) }
  const started: NewEvent[] = [
    ...(sets ? [{ type: 'policy_set' as const, turn_id, data: { policy, by: 'person' as const } }] : []),
    {
      type: 'turn_started',
      turn_id,
      data: { turn_id, plan_id, message_id, message, policy, model, ...continued, ...place },
    },
  ]
  const taken = continue_turn_id === undefined ? [] : takenOver(state, plan_id)
  const back = taken.length > 0 ? [joined(turn_id, plan_id, taken)] : []
  const others = taken.map(task => lastTurnOf(planById(state, task.plan_id)))
  return withCurrent(state, [...started, ...back], [turn_id, ...new Set(others)], now)
}

export function continueTurn(
  state: Conversation,
  { id, model, workspace }: Turn & { readonly model: string },
  message: Pick<CommandOf<'start_turn'>, 'turn_id' | 'message_id' | 'message'>,
  now: Instant,
): NewEvent[] | Refusal {
  const { done_checks } = planOf(state, id)
  return startTurn(state, { type: 'start_turn', ...message, model, continue_turn_id: id, workspace, done_checks }, now)
}

/** Requests a stop: an event, not a signal. It also cancels the turn's pending reviews. */
export function stopTurn(state: Conversation, command: CommandOf<'stop_turn'>, now: Instant): NewEvent[] | Refusal {
  const turn = state.turns.get(command.turn_id)
  if (!turn) return turnNotFound(command.turn_id)
  if (turn.stop_requested || isFinished(turn)) return []
  const { turn_id } = command
  return [{ type: 'turn_stop_requested', turn_id, data: { turn_id } }, ...endWaits(state, turn_id, now, RUN_STOPPED)]
}

function record(state: Conversation, command: CommandOf<'record'>): NewEvent[] | Refusal {
  const turn = unfinishedTurn(state, command.turn_id)
  if (turn instanceof Refusal) return turn
  return [{ ...command.fact, turn_id: command.turn_id }]
}

/** The only way to end a turn. Open tasks stay as they are. */
export function finishTurn(state: Conversation, command: CommandOf<'finish_turn'>, now: Instant): NewEvent[] | Refusal {
  const { turn_id, because, failure, steps, usage } = command
  const turn = unfinishedTurn(state, turn_id)
  if (turn instanceof Refusal) return turn
  if (!state.policy) return turnNotFound(turn_id)
  const plan = planOf(state, turn_id)
  const { counts } = plan
  const ending = ENDINGS[because]
  // For an agent elsewhere, the claim that left nothing open has run the checks.
  const isUnchecked = isRunning(turn) && missingRuns(state, turn_id, command.seen).length > 0
  const isUndone = checkedOf(state, plan).some(task => whyUndone(state, task) !== undefined)
  const isUnproven = isUndone || unpassedChecks(plan).length > 0 || awaitsFinal(state, turn_id) || isUnchecked
  const status = finalStatus(ending, counts, state.policy, givenUpIn(state, plan), isUnproven)
  const reason = failure ?? { code: 'failed', message: 'The turn failed.' }
  const failed: NewEvent[] = ending === 'failed' ? [{ type: 'turn_failed', turn_id, data: { turn_id, ...reason } }] : []
  const standings = standingsOf(state, listed(state, turn_id))
  const data = { turn_id, status, because, remaining: counts.open, counts, standings, steps, usage }
  return [...endWaits(state, turn_id, now, 'The turn ended.'), ...failed, { type: 'turn_finished', turn_id, data }]
}

const placeOf = ({
  workspace,
  done_checks,
}: CommandOf<'open_turn' | 'start_turn'>): Pick<Plan, 'workspace' | 'done_checks'> => ({
  ...(workspace === undefined ? {} : { workspace }),
  ...(done_checks?.length ? { done_checks } : {}),
})

const endWaits = (state: Conversation, turnId: string, now: Instant, reason: string): NewEvent[] => [
  ...cancelReviewsOf(state, turnId, now),
  ...denyApprovalsOf(state, turnId, reason === RUN_STOPPED ? 'stopped' : 'turn_ended'),
  ...stopClaimsOf(state, turnId, now, reason),
]

export const isIdle = (state: Conversation, turnId: string): boolean =>
  openTasks(state, turnId).length === 0 && !isParked(state, turnId)

/** The open tasks of a plan that an agent elsewhere has taken over and none of our turns has continued since. */
function takenOver(state: Conversation, planId: string): Task[] {
  return openTasks(state).filter(task => {
    const { plan_id, conversation_turn_id } = task
    if (plan_id === planId || planIdOf(state, conversation_turn_id) !== planId || isHeldUp(state, task)) return false
    return state.turns.get(lastTurnOf(planById(state, plan_id)))?.model === undefined
  })
}

function withCurrent(
  state: Conversation,
  events: readonly NewEvent[],
  turnIds: readonly string[],
  now: Instant,
): NewEvent[] {
  const after = stamped(state, events, now).reduce(apply, state)
  return [...events, ...turnIds.flatMap(turnId => oneCurrent(after, turnId, now))]
}

/** Keeps the first task in progress, or starts the first open one, in the same commit. */
function oneCurrent(state: Conversation, turnId: string, now: Instant): NewEvent[] {
  const open = openOf(state, planOf(state, turnId))
  const [first, ...others] = open.filter(task => task.status === 'in_progress')
  const editor = new ListEditor(state, now, 'system', turnId)
  if (!first && open[0] && !captures(state.policy)) editor.change(open[0].id, { status: 'in_progress' })
  for (const { id } of others) editor.change(id, { status: 'pending' })
  const events = editor.finish()
  return events instanceof Refusal ? [] : events
}

export function unfinishedTurn(state: Conversation, turnId: string): Turn | Refusal {
  const turn = state.turns.get(turnId)
  if (!turn) return turnNotFound(turnId)
  return isFinished(turn) ? turnFinished(turn) : turn
}

const turnNotFound = (turn_id: string): Refusal => new Refusal('turn_not_found', { turn_id })

export const turnFinished = ({ id, status }: Turn): Refusal => new Refusal('turn_finished', { turn_id: id, status })

const denyApprovalsOf = (state: Conversation, turnId: string, reason: ApprovalEnd): NewEvent[] =>
  approvalsOf(state, turnId).map(({ approval_id }) => ({
    type: 'tool_approval_resolved',
    turn_id: turnId,
    data: { approval_id, decision: 'deny', via: 'system', reason },
  }))
