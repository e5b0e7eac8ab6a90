import type { DraftRow } from '../domain/review.ts'
import { type RowStatus, TASK_STATUS } from '../domain/row.ts'
import { PRIORITIES, type Priority } from '../domain/task.ts'
import { checkIn, checkLines, CheckLineError, listIn, listText } from './check-lines.ts'
import { isAllowed, type PlanCheck, type PlanRow } from './plan-rows.ts'

// A proposed plan as a text that a person edits, like the list of `git rebase -i`. What is printed parses to the same rows.

export interface PlanFile {
  /** For the agent; empty if there is none. */
  readonly comment: string
  readonly rows: readonly PlanRow[]
  /** The line that each row begins on, from 1. */
  readonly lines: readonly number[]
}

/** What is wrong with an edited text, and where. */
export class PlanFileError extends Error {
  readonly line: number
  constructor(line: number, message: string) {
    super(message)
    this.line = line
  }
}

/** The rows as a text. `notes` are lines about a row that cannot be edited, and `help` lines about the whole. */
export function printPlan(
  { rows, comment }: Pick<PlanFile, 'rows' | 'comment'>,
  draft: readonly DraftRow[],
  { help = [], notes = () => [] }: { help?: readonly string[]; notes?: (row: PlanRow) => readonly string[] } = {},
): string {
  const parts = [
    ...(comment === '' ? [] : [escaped(comment)]),
    ...rows.map(row => printRow(row, draft, notes(row))),
    ...(help.length === 0 ? [] : [commentLines(help)]),
  ]
  return `${parts.join('\n\n')}\n`
}

/** Lines that `parsePlan` ignores. */
export const commentLines = (lines: readonly string[]): string =>
  lines.map(line => `# ${line.replaceAll(/[\r\n]+/g, ' ')}`.trimEnd()).join('\n')

/** The rows of an edited text; throws what is wrong with it. Without rows the person wants nothing. */
export function parsePlan(text: string, draft: readonly DraftRow[]): PlanFile {
  const lines = text
    .replace(/^\ufeff/, '')
    .replaceAll(/\r\n?/g, '\n')
    .split('\n')
  const parser = new PlanParser(draft)
  for (const [index, line] of lines.entries()) parser.take(line, index + 1)
  return parser.finish()
}

function printRow(row: PlanRow, draft: readonly DraftRow[], notes: readonly string[]): string {
  const { draft_index, title, details, criteria, priority, status, tags, checks, may_change } = row
  const name = draft_index === undefined ? 'new' : draft_index + 1
  const [first = '', ...rest] = criteria.split('\n')
  const fields = [
    ...(priority === 'medium' ? [] : [`- priority: ${priority}`]),
    ...(status === 'todo' ? [] : [`- status: ${status}`]),
    ...(tags.length === 0 ? [] : [`- tags: ${listText(tags)}`]),
    ...(may_change.length === 0 ? [] : [`- may change: ${listText(may_change)}`]),
    ...checks.flatMap(({ check, isApproved }) => {
      const mark = isApproved ? 'x' : isAllowed(check, row, draft) ? '*' : ' '
      return checkLines(check).map((line, index) => (index === 0 ? `- [${mark}] ${line}` : `  ${line}`))
    }),
  ]
  return [
    [`## [${name}] ${title.replaceAll(/[\r\n]+/g, ' ')}`, ...(notes.length === 0 ? [] : [commentLines(notes)])].join(
      '\n',
    ),
    ...(details === '' ? [] : [escaped(details)]),
    ...(criteria === '' ? [] : [[`Done when: ${first}`, ...rest.map(escapedLine)].join('\n')]),
    ...(fields.length === 0 ? [] : [fields.join('\n')]),
  ].join('\n\n')
}

/** What has a meaning at the beginning of a line. In a text it gets a backslash. */
const MEANING = String.raw`(?:##?(?:\s|$)|done when:|- \[[ x*]\]|- (?:priority|status|tags|may change):)`
const MEANS = new RegExp(String.raw`^\\*${MEANING}`, 'i')
const ESCAPED = new RegExp(String.raw`^\\+${MEANING}`, 'i')
const HEADING = /^##(?:\s+(.*))?$/s
const COMMENT = /^#(?:\s|$)/
const CRITERIA = /^done when:(.*)$/is
const FIELD = /^- (priority|status|tags|may change):(.*)$/is
const CHECK = /^- \[([ x*])\](.*)$/is

const escapedLine = (line: string): string => (MEANS.test(line) ? `\\${line}` : line)
const escaped = (text: string): string => text.split('\n').map(escapedLine).join('\n')

interface OpenRow {
  readonly line: number
  readonly draft_index: number | undefined
  readonly title: string
  readonly details: string[]
  criteria: string[] | undefined
  readonly fields: Map<string, string>
  readonly checks: { readonly line: number; readonly mark: string; readonly lines: string[] }[]
}

/** Reads an edited text line by line. */
class PlanParser {
  readonly #draft: readonly DraftRow[]
  readonly #comment: string[] = []
  readonly #rows: PlanRow[] = []
  readonly #lines: number[] = []
  readonly #lineOf = new Map<number, number>()
  #row: OpenRow | undefined
  /** The check that an indented line belongs to. */
  #check: OpenRow['checks'][number] | undefined

