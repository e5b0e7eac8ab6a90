import { Document, parse, visit } from 'yaml'
import * as z from 'zod'
import { cleanCheck, specOf, type Check, type CheckKind, type CheckSpec } from '../../core/proof/check.ts'
import { quoteWords, splitWords } from '../../core/proof/check-text.ts'
import { Refusal, invalidField } from '../../core/model/refusal.ts'
import type { DraftRow } from '../../core/model/review.ts'
import { BLANK, FIELD_NAMES, FIELD_WORDS, differentFields, fieldsIn, type Row } from '../../core/model/row.ts'
import { say } from '../../core/views/say.ts'
import { Problem } from '../../core/model/text.ts'
import type { SentRow } from '../../core/views/wire.ts'
import { sentRow } from '../../server/http/schemas.ts'

// A proposed plan as rows of YAML, which a person edits. Its fields are those of the table in domain/row.ts.

export type MaybeProposed = CheckSpec & Partial<Pick<Check, 'id' | 'hash'>>

export interface PlanCheck {
  readonly check: MaybeProposed
  readonly isApproved: boolean
}

export interface PlanRow extends Omit<Required<Row>, 'checks'> {
  /** Absent if the person added the row. */
  readonly draft_index?: number
  readonly checks: readonly PlanCheck[]
}

export interface Plan {
  readonly rows: readonly PlanRow[]
  /** For the agent. */
  readonly comment: string
}

/** Checks that the configuration allows anyway start unmarked. */
export const rowsOf = (draft: readonly DraftRow[]): PlanRow[] =>
  draft.map((row, draft_index) => {
    const { checks = [], allowed = [] } = row
    const marked = checks.map(check => ({ check, isApproved: !allowed.includes(check.hash) }))
    return { draft_index, ...BLANK, ...fieldsIn(row), checks: marked }
  })

/** Unedited rows are sent as proposed. */
export const sentRows = (rows: readonly PlanRow[], draft: readonly DraftRow[]): SentRow[] =>
  rows.map(row => {
    const { draft_index, checks, ...fields } = row
    const approve = checks.flatMap(({ check, isApproved }) =>
      isApproved && isRunnable(check) ? (check.hash ?? []) : [],
    )
    return {
      ...(isEdited(row, draft) ? { ...fields, checks: checks.map(({ check }) => check) } : {}),
      draft_index: draft_index ?? null,
      ...(approve.length > 0 ? { approve } : {}),
    }
  })

/** Ignores approval marks. */
export function isEdited(row: PlanRow, draft: readonly DraftRow[]): boolean {
  const proposed = draft[row.draft_index ?? -1]
  return !proposed || differentFields(proposed, { ...row, checks: row.checks.map(({ check }) => check) }).length > 0
}

const isRunnable = ({ kind }: MaybeProposed): boolean => kind !== 'person'

/** Allowed checks run whatever their mark, unless deleted. */
export const isAllowed = (
  { hash }: MaybeProposed,
  row: Pick<PlanRow, 'draft_index'>,
  draft: readonly DraftRow[],
): boolean => hash !== undefined && (draft[row.draft_index ?? -1]?.allowed?.includes(hash) ?? false)

/** Checks that a person writes always run once the plan is approved. */
export const isRun = ({ check, isApproved }: PlanCheck, row: PlanRow, draft: readonly DraftRow[]): boolean =>
  isRunnable(check) && (isApproved || check.hash === undefined || isAllowed(check, row, draft))

/** The field that tells the kind of a check. */
const KIND_FIELDS = { command: 'run', file: 'path', unchanged: 'paths', person: 'ask' } as const
const KINDS = Object.entries(KIND_FIELDS) as [CheckKind, string][]

/** A check without its kind; a command as one line. */
function checkFields(check: MaybeProposed): Readonly<Record<string, unknown>> {
  const { kind: _kind, ...fields } = specOf(check)
  return 'run' in fields ? { ...fields, run: quoteWords(fields.run) } : fields
}

/** Everything that a check says, as lines. */
export const checkLines = (check: MaybeProposed): readonly string[] =>
  Object.entries(checkFields(check)).map(([name, value]) => {
    if (name === 'run') return String(value)
    return `${name}: ${typeof value === 'string' && !/^\s|[\s"]$|^"/.test(value) ? value : JSON.stringify(value)}`
  })

/** The plan as YAML. `notes` are read-only lines about a row, `help` lines about the whole plan. */
export function printPlan(
  { rows, comment }: Plan,
  draft: readonly DraftRow[],
  { help = [], notes = () => [] }: { help?: readonly string[]; notes?: (row: PlanRow) => readonly string[] } = {},
): string {
  const printed = rows.map(row => {
    const about = notes(row).map(line => `  # ${line.replaceAll(/\s+/g, ' ')}\n`)
    return yamlOf([rowFields(row, draft)]).replace('\n', () => `\n${about.join('')}`)
  })
  return [
    help.map(line => `# ${line}`.trimEnd().concat('\n')).join(''),
    comment === '' ? '' : yamlOf({ comment }),
    printed.length === 0 ? 'steps: []\n' : `steps:\n\n${printed.join('\n')}`,
  ]
    .filter(Boolean)
    .join('\n')
}

/** Texts that a block cannot hold are quoted: those with control characters, or space at the end of a line. */
function yamlOf(value: unknown): string {
  const document = new Document(value)
  visit(document, {
    Scalar: (_, node) => {
      if (typeof node.value === 'string' && /[^\P{C}\n]|[^\S\n]\n|^\s|\n$/u.test(node.value)) node.type = 'QUOTE_DOUBLE'
    },
  })
  return document.toString({ lineWidth: 0, doubleQuotedMinMultiLineLength: Infinity })
}

