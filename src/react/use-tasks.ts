import { useRef, useState } from 'react'
import type { Client, PersonsFields } from '../client/client.ts'
import type { LiveState } from '../client/live-state.ts'
import { randomId } from '../client/random-id.ts'
import { lineage, planTurnOf, tasksInView } from '../domain/conversation.ts'
import { instantOf } from '../domain/instant.ts'
import type { Task } from '../domain/task.ts'
import { isAtWork, workedMs } from '../domain/work.ts'
import {
  countTasks,
  currentTaskOf,
  isAgentWorking,
  type TaskCounts,
  type UnfinishedTurn,
  unfinishedTurn,
} from './plan-progress.ts'
import { planProof, type PlanProof } from './plan-proof.ts'
import { type RunsheetSource, useRunsheet } from './runsheet-provider.tsx'
import { useNow } from './use-now.ts'
import { useTaskChanges } from './use-task-changes.ts'
import { isUnseen } from './unseen-changes.ts'

/** The tasks in view, and the changes that a person can make. */
export interface TasksHandle {
  /** The tasks in view, in list order, with this person's changes that are still on their way. */
  readonly tasks: readonly Task[]
  readonly current: Task | undefined
  readonly counts: TaskCounts
  readonly isAgentWorking: boolean
  /**
   * Milliseconds that the agent has worked on the current task, without waits and pauses. Updated every second; undefined
   * while no agent works on it.
   */
  readonly elapsedMs: number | undefined
  /** What the latest turn left open, once it is over. */
  readonly unfinished: UnfinishedTurn | undefined
  /** Whether a person made or changed a task and the agent has not seen it yet. */
  readonly isUnseen: (task: Task) => boolean
  /** Changes are sent one after the other. True where the server accepted it; otherwise `error` says why not. */
  readonly change: (id: string, fields: PersonsFields) => Promise<boolean>
  /**
   * Moves a task to an index of the list that the person sees: of `tasks`, or of the `shown` part of it. Resolves with
   * the index where it ended up.
   */
  readonly move: (id: string, to: number, shown?: readonly Task[]) => Promise<number | undefined>
  /** Adds a task; the same title after a failure is the same task. */
  readonly add: (title: string) => Promise<Task | undefined>
  /** Takes back the last cancellation of this window; undefined where there is none. */
  readonly undo: () => Promise<boolean> | undefined
  /** The checks of the tasks, and how far "done" can be trusted. */
  readonly proof: PlanProof
  /** Why the last change was not accepted. */
  readonly error: unknown
}

/** The plan of a conversation without any UI: the tasks in view, where they stand, and a person's changes. */
export function useTasks(source?: RunsheetSource): TasksHandle {
  const { client, session, view } = useRunsheet(source)
  const { conversation, limited } = view.state
  const { tasks, change } = useTaskChanges(client, tasksInView(conversation))
  const [error, setError] = useState<unknown>()
  const current = currentTaskOf(conversation, tasks)
  const elapsedMs = useElapsed(client, view.state, current)
  // Repeating a failed addition with the same key cannot add the task twice.
  const failedAdd = useRef({ title: '', key: '' })
  /** The tasks that were cancelled here, as they were before. */
  const cancelled = useRef<Task[]>([])

  const attempt = async <T>(work: Promise<T>): Promise<T | undefined> => {
    setError(undefined)
    try {
      return await work
    } catch (problem) {
      setError(problem)
      return undefined
    }
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
    return attempt(change(id, toPosition).then(() => moved))
  }
  const restore = async ({ id, status, outcome }: Task): Promise<void> => {
    const isStill = (wanted: Task['status'], fields: PersonsFields) => (latest: readonly Task[]) =>
      latest.some(task => task.id === id && task.status === wanted) ? fields : undefined
    await change(id, isStill('cancelled', { status: 'pending' }))
    if (status === 'blocked') await change(id, isStill('pending', { status, outcome }))
  }
  const add = async (title: string): Promise<Task | undefined> => {
    const { key } = failedAdd.current.title === title ? failedAdd.current : { key: randomId() }
    failedAdd.current = { title, key }
    const answer = await attempt(client.addTask(session, { title }, key))
    if (answer) failedAdd.current = { title: '', key: '' }
    return answer?.task
  }
  return {
    tasks,
    current,
    counts: countTasks(tasks),
    isAgentWorking: isAgentWorking(conversation),
    elapsedMs,
    unfinished: unfinishedTurn(conversation, limited),
    isUnseen: task => isUnseen(view.state, task),
    change: async (id, fields) => {
      const before = tasks.find(task => task.id === id)
      if (before && fields.status === 'cancelled') cancelled.current.push(before)
      return (await attempt(change(id, fields).then(() => true))) ?? false
    },
    undo: () => {
      const task = cancelled.current.pop()
      return task && attempt(restore(task)).then(() => true)
    },
    move,
    add,
    proof: planProof(client, session, conversation, tasks, view.state.output, work =>
      attempt(work.then(() => true)).then(Boolean),
    ),
    error,
  }
}

/** How long the agent has worked on a task, while it does. */
function useElapsed(client: Client, { conversation, work }: LiveState, task: Task | undefined): number | undefined {
  const turn = task && planTurnOf(conversation, task)
  const turnWork = turn === undefined ? undefined : work[turn]
  const ms = useNow(client, turnWork !== undefined && turnWork.since !== null)
  if (ms === undefined || turn === undefined || task?.started_at === undefined) return undefined
  const now = instantOf(ms)
  const turns = new Set([turn, task.conversation_turn_id].flatMap(id => lineage(conversation, id)))
  return isAtWork(turnWork, now) ? workedMs(work, [...turns], task.started_at, now) : undefined
}
