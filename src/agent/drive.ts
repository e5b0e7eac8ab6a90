import { currentTask, openTasks } from '../domain/conversation.ts'
import type { Task } from '../domain/task.ts'
import type { Opinion } from '../toolsets/claims.ts'
import { type Runsheet, StoreError } from '../runsheet.ts'
import type { Lease } from '../runsheet.ts'
import { promptFor } from '../toolsets/guidance.ts'
import { toolsets } from '../toolsets/index.ts'
import type { ObservedCall } from '../toolsets/observe.ts'
import { todosOf } from '../toolsets/todos.ts'
import { planTurnOf, tasksInView } from '../domain/conversation.ts'
import { askModel, toolsFor } from './ask.ts'
import { judge } from './assessor.ts'
import { callTool } from './calls.ts'
import { digestOf } from './digest.ts'
import { type Failure, failureOf, UnknownModel } from './failure.ts'
import type { LiveText } from './live.ts'
import type { Models } from './models.ts'
import { type Because, type Move, nextMove } from './move.ts'
import type { OutsideLimits, OutsideTools } from './outside.ts'
import { Failed, patiently, unlessAborted, unlessSilent } from './patience.ts'
import { lastStep } from './run.ts'
import { ActiveTurn } from './turn.ts'
import { ASSISTANT, followUpText, lastWords } from './words.ts'

export interface Circumstances {
  readonly runsheet: Runsheet
  readonly models: Models
  readonly outside: OutsideTools
  readonly limits: OutsideLimits
  readonly instructions?: string | undefined
  readonly observe?: ((call: ObservedCall) => void) | undefined
  readonly live: LiveText
  /** The first pause before a provider is asked again. */
  readonly retryMs: number
  /** How long a model may say nothing. */
  readonly silenceMs?: number | undefined
}

/** Ends when the turn is stopped, or when it is not ours any more. */
export interface Signals {
  readonly stop: AbortSignal
  readonly leave: AbortSignal
}

type MoveOf<T extends Move['type']> = Extract<Move, { type: T }>

/** A model that says nothing for so long is not there. */
const SILENCE_MS = 120_000

/**
 * Drives a turn, one stored move at a time, until it is over or waits for a person. Each move is decided by the log
 * alone: whoever takes the turn up after a crash goes on where this one was.
 */
export async function drive(lease: Lease, with_: Circumstances, signals: Signals): Promise<void> {
  const turn = await ActiveTurn.open(with_.runsheet, lease)
  if (!turn) return
  // What a process that died was writing is nobody's text any more.
  await with_.live.clear(lease)
  const either = AbortSignal.any([signals.stop, signals.leave])
  for (;;) {
    const { seq } = turn.run.state
    const move = nextMove(turn.run)
    try {
      switch (move.type) {
        case 'park':
          return
        case 'finish':
          return await finish(turn, with_, move.ending, move.because)
        case 'ask':
          await ask(turn, with_, move, either)
          break
        case 'call':
          await callTool(turn, with_, move.step, move.call, either)
          break
        case 'judge':
          await assess(turn, with_, move, either)
          break
        case 'follow':
          await follow(turn, with_, move)
          break
      }
    } catch (error) {
      if (signals.leave.aborted || isLost(error)) return
      if (error instanceof Failed) return await finish(turn, with_, 'failed', 'error', error.failure)
      // The turn was begun with a model that is not there any more.
      if (error instanceof UnknownModel) return await finish(turn, with_, 'failed', 'error', failureOf(error))
      const isEnding = move.type === 'finish'
      // A stop is in the log, and the next move ends the turn; but an end that cannot be written waits for the store.
      const isStopped = signals.stop.aborted && !isEnding
      if (!isStopped && isStorage(error)) throw error
      await turn.catchUp()
      // Somebody came between, and the log says what to do now; otherwise it would only happen again.
      if (isStopped || turn.run.state.seq > seq) continue
      if (isEnding) throw error
      await finish(turn, with_, 'failed', 'error', INTERNAL)
      throw error
    }
    await turn.catchUp()
  }
}

/** Asks the model, and stores what it said before anything is done about it. */
async function ask(turn: ActiveTurn, with_: Circumstances, move: MoveOf<'ask'>, signal: AbortSignal): Promise<void> {
  const { run } = turn
  const number = run.steps.length + 1
  const current = currentTask(run.state, run.turn)
  const toolset = toolsets[run.policy.toolset]
  const message_id = with_.runsheet.newId()
  const outside = move.isLast ? [] : await unlessAborted(with_.outside.list(), signal)
  const instructions = [
    with_.instructions ?? ASSISTANT,
    move.isLast ? '' : promptFor(toolset),
    digestOf(run),
    move.isLast ? 'This is the last call of this turn: give your answer now, and say what is not done.' : '',
  ]
  const question = {
    model: with_.models.named(run.request.model),
    instructions: instructions.filter(text => text !== '').join('\n\n'),
    messages: turn.history,
    tools: move.isLast ? {} : toolsFor(toolset, outside),
    signal,
    onText: (text: string) => with_.live.show(turn.lease, { turn_id: run.turn, message_id, text }),
    usedIds: new Set(run.steps.flatMap(({ calls }) => calls.map(({ id }) => id))),
  }
  const { text, calls, parts, usage } = await patiently(
    () =>
      unlessSilent(with_.silenceMs ?? SILENCE_MS, signal, (heeded, heard) =>
        askModel({ ...question, signal: heeded, heard }),
      ),
    with_.retryMs,
    signal,
  )
  const data = {
    step: number,
    message_id,
    text,
    tool_calls: calls,
    usage,
    digest_seq: run.state.seq,
    budget: move.budget,
    parts,
    ...(current ? { task_id: current.id } : {}),
  }
  await with_.live.done(turn.lease)
  await with_.runsheet.run(turn.at(`step:${number}`), turn.fact({ type: 'step_finished', data }))
}

