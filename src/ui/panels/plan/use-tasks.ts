import { useMemo, useReducer, useRef, useState } from 'react'
import { lastTurnOf, planById } from '../../../core/model/plan.ts'
import type { Client } from '../../../client/client.ts'
import type { PersonsFields } from '../../../core/views/wire.ts'
import type { LiveState } from '../../../client/live.ts'
import { randomId } from '../../../client/random-id.ts'
import { tasksInView } from '../../../core/model/conversation.ts'
import { instantOf } from '../../../core/model/instant.ts'
import { countTasks } from '../../../core/views/tally.ts'
import type { Task } from '../../../core/model/task.ts'
import { claimedOutcome, rejectedIn } from '../../../core/views/thread-log.ts'
import { isAtWork, workedMs } from '../../../core/views/work.ts'
import {
  currentTaskOf,
  isAgentWorking,
  isEnded,
  unfinishedTurn,
  type TaskCounts,
  type UnfinishedTurn,
} from './progress.ts'
import { planProof, type PlanProof } from './proof.ts'
import { useRunsheet, type RunsheetSource } from '../parts/provider.tsx'
import { TaskHistory, useTaskChanges, type Take } from './task-changes.ts'
import { useNow } from '../parts/hooks.ts'

/** The tasks in view, and the changes a person can make. */
export interface TasksHandle {
  /** The tasks in view in list order, including this person's changes in flight. */
  readonly tasks: readonly Task[]
  readonly current: Task | undefined
  readonly counts: TaskCounts
  readonly isAgentWorking: boolean
  /**
   * Milliseconds the agent has worked on the current task, without waits and pauses. Updated every second; undefined
   * while no agent works on it.
   */
  readonly elapsedMs: number | undefined
  /** The open tasks of the latest turn after it ended. */
  readonly unfinished: UnfinishedTurn | undefined
  /** True if the latest turn has ended and these are its tasks: the thread then shows their result. */
  readonly isEnded: boolean
  /** True if a person added or changed the task and the agent has not seen it yet. */
  readonly isUnseen: (task: Task) => boolean
  /** Sends changes sequentially. Resolves to true if the server accepted it; otherwise `error` says why not. */
  readonly change: (id: string, fields: PersonsFields) => Promise<boolean>
  /** Removes a task from the list. */
  readonly remove: (id: string) => Promise<boolean>
  /** Completes a task on the person's word with the agent's last claimed outcome; overrides judge and checks. */
  readonly accept: (task: Task) => Promise<boolean>
  /** Has a disputed task done as it is asked; an edit of the task gives any other answer. */
  readonly insist: (task: Task, comment: string) => Promise<boolean>
  /** Reopens a settled task. */
  readonly reopen: (task: Task) => Promise<boolean>
  /** Moves a task to an index of `tasks`, or of the `shown` part of it. Resolves to its final index. */
  readonly move: (id: string, to: number, shown?: readonly Task[]) => Promise<number | undefined>
  /** Adds a task. Retrying the same title after a failure does not add it twice. */
  readonly add: (title: string) => Promise<Task | undefined>
  /**
   * Undoes this window's last change, move, addition or removal; undefined if there is none. Resolves to false if the
   * server refused because the same fields have changed since: then `error` says so.
   */
  readonly undo: () => Promise<boolean> | undefined
  /** Redoes the change that was undone last. */
  readonly redo: () => Promise<boolean> | undefined
  readonly canUndo: boolean
  readonly canRedo: boolean
  /** The checks of the tasks, and how far "done" can be trusted. */
  readonly proof: PlanProof
  /** Why the last change was refused. */
  readonly error: unknown
}

