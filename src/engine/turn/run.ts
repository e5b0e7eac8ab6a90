import { type Conversation, openTasks } from '../../core/model/conversation.ts'
import type { EventData, Json, StoredEvent, ToolCallRecord, Usage } from '../../core/model/event.ts'
import { defined } from '../../core/model/defined.ts'
import { settles } from '../../core/views/gate.ts'
import type { Policy } from '../../core/model/policy.ts'
import type { ApprovalDecision } from '../../core/model/tool-approval.ts'
import type { Task } from '../../core/model/task.ts'

export interface Call {
  readonly id: string
  readonly tool: string
  readonly arguments: Json
  /** Why the call cannot be made; the model is told. */
  readonly problem?: string
  /** Its `tool_called` event is in the log, so it may have run. */
  readonly called: boolean
  readonly answer?: { readonly result: Json; readonly ok: boolean }
  /** The review that it waits or waited for. */
  readonly review?: { readonly id: string; readonly decided: boolean }
  /** A person's latest approval request for the call, and their answer. */
  readonly approval?: CallApproval
}

export interface CallApproval {
  readonly id: string
  /** Of the tool as it was shown. */
  readonly fingerprint?: string
  readonly decision?: ApprovalDecision
  readonly comment?: string
}

export interface Step {
  readonly number: number
  readonly message_id: string
  readonly text: string
  /** How much of a cut text the model wrote itself. */
  readonly answer_length?: number
  readonly calls: readonly Call[]
  readonly digest_seq: number
  /** The current task when the model was asked; its text is about that. */
  readonly task?: string
}

/** A turn folded from its log: all that the next move depends on. */
export interface Run {
  readonly turn: string
  readonly state: Conversation
  readonly policy: Policy
  readonly request: {
    /** Everything that a person asked for in this turn. */
    readonly message: string
    readonly message_id: string
    readonly model: string
    /** Where the model was reached when the turn began. */
    readonly endpoint?: string
  }
  readonly steps: readonly Step[]
  /** A message or a tool answer arrived since the last step. */
  readonly hasNewInput: boolean
  readonly budget: number
  /** Follow-ups of the gate since the last task was settled. */
  readonly followUps: number
  readonly advances: number
  readonly hasReachedLimit: boolean
  /** The task without a clear verdict. */
  readonly unjudged: string | undefined
  readonly verdicts: number
  /** Consecutive. */
  readonly judgeFailures: number
  /** Consecutive plans that a person rejected, without progress since. */
  readonly refusals: number
  /** A completed task counts as progress once, because a model may reopen it. */
  readonly completed: ReadonlySet<string>
  readonly usage: Usage
}

export function startRun(state: Conversation, turn: string, started: StoredEvent): Run {
  if (started.type !== 'turn_started') throw new TypeError('A run must start with its turn_started event.')
  const { message, message_id, model, endpoint, policy } = started.data
  return {
    turn,
    state,
    policy,
    request: { message, message_id, model, ...defined({ endpoint }) },
    steps: [],
    hasNewInput: true,
    budget: policy.max_steps,
    followUps: 0,
    advances: 0,
    hasReachedLimit: false,
    unjudged: undefined,
    verdicts: 0,
    judgeFailures: 0,
    refusals: 0,
    completed: new Set(),
    usage: {},
  }
}

export const advanceRun = (run: Run, state: Conversation, events: readonly StoredEvent[]): Run => ({
  ...events.reduce(applyEvent, run),
  state,
})

export const openInPlan = ({ state, turn }: Pick<Run, 'state' | 'turn'>): Task[] => openTasks(state, turn)

export const lastStep = ({ steps }: Run): Step | undefined => steps.at(-1)

