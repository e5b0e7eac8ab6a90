import { LIMITS, Problem } from '../model/text.ts'

/**
 * Splits a command line as a shell would, with quotes and backslashes. Refuses anything that a shell would expand or
 * run: without a shell it would silently stay literal.
 */
export function splitWords(line: string): readonly string[] | Problem {
  if (line.length > LIMITS.text) return new Problem({ rule: 'too_long', limit: LIMITS.text, got: line.length })
  const words: string[] = []
  let rest = line.replace(OUTER_SPACE, '')
  while (rest !== '') {
    const word = firstWord(rest)
    if (word instanceof Problem) return word
    const problem = problemWith(word.bare, words.length === 0)
    if (problem) return problem
    words.push(word.text)
    rest = rest.slice(word.length).replace(/^[ \t]+/, '')
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

interface Piece {
  readonly text: string
  readonly length: number
}

/** `bare` has a NUL for each quoted or escaped part. */
function firstWord(rest: string): (Piece & { readonly bare: string }) | Problem {
  let [text, bare, at] = ['', '', 0]
  while (at < rest.length && !/[ \t]/.test(rest.charAt(at))) {
    const piece = firstPiece(rest.slice(at))
    if (piece instanceof Problem) return piece
    text += piece.text
    bare += piece.length === 1 ? piece.text : '\0'
    at += piece.length
  }
  return { text, bare, length: at }
}

function firstPiece(rest: string): Piece | Problem {
  const first = rest.charAt(0)
  if (first === "'") return singleQuoted(rest)
  if (first === '"') return doubleQuoted(rest)
  if (first === '\\') return escaped(rest)
  if (first === '$') return dollar(rest) ?? { text: first, length: 1 }
  if (first === '\n' || first === '\r') return forAShell('several lines')
  return '|&;<>()`'.includes(first) ? forAShell(first) : { text: first, length: 1 }
}

function singleQuoted(rest: string): Piece | Problem {
  const end = rest.indexOf("'", 1)
  return end < 0 ? unfit("a command whose quotes (') are closed") : { text: rest.slice(1, end), length: end + 1 }
}

function doubleQuoted(rest: string): Piece | Problem {
  let text = ''
  for (let at = 1; at < rest.length; at += 1) {
    const here = rest.charAt(at)
    if (here === '"') return { text, length: at + 1 }
    if (here === '`') return forAShell(here)
    const problem = here === '$' ? dollar(rest.slice(at), true) : undefined
    if (problem) return problem
    const next = rest.charAt(at + 1)
    if (here === '\\' && next === '\n') return forAShell('several lines')
    if (here === '\\' && next !== '' && '"\\$`'.includes(next)) at += 1
    text += rest.charAt(at)
  }
  return unfit('a command whose quotes (") are closed')
}

function escaped(rest: string): Piece | Problem {
  if (rest.length === 1) return unfit('a command that does not end in a backslash')
  return rest.charAt(1) === '\n' ? forAShell('several lines') : { text: rest.charAt(1), length: 2 }
}

/** A shell leaves a `$` alone only if nothing expandable follows. */
function dollar(rest: string, inQuotes = false): Problem | undefined {
  if (rest.charAt(1) === '(') return forAShell('$( )')
  const expands = inQuotes ? /^\$[\w{[*@#?$!-]/ : /^\$[\w{[*@#?$!'"-]/
  return expands.test(rest) ? notExpanded('variables') : undefined
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