function rowFields(row: PlanRow, draft: readonly DraftRow[]): Readonly<Record<string, unknown>> {
  const { draft_index, checks } = row
  const fields = FIELD_NAMES.flatMap(name => {
    const value = row[name]
    return name !== 'checks' && value !== BLANK[name] && value.length > 0 ? [[name, value]] : []
  })
  return {
    ...(draft_index === undefined ? {} : { step: draft_index + 1 }),
    ...Object.fromEntries(fields),
    ...(checks.length > 0 && {
      checks: checks.map(({ check, isApproved }) => ({
        ...checkFields(check),
        ...(isRunnable(check) && (isApproved || !isAllowed(check, row, draft)) ? { approved: isApproved } : {}),
      })),
    }),
  }
}

/** A mistake of the person in the file. */
export class PlanFileError extends Error {}

/** Throws a `PlanFileError`. No rows means that the person wants none of the plan. */
export function parsePlan(text: string, draft: readonly DraftRow[]): Plan {
  const { comment, steps } = parsed(planShape, yamlIn(text)) ?? {}
  const found = new Set<number>()
  const rows = (steps ?? []).map((row, index) => {
    try {
      return rowIn(row, draft, found)
    } catch (error) {
      if (!(error instanceof PlanFileError)) throw error
      throw new PlanFileError(`step ${index + 1}: ${error.message}`)
    }
  })
  return { comment: (comment ?? '').trim(), rows }
}

const planShape = z
  .strictObject({ comment: z.string().nullish(), steps: z.array(z.record(z.string(), z.unknown())).nullish() })
  .nullish()

function yamlIn(text: string): unknown {
  try {
    return parse(text)
  } catch (error) {
    // The lines after the first one show the place.
    throw new PlanFileError((error as Error).message.replace(/:?\n[^]*$/, ''))
  }
}

function rowIn(
  { step, checks, ...fields }: Readonly<Record<string, unknown>>,
  draft: readonly DraftRow[],
  found: Set<number>,
): PlanRow {
  const draft_index = indexOf(step, draft, found)
  if (fields['title'] === undefined || fields['title'] === null) throw new PlanFileError('a step needs a title')
  const given = Object.entries({ ...fields, checks: Array.isArray(checks) ? checks.map(withKind) : checks })
  const row = parsed(sentRow, Object.fromEntries(given.filter(([, value]) => value !== undefined && value !== null)))
  const { checks: sent = [] } = row
  return {
    ...(draft_index === undefined ? {} : { draft_index }),
    ...BLANK,
    ...(fieldsIn(row) as Row),
    checks: sent.map(each => checkIn(each, draft, draft_index)),
  }
}

function indexOf(step: unknown, { length }: readonly DraftRow[], found: Set<number>): number | undefined {
  if (step === undefined || step === null) return undefined
  const number = Number(step)
  if (!Number.isInteger(number) || number < 1 || number > length) {
    const range = length === 1 ? 'the only proposed step is 1' : `the proposed steps are 1 to ${length}`
    throw new PlanFileError(`there is no step ${JSON.stringify(step)}: ${range}. A step of your own has no number`)
  }
  if (found.has(number)) {
    throw new PlanFileError(`step ${number} is there twice. Take the number out to add this one as your own`)
  }
  found.add(number)
  return number - 1
}

/** Matches a proposed check by its content, first in the same row; otherwise creates one. */
function checkIn(
  { approved, ...sent }: NonNullable<SentRow['checks']>[number],
  draft: readonly DraftRow[],
  draft_index = -1,
): PlanCheck {
  const run = 'run' in sent && typeof sent.run === 'string' ? splitWords(sent.run) : undefined
  if (run instanceof Problem) throw new PlanFileError(say(invalidField('run', run.fact)))
  const check = cleanCheck({ ...sent, ...(run && { run }) }, 'the check')
  if (check instanceof Refusal) throw new PlanFileError(say(check))
  const text = JSON.stringify(check)
  const proposed = [...(draft[draft_index]?.checks ?? []), ...draft.flatMap(row => row.checks ?? [])]
  const same = proposed.find(each => JSON.stringify(specOf(each)) === text)
  if (same) return { check: same, isApproved: approved === true || !isRunnable(same) }
  // Checks that a person writes need no approval, so this one would still run: refuse it.
  if (approved === false) throw new PlanFileError('a check that you write runs. Delete it, or take "approved" out')
  return { check, isApproved: true }
}

function parsed<S extends z.ZodType>(schema: S, raw: unknown): z.output<S> {
  const { success, data, error } = schema.safeParse(raw)
  if (success) return data
  const [issue] = error.issues
  throw new PlanFileError([issue?.path.join('.'), issue?.message].filter(Boolean).join(': '))
}

function withKind(check: unknown): unknown {
  if (typeof check !== 'object' || check === null) return check
  const [kind] = KINDS.find(([, field]) => field in check) ?? ['command']
  return { kind, ...check }
}

/** The fields of a step, for the help in the file. */
export const FIELD_HELP: readonly string[] = FIELD_NAMES.filter(name => name !== 'checks').map(name => {
  const { about, values } = FIELD_WORDS[name]
  return `${`${name}:`.padEnd(10)} ${values ? values.join(', ') : about}`
})
