import { type Conversation, openTasks, planTurnOf } from '../domain/conversation.ts'
import type { Json, StoredEvent, ToolCallRecord, Usage } from '../domain/event.ts'
import type { Policy } from '../domain/policy.ts'
import { isOpen, type Task } from '../domain/task.ts'

/** A tool call of a step, and how far it has got. */
export interface Call {
  readonly id: string
  readonly tool: string
  readonly arguments: Json
  /** What could not be made of it: the model is told. */
  readonly problem?: string
  /** It was written down that it is being made. */
  readonly called: boolean
  readonly answer?: { readonly result: Json; readonly ok: boolean }
  /** The review that it waits for, or waited for. */
  readonly review?: { readonly id: string; readonly decided: boolean }
}

/** One call of the model, as it is stored. */
export interface Step {
  readonly number: number
  readonly message_id: string
  readonly text: string
  readonly calls: readonly Call[]
  readonly digest_seq: number
  /** The task that was current when the model was asked: what its text is about. */
  readonly task?: string
}

/** A turn as its log tells it: everything that the next move depends on. Nothing of a run is kept anywhere else. */
export interface Run {
  readonly turn: string
  readonly state: Conversation
  readonly policy: Policy
  readonly request: {
    readonly message: string
    readonly message_id: string
    readonly model: string
    readonly continues?: string
  }
  readonly steps: readonly Step[]
  /** Whether something was said to the model since its last step. */
  readonly isAsked: boolean
  readonly budget: number
  /** Follow-ups of the gate since a task was settled last. */
  readonly followUps: number
  readonly advances: number
  readonly hasReachedLimit: boolean
  /** The task that the assessor could not make up its mind about. */
  readonly unjudged: string | undefined
  readonly usage: Usage
}

/** What there is of a turn before its first step. */
export function begun(state: Conversation, turn: string, started: StoredEvent): Run {
  if (started.type !== 'turn_started') throw new TypeError('a run begins with its turn')
  const { message, message_id, model, policy, continue_turn_id } = started.data
  return {
    turn,
    state,
    policy,
    request: { message, message_id, model, ...(continue_turn_id === undefined ? {} : { continues: continue_turn_id }) },
    steps: [],
    isAsked: true,
    budget: policy.max_steps,
    followUps: 0,
    advances: 0,
    hasReachedLimit: false,
    unjudged: undefined,
    usage: {},
  }
}

/** The run after more of its log. */
export const went = (run: Run, state: Conversation, events: readonly StoredEvent[]): Run => ({
  ...events.reduce(wentOn, run),
  state,
})

export const openInPlan = ({ state, turn }: Run): Task[] => openTasks(state, turn)

export const lastStep = ({ steps }: Run): Step | undefined => steps.at(-1)

function wentOn(run: Run, event: StoredEvent): Run {
  if (event.turn_id !== run.turn) return run
  switch (event.type) {
    case 'step_finished': {
      const { step, message_id, text, tool_calls, digest_seq, budget = run.budget, usage, task_id } = event.data
      const calls = tool_calls.map(callOf)
      const about = task_id === undefined ? {} : { task: task_id }
      const finished: Step = { number: step, message_id, text, calls, digest_seq, ...about }
      return { ...run, steps: [...run.steps, finished], isAsked: false, budget, usage: added(run.usage, usage) }
    }
    case 'tool_called':
      return withCall(run, event.data.tool_call_id, () => ({ called: true }))
    case 'tool_answered': {
      const { result, ok } = event.data
      return { ...withCall(run, event.data.tool_call_id, () => ({ answer: { result, ok } })), isAsked: true }
    }
    case 'task_create_review_required': {
      const review = { id: event.data.review_id, decided: false }
      return withCall(run, event.data.tool_call_id, () => ({ called: true, review }))
    }
    case 'task_create_review_resolved': {
      const { review_id: id } = event.data
      const review = { id, decided: true }
      return {
        ...run,
        steps: run.steps.map(step => ({
          ...step,
          calls: step.calls.map(call => (call.review?.id === id ? { ...call, review } : call)),
        })),
      }
    }
    case 'message_added':
      return event.data.role === 'user' ? { ...run, isAsked: true } : run
    case 'gate_followed':
      return { ...run, followUps: run.followUps + 1 }
    case 'todos_resubmitting':
      return { ...run, advances: run.advances + 1 }
    case 'todos_limit_reached':
      return { ...run, hasReachedLimit: true }
    case 'task_changed':
      return isSettling(run, event.data.task, event.data.from) ? { ...run, followUps: 0 } : run
    case 'task_assessed': {
      const { verdict, task_id, usage } = event.data
      // A clear word about another task does not make up for the one that is missing.
      const before = run.unjudged === task_id ? undefined : run.unjudged
      return { ...run, unjudged: verdict === 'unknown' ? task_id : before, usage: added(run.usage, usage ?? {}) }
    }
    default:
      return run
  }
}

function callOf({ tool_call_id: id, tool, arguments: args, problem }: ToolCallRecord): Call {
  return { id, tool, arguments: args, called: false, ...(problem === undefined ? {} : { problem }) }
}

function withCall(run: Run, id: string, change: (call: Call) => Partial<Call>): Run {
  const steps = run.steps.map(step => ({
    ...step,
    calls: step.calls.map(call => (call.id === id ? { ...call, ...change(call) } : call)),
  }))
  return { ...run, steps }
}

function isSettling({ state, turn }: Run, task: Task, from: { readonly [field: string]: Json }): boolean {
  const before = from['status'] as Task['status'] | undefined
  return before !== undefined && isOpen({ status: before }) && !isOpen(task) && planTurnOf(state, task) === turn
}

/** Numbers of the same name, summed. */
export function added(a: Usage, b: Usage): Usage {
  const sum: Record<string, Json> = { ...a }
  for (const [name, value] of Object.entries(b)) {
    const before = sum[name]
    if (typeof value === 'number') sum[name] = (typeof before === 'number' ? before : 0) + value
  }
  return sum
}
