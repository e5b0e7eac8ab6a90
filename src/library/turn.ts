import { AsyncLocalStorage } from 'node:async_hooks'
import type { Json } from '../core/model/event.ts'
import { openTasks, type Conversation } from '../core/model/conversation.ts'
import { policyWith, type Policy, type ToolsetName } from '../core/model/policy.ts'
import type { Standing } from '../core/proof/standing.ts'
import { Refusal, invalidField, invalidId } from '../core/model/refusal.ts'
import type { Task } from '../core/model/task.ts'
import { isId } from '../core/model/text.ts'
import type { PlanCounts, TurnStatus } from '../core/model/turn.ts'
import { callTool } from '../engine/toolsets/calls.ts'
import type { ToolContext } from '../engine/toolsets/view.ts'
import { digestOf } from '../engine/toolsets/digest.ts'
import { jsonSchemaOf, namesOf, promptFor, retryFor, withPrefix } from '../engine/toolsets/guidance.ts'
import { toolsets } from '../engine/toolsets/index.ts'
import { withChecks, type Toolset } from '../engine/toolsets/toolset.ts'
import type { ConversationDeps } from './conversation.ts'
import { checkedOnceMore, nextFollowUp } from './gate.ts'

/** Options of a turn's tools. */
export interface TurnOptions {
  /** The toolset to offer. Default: the toolset of the runsheet's policy, else `runsheet`. */
  readonly toolset?: ToolsetName
  /** Prefix of tool names, to avoid conflicts: `plan_` makes `plan_update`. At most 32 characters. */
  readonly prefix?: string
  /** The tools to offer, by name without the prefix. Default: all tools of the toolset. */
  readonly names?: readonly string[]
}

/** A tool as plain data. `parameters` is JSON Schema. */
export interface ToolDefinition {
  readonly name: string
  readonly description: string
  readonly parameters: { readonly [keyword: string]: Json }
}

/** A tool in the OpenAI function format. */
export interface FunctionDefinition {
  readonly type: 'function'
  readonly function: ToolDefinition
}

/** Options of a tool call. */
export interface CallOptions {
  /** The model's id of the call. A repeated id returns the first answer instead of running the tool twice. */
  readonly id?: string
  /** Stops waiting for a review. The review stays pending. */
  readonly signal?: AbortSignal
  /** The host's id of the user message that led to the call. */
  readonly userMessageId?: string
  /** The host's id of the model message that made the call. */
  readonly assistantMessageId?: string
  /** The provider of the calling model, for `observe`. */
  readonly provider?: string
  /** The calling model, for `observe`. */
  readonly model?: string
}

/** How a turn ended. */
export interface FinishedTurn {
  /** `done`, or `incomplete` if tasks are open or blocked and the gate or the judge is on. */
  readonly status: TurnStatus
  /** The number of open tasks. */
  readonly remaining: number
  /** The number of tasks by how they ended. */
  readonly counts: PlanCounts
  /** The number of completed tasks by standing. */
  readonly standings: Readonly<Record<Standing, number>>
}

/** @internal */
export interface TurnInside {
  readonly deps: ConversationDeps
  readonly toolset: Toolset
  readonly context: (callId: string) => ToolContext
  /** The state and the effective policy. */
  readonly plan: () => Promise<{ readonly state: Conversation; readonly policy: Policy }>
}

const around = new AsyncLocalStorage<Turn>()

/** The turn set by `Turn.within`. @internal */
export const turnAround = (): Turn | undefined => around.getStore()

/** One turn of an agent: its tools and the state of its plan. */
export class Turn {
  /** The id passed to `Conversation.turn`. */
  readonly id: string
  readonly #deps: ConversationDeps
  readonly #toolset: Toolset

  /** @internal */
  constructor(id: string, { toolset, prefix = '', names }: TurnOptions, deps: ConversationDeps) {
    if (!isId(id)) throw invalidId('turn')
    this.id = id
    this.#deps = deps
    const chosen = offered(toolset ?? deps.policy.toolset ?? 'runsheet', names)
    this.#toolset = withPrefix(deps.door.checks.offered?.() ? withChecks(chosen) : chosen, prefix)
  }

