import * as ai from 'ai'
import type { Instructions, ModelMessage, ToolApprovalStatus, ToolSet, UserModelMessage } from 'ai'
import { type Conversation, openTasks } from '../core/model/conversation.ts'
import type { Policy } from '../core/model/policy.ts'
import { redactor } from '../core/text/redact.ts'
import { addEvidence } from '../engine/door/door.ts'
import { budgetOf, MAX_REPEATS } from '../engine/turn/move.ts'
import { approvalsOf, hearDenials } from './ai-approval.ts'
import { hearToolDenials, toolApprovalsOf } from './ai-tool-approval.ts'
import { toolsOf } from './ai-tools.ts'
import type { Turn } from './turn.ts'

/** Options of `planLoop`. */
export interface PlanLoopOptions {
  /** The assistant's own system prompt; the section about the plan follows it. */
  readonly instructions?: string | undefined
  /**
   * Who decides the review of a plan. `elsewhere`: `onReview`, `Conversation.decide` or the page, while the tool call
   * waits. `approval`: the host, with AI SDK's tool approval; the loop ends with a request and the next call continues.
   * The first decision wins. Default `elsewhere`.
   */
  readonly review?: 'elsewhere' | 'approval' | undefined
  /**
   * Your own tools whose calls need a person's approval, with AI SDK's tool approval or on the page; the first decision
   * wins. "Always" applies to the conversation while the tool's description and schema stay the same.
   */
  readonly approve?: ToolSet | undefined
  /** Makes the model call a tool while tasks are open (`toolChoice: 'required'`), for models that stop early. */
  readonly force?: boolean | undefined
  /** Stores calls of your own tools as evidence for the task in progress. Default true. */
  readonly evidence?: boolean | undefined
}

/** The settings of one `generateText` or `streamText` call: spread them into it. */
export interface PlanLoop {
  /** The turn's tools. Add yours. */
  readonly tools: ToolSet
  /** Your system prompt, followed by the section about the plan. */
  readonly instructions: string
  /** Adds the current digest of the plan to each step, replacing the previous one. */
  readonly prepareStep: (step: StepInput) => Promise<PreparedStep>
  /** The gate and the limits of the policy. */
  readonly stopWhen: (loop: { readonly steps: readonly LoopStep[] }) => Promise<boolean>
  /** Delivers the gate's message to a model that answered too early. Use it for one call only. */
  readonly experimental_steering: ai.Experimental_Steering
  /** Approvals of the tools in `approve` and, with `review: 'approval'`, of each planning tool. */
  readonly toolApproval: Record<
    string,
    (
      input: unknown,
      options: { readonly toolCallId: string; readonly messages?: readonly ModelMessage[] },
    ) => Promise<ToolApprovalStatus>
  >
  /** Stores the results of your tools. */
  readonly onToolExecutionEnd: (end: ToolEnd) => Promise<void>
  /** Runs the calls of a step sequentially, so that each is attributed to the right task. */
  readonly toolCallConcurrency: 1
}

/** The part of a step's input that `prepareStep` reads. */
export interface StepInput {
  readonly steps: readonly unknown[]
  readonly initialMessages: readonly ModelMessage[]
  readonly initialInstructions: Instructions | undefined
}

/** The result of `prepareStep`. */
export interface PreparedStep {
  instructions: Instructions
  toolChoice?: 'required'
}

/** The part of a step that `stopWhen` reads. */
export interface LoopStep {
  readonly toolCalls: readonly {
    readonly toolCallId: string
    readonly toolName: string
    readonly input: unknown
    readonly providerExecuted?: boolean | undefined
  }[]
  readonly toolResults: readonly { readonly toolCallId: string; readonly output: unknown }[]
}

/** The part of a finished call that `onToolExecutionEnd` reads. */
export interface ToolEnd {
  readonly toolCall: { readonly toolName: string; readonly input: unknown }
  readonly toolOutput:
    | { readonly type: 'tool-result'; readonly output: unknown }
    | { readonly type: 'tool-error'; readonly error: unknown }
}

/**
 * Everything AI SDK's loop needs to work on a turn's plan: tools, prompt, the digest before each step, the gate as stop
 * condition, reviews as tool approvals, and evidence. Create one per call; its state is in the log.
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

const REDACT = redactor()

/** Stores a call of an outside tool for the task in progress, if there is one. */
async function report(turn: Turn, { toolCall: { toolName: tool, input }, toolOutput }: ToolEnd): Promise<void> {
  const { door, ref } = turn.inside.deps
  const ok = toolOutput.type === 'tool-result'
  const answer = ok ? toolOutput.output : String(toolOutput.error)
  await addEvidence(door, ref, { tool, arguments: input, answer, ok }, { source: 'agent', redact: REDACT })
}

const LAST = 'This is the last call of this turn: answer now, and say what is not done.'

/** Ends the loop, or sends the model back to its open tasks. */
class Gate {
  readonly steering: ai.Experimental_Steering
  readonly #turn: Turn
  /** AI SDK takes the queued message when the model answers without a tool call. */
  #message: UserModelMessage
  #budget = 0

  constructor(turn: Turn) {
    if (!('experimental_createSteering' in ai)) throw new TypeError('planLoop needs ai 7.0.160 or later.')
    this.#turn = turn
    this.steering = ai.experimental_createSteering()
    this.#message = this.#queued()
  }

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
    // AI SDK has taken the message and asks whether to send it. The text is known only now.
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

/** The model called no tool, and no provider-executed tool is pending. */
const isAnswer = (step: LoopStep | undefined): boolean =>
  step !== undefined &&
  step.toolCalls.every(
    ({ providerExecuted, toolCallId }) =>
      providerExecuted === true && step.toolResults.some(result => result.toolCallId === toolCallId),
  )

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
