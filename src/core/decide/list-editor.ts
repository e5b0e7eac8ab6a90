import type { Sources } from '../model/command.ts'
import type { Conversation } from '../model/conversation.ts'
import { answersDispute, disputed, withoutDispute, type Dispute } from '../proof/dispute.ts'
import type { Json, NewEvent } from '../model/event.ts'
import type { TaskFields } from '../model/fields.ts'
import type { Instant } from '../model/instant.ts'
import { lastTurnOf, planById, planIdOf } from '../model/plan.ts'
import { Refusal, invalidField } from '../model/refusal.ts'
import { captures } from '../model/policy.ts'
import type { RemovedTask } from '../views/removed.ts'
import { BLANK, visibleFields } from '../model/row.ts'
import { NEXT, byPosition, isOpen, type Actor, type Task, type TaskStatus } from '../model/task.ts'
import { LIMITS, Problem, line } from '../model/text.ts'
import {
  changedBy,
  difference,
  longestIncreasing,
  notAllowed,
  placements,
  positionBetween,
  withFields,
  withFormer,
  withStatus,
} from './transition.ts'

export type Draft = Partial<TaskFields> &
  Pick<TaskFields, 'title'> &
  Pick<Task, 'id' | 'created_by'> &
  Pick<Task, 'source_user_message_id' | 'source_assistant_message_id'> & {
    readonly number?: number
    readonly allowed?: readonly string[]
    readonly asks_scope?: readonly string[]
  }

/**
 * Collects one command's changes to the list. `finish` gives every plan its current task and returns one event, with
 * one version step, per touched task.
 */
export class ListEditor {
  readonly #state: Conversation
  readonly #now: Instant
  readonly #by: Actor
  readonly #turnId: string | null
  readonly #touched = new Map<string, Task>()
  readonly #removed = new Set<string>()
  /** Tasks that the command touched directly, and on whose behalf; all other changes are `by: system`. */
  readonly #named = new Map<string, Actor>()
  readonly #changedPlans = new Set<string>()
  readonly #started = new Set<string>()
  readonly #returned = new Set<string>()
  readonly #back = new Map<string, RemovedTask>()
  #lastNumber: number
  #lastPosition: number

  constructor(state: Conversation, now: Instant, by: Actor, turnId: string | null) {
    this.#state = state
    this.#now = now
    this.#by = by
    this.#turnId = turnId
    this.#lastNumber = state.last_number
    this.#lastPosition = state.last_position
  }

