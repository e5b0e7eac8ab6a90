import * as ai from 'ai'
import type { Instructions, ModelMessage, ToolApprovalStatus, ToolSet, UserModelMessage } from 'ai'
import { type Conversation, openTasks } from '../domain/conversation.ts'
import type { Policy } from '../domain/policy.ts'
import { redactor } from '../domain/redact.ts'
import { addEvidence } from '../door/door.ts'
import { budgetOf, MAX_REPEATS } from '../runner/move.ts'
import { approvalsOf, hearDenials } from './ai-approval.ts'
import { hearToolDenials, toolApprovalsOf } from './ai-tool-approval.ts'
import { toolsOf } from './ai-tools.ts'
import type { Turn } from './turn.ts'

/** How a turn takes part in AI SDK's loop. */
export interface PlanLoopOptions {
  /** The assistant's own system prompt, before the section about the plan. */
  readonly instructions?: string | undefined
  /**
   * Who decides the review of a plan. `elsewhere`: `onReview`, `Conversation.decide` or the page, while the tool call waits.
   * `approval`: the host, with AI SDK's tool approval; the loop ends with a request and goes on with the next call. Whoever
   * decides first counts. Default `elsewhere`.
   */
  readonly review?: 'elsewhere' | 'approval' | undefined
  /**
   * Your own tools whose calls a person has to allow, with AI SDK's tool approval or on the page: the first decision counts.
   * "Always" holds in the conversation, while the tool's description and schema stay the same.
   */
  readonly approve?: ToolSet | undefined
  /** Makes the model call a tool while tasks are open (`toolChoice: 'required'`), for models that stop early. */
  readonly force?: boolean | undefined
  /** Whether calls of your own tools are stored as evidence for the task in progress. Default true. */
  readonly evidence?: boolean | undefined
}

/** The settings of one `generateText` or `streamText` call: spread them into it. */
export interface PlanLoop {
  /** The turn's tools. Add yours. */
  readonly tools: ToolSet
  /** Your system prompt and the section about the plan. */
  readonly instructions: string
  /** Puts the digest of the plan into each step, in place of the last one. */
  readonly prepareStep: (step: StepInput) => Promise<PreparedStep>
  /** The gate, and the limits of the policy. */
  readonly stopWhen: (loop: { readonly steps: readonly LoopStep[] }) => Promise<boolean>
  /** Carries the gate's message to a model that answered too early. For one call. */
  readonly experimental_steering: ai.Experimental_Steering
  /** With `review: 'approval'`, the approval of each tool that plans; and that of the tools in `approve`. */
  readonly toolApproval: Record<
    string,
    (
      input: unknown,
      options: { readonly toolCallId: string; readonly messages?: readonly ModelMessage[] },
    ) => Promise<ToolApprovalStatus>
  >
  /** Stores what your tools answered. */
  readonly onToolExecutionEnd: (end: ToolEnd) => Promise<void>
  /** The calls of a step run one after the other, so that each belongs to the task that it was made for. */
  readonly toolCallConcurrency: 1
}

/** What `prepareStep` reads. */
export interface StepInput {
  readonly steps: readonly unknown[]
  readonly initialMessages: readonly ModelMessage[]
  readonly initialInstructions: Instructions | undefined
}

/** What `prepareStep` sets. */
export interface PreparedStep {
  instructions: Instructions
  toolChoice?: 'required'
}

/** What `stopWhen` reads of a step. */
export interface LoopStep {
  readonly toolCalls: readonly {
    readonly toolCallId: string
    readonly toolName: string
    readonly input: unknown
    readonly providerExecuted?: boolean | undefined
  }[]
  readonly toolResults: readonly { readonly toolCallId: string; readonly output: unknown }[]
}

/** What `onToolExecutionEnd` reads. */
export interface ToolEnd {
  readonly toolCall: { readonly toolName: string; readonly input: unknown }
  readonly toolOutput:
    | { readonly type: 'tool-result'; readonly output: unknown }
    | { readonly type: 'tool-error'; readonly error: unknown }
}

/**
 * Everything that AI SDK's loop needs to work on a turn's plan: tools, prompt, the digest before each step, a stop
 * condition that is the gate, tool approval as the review, and evidence. Make one for each call; what counts is in the log.
 */
