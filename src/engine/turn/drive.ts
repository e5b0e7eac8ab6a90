import type { SeenWorkspace } from '../../core/model/command.ts'
import { currentTask, openTasks } from '../../core/model/conversation.ts'
import type { Redactor } from '../../core/text/redact.ts'
import { followedTasks } from '../../core/views/gate.ts'
import { awaitsBaseline, awaitsFinal, nextRun } from '../../core/proof/check-runs.ts'
import { hasFinalRuns } from '../../core/decide/requests.ts'
import { claimsOf } from '../../core/proof/claims.ts'
import { planIdOf, planOf } from '../../core/model/plan.ts'
import { isBlank } from '../../core/model/text.ts'
import type { SavedRules } from '../../core/model/tool-approval.ts'
import type { EndReason } from '../../core/model/turn.ts'
import { StoreError, type Door, type LiveEntry, type Ref } from '../door/door.ts'
import { promptFor, retryFor } from '../toolsets/guidance.ts'
import { digestOf } from '../toolsets/digest.ts'
import type { Toolset } from '../toolsets/toolset.ts'
import { askModel, toolsFor } from './ask.ts'
import { makeCall, offeredTools, settleOwn, toolsetOf } from './tool-calls.ts'
import { failureOf, type Failure } from './failure.ts'
import { UnknownModel, type Models } from './given-models.ts'
import { isLost, isStorage, type HeldLease } from '../worker/held-lease.ts'
import type { LiveText } from './live.ts'
import { nextMove, type Move } from './move.ts'
import type { OutsideLimits, OutsideTools } from '../worker/outside.ts'
import { ModelCallFailed, withRetries } from '../worker/retry.ts'
import { abortOnSilence, untilAborted } from '../worker/silence.ts'
import { lastStep, openInPlan, type Run } from './run.ts'
import { claimText } from '../worker/text-claims.ts'
import { ActiveTurn, isUnreadable } from './turn.ts'
import { seenIn, type Workspaces } from '../worker/workspaces.ts'
import { ASSISTANT, finalMessage, followUpText } from './messages.ts'

export interface TurnOptions {
  readonly door: Door
  readonly models: Models
  readonly outside?: OutsideTools
  readonly limits?: OutsideLimits
  /** A person's rules for MCP tools. Default: none. */
  readonly rules?: () => SavedRules
  readonly instructions?: string | undefined
  /** Also drives turns in these workspaces. */
  readonly workspaces?: Workspaces | undefined
  /** Default: recognizes secrets by their shapes only. */
  readonly redact?: Redactor
  readonly onText?: (ref: Ref, entry: LiveEntry) => void
  /** Receives the cause of a failure that ends a turn. */
  readonly onError?: ((error: unknown) => void) | undefined
  readonly retryMs?: number
  readonly silenceMs?: number | undefined
}

type Defaulted = 'outside' | 'limits' | 'rules' | 'redact' | 'retryMs'

export interface TurnDeps extends Omit<TurnOptions, Defaulted>, Required<Pick<TurnOptions, Defaulted>> {
  readonly live: LiveText
  /** No process has the workspace, so the turn continues without its checks. */
  readonly isUnserved?: boolean
}

/** `stop`: a person stopped the turn. `leave`: this process no longer owns it. */
export interface Signals {
  readonly stop: AbortSignal
  readonly leave: AbortSignal
}

type MoveOf<T extends Move['type']> = Extract<Move, { type: T }>

const SILENCE_MS = 120_000

/**
 * Drives a turn, one stored move at a time, until it is over or waits for a person. Each move follows from the log
 * alone, so another process can continue after a crash.
 */
