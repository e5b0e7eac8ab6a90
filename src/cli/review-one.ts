import { planOf } from '../domain/plan.ts'
import type { ReadStream } from 'node:tty'
import type { Conversation } from '../domain/conversation.ts'
import type { EventData } from '../domain/event.ts'
import { Refusal } from '../domain/refusal.ts'
import type { ReviewRequest } from '../domain/review.ts'
import { CANCELLING, CANCELLING_ACTIONS } from '../domain/review-action.ts'
import type { Decision, Door, ReviewRecord } from '../door/door.ts'
import { LOCAL_TENANT } from '../store/store.ts'
import type { Environment } from './clean-environment.ts'
import { CliError } from './cli-error.ts'
import { dropKeys, INTERRUPT, pressedKey } from './keys.ts'
import { type PlanRow, rowsOf, sentRows } from './plan-rows.ts'
import { EditedFile, editedPlan, type EditedPlan, type EditOptions, planFileText, sayInPlan } from './review-edit.ts'
import { isRun, keysText, planText, type Screen } from './review-screen.ts'
import { steps } from './status-text.ts'
import { ask, type Terminal } from './terminal.ts'
import { columnsOfTerminal, type Paint } from './terminal-text.ts'

export type Left = 'over' | 'skipped' | 'quit' | 'interrupted'

export interface ReviewerOptions {
  readonly door: Door
  readonly terminal: Terminal & { readonly input: ReadStream }
  readonly environment: Environment
  readonly paint: Paint
  readonly print: (line: string) => void
  /** Null while no server runs. */
  readonly urlOf: (conversation: string) => string | null
  /** The command that waits for the next plan. */
  readonly waitCommand: string
}

export class Reviewer {
  readonly #options: ReviewerOptions
  readonly #review: ReviewRequest
  readonly #state: Conversation
  readonly #title: string
  readonly #proposed: EditedPlan
  #plan: EditedPlan

  constructor(options: ReviewerOptions, review: ReviewRequest, state: Conversation, title: string) {
    this.#options = options
    this.#review = review
    this.#state = state
    this.#title = title
    this.#proposed = { rows: rowsOf(review.draft_tasks), comment: '' }
    this.#plan = this.#proposed
  }

  /** Runs until the plan is decided, here or elsewhere, or the person leaves it. */
  async run(): Promise<Left> {
    const over = new AbortController()
    const ended = this.#watch(over)
    try {
      for (;;) {
        const left = await this.#step(over.signal)
        if (left) return left
      }
    } catch (error) {
      if (!(error instanceof DecidedElsewhere)) throw error
      this.#tell(decidedElsewhere(error.resolution))
      return 'over'
    } finally {
      over.abort()
      await ended
      this.#keepEdits()
    }
  }

  /** One screen and one key. Undefined: show it again. */
  async #step(signal: AbortSignal): Promise<Left | undefined> {
    const { print, paint, terminal } = this.#options
    signal.throwIfAborted()
    const screen = await this.#screen()
    const columns = columnsOfTerminal(terminal.output)
    for (const line of ['', ...planText(screen, columns, paint), '']) print(line)
    await dropKeys(terminal.input)
    for (const line of keysText(screen, this.#isEdited, paint)) print(line)
    const key = await pressedKey(
      `aesq${Object.values(CANCELLING)
        .map(each => each.key)
        .join('')}`,
      terminal,
      signal,
    )
    const cancelling = CANCELLING_ACTIONS.find(action => CANCELLING[action].key === key)
    if (cancelling) return this.#cancel(cancelling)
    switch (key) {
      case 'a':
        return this.#decide({ action: 'confirm', tasks: this.#rows, ...this.#comment })
      case 'e':
        return this.#edit()
      case 's':
        return 'skipped'
      default:
        return key === INTERRUPT ? 'interrupted' : 'quit'
    }
  }

  async #screen(): Promise<Screen> {
    const { door, urlOf } = this.#options
    const { conversation_turn_id, session_id, review_id } = this.#review
    const { done_checks = [] } = planOf(this.#state, conversation_turn_id)
    return {
      ...this.#plan,
      review: this.#review,
      title: this.#title,
      url: urlOf(session_id),
      planChecks: done_checks,
      parentOf: row => this.#parentOf(row),
      askedAt: this.#state.reviews.get(review_id)?.asked_at,
      now: await door.now(),
    }
  }

  #parentOf({ draft_index = -1 }: PlanRow): string | undefined {
    const parent = this.#state.tasks.get(this.#review.draft_tasks[draft_index]?.parent_id ?? '')
    return parent && `${parent.number} ${parent.title}`
  }

  get #rows(): ReturnType<typeof sentRows> {
    return sentRows(this.#plan.rows, this.#review.draft_tasks)
  }

