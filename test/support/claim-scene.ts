import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, inject, vi } from 'vitest'
import { type Client, createClient } from '../../src/client/client.ts'
import type { EventType, Json, StoredEvent } from '../../src/core/model/event.ts'
import type { TaskView } from '../../src/core/views/wire.ts'
import { openDoor } from '../../src/engine/door/door.ts'
import { configuredModels } from '../../src/models/models.ts'
import { Worker } from '../../src/engine/worker/worker.ts'
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import type { ClaimChildOrder } from './claim-child.ts'
import { HOST, workspacesIn } from './claim-place.ts'
import { type Child, runChild } from './children.ts'
import { freshDatabase } from './postgres.ts'
import type { Answers } from './provider.ts'
import { scratchFolder } from './scratch.ts'
import { TOKENS } from './server.ts'
import { MODEL, startTurns, type TestTurns } from './turns.ts'

export const LEASE_MS = 1_000
export const HERE = { tenant: 'local', conversation: 'c1' } as const

export interface ClaimSceneOptions {
  readonly store?: 'sqlite' | 'postgres'
  readonly answers?: Answers
  /** The server offers its turns no workspace. */
  readonly isAway?: boolean
  /** Mounts a disk for the data; the function that it returns unmounts it. */
  readonly mount?: (folder: string) => () => void
}

type Changes = { readonly [Key in keyof ClaimChildOrder]?: ClaimChildOrder[Key] | undefined }
type Of<T extends EventType> = Extract<StoredEvent, { type: T }>

/** A call of an agent elsewhere. */
export type AgentCall = readonly [tool: string, args: Record<string, unknown>, id: string]

export const PLAN: AgentCall = [
  'plan',
  {
    tasks: [
      { title: 'a', check: './check-a' },
      { title: 'b', check: './check-b' },
    ],
  },
  'call-plan',
]
export const claim = (id: number, call = `call-${id}`): AgentCall => ['update', { id, outcome: `did ${id}` }, call]

/**
 * A workspace with two checks, a server that runs nothing, and child processes that run checks and drive turns. Each
 * check fails until its `done-…` exists, and waits while its `hold-…` does.
 */
export class ClaimScene {
  readonly turns: TestTurns
  readonly folder: string
  readonly workspace: string
  readonly order: ClaimChildOrder
  readonly #children: Child[] = []
  readonly #ends: (() => Promise<unknown>)[] = []

  private constructor(turns: TestTurns, folder: string, order: ClaimChildOrder) {
    this.turns = turns
    this.folder = folder
    this.order = order
    this.workspace = join(folder, 'work')
  }

  static async play(work: (scene: ClaimScene) => Promise<void>, options: ClaimSceneOptions = {}): Promise<void> {
    const { store = 'sqlite', answers, isAway = false, mount } = options
    const folder = realpathSync(scratchFolder())
    const data = join(folder, 'data')
    mkdirSync(data)
    const unmount = mount?.(data)
    const database = store === 'postgres' ? await freshDatabase(inject('postgresUrl')) : undefined
    const at = database?.url ?? join(data, 'runsheet.db')
    const place = {
      machine: 'm1',
      workspace: join(folder, 'work'),
      data,
      allow: [['./check-a'], ['./check-b']],
      mark: folder,
    }
    mkdirSync(place.workspace)
    // Out of the workspace, so that there is no fingerprint, and what passed runs once more at the end.
    symlinkSync(data, join(place.workspace, 'data'))
    const opened = database ? await openPostgresStore({ url: at }) : await openSqliteStore({ path: at })
    const { workspace: _workspace, ...away } = place
    const door = openDoor({ store: opened, checks: workspacesIn(isAway ? away : place) })
    const turns = await startTurns({ door, isIdle: true, host: HOST, ...(answers ? { answers } : {}) })
    const process = { model: MODEL, provider: turns.provider.url, leaseMs: LEASE_MS, tokens: TOKENS }
    // Ends what no process serves.
    const worker = new Worker({ door })
    worker.start()
    const scene = new ClaimScene(turns, folder, { store, at, ...place, ...process })
    scene.script('check-a', ...checkLines(folder, 'a'))
    scene.script('check-b', ...checkLines(folder, 'b'))
    try {
      await work(scene)
    } finally {
      await scene.#end()
      await worker.close()
      await turns.close()
      await database?.drop()
      unmount?.()
      rmSync(folder, { recursive: true, maxRetries: 5 })
    }
  }

