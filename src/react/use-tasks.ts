import { lastTurnOf, planById } from '../domain/plan.ts'
import { useMemo, useReducer, useRef, useState } from 'react'
import type { Client } from '../client/client.ts'
import type { PersonsFields } from '../domain/wire.ts'
import type { LiveState } from '../client/live-state.ts'
import { randomId } from '../client/random-id.ts'
import { tasksInView } from '../domain/conversation.ts'
import { instantOf } from '../domain/instant.ts'
import { countTasks } from '../domain/tally.ts'
import type { Task } from '../domain/task.ts'
import { claimedOutcome, rejectedIn } from '../domain/thread-log.ts'
import { isAtWork, workedMs } from '../domain/work.ts'
import {
  currentTaskOf,
  isAgentWorking,
  isEnded,
  type TaskCounts,
  type UnfinishedTurn,
  unfinishedTurn,
} from './plan-progress.ts'
import { planProof, type PlanProof } from './plan-proof.ts'
import { type RunsheetSource, useRunsheet } from './runsheet-provider.tsx'
import { type Take, TaskHistory } from './task-history.ts'
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
  /** The latest turn is over, and these are the tasks that it worked from: its end in a thread says how they stand. */
  readonly isEnded: boolean
  /** Whether a person made or changed a task and the agent has not seen it yet. */
  readonly isUnseen: (task: Task) => boolean
  /** Changes are sent one after the other. True where the server accepted it; otherwise `error` says why not. */
  readonly change: (id: string, fields: PersonsFields) => Promise<boolean>
  /** Takes a task off the list. */
  readonly remove: (id: string) => Promise<boolean>
  /** Completes a task on the person's word, whatever the assessor or a check said, with what the agent claimed last. */
  readonly accept: (task: Task) => Promise<boolean>
  /** Opens a settled task again. */
  readonly reopen: (task: Task) => Promise<boolean>
  /**
   * Moves a task to an index of the list that the person sees: of `tasks`, or of the `shown` part of it. Resolves with
   * the index where it ended up.
   */
  readonly move: (id: string, to: number, shown?: readonly Task[]) => Promise<number | undefined>
  /** Adds a task; the same title after a failure is the same task. */
  readonly add: (title: string) => Promise<Task | undefined>
  /**
   * Takes back the last change, move, addition or removal of this window; undefined where there is none. False where the
   * server refused, because what was changed has changed again since: then `error` says so.
   */
  readonly undo: () => Promise<boolean> | undefined
  /** Makes the change again that was taken back last. */
  readonly redo: () => Promise<boolean> | undefined
  readonly canUndo: boolean
  readonly canRedo: boolean
  /** The checks of the tasks, and how far "done" can be trusted. */
  readonly proof: PlanProof
  /** Why the last change was not accepted. */
  readonly error: unknown
}

/** The plan of a conversation without any UI: the tasks in view, where they stand, and a person's changes. */
export function useTasks(source?: RunsheetSource): TasksHandle {
  const { client, session, view } = useRunsheet(source)
  const { conversation, limited } = view.state
  const { tasks, change, send } = useTaskChanges(client, tasksInView(conversation))
  const [error, setError] = useState<unknown>()
  const current = currentTaskOf(conversation, tasks)
  const elapsedMs = useElapsed(client, view.state, current)
  // Repeating a failed addition with the same key cannot add the task twice.
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
  /** Notes what a person does, so that it can be taken back. Whether the server accepted it. */
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

/** What this window changed in a conversation. */
function useTaskHistory(session: string): TaskHistory {
  const [, onChange] = useReducer((count: number) => count + 1, 0)
  const known = useRef<{ readonly session: string; readonly history: TaskHistory }>(undefined)
  if (known.current?.session !== session) known.current = { session, history: new TaskHistory(onChange) }
  return known.current.history
}

/** How long the agent has worked on a task, while it does. */
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