function applyEvent(run: Run, event: StoredEvent): Run {
  if (event.turn_id !== run.turn) return run
  switch (event.type) {
    case 'step_finished': {
      const { step, message_id, text, tool_calls, digest_seq, budget = run.budget, usage } = event.data
      const { task_id, answer_length } = event.data
      const calls = tool_calls.map(callOf)
      const known = defined({ answer_length, task: task_id })
      const finished: Step = { number: step, message_id, text, calls, digest_seq, ...known }
      return { ...run, steps: [...run.steps, finished], hasNewInput: false, budget, usage: sumUsage(run.usage, usage) }
    }
    case 'tool_called':
      return withCall(run, event.data.tool_call_id, () => ({ called: true }))
    case 'tool_answered': {
      const { result, ok } = event.data
      return { ...withCall(run, event.data.tool_call_id, () => ({ answer: { result, ok } })), hasNewInput: true }
    }
    case 'task_create_review_required': {
      const review = { id: event.data.review_id, decided: false }
      return withCall(run, event.data.tool_call_id, () => ({ called: true, review }))
    }
    case 'task_create_review_resolved': {
      const { review_id: id } = event.data
      const decided = withCalls(run, ({ review }) => (review?.id === id ? { review: { id, decided: true } } : {}))
      return { ...decided, refusals: refusalsAfter(run, event.data) }
    }
    case 'tool_approval_required': {
      const { approval_id: id, fingerprint } = event.data
      const approval = { id, ...defined({ fingerprint }) }
      return withCall(run, event.data.tool_call_id, () => ({ approval }))
    }
    case 'tool_approval_resolved':
      return withDecision(run, event.data)
    case 'message_added':
      return event.data.role === 'user' ? withMessage(run, event.data) : run
    case 'gate_followed':
      return { ...run, followUps: run.followUps + 1 }
    case 'todos_resubmitting':
      return { ...run, advances: run.advances + 1 }
    case 'todos_limit_reached':
      return { ...run, hasReachedLimit: true }
    case 'task_changed':
      return afterChange(run, event.data)
    case 'task_assessed': {
      const { verdict, task_id, usage } = event.data
      // A verdict on another task does not replace the missing one.
      const before = run.unjudged === task_id ? undefined : run.unjudged
      return {
        ...run,
        unjudged: verdict === 'unknown' ? task_id : before,
        verdicts: run.verdicts + 1,
        judgeFailures: isJudgeFailure(event.data) ? run.judgeFailures + 1 : 0,
        usage: sumUsage(run.usage, usage ?? {}),
      }
    }
    default:
      return run
  }
}

/** Whether the judge failed or hung: a real answer has usage. */
export const isJudgeFailure = ({ verdict, usage }: Pick<EventData['task_assessed'], 'verdict' | 'usage'>): boolean =>
  verdict === 'unknown' && usage === undefined

/** A cancel by the system is not a rejection. */
function refusalsAfter({ refusals }: Run, resolved: EventData['task_create_review_resolved']): number {
  const { action, reason, via } = resolved
  if (action === 'confirm' || reason === 'changes_requested') return 0
  return via === 'system' || reason === 'superseded' ? refusals : refusals + 1
}

function callOf({ tool_call_id: id, tool, arguments: args, problem }: ToolCallRecord): Call {
  return { id, tool, arguments: args, called: false, ...defined({ problem }) }
}

/** A person's message resets the counts that end a turn without progress. */
function withMessage(run: Run, { text, synthetic }: EventData['message_added']): Run {
  if (synthetic) return { ...run, hasNewInput: true }
  const request = { ...run.request, message: `${run.request.message}\n\n${text}` }
  return { ...run, request, hasNewInput: true, followUps: 0, refusals: 0 }
}

function withCall(run: Run, id: string, change: (call: Call) => Partial<Call>): Run {
  return withCalls(run, call => (call.id === id ? change(call) : {}))
}

function withDecision(run: Run, { approval_id: id, decision, comment }: EventData['tool_approval_resolved']): Run {
  const said = { decision, ...defined({ comment }) }
  return withCalls(run, ({ approval }) => (approval?.id === id ? { approval: { ...approval, ...said } } : {}))
}

const withCalls = (run: Run, change: (call: Call) => Partial<Call>): Run => ({
  ...run,
  steps: run.steps.map(step => ({ ...step, calls: step.calls.map(call => ({ ...call, ...change(call) })) })),
})

/** Whether a person chose "always" for this exact tool in this turn. */
export const isAlwaysAllowed = ({ steps }: Run, fingerprint: string): boolean =>
  steps.some(({ calls }) =>
    calls.some(({ approval }) => approval?.decision === 'always' && approval.fingerprint === fingerprint),
  )

function afterChange(run: Run, { task, by, from }: EventData['task_changed']): Run {
  const isSettled = settles(run, task, from)
  const isCompleted = isSettled && task.status === 'completed' && !run.completed.has(task.id)
  const isPersons = by === 'person' || by === 'file'
  return {
    ...run,
    followUps: isSettled ? 0 : run.followUps,
    refusals: isCompleted || isPersons ? 0 : run.refusals,
    completed: isCompleted ? new Set([...run.completed, task.id]) : run.completed,
  }
}

function sumUsage(a: Usage, b: Usage): Usage {
  const sum: Record<string, Json> = { ...a }
  for (const [name, value] of Object.entries(b)) {
    const before = sum[name]
    if (typeof value === 'number') sum[name] = (typeof before === 'number' ? before : 0) + value
  }
  return sum
}
