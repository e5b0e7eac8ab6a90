import { basename } from 'node:path'
import { BEFORE, LINTERS } from '../domain/looked-at.ts'

export type Interpreter = 'node' | 'python' | 'other'

export interface ScriptWord {
  readonly word: string
  readonly by: Interpreter
  /** False if the word is the script only when the one before it belongs to an option. */
  readonly isSure: boolean
}

/**
 * Scripts that a command passes to interpreters, anywhere in it (`timeout 9 node x`, `npx tsx x`), and modules that
 * other programs load first (`mocha -r ./x`).
 */
export const scriptWords = (words: readonly string[]): readonly ScriptWord[] =>
  words.flatMap((word, index): readonly ScriptWord[] => {
    if (LOADS.test(words[index - 1] ?? '') || (words[index - 1] === '-r' && word.startsWith('.')))
      return [{ word, by: 'node', isSure: false }]
    const by = interpreterOf(word)
    const rest = words.slice(index + 1)
    const run = TAKES_RUN.test(basename(word)) ? rest.indexOf('run') : -1
    return by ? scriptsAfter(rest.slice(run + 1), by) : []
  })

export const pathsOf = ({ word, by }: Pick<ScriptWord, 'word' | 'by'>): readonly string[] =>
  WHOLE.test(word) ? [word] : [word, ...ENDINGS[by].map(ending => word + ending)]

/** Modules that Python is told to run, and dotted names in its arguments, each as its candidate paths. */
export function modulesIn(words: readonly string[]): readonly (readonly string[])[] {
  const python = words.findIndex(word => interpreterOf(word) === 'python')
  const names = python === -1 ? [] : words.slice(python + 1).flatMap(moduleAt)
  const entries = words.flatMap(word => ENTRY_POINT.exec(word)?.[1] ?? [])
  return [...names, ...entries].map(modulePaths)
}

export const runsTests = (words: readonly string[]): boolean =>
  words.some(
    (word, index) =>
      TEST_RUNNER.test(basename(word)) || (word === 'test' && TAKES_TEST.test(basename(words[index - 1] ?? ''))),
  )

export const runsAll = (words: readonly string[]): boolean => words.some(word => RUNS_ALL.test(basename(word)))

export const worksOn = (words: readonly string[]): boolean => WORKS_ON.test(words.join(' '))

/**
 * Words of a command that may decide what it means. For linters, formatters, type checkers and builders only what their
 * options load; their file arguments are the work.
 */
export const decisiveWords = (words: readonly string[]): readonly string[] =>
  worksOn(words) ? words.filter((word, index) => word.includes('=') || LOADED.test(words[index - 1] ?? '')) : words

/** Paths that shadow a runner: Python searches the working folder first. */
export const shadowsIn = (words: readonly string[]): readonly string[] =>
  words.flatMap((word, index) => {
    const name = runModule(word, words[index - 1]) ?? ''
    return RUNNERS.has(name) ? [`${name}.py`, `${name}/__init__.py`] : []
  })

/** File names that shadow Python's own modules, in a script's folder or the working folder. */
export const shadowedBy = (words: readonly string[]): string | undefined =>
  words.some(word => interpreterOf(word) === 'python' || /^(?:pytest|tox|nox)$/.test(basename(word)))
    ? `{${OF_PYTHON.join(',')}}{.py,/__init__.py}`
    : undefined

/** Whether a word is code that an interpreter evaluates. A shell's code is parsed instead. */
export function isCode(words: readonly string[], index: number): boolean {
  const before = words.slice(0, index).map(word => basename(word))
  const evaluates = before.some(name => NODE.test(name) || PYTHON.test(name) || LANGUAGE.test(name))
  return EVALUATES.test(before.at(-1) ?? '') && evaluates && !before.some(name => SHELL.test(name))
}

export const outputsOf = (words: readonly string[]): readonly string[] =>
  words.flatMap((word, index) => {
    if (OUTPUT.test(words[index - 1] ?? '')) return word
    const [option = '', value] = word.split('=', 2)
    return value !== undefined && OUTPUT.test(option) ? value : []
  })

const NODE = /^(?:node|nodejs|tsx|ts-node(?:-esm)?|babel-node|vite-node|bun|deno|esno|jiti|nodemon|zx)$/
const PYTHON = /^(?:(?:python|pypy)[\d.]*|uv|coverage)$/
/** Interpreters with a `run` subcommand, as in `bun run x`. */
const TAKES_RUN = /^(?:bun|deno|uv|coverage)$/
const SHELL = /^(?:ba|da|z|k|a)?sh$/
const RUNS_ALL = /^(?:_?mocha|tape|uvu|jasmine|qunit|bats|prove|run-parts)$/
const TEST_RUNNER =
  /^(?:--test|_?mocha|jest|vitest|ava|tap|tape|jasmine|uvu|qunit|wtr|karma|cypress|playwright|pytest|nose2|unittest|rspec|phpunit|bats|prove|run-parts)$/
/** Alone, `test` is a shell program. */
const TAKES_TEST = /^(?:bun|deno)$/
const BUILDS =
  /(?:esbuild|(?:vue-)?tsc|tsup|tsdown|rollup|rolldown|webpack|rspack|parcel|swc|babel|ncc|microbundle|sass|postcss|py_compile|compileall|cython|g?cc|[gc]\+\+|clang(?:\+\+)?|rustc|javac|kotlinc|swiftc|ghc|protoc)(?:-\d+)?/
