/** One command of a shell's text. */
export interface ShellCommand {
  readonly words: readonly string[]
  /** Whether others read its output, or it runs beside them: then it is what is checked, not what checks. */
  readonly isSubject: boolean
}

/** Operators come before words, because `2>&1` and `$(` begin like words. Bounded: agents write these texts, too. */
const TOKEN =
  /"((?:\\.|[^"\\]){0,4000})"|'([^']{0,4000})'|(\$\(|&&|\|\||\|&|\d*[<>]&[\d-]|&?\d*>[>|]?|\d*<+|[;&|()`\n])|(?:\\.|[^\s;&|()<>"'`$\\]|\$(?!\())+/g
const WRITES = /^&?\d*>[>|]?$/
const MERGES = /^\d*[<>]&/

/** The commands of a text, roughly as a shell has them: a quoted word is one word, and files that are written to are left out. */
export function commandsOf(text: string): readonly ShellCommand[] {
  const commands: Parsed[] = []
  const captures: boolean[] = []
  let words: string[] = []
  let writes: string[] = []
  let isTarget = false
  const end = (operator: string): void => {
    if (words.length > 0) commands.push({ words, writes, operator, isCaptured: captures.includes(true) })
    words = []
    writes = []
  }
  for (const [token, double, single, operator] of text.replaceAll(/\\\r?\n/g, ' ').matchAll(TOKEN)) {
    if (operator === undefined) {
      const word = double === undefined ? (single ?? token) : double.replaceAll(/\\(.)/g, '$1')
      if (isTarget) writes.push(word)
      else words.push(word)
      isTarget = false
    } else if (!MERGES.test(operator)) {
      isTarget = WRITES.test(operator)
      if (isTarget || operator.endsWith('<')) continue
      end(operator)
      nest(captures, operator)
    }
  }
  end('')
  return commands.map((command, index) => ({
    words: command.words,
    isSubject: isSubject(command, commands[index + 1], commands),
  }))
}

interface Parsed {
  readonly words: readonly string[]
  /** The files that it writes its output to. */
  readonly writes: readonly string[]
  /** What it ends with. */
  readonly operator: string
  readonly isCaptured: boolean
}

/** Programs that only show or keep what they read. */
const SHOWS = /^(?:tee|cat|head|tail|less|ts|tap-[\w-]+|[\w-]+-(?:pretty|reporter|spec))$/

const KEYWORD = /^(?:[!{]|if|then|else|elif|while|until|do|time)$/

function isSubject(command: Parsed, next: Parsed | undefined, all: readonly Parsed[]): boolean {
  const reads = ({ words }: Parsed): boolean => !SHOWS.test(words.find(word => !KEYWORD.test(word)) ?? '')
  if (command.isCaptured || command.operator === '&') return true
  if (/^\|&?$/.test(command.operator) && next && reads(next)) return true
  const written = new Set(command.writes.filter(path => path !== '/dev/null'))
  return all.some(each => each !== command && reads(each) && each.words.some(word => written.has(word)))
}

/** Keeps count of what is open, and whether its output is captured. */
function nest(captures: boolean[], operator: string): void {
  if (operator === '$(' || (operator === '`' && captures.at(-1) !== true)) captures.push(true)
  else if (operator === '(') captures.push(false)
  else if (operator === ')' || operator === '`') captures.pop()
}

const ASSIGNMENT = /^[ \t]*(?:export[ \t]+)?(\w+)[ \t]*[?:+]?=[ \t]*["']?([^\s"'$`;]+)["']?[ \t]*$/gm
const DEFAULT = /\$\{\w+:?-([^}\n]{0,200})\}/g
const VARIABLE = /\$(?:(\w+)|\{(\w+)[^}\n]{0,200}\}|\((\w+)\))(\/?)/g
/** As in `$(dirname "$0")/run`. */
const FOLDER = /\$\((?!\w+\))[^()\n]{0,200}\)\//g

/** The variables that a text sets, each on a line of its own, to plain words. */
export const valuesIn = (text: string): ReadonlyMap<string, string> =>
  new Map([...text.replaceAll(DEFAULT, '$1').matchAll(ASSIGNMENT)].map(([, name = '', value = '']) => [name, value]))

/**
 * A text with its variables replaced, as far as they are known. An unknown folder is most often the working folder, and
 * `$(PYTHON)` of a `Makefile` is `python`.
 */
export const withValues = (text: string, values = valuesIn(text)): string =>
  text
    .replaceAll(DEFAULT, '$1')
    .replaceAll(FOLDER, '')
    .replaceAll(VARIABLE, (whole, bare?: string, braced?: string, made?: string, slash = '') => {
      const known = values.get(bare ?? braced ?? made ?? '')
      if (known !== undefined) return known + slash
      if (slash === '/') return ''
      return made !== undefined && /^[A-Z]\w*$/.test(made) ? made.toLowerCase() : whole
    })
