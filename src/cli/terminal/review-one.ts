import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Conversation } from '../../core/model/conversation.ts'
import { planOf } from '../../core/model/plan.ts'
import { Refusal } from '../../core/model/refusal.ts'
import { CANCELLING } from '../../core/model/review-action.ts'
import { confirmedRows, type ReviewRequest } from '../../core/model/review.ts'
import { say } from '../../core/views/say.ts'
import { preparedRows } from '../../engine/door/checks.ts'
import type { Decision, Door } from '../../engine/door/door.ts'
import { readRegularFile, replacePrivateFile } from '../../store/private-file.ts'
import { LOCAL_TENANT } from '../../store/store.ts'
import { CliError } from '../cli-error.ts'
import type { Environment } from '../environment.ts'
import {
  FIELD_HELP,
  isRun,
  parsePlan,
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
  /** Where the person edits. */
  #file: string | undefined

  constructor(options: ReviewerOptions, review: ReviewRequest, state: Conversation, title: string) {
    this.#options = options
    this.#review = review
    this.#state = state
    this.#title = title
    this.#proposed = { rows: rowsOf(review.draft_tasks), comment: '' }
    this.#plan = this.#proposed
  }

  /** Runs until the plan is decided, or the person leaves it. */
  async run(): Promise<Left> {
    for (;;) {
      const left = await this.#step()
      if (left) return left
    }
  }

  /** One screen and one answer. Undefined: show it again. */
  async #step(): Promise<Left | undefined> {
    const { print, paint, terminal } = this.#options
    const screen = await this.#screen()
    for (const line of ['', ...planText(screen, columnsOfTerminal(terminal.output), paint), '']) print(line)
    const answer = await choose('What do you say?', choicesFor(screen, this.#isEdited), terminal)
    switch (answer) {
      case 'confirm':
        return this.#decide({ action: 'confirm', tasks: this.#rows, ...this.#comment })
      case 'edit':
        return this.#edit()
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

  /** Opens the plan in the editor, again while it has a mistake. The file stays until the plan is decided. */
  async #edit(): Promise<Left | undefined> {
    const { environment, terminal } = this.#options
    const file = (this.#file ??= join(mkdtempSync(join(tmpdir(), 'runsheet-review-')), 'plan.yaml'))
    replacePrivateFile(file, this.#text)
    try {
      for (;;) {
        await edit(file, environment)
        const problem = this.#take(textIn(file))
        if (problem === undefined) return undefined
        this.#tell(`${problem.replace(/\.$/, '')}.`)
        const next = await choose('The plan has a mistake.', AFTER_MISTAKE, terminal)
        if (next !== 'again') return next && undefined
      }
    } catch (error) {
      if (!(error instanceof CliError)) throw error
      this.#tell(error.message)
      return undefined
    }
  }

  /** Takes the plan over as edited, or returns what is wrong with it. */
  #take(text: string): string | undefined {
    try {
      const plan = parsePlan(text, this.#review.draft_tasks)
      if (plan.rows.length === 0) {
        this.#tell('The file was empty: nothing was changed, and the plan goes on waiting.')
        return undefined
      }
      const problem = this.#problemIn(plan)
      if (problem === undefined) this.#plan = plan
      return problem
    } catch (error) {
      if (error instanceof PlanFileError) return error.message
      throw error
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

  /** Validates as the decision would, so that the person sees refusals while editing. */
  #problemIn({ rows }: Plan): string | undefined {
    const { draft_tasks, conversation_turn_id } = this.#review
    const { workspace } = this.#state.turns.get(conversation_turn_id) ?? {}
    const writing = rows.findIndex(({ checks }) => checks.some(({ check }) => check.hash === undefined))
    if (writing >= 0 && !workspace) {
      return `step ${writing + 1}: this plan has no folder in which a check of yours could run`
    }
    try {
      const sent = preparedRows(sentRows(rows, draft_tasks), draft_tasks, workspace, this.#options.door)
      const confirmed = confirmedRows(draft_tasks, sent)
      return confirmed instanceof Refusal ? sayInPlan(confirmed) : undefined
    } catch (error) {
      if (error instanceof Refusal) return sayInPlan(error)
      throw error
    }
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
      await door.reviews.decide(LOCAL_TENANT, review_id, decision, 'terminal')
      this.#tell(...this.#outcome(decision))
      if (this.#file !== undefined) rmSync(dirname(this.#file), { recursive: true, force: true })
      return 'over'
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      const isOver = OVER.has(error.code)
      this.#tell(isOver ? `Not decided here: ${say(error)}` : sayInPlan(error))
      if (isOver && this.#file !== undefined) this.#tell(`Your edits are kept in ${this.#file}`)
      return isOver ? 'over' : undefined
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

/** Decided elsewhere a moment before, or no longer waiting. */
const OVER: ReadonlySet<string> = new Set(['review_already_decided', 'review_expired', 'review_not_found'])
