import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Conversation } from '../../core/model/conversation.ts'
import type { EventData } from '../../core/model/event.ts'
import { planOf } from '../../core/model/plan.ts'
import { Refusal } from '../../core/model/refusal.ts'
import { CANCELLING } from '../../core/model/review-action.ts'
import { confirmedRows, type ReviewRequest } from '../../core/model/review.ts'
import { say } from '../../core/views/say.ts'
import { preparedRows } from '../../engine/door/checks.ts'
import type { Decision, Door, ReviewRecord } from '../../engine/door/door.ts'
import { createPrivateFile, readRegularFile } from '../../store/private-file.ts'
import { LOCAL_TENANT } from '../../store/store.ts'
import { CliError } from '../cli-error.ts'
import type { Environment } from '../environment.ts'
import {
  FIELD_HELP,
  isRun,
  parsePlan,
  type ParsedPlan,
  type Plan,
  PlanFileError,
  type PlanRow,
  printPlan,
  rowsOf,
  sentRows,
} from './plan-file.ts'
import { choicesFor, planText, type Screen } from './review-screen.ts'
import { steps } from '../status-line.ts'
import { columnsOfTerminal, type Paint } from './terminal-text.ts'
import { ask, choose, edit, type Terminal } from './terminal.ts'

export type Left = 'over' | 'skipped' | 'quit' | 'interrupted'

export interface ReviewerOptions {
  readonly door: Door
  readonly terminal: Terminal
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
  readonly #proposed: Plan
  #plan: Plan

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

