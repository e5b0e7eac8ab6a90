import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync, type Stats } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { v7 } from 'uuid'
import type { CheckSpec } from '../../src/core/proof/check.ts'
import { listed, type Conversation } from '../../src/core/model/conversation.ts'
import type { Json } from '../../src/core/model/event.ts'
import type { ToolsetName } from '../../src/core/model/policy.ts'
import { standingOf } from '../../src/core/proof/standing.ts'
import { redactor } from '../../src/core/text/redact.ts'
import type { Task } from '../../src/core/model/task.ts'
import { openDoor, type Door } from '../../src/engine/door/door.ts'
import { Worker } from '../../src/engine/worker/worker.ts'
import { claimJudge } from '../../src/engine/worker/judge.ts'
import { modelJudge } from '../../src/engine/worker/model-judge.ts'
import { LocalWorkspaces } from '../../src/checks/local-workspaces.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { callTool } from '../../src/engine/toolsets/calls.ts'
import { toolsets } from '../../src/engine/toolsets/index.ts'
import { withChecks } from '../../src/engine/toolsets/toolset.ts'
import { scratchFolder } from '../../test/support/scratch.ts'
import { git } from '../../test/support/repository.ts'
import { judgeThat, type Belief } from './judge.ts'

export interface Setup {
  readonly name: string
  /** Whether the person approves the checks. Unapproved checks never run. */
  readonly checks: boolean
  readonly judge?: Belief
  /** Whether the person gives each step a scope, or leaves it to the work folders. Default: `scopes`. */
  readonly rule?: Rule
}

export type Rule = 'scopes' | 'folders'

export interface Row {
  readonly title: string
  /** The command line that the worker proposes. */
  readonly check?: string
  /** Checks that the person writes instead. */
  readonly checks?: readonly CheckSpec[]
  readonly scope?: readonly string[]
}

export interface SceneOptions extends Setup {
  /** Of each step, with the rule `scopes`. Default: `src/**`. */
  readonly scope?: readonly string[]
  readonly files: Readonly<Record<string, string>>
  readonly toolset?: ToolsetName
  readonly git?: boolean
  /** Keeps the log in memory, to measure what the disk costs. */
  readonly inMemory?: boolean
  /** Folders of the workspace at the start of the person's PATH. */
  readonly path?: readonly string[]
  /** Commands that the configuration allows. With them there is no review. */
  readonly allow?: readonly (readonly string[])[]
}

const REF = { tenant: 'local', conversation: 'c1' } as const
const TURN = 't1'

/** Records how long each run took, including the workspace survey before it. */
class TimedWorkspaces extends LocalWorkspaces {
  readonly took: number[] = []

  override async run(...args: Parameters<LocalWorkspaces['run']>): ReturnType<LocalWorkspaces['run']> {
    const start = performance.now()
    const outcome = await super.run(...args)
    this.took.push(performance.now() - start)
    return outcome
  }
}

/** A worker with its own workspace, and a person, on the real code: store, door and check runner. */
export class Scene {
  readonly folder: string
  readonly door: Door
  readonly runs: readonly number[]
  readonly #setup: SceneOptions
  readonly #runner: Worker
  readonly #root: string
  #calls = 0
  #turn = TURN

  private constructor(root: string, setup: SceneOptions, door: Door, runner: Worker, runs: readonly number[]) {
    this.runs = runs
    this.#root = root
    this.folder = join(root, 'work')
    this.door = door
    this.#setup = setup
    this.#runner = runner
  }

  static async open(setup: SceneOptions): Promise<Scene> {
    const root = realpathSync(scratchFolder())
    const folder = join(root, 'work')
    for (const [path, content] of Object.entries(setup.files)) put(join(folder, path), content)
    if (setup.git !== false) {
      git(folder, 'init', '-q')
      git(folder, 'add', '-A')
      git(folder, 'commit', '-q', '-m', 'start')
    }
    const redact = redactor()
    const workspaces = new TimedWorkspaces({
      workspaces: [{ machine: 'here', path: folder }],
      machine: () => 'here',
      environment: { ...process.env, PATH: [...inFolder(folder, setup.path), process.env['PATH']].join(delimiter) },
      dataFolder: join(root, 'data'),
      redact,
      newId: v7,
      ...(setup.allow && setup.checks ? { allow: setup.allow } : {}),
      judges: () => setup.judge !== undefined,
    })
    mkdirSync(join(root, 'data'))
    const store = setup.inMemory
      ? openMemoryStore()
      : await openSqliteStore({ path: join(root, 'data', 'runsheet.db') })
    const door = openDoor({ store, checks: workspaces })
    const models = setup.judge && judgeThat(setup.judge)
    const judge =
      models &&
      claimJudge({
        door,
        redact,
        judge: async () => modelJudge(await models.assessorFor(models.defaultName), { redact }),
      })
    const runner = new Worker({ door, workspaces, judge, onError: error => console.error(error) })
    runner.start()
    return new Scene(root, setup, door, runner, workspaces.took)
  }

