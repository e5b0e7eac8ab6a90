import { existsSync, fstatSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, relative, resolve, sep } from 'node:path'
import type { Conversation } from '../core/model/conversation.ts'
import { plusMs, type Instant } from '../core/model/instant.ts'
import { planStatus, type PlanStatus } from '../core/views/plan-status.ts'
import { planOf } from '../core/model/plan.ts'
import { hostId, traitsOf } from '../hosts/hosts.ts'
import { LOCAL_TENANT, type ConversationSummary, type Ref } from '../store/store.ts'
import { DEFAULT_DATA, expandHome, projectData } from './default-paths.ts'
import type { Environment } from './environment.ts'

// Finds the plan that a status is about. A shell prompt waits for this, so it imports little.

export interface StatusPlace {
  readonly store: string
  readonly data: string
  /** The real path of the working folder. */
  readonly folder: string
}

export interface PlanSource {
  now(): Promise<Instant>
  read(ref: Ref): Promise<Conversation>
  conversations(limit: number): Promise<readonly Pick<ConversationSummary, 'session_id' | 'updated_at'>[]>
  waiting(limit: number): Promise<readonly { readonly session_id: string }[]>
  close(): Promise<void>
}

/** `waiting` and `newest` mean that no conversation was named. */
export type ChosenBy = 'option' | 'stdin' | 'environment' | 'waiting' | 'newest'

interface NamedSession {
  readonly id: string
  readonly by: 'option' | 'stdin'
}

export interface Chosen {
  readonly ref: Ref
  readonly state: Conversation
  readonly plan: PlanStatus
  readonly by: ChosenBy
}

interface ChooseOptions {
  readonly session?: NamedSession | undefined
  readonly environment: Environment
  readonly folder: string
  readonly data: string
  /** Skips plans without recent work, unless one has a pending review. */
  readonly onlyActive: boolean
}

/** A plan unchanged for this long is not current enough for a status bar. */
const ACTIVE_MS = 12 * 60 * 60 * 1_000
const MAX_LISTED = 200
const MAX_WAITING = 20
/** Limit on conversations read in search of a plan for this folder. */
const MAX_READ = 20

/** The named data folder, else the project's, else the one that `runsheet setup` uses. */
export function placeOf(
  given: { data?: string | undefined; store?: string | undefined },
  environment: Environment,
): StatusPlace {
  const named = given.data ?? environment['RUNSHEET_DATA']
  const data = resolve(named === undefined || named === '' ? ownData() : expandHome(named))
  return { data, store: given.store ?? (environment['RUNSHEET_STORE'] || 'sqlite'), folder: realpathSync('.') }
}

function ownData(): string {
  const project = projectData(process.cwd())
  return existsSync(project) ? project : join(homedir(), DEFAULT_DATA)
}

/**
 * The named conversation, if it has a plan. Otherwise, among this folder's: one with a pending review first, then the
 * newest. In a shared data folder, a conversation belongs to the folder in which its agent works.
 */
export async function chosen(source: PlanSource, options: ChooseOptions): Promise<Chosen | undefined> {
  const now = await source.now()
  const { session, environment } = options
  if (session) return withPlan(source, session.id, session.by, now)
  const hinted = hostId(environment[traitsOf().sessionVariable ?? ''])
  const found = hinted === undefined ? undefined : await withPlan(source, hinted, 'environment', now)
  if (found) return found
  const belongs = isShared(options) ? isOf(options.folder) : () => true
  for (const { id, by } of await candidates(source, options.onlyActive ? plusMs(now, -ACTIVE_MS) : '')) {
    const candidate = await withPlan(source, id, by, now)
    if (candidate && belongs(candidate.state)) return candidate
  }
  return undefined
}

async function withPlan(
  source: PlanSource,
  conversation: string,
  by: ChosenBy,
  now: Instant,
): Promise<Chosen | undefined> {
  const ref = { tenant: LOCAL_TENANT, conversation }
  const state = await source.read(ref)
  const plan = planStatus(state, now)
  return plan && { ref, state, plan, by }
}

interface Candidate {
  readonly id: string
  readonly by: 'waiting' | 'newest'
}

async function candidates(source: PlanSource, since: Instant): Promise<readonly Candidate[]> {
  const [items, reviews] = await Promise.all([source.conversations(MAX_LISTED), source.waiting(MAX_WAITING)])
  const byChange = items.toSorted((a, b) => (a.updated_at < b.updated_at ? 1 : -1))
  const waits = new Set(reviews.map(({ session_id }) => session_id))
  const waiting = new Set([...byChange.map(({ session_id }) => session_id).filter(id => waits.has(id)), ...waits])
  const others = byChange.filter(({ session_id, updated_at }) => !waits.has(session_id) && updated_at >= since)
  return [
    ...[...waiting].map(id => ({ id, by: 'waiting' as const })),
    ...others.map(({ session_id }) => ({ id: session_id, by: 'newest' as const })),
  ].slice(0, MAX_READ)
}

/** Projects share a data folder that is in the home folder or not above the current folder. */
function isShared({ data, folder }: ChooseOptions): boolean {
  const home = realOf(dirname(data))
  return home === realOf(homedir()) || !isWithin(folder, home)
}

/** Matches conversations whose agent works in this folder or a parent. */
function isOf(folder: string): (state: Conversation) => boolean {
  const names = new Set(folder.split(sep))
  return state => {
    const turn = state.turns.get(state.latest_turn ?? '')
    const { workspace } = planOf(state, turn?.id ?? '')
    if (workspace) return isWithin(folder, workspace.path)
    // An agent without a workspace is known only by its folder's name.
    const [, name] = /.* · (.+)$/s.exec(turn?.client ?? '') ?? []
    return name !== undefined && names.has(name)
  }
}

function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && resolve(folder, way) === path
}

function realOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

/** A host writes at once; a pipe that stays open and empty names no session. */
const FIRST_MS = 100
const ALL_MS = 500
const MAX_BYTES = 1024 * 1024

/** The session id on stdin, as Claude Code passes it to its status line; undefined without one. */
export async function sessionOnStdin(): Promise<string | undefined> {
  if (!isPiped()) return undefined
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  const started = performance.now()
  let text = ''
  const timer = setInterval(() => {
    if (performance.now() - started > (text === '' ? FIRST_MS : ALL_MS)) resolve(undefined)
  }, FIRST_MS / 2)
  process.stdin.setEncoding('utf8')
  process.stdin.on('data', chunk => {
    text += String(chunk)
    const session = sessionIn(text)
    if (session !== undefined || text.length > MAX_BYTES) resolve(session)
  })
  process.stdin.once('end', () => resolve(sessionIn(text))).once('error', () => resolve(undefined))
  try {
    return await promise
  } finally {
    clearInterval(timer)
    process.stdin.destroy()
  }
}

/** A terminal and /dev/null are character devices. */
function isPiped(): boolean {
  try {
    return !fstatSync(0).isCharacterDevice()
  } catch {
    return false
  }
}

function sessionIn(text: string): string | undefined {
  if (!text.trimEnd().endsWith('}')) return undefined
  try {
    const said: unknown = JSON.parse(text)
    return hostId((said as { readonly session_id?: unknown } | null)?.session_id)
  } catch {
    return undefined
  }
}
