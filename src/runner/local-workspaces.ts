import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { checkEnvironment, type Environment } from '../checks/environment.ts'
import { globsOf } from '../checks/globs.ts'
import { guardsOf } from '../checks/guarded.ts'
import { approvalHash, foundPrograms, unresolvedHash } from '../checks/hash.ts'
import { lookAt } from '../checks/look.ts'
import { Obstacle } from '../checks/obstacle.ts'
import type { Place } from '../checks/place.ts'
import { runCheck, UNKNOWN_FILES } from '../checks/run-check.ts'
import { commandsIn } from '../checks/commands.ts'
import { openWorkspace } from '../checks/workspace.ts'
import {
  type Check,
  type CheckSpec,
  cleanCommand,
  DEFAULT_PROTECT,
  type RunnableCheck,
  type WithPrograms,
  type Workspace,
} from '../domain/check.ts'
import type { RunOutcome } from '../domain/command.ts'
import { splitWords } from '../domain/command-line.ts'
import { workspaceKey } from '../domain/needs.ts'
import type { Redactor } from '../domain/redact.ts'
import { invalidField, Refusal } from '../domain/refusal.ts'
import { Problem } from '../domain/text.ts'
import { type CallChecks, type CheckMaker, madeCheck } from '../door/door.ts'
import type { Baseline, RunOptions, Workspaces } from './workspaces.ts'

export interface LocalOptions {
  readonly workspaces: readonly Workspace[]
  /** For our own turns; not offered to agents elsewhere. */
  readonly own?: Workspace | undefined
  readonly machine: () => string
  readonly environment: Environment
  readonly dataFolder: string
  readonly redact: Redactor
  readonly newId: () => string
  /** Whether new turns use it. Default: always. */
  readonly usesOwn?: () => boolean
  /** Whether our judge rules on the claims of agents elsewhere. */
  readonly judges?: () => boolean
  readonly allow?: readonly (readonly string[])[]
  readonly protect?: readonly string[]
  readonly wrap?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly done?: readonly (readonly string[])[]
}

const OUT_OF_TIME = 'Time ran out: all runs at confirmation together took too long.'

/** Stands for guarded files that cannot all be read. */
const UNWATCHED = 'more guarded files than can be watched'

export class LocalWorkspaces implements Workspaces, CheckMaker {
  readonly #options: LocalOptions
  readonly #protect: readonly string[]
  #workspaces: readonly Workspace[]
  #root: Workspace | undefined

