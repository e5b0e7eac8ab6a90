import { withoutWrappers } from './proves-nothing.ts'

/** What the words of a command are to it. */
interface Parted {
  /** Those that may decide what it means. */
  readonly decides: readonly string[]
  /** Those that may be files which its program only looks at: they are what is checked, as the path of a `file` check is. */
  readonly looked: readonly string[]
}

/** Linters, formatters and checkers of types. */
export const LINTERS: readonly string[] =
  'eslint oxlint biome prettier dprint stylelint standard xo jshint tslint markdownlint markdownlint-cli2 cspell ruff black isort flake8 pylint mypy pyright basedpyright rubocop shellcheck shfmt yamllint rustfmt gofmt'.split(
    ' ',
  )

/** What may stand before a program: variables, package managers and the like, and its folder. */
export const BEFORE =
  /^(?:\w+=\S* |(?:npx|bunx|pnpx|uvx)(?: -\S+)* |(?:pnpm|yarn) (?:exec |dlx )?|npm exec (?:-- )?|(?:uv|poetry|pipenv) run |python[\d.]* -m )*(?:\S*\/)?/

/** Nothing that the next word could be. */
const NOTHING = /^\b$/
/** Options of linters that load the next word, or tell what to leave out. */
const SETTINGS =
  /^(?:-[cfipr]|--(?!no-|ignore-missing)[\w-]*(?:config|rc|rule|plugin|project|parser|resolve|format|ignore|settings|require|import|loader|baseline|suppress|custom|syntax|schema|exclude|path|file|dir)[\w-]*)$/

/** Programs that only look at the files they get, each with those of its options that do more with the next word. */
const LOOKS: ReadonlyMap<string, RegExp> = new Map([
  ...'test [ ls stat wc head tail py_compile'.split(' ').map(name => [name, NOTHING] as const),
  ...['node --check', 'node -c'].map(name => [name, NOTHING] as const),
  ...'grep egrep fgrep rg'
    .split(' ')
    .map(name => [name, /^(?:-\w*f|--(?:file|pre|ignore-file|exclude-from))$/] as const),
  ...[...LINTERS, 'tsc', 'vue-tsc'].map(name => [name, SETTINGS] as const),
  // Its `-c` checks.
  ['prettier', /^--(?:config|ignore-path|plugin|parser|plugin-search-dir)$/],
])

/** Parts the words of a command; all of them decide if its program does more than look at files. */
export function partedWords(run: readonly string[]): Parted {
  const command = withoutWrappers(run)
  const at = command.join(' ').match(BEFORE)?.[0].split(' ').length ?? 1
  const [start, rest] = [command.slice(0, at), command.slice(at)]
  const loads = isTool(start.at(-1) ?? '') && !goesElsewhere(run, command) ? loadsOf(start, rest) : undefined
  if (!loads) return { decides: run, looked: [] }
  const isLooked = rest.map((word, index) => !word.startsWith('-') && !loads.test(rest[index - 1] ?? ''))
  return {
    decides: [...run.slice(0, run.length - rest.length), ...rest.filter((_, index) => !isLooked[index])],
    looked: rest.filter((_, index) => isLooked[index]),
  }
}

function loadsOf(start: readonly string[], rest: readonly string[]): RegExp | undefined {
  const name = (start.at(-1) ?? '').replace(/^.*\//, '').replace(/(?<=.)@.*$/, '')
  // A module of Python is no program.
  return name === 'py_compile' && start.at(-2) !== '-m'
    ? undefined
    : (LOOKS.get(name) ?? LOOKS.get(`${name} ${rest[0]}`))
}

/** Whether a program is one that was installed: of a script of the workspace its name says nothing. */
const isTool = (program: string): boolean =>
  !program.includes('/') ||
  program.startsWith('/') ||
  /(?:^|\/)(?:node_modules\/\.bin|\.?venv\/bin|vendor\/bin)\//.test(program)

/** Whether what stands before a command has it run in another folder. */
const goesElsewhere = (run: readonly string[], command: readonly string[]): boolean =>
  run.slice(0, run.length - command.length).some(word => /^(?:-C|--chdir)/.test(word))