  /** Calls a tool as an external agent does, and waits for the answer. */
  call(tool: string, input: unknown): Promise<Json> {
    this.#calls += 1
    const { judge, allow, toolset = 'runsheet' } = this.#setup
    const host = { toolset, review: allow === undefined, assessor: judge !== undefined }
    const context = { door: this.door, ...REF, turn: this.#turn, host, toolCallId: `call-${this.#calls}` }
    return callTool(withChecks(toolsets[toolset]), tool, input, context)
  }

  /** The host puts the worker's next calls into another turn, as many do with each message. */
  nextTurn(): void {
    this.#turn = `${this.#turn}-next`
  }

  /** The worker proposes these tasks; the person confirms them and approves their checks by hash. */
  async plan(...rows: readonly Row[]): Promise<void> {
    const tasks = rows.map(({ title, check }) => ({ title, ...(check === undefined ? {} : { check }) }))
    const answer = this.call(this.#setup.toolset === 'task_manager' ? 'add_task' : 'plan', { tasks })
    await (this.#setup.allow ? answer : Promise.all([answer, this.#confirm(rows)]))
  }

  claim(number = 1, outcome = 'It is done.'): Promise<Json> {
    return this.call('update', { id: number, outcome })
  }

  /** The person lets a task change these files too, which reruns its checks. */
  async allows(files: readonly string[], number = 1): Promise<void> {
    const { scope = [] } = await this.task(number)
    const change = [{ task: number, fields: { scope: [...scope, ...files] } }]
    await this.door.run(REF, { type: 'edit_tasks', by: 'person', change })
    await this.#until(({ requests }) => requests.length === 0)
    // An edit fences, so the worker reads the plan.
    await this.call('tasks', {})
  }

  async runsAgain(number = 1): Promise<void> {
    for (const check_id of await this.#checksOf(number)) {
      await this.door.run(REF, { type: 'request_check', task: number, check_id })
    }
  }

  /** The person stops the run of a task's check after it has started. */
  async stopsRun(number = 1): Promise<void> {
    const isRunning = (state: Conversation): boolean =>
      listed(state).some(
        task => task.number === number && task.checks?.some(({ hash }) => state.runs.get(hash)?.started !== undefined),
      )
    if (!this.#setup.checks) return
    await this.#until(isRunning)
    for (const check_id of await this.#checksOf(number)) {
      await this.door.run(REF, { type: 'stop_check', task: number, check_id })
    }
  }

  write(path: string, content: string): void {
    put(join(this.folder, path), content)
  }

  remove(path: string): void {
    rmSync(join(this.folder, path), { recursive: true })
  }

  read(path: string): string {
    return readFileSync(join(this.folder, path), 'utf8')
  }

  has(path: string): boolean {
    return existsSync(join(this.folder, path))
  }

  stat(path: string): Stats {
    return statSync(join(this.folder, path))
  }

  git(...args: readonly string[]): string {
    return git(this.folder, ...args)
  }

  /** Whether this program prints `holds`: the truth, out of reach of the worker's tools. */
  holds(program: string): boolean {
    try {
      const said = execFileSync(process.execPath, ['--input-type=module', '-e', program], {
        cwd: this.folder,
        timeout: 20_000,
        stdio: ['ignore', 'pipe', 'ignore'],
      })
      return said.toString() === 'holds'
    } catch {
      return false
    }
  }

  async task(number = 1): Promise<Task> {
    const task = listed(await this.state()).find(each => each.number === number)
    if (!task) throw new Error(`There is no task ${number}.`)
    return task
  }

  state(): Promise<Conversation> {
    return this.door.read(REF)
  }

  /** The task's standing, else its status. */
  async end(number = 1): Promise<{ readonly end: string; readonly reasons: readonly string[] }> {
    const task = await this.task(number)
    const stood = standingOf(await this.state(), task)
    return { end: stood?.standing ?? task.status, reasons: stood?.reasons ?? [] }
  }

  async close(): Promise<void> {
    await this.#runner.close()
    await this.door.close()
    rmSync(this.#root, { recursive: true, force: true, maxRetries: 5 })
  }

  async #confirm(rows: readonly Row[]): Promise<void> {
    const review = await this.#pendingReview()
    const { rule = 'scopes', scope: given = ['src/**'] } = this.#setup
    const drafts = (await this.state()).reviews.get(review)?.draft_tasks ?? []
    const tasks = drafts.map(({ title, checks = [] }, draft_index) => {
      const written = this.#setup.checks ? rows[draft_index]?.checks : undefined
      const approve = this.#setup.checks && !written ? checks.map(({ hash }) => hash) : []
      const own = rows[draft_index]?.scope ?? []
      const scope = rule === 'scopes' ? [...given, ...own] : own
      return {
        draft_index,
        title,
        approve,
        ...(scope.length > 0 ? { scope } : {}),
        ...(written ? { checks: written } : {}),
      }
    })
    await this.door.reviews.decide(REF.tenant, review, { action: 'confirm', tasks }, 'http')
  }

  async #pendingReview(): Promise<string> {
    const { pending_reviews } = await this.#until(state => state.pending_reviews.length > 0)
    return pending_reviews[0] ?? ''
  }

  /** Empty if the checks were not approved. */
  async #checksOf(number: number): Promise<readonly string[]> {
    return this.#setup.checks ? ((await this.task(number)).checks ?? []).map(({ id }) => id) : []
  }

  async #until(holds: (state: Conversation) => boolean): Promise<Conversation> {
    const signal = AbortSignal.timeout(10_000)
    const first = await this.state()
    if (holds(first)) return first
    for await (const _ of this.door.tail(REF, { signal })) {
      const state = await this.state()
      if (holds(state)) return state
    }
    throw new Error('It did not come about.')
  }
}

const inFolder = (folder: string, paths: readonly string[] = []): readonly string[] =>
  paths.map(path => join(folder, path))

function put(file: string, content: string): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, content)
}