export async function planLoop(turn: Turn, options: PlanLoopOptions = {}): Promise<PlanLoop> {
  const { instructions = '', review = 'elsewhere', approve = {}, force = false, evidence = true } = options
  const approvals = review === 'approval'
  const tools = toolsOf(turn, { approvals })
  const gate = new Gate(turn)
  return {
    tools,
    instructions: joined([instructions, await turn.prompt()]),
    prepareStep: async ({ steps, initialMessages, initialInstructions }) => {
      if (steps.length === 0) await hearToolDenials(turn, approve, initialMessages)
      if (approvals && steps.length === 0) await hearDenials(turn, initialMessages)
      const { isLast, isOpen } = await gate.before(steps.length)
      const digest = joined([await turn.digest(), isLast ? LAST : ''])
      const forced = force && isOpen && !isLast
      return { instructions: withText(initialInstructions, digest), ...(forced ? { toolChoice: 'required' } : {}) }
    },
    stopWhen: ({ steps }) => gate.ends(steps),
    experimental_steering: gate.steering,
    toolApproval: { ...toolApprovalsOf(turn, approve), ...(approvals ? approvalsOf(turn) : {}) },
    onToolExecutionEnd: async end => {
      if (evidence && !Object.hasOwn(tools, end.toolCall.toolName)) await report(turn, end)
    },
    toolCallConcurrency: 1,
  }
}

/** Knows secrets by their shapes. */
const REDACT = redactor()

/** Stores a call of another tool for the task in progress, if there is one. */
async function report(turn: Turn, { toolCall: { toolName: tool, input }, toolOutput }: ToolEnd): Promise<void> {
  const { door, ref } = turn.inside.deps
  const ok = toolOutput.type === 'tool-result'
  const answer = ok ? toolOutput.output : String(toolOutput.error)
  await addEvidence(door, ref, { tool, arguments: input, answer, ok }, { source: 'agent', redact: REDACT })
}

const LAST = 'This is the last call of this turn: answer now, and say what is not done.'

/** Ends the loop, or sends the model back to what is open. */
class Gate {
  readonly steering: ai.Experimental_Steering
  readonly #turn: Turn
  /** The queued message, which AI SDK takes when the model answers without calling a tool. */
  #message: UserModelMessage
  #budget = 0

  constructor(turn: Turn) {
    if (!('experimental_createSteering' in ai)) throw new TypeError('planLoop needs ai 7.0.160 or later.')
    this.#turn = turn
    this.steering = ai.experimental_createSteering()
    this.#message = this.#queued()
  }

  /** Whether the next step is the last of the budget, and whether tasks are open. */
  async before(steps: number): Promise<{ readonly isLast: boolean; readonly isOpen: boolean }> {
    const { state, policy } = await this.#turn.inside.plan()
    return {
      isLast: steps + 1 >= this.#limit(state, policy, steps),
      isOpen: openTasks(state, this.#turn.id).length > 0,
    }
  }

  async ends(steps: readonly LoopStep[]): Promise<boolean> {
    const { state, policy } = await this.#turn.inside.plan()
    if (steps.length >= this.#limit(state, policy, steps.length) || isRepeating(steps)) return true
    if (!isAnswer(steps.at(-1))) return false
    const text = await this.#turn.followUp()
    if (text === undefined) return true
    // AI SDK has taken the message and asks whether to send it: only now is it known what to say.
    this.#message.content = text
    this.#message = this.#queued()
    return false
  }

  #queued(): UserModelMessage {
    const message: UserModelMessage = { role: 'user', content: 'Continue with the plan.' }
    void this.steering.queue(message)
    return message
  }

  #limit(state: Conversation, policy: Policy, steps: number): number {
    const budget = this.#budget || policy.max_steps
    return (this.#budget = budgetOf({ state, policy, turn: this.#turn.id, budget, steps: { length: steps } }))
  }
}

/** Whether the model is done: it called no tool of ours or yours, and no provider still works on one. */
const isAnswer = (step: LoopStep | undefined): boolean =>
  step !== undefined &&
  step.toolCalls.every(
    ({ providerExecuted, toolCallId }) =>
      providerExecuted === true && step.toolResults.some(result => result.toolCallId === toolCallId),
  )

/** Whether the last steps made the same calls with the same results. */
function isRepeating(steps: readonly LoopStep[]): boolean {
  const last = steps.slice(-MAX_REPEATS)
  if (last.length < MAX_REPEATS || last.some(({ toolCalls }) => toolCalls.length === 0)) return false
  const work = last.map(({ toolCalls, toolResults }) =>
    JSON.stringify([
      toolCalls.map(({ toolName, input }) => [toolName, input]),
      toolResults.map(({ output }) => output),
    ]),
  )
  return new Set(work).size === 1
}

const joined = (texts: readonly string[]): string => texts.filter(text => text !== '').join('\n\n')

function withText(given: Instructions | undefined, text: string): Instructions {
  if (given === undefined || typeof given === 'string') return joined([given ?? '', text])
  return text === '' ? given : [...[given].flat(), { role: 'system', content: text }]
}
