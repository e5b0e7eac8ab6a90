export interface ShellCommand {
  readonly words: readonly string[]
  /** Whether others read its output, or it runs in the background: then it is under test, and not the test. */
  readonly isSubject: boolean
  /** Whether it reads the output of the command before it. */
  readonly isFed?: boolean
  readonly isCaptured?: boolean
  readonly reads?: readonly string[]
  readonly makes?: readonly string[]
}

/**
 * Operators come before words, because `2>&1` and `$(` begin like words. Bounded, because agents write these texts,
 * too.
 */
const TOKEN =
  /"((?:\\.|[^"\\]){0,4000})"|'([^']{0,4000})'|(\$\(|<\(|&&|\|\||\|&|\d*[<>]&[\d-]|&?\d*>[>|]?|\d*<+|[;&|()`\n])|(?:\\.|[^\s;&|()<>"'`$\\]|\$(?!\())+/g
const WRITES = /^&?\d*>[>|]?$/
const MERGES = /^\d*[<>]&/
const CAPTURES = /^(?:\$\(|<\(|`)$/
const PLAIN = /^[\w./-]{1,100}$/
const READS = /^\d*<$/
const PIPE = /^\|&?$/
const TESTS = /^(?:test|\[\[?)$/

/** Parses the commands of a text roughly like a shell: a quoted word is one word, and output files are left out. */
export function commandsOf(text: string): readonly ShellCommand[] {
  const commands: Parsed[] = []
  const around: Open[] = []
  let captured = 0
  let now = emptyCommand()
  let target: 'words' | 'writes' | 'reads' = 'words'
  const end = (operator: string): void => {
    if (now.words.length > 0) commands.push({ ...now, operator, isCaptured: captured > 0 })
    now = emptyCommand()
  }
  for (const { word, operator = '', isGlued = false } of tokensOf(text)) {
    if (word !== undefined) {
      now[target].push(word)
      if (target === 'reads') now.words.push(word)
      target = 'words'
      continue
    }
    if (MERGES.test(operator)) continue
    target = WRITES.test(operator) ? 'writes' : READS.test(operator) ? 'reads' : 'words'
    if (target !== 'words' || operator.endsWith('<')) continue
    if (CAPTURES.test(operator) && !(operator === '`' && around.at(-1)?.operator === '`')) {
      // The enclosing command continues after it.
      around.push({ operator, outer: now, isGlued })
      captured += 1
      now = emptyCommand()
    } else {
      const last = now.words.at(-1) ?? ''
      end(operator)
      if (operator === '(') around.push({ operator })
      const closed = operator === ')' || operator === '`' ? around.pop() : undefined
      if (closed?.outer) {
        captured -= 1
        now = closed.outer
        // Its last word is often the program found: `$(command -v node)`.
        now.words.push(`${closed.isGlued ? (now.words.pop() ?? '') : ''}$(${PLAIN.test(last) ? last : ''})`)
      }
    }
  }
  end('')
  for (const { outer } of around) {
    now = outer ?? now
    end('')
  }
  const sure = withoutCondition(commands)
  const readers = readersIn(commands)
  return commands.map((command, index) => ({
    words: command.words,
    isSubject: isSubject(command, commands[index + 1], readers),
    isFed: PIPE.test(commands[index - 1]?.operator ?? ''),
    isCaptured: command.isCaptured,
    reads: command.reads,
    makes: sure.has(command) ? command.writes : [],
  }))
}

/** An open bracket: of a group, or of a captured command, with the command that encloses it. */
interface Open {
  readonly operator: string
  readonly outer?: ReturnType<typeof emptyCommand>
  /** Whether the captured output is part of the word before it. */
  readonly isGlued?: boolean
}

interface Token {
  readonly word?: string
  readonly operator?: string
  /** Whether it directly follows a word. */
  readonly isGlued?: boolean
}

/** Adjacent pieces form one word: `"$DIR"/run`. Not in code: `read('a','b')`. */
function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = []
  let pieceEnd = -1
  let before = ''
  for (const match of text.replaceAll(/\\\r?\n/g, ' ').matchAll(TOKEN)) {
    const [token, double, single, operator] = match
    const word = double === undefined ? (single ?? token) : double.replaceAll(/\\(.)/g, '$1')
    const isGlued = match.index === pieceEnd && GLUES.test(before.slice(-1)) && GLUED.test(token)
    if (operator !== undefined) tokens.push({ operator, isGlued: match.index === pieceEnd })
    else if (isGlued) tokens.push({ word: `${tokens.pop()?.word ?? ''}${word}` })
    else tokens.push({ word })
    pieceEnd = operator === undefined ? match.index + token.length : -1
    before = token
  }
  return tokens
}

