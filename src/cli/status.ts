import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Checking, TaskLine } from '../core/views/plan-status.ts'
import type { Standing } from '../core/proof/standing.ts'
import type { Door } from '../engine/door/door.ts'
import { StoreError } from '../store/store-error.ts'
import { LOCAL_TENANT } from '../store/store.ts'
import { CliError } from './cli-error.ts'
import type { Environment } from './environment.ts'
import { reviewCommand } from './invocation.ts'
import { cannotOpen, checkStore, openedForStatus, plansOf } from './server/open-store.ts'
import { needsRestart } from './server/page-server.ts'
import { ServerLock } from './server/server-lock.ts'
import { overviewText, steps, type Waiting, waitingText } from './status-line.ts'
import { type Chosen, chosen, type ChosenBy, placeOf, sessionOnStdin, type StatusPlace } from './status-source.ts'
import { columnsOfTerminal, fitted, paintFor } from './terminal/terminal-text.ts'

export interface StatusOptions {
  readonly data?: string
  readonly store?: string
  readonly session?: string
  readonly json?: true
  readonly environment: Environment
  readonly invocation: string
}

/** The output of `runsheet status --json`. Fields may be added; within a version none is renamed or removed. */
export interface StatusReport {
  readonly format: 'runsheet-status'
  readonly version: 1
  /** Null if no conversation has a plan. */
  readonly session: {
    readonly session_id: string
    readonly title: string | null
    readonly updated_at: string | null
    readonly chosen_by: ChosenBy
  } | null
  readonly plan: {
    readonly done: number
    readonly of: number
    readonly open: number
    readonly blocked: number
    readonly disputed: number
    readonly cancelled: number
    readonly standings: Readonly<Record<Standing, number>>
    readonly tasks: readonly TaskLine[]
    readonly checking: readonly Checking[]
    /** The plan's own checks whose last run failed. */
    readonly failing: readonly string[]
    /** Tasks whose dispute waits for a person. */
    readonly disputes: readonly { readonly task: number; readonly title: string; readonly reason: string }[]
    /** Checks that wait for a person to tick them. */
    readonly ticks: readonly { readonly task: number; readonly ask: string }[]
  } | null
  /** Pending reviews of all conversations in the data folder, by deadline; at most 50. */
  readonly reviews: readonly {
    readonly review_id: string
    readonly session_id: string
    readonly title: string | null
    readonly steps: number
    readonly expires_at: string | null
    /** The review's page; null while no server runs. */
    readonly url: string | null
  }[]
  /** The page's URL; null while no server runs. */
  readonly page: string | null
}

const MAX_REVIEWS = 50

export async function printStatus(options: StatusOptions): Promise<void> {
  const place = placeOf(options, options.environment)
  checkStore(place.store)
  const session = await sessionFor(options)
  const door = await openedForStatus(place).catch((error: unknown) => {
    throw error instanceof StoreError ? cannotOpen(place.store, error) : error
  })
  try {
    const found =
      door && (await chosen(plansOf(door), { ...place, session, environment: options.environment, onlyActive: false }))
    if (!found && session?.by === 'option') throw new CliError(`there is no conversation ${session.id} with a plan.`)
    const report = await reportOf(door, found, place)
    if (options.json) console.log(jsonText(report))
    else for (const line of textOf(report, found, place, options)) console.log(line)
  } finally {
    await door?.close()
  }
}

async function sessionFor({ session }: StatusOptions): Promise<{ id: string; by: 'option' | 'stdin' } | undefined> {
  if (session !== undefined) return { id: session, by: 'option' }
  const id = await sessionOnStdin()
  return id === undefined ? undefined : { id, by: 'stdin' }
}

async function reportOf(
  door: Door | undefined,
  found: Chosen | undefined,
  { data }: StatusPlace,
): Promise<StatusReport> {
  const page = await pageOf(data)
  return {
    format: 'runsheet-status',
    version: 1,
    session: found && door ? await sessionOf(door, found) : null,
    plan: found ? planOf(found) : null,
    reviews: door ? await reviewsOf(door, page) : [],
    page,
  }
}

async function sessionOf(door: Door, { ref, by }: Chosen): Promise<StatusReport['session']> {
  const { title = null, updated_at = null } = (await door.conversations.summary(ref)) ?? {}
  return { session_id: ref.conversation, title, updated_at, chosen_by: by }
}

/** Null for an unapproved proposal: it is listed under reviews. */
function planOf({ plan }: Chosen): StatusReport['plan'] {
  if (plan.tasks.length === 0) return null
  const { reviews: _reviews, ...status } = plan
  return status
}

async function reviewsOf(door: Door, page: string | null): Promise<StatusReport['reviews']> {
  const { items } = await door.reviews.waiting(LOCAL_TENANT, undefined, { limit: MAX_REVIEWS })
  return Promise.all(
    items.map(async ({ review_id, session_id, draft_tasks, expires_at }) => {
      const known = await door.conversations.summary({ tenant: LOCAL_TENANT, conversation: session_id })
      const url = page === null ? null : linkTo(page, session_id)
      return { review_id, session_id, title: known?.title ?? null, steps: draft_tasks.length, expires_at, url }
    }),
  )
}

export const linkTo = (page: string, conversation: string): string => new URL(`?chat=${conversation}`, page).href

/** Reading the lock creates its file, so it is read only where one exists. */
async function pageOf(data: string): Promise<string | null> {
  const serving = existsSync(join(data, 'server.lock')) ? ServerLock.serving(data) : undefined
  return typeof serving === 'object' && !(await needsRestart(serving)) ? serving.url : null
}

/** JSON leaves some control characters unescaped that a terminal would obey. */
const jsonText = (report: StatusReport): string =>
  JSON.stringify(report, null, 2).replaceAll(
    /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

const CHOSEN: Record<ChosenBy, string> = {
  option: 'as you named it',
  stdin: "the host's session",
  environment: 'the session of this shell',
  waiting: 'which waits for you',
  newest: 'which changed last',
}

function textOf(
  { session, reviews, page }: StatusReport,
  found: Chosen | undefined,
  { data, folder }: StatusPlace,
  { environment, invocation, data: named }: StatusOptions,
): string[] {
  const paint = paintFor(process.stdout, environment)
  // Piped output has no width limit.
  const columns = process.stdout.isTTY ? columnsOfTerminal(process.stdout) : Infinity
  const decide = (id: string | null): string =>
    [...(page === null || id === null ? [] : [linkTo(page, id)]), reviewCommand(invocation, named)].join('  or  ')
  const waiting: Waiting[] = [
    ...reviews.map(({ session_id, title, steps: count }) => ({
      text: `review of ${steps(count)}${session_id === session?.session_id ? '' : `: ${title ?? session_id}`}`,
      where: decide(session_id),
    })),
    ...(found?.plan.disputes ?? []).map(({ task, title, reason }) => ({
      text: `dispute of step ${task}, ${title}: ${reason}`,
      where: decide(session?.session_id ?? null),
    })),
    ...(found?.plan.ticks ?? []).map(({ task, ask }) => ({
      text: `tick for step ${task}: ${ask}`,
      where: page === null || !session ? 'on the page' : linkTo(page, session.session_id),
    })),
  ]
  const head =
    found && session
      ? overviewText(
          {
            title: session.title ?? session.session_id,
            session_id: session.session_id,
            chosen: CHOSEN[session.chosen_by],
            plan: found.plan,
          },
          columns,
          paint,
        )
      : [fitted(`No plan in ${folder} (data folder ${data}).`, columns)]
  return [...head, ...waitingText(waiting, columns, paint)]
}