const BUILDS_BY_COMMAND =
  /(?:(?:vite|next|astro|bun|go|cargo|zig|nuxt) (?:build|vet|check)|deno (?:check|lint|fmt|bundle|compile)|node --check)/
/** At the start of a command: programs that inspect or build files and run none of them. */
const WORKS_ON = new RegExp(
  `${BEFORE.source}(?:(?:${LINTERS.join('|')})|${BUILDS.source}|${BUILDS_BY_COMMAND.source})(?:@\\S+)?(?= |$)`,
)
const LOADED =
  /^(?:-[cfpr]|--(?:config|rc|rules|plugin|project|parser|resolve|format|ignore|settings|require|import|loader)[\w-]*)$/
const LANGUAGE = /^(?:ruby|perl|php|lua|Rscript|pwsh)$/
const OTHER = /^(?:source|\.|exec|run)$/
const LOADS = /^--(?:require|import|loader|preload)$/
const NODE_ENDINGS = ['.js', '.mjs', '.cjs', '.ts', '.mts', '.cts', '.tsx', '.jsx', '.json', '.node']
const ENDINGS: Readonly<Record<Interpreter, readonly string[]>> = {
  node: [...NODE_ENDINGS, ...NODE_ENDINGS.map(ending => `/index${ending}`)],
  python: ['/__main__.py'],
  other: [],
}
/** A literal file name, or code. */
const WHOLE = /\s|\.(?:[cm]?[jt]sx?|json|node|py|sh)$/
/** Interpreter options that take the next word. For others it is unknown. */
const VALUED: ReadonlySet<string> = new Set(
  '-r --require --import --loader --experimental-loader --env-file --env-file-if-exists -C --conditions --preload -W -X'.split(
    ' ',
  ),
)
const EVALUATES = /^(?:-[a-zA-Z]*[cep]|--eval|--print)$/
const OUTPUT = /^(?:-o|--out[\w-]*)$/i
const FLAGS = '[bBdEhiIOPqsSuvVx]*'
const MODULE_FLAG = new RegExp(`^-${FLAGS}m$`)
const GLUED_MODULE = new RegExp(`^-${FLAGS}m([A-Za-z_][\\w.]*)$`)
const MODULE = /^\w+(?:\.\w+)*$/
const ENTRY_POINT = /^([A-Za-z_]\w*(?:\.\w+)*):[A-Za-z_]\w*$/
const RUNNERS: ReadonlySet<string> = new Set(
  'behave coverage doctest flake8 mypy nose2 nox pylint pytest ruff tox unittest'.split(' '),
)

export function interpreterOf(word: string): Interpreter | undefined {
  const name = basename(namedIn(word))
  if (NODE.test(name)) return 'node'
  if (PYTHON.test(name)) return 'python'
  return [SHELL, LANGUAGE, OTHER].some(each => each.test(name)) ? 'other' : undefined
}

/** The likely program behind `$PYTHON`, `${NODE_BIN}` or `$(command -v node)`. */
function namedIn(word: string): string {
  if (!word.startsWith('$') || word.length > 100) return word
  const [, captured, variable = ''] = /^\$(?:\(.*?([\w.-]+)\)|\{?(\w+)\}?)$/.exec(word) ?? []
  return captured ?? variable.toLowerCase().replace(/_?(?:bin|cmd|exe|path)$/, '')
}

/** Words that may be its script: up to the first that cannot be an option's value. */
export function scriptsAfter(words: readonly string[], by: Interpreter): readonly ScriptWord[] {
  const found: ScriptWord[] = []
  // `node --test` takes test names.
  let isSure = !words.includes('--test')
  for (const [index, word] of words.entries()) {
    const before = words[index - 1] ?? ''
    if (word.startsWith('-')) {
      if (word.includes('=')) found.push({ word: word.slice(word.indexOf('=') + 1), by, isSure: true })
    } else {
      found.push({ word, by, isSure })
      if (!before.startsWith('-') || before === '--' || before.includes('=')) return found
      isSure &&= VALUED.has(before)
    }
  }
  return found
}

function moduleAt(word: string, index: number, words: readonly string[]): readonly string[] {
  const before = words[index - 1] ?? ''
  const name = runModule(word, before)
  if (name !== undefined) return [name]
  return MODULE.test(word) && word.includes('.') && !before.startsWith('--') ? [word] : []
}

/** The module of `-m name` or `-mname`. */
const OF_PYTHON =
  'argparse ast asyncio collections contextlib copy csv datetime difflib doctest enum filecmp fnmatch functools glob hashlib importlib inspect io itertools json logging math operator os pathlib pickle pytest random re runpy shutil signal site string subprocess sys tempfile textwrap threading time traceback types typing unittest urllib uuid warnings'.split(
    ' ',
  )

function runModule(word: string, before = ''): string | undefined {
  if (MODULE_FLAG.test(before)) return MODULE.test(word) ? word : undefined
  return GLUED_MODULE.exec(word)?.[1]
}

/** Files that run for `a.b`: a module or package, with its parent packages. The last names may be classes and tests. */
function modulePaths(name: string): readonly string[] {
  const names = name.split('.')
  const ways = names.map((_, at) => names.slice(0, at + 1).join('/'))
  return [`${ways.at(-1)}/__main__.py`, ...ways.flatMap(way => [`${way}.py`, `${way}/__init__.py`])]
}
