import type { DraftRow } from '../domain/review.ts'
import { BLANK, FIELDS, FIELD_WORDS, type PlainField, plainFields } from '../domain/row.ts'
import { checkIn, checkLines, CheckLineError, listIn, listText } from './check-lines.ts'
import { isAllowed, type PlanCheck, type PlanRow } from './plan-rows.ts'

// A proposed plan as editable text, like the list of `git rebase -i`. Printed text parses back to the same rows.

export interface PlanFile {
  readonly comment: string
  readonly rows: readonly PlanRow[]
  /** The first line of each row, 1-based. */
  readonly lines: readonly number[]
}

export class PlanFileError extends Error {
  readonly line: number
  constructor(line: number, message: string) {
    super(message)
    this.line = line
  }
}

/** `notes` are read-only lines about a row, `help` lines about the whole plan. */
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

export const commentLines = (lines: readonly string[]): string =>
  lines.map(line => `# ${line.replaceAll(/[\r\n]+/g, ' ')}`.trimEnd()).join('\n')

/** Throws a `PlanFileError`. No rows means that the person wants none of the plan. */
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
  const { draft_index, title, checks } = row
  const name = draft_index === undefined ? 'new' : draft_index + 1
  const texts = [BODY, ...NAMED].flatMap(field => (row[field] === '' ? [] : [printText(field, valueText(row[field]))]))
  const fields = [
    ...LINES.flatMap(field => {
      const text = valueText(row[field])
      return text === valueText(FIELDS[field].blank) ? [] : `- ${nameOf(field)}: ${text}`
    }),
    ...checks.flatMap(({ check, isApproved }) => {
      const mark = isApproved ? 'x' : isAllowed(check, row, draft) ? '*' : ' '
      return checkLines(check).map((line, index) => (index === 0 ? `- [${mark}] ${line}` : `  ${line}`))
    }),
  ]
  return [
    [`## [${name}] ${title.replaceAll(/[\r\n]+/g, ' ')}`, ...(notes.length === 0 ? [] : [commentLines(notes)])].join(
      '\n',
    ),
    ...texts,
    ...(fields.length === 0 ? [] : [fields.join('\n')]),
  ].join('\n\n')
}

/** The body of a step has no field name. */
function printText(field: PlainField, text: string): string {
  if (field === BODY) return escaped(text)
  const [first = '', ...rest] = text.split('\n')
  return [`${nameOf(field)}: ${first}`, ...rest.map(escapedLine)].join('\n')
}

const valueText = (value: string | readonly string[]): string => (typeof value === 'string' ? value : listText(value))

const [BODY = 'details', ...NAMED] = plainFields('text')
const LINES = plainFields('choice', 'line', 'list', 'globs')
const nameOf = (field: PlainField): string => FIELD_WORDS[field].name ?? field
const fieldNamed = (fields: readonly PlainField[], name = ''): PlainField | undefined =>
  fields.find(field => nameOf(field).toLowerCase() === name.toLowerCase())

/** Words with a meaning at the start of a line. Inside a text they get a backslash. */
const TEXT_NAMES = NAMED.map(nameOf).join('|')
const LINE_NAMES = LINES.map(nameOf).join('|')
const MEANING = String.raw`(?:##?(?:\s|$)|(?:${TEXT_NAMES}):|- \[[ x*]\]|- (?:${LINE_NAMES}):)`
const MEANS = new RegExp(String.raw`^\\*${MEANING}`, 'i')
const ESCAPED = new RegExp(String.raw`^\\+${MEANING}`, 'i')
const HEADING = /^##(?:\s+(.*))?$/s
const COMMENT = /^#(?:\s|$)/
const TEXT = new RegExp(`^(${TEXT_NAMES}):(.*)$`, 'is')
const FIELD = new RegExp(`^- (${LINE_NAMES}):(.*)$`, 'is')
const CHECK = /^- \[([ x*])\](.*)$/is

const escapedLine = (line: string): string => (MEANS.test(line) ? `\\${line}` : line)
const escaped = (text: string): string => text.split('\n').map(escapedLine).join('\n')

interface OpenRow {
  readonly line: number
  readonly draft_index: number | undefined
  readonly title: string
  readonly texts: Map<PlainField, string[]>
  /** The text field that unmarked lines belong to. */
  text: string[]
  readonly fields: Map<PlainField, string | readonly string[]>
  readonly checks: { readonly line: number; readonly mark: string; readonly lines: string[] }[]
}

class PlanParser {
  readonly #draft: readonly DraftRow[]
  readonly #comment: string[] = []
  readonly #rows: PlanRow[] = []
  readonly #lines: number[] = []
  readonly #lineOf = new Map<number, number>()
  #row: OpenRow | undefined
  /** The check that indented lines belong to. */
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
    const text: string[] = []
    this.#row = { line, draft_index, title, texts: new Map([[BODY, text]]), text, fields: new Map(), checks: [] }
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
    const [, named, value = ''] = FIELD.exec(line) ?? []
    const field = fieldNamed(LINES, named)
    if (field) {
      if (row.fields.has(field)) throw new PlanFileError(number, `the step has "${nameOf(field)}" twice`)
      return void row.fields.set(field, valueIn(field, value.trim(), number))
    }
    const [, name, first = ''] = TEXT.exec(line) ?? []
    const text = fieldNamed(NAMED, name)
    if (!text) return void row.text.push(unescaped(line))
    if (row.texts.has(text)) throw new PlanFileError(number, `the step has "${nameOf(text)}:" twice`)
    row.text = [first]
    row.texts.set(text, row.text)
  }

  #end(): void {
    const row = this.#row
    if (!row) return
    const { draft_index, title, texts, fields, checks } = row
    this.#rows.push({
      ...(draft_index === undefined ? {} : { draft_index }),
      ...BLANK,
      title,
      ...Object.fromEntries([...texts].map(([field, lines]) => [field, lines.join('\n').trim()])),
      ...Object.fromEntries(fields),
      checks: checks.map(each => this.#checkOf(each, draft_index)),
    })
    this.#lines.push(row.line)
    this.#row = undefined
    this.#check = undefined
  }

  /** Matches a proposed check by its text, first in the same row; otherwise creates one. */
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
      // Checks that a person writes need no approval, so an unmarked one would still run: refuse it.
      if (!isApproved)
        throw new CheckLineError(0, 'a check that you write is yours and runs. Mark it [x], or delete it')
      return { check, isApproved: true }
    } catch (error) {
      throw error instanceof CheckLineError ? new PlanFileError(line + error.line, error.message) : error
    }
  }
}

const unescaped = (line: string): string => (ESCAPED.test(line) ? line.slice(1) : line)

function valueIn(field: PlainField, value: string, line: number): string | readonly string[] {
  const { values } = FIELD_WORDS[field]
  if (values && !values.includes(value)) {
    throw new PlanFileError(line, `${nameOf(field)} must be one of: ${values.join(', ')}`)
  }
  const { kind } = FIELDS[field]
  return kind === 'list' || kind === 'globs' ? listIn(value) : value
}
