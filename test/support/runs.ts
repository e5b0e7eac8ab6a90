import type { CommandOf } from '../../src/core/model/command.ts'
import { startRun, type Run, advanceRun } from '../../src/engine/turn/run.ts'
import type { Json } from '../../src/core/model/event.ts'
import type { PolicyPatch } from '../../src/core/model/policy.ts'
import { Driver, SOME_MODEL } from './domain.ts'

/** A tool call of a step: its tool, its arguments, and its answer if it has one. */
export interface SaidCall {
  readonly id?: string
  readonly tool?: string
  readonly arguments?: Json
  readonly answer?: Json
}

const NOBODY: PolicyPatch = { review: false, assessor: false, gate: false }

/** For tests: a turn written into a log by hand, and the run read from that log. */
export class RunDriver extends Driver {
  readonly turn: string
  #steps = 0
  #calls = 0

  constructor(policy: PolicyPatch = {}, turn = 'turn-1') {
    super()
    this.turn = turn
    this.start(turn, { ...NOBODY, ...policy })
  }

  /** The run as of the log so far. */
  get told(): Run {
    return this.#toldOf(this.turn)
  }

  /** Ends the turn, and starts one that goes on with its plan. */
  continued(turn: string): Run {
    this.finish(this.turn)
    this.start(turn, {}, this.turn)
    return this.#toldOf(turn)
  }

  #toldOf(turn: string): Run {
    const place = this.log.findIndex(event => event.type === 'turn_started' && event.turn_id === turn)
    const started = this.log[place]
    if (!started) throw new Error('the turn has not started')
    return advanceRun(startRun(this.state, turn, started), this.state, this.log.slice(place + 1))
  }

  plan(...titles: readonly string[]): this {
    this.run(this.adds('model', ...titles))
    return this
  }

  /** A step: the model's text and its calls. */
  step(text: string, ...calls: readonly SaidCall[]): this {
    this.#steps += 1
    const named = calls.map(call => ({ id: `call-${(this.#calls += 1)}`, tool: 'look', arguments: {}, ...call }))
    const parts = [
      ...(text === '' ? [] : [{ type: 'text', text }]),
      ...named.map(call => ({
        type: 'tool-call',
        toolCallId: call.id,
        toolName: call.tool,
        input: call.arguments,
      })),
    ]
    const tool_calls = named.map(call => ({ tool_call_id: call.id, tool: call.tool, arguments: call.arguments }))
    this.fact({
      type: 'step_finished',
      data: {
        step: this.#steps,
        message_id: `message-of-step-${this.#steps}`,
        text,
        tool_calls,
        usage: { input_tokens: 2, output_tokens: 1 },
        digest_seq: this.state.seq,
        parts,
      },
    })
    for (const { id, tool, answer } of named) if (answer !== undefined) this.answered(id, answer, tool)
    return this
  }

  answered(tool_call_id: string, result: Json = 'fine', tool = 'look'): this {
    return this.fact({ type: 'tool_answered', data: { tool_call_id, tool, result, duration_ms: 1, ok: true } })
  }

  /** A synthetic user message of the run. */
  said(text: string): this {
    const data = { message_id: this.id(), role: 'user', text, synthetic: true } as const
    return this.fact({ type: 'message_added', data })
  }

  /** A message of a person, which waits. */
  writes(text: string): this {
    this.run({ type: 'send_message', message_id: this.id(), text, next: { turn_id: 'turn-next' } })
    return this
  }

  delivered(): this {
    this.run({ type: 'deliver_queued', turn_id: this.turn })
    return this
  }

  /** The gate's follow-up, as the loop writes it. */
  followed(): this {
    this.fact({ type: 'gate_followed', data: { follow_up: 1, open: [] } })
    return this.said('Go on.')
  }

  settle(number: number, status: 'completed' | 'blocked' | 'cancelled' = 'completed'): this {
    this.run(this.sets('model', number, { status, outcome: 'It is so' }))
    return this
  }

  fact(fact: CommandOf<'record'>['fact'], turn_id = this.turn): this {
    this.run({ type: 'record', turn_id, fact })
    return this
  }

  /** A later turn of the same conversation. */
  next(turn: string, message: string): this {
    this.run({ type: 'start_turn', turn_id: turn, message_id: this.id(), message, model: SOME_MODEL })
    return this
  }
}
