import { createHash, hash } from 'node:crypto'
import { basename, resolve } from 'node:path'
import type { RunnableSpec, WithPrograms } from '../core/proof/check.ts'
import type { FileChange } from '../core/proof/file-change.ts'
import type { Scope, Scopes } from '../core/proof/scope.ts'
import { onlyReads } from '../core/proof/check-text.ts'
import { asFolder, globsOf, literal } from './files.ts'
import { RULES } from './git.ts'
import { filesIn, type PlanRecord } from './record.ts'
import { pathFrom, realOf } from './workspace.ts'

/** Folders where a step without a scope may change files. */
export const WORK_FOLDERS: readonly string[] = [
  '{src,source,sources,lib,app,pages,components,public,include,internal,cmd,pkg,doc,docs}/**',
  '{packages,apps,crates,libs,modules}/*/{src,source,sources,lib,app,pages,components,public,include,docs}/**',
]

/** Files that checks name, besides those that git lists and the table protects. */
export interface Covers {
  /** Files and folders among the words of commands. They need not exist. */
  readonly words: readonly string[]
  readonly globs: readonly string[]
}

/** The files of a workspace at one moment: path to a hash. */
export interface SeenFiles {
  readonly files: ReadonlyMap<string, string>
  /** Change with every write, even if the content is the same. */
  readonly stamps: ReadonlyMap<string, string>
  /** The `.gitignore` files that hide protected files as build output. */
  readonly rules: ReadonlySet<string>
}

export function coversOf(checks: readonly WithPrograms<RunnableSpec>[], root: string): Covers {
  const cwds = checks.flatMap(check => (check.kind === 'command' ? (check.cwd ?? []) : []))
  return {
    words: [...new Set(checks.flatMap(check => wordsOf(check, root)))].sort(),
    globs: [
      ...new Set([
        ...cwds.map(cwd => `${literal(pathFrom(root, resolve(root, cwd)) ?? '')}/node_modules/.bin/**`),
        ...checks.flatMap(check => (check.kind === 'unchanged' ? check.paths : [])),
      ]),
    ].sort(),
  }
}

export const NO_COVERS: Covers = { words: [], globs: [] }

export const coversBoth = (a: Covers, b: Covers): Covers => ({
  words: [...new Set([...a.words, ...b.words])],
  globs: [...new Set([...a.globs, ...b.globs])],
})

/** Globs and paths to watch for these covers. A path with a trailing slash is a folder. */
export const watchedBy = ({ words, globs }: Covers) => ({
  globs: [...globs, `**/${RULES}`, ...words.map(word => `${literal(word)}/**`)],
  paths: words.flatMap(word => [word, asFolder(word)]),
})

export interface Compared {
  readonly check: WithPrograms<RunnableSpec>
  readonly root: string
  /** Globs of the settings. */
  readonly protect: readonly string[]
  readonly before: SeenFiles
  readonly after: SeenFiles
  /** There were too many files: only protected ones and those that checks name were seen. */
  readonly isPartial: boolean
}

/** Files that changed since the record, or during this run, and that the step may not change without a person's word. */
export function changesOutOfScope(
  { check, root, protect, before, after, isPartial }: Compared,
  record: PlanRecord,
  { own, begun, isOfPlan }: Scopes,
): readonly FileChange[] {
  const isOwn = matchesAny(own.flatMap(({ isApproved, globs }) => (isApproved && globs ? [globs] : [])))
  const isBegun = begun.map(changedBy)
  const isInTable = globsOf([...DEFAULT_PROTECT, ...protect, ...coversOf([check], root).globs]).matches
  const isWord = isNamedBy(wordsOf(check, root))
  const isChecked = checkedBy(check)
  const written = new Set(record.written)
  const touched = new Set([...differing(before.files, after.files), ...differing(before.stamps, after.stamps)])
  const recorded = filesIn(record)
  const changes: FileChange[] = []
  for (const path of [...new Set([...touched, ...differing(recorded, before.files)])].sort()) {
    const isProtected = isInTable(path) || before.rules.has(path) || after.rules.has(path)
    // The check may rewrite what it wrote at first. A protected file counts as that only if this very run wrote it.
    const isOutput = written.has(path) && (touched.has(path) || !isProtected)
    if (isChecked(path) || isOutput || CACHES.test(path) || (basename(path) === RULES && !isProtected)) continue
    const is = kindOf(path, isProtected)
    const now = after.files.get(path)
    if (is) changes.push({ path, is, ...(now === undefined ? {} : { hash: now }) })
  }
  return changes

  function kindOf(path: string, isProtected: boolean): FileChange['is'] | undefined {
    if (isProtected || isWord(path)) {
      if (!isOwn(path)) return 'protected'
      // A new file among the words is the work that the check looks for.
      return isOfPlan || !(isProtected || recorded.has(path)) ? undefined : 'own'
    }
    // A check of the whole plan has no step that a person could be asked about.
    return isPartial || isOfPlan || isBegun.some(matches => matches(path)) ? undefined : 'outside'
  }
}

