import { basename } from 'node:path'
import { BEFORE, LINTERS } from '../domain/looked-at.ts'

/** How a program finds what it is told to run. */
export type Interpreter = 'node' | 'python' | 'other'

/** A word that an interpreter may be told to run. */
export interface ScriptWord {
  readonly word: string
  readonly by: Interpreter
  /** False for a word that is the script only if the one before it belongs to an option. */
  readonly isSure: boolean
}

/**
 * The scripts that a command gives to interpreters, wherever these stand in it (`timeout 9 node x`, `npx tsx x`), and what
 * other programs are told to load first (`mocha -r ./x`).
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

/** The paths, relative to the same folder, at which an interpreter looks for a script. */
export const pathsOf = ({ word, by }: Pick<ScriptWord, 'word' | 'by'>): readonly string[] =>
  WHOLE.test(word) ? [word] : [word, ...ENDINGS[by].map(ending => word + ending)]

/** The modules that Python is told to run, and dotted names that it gets, each as the paths at which Python looks for it. */
export function modulesIn(words: readonly string[]): readonly (readonly string[])[] {
  const python = words.findIndex(word => interpreterOf(word) === 'python')
  const names = python === -1 ? [] : words.slice(python + 1).flatMap(moduleAt)
  const entries = words.flatMap(word => ENTRY_POINT.exec(word)?.[1] ?? [])
  return [...names, ...entries].map(modulePaths)
}

/** Whether a command runs tests: then the files that it names are these. */
export const runsTests = (words: readonly string[]): boolean =>
  words.some(
    (word, index) =>
      TEST_RUNNER.test(basename(word)) || (word === 'test' && TAKES_TEST.test(basename(words[index - 1] ?? ''))),
  )

/** Whether a command runs every file of a folder that it gets, whatever its name. */
export const runsAll = (words: readonly string[]): boolean => words.some(word => RUNS_ALL.test(basename(word)))

/** Whether a command looks at files or builds them, and runs none of them. */
export const worksOn = (words: readonly string[]): boolean => WORKS_ON.test(words.join(' '))

/**
 * The words of a command that may decide what it means: of a linter, a formatter, a checker of types or a builder only what
 * its options load. The files that it gets are the work.
 */
export const decisiveWords = (words: readonly string[]): readonly string[] =>
  worksOn(words) ? words.filter((word, index) => word.includes('=') || LOADED.test(words[index - 1] ?? '')) : words

/** Paths that take the place of a runner: Python looks into the working folder first. */
export const shadowsIn = (words: readonly string[]): readonly string[] =>
  words.flatMap((word, index) => {
    const name = runModule(word, words[index - 1]) ?? ''
    return RUNNERS.has(name) ? [`${name}.py`, `${name}/__init__.py`] : []
  })

/** Names of files that take the place of what Python comes with, in the folder of a script or where Python runs. */
export const shadowedBy = (words: readonly string[]): string | undefined =>
  words.some(word => interpreterOf(word) === 'python' || /^(?:pytest|tox|nox)$/.test(basename(word)))
    ? `{${OF_PYTHON.join(',')}}{.py,/__init__.py}`
    : undefined

/** Whether a word is code that an interpreter before it evaluates. A shell's is read. */
export function isCode(words: readonly string[], index: number): boolean {
  const before = words.slice(0, index).map(word => basename(word))
  const evaluates = before.some(name => NODE.test(name) || PYTHON.test(name) || LANGUAGE.test(name))
  return EVALUATES.test(before.at(-1) ?? '') && evaluates && !before.some(name => SHELL.test(name))
}

/** What a command writes by its options. */
export const outputsOf = (words: readonly string[]): readonly string[] =>
  words.flatMap((word, index) => {
    if (OUTPUT.test(words[index - 1] ?? '')) return word
    const [option = '', value] = word.split('=', 2)
    return value !== undefined && OUTPUT.test(option) ? value : []
  })

const NODE = /^(?:node|nodejs|tsx|ts-node(?:-esm)?|babel-node|vite-node|bun|deno|esno|jiti|nodemon|zx)$/
const PYTHON = /^(?:(?:python|pypy)[\d.]*|uv|coverage)$/
/** Those that begin with `run`, as in `bun run x`. */
const TAKES_RUN = /^(?:bun|deno|uv|coverage)$/
const SHELL = /^(?:ba|da|z|k|a)?sh$/
/** Those that run every file of a folder. */
const RUNS_ALL = /^(?:_?mocha|tape|uvu|jasmine|qunit|bats|prove|run-parts)$/
const TEST_RUNNER =
  /^(?:--test|_?mocha|jest|vitest|ava|tap|tape|jasmine|uvu|qunit|wtr|karma|cypress|playwright|pytest|nose2|unittest|rspec|phpunit|bats|prove|run-parts)$/
/** `test` alone is a program of the shell. */
const TAKES_TEST = /^(?:bun|deno)$/
const BUILDS =
  /(?:esbuild|(?:vue-)?tsc|tsup|tsdown|rollup|rolldown|webpack|rspack|parcel|swc|babel|ncc|microbundle|sass|postcss|py_compile|compileall|cython|g?cc|[gc]\+\+|clang(?:\+\+)?|rustc|javac|kotlinc|swiftc|ghc|protoc)(?:-\d+)?/
const BUILDS_BY_COMMAND =
  /(?:(?:vite|next|astro|bun|go|cargo|zig|nuxt) (?:build|vet|check)|deno (?:check|lint|fmt|bundle|compile)|node --check)/
/** Programs that look at files or build them, and run none of them, where a command begins. */
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
/** The name of a file as it is, or code. */
const WHOLE = /\s|\.(?:[cm]?[jt]sx?|json|node|py|sh)$/
/** Options of interpreters that take the next word. Of others that is not known. */
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

/** How a program of this name finds what it runs; undefined if it is no interpreter. */
export function interpreterOf(word: string): Interpreter | undefined {
  const name = basename(namedIn(word))
  if (NODE.test(name)) return 'node'
  if (PYTHON.test(name)) return 'python'
  return [SHELL, LANGUAGE, OTHER].some(each => each.test(name)) ? 'other' : undefined
}

/** The program that `$PYTHON`, `${NODE_BIN}` or `$(command -v node)` most likely is. */
function namedIn(word: string): string {
  if (!word.startsWith('$') || word.length > 100) return word
  const [, captured, variable = ''] = /^\$(?:\(.*?([\w.-]+)\)|\{?(\w+)\}?)$/.exec(word) ?? []
  return captured ?? variable.toLowerCase().replace(/_?(?:bin|cmd|exe|path)$/, '')
}

/** The words that may be its script: up to the first that cannot be the value of an option. */
export function scriptsAfter(words: readonly string[], by: Interpreter): readonly ScriptWord[] {
  const found: ScriptWord[] = []
  // `node --test` takes names of tests.
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

/** The name of a module, if this word is one for Python. */
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

/** What runs for `a.b`: a module or a package, with the packages around it. The last names may be of classes and tests. */
function modulePaths(name: string): readonly string[] {
  const names = name.split('.')
  const ways = names.map((_, at) => names.slice(0, at + 1).join('/'))
  return [`${ways.at(-1)}/__main__.py`, ...ways.flatMap(way => [`${way}.py`, `${way}/__init__.py`])]
}