  script(name: string, ...lines: readonly string[]): void {
    this.write(name, ['#!/bin/sh', ...lines, ''].join('\n'))
    chmodSync(join(this.workspace, name), 0o755)
  }

  write(name: string, text = 'x'): void {
    writeFileSync(join(this.workspace, name), text)
  }

  remove(name: string): void {
    rmSync(join(this.workspace, name))
  }

  /** Starts a child process; resolves once it serves. */
  async child(more: Changes = {}): Promise<Child & { readonly agent: Client }> {
    const child = runChild(new URL('claim-child.ts', import.meta.url), { ...this.order, ...more })
    this.#children.push(child)
    const url = (await child.line(line => line.startsWith('url '))).slice(4)
    return { ...child, agent: createClient({ url, token: TOKENS.agent }) }
  }

  /** Freezes a process, but not while it holds SQLite's write lock: that would block all others. */
  async freeze({ process }: Child): Promise<void> {
    const database = new DatabaseSync(this.order.at, { timeout: 0 })
    try {
      await vi.waitFor(() => {
        process.kill('SIGSTOP')
        expect(readFileSync(`/proc/${process.pid}/stat`, 'utf8')).toContain(') T ')
        try {
          database.exec('BEGIN IMMEDIATE; ROLLBACK')
        } catch (error) {
          process.kill('SIGCONT')
          throw error
        }
      }, SOON)
    } finally {
      database.close()
    }
  }

  /** Runs checks and drives turns in this process from now on. */
  async takeOver(): Promise<void> {
    const { door, provider } = this.turns
    const models = await configuredModels({ model: MODEL, url: provider.url, key: 'k' })
    const workspaces = workspacesIn(this.order)
    const runner = new Worker({ door, models, workspaces, leaseMs: LEASE_MS, retryMs: 1 })
    this.#ends.push(() => runner.close())
    runner.start()
  }

  /** Drives turns in this process from now on, without the workspace. */
  async drive(): Promise<void> {
    const { door, provider } = this.turns
    const models = await configuredModels({ model: MODEL, url: provider.url, key: 'k' })
    const runner = new Worker({ door, models, leaseMs: LEASE_MS, retryMs: 1 })
    this.#ends.push(() => runner.close())
    runner.start()
  }

  /** A person takes the checks from a task, and the agent hears of it. */
  async checkless(index: number): Promise<void> {
    const { id, version } = await this.task(index)
    await this.turns.person.changeTask('c1', id, version, { checks: [] })
    await this.call(['tasks', {}, `call-look-${index}`])
  }

  /** What the agent is answered, by its own server or by the child's. */
  async call(
    [tool, args, tool_call_id]: AgentCall,
    agent: Client = this.turns.agent,
    session_id = 'c1',
  ): Promise<Awaited<ReturnType<Client['call']>>> {
    return agent.call('runsheet', tool, { session_id, turn_id: 't1', tool_call_id, arguments: args })
  }

  log(session = 'c1'): Promise<readonly StoredEvent[]> {
    return this.turns.log(session)
  }

  async of<T extends EventType>(type: T, session = 'c1'): Promise<Of<T>[]> {
    const log = await this.log(session)
    return log.filter((event): event is Of<T> => event.type === type)
  }

  /** Resolves once the log has so many events of a type. */
  async reached(type: EventType, count = 1, session = 'c1'): Promise<void> {
    await vi.waitFor(async () => expect((await this.of(type, session)).length).toBeGreaterThanOrEqual(count), SOON)
  }

  async task(index: number, session = 'c1'): Promise<TaskView> {
    const task = (await this.turns.person.tasks(session)).tasks[index]
    if (!task) throw new Error(`there is no task ${index}`)
    return task
  }

  /** What checks wrote down: their starts and ends. */
  journal(): readonly string[] {
    const path = join(this.folder, 'journal')
    return existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : []
  }

  /** Resolves once a check has begun so often. */
  async begun(name: 'a' | 'b', count = 1): Promise<void> {
    const starts = (): number => this.journal().filter(line => line === `start ${name}`).length
    await vi.waitFor(() => expect(starts()).toBeGreaterThanOrEqual(count), SOON)
  }

