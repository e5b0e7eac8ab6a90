import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Instant } from '../core/model/instant.ts'
import type { Checking, PlanStatus, TaskLine } from '../core/views/plan-status.ts'
import { NOT_DONE_WORDS, countWords } from '../core/views/tally.ts'
import type { Standing } from '../core/proof/standing.ts'
import type { TaskStatus } from '../core/model/task.ts'
import { sqliteQueries } from '../store/sqlite/queries.ts'
import { openLogs } from '../store/sqlite/reader.ts'
import { LOCAL_TENANT } from '../store/store.ts'
import type { Environment } from './environment.ts'
import { chosen, placeOf, sessionOnStdin, type PlanSource, type StatusPlace } from './status-source.ts'
import { fitted, oneLine, widthOf, type Paint } from './terminal/terminal-text.ts'

// A separate entry without the command line library: a prompt or status bar waits for it on every redraw.

/** A prompt waits for at most this long. */
const MAX_MS = 2_000

/**
 * Prints the plan's state on one line and ends the process; `words` are the arguments after `status`. It must never
 * break a prompt: on any failure it prints an empty line, creates nothing and exits with 0.
 */
export async function printStatusLine(words: readonly string[], environment: Environment): Promise<never> {
  setTimeout(() => process.exit(0), MAX_MS)
  process.stdout.on('error', () => process.exit(0))
  const line = await lineFor(words, environment).catch(() => '')
  await new Promise(done => process.stdout.write(`${line}\n`, done))
  process.exit(0)
}

async function lineFor(words: readonly string[], environment: Environment): Promise<string> {
  const place = placeOf({ data: after(words, '--data'), store: after(words, '--store') }, environment)
  const named = after(words, '--session')
  const session = named === undefined ? await fromHost() : ({ id: named, by: 'option' } as const)
  const source = await plansAt(place)
  if (!source) return ''
  try {
    const found = await chosen(source, { ...place, session, environment, onlyActive: true })
    return found ? statusLine(found.plan) : ''
  } finally {
    await source.close()
  }
}

/** Prefers reading the database directly, which is fastest. */
async function plansAt(place: StatusPlace): Promise<PlanSource | undefined> {
  const isFile = place.store === 'sqlite' || place.store === 'file'
  if (isFile && !existsSync(join(place.data, 'runsheet.db'))) return undefined
  const peeked = isFile ? peekedPlans(place) : undefined
  if (peeked) return peeked
  const { openedForStatus, plansOf } = await import('./server/open-store.ts')
  const door = await openedForStatus(place)
  return door && plansOf(door)
}

async function fromHost(): Promise<{ readonly id: string; readonly by: 'stdin' } | undefined> {
  const id = await sessionOnStdin()
  return id === undefined ? undefined : { id, by: 'stdin' }
}

function after(words: readonly string[], flag: string): string | undefined {
  const at = words.indexOf(flag)
  return at < 0 ? words.find(word => word.startsWith(`${flag}=`))?.slice(flag.length + 1) : words[at + 1]
}

/** Reads plans without checking the whole database. Undefined if it must be opened normally. */
function peekedPlans({ data }: StatusPlace): PlanSource | undefined {
  const path = join(data, 'runsheet.db')
  const opened = existsSync(path) ? openLogs(path) : undefined
  if (!opened) return undefined
  const { db, log } = opened
  const now = (): Instant => new Date().toISOString()
  const queries = sqliteQueries(db, work => work(), log, now)
  return {
    now: async () => now(),
    read: async ref => log.current(ref),
    conversations: async limit => (await queries.conversations(LOCAL_TENANT, { limit }, 'all')).items,
    waiting: async limit => (await queries.waiting(LOCAL_TENANT, undefined, { limit })).items,
    close: async () => db.close(),
  }
}

const MAX_LINE = 120
const MAX_PART = 40

function statusLine(plan: PlanStatus): string {
  const parts = [progress(plan), ...asks(plan), ...now(plan), ...checks(plan)]
  return fitted(parts.join(' · '), MAX_LINE)
}

function progress({ done, of, open, standings, reviews, ...counts }: PlanStatus): string {
  if (of === 0 && reviews.length > 0) return 'plan'
  if (counts.cancelled === of) return 'plan: all steps cancelled'
  const others = countWords(NOT_DONE_WORDS, counts)
  const how = open > 0 ? '' : countWords(WORDS, standings)
  return `plan ${done}/${of}${open > 0 ? '' : ' done'}${others && `, ${others}`}${how && ` · ${how}`}`
}

function asks({ reviews, disputes, ticks }: PlanStatus): string[] {
  const [review] = reviews
  const [tick] = ticks
  return [
    ...(review ? [`waits for your review: ${steps(review.draft_tasks.length)}`] : []),
    ...(disputes.length > 0 ? [`waits for you: ${disputesText(disputes.length)}`] : []),
    ...(tick ? [`waits for your tick: ${fitted(tick.ask, MAX_PART)}`] : []),
  ]
}