  get #comment(): { comment?: string } {
    return this.#plan.comment === '' ? {} : { comment: this.#plan.comment }
  }

  async #edit(): Promise<undefined> {
    const file = new EditedFile()
    try {
      const plan = await editedPlan(this.#plan, file, this.#editing)
      file.remove()
      if (plan) this.#plan = plan
      else this.#tell('The file was empty: nothing was changed, and the plan goes on waiting.')
    } catch (error) {
      if (!(error instanceof CliError)) throw error
      this.#tell(error.message, `What you wrote is in ${file.path}`)
    }
  }

  get #editing(): EditOptions {
    const { door, environment } = this.#options
    const [review, state] = [this.#review, this.#state]
    return { review, state, door, environment, parentOf: row => this.#parentOf(row) }
  }

  get #isEdited(): boolean {
    return JSON.stringify(this.#plan) !== JSON.stringify(this.#proposed)
  }

  /** Edits are sent only when the person requests changes. */
  async #cancel(action: keyof typeof CANCELLING): Promise<Left | undefined> {
    const { asks, needsComment } = CANCELLING[action]
    const said = await this.#ask(asks)
    if (said === undefined) return 'interrupted'
    if (said === '' && needsComment) return undefined
    const comment = said === '' ? {} : { comment: said }
    const tasks = this.#isEdited && action === 'revise' ? { tasks: this.#rows } : {}
    return this.#decide({ action, ...comment, ...tasks })
  }

  /** Undefined after Ctrl-C. */
  async #ask(question: string): Promise<string | undefined> {
    try {
      return await ask(question, this.#options.terminal)
    } catch (error) {
      if (error instanceof Error && error.name === 'AbortError') return undefined
      throw error
    }
  }

  async #decide(decision: Decision): Promise<Left | undefined> {
    const { door } = this.#options
    const { review_id } = this.#review
    try {
      const { resolution } = await door.reviews.decide(LOCAL_TENANT, review_id, decision, 'terminal')
      if (resolution && resolution.via !== 'terminal') throw new DecidedElsewhere(resolution)
      this.#tell(...this.#outcome(decision))
      this.#plan = this.#proposed
      return 'over'
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      const { record } = await door.reviews.get(LOCAL_TENANT, review_id)
      if (record.resolution) throw new DecidedElsewhere(record.resolution)
      this.#tell(sayInPlan(error))
      return error.code === 'review_expired' ? 'over' : undefined
    }
  }

  #outcome({ action }: Decision): string[] {
    const isOurs = this.#state.turns.get(this.#review.conversation_turn_id)?.status !== 'open'
    const next = isOurs
      ? 'The turn goes on as soon as a server runs.'
      : 'The agent goes on if it still waits, else it hears of it with its next call.'
    if (action !== 'confirm') {
      const { done } = CANCELLING[action]
      const again = action === 'revise' ? [`To see the next plan: ${this.#options.waitCommand}`] : []
      return [`${done.charAt(0).toUpperCase()}${done.slice(1)}: nothing was written.`, next, ...again]
    }
    const { rows } = this.#plan
    const runs = rows.flatMap(row => row.checks.filter(each => isRun(each, row, this.#review.draft_tasks))).length
    const checks = runs === 0 ? '' : `, and ${runs === 1 ? '1 check' : `${runs} checks`} may run`
    return [`Approved: ${steps(rows.length)} written${checks}.`, next]
  }

  /** Aborts `over` when another person or process decides. */
  async #watch(over: AbortController): Promise<void> {
    const { door } = this.#options
    try {
      const { resolution }: ReviewRecord = await door.reviews.await(LOCAL_TENANT, this.#review.review_id, over.signal)
      if (resolution) over.abort(new DecidedElsewhere(resolution))
    } catch (error) {
      if (!over.signal.aborted) over.abort(error)
    }
  }

  /** Keeps unused edits in a file. */
  #keepEdits(): void {
    if (!this.#isEdited) return
    const file = new EditedFile()
    file.write(planFileText(this.#plan, this.#editing))
    this.#tell(`Your edits are kept in ${file.path}`)
  }

  #tell(...lines: readonly string[]): void {
    for (const line of ['', ...lines]) this.#options.print(line)
  }
}

type Resolution = EventData['task_create_review_resolved']

class DecidedElsewhere extends Error {
  readonly resolution: Resolution
  constructor(resolution: Resolution) {
    super('decided elsewhere')
    this.resolution = resolution
  }
}

const WHERE: Readonly<Record<string, string>> = {
  http: 'on the page or over HTTP',
  mcp_form: "in the agent's host",
  terminal: 'in another terminal',
  library: 'by a program',
}
const ENDED: Readonly<Record<string, string>> = {
  review_timeout: 'Its time is over.',
  panel_closed: 'Its page was closed, which ended it.',
  turn_stopped: 'The agent was stopped, which ended it.',
  superseded: 'The agent has proposed another plan instead.',
}

function decidedElsewhere({ action, reason = '', via }: Resolution): string {
  if (via === 'system') return `Not decided here: ${ENDED[reason] ?? 'it is over.'}`
  const { done } = Object.values(CANCELLING).find(each => each.reason === reason) ?? CANCELLING.cancel
  const what = action === 'confirm' ? 'approved' : done
  return `Not decided here: it was ${what} ${WHERE[via] ?? 'elsewhere'} a moment before.`
}
