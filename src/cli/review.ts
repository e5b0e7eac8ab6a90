import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { ReadStream } from 'node:tty'
import { setTimeout as delay } from 'node:timers/promises'
import type { Conversation } from '../domain/conversation.ts'
import type { Instant } from '../domain/instant.ts'
import { originOf } from '../domain/origin.ts'
import { redactor } from '../domain/redact.ts'
import { secretsInUrl } from '../domain/secrets.ts'
import type { ReviewRequest } from '../domain/review.ts'
import type { WaitingDispute } from '../domain/wire.ts'
import { type Door, exceptStorage, openDoor, waitingCalls } from '../door/door.ts'
import { LOCAL_TENANT } from '../store/store.ts'
import { agentShell } from './agent-shell.ts'
import type { Environment } from './clean-environment.ts'
import { CliError } from './cli-error.ts'
import { answerDispute } from './dispute-one.ts'
import { existingFolder } from './data-folder.ts'
import { reviewCommand } from './invocation.ts'
import { dropKeys, INTERRUPT, pressedKey } from './keys.ts'
import { checkStore, openWritableStore, storeLocation } from './open-store.ts'
import { type Left, Reviewer, type ReviewerOptions } from './review-one.ts'
import { disputeEntry, entryText } from './review-screen.ts'
import { ServerLock } from './server-lock.ts'
import { readSettings, type SettingsOptions } from './settings.ts'
import { linkTo } from './status.ts'
import { placeOf, type StatusPlace } from './status-source.ts'
import { isInteractive, type Terminal } from './terminal.ts'
import { columnsOfTerminal, type Paint, paintFor } from './terminal-text.ts'
import { workspacesFor } from './workspaces.ts'

export interface ReviewOptions extends SettingsOptions {
  readonly data?: string
  readonly store?: string
  readonly session?: string
  readonly wait?: true
}

const DIGITS = '123456789'
/** Poll interval, because hints can be lost. */
const LOOK_MS = 2_000
const INTERRUPTED = 130

/** Resolves with the exit code. */
export async function reviewPlans(options: ReviewOptions, terminal: Terminal): Promise<number> {
  const { environment } = options
  const input = personAt(terminal, environment)
  const place = placeOf(options, environment)
  checkStore(place.store)
  if (place.store === 'memory') {
    throw new CliError('review cannot use --store memory: the plans are in the memory of the server. Use its page.')
  }
  if (!options.wait && !hasPlans(place)) {
    console.log(nothing(place))
    return 0
  }
  existingFolder({ data: place.data, environment })
  const door = await openedDoor(options, place)
  try {
    return await new Desk(options, place, door, { ...terminal, input }).run()
  } finally {
    await door.close()
  }
}