  /** One screen and one answer. Undefined: show it again. */
  async #step(signal: AbortSignal): Promise<Left | undefined> {
    const { print, paint, terminal } = this.#options
    signal.throwIfAborted()
    const screen = await this.#screen()
    for (const line of ['', ...planText(screen, columnsOfTerminal(terminal.output), paint), '']) print(line)
    const answer = await choose('What do you say?', choicesFor(screen, this.#isEdited), terminal, signal)
    switch (answer) {
      case 'confirm':
        return this.#decide({ action: 'confirm', tasks: this.#rows, ...this.#comment })
      case 'edit':
        return this.#edit(signal)
      case 'skip':
        return 'skipped'
      case 'quit':
        return 'quit'
      case undefined:
        return 'interrupted'
      default:
        return this.#cancel(answer)
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

  /** Opens the plan in the editor, again while it has a mistake. Edits that are not used stay in the file. */
  async #edit(signal: AbortSignal): Promise<Left | undefined> {
    const { environment, terminal } = this.#options
    const file = newFile(this.#text, this.#options.environment)
    let isOver = false
    try {
      for (;;) {
        await edit(file, environment)
        const plan = this.#parsed(textIn(file))
        if (!(plan instanceof PlanFileError)) {
          isOver = true
          if (plan.rows.length > 0) this.#plan = plan
          else this.#tell('The file was empty: nothing was changed, and the plan goes on waiting.')
          return undefined
        }
        this.#tell(`Line ${plan.line}: ${plan.message.replace(/\.$/, '')}.`)
        const next = await choose('The plan has a mistake.', AFTER_MISTAKE, terminal, signal)
        if (next !== 'again') return next && undefined
      }
    } catch (error) {
      if (!(error instanceof CliError)) throw error
      this.#tell(error.message)
      return undefined
    } finally {
      if (isOver) rmSync(dirname(file), { recursive: true, force: true })
      else this.#tell(`What you wrote is in ${file}`)
    }
  }

  get #text(): string {
    const { draft_tasks, commands = [] } = this.#review
    const help = [...HELP, ...(commands.length === 0 ? [] : ['', `Commands of this project: ${commands.join(', ')}`])]
    return printPlan(this.#plan, draft_tasks, { help, notes: row => this.#notesOf(row) })
  }

  #notesOf(row: PlanRow): readonly string[] {
    const parent = this.#parentOf(row)
    const { agent_type } = this.#review.draft_tasks[row.draft_index ?? -1] ?? {}
    return [
      ...(parent === undefined ? [] : [`under: ${parent}`]),
      ...(agent_type === undefined ? [] : [`meant for: ${agent_type}`]),
    ]
  }

  #parsed(text: string): Plan | PlanFileError {
    try {
      const plan = parsePlan(text, this.#review.draft_tasks)
      if (plan.rows.length > 0) this.#validate(plan)
      return { rows: plan.rows, comment: plan.comment }
    } catch (error) {
      if (error instanceof PlanFileError) return error
      throw error
    }
  }

  /** Validates as the decision would, so that the person sees refusals while editing. */
  #validate({ rows, lineOf }: ParsedPlan): void {
    const { draft_tasks, conversation_turn_id } = this.#review
    const { workspace } = this.#state.turns.get(conversation_turn_id) ?? {}
    const writing = rows.findIndex(({ checks }) => checks.some(({ check }) => check.hash === undefined))
    if (writing >= 0 && !workspace) {
      const message = 'this plan has no folder in which a check of yours could run'
      throw new PlanFileError(lineOf(['steps', writing, 'checks']), message)
    }
    const refusal = refusalOf(() =>
      confirmedRows(draft_tasks, preparedRows(sentRows(rows, draft_tasks), draft_tasks, workspace, this.#options.door)),
    )
    if (!refusal) return
    const { row = 0, field = '' } = refusal.data as { readonly row?: number; readonly field?: string }
    const [name = ''] = field.split(/[.[]/)
    throw new PlanFileError(lineOf(['steps', row, name]), sayInPlan(refusal))
  }

  get #isEdited(): boolean {
    return JSON.stringify(this.#plan) !== JSON.stringify(this.#proposed)
  }

  /** Edits are sent only when the person requests changes. */
  async #cancel(action: keyof typeof CANCELLING): Promise<Left | undefined> {
    const { asks, needsComment } = CANCELLING[action]
    const said = await ask(asks, this.#options.terminal)
    if (said === undefined) return 'interrupted'
    if (said === '' && needsComment) return undefined
    const comment = said === '' ? {} : { comment: said }
    const tasks = this.#isEdited && action === 'revise' ? { tasks: this.#rows } : {}
    return this.#decide({ action, ...comment, ...tasks })
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

  #keepEdits(): void {
    if (this.#isEdited) this.#tell(`Your edits are kept in ${newFile(this.#text, this.#options.environment)}`)
  }

  #tell(...lines: readonly string[]): void {
    for (const line of ['', ...lines]) this.#options.print(line)
  }
}

const AFTER_MISTAKE = [
  { value: 'again', label: 'Edit again' },
  { value: 'drop', label: 'Keep the plan as it was' },
] as const

const HELP = [
  'The steps of the plan, in order. Reword, move, delete or add some, save',
  'and close: you see them again, and nothing is decided before you approve.',
  'An empty file changes nothing. A comment goes to the agent: "comment: ..."',
  '',
  'step:      its number, wherever it goes; a step of your own has none',
  ...FIELD_HELP,
  'checks:    a list of "run: COMMAND" (with cwd, exit, contains, timeout_ms),',
  '           "path: FILE" (with contains or absent), "paths: [GLOB]" that stay',
  '           unchanged, or "ask: QUESTION". A proposed one runs if it is',
  '           "approved: true" or allowed by your configuration; yours runs.',
]

const MAX_BYTES = 4 * 1024 * 1024

/** Creates a file in a private folder. It stays until it is removed. */
function newFile(text: string, { TMPDIR }: Environment): string {
  const file = join(mkdtempSync(join(TMPDIR || tmpdir(), 'runsheet-review-')), 'plan.yaml')
  createPrivateFile(file, text)
  return file
}

function textIn(file: string): string {
  try {
    return readRegularFile(file, { maxBytes: MAX_BYTES, follow: true }).toString('utf8')
  } catch (error) {
    // Deleting the file counts as emptying it.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw error
  }
}

/** Numbers steps as the person sees them. */
const sayInPlan = (refusal: Refusal): string => say(refusal, { at: (row, field) => `step ${row + 1}: ${field}` })

function refusalOf(work: () => unknown): Refusal | undefined {
  try {
    const result = work()
    return result instanceof Refusal ? result : undefined
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
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