export async function drive(held: HeldLease, deps: TurnDeps, signals: Signals): Promise<void> {
  const turn = await ActiveTurn.open(deps.door, held)
  if (!turn) return
  // A process that died may have left its live text behind.
  await deps.live.clear(turn.lease)
  const either = AbortSignal.any([signals.stop, signals.leave])
  for (;;) {
    const { seq } = turn.run.state
    const move = nextMove(turn.run)
    try {
      switch (move.type) {
        case 'park':
          return deps.isUnserved ? await endWait(turn, deps, either) : undefined
        case 'finish': {
          const seen = move.because === 'answered' ? await look(turn, deps) : undefined
          // Stale checks run first; then the next move may differ.
          if (move.because === 'answered' && (await recheck(turn, deps, seen))) break
          return await finish(turn, deps, move.because, { seen })
        }
        case 'ask':
          await ask(turn, deps, move, either)
          break
        case 'deliver':
          await deps.door.run(turn.at(`deliver:${move.first}`), { type: 'deliver_queued', turn_id: turn.run.turn })
          break
        case 'call':
          await makeCall(turn, deps, move.step, move.call, either)
          break
        case 'judge':
          await claimText(turn, deps, move)
          break
        case 'settle':
          await settleOwn(turn, deps, move, either)
          break
        case 'follow':
          // A failed check of the whole plan may pass by now.
          if (openInPlan(turn.run).length > 0 || !(await recheck(turn, deps, await look(turn, deps))))
            await follow(turn, deps, move)
          break
      }
      await turn.catchUp()
    } catch (error) {
      if (signals.leave.aborted || isLost(error)) return
      if (isUnreadable(error)) {
        deps.onError?.(error)
        return await finish(turn, deps, 'error', { failure: unreadable(error) })
      }
      if (error instanceof ModelCallFailed) return await finish(turn, deps, 'error', { failure: error.failure })
      // The turn was started with a model that is no longer configured.
      if (error instanceof UnknownModel)
        return await finish(turn, deps, 'error', { failure: failureOf(error, deps.redact) })
      const isEnding = move.type === 'finish'
      // After a stop the next move ends the turn; an end that cannot be written waits for the store.
      const isStopped = signals.stop.aborted && !isEnding
      if (!isStopped && isStorage(error)) throw error
      await turn.catchUp()
      // If the log moved, the next move may differ; otherwise the same error would recur.
      if (isStopped || turn.run.state.seq > seq) continue
      if (isEnding) throw error
      await finish(turn, deps, 'error', { failure: INTERNAL })
      throw error
    }
  }
}

/** Asks the model, and stores the step before acting on it. */
async function ask(turn: ActiveTurn, deps: TurnDeps, move: MoveOf<'ask'>, signal: AbortSignal): Promise<void> {
  const { run } = turn
  const number = run.steps.length + 1
  const current = currentTask(run.state, run.turn)
  const toolset = toolsetOf(run, deps)
  const message_id = deps.door.newId()
  const outside = move.isLast
    ? []
    : offeredTools(await untilAborted(deps.outside.list(run.request.model), signal), deps)
  const instructions = [
    deps.instructions ?? ASSISTANT,
    move.isLast ? '' : promptFor(toolset, { isRun: true }),
    digestOf({ state: run.state, turnId: run.turn, request: run.request.message }),
    retryGuidance(run, toolset),
    move.isLast ? 'This is the last call of this turn: answer now, and say what is not done.' : '',
  ]
  const question = {
    model: await deps.models.named(run.request.model, run.request.endpoint),
    instructions: instructions.filter(text => text !== '').join('\n\n'),
    messages: turn.history,
    tools: move.isLast ? {} : toolsFor(toolset, outside),
    signal,
    onText: (text: string) => deps.live.show(turn.lease, { turn_id: run.turn, message_id, text }),
    usedIds: new Set(run.steps.flatMap(({ calls }) => calls.map(({ id }) => id))),
  }
  const { text, cut, calls, parts, usage } = await withRetries(
    () =>
      abortOnSilence(deps.silenceMs ?? SILENCE_MS, signal, (callSignal, heard) =>
        askModel({ ...question, signal: callSignal, heard }),
      ),
    { backoffMs: deps.retryMs, signal, before: () => turn.confirmLease(signal), redact: deps.redact },
  )
  const data = {
    step: number,
    message_id,
    text,
    ...cut,
    tool_calls: calls,
    usage,
    digest_seq: run.state.seq,
    budget: move.budget,
    parts,
    ...(current ? { task_id: current.id } : {}),
  }
  await deps.live.done(turn.lease)
  await deps.door.run(turn.at(`step:${number}`), turn.fact({ type: 'step_finished', data }))
}

function retryGuidance(run: Run, toolset: Toolset): string {
  const planner = toolset.tools.find(({ created }) => created)?.name
  const refused = lastStep(run)?.calls.some(({ tool, answer }) => tool === planner && answer?.ok === false)
  const hasReview = lastStep(run)?.calls.some(({ review }) => review)
  return refused && !hasReview ? retryFor(toolset, { state: run.state, turnId: run.turn }) : ''
}

/** The gate: sends the model back to the open tasks. */
async function follow(turn: ActiveTurn, { door }: TurnDeps, { followUp }: MoveOf<'follow'>): Promise<void> {
  const { run } = turn
  const open = followedTasks(openTasks(run.state, run.turn))
  const text = followUpText(run)
  await door.run(
    turn.at(`gate:${run.steps.length}`),
    turn.fact({ type: 'gate_followed', data: { follow_up: followUp, open } }),
    turn.fact({ type: 'message_added', data: { message_id: door.newId(), role: 'user', text, synthetic: true } }),
  )
}