/** Files outside that are as a newer commit has them count as one change. */
export function fromGit(
  changes: readonly FileChange[],
  commit: string,
  isCommitted: (change: FileChange) => boolean,
): readonly FileChange[] {
  const pulled = changes.filter(change => change.is === 'outside' && isCommitted(change))
  if (pulled.length === 0) return changes
  const digest = createHash('sha256').update(JSON.stringify(pulled)).digest('hex')
  const rest = changes.filter(change => !pulled.includes(change))
  return [...rest, { path: `git:${commit}`, is: 'git', hash: digest, files: pulled.length }]
}

/** Stands for changes that cannot be told. A person accepts the workspace as it is, or only this run. */
export const unknownChange = (what: string, workspaceNow: string): FileChange => ({
  path: what,
  is: 'protected',
  hash: hash('sha256', workspaceNow),
})

/** Bytecode, which runs neither write nor read in the workspace. */
const CACHES = /(?:^|\/)__pycache__\//

/** A scope that no person approved only narrows the work folders. */
function changedBy({ isApproved, globs }: Scope): (path: string) => boolean {
  if (isApproved && globs) return globsOf(globs).matches
  const isNamed = globs ? globsOf(globs).matches : () => true
  return path => isWork(path) && isNamed(path)
}

const isWork = globsOf(WORK_FOLDERS).matches

function matchesAny(lists: readonly (readonly string[])[]): (path: string) => boolean {
  const { matches } = globsOf(lists.flat())
  return matches
}

/** Words of a command that may be files or folders of the workspace, except those that its program only reads. */
function wordsOf(check: WithPrograms, root: string): readonly string[] {
  if (check.kind !== 'command') return []
  const cwd = resolve(root, check.cwd ?? '.')
  const [program = '', ...given] = check.run
  const words = onlyReads(check.run) ? [] : given
  const programs = (check.programs ?? []).flatMap(each => (each ? [each.path, each.file] : []))
  return (
    [
      ...(program.includes('/') ? [program] : []),
      ...programs,
      ...words.flatMap(word => [word, word.slice(word.indexOf('=') + 1)]),
    ]
      .map(word => resolve(cwd, word))
      // A link and the folder that it leads to.
      .flatMap(path => [path, realOf(path)])
      .flatMap(path => pathFrom(root, path) || [])
  )
}

/**
 * Whether a path is one of the words, or in a folder that one names. A work folder that a command names is the work
 * itself.
 */
function isNamedBy(words: readonly string[]): (path: string) => boolean {
  const folders = words.filter(word => !isWork(`${word}/file`))
  return path =>
    words.some(word => path === word || path === asFolder(word)) || folders.some(word => path.startsWith(`${word}/`))
}

/**
 * The globs of a model's row, apart from those that name protected files or words of its check. A glob names a file if
 * it is about that file: `src/**` names no test, although there may be tests in `src`.
 */
export function partedScope(
  globs: readonly string[],
  check: WithPrograms | undefined,
  root: string,
  protect: readonly string[],
): { readonly scope?: readonly string[]; readonly asks_scope?: readonly string[] } {
  const table = [...DEFAULT_PROTECT, ...protect]
  const isProtected = globsOf(table).matches
  const named = [...table.flatMap(samplesOf), ...(check ? wordsOf(check, root) : [])]
  // What else a pattern may name is not worked out.
  const isHard = (glob: string): boolean => /[?[\]()!]/.test(glob)
  const asks = globs.filter(
    glob => isHard(glob) || samplesOf(glob).some(isProtected) || named.some(globsOf([glob]).matches),
  )
  const scope = globs.filter(glob => !asks.includes(glob))
  return { ...(scope.length > 0 ? { scope } : {}), ...(asks.length > 0 ? { asks_scope: asks } : {}) }
}

/** Paths that a glob is about: one for each alternative, without the folders that `**` stands for. */
function samplesOf(glob: string): readonly string[] {
  const [, before = '', choices, after = ''] = /^(.*?)\{([^{}]*)\}(.*)$/s.exec(glob) ?? []
  if (choices !== undefined) return choices.split(',').flatMap(each => samplesOf(before + each + after))
  return [glob.replaceAll('**/', '').replaceAll(/\*+/g, 'x')]
}

/** Files that a check tests; it passes or fails by them. */
function checkedBy(check: RunnableSpec): (path: string) => boolean {
  if (check.kind === 'file') return path => path === pathFrom('/', resolve('/', check.path))
  return check.kind === 'unchanged' ? globsOf(check.paths).matches : () => false
}

export const differing = (before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): readonly string[] =>
  [...new Set([...before.keys(), ...after.keys()])].filter(path => before.get(path) !== after.get(path))

/** Everything in a test folder is protected. */
const TEST_FOLDERS =
  '**/{test,tests,spec,specs,Test,Tests,*.Tests,*[a-z]Test,*Tests,testdata,fixtures,__fixtures__,golden,goldens,expected,e2e,cypress}/**'
