import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Conversation } from '../../core/model/conversation.ts'
import type { Instant } from '../../core/model/instant.ts'
import { originOf } from '../../core/model/origin.ts'
import { redactor } from '../../core/text/redact.ts'
import type { ReviewRequest } from '../../core/model/review.ts'
import { secretsInUrl } from '../../core/text/secrets.ts'
import type { WaitingDispute } from '../../core/views/wire.ts'
import { type Door, exceptStorage, openDoor, waitingCalls } from '../../engine/door/door.ts'
import { LOCAL_TENANT } from '../../store/store.ts'
import { CliError } from '../cli-error.ts'
import { existingFolder } from '../server/data-folder.ts'
import { answerDispute } from './dispute-one.ts'
import type { Environment } from '../environment.ts'
import { reviewCommand } from '../invocation.ts'
import { checkStore, openWritableStore, storeLocation } from '../server/open-store.ts'
import { type Left, Reviewer, type ReviewerOptions } from './review-one.ts'
import { disputeEntry, entryText } from './review-screen.ts'
import { ServerLock } from '../server/server-lock.ts'
import { readSettings, type SettingsOptions } from '../server/settings.ts'
import { placeOf, type StatusPlace } from '../status-source.ts'
import { linkTo } from '../status.ts'
import { columnsOfTerminal, type Paint, paintFor } from './terminal-text.ts'
import { agentShell, choose, isInteractive, type Terminal } from './terminal.ts'
import { workspacesFor } from '../server/workspaces.ts'

export interface ReviewOptions extends SettingsOptions {
  readonly data?: string
  readonly store?: string
  readonly session?: string
  readonly wait?: true
}

const MAX_LISTED = 9
const LOOK_MS = 1_000
const INTERRUPTED = 130

/** Resolves with the exit code. */
export async function reviewPlans(options: ReviewOptions, terminal: Terminal): Promise<number> {
  const { environment } = options
  checkPerson(terminal, environment)
  const place = placeOf(options, environment)
  checkStore(place.store)
  if (place.store === 'memory') {
    throw new CliError('review cannot use --store memory: the plans are in the memory of the server. Use its page.')
  }
  if (!options.wait && !hasPlans(place)) {
    terminal.output.write(`${nothing(place)}\n`)
    return 0
  }
  existingFolder({ data: place.data, environment })
  const door = await openedDoor(options, place)
  try {
    return await new Desk(options, place, door, terminal).run()
  } finally {
    await door.close()
  }
}

/** Throws without an interactive terminal, or in an agent's shell. */
function checkPerson(terminal: Terminal, environment: Environment): void {
  const agent = agentShell(environment)
  if (agent !== undefined) {
    throw new CliError(
      `a plan is decided by a person, and this shell is ${agent}'s. Use a terminal of your own, or the page.`,
    )
  }
  if (isInteractive(terminal)) return
  throw new CliError('a plan is decided by a person: run this in a terminal (stdin and stdout), or use the page.')
}

const hasPlans = ({ store, data }: StatusPlace): boolean =>
  storeLocation(store) !== 'folder' || existsSync(join(data, 'runsheet.db'))

/** Decisions are recorded as the person's, from a terminal. */
async function openedDoor(options: ReviewOptions, { store, data }: StatusPlace): Promise<Door> {
  const redact = redactor({ known: secretsInUrl(store).known })
  const { checks } = readSettings(options, line => console.error(line))
  const workspaces = workspacesFor({ data, environment: options.environment }, checks, redact)
  const onError = exceptStorage(error => console.error(redact.line(`runsheet: ${String(error)}`)))
  const door = openDoor({ store: await openWritableStore({ store, data }), checks: workspaces, onError })
  return door.from(originOf('person', 'terminal'))
}

const nothing = ({ data, store }: StatusPlace): string =>
  `Nothing waits for you${storeLocation(store) === 'folder' ? ` in ${data}` : ''}.`

/** A plan or a dispute that waits for the person. */
type Waiting = ReviewRequest | WaitingDispute

const isPlan = (waiting: Waiting): waiting is ReviewRequest => 'review_id' in waiting

/** A second dispute of a task is another one. */
const idOf = (waiting: Waiting): string => (isPlan(waiting) ? waiting.review_id : `${waiting.task_id}:${waiting.count}`)

class Desk {
  readonly #options: ReviewOptions
  readonly #place: StatusPlace
  readonly #door: Door
  readonly #terminal: Terminal
  readonly #skipped = new Set<string>()

