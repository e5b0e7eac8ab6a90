import { type FieldProblem, invalidField, Refusal } from '../model/refusal.ts'
import { isId, kind, LIMITS, line, Problem } from '../model/text.ts'

/** Exits with `exit` (default 0), and its output contains `contains`. `run` is a program and its arguments; no shell. */
export type CommandCheck = {
  readonly kind: 'command'
  /** A program and its arguments; no shell. */
  readonly run: readonly string[]
  /** A folder inside the workspace; default its root. */
  readonly cwd?: string
  /** The exit code that passes; default 0. */
  readonly exit?: number
  /** The text that its output must contain. */
  readonly contains?: string
  /** At most 3,600,000; default 300,000. */
  readonly timeout_ms?: number
  /** Held out: an agent learns that it exists and whether it failed, never its content or output. */
  readonly hidden?: true
}

/**
 * Passes if the file exists, is a regular non-empty file and contains `contains`; with `absent`, if it does not exist.
 */
export type FileCheck = {
  readonly kind: 'file'
  /** A file inside the workspace, which must exist and not be empty. */
  readonly path: string
  /** The text that the file must contain. */
  readonly contains?: string
  /** The file must not exist. */
  readonly absent?: true
  /** Held out: an agent learns that it exists and whether it failed, never its content or output. */
  readonly hidden?: true
}

/** Passes if the files that match these globs are byte for byte as they were when the plan was confirmed. */
export type UnchangedCheck = {
  readonly kind: 'unchanged'
  /** Globs of the files that must not change. */
  readonly paths: readonly string[]
  /** Held out: an agent learns that it exists and whether it failed, never its content or output. */
  readonly hidden?: true
}

/** A person ticks it off. */
export type PersonCheck = {
  readonly kind: 'person'
  /** The question that the person answers. */
  readonly ask: string
}

/** The definition of a check: a command to run, a condition on files, or a question for a person. */
export type CheckSpec = CommandCheck | FileCheck | UnchangedCheck | PersonCheck
export type CheckKind = CheckSpec['kind']
/** The kinds that run without a person. */
export type RunnableSpec = Exclude<CheckSpec, PersonCheck>

/** A program that a command name resolved to. A type, not an interface, so that it is assignable to `Json`. */
export type Program = {
  /** The path it was found at. It is started by this path because a program may behave by the name it is called by. */
  readonly path: string
  /** The file behind it, with links resolved. */
  readonly file: string
}

type Identified = {
  /** A UUIDv7. */
  readonly id: string
  /** The fingerprint that a person approves; it covers all fields, the workspace and the program. */
  readonly hash: string
  /**
   * The programs that the hash covers, the wrapper first; null: not found, or named by a path.
   *
   * Every process runs these, whatever its own search path finds.
   */
  readonly programs?: readonly (Program | null)[]
  /** The folder it runs in, if a person rewrote it for a folder other than that of its turn. */
  readonly workspace?: Workspace
}

/** A check's definition with the programs that were found for it. */
export type WithPrograms<S extends CheckSpec = CheckSpec> = S & Pick<Identified, 'programs'>

/** A check of a task or plan: its definition, id and hash. */
export type Check = CheckSpec & Identified
export type RunnableCheck = RunnableSpec & Identified

/** A folder on one machine in which checks run. */
export type Workspace = {
  /** The id of the machine. */
  readonly machine: string
  /** The folder. */
  readonly path: string
}

/** The result of a run; `inconclusive`: it could not run, or was stopped. */
export type CheckResult = 'passed' | 'failed' | 'inconclusive'

export const MAX_CHECKS = 8
export const DEFAULT_TIMEOUT_MS = 300_000
const MAX_TIMEOUT_MS = 3_600_000
const MAX_WORDS = 64
const MAX_GLOBS = 20
const MAX_GLOB = 200

/** Validates and cleans a check as it was sent. `field` is its path in the refusal. */
export function cleanCheck(raw: unknown, field: string, row?: number): CheckSpec | Refusal {
  if (typeof raw !== 'object' || raw === null) return invalidField(field, { rule: 'not_an_object' }, row)
  const check = raw as Record<string, unknown>
  const clean = Object.entries(CLEANERS).find(([kind]) => kind === check['kind'])?.[1]
  if (!clean) return invalidField(`${field}.kind`, { rule: 'not_allowed', allowed: Object.keys(CLEANERS) }, row)
  try {
    return { ...clean(check), ...cleanHidden(check) }
  } catch (error) {
    if (!(error instanceof Flaw)) throw error
    return invalidField(error.field === '' ? field : `${field}.${error.field}`, error.problem, row)
  }
}

