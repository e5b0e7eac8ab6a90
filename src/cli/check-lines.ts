import type { CheckSpec, CommandCheck } from '../domain/check.ts'
import { quoteWords, splitWords } from '../domain/command-line.ts'
import { isHidden } from '../domain/held-out.ts'
import { invalidField } from '../domain/refusal.ts'
import { say } from '../domain/say.ts'
import { Problem } from '../domain/text.ts'

// A check as editable lines: the check itself, then its options, indented.

/** `line` counts from the check's first line. */
export class CheckLineError extends Error {
  readonly line: number
  constructor(line: number, message: string) {
    super(message)
    this.line = line
  }
}

export const checkLines = (spec: CheckSpec): readonly string[] => [
  ...linesOf(spec),
  ...(isHidden(spec) ? [HIDDEN] : []),
]

function linesOf(spec: CheckSpec): readonly string[] {
  switch (spec.kind) {
    case 'command': {
      const { run, cwd, exit, contains, timeout_ms } = spec
      const line = quoteWords(run)
      return [
        KIND.test(line) ? `run: ${line}` : line,
        ...(cwd === undefined ? [] : [`in: ${cwd}`]),
        ...(exit === undefined ? [] : [`exit: ${exit}`]),
        ...containsLine(contains),
        ...(timeout_ms === undefined ? [] : [`timeout: ${durationText(timeout_ms)}`]),
      ]
    }
    case 'file':
      return [`file: ${spec.path}`, ...(spec.absent ? ['absent'] : []), ...containsLine(spec.contains)]
    case 'unchanged':
      return [`unchanged: ${listText(spec.paths)}`]
    case 'person':
      return [`person: ${spec.ask}`]
  }
}

export function checkIn(lines: readonly string[]): CheckSpec {
  const shown = lines.filter(line => line !== HIDDEN)
  const spec = specIn(shown)
  // One that a person ticks is refused with it.
  return shown.length === lines.length ? spec : ({ ...spec, hidden: true } as CheckSpec)
}

function specIn([first = '', ...options]: readonly string[]): CheckSpec {
  const [, kind = 'run', rest = ''] = KIND.exec(first) ?? [undefined, 'run', first]
  if (kind === 'run') return { kind: 'command', run: wordsIn(rest), ...optionsIn(options, COMMAND_OPTIONS) }
  if (kind === 'file') return { kind: 'file', path: rest.trim(), ...optionsIn(options, FILE_OPTIONS) }
  if (options.length > 0) throw new CheckLineError(1, `a check "${kind}:" has no such line below it: ${options[0]}`)
  if (kind === 'person') return { kind: 'person', ask: rest.trim() }
  return { kind: 'unchanged', paths: listIn(rest) }
}

/** Joins with commas and quotes ambiguous items. */
export const listText = (items: readonly string[]): string =>
  items.map(item => (/[",]/.test(item) ? JSON.stringify(item) : item)).join(', ')

export function listIn(text: string): string[] {
  const items: string[] = []
  let rest = text.trim()
  while (rest !== '') {
    const [taken = rest, quoted, plain = ''] = ITEM.exec(rest) ?? []
    items.push(quoted === undefined ? plain.trim() : textIn(quoted))
    rest = rest.slice(taken.length).trim()
  }
  return items.filter(item => item !== '')
}

/** Below a check: it is held out. */
const HIDDEN = 'hidden'
const KIND = /^(run|file|unchanged|person):\s+(.*)$/s
/** A JSON string, or the text before the next comma. */
const ITEM = /^(?:("(?:[^"\\]|\\.)*")\s*(?:,|$)|([^,]*)(?:,|$))/s

const containsLine = (contains: string | undefined): readonly string[] =>
  contains === undefined ? [] : [`contains: ${JSON.stringify(contains)}`]

type Option<T> = (value: string) => Partial<T>

const COMMAND_OPTIONS: Readonly<Record<string, Option<CommandCheck>>> = {
  in: cwd => ({ cwd }),
  exit: value => ({ exit: wholeIn(value) }),
  contains: value => ({ contains: textIn(value) }),
  timeout: value => ({ timeout_ms: durationIn(value) }),
}
const FILE_OPTIONS: Readonly<Record<string, Option<{ contains: string; absent: true }>>> = {
  contains: value => ({ contains: textIn(value) }),
  absent: () => ({ absent: true }),
}

function optionsIn<T>(lines: readonly string[], known: Readonly<Record<string, Option<T>>>): Partial<T> {
  return lines.reduce<Partial<T>>((found, line, index) => {
    const [, name = line, value = ''] = /^(\w+)(?::\s*(.*))?$/s.exec(line.trim()) ?? []
    const read = Object.hasOwn(known, name) ? known[name] : undefined
    const names = [...Object.keys(known), HIDDEN].join(', ')
    if (!read) throw new CheckLineError(index + 1, `"${name}" says nothing about a check. Possible below one: ${names}`)
    try {
      return { ...found, ...read(value) }
    } catch (error) {
      throw error instanceof CheckLineError ? new CheckLineError(index + 1, error.message) : error
    }
  }, {})
}

function wordsIn(line: string): readonly string[] {
  const words = splitWords(line)
  if (words instanceof Problem) throw new CheckLineError(0, say(invalidField('the check', words.fact)))
  return words
}

function textIn(value: string): string {
  if (!value.startsWith('"')) return value
  try {
    return String(JSON.parse(value))
  } catch {
    throw new CheckLineError(0, `the quotes of ${value} are not closed`)
  }
}

function wholeIn(value: string): number {
  if (/^\d{1,9}$/.test(value)) return Number(value)
  throw new CheckLineError(0, `"${value}" is not a whole number`)
}

const durationText = (ms: number): string => (ms % 1_000 === 0 ? `${ms / 1_000}s` : `${ms}ms`)

function durationIn(value: string): number {
  const [, amount, unit = ''] = /^(\d{1,9})\s*(ms|s|m)$/.exec(value) ?? []
  if (amount === undefined) throw new CheckLineError(0, `"${value}" is not a time such as 90s, 5m or 1500ms`)
  return Number(amount) * ({ ms: 1, s: 1_000, m: 60_000 }[unit] ?? 1)
}
