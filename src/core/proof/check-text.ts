import type { Check } from './check.ts'
import { HELD_OUT, isHidden } from './held-out.ts'
import { LIMITS, Problem } from '../model/text.ts'

/** A short label for a check, for people and models. That of a held-out check does not tell what it is. */
export const labelOf = (check: Check): string => (isHidden(check) ? HELD_OUT : contentOf(check))

/** The same for people alone: of a held-out check, too. */
export function contentOf(check: Check): string {
  switch (check.kind) {
    case 'command':
      return quoteWords(check.run)
    case 'file':
      return `${check.path} ${check.absent ? 'is absent' : 'exists'}`
    case 'unchanged':
      return `${check.paths.join(', ')} unchanged`
    case 'person':
      return check.ask
  }
}

/** The label plus every condition of the check: the text that a person approves and the judge reads. */
export function describeCheck(check: Check): string {
  if (isHidden(check)) return HELD_OUT
  const { cwd, exit, contains } = check as Partial<Extract<Check, { kind: 'command' }>>
  const conditions = [
    ...(cwd === undefined ? [] : [`in ${cwd}`]),
    ...(exit === undefined ? [] : [`exits with ${exit}`]),
    ...(contains === undefined ? [] : [`contains ${JSON.stringify(contains)}`]),
  ]
  return conditions.length === 0 ? labelOf(check) : `${labelOf(check)} (${conditions.join(', ')})`
}

/** Invisible or control characters could make a check look like another one. */
export const isLegible = (check: Check): boolean => !/\p{C}/u.test(describeCheck(check))

/**
 * Splits a command line as a shell would, with quotes and backslashes. Refuses anything that a shell would expand or
 * run: without a shell it would silently stay literal.
 */
export function splitWords(line: string): readonly string[] | Problem {
  if (line.length > LIMITS.text) return new Problem({ rule: 'too_long', limit: LIMITS.text, got: line.length })
  const words: string[] = []
  /** `bare` has a NUL for each quoted or escaped part. */
  let word: { readonly text: string; readonly bare: string } | undefined
  for (const [piece, single, double, escaped] of `${line.replace(OUTER_SPACE, '')} `.matchAll(PIECES)) {
    if (/^[ \t]/.test(piece)) {
      const problem = word && problemWith(word.bare, words.length === 0)
      if (problem) return problem
      if (word) words.push(word.text)
      word = undefined
      continue
    }
    const problem = double === undefined ? problemOf(piece) : problemInQuotes(double)
    if (problem) return problem
    const quoted = single ?? double?.replaceAll(/\\(["\\$`])/g, '$1') ?? escaped
    const { text, bare } = word ?? { text: '', bare: '' }
    word = { text: text + (quoted ?? piece), bare: bare + (quoted === undefined ? piece : '\0') }
  }
  return words.length === 0 ? new Problem({ rule: 'empty' }) : words
}

export const quoteWords = (words: readonly string[]): string => words.map(quoted).join(' ')

const quoted = (word: string): string =>
  PLAIN.test(word) && !KEYWORDS.has(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`

const PLAIN = /^[\w./:@%+,-]+$|^--?[\w-]+=[\w./:@%+,-]*$/
const OUTER_SPACE = /^[ \t\r\n]+|[ \t\r\n]+$/g

const unfit = (expected: string): Problem => new Problem({ rule: 'invalid', expected })
const forAShell = (what: string): Problem =>
  unfit(`one command without shell syntax (${what}): put it in a script and name the script`)
const notExpanded = (what: string): Problem =>
  unfit(`a command without ${what}: there is no shell to expand it. Single quotes keep it as it stands`)

/** A part in single quotes, in double quotes, an escaped character, space, an expansion, or any other character. */
const PIECES = /'([^']*)'|"((?:\\[^]|[^"\\])*)"|\\([^](?!$))|[ \t]+|\$[\w{[*@#?$!'"(-]|[^]/g

function problemOf(piece: string): Problem | undefined {
  if (/^\\?\n$|^\r$/.test(piece)) return forAShell('several lines')
  if (piece === '\\') return unfit('a command that does not end in a backslash')
  if (piece === "'" || piece === '"') return unfit(`a command whose quotes (${piece}) are closed`)
  if (piece === '$(') return forAShell('$( )')
  // A shell leaves a `$` alone only if nothing expandable follows.
  if (/^\$./.test(piece)) return notExpanded('variables')
  return '|&;<>()`'.includes(piece) ? forAShell(piece) : undefined
}

function problemInQuotes(text: string): Problem | undefined {
  const live = text.replaceAll(/\\[^\n]/g, '\0')
  if (live.includes('`')) return forAShell('`')
  if (live.includes('$(')) return forAShell('$( )')
  if (live.includes('\\\n')) return forAShell('several lines')
  return /\$[\w{[*@#?$!-]/.test(live) ? notExpanded('variables') : undefined
}

function problemWith(bare: string, isProgram: boolean): Problem | undefined {
  if (/[*?]/.test(bare) || within(bare, '[', ']') !== undefined) return notExpanded('wildcards')
  if (/,|\.\./.test(within(bare, '{', '}') ?? '')) return notExpanded('braces')
  if (/^~|[=:]~/.test(bare)) return notExpanded('~')
  if (bare.startsWith('#')) return notExpanded('a comment')
  if (!isProgram) return undefined
  if (/^[A-Za-z_]\w*\+?=/.test(bare))
    return unfit('a command that begins with a program, such as env NAME=value npm test')
  return KEYWORDS.has(bare) ? forAShell(bare) : undefined
}

function within(text: string, open: string, close: string): string | undefined {
  const [from, to] = [text.indexOf(open), text.lastIndexOf(close)]
  return from >= 0 && to > from ? text.slice(from + 1, to) : undefined
}

const KEYWORDS: ReadonlySet<string> = new Set(
  '! { } [[ case coproc do done elif else esac fi for function if in select then time until while'.split(' '),
)

/**
 * Commands that only read the files they name: these are the subject of the check. Not with an option that may load
 * another file.
 */
export const onlyReads = (run: readonly string[]): boolean =>
  READERS.some(([command, loads]) => command.test(run.join(' ')) && !loads.test(run.join(' ')))

const READERS: readonly (readonly [command: RegExp, loads: RegExp])[] = [
  [/^(?:test|\[|ls|stat|wc|head|tail|node (?:-c|--check)|python[\d.]* -m py_compile) /, /^\b$/],
  [/^(?:[ef]?grep|rg) /, / (?:-\w*f|--(?:file|pre|ignore-file|exclude-from))/],
  [
    /^(?:npx |pnpm exec |uv run |node_modules\/\.bin\/)?(?:tsc|eslint|oxlint|biome|prettier|ruff|flake8|pylint|mypy|pyright|shellcheck) /,
    / (?:-[cfipr]|--[\w-]*(?:config|rule|plugin|project|parser|resolve|format|ignore|require|loader|suppress|path|file|dir)[\w-]*)(?:[ =]|$)/,
  ],
]
