import type { CommandOf } from '../domain/command.ts'
import type { StoredEvent } from '../domain/event.ts'
import type { At, Lease, Runsheet } from '../runsheet.ts'
import { historyOf, TOLD } from './history.ts'
import { begun, type Run, went } from './run.ts'

const PAGE = 500

/** A turn that is driven here: its log as far as it was read, and the commits that go with its lease. */
export class ActiveTurn {
  readonly lease: Lease
  readonly #runsheet: Runsheet
  /** What a model is told, of all turns. */
  readonly #told: StoredEvent[]
  #run: Run
  #seq: number

  private constructor(runsheet: Runsheet, lease: Lease, told: readonly StoredEvent[], run: Run, seq: number) {
    this.#runsheet = runsheet
    this.lease = lease
    this.#told = [...told]
    this.#run = run
    this.#seq = seq
  }

  static async open(runsheet: Runsheet, lease: Lease): Promise<ActiveTurn | undefined> {
    const told = await runsheet.store.queries.events(lease, { types: TOLD })
    const started = told.find(event => event.type === 'turn_started' && event.turn_id === lease.turn)
    if (!started) return undefined
    const before = told.filter(({ seq }) => seq <= started.seq)
    const state = await runsheet.read(lease)
    const turn = new ActiveTurn(runsheet, lease, before, begun(state, lease.turn, started), started.seq)
    await turn.catchUp()
    return turn
  }

  get run(): Run {
    return this.#run
  }

  get history(): ReturnType<typeof historyOf> {
    return historyOf(this.#told, this.lease.turn, this.#run.policy.history_limit)
  }

  /** Reads what has happened since, whoever did it. */
  async catchUp(): Promise<void> {
    const state = await this.#runsheet.read(this.lease)
    while (this.#seq < state.seq) {
      const page = await this.#runsheet.store.eventsAfter(this.lease, this.#seq, Math.min(PAGE, state.seq - this.#seq))
      this.#told.push(...page.filter(({ type }) => TOLD.includes(type)))
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