  /** Adds tasks at the end of the list, or at their `order` in the plan of `turnId`. */
  create(drafts: readonly Draft[], turnId: string): void {
    if (drafts.length === 0) return
    const planId = planIdOf(this.#state, turnId)
    const made = drafts.map(draft => this.#make(draft, turnId, planId))
    const ordered = drafts.some(draft => draft.order !== undefined)
    const plan = ordered ? this.#list().filter(task => task.plan_id === planId && !made.includes(task)) : []
    const placed = placements(
      plan,
      made.map((task, index) => ({ item: task, order: drafts[index]?.order })),
    )
    for (const { item, before } of placed) {
      const anchor = before === undefined ? undefined : this.get(before.id)
      const position = anchor ? this.#before(anchor) : this.#append()
      this.#touched.set(item.id, { ...item, position })
      this.#lastPosition = Math.max(this.#lastPosition, position)
    }
    for (const [index, task] of made.entries()) {
      const position = drafts[index]?.position
      if (position !== undefined) this.#move(task.id, position)
    }
  }

  change(id: string, fields: Partial<TaskFields>, row?: number): Refusal | undefined {
    const task = this.get(id)
    if (!task) return undefined
    const { position, order: _order, parent_id: _parent, file_id: _file, status: asked, ...rest } = fields
    const isAnswer = asked === undefined && answersDispute(task, changedBy(task, rest), this.#by)
    const status = isAnswer ? 'pending' : asked
    if (status !== undefined && status !== task.status && !NEXT[task.status].includes(status))
      return notAllowed(task, status, row)
    this.#named.set(id, this.#by)
    if (status !== undefined && status !== task.status) this.#changedPlans.add(task.plan_id)
    const next = status === undefined ? task : withStatus(task, status, this.#by, this.#now)
    // Even if it is in progress already: starting two tasks in one command is an error.
    if (status === 'in_progress') this.#started.add(id)
    if (status === 'pending' && task.status === 'in_progress') this.#returned.add(id)
    const changed = withFields(next, rest, this.#by)
    this.#touched.set(id, withoutDispute(task, changed, this.#by, isAnswer, this.#now))
    if (position !== undefined && position !== task.position) this.#move(id, position)
    return undefined
  }

  /** Blocks a task with an agent's dispute. */
  dispute(id: string, said: Pick<Dispute, 'reason' | 'by'>, row?: number): Refusal | undefined {
    const refused = this.change(id, { status: 'blocked', outcome: said.reason }, row)
    const task = this.get(id)
    if (!refused && task) this.#touched.set(id, disputed(task, said, this.#now))
    return refused
  }

  /** Adds a person's words to the dispute that they have just answered. */
  comment(id: string, comment: string): void {
    const task = this.get(id)
    const { dispute } = task ?? {}
    if (task && dispute?.ended)
      this.#touched.set(id, { ...task, dispute: { ...dispute, ended: { ...dispute.ended, comment } } })
  }

  /** Includes the changes made so far. */
  hasOpen(planId: string): boolean {
    return this.#plan(planId).some(isOpen)
  }

  sign(id: string): void {
    const task = this.get(id)
    if (!task) return
    this.#named.set(id, 'assessor')
    this.#touched.set(id, { ...task, judged_by: 'assessor' })
  }

  remove(id: string): void {
    const task = this.get(id)
    if (!task) return
    this.#named.set(id, this.#by)
    this.#changedPlans.add(task.plan_id)
    this.#touched.set(id, task)
    this.#removed.add(id)
  }

  putBack(id: string, { position, ...from }: { readonly [field: string]: Json }, changedAt: Instant): void {
    const task = this.get(id)
    if (!task) return
    this.#restore(withFormer(task, from), changedAt)
    if (typeof position === 'number') this.#move(id, position)
  }

  bringBack(gone: RemovedTask, removedAt: Instant): void {
    this.#back.set(gone.task.id, gone)
    const { removed_at: _removed, ...task } = gone.task
    this.#restore(task, removedAt)
    // Another task may have its place by now.
    this.#move(task.id, task.position)
  }

  arrange(ids: readonly string[]): void {
    const tasks = ids.flatMap(id => this.get(id) ?? [])
    const stay = longestIncreasing(tasks.map(({ position }) => position))
    for (const [index, { id }] of tasks.entries()) {
      if (stay.has(index)) continue
      const next = tasks.find((_, each) => each > index && stay.has(each))
      const room = positionBetween(this.get(tasks[index - 1]?.id ?? '')?.position, next?.position)
      if (room === undefined) return this.#placeAtEnd(tasks)
      this.#place(id, room)
    }
  }

  finish(): NewEvent[] | Refusal {
    for (const plan of this.#changedPlans) this.#ensureCurrent(plan)
    if (this.#started.size > 1 && this.#twoInOnePlan()) {
      return new Refusal('two_in_progress', {})
    }
    const before = this.#state.open.length
    const after = this.#changedPlans.size > 0 ? this.#openCount() : before
    if (after > before && after > LIMITS.open) {
      return new Refusal('too_many_open', { limit: LIMITS.open, got: after })
    }
    return [...this.#touched.keys()].flatMap(id => this.#eventFor(id))
  }

  get(id: string): Task | undefined {
    return this.#removed.has(id) ? undefined : (this.#touched.get(id) ?? this.#state.tasks.get(id))
  }

  #make(draft: Draft, turnId: string, planId: string): Task {
    this.#lastNumber = draft.number ?? this.#lastNumber + 1
    const { id, number: _number, order: _order, position: _position, ...rest } = draft
    const { status = 'pending', allowed: _allowed, asks_scope: _asks, ...fields } = rest
    const blank: Task = {
      id,
      number: this.#lastNumber,
      session_id: this.#state.session_id,
      conversation_turn_id: turnId,
      plan_id: planId,
      ...visibleFields({ ...BLANK, title: draft.title }),
      position: Number.POSITIVE_INFINITY,
      status: 'pending',
      judged_by: null,
      created_by: draft.created_by,
      version: 1,
      created_at: this.#now,
      updated_at: this.#now,
    }
    const task = withFields(withStatus(blank, status, this.#by, this.#now), fields, this.#by)
    if (status === 'in_progress') this.#started.add(id)
    this.#named.set(id, this.#by)
    this.#changedPlans.add(planId)
    this.#touched.set(id, task)
    return task
  }

  /** The task that became current in its place goes back to pending, unless it was changed since. */
  #restore(task: Task, since: Instant): void {
    const { plan_id } = task
    const others = this.#plan(plan_id).filter(({ id, status }) => id !== task.id && status === 'in_progress')
    const isCurrent = task.status === 'in_progress' && others.every(({ updated_at }) => updated_at === since)
    this.#named.set(task.id, this.#by)
    if (this.get(task.id)?.status !== task.status) this.#changedPlans.add(plan_id)
    if (isCurrent) this.#started.add(task.id)
    this.#touched.set(task.id, task.status === 'in_progress' && !isCurrent ? { ...task, status: 'pending' } : task)
  }

  /** At most one task is in progress and, unless the toolset captures items, exactly one while any is pending. */
  #ensureCurrent(plan: string): void {
    const open = this.#plan(plan).filter(isOpen)
    const running = open.filter(task => task.status === 'in_progress')
    if (running.length > 1) {
      const keep = running.find(task => this.#started.has(task.id)) ?? running[0]
      for (const task of running) if (task !== keep && !this.#started.has(task.id)) this.#setStatus(task, 'pending')
    } else if (running.length === 0 && !captures(this.#state.policy)) {
      const first = open.find(task => !this.#returned.has(task.id))
      const stays = open.find(task => this.#returned.has(task.id))
      if (first) this.#setStatus(first, 'in_progress')
      // The only open task stays in progress, with its original start.
      else if (stays) this.#touched.set(stays.id, this.#asStarted(stays))
    }
  }

  #setStatus(task: Task, status: TaskStatus): void {
    this.#touched.set(task.id, withStatus(task, status, 'system', this.#now))
  }

  #asStarted(task: Task): Task {
    const started_at = this.#state.tasks.get(task.id)?.started_at
    return { ...task, status: 'in_progress', ...(started_at === undefined ? {} : { started_at }) }
  }

  #twoInOnePlan(): boolean {
    const plans = [...this.#started].flatMap(id => {
      const task = this.get(id)
      return task?.status === 'in_progress' ? [task.plan_id] : []
    })
    return new Set(plans).size < plans.length
  }

  #openCount(): number {
    const wasOpen = (id: string): number => (this.#isOpenIn(this.#state.tasks.get(id)) ? 1 : 0)
    let count = this.#state.open.length
    for (const id of this.#touched.keys()) count += (this.#isOpenIn(this.get(id)) ? 1 : 0) - wasOpen(id)
    return count
  }

  #isOpenIn(task: Task | undefined): boolean {
    return task !== undefined && isOpen(task)
  }

  /** A task takes the place of the one that holds the position: moving down it goes behind it, moving up before it. */
  #move(id: string, position: number): void {
    const task = this.get(id)
    if (!task) return
    const holder = this.#list().find(other => other.id !== id && other.position === position)
    const isDown = task.position < position
    const target = holder
      ? this.#between(list => {
          const others = list.filter(other => other.id !== id)
          const at = others.findIndex(other => other.id === holder.id) + (isDown ? 1 : 0)
          return [others[at - 1], others[at]]
        })
      : position
    this.#touched.set(id, { ...(this.get(id) ?? task), position: target })
    this.#lastPosition = Math.max(this.#lastPosition, target)
  }

  #place(id: string, position: number): void {
    const task = this.get(id)
    if (!task) return
    this.#named.set(id, this.#by)
    this.#touched.set(id, { ...task, position })
    this.#lastPosition = Math.max(this.#lastPosition, position)
  }

  #placeAtEnd(tasks: readonly Task[]): void {
    for (const { id } of tasks) this.#place(id, this.#append())
  }

  #append(): number {
    return Math.floor(this.#lastPosition) + 1
  }

  #before({ id }: Task): number {
    return this.#between(list => {
      const at = list.findIndex(task => task.id === id)
      return [list[at - 1], list[at]]
    })
  }

  /** A position between two neighbours in the list, which is renumbered if there is no room. */
  #between(neighbours: (list: readonly Task[]) => readonly [Task | undefined, Task | undefined]): number {
    const [previous, next] = neighbours(this.#list())
    const room = positionBetween(previous?.position, next?.position)
    if (room !== undefined) return room
    this.#renumber()
    return this.#between(neighbours)
  }

  /** Renumbers the whole list once no float is left between two neighbours. */
  #renumber(): void {
    for (const [index, task] of this.#list().entries()) {
      if (Number.isFinite(task.position)) this.#touched.set(task.id, { ...task, position: index + 1 })
    }
  }

  #list(): Task[] {
    const ids = new Set([...this.#state.tasks.values()].map(task => task.id))
    for (const id of this.#touched.keys()) ids.add(id)
    return [...ids].flatMap(id => this.get(id) ?? []).sort(byPosition)
  }

  #plan(planId: string): Task[] {
    const ids = new Set([...planById(this.#state, planId).open, ...this.#touched.keys()])
    return [...ids]
      .flatMap(id => this.get(id) ?? [])
      .filter(({ plan_id }) => plan_id === planId)
      .sort(byPosition)
  }

  #eventFor(id: string): NewEvent[] {
    const before = this.#state.tasks.get(id) ?? this.#back.get(id)?.task
    const task = this.#touched.get(id)
    if (!task) return []
    const by = this.#named.get(id) ?? 'system'
    const turn_id = this.#turnId ?? lastTurnOf(planById(this.#state, task.plan_id))
    if (this.#removed.has(id)) {
      // Created and removed by the same command: no event.
      if (!before) return []
      const gone = { ...before, version: before.version + 1, updated_at: this.#now, removed_at: this.#now }
      return [{ type: 'task_removed', turn_id, data: { task: gone, by } }]
    }
    if (!before) return [{ type: 'task_created', turn_id, data: { task, by } }]
    const from = difference(before, task)
    if (Object.keys(from).length === 0) return []
    const next = { ...task, version: before.version + 1, updated_at: this.#now }
    return [{ type: 'task_changed', turn_id, data: { task: next, by, from } }]
  }
}

type CleanSources = { source_user_message_id?: string; source_assistant_message_id?: string }

export function sourcesOf(command: Sources): CleanSources | Refusal {
  const clean: CleanSources = {}
  for (const field of ['source_user_message_id', 'source_assistant_message_id'] as const) {
    const raw = command[field]
    if (raw === undefined) continue
    const value = line(raw, LIMITS.reference)
    if (value instanceof Problem) return invalidField(field, value.fact)
    clean[field] = value
  }
  return clean
}