function now({ tasks, reviews }: PlanStatus): string[] {
  const current = tasks.find(({ status }) => status === 'in_progress')
  return current && reviews.length === 0 ? [fitted(current.title, MAX_PART)] : []
}

function checks({ checking, failing }: PlanStatus): string[] {
  const [first] = checking
  const [failed] = failing
  return [
    ...(first ? [checkingText(first, MAX_PART)] : []),
    ...(failed === undefined ? [] : [`fails: ${fitted(failed, MAX_PART)}`]),
  ]
}

function checkingText({ check, running }: Checking, columns: number): string {
  if (check === null) return 'being judged'
  return `${running ? 'checking' : 'to be checked'}: ${fitted(check, columns)}`
}

const disputesText = (count: number): string => (count === 1 ? '1 dispute' : `${count} disputes`)

export const steps = (count: number): string => (count === 1 ? '1 step' : `${count} steps`)

const WORDS: Record<Standing, string> = {
  proven: 'proven',
  confirmed: 'confirmed',
  judged: 'judged',
  reported: 'reported',
}

export interface Waiting {
  readonly text: string
  readonly where: string
}

interface Overview {
  readonly title: string
  readonly session_id: string
  readonly chosen: string
  readonly plan: PlanStatus
}

/** Wrap width for piped output. */
const PIPED_COLUMNS = 80

const MARKS: Record<TaskStatus, string> = {
  completed: '[x]',
  in_progress: '[>]',
  pending: '[ ]',
  blocked: '[!]',
  cancelled: '[-]',
}

export function overviewText({ title, session_id, chosen, plan }: Overview, columns: number, paint: Paint): string[] {
  const { tasks, done, of, standings, checking, failing, reviews } = plan
  const how = countWords(WORDS, standings)
  const others = countWords(NOT_DONE_WORDS, plan)
  return [
    paint.bold(fitted(title, columns)),
    paint.dim(fitted(`conversation ${session_id}, ${chosen}`, columns)),
    ...(tasks.length === 0
      ? []
      : [
          '',
          `${done} of ${of} done${how && `: ${how}`}${others && `; ${others}`}`,
          ...tasks.map(task => taskText(task, plan, columns, paint)),
        ]),
    ...reviews.flatMap(review => ['', 'Proposed', ...proposedText(review.draft_tasks, columns)]),
    ...checking
      .filter(({ task }) => task === null)
      .map(each => `  ${checkingText(each, columns - 20)} ${paint.dim('(of the plan)')}`),
    ...failing.map(check => paint.red(`  fails: ${fitted(check, columns - 9)}`)),
  ]
}

const proposedText = (rows: readonly { readonly title: string }[], columns: number): string[] =>
  rows.map(({ title }, index) => `  [?] ${String(index + 1).padStart(2)}  ${fitted(title, columns - 10)}`)

function taskText(
  task: TaskLine,
  { checking, disputes }: Pick<PlanStatus, 'checking' | 'disputes'>,
  columns: number,
  paint: Paint,
): string {
  const { number, title, status, standing } = task
  const under = checking.find(each => each.task === number)
  const isDisputed = disputes.some(each => each.task === number)
  const said = isDisputed ? NOT_DONE_WORDS.disputed : (standing ?? NOTES[status] ?? '')
  const note = under ? checkingText(under, MAX_PART) : said
  const head = `  ${MARKS[status]} ${String(number).padStart(2)}  `
  const room = columns - widthOf(head) - (note === '' ? 0 : widthOf(note) + 2)
  const text = fitted(title, Math.max(room, 10))
  const used = widthOf(head) + widthOf(text) + widthOf(note) + 2
  const gap = ' '.repeat(Math.max(0, (Number.isFinite(columns) ? columns : PIPED_COLUMNS) - used))
  return `${head}${STYLES[status](text, paint)}${note === '' ? '' : `${gap}  ${noteStyle(task, paint)(note)}`}`
}

const NOTES: Partial<Record<TaskStatus, string>> = { blocked: 'blocked', cancelled: 'cancelled' }

const STYLES: Record<TaskStatus, (text: string, paint: Paint) => string> = {
  completed: text => text,
  in_progress: (text, { bold }) => bold(text),
  pending: text => text,
  blocked: (text, { red }) => red(text),
  cancelled: (text, { dim }) => dim(text),
}

function noteStyle({ status, standing }: TaskLine, paint: Paint): (text: string) => string {
  if (standing === 'proven' || standing === 'confirmed') return paint.green
  return status === 'blocked' ? paint.red : paint.dim
}

export function waitingText(waiting: readonly Waiting[], columns: number, paint: Paint): string[] {
  if (waiting.length === 0) return []
  return [
    '',
    paint.bold(paint.yellow('Waits for you')),
    // URLs are never cut, so that they can be copied.
    ...waiting.flatMap(({ text, where }) => [`  ${fitted(text, columns - 2)}`, paint.dim(`    ${oneLine(where)}`)]),
  ]
}
