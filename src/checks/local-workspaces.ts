import { existsSync } from 'node:fs'
import { checkEnvironment, commandsIn, type Environment, type Place } from './program.ts'
import { approvalHash, foundPrograms, unresolvedHash } from './approval.ts'
import { lookRequest } from './look.ts'
import { Obstacle } from './obstacle.ts'
import { recordFiles, runCheck } from './run-check.ts'
import { NO_COVERS, partedScope } from './scope.ts'
import { looked } from './surveyor.ts'
import { openWorkspace } from './workspace.ts'
import {
  cleanCommand,
  cleanGlobs,
  type Check,
  type CheckSpec,
  type RunnableCheck,
  type WithPrograms,
  type Workspace,
} from '../core/proof/check.ts'
import type { RunOutcome } from '../core/model/command.ts'
import { defined } from '../core/model/defined.ts'
import { splitWords } from '../core/proof/check-text.ts'
import { workspaceKey } from '../core/model/needs.ts'
import type { Redactor } from '../core/text/redact.ts'
import { Refusal, invalidField } from '../core/model/refusal.ts'
import { Problem } from '../core/model/text.ts'
import { madeCheck, type CallChecks, type CheckMaker } from '../engine/door/door.ts'
import type { RunOptions, Workspaces } from '../engine/worker/workspaces.ts'

export interface LocalOptions {
  readonly workspaces: readonly Workspace[]
  /** For our own turns; not offered to external agents. */
  readonly own?: Workspace | undefined
  readonly machine: () => string
  readonly environment: Environment
  readonly dataFolder: string
  readonly redact: Redactor
  readonly newId: () => string
  /** Whether new turns use it. Default: always. */
  readonly usesOwn?: () => boolean
  /** Whether our judge rules on the claims of external agents. */
  readonly judges?: () => boolean
  readonly allow?: readonly (readonly string[])[]
  readonly protect?: readonly string[]
  readonly wrap?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly done?: readonly (readonly string[])[]
  readonly held_out?: string | undefined
}

const OUT_OF_TIME = 'Time ran out: all runs at confirmation together took too long.'

export class LocalWorkspaces implements Workspaces, CheckMaker {
  readonly #options: LocalOptions
  #workspaces: readonly Workspace[]
  #root: Workspace | undefined

  constructor(options: LocalOptions) {
    this.#options = options
    this.#workspaces = options.workspaces
  }

  /** Uses the first local folder among an MCP client's roots for new turns. Earlier workspaces stay known. */
  name(folders: readonly string[]): void {
    const machine = folders.length > 0 ? this.#options.machine() : ''
    const [root] = folders.flatMap(folder => opened(folder, machine) ?? [])
    this.#root = root
    if (root && !this.keys.includes(workspaceKey(root))) this.#workspaces = [...this.#workspaces, root]
  }