/** Validates the words of a command from a command line or the settings; `field` names it in the refusal. */
export function cleanCommand(run: readonly string[], field: string, row?: number): CheckSpec | Refusal {
  const check = cleanCheck({ kind: 'command', run }, field, row)
  return check instanceof Refusal && check.is('invalid_field') ? invalidField(field, check.data, row) : check
}

export function cleanChecks(raw: unknown): readonly Check[] | Problem | Refusal {
  if (!Array.isArray(raw)) return new Problem({ rule: 'not_an_array', got: kind(raw) })
  if (raw.length > MAX_CHECKS) return new Problem({ rule: 'too_many', limit: MAX_CHECKS, got: raw.length })
  const checks: Check[] = []
  for (const [index, one] of raw.entries()) {
    const field = `checks[${index}]`
    const spec = cleanCheck(one, field)
    if (spec instanceof Refusal) return spec
    const { id, hash, programs, workspace } = one as Partial<Check>
    if (!isId(id) || !isId(hash))
      return invalidField(field, { rule: 'invalid', expected: 'a check with an id and a hash' })
    if (checks.some(other => other.id === id || other.hash === hash))
      return invalidField(field, { rule: 'invalid', expected: 'a check that the task does not have yet' })
    checks.push({ ...spec, id, hash, ...(programs ? { programs } : {}), ...(workspace ? { workspace } : {}) })
  }
  return checks
}

/** `field` names the list in the refusal. */
export function cleanGlobs(raw: unknown, field: string): readonly string[] | Problem | Refusal {
  if (!Array.isArray(raw)) return new Problem({ rule: 'not_an_array', got: kind(raw) })
  if (raw.length > MAX_GLOBS) return new Problem({ rule: 'too_many', limit: MAX_GLOBS, got: raw.length })
  try {
    return raw.map((glob, index) => globIn(`${field}[${index}]`, glob))
  } catch (error) {
    if (error instanceof Flaw) return invalidField(error.field, error.problem)
    throw error
  }
}

export function specOf(check: CheckSpec & Partial<Identified>): CheckSpec {
  const { id: _id, hash: _hash, programs: _programs, workspace: _workspace, ...spec } = check
  return spec
}

/** Cheapest first: a failure there saves the cost of the rest. */
export const COST: Record<CheckKind, number> = { file: 0, unchanged: 1, command: 2, person: 3 }

class Flaw extends Error {
  readonly field: string
  readonly problem: FieldProblem
  constructor(field: string, problem: FieldProblem) {
    super(field)
    this.field = field
    this.problem = problem
  }
}

const flaw = (field: string, expected: string): Flaw => new Flaw(field, { rule: 'invalid', expected })

const CLEANERS: { readonly [K in CheckKind]: (raw: Record<string, unknown>) => Extract<CheckSpec, { kind: K }> } = {
  command: raw => {
    const run = words(raw['run'])
    if (provesNothing(run)) throw flaw('run', 'a command that can fail: this one ends the same whatever was done')
    return {
      kind: 'command',
      run,
      ...defined('cwd', raw['cwd'], value => pathIn('cwd', value)),
      ...defined('exit', raw['exit'], value => whole('exit', value, 0, 255)),
      ...defined('contains', raw['contains'], value => sought(value)),
      ...defined('timeout_ms', raw['timeout_ms'], value => whole('timeout_ms', value, 1_000, MAX_TIMEOUT_MS)),
    }
  },
  file: raw => {
    const absent = raw['absent'] === true
    if (raw['absent'] !== undefined && typeof raw['absent'] !== 'boolean')
      throw new Flaw('absent', { rule: 'not_a_boolean' })
    const path = pathIn('path', raw['path'])
    if (absent) {
      if (raw['contains'] !== undefined) throw flaw('contains', 'left out where the file must be absent')
      return { kind: 'file', path, absent }
    }
    return { kind: 'file', path, ...defined('contains', raw['contains'], value => sought(value)) }
  },
  unchanged: raw => {
    const globs = list('paths', raw['paths'], MAX_GLOBS)
    return { kind: 'unchanged', paths: globs.map((glob, index) => pathIn(`paths[${index}]`, glob)) }
  },
  person: raw => ({ kind: 'person', ask: text('ask', raw['ask']) }),
}

