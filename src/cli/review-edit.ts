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

/** The plan as the person has edited it so far. */
export type EditedPlan = Pick<PlanFile, 'rows' | 'comment'>

export interface EditOptions {
  readonly review: ReviewRequest
  readonly state: Conversation
  readonly door: Door
  readonly environment: Environment
  readonly parentOf: (row: PlanRow) => string | undefined
}

const MAX_BYTES = 4 * 1024 * 1024

/** The text that a person edits, in a folder that is theirs alone. It stays until it is removed. */
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
      // A file that the person deleted is one that they emptied.
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
 * Opens the plan in the person's editor, again and again while something in it is wrong. Undefined if they emptied it.
 * Throws if they gave up, or if the editor failed.
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

/** The plan as the text that is edited. */
export const planFileText = (plan: EditedPlan, options: EditOptions): string =>
  printPlan(plan, options.review.draft_tasks, {
    help: helpFor(options.review),
    notes: row => notesOf(row, options),
  })

/** The plan in the text, or what is wrong with it. */
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

/** As the decision would be validated, so that the person hears of it while they edit. */
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

/** A refusal with the numbers that the person sees. */
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

/** The text with the mistake on top; lines are counted as the editor will. */
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

/** A line for each field that has a name. */
const FIELD_HELP = plainFields('text', 'choice', 'line', 'list', 'globs').flatMap(field => {
  const { name, about, example, values = [] } = FIELD_WORDS[field]
  const { kind } = FIELDS[field]
  if (name === undefined) return []
  const form = kind === 'text' ? `${name}: ...` : `- ${name}: ${example}`
  return `${form.padEnd(16)}  ${kind === 'choice' ? `or ${values.filter(value => value !== example).join(', ')}` : about}`
})
