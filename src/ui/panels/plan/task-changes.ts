import { useEffect, useRef, useState } from 'react'
import type { Client } from '../../../client/client.ts'
import type { PersonsFields } from '../../../core/views/wire.ts'
import { RunsheetError } from '../../../client/http.ts'
import type { Task } from '../../../core/model/task.ts'

/** Maximum wait for the log to show an accepted change. Without a stream the client polls every two seconds. */
const LOG_DELAY_MS = 4_000

/** Fields without optimistic update: they affect other tasks, or are stored in another form than sent. */
const WAITING: ReadonlySet<string> = new Set(['status', 'position', 'checks', 'check', 'approve', 'scope'])

/** Computes the fields to send after the preceding changes; undefined sends nothing. */
type FieldsToSend = (tasks: readonly Task[]) => PersonsFields | undefined

interface TaskChanges {
  readonly tasks: readonly Task[]
  /** Resolves to the version that the change produced; undefined if nothing was sent. */
  readonly change: (id: string, fields: PersonsFields | FieldsToSend) => Promise<number | undefined>
  /** Queues another request about a task; `work` gets the task's current state. */
  readonly send: (id: string, work: (task: Task | undefined) => Promise<number>) => Promise<number>
}

/** Sends a person's changes sequentially: each starts from the result of the previous one. */
export function useTaskChanges(client: Client, tasks: readonly Task[]): TaskChanges {
  const latest = useRef(tasks)
  latest.current = tasks
  const [optimistic, setOptimistic] = useState<ReadonlyMap<string, Optimistic>>(new Map())
  const onTasks = useRef(() => {})
  useEffect(() => onTasks.current(), [tasks])
  const queue = useRef<Promise<unknown>>(Promise.resolve())

  const shown = (id: string, version: number): Promise<void> =>
    new Promise(resolve => {
      const timer = setTimeout(resolve, LOG_DELAY_MS)
      onTasks.current = () => {
        if (latest.current.some(task => task.id === id && task.version < version)) return
        clearTimeout(timer)
        resolve()
      }
      onTasks.current()
    })
  /** Runs `work` after the preceding changes are in the log. */
  const inTurn = <T extends number | undefined>(
    id: string,
    work: (task: Task | undefined) => Promise<T>,
  ): Promise<T> => {
    const sent = queue.current.then(async () => {
      const version = await work(latest.current.find(each => each.id === id))
      if (version !== undefined) await shown(id, version)
      return version
    })
    queue.current = sent.catch(() => {})
    return sent
  }
  const change: TaskChanges['change'] = async (id, fields) => {
    const entry = typeof fields === 'function' ? undefined : optimisticOf(fields)
    if (entry) setOptimistic(before => new Map(before).set(id, entry))
    try {
      return await inTurn(id, async task => {
        const toSend = typeof fields === 'function' ? fields(latest.current) : fields
        return task && toSend && changeTask(client, task, toSend)
      })
    } finally {
      if (entry) setOptimistic(before => without(before, id, entry))
    }
  }
  return { tasks: withOptimistic(tasks, optimistic), change, send: inTurn }
}

/** Retries once after a version mismatch, unless someone else changed the same fields. */
export async function changeTask(client: Client, task: Task, fields: PersonsFields): Promise<number> {
  const send = async (version: number): Promise<number> =>
    (await client.changeTask(task.session_id, task.id, version, fields)).task.version
  try {
    return await send(task.version)
  } catch (error) {
    const now = error instanceof RunsheetError && error.code === 'version_mismatch' ? error.details.task : undefined
    if (!now || !Object.keys(fields).every(field => valueOf(now, field) === valueOf(task, field))) throw error
    return send(now.version)
  }
}

/** Compares checks by their hashes. */
function valueOf(task: Task, field: string): unknown {
  if (field !== 'checks' && field !== 'check' && field !== 'approve') return task[field as keyof Task]
  return (task.checks ?? []).map(({ hash }) => hash).join(' ')
}

type Optimistic = Partial<Task>

function optimisticOf(fields: PersonsFields): Optimistic | undefined {
  const entries = Object.entries(fields).filter(([name, value]) => value !== undefined && !WAITING.has(name))
  return entries.length === 0 ? undefined : Object.fromEntries(entries)
}

function withOptimistic(tasks: readonly Task[], optimistic: ReadonlyMap<string, Optimistic>): readonly Task[] {
  if (optimistic.size === 0) return tasks
  return tasks.map(task => {
    const fields = optimistic.get(task.id)
    return fields ? { ...task, ...fields } : task
  })
}

function without(all: ReadonlyMap<string, Optimistic>, id: string, entry: Optimistic): ReadonlyMap<string, Optimistic> {
  if (all.get(id) !== entry) return all
  const next = new Map(all)
  next.delete(id)
  return next
}

export interface Changed {
  readonly id: string
  readonly version: number
}

/** A change in flight; resolves to undefined if the server refuses it. */
type Sent = Promise<Changed | undefined>

/** Undoes a change on the server. The undo is itself a change that can be undone. */
export type Take = (change: Changed) => Sent

/** The undo and redo stacks of this window's task changes, newest last. */
export class TaskHistory {
  readonly #onChange: () => void
  #done: readonly Sent[] = []
  #undone: readonly Sent[] = []

  constructor(onChange: () => void) {
    this.#onChange = onChange
  }

  get canUndo(): boolean {
    return this.#done.length > 0
  }

  get canRedo(): boolean {
    return this.#undone.length > 0
  }

  /** Records a change and clears the redo stack. */
  changing(sent: Sent): void {
    this.#set([...this.#done, sent], [])
    this.#forgetIfRefused(sent)
  }

  /** Undoes the last change. Undefined if there is none, else resolves to whether the server accepted it. */
  undo(take: Take): Promise<boolean> | undefined {
    const sent = this.#again(this.#done.at(-1), take)
    if (sent) this.#set(this.#done.slice(0, -1), [...this.#undone, sent])
    return sent?.then(Boolean)
  }

  redo(take: Take): Promise<boolean> | undefined {
    const sent = this.#again(this.#undone.at(-1), take)
    if (sent) this.#set([...this.#done, sent], this.#undone.slice(0, -1))
    return sent?.then(Boolean)
  }

  #again(last: Sent | undefined, take: Take): Sent | undefined {
    const sent = last?.then(change => change && take(change))
    if (sent) this.#forgetIfRefused(sent)
    return sent
  }

  #forgetIfRefused(sent: Sent): void {
    const others = (all: readonly Sent[]): readonly Sent[] => all.filter(each => each !== sent)
    void sent.then(change => change ?? this.#set(others(this.#done), others(this.#undone)))
  }

  #set(done: readonly Sent[], undone: readonly Sent[]): void {
    this.#done = done
    this.#undone = undone
    this.#onChange()
  }
}