/**
 * True if a command obviously ends the same whatever was done. A courtesy only: commands that it misses pass before the
 * work, and so prove nothing.
 */
function provesNothing(run: readonly string[]): boolean {
  const program = run.map(word => word.replace(/^(?:\/usr)?\/bin\//, '')).find(word => !BEFORE_PROGRAM.test(word))
  return program === undefined || NO_OPS.test(program)
}

const NO_OPS = /^(?::|echo|exit|false|printf|pwd|set|sleep|true)$/
/** Programs that run another one, their options and durations, and variables. */
const BEFORE_PROGRAM = /^(?:env|nice|nohup|time|timeout|-.*|\w+=.*|\d+(?:\.\d+)?[smhd]?)$/

function cleanHidden({ kind, hidden = false }: Record<string, unknown>): { readonly hidden?: true } {
  if (typeof hidden !== 'boolean') throw new Flaw('hidden', { rule: 'not_a_boolean' })
  if (hidden && kind === 'person') throw flaw('hidden', 'left out where a person ticks the check')
  return hidden ? { hidden } : {}
}

function words(raw: unknown): readonly string[] {
  return list('run', raw, MAX_WORDS).map((word, index) => {
    const field = `run[${index}]`
    const text = wellFormed(field, word, 2_000)
    if (CONTROLS.test(text)) throw flaw(field, 'a word without control characters')
    if (index === 0 && text.trim() === '') throw new Flaw(field, { rule: 'empty' })
    return text
  })
}

function wellFormed(field: string, raw: unknown, limit: number): string {
  if (typeof raw !== 'string') throw new Flaw(field, { rule: 'not_text', got: kind(raw) })
  if (!raw.isWellFormed()) throw new Flaw(field, { rule: 'malformed_unicode' })
  if (raw.length > limit) throw new Flaw(field, { rule: 'too_long', limit, got: raw.length })
  return raw
}

function list(field: string, raw: unknown, limit: number): readonly unknown[] {
  if (!Array.isArray(raw)) throw new Flaw(field, { rule: 'not_an_array', got: kind(raw) })
  if (raw.length === 0) throw new Flaw(field, { rule: 'empty' })
  if (raw.length > limit) throw new Flaw(field, { rule: 'too_many', limit, got: raw.length })
  return raw
}

function text(field: string, raw: unknown): string {
  const clean = line(raw)
  if (clean instanceof Problem) throw new Flaw(field, clean.fact)
  return clean
}

function sought(raw: unknown): string {
  const text = wellFormed('contains', raw, LIMITS.title)
  if (text.trim() === '') throw flaw('contains', 'some text: every output contains an empty one')
  return text
}

/** A path or glob that stays inside the workspace, judged by its text alone. */
function pathIn(field: string, raw: unknown): string {
  const path = text(field, raw)
  // Braces and parentheses in a glob list alternatives.
  const parts = path.split(/[\\/{},()|]/)
  if (/(?:^|[{,(|])\//.test(path) || /^[A-Za-z]:/.test(path) || path.startsWith('~') || parts.includes('..')) {
    throw flaw(field, `a path inside the workspace, relative and without "..", not "${path}"`)
  }
  return path
}

function globIn(field: string, raw: unknown): string {
  const glob = pathIn(field, raw)
  if (glob.length > MAX_GLOB) throw new Flaw(field, { rule: 'too_long', limit: MAX_GLOB, got: glob.length })
  return glob
}

function whole(field: string, raw: unknown, min: number, max: number): number {
  if (typeof raw !== 'number' || !Number.isInteger(raw)) throw new Flaw(field, { rule: 'not_an_integer' })
  if (raw < min || raw > max) throw new Flaw(field, { rule: 'out_of_range', min, max })
  return raw + 0
}

function defined<K extends string, T>(name: K, raw: unknown, clean: (value: unknown) => T): { readonly [P in K]?: T } {
  return (raw === undefined || raw === null ? {} : { [name]: clean(raw) }) as { readonly [P in K]?: T }
}

const CONTROLS = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u