  constructor(options: ReviewOptions, place: StatusPlace, door: Door, terminal: Terminal) {
    this.#options = options
    this.#place = place
    this.#door = door
    this.#terminal = terminal
  }

  async run(): Promise<number> {
    let waiting = await this.#waiting()
    if (waiting.length === 0 && this.#options.wait) waiting = await this.#awaited()
    if (waiting.length === 0) {
      this.#print(nothing(this.#place))
      return 0
    }
    while (waiting.length > 0) {
      const next = waiting.length === 1 ? waiting[0] : await this.#picked(waiting)
      if (next === undefined) return INTERRUPTED
      if (next === 'quit') return 0
      const left = await this.#show(next)
      if (left === 'quit') return 0
      if (left === 'interrupted') return INTERRUPTED
      if (left === 'skipped') this.#skipped.add(idOf(next))
      waiting = await this.#waiting()
    }
    return 0
  }

  async #waiting(): Promise<readonly Waiting[]> {
    const limit = MAX_LISTED + this.#skipped.size
    const { items } = await this.#door.reviews.waiting(LOCAL_TENANT, this.#options.session, { limit })
    const { disputes } = await waitingCalls(this.#door, LOCAL_TENANT, this.#options.session)
    const waiting: readonly Waiting[] = [...items, ...disputes]
    return waiting.filter(each => !this.#skipped.has(idOf(each))).slice(0, MAX_LISTED)
  }

  async #awaited(): Promise<readonly Waiting[]> {
    this.#print('Waiting for a plan to review (Ctrl-C to stop).')
    for (;;) {
      const waiting = await this.#waiting()
      if (waiting.length > 0) return waiting
      await delay(LOOK_MS)
    }
  }

  async #picked(waiting: readonly Waiting[]): Promise<Waiting | 'quit' | undefined> {
    const columns = columnsOfTerminal(this.#terminal.output)
    const now = await this.#door.now()
    const choices = [{ value: 'quit', label: 'Quit: they go on waiting' }]
    for (const each of waiting) {
      const lines = isPlan(each)
        ? entryText(each, await this.#entryOf(each, now), columns - 4, this.#paint)
        : disputeEntry(each, now, columns - 4, this.#paint)
      choices.push({ value: idOf(each), label: lines.join('\n') })
    }
    this.#print('')
    const what = waiting.every(isPlan) ? 'plans' : 'decisions'
    const id = await choose(`${waiting.length} ${what} wait for you. Which one?`, choices, this.#terminal)
    return id === 'quit' ? id : waiting.find(each => idOf(each) === id)
  }

  async #entryOf(review: ReviewRequest, now: Instant): Promise<Parameters<typeof entryText>[1]> {
    const { asked_at: askedAt } = (await this.#stateOf(review)).reviews.get(review.review_id) ?? {}
    return { title: await this.#titleOf(review), askedAt, now }
  }

  async #show(waiting: Waiting): Promise<Left> {
    const title = await this.#titleOf(waiting)
    if (!isPlan(waiting)) return answerDispute(waiting, title, this.#answering)
    return new Reviewer(this.#answering, waiting, await this.#stateOf(waiting), title).run()
  }

  get #answering(): ReviewerOptions {
    const { environment, invocation, data } = this.#options
    return {
      door: this.#door,
      terminal: this.#terminal,
      environment,
      paint: this.#paint,
      print: line => this.#print(line),
      urlOf: conversation => {
        const serving = ServerLock.serving(this.#place.data)
        return typeof serving === 'object' ? linkTo(serving.url, conversation) : null
      },
      waitCommand: `${reviewCommand(invocation, data)} --wait`,
    }
  }

  #print(line: string): void {
    this.#terminal.output.write(`${line}\n`)
  }

  get #paint(): Paint {
    return paintFor(this.#terminal.output, this.#options.environment)
  }

  async #stateOf({ session_id }: Waiting): Promise<Conversation> {
    return this.#door.read({ tenant: LOCAL_TENANT, conversation: session_id })
  }

  async #titleOf(waiting: Waiting): Promise<string> {
    const { session_id } = waiting
    const known = await this.#door.conversations.summary({ tenant: LOCAL_TENANT, conversation: session_id })
    return known?.title ?? (isPlan(waiting) ? waiting.draft_tasks[0]?.title : waiting.title) ?? session_id
  }
}