  get keys(): readonly string[] {
    const { own } = this.#options
    return [...this.#workspaces, ...(own ? [own] : [])].map(workspaceKey)
  }

  get own(): Workspace | undefined {
    return (this.#options.usesOwn?.() ?? true) ? this.#options.own : undefined
  }

  offered(workspace: Workspace | undefined = this.#root ?? this.#options.workspaces[0]): CallChecks | undefined {
    if (!workspace || !this.keys.includes(workspaceKey(workspace))) return undefined
    const made = (spec: CheckSpec): Check => madeCheck(spec, this.#options.newId(), this, workspace)
    return {
      workspace,
      // Only a review needs them.
      get commands() {
        return commandsIn(workspace.path)
      },
      done: (this.#options.done ?? []).map(run => made({ kind: 'command', run })),
      fromRow: ({ check: line = '', scope = [] }) => {
        const globs = cleanGlobs(scope, 'scope')
        if (globs instanceof Refusal) return globs
        if (globs instanceof Problem) return invalidField('scope', globs.fact)
        const run = line.trim() === '' ? [] : this.split(line)
        if (run instanceof Problem) return invalidField('check', run.fact)
        const spec = run.length === 0 ? undefined : cleanCommand(run, 'check')
        if (spec instanceof Refusal) return spec
        const check = spec && made(spec)
        const isAllowed = (this.#options.allow ?? []).some(words => JSON.stringify(words) === JSON.stringify(run))
        return {
          ...(check ? { checks: [check] } : {}),
          ...(check && isAllowed ? { allowed: [check.hash] } : {}),
          ...partedScope(globs, check, workspace.path, this.#options.protect ?? []),
        }
      },
    }
  }

  judges(): boolean {
    return this.#options.judges?.() ?? false
  }

  split(line: string): readonly string[] | Problem {
    return splitWords(line)
  }

  /** Programs cannot be resolved for another machine. */
  hash(spec: WithPrograms, workspace: Workspace | undefined): string {
    if (!workspace || !this.#isHere(workspace)) {
      return unresolvedHash(spec, workspace, this.#options.wrap ?? [])
    }
    return approvalHash(spec, this.#place(workspace))
  }

  /** Stored with the check, because processes have different search paths. */
  programs(spec: CheckSpec, workspace: Workspace | undefined): Check['programs'] {
    return workspace && this.#isHere(workspace) ? foundPrograms(spec, this.#place(workspace)) : undefined
  }

  isGone({ machine, path }: Workspace): boolean {
    return machine === this.#options.machine() && !existsSync(path)
  }

  #isHere(workspace: Workspace): boolean {
    return this.keys.includes(workspaceKey(workspace)) || workspace.machine === this.#options.machine()
  }

  async fingerprint(
    workspace: Workspace,
    also: readonly string[],
    record: string | null | undefined,
  ): Promise<string | undefined> {
    const options = { ...this.#checkOptions(workspace), also, records: record === undefined ? [] : [record] }
    return (await looked(lookRequest(options, NO_COVERS))).fingerprint
  }

  async record(workspace: Workspace, checks: readonly Check[]): Promise<string | null> {
    return recordFiles(checks.filter(isRunnable), this.#checkOptions(workspace))
  }

  async run(check: Check, options: RunOptions): Promise<RunOutcome> {
    if (!isRunnable(check)) throw new TypeError('A person ticks it.')
    const { workspace, compared, others = [], signal, maxMs } = options
    const limit = maxMs === undefined ? undefined : AbortSignal.timeout(maxMs)
    const all = [compared, ...others]
    const {
      changes = [],
      isPartial,
      ...ran
    } = await runCheck(check, {
      ...options,
      ...this.#checkOptions(workspace),
      checks: options.checks.filter(isRunnable),
      records: compared.record === undefined ? [] : all.map(({ record = null }) => record),
      scopes: all.map(({ scopes }) => scopes),
      signal: limit ? AbortSignal.any([signal, limit]) : signal,
    })
    const isOutOfTime = ran.result === 'inconclusive' && limit?.aborted === true && !signal.aborted
    const [own = [], ...rest] = changes
    const seen = others.flatMap(({ task_id }, index) =>
      rest[index]?.length ? [{ ...defined({ task_id }), changes: rest[index] }] : [],
    )
    return {
      ...ran,
      ...(isOutOfTime ? { reason: OUT_OF_TIME } : {}),
      ...(own.length > 0 ? { changes: own } : {}),
      ...(isPartial ? { partial: true } : {}),
      ...(others.length > 0 ? { others: seen } : {}),
    }
  }

  #checkOptions(workspace: Workspace) {
    const { dataFolder, redact, protect = [] } = this.#options
    return { ...this.#place(workspace), dataFolder, redact, protect }
  }

  #place(workspace: Workspace): Place {
    const { environment, env, wrap = [], held_out: heldOut } = this.#options
    return { workspace, wrap, env: checkEnvironment(environment, workspace, env), heldOut }
  }
}

function opened(folder: string, machine: string): Workspace | undefined {
  const found = openWorkspace(folder, machine)
  return found instanceof Obstacle ? undefined : found
}

const isRunnable = (check: Check): check is RunnableCheck => check.kind !== 'person'
