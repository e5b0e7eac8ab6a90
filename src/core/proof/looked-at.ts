interface Parted {
  /** Words that may decide the result. */
  readonly decides: readonly string[]
  /** Files that the program only reads: they are the subject of the check. */
  readonly looked: readonly string[]
}

export const LINTERS: readonly string[] =
  'eslint oxlint biome prettier dprint stylelint standard xo jshint tslint markdownlint markdownlint-cli2 cspell ruff black isort flake8 pylint mypy pyright basedpyright rubocop shellcheck shfmt yamllint rustfmt gofmt'.split(
    ' ',
  )

/** Allowed before a program: variables, package managers and the like, and its folder. */
export const BEFORE =
  /^(?:\w+=\S* |(?:npx|bunx|pnpx|uvx)(?: -\S+)* |(?:pnpm|yarn) (?:exec |dlx )?|npm exec (?:-- )?|(?:uv|poetry|pipenv) run |python[\d.]* -m )*(?:\S*\/)?/

const NOTHING = /^\b$/
/** Linter options whose next word is loaded or excluded. */
const SETTINGS =
  /^(?:-[cfipr]|--(?!no-|ignore-missing)[\w-]*(?:config|rc|rule|plugin|project|parser|resolve|format|ignore|settings|require|import|loader|baseline|suppress|custom|syntax|schema|exclude|path|file|dir)[\w-]*)$/

/** Programs that only read their files, with the options that do more with the next word. */
const LOOKS: ReadonlyMap<string, RegExp> = new Map([
  ...'test [ ls stat wc head tail py_compile'.split(' ').map(name => [name, NOTHING] as const),
  ...['node --check', 'node -c'].map(name => [name, NOTHING] as const),
  ...'grep egrep fgrep rg'
    .split(' ')
    .map(name => [name, /^(?:-\w*f|--(?:file|pre|ignore-file|exclude-from))$/] as const),
  ...[...LINTERS, 'tsc', 'vue-tsc'].map(name => [name, SETTINGS] as const),
  // `-c` means check here.
  ['prettier', /^--(?:config|ignore-path|plugin|parser|plugin-search-dir)$/],
])

/** If the program does more than read files, all its words decide. */
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
  // A Python module is no program.
  return name === 'py_compile' && start.at(-2) !== '-m'
    ? undefined
    : (LOOKS.get(name) ?? LOOKS.get(`${name} ${rest[0]}`))
}

/** True for an installed program. The name of a workspace script says nothing. */
const isTool = (program: string): boolean =>
  !program.includes('/') ||
  program.startsWith('/') ||
  /(?:^|\/)(?:node_modules\/\.bin|\.?venv\/bin|vendor\/bin)\//.test(program)

const goesElsewhere = (run: readonly string[], command: readonly string[]): boolean =>
  run.slice(0, run.length - command.length).some(word => /^(?:-C|--chdir)/.test(word))

/**
 * True if a command obviously ends the same whatever was done. A courtesy only: commands that it misses pass before the
 * work, and so prove nothing.
 */
export const provesNothing = (run: readonly string[]): boolean => NO_OPS.has(nameOf(withoutWrappers(run)[0] ?? ''))

const NO_OPS: ReadonlySet<string> = new Set(['', ':', 'echo', 'exit', 'false', 'printf', 'pwd', 'set', 'sleep', 'true'])

/** Programs that run another one, and those of their options that take the next word. */
const WRAPPERS: ReadonlyMap<string, readonly string[]> = new Map([
  ['builtin', []],
  ['command', []],
  ['env', ['-u', '--unset', '-C', '--chdir']],
  ['exec', ['-a']],
  ['nice', ['-n', '--adjustment']],
  ['nohup', []],
  ['setsid', []],
  ['time', []],
  ['timeout', ['-k', '--kill-after', '-s', '--signal']],
])
/** Words before the command in a wrapper: an option, a variable, a duration. */
const SETTING = /^-|^\w+=|^\d+(\.\d+)?[smhd]?$/

function withoutWrappers(run: readonly string[]): readonly string[] {
  const [wrapper = '', ...words] = run
  const valued = WRAPPERS.get(nameOf(wrapper))
  if (!valued) return run
  let at = 0
  while (SETTING.test(words[at] ?? '')) at += valued.includes(words[at] ?? '') ? 2 : 1
  return withoutWrappers(words.slice(at))
}

/** The name of a program, also with a system folder in front. A path elsewhere may lead to anything. */
const nameOf = (program: string): string => program.replace(/^(\/usr(\/local)?)?\/bin\//, '')