async function look({ run: { state, turn } }: ActiveTurn, deps: TurnDeps): Promise<SeenWorkspace | undefined> {
  const plan = planOf(state, turn)
  return hasFinalRuns(state, plan) ? seenIn(deps.workspaces, plan, state) : undefined
}

/** Requests reruns of stale checks, in whichever process has the workspace; returns whether there are any. */
async function recheck(turn: ActiveTurn, { door }: TurnDeps, seen: SeenWorkspace = {}): Promise<boolean> {
  const { state, turn: turn_id, steps } = turn.run
  const plan = planOf(state, turn_id)
  if (!hasFinalRuns(state, plan)) return false
  const key = `recheck:${steps.length}:${plan.passes}`
  const { events } = await door.run(turn.at(key), { type: 'request_final', turn_id, ...seen })
  return events.length > 0
}

/** Continues without the unserved checks: claims are refused, and a plan with final runs ends unchecked. */
async function endWait(turn: ActiveTurn, deps: TurnDeps, signal: AbortSignal): Promise<void> {
  const { run } = turn
  const step = lastStep(run)
  const [claim] = claimsOf(run.state, run.turn)
  if (step && claim) return settleOwn(turn, deps, { type: 'settle', step, claim }, signal)
  if (awaitsBaseline(run.state, run.turn)) return endBaselines(turn, deps)
  if (awaitsFinal(run.state, run.turn)) await finish(turn, deps, 'unchecked')
}

/** Ends the runs at confirmation as inconclusive: their checks only guard. */
async function endBaselines({ run, lease }: ActiveTurn, { door }: TurnDeps): Promise<void> {
  await door.transact({ ...lease, lease }, transaction => {
    for (;;) {
      const next = nextRun(transaction.state, run.turn)
      if (next?.why !== 'baseline') return
      const { turn_id, task_id, check } = next
      if (task_id === undefined) {
        const plan_id = planIdOf(transaction.state, turn_id)
        transaction.mustRun({ type: 'take_baseline', turn_id, plan_id, record: null })
        continue
      }
      const ids = { turn_id, run_id: `run_${door.newId()}`, hash: check.hash }
      const outcome = { result: 'inconclusive', duration_ms: 0, reason: UNSERVED, record: null } as const
      transaction.mustRun({ type: 'start_check', ...ids, why: 'baseline' })
      transaction.mustRun({ type: 'end_check', ...ids, outcome })
    }
  })
}

const UNSERVED = 'No process with its workspace was running.'

/** The only way a turn ends: the final message and the status, in one commit. */
async function finish(
  turn: ActiveTurn,
  deps: TurnDeps,
  because: EndReason,
  { failure, seen }: { readonly failure?: Failure; readonly seen?: SeenWorkspace | undefined } = {},
): Promise<void> {
  const { run } = turn
  const step = lastStep(run)
  const isAnswer = step !== undefined && step.calls.length === 0 && !run.hasNewInput
  const unfinished = because === 'stopped' ? deps.live.textOf(turn.lease) : ''
  const said = isAnswer ? step.text : unfinished
  const answer = isBlank(said) ? '' : said.trim()
  const text = finalMessage(run, because, answer, failure?.message)
  // The step's text may end with a note that it was cut.
  const own = isAnswer && answer !== '' ? said.slice(0, step.answer_length).trim() : answer
  const written = own === text ? {} : { answer_length: own.length }
  const message_id = isAnswer ? step.message_id : deps.door.newId()
  const why = failure ?? (because === 'empty' ? EMPTY : undefined)
  await deps.door.run(
    turn.at('end'),
    turn.fact({ type: 'message_added', data: { message_id, role: 'assistant', text, ...written } }),
    {
      type: 'finish_turn',
      turn_id: run.turn,
      because,
      ...(why ? { failure: { code: why.code, message: why.message } } : {}),
      steps: run.steps.length,
      usage: run.usage,
      seen,
      next: { turn_id: deps.door.newId() },
    },
  )
  await deps.live.done(turn.lease)
}

const unreadable = ({ code, file }: StoreError): Failure => ({
  code,
  message: `The task file${file ? ` ${file}` : ''} is corrupt or invalid. Repair it, then continue.`,
  isRetryable: false,
})

const INTERNAL: Failure = {
  code: 'internal_error',
  message: 'The server failed unexpectedly. Its log has the details.',
  isRetryable: false,
}
const EMPTY = { code: 'empty_answer', message: 'The model gave no answer.' } as const