const LOCKFILES: readonly string[] = [
  '**/{package-lock,npm-shrinkwrap}.json',
  '**/{yarn,bun,deno,Cargo,poetry,uv,Pipfile,Gemfile,composer}.lock',
  '**/{pnpm-lock.yaml,bun.lockb,go.sum}',
]
const CODE =
  '{c,cc,cpp,cxx,h,hpp,m,mm,rs,go,zig,nim,js,cjs,mjs,jsx,ts,cts,mts,tsx,py,rb,php,pl,pm,lua,sh,bash,zsh,fish,ps1,r,R,jl,java,kt,kts,scala,groovy,cs,fs,vb,swift,dart,ex,exs,erl,hs,ml,clj,cljs,cljc,lisp,el,f90,pas,sql}'
/** Files that decide what checks mean: a step may change them only if its own scope says so. */
export const DEFAULT_PROTECT: readonly string[] = [
  TEST_FOLDERS,
  '**/*.{test,spec,test-d,e2e,e2e-spec,cy,approved,verified}.*',
  '**/*.{snap,golden,bats,feature,robot,t}',
  '**/{,*[._-]}{expected,golden}{,[_-]*}{,.{txt,json,jsonl,csv,tsv,xml,html,svg,md,yaml,yml,toml,out,log,sql,png}}',
  '**/*{Test,Tests,Spec}.{java,kt,kts,scala,groovy,cs,fs,php,swift}',
  '**/*[a-z]IT.{java,kt,groovy,scala}',
  '**/test{,ing,s}{,-,_}{util,utils,helper,helpers,support,kit,setup,data,case,cases}{.*,/**}',
  '**/setup{,-,_}{T,t}ests.*',
  '**/{__tests__,__mocks__,__*snapshots__,__*screenshots__,*-snapshots}/**',
  '**/{step_definitions,step-definitions}/**',
  '{features/{steps,support}/**,**/features/steps/*.py,**/features/environment.py}',
  '**/snapshots/**/*.{json,txt,yaml,yml,xml,html,md,csv,png,svg}',
  '**/{test*.py,*_test.*,*_spec.rb,*-test.{js,cjs,mjs,jsx,ts,cts,mts,tsx}}',
  `**/{test,tests,spec,specs,test[_-]*}.${CODE}`,
  '**/*.config.*',
  '**/.{babelrc,c8rc,mocharc,nycrc,swcrc,taprc,eslintrc,eslintignore,prettierrc,flake8,coveragerc,rspec,bazelrc}*',
  '**/.{stylelintrc,oxlintrc,jshintrc,pylintrc,markdownlint,golangci,rubocop,clang-tidy,prettierignore,stylelintignore,editorconfig}*',
  '**/.*{lint,hint,check,spell}{,rc,ignore}{,.*}',
  '**/{,*[._-]}{baseline,suppressions}{,[._-]*}.{json,xml,neon,txt,yaml,yml,toml}',
  '**/{.betterer.results,.secrets.baseline}',
  '**/{,.}{cucumber,detekt,lighthouserc,nightwatch,phpstan,psalm,size-limit,dependency-cruiser}.{js,cjs,mjs,ts,json,yaml,yml,neon,xml}{,.dist}',
  '**/{pyrightconfig.json,.mypy.ini,pylintrc,analysis_options.yaml,behave.ini,*.runsettings,{,.,_}typos.toml}',
  '**/{clippy,.clippy,rustfmt,.rustfmt,dprint,tslint,cspell,import_map,.tool-versions,mise,.mise}{,.toml,.json}',
  '**/{*.conf.*js,*.conf.ts,biome.json,biome.jsonc,turbo.json,nx.json,.pnp.*js}',
  '**/{tsconfig,jsconfig}*.json',
  '**/{vitest,jest}.{workspace,setup}.*',
  '**/package.json',
  ...LOCKFILES,
  '**/{Cargo.toml,Gemfile,Pipfile,composer.json,deno.json,deno.jsonc,go.mod,go.work,pyproject.toml,setup.cfg}',
  '**/{pom.xml,build.gradle*,settings.gradle*,gradle.properties,CMakeLists.txt,mix.exs,phpunit.xml*,*.csproj}',
  '**/{.cargo,.mvn,.config}/**',
  '**/{rust-toolchain*,mypy.ini,ruff.toml,.ruff.toml}',
  '**/{.npmrc,.yarnrc*,.pnpmfile.*js,pnpm-workspace.yaml,bunfig.toml,.env*}',
  '**/{Makefile,GNUmakefile,makefile,justfile,Justfile,Rakefile,Taskfile.y*ml,noxfile.py,tox.ini}',
  '**/{,.}pytest.{ini,toml}',
  '**/{conftest,sitecustomize,usercustomize}.py',
  '{.github/workflows,.circleci,.buildkite}/**',
  '**/{.gitlab-ci*.yml,.travis.yml,azure-pipelines*.yml,Jenkinsfile}',
  'node_modules/.bin/**',
  '{.venv,venv}/bin/**',
]