/** `manage_todos`: the text is judged as the claim for the current task, and the next one is taken up. */
async function assess(
  turn: ActiveTurn,
  with_: Circumstances,
  move: MoveOf<'judge'>,
  signal: AbortSignal,
): Promise<void> {
  const { run } = turn
  const task = move.task === undefined ? undefined : run.state.tasks.get(move.task)
  const opinions = task ? await opinionsOn(turn, with_, task, move.step.text, signal) : []
  const { newId } = with_.runsheet
  await with_.runsheet.transact(turn.at(`judge:${move.step.number}`), transaction => {
    for (const opinion of opinions) {
      // Where a person has taken the task away meanwhile there is nothing left to judge.
      transaction.run({
        type: 'assess_task',
        turn_id: run.turn,
        task: task?.id ?? '',
        ...opinion,
        claim: { status: 'completed', outcome: cutOutcome(move.step.text) },
        basis: move.step.digest_seq,
      })
    }
    const last = opinions.at(-1)
    if (last?.verdict === 'unknown') return null
    const say = (text: string) =>
      transaction.mustRun(
        turn.fact({ type: 'message_added', data: { message_id: newId(), role: 'user', text, synthetic: true } }),
      )
    const { state } = transaction
    const next = currentTask(state, run.turn)
    if (next && next.id === task?.id) {
      const reason = (last?.reason || 'a person changed it meanwhile').replace(/\.$/, '')
      say(`That step is not done yet: ${reason}. Go on with it: ${next.title}`)
      return null
    }
    if (!next) return null
    const todos = todosOf(tasksInView(state), run.turn, each => planTurnOf(state, each))
    if (run.advances >= run.policy.max_advances) {
      const remaining = openTasks(state, run.turn).length
      const message = `The limit of ${run.policy.max_advances} steps in a row is reached; ${remaining} remain.`
      transaction.mustRun(
        turn.fact({ type: 'todos_limit_reached', data: { message, remaining, current: todos.current } }),
      )
      return null
    }
    const data = {
      next: next.title,
      state: todos,
      iteration: run.advances + 1,
      max_iterations: run.policy.max_advances,
    }
    transaction.mustRun(turn.fact({ type: 'todos_resubmitting', data }))
    say(`NEXT_TODO: ${next.title}`)
    return null
  })
}

async function opinionsOn(
  turn: ActiveTurn,
  with_: Circumstances,
  { id, title, details, criteria }: Task,
  text: string,
  signal: AbortSignal,
): Promise<readonly Opinion[]> {
  const { run } = turn
  const assessor = { ...with_.models.assessorFor(run.request.model), retryMs: with_.retryMs }
  const claim = { task: id, title, details, criteria, status: 'completed', outcome: text } as const
  return (await judge(assessor, claim, run, text, signal, turn.before)).opinions
}

/** The gate: what is open, and to go on. */
async function follow(turn: ActiveTurn, { runsheet }: Circumstances, { followUp }: MoveOf<'follow'>): Promise<void> {
  const { run } = turn
  const open = openTasks(run.state, run.turn).map(({ number, title }) => ({ id: number, title }))
  const text = followUpText(run)
  await runsheet.run(
    turn.at(`gate:${run.steps.length}`),
    turn.fact({ type: 'gate_followed', data: { follow_up: followUp, open } }),
    turn.fact({ type: 'message_added', data: { message_id: runsheet.newId(), role: 'user', text, synthetic: true } }),
  )
}

/** The one way out: the last message, and what the turn amounts to. */
async function finish(
  turn: ActiveTurn,
  with_: Circumstances,
  ending: MoveOf<'finish'>['ending'],
  because: Because,
  failure?: Failure,
): Promise<void> {
  const { run } = turn
  const step = lastStep(run)
  const isAnswer = step !== undefined && step.calls.length === 0 && !run.isAsked
  const unfinished = because === 'stopped' ? with_.live.textOf(turn.lease) : ''
  const text = lastWords(run, because, isAnswer ? step.text : unfinished, failure?.message)
  const message_id = isAnswer ? step.message_id : with_.runsheet.newId()
  const why = failure ?? (because === 'empty' ? EMPTY : undefined)
  await with_.runsheet.run(
    turn.at('end'),
    turn.fact({ type: 'message_added', data: { message_id, role: 'assistant', text } }),
    {
      type: 'finish_turn',
      turn_id: run.turn,
      ending,
      ...(why ? { failure: { code: why.code, message: why.message } } : {}),
      steps: run.steps.length,
      usage: run.usage,
    },
  )
  await with_.live.done(turn.lease)
}

const INTERNAL: Failure = {
  code: 'internal_error',
  message: 'Something went wrong in the server itself; its log says what.',
  again: false,
}
const EMPTY = { code: 'empty_answer', message: 'The model gave no answer.' } as const

/** Somebody else drives it, or it is over already. */
const isLost = (error: unknown): boolean => error instanceof StoreError && error.code === 'fenced'

/** A failure that is over by itself, or once somebody has mended the store: the turn waits for that. */
const isStorage = (error: unknown): boolean =>
  error instanceof StoreError && error.code !== 'key_conflict' && error.code !== 'id_taken'

const cutOutcome = (text: string): string => Array.from(text).slice(0, 8_000).join('')
