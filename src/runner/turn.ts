import type { ModelMessage } from 'ai'
import type { CommandOf } from '../domain/command.ts'
import type { StoredEvent } from '../domain/event.ts'
import type { At, Lease, Ref, Door } from '../door/door.ts'
import { type Evidence, evidenceBefore } from './evidence.ts'
import { earlierMessages, messagesOf, TOLD } from './history.ts'
import { begun, type Run, went } from './run.ts'

const PAGE = 500
/** So much of a log is read at first: most turns need no more. */
const AT_FIRST = 200

/** A turn that is driven here: its log as far as it was read, and the commits that go with its lease. */
export class ActiveTurn {
  readonly lease: Lease
  /** What the turns that it goes on with have to show. */
  readonly before: Evidence
  readonly #door: Door
  readonly #earlier: readonly ModelMessage[]
  /** What a model is told of this turn. */
  readonly #told: StoredEvent[]
  #run: Run
  #seq: number

  private constructor(door: Door, run: Run, lease: Lease, told: readonly StoredEvent[], started: StoredEvent) {
    const earlier = told.filter(({ seq }) => seq < started.seq)
    this.#door = door
    this.lease = lease
    this.before = evidenceBefore([...earlier, started], lease.turn)
    this.#earlier = earlierMessages(earlier, run.policy.history_limit)
    this.#told = [started]
    this.#run = run
    this.#seq = started.seq
  }

  static async open(door: Door, lease: Lease): Promise<ActiveTurn | undefined> {
    const state = await door.read(lease)
    const limit = state.policy?.history_limit ?? 0
    const told = await toldBefore(door, lease, lease.turn, limit)
    const started = told.find(event => isStart(event, lease.turn))
    if (!started) return undefined
    const turn = new ActiveTurn(door, begun(state, lease.turn, started), lease, told, started)
    await turn.catchUp()
    return turn
  }

  get run(): Run {
    return this.#run
  }

  get history(): ModelMessage[] {
    return [...this.#earlier, ...messagesOf(this.#told)]
  }

  /** Reads what has happened since, whoever did it. */
  async catchUp(): Promise<void> {
    const state = await this.#door.read(this.lease)
    while (this.#seq < state.seq) {
      const limit = Math.min(PAGE, state.seq - this.#seq)
      const page = await this.#door.conversations.eventsAfter(this.lease, this.#seq, limit)
      this.#told.push(...page.filter(event => event.turn_id === this.lease.turn && TOLD.includes(event.type)))
      this.#run = went(this.#run, state, page)
      this.#seq = page.at(-1)?.seq ?? state.seq
    }
    this.#run = { ...this.#run, state }
  }

  /** One commit of this turn: fenced off once another attempt drives it, and harmless when it is repeated. */
  at(key: string): At {
    const { tenant, conversation } = this.lease
    return { tenant, conversation, lease: this.lease, once: { key: `run:${this.lease.turn}:${key}`, bodyHash: '' } }
  }

  fact(fact: CommandOf<'record'>['fact']): CommandOf<'record'> {
    return { type: 'record', turn_id: this.lease.turn, fact }
  }
}

/** The end of the log, from far enough before the turn: what it costs does not grow with the conversation. */
async function toldBefore(
  { conversations }: Door,
  ref: Ref,
  turn: string,
  limit: number,
): Promise<readonly StoredEvent[]> {
  for (let last = AT_FIRST; ; last *= 4) {
    const told = await conversations.events(ref, { types: TOLD, last })
    const start = told.findIndex(event => isStart(event, turn))
    const started = told[start]
    const continues = started?.type === 'turn_started' ? started.data.continue_turn_id : undefined
    const isEnough = start > limit && (continues === undefined || told.some(event => isStart(event, continues)))
    if (told.length < last || isEnough) return told
  }
}

const isStart = (event: StoredEvent, turn: string): boolean => event.type === 'turn_started' && event.turn_id === turn