  constructor(options: LocalOptions) {
    this.#options = options
    this.#protect = [...DEFAULT_PROTECT, ...(options.protect ?? [])]
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
      fromLine: line => {
        const run = this.split(line)
        if (run instanceof Problem) return invalidField('check', run.fact)
        const spec = cleanCommand(run, 'check')
        if (spec instanceof Refusal) return spec
        const isAllowed = (this.#options.allow ?? []).some(words => JSON.stringify(words) === JSON.stringify(run))
        return { check: made(spec), isAllowed }
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

  async fingerprint(workspace: Workspace, also: readonly string[]): Promise<string | undefined> {
    return (await lookAt([], { ...this.#checkOptions(workspace, []), also })).fingerprint
  }

  async baselineOf(workspace: Workspace, checks: readonly Check[], known: Baseline): Promise<Baseline | undefined> {
    const options = this.#checkOptions(workspace, this.#protect)
    const runnable = checks.filter((check): check is RunnableCheck => check.kind !== 'person')
    const watched = runnable.flatMap(check => (check.kind === 'unchanged' ? check.paths : []))
    const isNew = (each: string): boolean => !known.covers.includes(each)
    const all = runnable.map(check => ({ hash: check.hash, guards: guardsOf(check, options, this.#protect) }))
    const globs = [...this.#protect, ...all.flatMap(({ guards }) => guards.globs), ...watched].filter(isNew)
    // A file that was missing at a check's confirmation is not looked up again.
    const added = all.filter(({ hash }) => isNew(hash))
    const paths = new Set(added.flatMap(({ guards }) => guards.paths).filter(isNew))
    if (globs.length + added.length === 0) return undefined
    const isFirst = known.covers.length === 0
    const { files, tracked, snapshots } = await lookAt(runnable, options, isFirst ? 'tracked' : 'nothing')
    const { matches } = globsOf(globs)
    const found = [...(files ?? [])].filter(
      ([path]) => matches(path) || paths.has(path) || (isFirst && snapshots.has(path)),
    )
    return {
      covers: [...new Set([...globs, ...added.map(({ hash }) => hash)])],
      files: Object.fromEntries(found),
      ...(files ? {} : { incomplete: true }),
      ...(tracked ? { tracked } : {}),
    }
  }

  async run(check: Check, options: RunOptions): Promise<RunOutcome> {
    if (check.kind === 'person') throw new TypeError('A person ticks it.')
    const { workspace, baseline, mayChange, others = [], also, signal, kill, maxMs, beforeStart, onOutput } = options
    const { onWritten } = options
    const limit = maxMs === undefined ? undefined : AbortSignal.timeout(maxMs)
    const {
      files,
      guarded,
      others: changed,
      wrote,
      ...ran
    } = await runCheck(check, {
      ...this.#checkOptions(workspace, this.#protect),
      baseline: baseline.files,
      baselines: others.map(each => each.baseline.files),
      written: [baseline, ...others.map(each => each.baseline)].flatMap(each => each.written ?? []),
      isFirst: onWritten !== undefined,
      since: baseline.tracked ?? null,
      also,
      signal: limit ? AbortSignal.any([signal, limit]) : signal,
      kill,
      beforeStart,
      onOutput,
    })
    if (wrote) await onWritten?.({ covers: [], files: wrote, written: Object.keys(wrote) })
    const isOutOfTime = ran.result === 'inconclusive' && limit?.aborted === true && !signal.aborted
    const now = ran.fingerprint ?? this.#options.newId()
    const seen = others.flatMap(({ task_id, ...other }, index) => {
      const paths = other.baseline.incomplete ? undefined : changed?.[index]
      const { guarded: found, guard } = guardsIn(
        files,
        paths,
        other.mayChange,
        ran.fingerprint ?? this.#options.newId(),
      )
      return found && guard !== undefined
        ? { ...(task_id === undefined ? {} : { task_id }), guarded: found, guard }
        : []
    })
    return {
      ...ran,
      ...(isOutOfTime ? { reason: OUT_OF_TIME } : {}),
      ...guardsIn(files, baseline.incomplete ? undefined : guarded, mayChange, now),
      ...(others.length > 0 ? { others: seen } : {}),
    }
  }

  #checkOptions(workspace: Workspace, protect: readonly string[]) {
    const { dataFolder, redact } = this.#options
    return { ...this.#place(workspace), dataFolder, redact, protect }
  }

  #place(workspace: Workspace): Place {
    const { environment, env, wrap = [] } = this.#options
    return { workspace, wrap, env: checkEnvironment(environment, workspace, env) }
  }
}

function opened(folder: string, machine: string): Workspace | undefined {
  const found = openWorkspace(folder, machine)
  return found instanceof Obstacle ? undefined : found
}

/** Guarded files that changed without permission, and a digest of their current state. */
function guardsIn(
  files: Readonly<Record<string, string>> | undefined,
  changed: readonly string[] | undefined,
  mayChange: readonly string[],
  workspaceNow: string,
): Pick<RunOutcome, 'guarded' | 'guard'> {
  // A person accepts the current files; where these are unknown, the whole workspace, or only this run.
  if (!changed || !files) return { guarded: [UNWATCHED], guard: `unwatched:${files ? digestOf(files) : workspaceNow}` }
  const { matches } = globsOf(mayChange)
  const guarded = changed.filter(path => mayChange.length === 0 || !matches(path))
  if (guarded.length === 0) return {}
  const now = guarded.map(path => [path, path === UNKNOWN_FILES ? workspaceNow : (files[path] ?? null)])
  return { guarded, guard: digestOf(now) }
}

const digestOf = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('hex')
