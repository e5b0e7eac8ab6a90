import type { ModelMessage } from 'ai'
import type { CommandOf } from '../domain/command.ts'
import type { StoredEvent } from '../domain/event.ts'
import type { At, Lease, Ref, Door } from '../door/door.ts'
import { type Evidence, evidenceBefore } from './evidence.ts'
import { HISTORY_TYPES, historyOf } from './history.ts'
import { startRun, type Run, advanceRun } from './run.ts'

const PAGE_SIZE = 500
/** Events of the first read: enough for most turns. */
const FIRST_READ = 200

/** A turn that this process drives: its log so far, and commits under its lease. */
export class ActiveTurn {
  readonly lease: Lease
  /** The evidence of the turns that it continues. */
  readonly before: Evidence
  readonly #door: Door
  readonly #earlier: readonly StoredEvent[]
  /** This turn's events that become messages. */
  readonly #own: StoredEvent[]
  #run: Run
  #seq: number

  private constructor(door: Door, run: Run, lease: Lease, events: readonly StoredEvent[], started: StoredEvent) {
    const earlier = events.filter(({ seq }) => seq < started.seq)
    this.#door = door
    this.lease = lease
    this.before = evidenceBefore([...earlier, started], lease.turn)
    this.#earlier = earlier
    this.#own = [started]
    this.#run = run
    this.#seq = started.seq
  }

  static async open(door: Door, lease: Lease): Promise<ActiveTurn | undefined> {
    const state = await door.read(lease)
    const limit = state.policy?.history_limit ?? 0
    const events = await readHistory(door, lease, lease.turn, limit)
    const started = events.find(event => isStart(event, lease.turn))
    if (!started) return undefined
    const turn = new ActiveTurn(door, startRun(state, lease.turn, started), lease, events, started)
    await turn.catchUp()
    return turn
  }

  get run(): Run {
    return this.#run
  }

  get history(): ModelMessage[] {
    return historyOf(this.#earlier, this.#own, this.#run.policy.history_limit)
  }

  /** Reads the events since the last read, from any process. */
  async catchUp(): Promise<void> {
    const state = await this.#door.read(this.lease)
    while (this.#seq < state.seq) {
      const limit = Math.min(PAGE_SIZE, state.seq - this.#seq)
      const page = await this.#door.conversations.eventsAfter(this.lease, this.#seq, limit)
      this.#own.push(...page.filter(event => event.turn_id === this.lease.turn && HISTORY_TYPES.includes(event.type)))
      this.#run = advanceRun(this.#run, state, page)
      this.#seq = page.at(-1)?.seq ?? state.seq
    }
    this.#run = { ...this.#run, state }
  }

  /** A commit of this turn: fenced by its lease and idempotent by its key. */
  at(key: string): At {
    const { tenant, conversation } = this.lease
    return { tenant, conversation, lease: this.lease, once: { key: `run:${this.lease.turn}:${key}`, bodyHash: '' } }
  }

  fact(fact: CommandOf<'record'>['fact']): CommandOf<'record'> {
    return { type: 'record', turn_id: this.lease.turn, fact }
  }
}

/** The end of the log, from far enough before the turn. The cost does not grow with the conversation. */
async function readHistory(
  { conversations }: Door,
  ref: Ref,
  turn: string,
  limit: number,
): Promise<readonly StoredEvent[]> {
  for (let last = FIRST_READ; ; last *= 4) {
    const events = await conversations.events(ref, { types: HISTORY_TYPES, last })
    const start = events.findIndex(event => isStart(event, turn))
    const started = events[start]
    const continues = started?.type === 'turn_started' ? started.data.continue_turn_id : undefined
    const isEnough = start > limit && (continues === undefined || events.some(event => isStart(event, continues)))
    if (events.length < last || isEnough) return events
  }
}

const isStart = (event: StoredEvent, turn: string): boolean => event.type === 'turn_started' && event.turn_id === turn
