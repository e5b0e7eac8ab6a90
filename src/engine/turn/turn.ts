import type { ModelMessage } from 'ai'
import type { CommandOf } from '../../core/model/command.ts'
import type { Conversation } from '../../core/model/conversation.ts'
import type { EventType, StoredEvent } from '../../core/model/event.ts'
import { planOf } from '../../core/model/plan.ts'
import { StoreError, type At, type Door, type Lease, type Ref } from '../door/door.ts'
import { work, type Work } from '../worker/case.ts'
import type { HeldLease } from '../worker/held-lease.ts'
import { HISTORY_TYPES, historyOf } from './history.ts'
import { advanceRun, startRun, type Run } from './run.ts'

const PAGE_SIZE = 500
/** Events of the first read: enough for most turns. */
const FIRST_READ = 200
/** Turns of the plan that are read however far back, because a list may have hundreds. */
const MAX_TURNS = 20

/** A turn that this process drives: its log so far, and commits under its lease. */
export class ActiveTurn {
  readonly lease: Lease
  readonly #held: HeldLease
  readonly #door: Door
  readonly #earlier: readonly StoredEvent[]
  readonly #own: StoredEvent[]
  #run: Run
  #work: Work
  #seq: number

  private constructor(door: Door, run: Run, held: HeldLease, events: readonly StoredEvent[], started: StoredEvent) {
    const earlier = events.filter(({ seq }) => seq < started.seq)
    this.#door = door
    this.#held = held
    this.lease = held.lease
    const turns = new Set<string | null>(planOf(run.state, run.turn).turns)
    this.#work = work.apply(work.of(earlier.filter(({ turn_id }) => turns.has(turn_id))), started)
    this.#earlier = earlier
    this.#own = [started]
    this.#run = run
    this.#seq = started.seq
  }

  static async open(door: Door, held: HeldLease): Promise<ActiveTurn | undefined> {
    const { lease } = held
    const state = await door.read(lease)
    const limit = state.policy?.history_limit ?? 0
    const turns = planOf(state, lease.turn).turns.filter(id => state.turns.get(id)?.model !== undefined)
    const events = await readHistory(door, lease, turns.slice(-MAX_TURNS), limit)
    const started = events.find(event => isStart(event, lease.turn))
    if (!started) return undefined
    const turn = new ActiveTurn(door, startRun(state, lease.turn, started), held, events, started)
    await turn.#follow(state)
    return turn
  }

  get run(): Run {
    return this.#run
  }

  get history(): ModelMessage[] {
    return historyOf(this.#earlier, this.#own, this.#run.policy.history_limit)
  }

  get work(): Work {
    return this.#work
  }

  eventsOf(task: string, types: readonly EventType[]): Promise<readonly StoredEvent[]> {
    return this.#door.conversations.events(this.lease, { task, types })
  }

  async catchUp(): Promise<void> {
    await this.#follow(await this.#door.read(this.lease))
  }

  async #follow(state: Conversation): Promise<void> {
    while (this.#seq < state.seq) {
      const limit = Math.min(PAGE_SIZE, state.seq - this.#seq)
      const page = await this.#door.conversations.eventsAfter(this.lease, this.#seq, limit)
      const own = page.filter(event => event.turn_id === this.lease.turn && HISTORY_TYPES.includes(event.type))
      this.#own.push(...own)
      this.#work = own.reduce(work.apply, this.#work)
      this.#run = advanceRun(this.#run, state, page)
      this.#seq = page.at(-1)?.seq ?? state.seq
    }
    this.#run = { ...this.#run, state }
  }

  /** Call immediately before each side effect: resolves if the lease has time to spare, else throws `fenced`. */
  confirmLease(signal: AbortSignal): Promise<void> {
    return this.#held.confirm(signal)
  }

  newId(): string {
    return this.#door.newId()
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

/** A task file that only a person can repair. */
export const isUnreadable = (error: unknown): error is StoreError =>
  error instanceof StoreError && error.code === 'file_invalid'

/** The end of the log, from far enough before the turn, and including the starts of `turns`. */
async function readHistory(
  { conversations }: Door,
  ref: Ref & { readonly turn: string },
  turns: readonly string[],
  limit: number,
): Promise<readonly StoredEvent[]> {
  for (let last = FIRST_READ; ; last *= 4) {
    const events = await conversations.events(ref, { types: HISTORY_TYPES, last })
    const isFar = events.findIndex(event => isStart(event, ref.turn)) > limit
    const isEnough = isFar && turns.every(id => events.some(event => isStart(event, id)))
    if (events.length < last || isEnough) return events
  }
}

const isStart = (event: StoredEvent, turn: string): boolean => event.type === 'turn_started' && event.turn_id === turn