/** Throws without an interactive terminal, or in an agent's shell. */
function personAt(terminal: Terminal, environment: Environment): ReadStream {
  const { input } = terminal
  const agent = agentShell(environment)
  if (agent !== undefined) {
    throw new CliError(
      `a plan is decided by a person, and this shell is ${agent}'s. Use a terminal of your own, or the page.`,
    )
  }
  if (isInteractive(terminal) && input instanceof ReadStream) return input
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
  readonly #terminal: Terminal & { readonly input: ReadStream }
  readonly #skipped = new Set<string>()

  constructor(
    options: ReviewOptions,
    place: StatusPlace,
    door: Door,
    terminal: Terminal & { readonly input: ReadStream },
  ) {
    this.#options = options
    this.#place = place
    this.#door = door
    this.#terminal = terminal
  }

  async run(): Promise<number> {
    let waiting = await this.#waiting()
    if (waiting.length === 0 && this.#options.wait) waiting = await this.#awaited()
    if (waiting.length === 0) {
      console.log(nothing(this.#place))
      this.#hintAtOtherStore()
      return 0
    }
    while (waiting.length > 0) {
      const next = waiting.length === 1 ? waiting[0] : await this.#picked(waiting)
      if (next === undefined || next === INTERRUPT) return next === INTERRUPT ? INTERRUPTED : 0
      const left = await this.#show(next)
      if (left === 'quit') return 0
      if (left === 'interrupted') return INTERRUPTED
      if (left === 'skipped') this.#skipped.add(idOf(next))
      waiting = await this.#waiting()
    }
    return 0
  }

  async #waiting(): Promise<readonly Waiting[]> {
    const limit = DIGITS.length + this.#skipped.size
    const { items } = await this.#door.reviews.waiting(LOCAL_TENANT, this.#options.session, { limit })
    const { disputes } = await waitingCalls(this.#door, LOCAL_TENANT, this.#options.session)
    const waiting: readonly Waiting[] = [...items, ...disputes]
    return waiting.filter(each => !this.#skipped.has(idOf(each))).slice(0, DIGITS.length)
  }

  async #awaited(): Promise<readonly Waiting[]> {
    console.log('Waiting for a plan to review (Ctrl-C to stop).')
    const done = new AbortController()
    const hints = this.#door.changes(done.signal)[Symbol.asyncIterator]()
    try {
      for (let next = hints.next(); ; ) {
        const waiting = await this.#waiting()
        if (waiting.length > 0) return waiting
        const heard = await Promise.race([next.then(() => true), delay(LOOK_MS, false)])
        if (heard) next = hints.next()
      }
    } finally {
      done.abort()
    }
  }

  async #picked(waiting: readonly Waiting[]): Promise<Waiting | typeof INTERRUPT | undefined> {
    const columns = columnsOfTerminal(process.stdout)
    const now = await this.#door.now()
    console.log(`\n${waiting.length} ${waiting.every(isPlan) ? 'plans' : 'decisions'} wait for you:\n`)
    for (const [index, each] of waiting.entries()) {
      const [first, second] = isPlan(each)
        ? entryText(each, await this.#entryOf(each, now), columns - 4, this.#paint)
        : disputeEntry(each, now, columns - 4, this.#paint)
      console.log(` ${index + 1}  ${first}\n    ${second}`)
    }
    await dropKeys(this.#terminal.input)
    console.log(`\nWhich one? 1 to ${waiting.length}, or q to quit`)
    const key = await pressedKey(`${DIGITS.slice(0, waiting.length)}q`, this.#terminal, NEVER)
    return key === INTERRUPT ? INTERRUPT : waiting[Number(key) - 1]
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
      print: line => console.log(line),
      urlOf: conversation => {
        const serving = this.#server()
        return serving ? linkTo(serving.url, conversation) : null
      },
      waitCommand: `${reviewCommand(invocation, data)} --wait`,
    }
  }

  get #paint(): Paint {
    return paintFor(process.stdout, this.#options.environment)
  }

  async #stateOf({ session_id }: Waiting): Promise<Conversation> {
    return this.#door.read({ tenant: LOCAL_TENANT, conversation: session_id })
  }

  async #titleOf(waiting: Waiting): Promise<string> {
    const { session_id } = waiting
    const known = await this.#door.conversations.summary({ tenant: LOCAL_TENANT, conversation: session_id })
    return known?.title ?? (isPlan(waiting) ? waiting.draft_tasks[0]?.title : waiting.title) ?? session_id
  }

  #server(): { readonly url: string; readonly store: string } | undefined {
    const serving = existsSync(this.#place.data) ? ServerLock.serving(this.#place.data) : undefined
    return typeof serving === 'object' ? serving : undefined
  }

  /** A server of this folder may keep its plans in another store. */
  #hintAtOtherStore(): void {
    const { store } = this.#server() ?? {}
    if (store === undefined || store === storeLocation(this.#place.store)) return
    console.log(`The server of ${this.#place.data} uses another store: ${store}. Set RUNSHEET_STORE to the same.`)
  }
}

const NEVER = new AbortController().signal