const GLUES = /["'\w./@{}*=-]/
const GLUED = /^["'\w./@{}*$-]/

const emptyCommand = (): { words: string[]; writes: string[]; reads: string[] } => ({
  words: [],
  writes: [],
  reads: [],
})

/**
 * Commands that run whenever the text does: a file that is made on demand (`[ $UPDATE ] && x >expected`) is not output.
 */
function withoutCondition(commands: readonly Parsed[]): ReadonlySet<Parsed> {
  const sure = new Set<Parsed>()
  let depth = 0
  for (const [index, command] of commands.entries()) {
    const before = commands[index - 1]
    const isOption = before?.operator === '||' || (before?.operator === '&&' && TESTS.test(before.words[0] ?? ''))
    const [first = ''] = command.words
    if (/^(?:fi|esac|\})$/.test(first)) depth = Math.max(0, depth - 1)
    if (depth === 0 && !isOption) sure.add(command)
    if (/^(?:if|case)$/.test(first) || (first === '{' && (isOption || depth > 0))) depth += 1
  }
  return sure
}

interface Parsed {
  readonly words: readonly string[]
  readonly writes: readonly string[]
  /** Files that its input comes from, which are also words. */
  readonly reads: readonly string[]
  readonly operator: string
  readonly isCaptured: boolean
}

/** Programs that only show or store their input. */
const SHOWS = /^(?:tee|cat|head|tail|less|ts|tap-[\w-]+|[\w-]+-(?:pretty|reporter|spec))$/

const KEYWORD = /^(?:[!{]|if|then|else|elif|while|until|do|time)$/
const ASSIGNS = /^\w+=/

/** Index of a command's program, after keywords and variables. */
export const programAt = (words: readonly string[]): number =>
  words.findIndex(word => !KEYWORD.test(word) && !ASSIGNS.test(word) && word !== 'exec')

const reads = ({ words }: Parsed): boolean => !SHOWS.test(words.find(word => !KEYWORD.test(word)) ?? '')

function readersIn(commands: readonly Parsed[]): ReadonlyMap<string, readonly Parsed[]> {
  const readers = new Map<string, Parsed[]>()
  for (const command of commands.filter(reads)) {
    for (const word of new Set(command.words)) {
      const known = readers.get(word) ?? []
      // Two are enough: at least one differs from any command that writes the file.
      if (known.length < 2) readers.set(word, [...known, command])
    }
  }
  return readers
}

function isSubject(
  command: Parsed,
  next: Parsed | undefined,
  readers: ReadonlyMap<string, readonly Parsed[]>,
): boolean {
  if (command.isCaptured || command.operator === '&') return true
  if (PIPE.test(command.operator) && next && reads(next)) return true
  const written = command.writes.filter(path => path !== '/dev/null')
  return written.some(path => readers.get(path)?.some(each => each !== command) === true)
}

const ASSIGNMENT = /^[ \t]*(?:export[ \t]+)?(\w+)[ \t]*[?:+]?=[ \t]*["']?([^\s"'$`;]+)["']?[ \t]*$/gm
const DEFAULT = /\$\{\w+:?-([^}\n]{0,200})\}/g
const VARIABLE = /\$(?:(\w+)|\{(\w+)[^}\n]{0,200}\}|\((\w+)\))(\/?)/g
/** As in `$(dirname "$0")/run`. */
const FOLDER = /"\$\((?!\w+\))[^()\n]{0,200}\)"\/|\$\((?!\w+\))[^()\n]{0,200}\)\//g
/** As in `"$DIR"/run`. */
const QUOTED = /"(\$\w+|\$\{\w+[^}"\n]{0,200}\})"(?=\/)/g

/** Variables that a text sets to plain words, each on its own line. */
export const valuesIn = (text: string): ReadonlyMap<string, string> =>
  new Map([...text.replaceAll(DEFAULT, '$1').matchAll(ASSIGNMENT)].map(([, name = '', value = '']) => [name, value]))

/**
 * Replaces known variables. An unknown folder is usually the working folder, and `$(PYTHON)` in a `Makefile` is
 * `python`.
 */
export const withValues = (text: string, values = valuesIn(text)): string =>
  text
    .replaceAll(DEFAULT, '$1')
    .replaceAll(FOLDER, '')
    .replaceAll(QUOTED, '$1')
    .replaceAll(VARIABLE, (whole, bare?: string, braced?: string, made?: string, slash = '') => {
      const known = values.get(bare ?? braced ?? made ?? '')
      if (known !== undefined) return known + slash
      if (slash === '/') return ''
      return made !== undefined && /^[A-Z]\w*$/.test(made) ? made.toLowerCase() : whole
    })

const LOOP = /(?:^|[\s;&|(])for[ \t]+(\w+)[ \t]+in[ \t]+([^;\n$`*?[(]{1,400})[;\n]/g
const MAX_UNROLLED = 64_000
const MAX_LOOPS = 20

export function unrolled(text: string): string {
  let all = text
  for (const [, name = '', words = ''] of [...text.matchAll(LOOP)].slice(0, MAX_LOOPS)) {
    const variable = new RegExp(`\\$(?:${name}\\b|\\{${name}\\})`, 'g')
    const rounds = words
      .trim()
      .split(/\s+/)
      .map(word => all.replaceAll(variable, () => word))
    if (rounds.length * all.length <= MAX_UNROLLED) all = rounds.join('\n')
  }
  return all
}

const FUNCTION = /(?:^|[\s;])([\w-]+)[ \t]*\(\)\s*\{([^}]{0,4000})\}/g
const POSITIONAL = /^\$\{?[@*\d]/

/** Functions of a text that start their arguments: `check() { node "$1"; }`. */
export function startersIn(text: string): ReadonlySet<string> {
  const startsGiven = (body: string): boolean =>
    commandsOf(body).some(({ words }) => words.some(word => POSITIONAL.test(word)) && !SAYS.test(words[0] ?? ''))
  return new Set([...text.matchAll(FUNCTION)].flatMap(([, name = '', body = '']) => (startsGiven(body) ? name : [])))
}

/** Commands that do not run their arguments. */
const SAYS = /^(?:echo|printf|:|local|return|exit|shift|\[\[?|test|[efz]?grep)$/

export const pathsSetIn = (words: readonly string[]): readonly string[] =>
  words.flatMap(word => (word.startsWith('PATH=') ? word.slice('PATH='.length).split(':') : [])).filter(isPlain)

const isPlain = (path: string): boolean => path !== '' && !path.startsWith('$')
