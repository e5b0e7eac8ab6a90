import { afterEach, beforeEach } from 'vitest'
import { listed, type Conversation } from '../../src/core/model/conversation.ts'
import type { CommandOf, TaskChange } from '../../src/core/model/command.ts'
import type { Json } from '../../src/core/model/event.ts'
import type { PolicyPatch } from '../../src/core/model/policy.ts'
import type { Task } from '../../src/core/model/task.ts'
import { openDoor, type Decision, type Door, type ReviewRecord } from '../../src/engine/door/door.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import type { ToolContext } from '../../src/engine/toolsets/view.ts'
import { beginCall, callTool, type CallState } from '../../src/engine/toolsets/calls.ts'
import type { Toolset } from '../../src/engine/toolsets/toolset.ts'
import { settlesIn } from './domain.ts'

/** For tests: ids that count up, so that a test can spell out whole answers. */
export const uuid = (number: number): string => `0190a000-0000-7000-8000-${String(number).padStart(12, '0')}`

export function countedIds(): () => string {
  let drawn = 0
  return () => uuid((drawn += 1))
}

/** For tests: inputs with the error each one gets, which the title names. */
export const cases = (
  ...rows: readonly (readonly [input: unknown, error: string])[]
): { input: unknown; error: string }[] => rows.map(([input, error]) => ({ input, error }))

/** For tests: a door on memory whose ids count up. */
export const memoryDoor = (): Door => openDoor({ store: openMemoryStore(), newId: countedIds() })

/** For tests: a desk that starts over, in memory, for each test of the file. */
export function deskPerTest(toolset: Toolset, host: PolicyPatch = {}): Desk {
  const desk = new Desk(memoryDoor(), toolset, host)
  beforeEach(() => desk.open(host))
  afterEach(() => desk.door.close())
  return desk
}

/** For tests: an agent with one toolset in one turn of a conversation, and the person beside it. */
export class Desk {
  door: Door
  host: PolicyPatch
  readonly toolset: Toolset
  readonly turn: string

  constructor(door: Door, toolset: Toolset, host: PolicyPatch = {}, turn = 't1') {
    this.door = door
    this.toolset = toolset
    this.host = host
    this.turn = turn
  }

  /** Starts over with nothing written, under another policy. */
  readonly open = (host: PolicyPatch = {}): void => {
    this.door = memoryDoor()
    this.host = host
  };

  /** The same conversation, in another turn. */
  in(turn: string): Desk {
    return new Desk(this.door, this.toolset, this.host, turn)
  }

  context(more: Partial<ToolContext> = {}): ToolContext {
    calls += 1
    const { door, turn, host } = this
    return { door, ...HERE, turn, host, toolCallId: `call-${calls}`, ...more }
  }

  call(tool: string, input: unknown, more: Partial<ToolContext> = {}): Promise<Json> {
    return callTool(this.toolset, tool, input, this.context(more))
  }

  take(tool: string, input: unknown, more: Partial<ToolContext> = {}): Promise<CallState> {
    return beginCall(this.toolset, tool, input, this.context(more))
  }

  state(): Promise<Conversation> {
    return this.door.read(HERE)
  }

  async tasks(): Promise<Task[]> {
    return listed(await this.state())
  }

  /** Status by title, in list order. */
  async statuses(): Promise<[string, string][]> {
    return (await this.tasks()).map(({ title, status }) => [title, status])
  }

  async person(...change: readonly TaskChange[]): Promise<void> {
    await this.edit({ change })
  }

  async edit(edit: Partial<CommandOf<'edit_tasks'>>): Promise<void> {
    await this.door.run(HERE, { type: 'edit_tasks', by: 'person', ...edit })
  }

  /** The judge turns down a claim on a task. */
  async turnsDown(task_id: string): Promise<void> {
    const at = { turn_id: this.turn, tool_call_id: 'claiming' }
    const claim = { claim_id: 'claim', task_id, status: 'completed', outcome: 'x', seal: 's', judge: true } as const
    const held = {
      toolset: 'turn_todos',
      edit: { change: [{ task: task_id, fields: { status: 'completed' } }] },
      items: 0,
    } as const
    await this.door.run(HERE, { type: 'set_policy', by: 'person', policy: { assessor: true } })
    await this.door.run(HERE, { type: 'make_claims', ...at, basis: 0, claims: [claim], held })
    const said = { task: task_id, verdict: 'not_ok', reason: 'No.', model: 'm', seal: 's' } as const
    await this.door.transact(HERE, transaction => {
      transaction.mustRun({ type: 'assess_task', turn_id: this.turn, ...said })
      transaction.take(settlesIn(transaction.state, { type: 'settle_call', ...at }, transaction.now))
    })
  }

  /** Decides the review that `waiting` waits for; resolves with what the model is told. */
  async decided(waiting: Promise<Json>, decision: Decision): Promise<Json> {
    await this.decide(decision)
    return waiting
  }

  async decide(decision: Decision): Promise<ReviewRecord> {
    for (;;) {
      const [review] = (await this.state()).pending_reviews
      if (review !== undefined) return this.door.reviews.decide('local', review, decision, 'http')
      await new Promise(resolve => setImmediate(resolve))
    }
  }

  /** The types of the events since `seq`. */
  async logged(seq = 0): Promise<string[]> {
    return (await this.door.conversations.eventsAfter(HERE, seq, 10_000)).map(({ type }) => type)
  }

  /** Runs `work`; resolves with its answer and the events it wrote. */
  async written<T>(work: () => Promise<T>): Promise<{ answer: T; events: string[] }> {
    const { seq } = await this.state()
    const answer = await work()
    return { answer, events: await this.logged(seq) }
  }
}

let calls = 0
const HERE = { tenant: 'local', conversation: 'c1' } as const
