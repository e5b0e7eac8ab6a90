import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Conversation } from '../domain/conversation.ts'
import { Refusal } from '../domain/refusal.ts'
import { confirmedRows, type ReviewRequest } from '../domain/review.ts'
import { FIELD_WORDS, FIELDS, plainFields } from '../domain/row.ts'
import { say } from '../domain/say.ts'
import type { Door } from '../door/door.ts'
import { preparedRows } from '../door/checks.ts'
import { createPrivateFile, readRegularFile } from '../store/private-file.ts'
import type { Environment } from './clean-environment.ts'
import { CliError } from './cli-error.ts'
import { edit } from './editor.ts'
import { parsePlan, type PlanFile, PlanFileError, printPlan } from './plan-file.ts'
import { type PlanRow, sentRows } from './plan-rows.ts'

export type EditedPlan = Pick<PlanFile, 'rows' | 'comment'>

export interface EditOptions {
  readonly review: ReviewRequest
  readonly state: Conversation
  readonly door: Door
  readonly environment: Environment
  readonly parentOf: (row: PlanRow) => string | undefined
}

const MAX_BYTES = 4 * 1024 * 1024

/** The text that a person edits, in a private folder. It persists until removed. */
export class EditedFile {
  readonly path: string
  readonly #folder: string

  constructor() {
    this.#folder = mkdtempSync(join(tmpdir(), 'runsheet-review-'))
    this.path = join(this.#folder, 'plan.md')
  }

  read(): string {
    try {
      return readRegularFile(this.path, { maxBytes: MAX_BYTES, follow: true }).toString('utf8')
    } catch (error) {
      // Deleting the file counts as emptying it.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
      throw error
    }
  }

  write(text: string): void {
    rmSync(this.path, { force: true })
    createPrivateFile(this.path, text)
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

/**
 * Opens the plan in the editor and reopens it while the text is invalid. Undefined if the person emptied it. Throws if
 * they gave up or the editor failed.
 */
export async function editedPlan(
  plan: EditedPlan,
  file: EditedFile,
  options: EditOptions,
): Promise<EditedPlan | undefined> {
  let text = planFileText(plan, options)
  for (;;) {
    file.write(text)
    await edit(file.path, options.environment)
    const edited = file.read()
    const problem = problemIn(edited, options)
    if (!(problem instanceof PlanFileError)) return problem.rows.length === 0 ? undefined : problem
    if (edited === text) throw new CliError(`the plan still has a mistake. Line ${problem.line}: ${problem.message}.`)
    text = withProblem(withoutProblem(edited), problem, edited)
  }
}

export const planFileText = (plan: EditedPlan, options: EditOptions): string =>
  printPlan(plan, options.review.draft_tasks, {
    help: helpFor(options.review),
    notes: row => notesOf(row, options),
  })

function problemIn(text: string, options: EditOptions): PlanFile | PlanFileError {
  const { draft_tasks } = options.review
  try {
    const plan = parsePlan(text, draft_tasks)
    if (plan.rows.length > 0) validate(plan, options)
    return plan
  } catch (error) {
    if (error instanceof PlanFileError) return error
    throw error
  }
}

/** Validates as the decision would, so that the person sees refusals while editing. */
function validate({ rows, lines }: PlanFile, { review, state, door }: EditOptions): void {
  const { draft_tasks, conversation_turn_id } = review
  const { workspace } = state.turns.get(conversation_turn_id) ?? {}
  const writing = rows.findIndex(({ checks }) => checks.some(({ check }) => check.hash === undefined))
  if (writing >= 0 && !workspace) {
    throw new PlanFileError(lines[writing] ?? 1, 'this plan has no folder in which a check of yours could run')
  }
  const refusal = refusalOf(() =>
    confirmedRows(draft_tasks, preparedRows(sentRows(rows, draft_tasks), draft_tasks, workspace, door)),
  )
  if (!refusal) return
  const { row } = refusal.data as { readonly row?: number }
  throw new PlanFileError(lines[row ?? 0] ?? 1, sayInPlan(refusal).replace(/\.$/, ''))
}

/** Numbers steps as the person sees them. */
export const sayInPlan = (refusal: Refusal): string => say(refusal, { at: (row, field) => `step ${row + 1}: ${field}` })

function refusalOf(work: () => unknown): Refusal | undefined {
  try {
    const result = work()
    return result instanceof Refusal ? result : undefined
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
}

const ERROR = '# ERROR in '
const END_OF_ERROR = '# ----'

/** Prepends the problem; line numbers account for the added lines. */
function withProblem(text: string, problem: PlanFileError, edited: string): string {
  const shift = edited.split('\n').length - text.split('\n').length
  const header = (line: number): string =>
    [
      `${ERROR}line ${line}: ${problem.message}.`,
      '# Mend it, or empty the file to change nothing.',
      END_OF_ERROR,
      '',
    ].join('\n')
  const height = header(0).split('\n').length - 1
  return `${header(problem.line - shift + height)}${text}`
}

function withoutProblem(text: string): string {
  if (!text.startsWith(ERROR)) return text
  const end = text.indexOf(`${END_OF_ERROR}\n`)
  return end < 0 ? text : text.slice(end + END_OF_ERROR.length + 1)
}

function notesOf(row: PlanRow, { review, parentOf }: EditOptions): readonly string[] {
  const parent = parentOf(row)
  const { agent_type } = review.draft_tasks[row.draft_index ?? -1] ?? {}
  return [
    ...(parent === undefined ? [] : [`under: ${parent}`]),
    ...(agent_type === undefined ? [] : [`meant for: ${agent_type}`]),
  ]
}

function helpFor({ commands = [] }: ReviewRequest): readonly string[] {
  return [
    'The steps of the plan, in order. Reword, move, delete or add some, save',
    'and close: you see them again, and nothing is decided before you approve.',
    'An empty file changes nothing.',
    '',
    '## [1] Title      a proposed step; it keeps its number wherever it goes',
    '## Title          a step of your own',
    ...FIELD_HELP,
    '- [x] npm test    a check that may run; one with [ ] may not',
    '  timeout: 90s    also in: FOLDER, exit: 1, contains: "text"',
    '- [*] npm test    a check that your configuration allows',
    '- [x] file: PATH  also unchanged: GLOBS, person: QUESTION',
    '',
    'Text above the first step is a comment to the agent. Lines that begin',
    'with "# " are ignored.',
    ...(commands.length === 0 ? [] : ['', `Commands of this project: ${commands.join(', ')}`]),
  ]
}

const FIELD_HELP = plainFields('text', 'choice', 'line', 'list', 'globs').flatMap(field => {
  const { name, about, example, values = [] } = FIELD_WORDS[field]
  const { kind } = FIELDS[field]
  if (name === undefined) return []
  const form = kind === 'text' ? `${name}: ...` : `- ${name}: ${example}`
  return `${form.padEnd(16)}  ${kind === 'choice' ? `or ${values.filter(value => value !== example).join(', ')}` : about}`
})
