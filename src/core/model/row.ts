import type { Check } from '../proof/check.ts'
import { PRIORITIES, type Priority, type TaskStatus } from './task.ts'
import type { SentCheck } from '../views/wire.ts'

export type RowStatus = 'todo' | 'doing' | 'blocked' | 'done'

/**
 * A task as a person sees and edits it in a review.
 *
 * A type, not an interface, so that it is assignable to `Json`.
 */
// A new field is a line here and in the two tables below. Everything else that validates, shows or edits rows walks
// over them.
export type Row = {
  /** One line of 1 to 400 characters. */
  readonly title: string
  /** The work to do. */
  readonly details: string
  /** The condition under which it is done. */
  readonly criteria: string
  /** Its importance. */
  readonly priority: Priority
  /** The status that the task starts with. */
  readonly status: RowStatus
  /** At most 20, each of up to 64 characters. */
  readonly tags: readonly string[]
  /** Checks that prove it is done. */
  readonly checks?: readonly Check[]
  /** Globs of the files that its step may change. */
  readonly scope?: readonly string[]
}
export type RowField = keyof Row

export const TASK_STATUS: Record<RowStatus, TaskStatus> = {
  todo: 'pending',
  doing: 'in_progress',
  blocked: 'blocked',
  done: 'completed',
}
export const ROW_STATUS: Record<Exclude<TaskStatus, 'cancelled'>, RowStatus> = {
  pending: 'todo',
  in_progress: 'doing',
  blocked: 'blocked',
  completed: 'done',
}
// Marked as pure, so that a bundle without uses drops it.
const ROW_STATUSES = /* @__PURE__ */ Object.keys(TASK_STATUS) as readonly RowStatus[]

/**
 * The way a field is cleaned, sent and edited: one line, several lines, one of some values, tags, globs, or checks.
 */
export type FieldKind = 'line' | 'text' | 'choice' | 'list' | 'globs' | 'checks'

interface Field<T> {
  readonly kind: FieldKind
  /** Its empty value. */
  readonly blank: T
}
/** A field that is absent from tasks and rows while it is empty. */
interface OptionalField<T> extends Field<T> {
  readonly isOptional: true
}

/** The fields of a row, in display order. */
export const FIELDS: {
  readonly [K in RowField]-?: {} extends Pick<Row, K> ? OptionalField<Required<Row>[K]> : Field<Row[K]>
} = {
  title: { kind: 'line', blank: '' },
  details: { kind: 'text', blank: '' },
  criteria: { kind: 'text', blank: '' },
  priority: { kind: 'choice', blank: 'medium' },
  status: { kind: 'choice', blank: 'todo' },
  tags: { kind: 'list', blank: [] },
  checks: { kind: 'checks', blank: [], isOptional: true },
  scope: { kind: 'globs', blank: [], isOptional: true },
}

interface Words {
  /** Its purpose or its limits. */
  readonly about: string
  /** The label before its value. */
  readonly name?: string
  /** Formats a value that has no label. */
  readonly says?: (value: string) => string
  readonly example?: string
  /** The words for the values of a choice. */
  readonly values?: readonly string[]
}

/** The English words for fields, in the terminal, the forms of hosts and the API. The page has its own. */
export const FIELD_WORDS: { readonly [K in RowField]-?: Words } = {
  title: { about: 'one line of 1 to 400 characters' },
  details: { about: 'what to do' },
  criteria: { about: 'how to tell that it is done', name: 'Done when' },
  priority: {
    about: 'its importance',
    name: 'priority',
    says: value => `${value} priority`,
    example: 'high',
    values: PRIORITIES,
  },
  status: {
    about: 'the status that the task starts with',
    name: 'status',
    says: value => `starts as ${value}`,
    example: 'doing',
    values: ROW_STATUSES,
  },
  tags: { about: 'at most 20, each of up to 64 characters', name: 'tags', example: 'a, b' },
  checks: { about: 'all of its checks, at most 8; a new one is approved by writing it' },
  scope: {
    about: 'globs of the files that its step may change, at most 20 of 200 characters',
    name: 'may change',
    example: 'src/**',
  },
}

export const FIELD_NAMES = /* @__PURE__ */ Object.keys(FIELDS) as readonly RowField[]

/** A field that is shown and edited like others of its kind; the title and the checks are not. */
export type PlainField = Exclude<RowField, 'title' | 'checks'>
export const plainFields = (...kinds: readonly FieldKind[]): readonly PlainField[] =>
  FIELD_NAMES.filter(
    (name): name is PlainField => name !== 'title' && name !== 'checks' && kinds.includes(FIELDS[name].kind),
  )

/** The fields that people change in a task; other fields follow from these. */
export const EDITABLE = /* @__PURE__ */ (FIELD_NAMES as readonly (RowField | 'outcome' | 'position')[]).concat([
  'outcome',
  'position',
])

export const BLANK = /* @__PURE__ */ Object.fromEntries(
  FIELD_NAMES.map(name => [name, FIELDS[name].blank]),
) as Required<Row>

export const isOptional = (name: RowField): boolean => 'isOptional' in FIELDS[name]

export const fieldsIn = <T extends { readonly [K in RowField]?: unknown }>(row: T): Pick<T, keyof T & RowField> =>
  Object.fromEntries(FIELD_NAMES.flatMap(name => (row[name] === undefined ? [] : [[name, row[name]]]))) as T

export const visibleFields = (row: Row): Row =>
  Object.fromEntries(
    FIELD_NAMES.filter(name => !isOptional(name) || row[name]?.length).map(name => [name, row[name]]),
  ) as Row

/** Rows whose checks may be new ones, without a hash. */
export type AnyRow = {
  readonly [K in RowField]?: (K extends 'checks' ? readonly SentCheck[] : Row[K]) | undefined
}

/** The fields in which two rows differ for a person. This alone decides what counts as edited. */
export const differentFields = (before: AnyRow, after: AnyRow): readonly RowField[] =>
  FIELD_NAMES.filter(name => compared(before, name) !== compared(after, name))

/** Compares checks by content, and lists without their order. */
function compared(row: AnyRow, name: RowField): string {
  const value: string | readonly (string | SentCheck)[] = row[name] ?? FIELDS[name].blank
  if (typeof value === 'string') return value
  const items = value.map(each => (typeof each === 'string' ? each : (each.hash ?? JSON.stringify(each))))
  return JSON.stringify(items.toSorted())
}

/** The plain fields of these kinds as a few English words each; empty fields are left out. */
export const fieldTexts = (row: Pick<Row, PlainField>, ...kinds: readonly FieldKind[]): readonly string[] =>
  plainFields(...kinds).flatMap(name => {
    const value = row[name] ?? FIELDS[name].blank
    if (value === FIELDS[name].blank || value.length === 0) return []
    const text = typeof value === 'string' ? value : value.map(item => itemText(name, item)).join(', ')
    const { name: label, says } = FIELD_WORDS[name]
    if (says) return says(text)
    return label === undefined ? text : `${label}: ${text}`
  })

/** The globs that match every file. */
const ANY_FILE: ReadonlySet<string> = new Set(['**', '**/*'])

const itemText = (name: RowField, item: string): string => (FIELDS[name].kind === 'globs' ? globText(item) : item)

export const globText = (glob: string, anyFile = 'any file'): string => (ANY_FILE.has(glob) ? anyFile : glob)