  constructor(draft: readonly DraftRow[]) {
    this.#draft = draft
  }

  take(line: string, number: number): void {
    const [heading, title = ''] = HEADING.exec(line) ?? []
    if (heading !== undefined) return this.#begin(title, number)
    if (COMMENT.test(line)) return
    if (!this.#row) return void this.#comment.push(unescaped(line))
    if (this.#check && /^\s+\S/.test(line)) return void this.#check.lines.push(line.trim())
    this.#check = undefined
    this.#takeInRow(this.#row, line, number)
  }

  finish(): PlanFile {
    this.#end()
    return { comment: this.#comment.join('\n').trim(), rows: this.#rows, lines: this.#lines }
  }

  #begin(heading: string, line: number): void {
    this.#end()
    const [, name, named = ''] = /^\[(\d+|new)\](.*)$/is.exec(heading.trim()) ?? []
    const title = (name === undefined ? heading : named).trim()
    if (title === '') throw new PlanFileError(line, 'a step needs a title: ## Title')
    const draft_index = name === undefined || /^new$/i.test(name) ? undefined : this.#indexOf(Number(name), line)
    this.#row = { line, draft_index, title, details: [], criteria: undefined, fields: new Map(), checks: [] }
  }

  #indexOf(number: number, line: number): number {
    const { length } = this.#draft
    if (number < 1 || number > length) {
      const range = length === 1 ? 'the only proposed step is 1' : `the proposed steps are 1 to ${length}`
      throw new PlanFileError(line, `there is no step [${number}]: ${range}. A step of your own has no number`)
    }
    const earlier = this.#lineOf.get(number)
    if (earlier !== undefined) {
      const message = `step [${number}] is on line ${earlier} already. Take the number out to add this one as your own`
      throw new PlanFileError(line, message)
    }
    this.#lineOf.set(number, line)
    return number - 1
  }

  #takeInRow(row: OpenRow, line: string, number: number): void {
    const [, mark, check = ''] = CHECK.exec(line) ?? []
    if (mark !== undefined) {
      this.#check = { line: number, mark: mark.toLowerCase(), lines: [check.trim()] }
      return void row.checks.push(this.#check)
    }
    const [, field, value = ''] = FIELD.exec(line) ?? []
    if (field !== undefined) {
      const name = field.toLowerCase()
      if (row.fields.has(name)) throw new PlanFileError(number, `the step has "${name}" twice`)
      checkField(name, value.trim(), number)
      return void row.fields.set(name, value.trim())
    }
    const [, criteria] = CRITERIA.exec(line) ?? []
    if (criteria === undefined) return void (row.criteria ?? row.details).push(unescaped(line))
    if (row.criteria) throw new PlanFileError(number, 'the step has "Done when:" twice')
    row.criteria = [criteria]
  }

  #end(): void {
    const row = this.#row
    if (!row) return
    const { draft_index, title, details, criteria = [], fields, checks } = row
    this.#rows.push({
      ...(draft_index === undefined ? {} : { draft_index }),
      title,
      details: details.join('\n').trim(),
      criteria: criteria.join('\n').trim(),
      priority: (fields.get('priority') ?? 'medium') as Priority,
      status: (fields.get('status') ?? 'todo') as RowStatus,
      tags: listIn(fields.get('tags') ?? ''),
      checks: checks.map(each => this.#checkOf(each, draft_index)),
      may_change: listIn(fields.get('may change') ?? ''),
    })
    this.#lines.push(row.line)
    this.#row = undefined
    this.#check = undefined
  }

  /** The proposed check with this text, of this row first; or a new one. */
  #checkOf({ line, mark, lines }: OpenRow['checks'][number], draft_index = -1): PlanCheck {
    const proposed = [...(this.#draft[draft_index]?.checks ?? []), ...this.#draft.flatMap(row => row.checks ?? [])]
    const same = proposed.find(check => checkLines(check).join('\n') === lines.join('\n'))
    const isApproved = mark === 'x'
    if (mark === '*' && !(same && isAllowed(same, { draft_index }, this.#draft))) {
      throw new PlanFileError(line, '[*] is for checks that your configuration allows. Mark this one [x] to let it run')
    }
    if (same) return { check: same, isApproved }
    try {
      if (lines[0] === '') throw new CheckLineError(0, 'a check needs a command after its mark: - [x] npm test')
      const check = checkIn(lines)
      // What a person writes needs no approval, so a mark that denies it would deceive.
      if (!isApproved)
        throw new CheckLineError(0, 'a check that you write is yours and runs. Mark it [x], or delete it')
      return { check, isApproved: true }
    } catch (error) {
      throw error instanceof CheckLineError ? new PlanFileError(line + error.line, error.message) : error
    }
  }
}

const unescaped = (line: string): string => (ESCAPED.test(line) ? line.slice(1) : line)

const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  priority: PRIORITIES,
  status: Object.keys(TASK_STATUS),
}

function checkField(name: string, value: string, line: number): void {
  const allowed = ALLOWED[name]
  if (allowed && !allowed.includes(value)) {
    throw new PlanFileError(line, `${name} must be one of: ${allowed.join(', ')}`)
  }
}