  /** Resolves once no process of a check is left. */
  async nothingRuns(): Promise<void> {
    await vi.waitFor(() => expect(markedBy(this.folder)).toEqual([]), SOON)
  }

  /** The checks as they are before the work are known, then both tasks are done. */
  async planned(agent?: Client, session?: string): Promise<void> {
    await this.call(PLAN, agent, session)
    await this.ran('baseline', 2, session)
    this.write('done-a')
    this.write('done-b')
  }

  async ran(why: string, count: number, session = 'c1'): Promise<void> {
    const ended = async (): Promise<number> =>
      (await this.of('check_ran', session)).filter(({ data }) => data.why === why).length
    await vi.waitFor(async () => expect(await ended()).toBeGreaterThanOrEqual(count), SOON)
  }

  /** Everything that is wrong with the claims in a log, however often they were interrupted. */
  async faults(session = 'c1'): Promise<string[]> {
    return faultsIn(await this.log(session))
  }

  async #end(): Promise<void> {
    for (const child of this.#children) {
      child.process.kill('SIGKILL')
      await child.ended
    }
    for (const end of this.#ends) await end()
    await this.nothingRuns()
  }
}

export const SOON = { timeout: 60_000, interval: 20 }

/** A check that waits while its `hold-…` exists, and passes once its `done-…` does. */
export const checkLines = (folder: string, name: string): string[] => [
  `echo "start ${name}" >>${folder}/journal`,
  `while [ -e hold-${name} ]; do sleep 0.02; done`,
  `[ -e done-${name} ]`,
  'code=$?',
  `echo "end ${name}" >>${folder}/journal`,
  'exit $code',
]

export function faultsIn(log: readonly StoredEvent[]): string[] {
  const faults: string[] = []
  const must = (holds: boolean, what: string): void => void (holds || faults.push(what))
  const of = <T extends EventType>(type: T): Of<T>[] => log.filter((event): event is Of<T> => event.type === type)
  must(
    log.every(({ seq }, index) => seq === index + 1),
    'a hole in the log',
  )
  for (const { data: made, seq } of of('claim_made')) {
    const ends = of('claim_settled').filter(({ data }) => data.claim_id === made.claim_id)
    must(ends.length === 1, `${ends.length} ends of the claim on ${made.task_id}`)
    const granted = ends.find(({ data }) => data.result === 'granted')
    const isPassed = of('check_ran').some(
      ran => ran.data.claim_id === made.claim_id && ran.data.result === 'passed' && ran.seq < (granted?.seq ?? 0),
    )
    must(!granted || isPassed, `granted without a run: ${made.task_id}`)
    const answers = of('tool_answered').filter(({ data }) => data.tool_call_id === made.tool_call_id)
    must(answers.length <= 1, `${answers.length} answers to ${made.tool_call_id} of seq ${seq}`)
  }
  const runs = new Map<string, number>()
  for (const { data } of of('check_ran')) runs.set(data.run_id, (runs.get(data.run_id) ?? 0) + 1)
  for (const [run, ends] of runs) must(ends === 1, `${ends} ends of ${run}`)
  const granted = of('claim_settled').filter(({ data }) => data.result === 'granted')
  for (const { data, seq } of of('task_changed').filter(
    each => each.data.task.status === 'completed' && each.data.by === 'model',
  )) {
    const isGranted = granted.some(each => each.data.task_id === data.task.id && Math.abs(each.seq - seq) < 8)
    must(isGranted || !data.task.checks?.length, `completed without a granted claim: ${data.task.title}`)
  }
  return faults
}

/** The ids of processes with this mark that have not ended. */
export function markedBy(mark: string): readonly number[] {
  const environment = (pid: string): readonly string[] => {
    try {
      return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
    } catch {
      return []
    }
  }
  const pids = readdirSync('/proc').filter(name => /^\d+$/.test(name))
  return pids.filter(pid => environment(pid).includes(`RUNSHEET_TEST_MARK=${mark}`)).map(Number)
}

/** The result of an answered call. */
export const resultOf = (answer: Awaited<ReturnType<Client['call']>>): Json => {
  if (!('result' in answer)) throw new Error(`not answered: ${JSON.stringify(answer)}`)
  return answer.result
}
