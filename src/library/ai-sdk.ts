import * as ai from 'ai'
import {
  type Instructions,
  type ModelMessage,
  type ToolApprovalStatus,
  type ToolSet,
  type UserModelMessage,
  type Agent,
  type ToolApprovalConfiguration,
  ToolLoopAgent,
  type ToolLoopAgentSettings,
  type LanguageModel,
  jsonSchema,
  tool,
} from 'ai'
import { type Conversation, openTasks } from '../core/model/conversation.ts'
import type { Policy } from '../core/model/policy.ts'
import { redactor } from '../core/text/redact.ts'
import { addEvidence } from '../engine/door/door.ts'
import { budgetOf, MAX_REPEATS } from '../engine/turn/move.ts'
import {
  approvalsOf,
  hearDenials,
  confirmAsShown,
  isApproved,
  hearToolDenials,
  toolApprovalsOf,
} from './ai-approval.ts'
import type { Turn } from './turn.ts'
import { declaresSchemas } from '../engine/turn/given-models.ts'
import type { Judge } from '../engine/worker/judge.ts'
import { modelJudge } from '../engine/worker/model-judge.ts'

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

/** The settings of a `ToolLoopAgent` except those that the plan sets, with the options of `planLoop`. */
export type PlanAgentSettings = Omit<
  ToolLoopAgentSettings<never, ToolSet>,
  'instructions' | 'prepareCall' | 'prepareStep' | 'stopWhen' | 'toolCallConcurrency'
> &
  PlanLoopOptions

/** A `ToolLoopAgent` that works on a turn's plan. Each call gets its own `planLoop`. */
export function planAgent(turn: Turn, settings: PlanAgentSettings): Agent<never, ToolSet> {
  const { instructions, review, approve, force, evidence, ...own } = settings
  const ready = async () => {
    const { experimental_steering, ...loop } = await planLoop(turn, { instructions, review, approve, force, evidence })
    const agent = new ToolLoopAgent<never, ToolSet>({
      ...own,
      ...loop,
      tools: { ...own.tools, ...loop.tools },
      toolApproval: bothOf(loop.toolApproval, own.toolApproval),
      onToolExecutionEnd: async end => {
        await loop.onToolExecutionEnd(end)
        await own.onToolExecutionEnd?.(end)
      },
    })
    return { agent, experimental_steering }
  }
  return {
    version: 'agent-v1',
    id: own.id,
    tools: { ...own.tools, ...toolsOf(turn) },
    generate: async call => {
      const { agent, experimental_steering } = await ready()
      return agent.generate({ ...call, experimental_steering })
    },
    stream: async call => {
      const { agent, experimental_steering } = await ready()
      return agent.stream({ ...call, experimental_steering })
    },
  }
}

type Approvals = ToolApprovalConfiguration<ToolSet, Record<string, unknown>>

/** Planning tools use the plan's approvals; all other tools use those that the program passed. */
function bothOf(plan: PlanLoop['toolApproval'], given: Approvals | undefined): Approvals {
  if (typeof given !== 'function') return { ...given, ...plan }
  return options => {
    const { toolName, toolCallId, input } = options.toolCall
    const { messages } = options
    return plan[toolName] ? plan[toolName](input, { toolCallId, messages }) : given(options)
  }
}

/** Options of `createJudge`. */
export interface JudgeOptions {
  /** An AI SDK model, preferably not the one that does the work. */
  readonly model: LanguageModel
  /** The name recorded with verdicts. Default: the model's id. */
  readonly name?: string
  /**
   * Whether the model supports structured output with a JSON schema. Default: only if it says so. If true, an ok has to
   * cite evidence.
   */
  readonly isStructured?: boolean
  /** Secrets to redact from stored errors, such as the model's key. */
  readonly secrets?: readonly string[]
}

/**
 * Creates a judge for `createRunsheet({ judge })`. In your own agent loops, where the policy's `assessor` is on, a
 * claim is granted only after this judge accepts it. The judge sees the plan, the checks and the tool calls reported as
 * evidence.
 */
export function createJudge({ model, name = nameOf(model), isStructured, secrets = [] }: JudgeOptions): Judge {
  const assessor = { name, model, isStructured: isStructured ?? declaresSchemas(model) }
  return modelJudge(assessor, { redact: redactor({ known: secrets }) })
}

const nameOf = (model: LanguageModel): string => (typeof model === 'string' ? model : model.modelId)

/**
 * A turn's tools for AI SDK's own loop (`generateText`, `streamText`, agents). AI SDK does not validate their input:
 * Runsheet answers invalid arguments with the correct form, which an SDK error would not do.
 */
export const aiSdkTools = (turn: Turn): ToolSet => toolsOf(turn)

/** Like `aiSdkTools`; with `approvals`, an approval in the messages confirms the plan it is about. */
function toolsOf(turn: Turn, { approvals = false }: { readonly approvals?: boolean } = {}): ToolSet {
  return Object.fromEntries(
    turn.tools().map(({ name, description, parameters }) => [
      name,
      tool({
        description,
        inputSchema: jsonSchema(parameters),
        execute: async (input, { toolCallId, abortSignal, messages }) => {
          const asked = { id: toolCallId, name, input }
          if (approvals && isApproved(messages, asked)) await confirmAsShown(turn, asked)
          return turn.call(name, input, { id: toolCallId, ...(abortSignal ? { signal: abortSignal } : {}) })
        },
      }),
    ]),
  )
}