  /** The tool definitions for the model. */
  tools(options?: { readonly format?: 'json-schema' }): readonly ToolDefinition[]
  /** The tool definitions in the OpenAI function format. */
  tools(options: { readonly format: 'openai' }): readonly FunctionDefinition[]
  tools({
    format = 'json-schema',
  }: {
    readonly format?: 'json-schema' | 'openai'
  } = {}): readonly ToolDefinition[] | readonly FunctionDefinition[] {
    const definitions = this.#toolset.tools.map(tool => ({
      name: namesOf(this.#toolset)(tool.name),
      description: tool.description,
      parameters: jsonSchemaOf(tool),
    }))
    return format === 'openai' ? definitions.map(tool => ({ type: 'function', function: tool })) : definitions
  }

  /**
   * Calls a tool and returns the answer for the model. It always answers: a refusal says what was wrong and shows the
   * correct form. A call that proposes a plan for review is answered once the review is decided.
   */
  async call(name: string, args: unknown, { id, signal, ...messages }: CallOptions = {}): Promise<Json> {
    const { reviewer, door, ref } = this.#deps
    return callTool(this.#toolset, name, args, this.#context(id, messages), {
      signal,
      during: (reviewId, wait) => reviewer.during(door, ref, reviewId, wait),
    })
  }

  /** Makes this the turn of `Runsheet.call` in `work` and everything it awaits. */
  within<T>(work: () => T): T {
    return around.run(this, work)
  }

  /** The section for the system prompt; empty if no planning tool is offered. */
  async prompt(): Promise<string> {
    return promptFor(this.#toolset)
  }

  /** The state of the plan for the next model call; empty before there is a plan. It replaces the previous digest. */
  async digest(): Promise<string> {
    return digestOf({ state: await this.#read(), turnId: this.id })
  }

  /** Guidance for a model that called the planning tool with invalid arguments. */
  async retryGuidance(): Promise<string> {
    return retryFor(this.#toolset, { state: await this.#read(), turnId: this.id })
  }

  /** The open tasks of this turn's plan. Send the model back to them before you accept its answer as final. */
  async openTasks(): Promise<readonly Task[]> {
    return openTasks(await this.#read(), this.id)
  }

  /**
   * The gate, if the policy has it on: the next user message for a model that answered too early. Undefined if its plan
   * is done, or after three follow-ups in a row without progress. Follow-ups are logged. A failing check of the whole
   * plan runs again first.
   */
  async followUp({ signal }: { readonly signal?: AbortSignal } = {}): Promise<string | undefined> {
    const { door, ref, workspaces } = this.#deps
    return nextFollowUp({ door, ref, turn: this.id, toolset: this.#toolset, workspaces, signal })
  }

  /** Internals for our own entry points. @internal */
  get inside(): TurnInside {
    return {
      deps: this.#deps,
      toolset: this.#toolset,
      context: id => this.#context(id, {}),
      plan: async () => {
        const state = await this.#read()
        return { state, policy: state.policy ?? this.#newPolicy() }
      },
    }
  }

  /** Stops the turn: pending reviews are cancelled and further calls are refused. */
  async stop(): Promise<void> {
    await this.#deps.door.run(this.#deps.ref, { type: 'stop_turn', turn_id: this.id })
  }

  /**
   * Ends the turn and returns its result. Open tasks stay open. If none is open, stale checks rerun in this process's
   * workspace; a task whose check fails is open again.
   */
  async finish(): Promise<FinishedTurn> {
    const { door, ref, workspaces } = this.#deps
    await checkedOnceMore({ door, ref, turn: this.id, workspaces })
    const { events } = await door.run(ref, {
      type: 'finish_turn',
      turn_id: this.id,
      because: 'answered',
      steps: 0,
      usage: {},
    })
    for (const event of events) {
      if (event.type !== 'turn_finished') continue
      const { status, remaining, counts, standings } = event.data
      return { status, remaining, counts, standings }
    }
    throw new TypeError('the turn did not finish')
  }

  #newPolicy(): Policy {
    const policy = policyWith(null, this.#deps.policy, { toolset: this.#toolset.name })
    if (policy instanceof Refusal) throw policy
    return policy
  }

  #read() {
    return this.#deps.door.read(this.#deps.ref)
  }

  #context(toolCallId: string | undefined, { provider, model, ...messages }: Omit<CallOptions, 'id' | 'signal'>) {
    const { door, ref, policy } = this.#deps
    return {
      door,
      ...ref,
      turn: this.id,
      toolCallId,
      host: policy,
      provider,
      model,
      source_user_message_id: messages.userMessageId,
      source_assistant_message_id: messages.assistantMessageId,
    } satisfies ToolContext
  }
}

function offered(name: ToolsetName, names: readonly string[] | undefined): Toolset {
  if (!Object.hasOwn(toolsets, name)) throw notAllowed('toolset', Object.keys(toolsets))
  const toolset = toolsets[name]
  if (!names) return toolset
  const known = toolset.tools.map(tool => tool.name)
  if (names.some(each => !known.includes(each))) throw notAllowed('names', known)
  return { ...toolset, tools: toolset.tools.filter(tool => names.includes(tool.name)) }
}

const notAllowed = (field: string, allowed: readonly string[]): Refusal =>
  invalidField(field, { rule: 'not_allowed', allowed })