/** The headless plan of a conversation: the tasks in view, their progress, and a person's changes. */
export function useTasks(source?: RunsheetSource): TasksHandle {
  const { client, session, view } = useRunsheet(source)
  const { conversation, limited } = view.state
  const { tasks, change, send } = useTaskChanges(client, tasksInView(conversation))
  const [error, setError] = useState<unknown>()
  const current = currentTaskOf(conversation, tasks)
  const elapsedMs = useElapsed(client, view.state, current)
  // A retry with the same key cannot add the task twice.
  const failedAdd = useRef({ title: '', key: '' })
  const history = useTaskHistory(session)
  const turn = conversation.running_turn ?? conversation.latest_turn
  const rejected = useMemo(() => rejectedIn(view.state.thread, turn), [view.state.thread, turn])

  const attempt = async <T>(work: Promise<T>): Promise<T | undefined> => {
    setError(undefined)
    try {
      return await work
    } catch (problem) {
      setError(problem)
      return undefined
    }
  }
  /** Records a change for undo. Resolves to whether the server accepted it. */
  const noted = async (id: string, work: Promise<number | undefined>): Promise<boolean> => {
    const sent = attempt(work.then(version => ({ version })))
    history.changing(sent.then(made => (made?.version === undefined ? undefined : { id, version: made.version })))
    return (await sent) !== undefined
  }
  const move: TasksHandle['move'] = async (id, to, shown = tasks) => {
    const ids = new Set(shown.map(task => task.id))
    const by = to - shown.findIndex(task => task.id === id)
    let moved: number | undefined
    const toPosition = (latest: readonly Task[]): PersonsFields | undefined => {
      const among = latest.filter(task => ids.has(task.id))
      const index = among.findIndex(task => task.id === id) + by
      const target = among[index]
      if (!target || target.id === id) return undefined
      moved = index
      return { position: target.position }
    }
    return (await noted(id, change(id, toPosition))) ? moved : undefined
  }
  const taken: Take = ({ id, version }) =>
    attempt(
      send(id, async () => (await client.undoTask(session, id, version)).task.version).then(next => ({
        id,
        version: next,
      })),
    )
  const changed: TasksHandle['change'] = (id, fields) => noted(id, change(id, fields))
  const add = async (title: string): Promise<Task | undefined> => {
    const { key } = failedAdd.current.title === title ? failedAdd.current : { key: randomId() }
    failedAdd.current = { title, key }
    const answer = attempt(client.addTask(session, { title }, key))
    history.changing(answer.then(made => made && { id: made.task.id, version: made.task.version }))
    const { task } = (await answer) ?? {}
    if (task) failedAdd.current = { title: '', key: '' }
    return task
  }
  const { open: remaining, ...counts } = countTasks(tasks)
  return {
    tasks,
    current,
    counts: { ...counts, remaining },
    isAgentWorking: isAgentWorking(conversation),
    elapsedMs,
    unfinished: unfinishedTurn(conversation, limited),
    isEnded: isEnded(conversation, tasks),
    isUnseen: task => isUnseen(view.state, task),
    change: changed,
    remove: id =>
      noted(
        id,
        send(id, async task => (await client.removeTask(session, id, task?.version ?? 0)).task.version),
      ),
    accept: ({ id, status }) => {
      const outcome = status === 'completed' ? undefined : claimedOutcome(view.state.thread, id)
      return changed(id, { status: 'completed', ...(outcome === undefined ? {} : { outcome }) })
    },
    insist: ({ id }, comment) =>
      noted(
        id,
        send(id, async () => (await client.insist(session, id, comment === '' ? undefined : comment)).task.version),
      ),
    reopen: ({ id }) => changed(id, { status: 'pending' }),
    undo: () => history.undo(taken),
    redo: () => history.redo(taken),
    canUndo: history.canUndo,
    canRedo: history.canRedo,
    move,
    add,
    proof: planProof(client, session, conversation, tasks, view.state.output, rejected, work =>
      attempt(work.then(() => true)).then(Boolean),
    ),
    error,
  }
}

function useTaskHistory(session: string): TaskHistory {
  const [, onChange] = useReducer((count: number) => count + 1, 0)
  const known = useRef<{ readonly session: string; readonly history: TaskHistory }>(undefined)
  if (known.current?.session !== session) known.current = { session, history: new TaskHistory(onChange) }
  return known.current.history
}

/** Undefined while no agent works on the task. */
function useElapsed(client: Client, { conversation, work }: LiveState, task: Task | undefined): number | undefined {
  const plan = task && planById(conversation, task.plan_id)
  const turn = plan && lastTurnOf(plan)
  const turnWork = turn === undefined ? undefined : work[turn]
  const ms = useNow(client, turnWork !== undefined && turnWork.since !== null)
  if (ms === undefined || !task || !plan || task.started_at === undefined) return undefined
  const now = instantOf(ms)
  const turns = new Set([...plan.turns, task.conversation_turn_id])
  return isAtWork(turnWork, now) ? workedMs(work, [...turns], task.started_at, now) : undefined
}

export function isUnseen({ conversation, added, before }: LiveState, task: Task): boolean {
  if ((added[task.id] ?? 0) > conversation.answered_seq) return true
  return Object.entries(before[task.id] ?? {}).some(
    ([field, value]) => JSON.stringify(task[field as keyof Task] ?? null) !== JSON.stringify(value),
  )
}
