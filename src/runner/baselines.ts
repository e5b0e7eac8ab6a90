import type { Check, Workspace } from '../domain/check.ts'
import type { Conversation } from '../domain/conversation.ts'
import { checkedOf, type Plan, planById, planOf } from '../domain/plan.ts'
import { proofOf } from '../domain/proof.ts'
import type { StoredEvent } from '../domain/event.ts'
import type { RunToMake } from '../domain/check-runs.ts'
import type { Instant } from '../domain/instant.ts'
import { isOpen } from '../domain/task.ts'
import type { Door, Lease } from '../door/door.ts'
import type { Baseline, Workspaces } from './workspaces.ts'

interface Known {
  /** Of the newest part. */
  readonly seq: number | undefined
  readonly at: Instant | undefined
  readonly baseline: Baseline
}

/** Guarded files of plans at confirmation, cached from the log. */
export class Baselines {
  readonly #door: Door
  readonly #workspaces: Workspaces
  readonly #known = new Map<string, Known>()
  readonly #covered = new Set<string>()

  constructor(door: Door, workspaces: Workspaces) {
    this.#door = door
    this.#workspaces = workspaces
  }

  /** The baseline of a run's plan, if it is cached and covers the run's check. */
  known(state: Conversation, next: RunToMake): Baseline | undefined {
    const plan = planFor(state, next)
    const known = this.#known.get(plan.id)
    const isCurrent = known?.seq === plan.baseline && this.#covered.has(`${plan.id} ${next.check.hash}`)
    return isCurrent ? known?.baseline : undefined
  }

  /** The baseline of a run's plan. Covers a new check before its first run. */
  async take(lease: Lease, state: Conversation, next: RunToMake, workspace: Workspace): Promise<Baseline> {
    const plan = planFor(state, next)
    const before = await this.#read(lease, plan)
    const checks = next.why === 'baseline' ? [...checksOf(state, plan), next.check] : [next.check]
    const taken = await this.#workspaces.baselineOf(workspace, checks, before.baseline)
    for (const { hash } of checks) this.#covered.add(`${plan.id} ${hash}`)
    if (!taken) return before.baseline
    return (await this.#store(lease, next.turn_id, before, plan, taken)).baseline
  }

  /** Takes the baseline before the work. If that fails, no file counts as unchanged. */
  async look(lease: Lease, state: Conversation, next: RunToMake, workspace: Workspace): Promise<unknown> {
    try {
      return await this.take(lease, state, next, workspace)
    } catch (error) {
      const none = { covers: [], files: {}, incomplete: true } as const
      const plan = planFor(state, next)
      await this.#store(lease, next.turn_id, await this.#read(lease, plan), plan, none)
      throw error
    }
  }

  /** Whether a run belongs to the confirmation: in a later one, the code may be the agent's. */
  isFirst(state: Conversation, next: RunToMake): boolean {
    const { at } = this.#known.get(planFor(state, next).id) ?? {}
    return next.why === 'baseline' && at !== undefined && next.at <= at
  }

  async add(lease: Lease, state: Conversation, next: RunToMake, part: Baseline): Promise<void> {
    const plan = planFor(state, next)
    await this.#store(lease, next.turn_id, await this.#read(lease, plan), plan, part)
  }

  async #store(lease: Lease, turn_id: string, before: Known, { id }: Plan, part: Baseline): Promise<Known> {
    const command = { type: 'take_baseline', turn_id, plan_id: id, ...part } as const
    const { events } = await this.#door.run({ ...lease, lease }, command)
    const [event] = events
    const known = {
      seq: event?.seq ?? before.seq,
      at: before.at ?? event?.timestamp,
      baseline: merged(before.baseline, part),
    }
    this.#known.set(id, known)
    return known
  }

  async #read(lease: Lease, { id, baseline: seq }: Plan): Promise<Known> {
    const known = this.#known.get(id)
    if (known && (known.seq ?? 0) >= (seq ?? 0)) return known
    const events = await this.#door.conversations.events(lease, { types: ['baseline_taken'] })
    const own = events.filter(
      (event): event is StoredEvent<'baseline_taken'> => event.type === 'baseline_taken' && event.data.plan_id === id,
    )
    const baseline = own.reduce((sum: Baseline, { data }) => merged(sum, data), { covers: [], files: {} })
    const read = { seq: own.at(-1)?.seq, at: own[0]?.timestamp, baseline }
    this.#known.set(id, read)
    return read
  }
}

function planFor(state: Conversation, { task_id, turn_id }: RunToMake): Plan {
  const task = state.tasks.get(task_id ?? '')
  return task ? planById(state, proofOf(state, task.id).confirmed_in ?? task.plan_id) : planOf(state, turn_id)
}

const checksOf = (state: Conversation, plan: Plan): readonly Check[] => [
  ...(plan.done_checks ?? []),
  ...checkedOf(state, plan).flatMap(task => (isOpen(task) ? (task.checks ?? []) : [])),
]

/** The first record of a file wins, unless the check itself wrote the file before the work. */
function merged(known: Baseline, more: Baseline): Baseline {
  const incomplete = known.incomplete || more.incomplete
  const tracked = known.tracked ?? more.tracked
  const written = [...new Set([...(known.written ?? []), ...(more.written ?? [])])]
  return {
    covers: [...new Set([...known.covers, ...more.covers])],
    files: more.written ? { ...known.files, ...more.files } : { ...more.files, ...known.files },
    ...(written.length > 0 ? { written } : {}),
    ...(incomplete ? { incomplete } : {}),
    ...(tracked ? { tracked } : {}),
  }
}
