import { dirname, extname, join, resolve } from 'node:path'
import { partedWords } from '../domain/looked-at.ts'
import { comparedIn, compares } from './compared-words.ts'
import { asFolder } from './files.ts'
import { literal } from './globs.ts'
import { importsIn, isAmongScripts, isSettingsFor, loadedBy } from './loaded-files.ts'
import { NamedTexts } from './named-texts.ts'
import { modulePathsFrom, ownPrograms } from './npm-programs.ts'
import {
  type ScriptWord,
  decisiveWords,
  interpreterOf,
  isCode,
  modulesIn,
  outputsOf,
  pathsOf,
  scriptWords,
  runsAll,
  runsTests,
  shadowedBy,
  shadowsIn,
  worksOn,
} from './run-words.ts'
import { commandsOf, pathsSetIn, programAt, type ShellCommand, startersIn, unrolled, withValues } from './shell-text.ts'
import { TextReader } from './text-reader.ts'
import { assignedIn, findersFor, startsUnnamed } from './unnamed-starts.ts'
import { isWork, isWorkInPackage } from './work-folders.ts'
import { foldersUp, isExecutable, isFile, isFolder, pathFrom } from './workspace.ts'

export interface Start {
  readonly root: string
  readonly cwd: string
  readonly run: readonly string[]
}

/** Files that a command may start. Paths are in the workspace and need not exist. */
export interface Started {
  readonly files: readonly string[]
  /** Paths where any new file would be started instead of the intended one. */
  readonly places: readonly string[]
  /** Globs for programs that package managers prefer, and for files started by a pattern: new ones are guarded, too. */
  readonly globs: readonly string[]
  /** Folders that only the workspace's scripts understand. */
  readonly folders: readonly string[]
  /** Whether it starts files that cannot be known before it runs. */
  readonly isUnknown: boolean
  /** Whether an existing file is started, or one that would now shadow it. */
  readonly wasThere: (path: string, before: { has(path: string): boolean }) => boolean
}

/**
 * Files that a command may start without naming them: those that an interpreter finds by a shorter name, and those
 * started by the scripts, tasks and shell files that the command runs. Interpreters are recognized anywhere in a
 * command, so that programs before them (`timeout`, `npx`, `uv run`) need not be known. Includes the files that these
 * compare with; `isExpected` recognizes some by name.
 */
export function startedBy({ root, cwd, run }: Start, isExpected: (path: string) => boolean = () => false): Started {
  const search = new Search(root, isExpected)
  search.read([{ words: run, isSubject: false }], { folders: [cwd], isLoose: false, isOwn: true })
  return search.readOn()
}

interface Setting {
  readonly folders: readonly string[]
  /** Whether only what they start counts, not every file that they name. */
  readonly isLoose: boolean
  /** Whether they are the check itself. */
  readonly isOwn?: boolean
  readonly made?: readonly string[]
  readonly isComparing?: boolean
  readonly assigned?: ReadonlySet<string>
  /** Functions that start their arguments. */
  readonly starters?: ReadonlySet<string>
}

interface Text extends Setting {
  readonly text: string
}

/** Texts read per command, because scripts may name each other. */
const MAX_TEXTS = 1_000
/** Characters per text. People do not review longer ones either. */
const MAX_LENGTH = 32_000
/** Characters of all texts. */
const MAX_READ = 1_000_000
const MAX_FOLDERS = 16
/** Options with patterns of files to search or measure. */
const PATTERN = /^--(?:include|exclude|ignore)\b/
const MOVES = /^(?:cd|pushd|-C|--(?:prefix|cwd|dir|directory|chdir))$/
const LEFT_OUT = /^(?:-not|!|-exclude)$/
const SHELL_FILE = /^#!.*\b(?:ba|da|z|k|a)?sh\b/

class Search {
  readonly #root: string
  readonly #reader = new TextReader()
  readonly #named: NamedTexts
  /** Paths that shadow each other, by path. */
  readonly #files = new Map<string, Set<string>>()
  readonly #places = new Set<string>()
  readonly #globs = new Set<string>()
  readonly #folders = new Set<string>()
  readonly #texts: Text[] = []
  readonly #seen = new Set<string>()
  readonly #imported = new Set<string>()
  readonly #configured = new Set<string>()
  readonly #isExpected: (path: string) => boolean
  #isUnknown = false
  #read = 0

  constructor(root: string, isExpected: (path: string) => boolean) {
    this.#root = root
    this.#isExpected = isExpected
    this.#named = new NamedTexts(root, this.#reader)
  }

  readOn(): Started {
    for (let next = this.#texts.pop(); next; next = this.#texts.pop()) {
      const text = withValues(unrolled(next.text))
      const assigned = new Set([...(next.assigned ?? []), ...assignedIn(text)])
      this.read(commandsOf(text), { ...next, assigned, starters: startersIn(text) })
    }
    return {
      files: [...this.#files.keys()],
      places: [...this.#places],
      globs: [...this.#globs],
      folders: [...this.#folders],
      isUnknown: this.#isUnknown,
      wasThere: (path, before) => [...(this.#files.get(path) ?? [])].some(each => before.has(each)),
    }
  }

  read(commands: readonly ShellCommand[], setting: Setting): void {
    const outputs = commands.flatMap(({ words, makes = [] }) => [...outputsOf(words), ...makes])
    const isComparing = setting.isComparing === true || commands.some(({ words }) => compares(words))
    const hasSubjects = setting.isLoose || (isComparing && !setting.isOwn)
    let isFound = false
    const done = new Set<string>()
    const made = new Set([...outputs, ...(setting.made ?? [])].map(path => join(path)))
    const searched = commands.flatMap(({ words }) => pathsSetIn(words))
    let moved = setting.folders
    let folders = moved
    for (const command of commands) {
      const words = command.words.filter(word => !made.has(join(word)) && !PATTERN.test(word))
      const sides = words.flatMap(sidesOf)
      moved = foldersFrom(
        moved,
        sides.filter((_, index) => MOVES.test(sides[index - 1] ?? '')),
      )
      const key = JSON.stringify([command.isSubject, command.isFed, words, moved])
      if (done.has(key)) continue
      done.add(key)
      for (const folder of moved) this.#addBins(folder)
      folders = foldersFrom([...moved, ...folders], sides.filter(isPath), isFolder)
      if (isComparing && !setting.isOwn) this.#addCompared({ ...command, words }, moved)
      if (hasSubjects && command.isSubject) continue
      const decisive = setting.isOwn ? partedWords(words).decides : decisiveWords(words)
      this.#addNamed(decisive.flatMap(sidesOf), moved, setting, runsTests(sides))
      this.#addPrograms(words, moved)
      this.#addSearched(words, moved, searched)
      this.#addConfigured(words, folders)
      if (setting.isLoose) this.#addExecutables(sides, folders)
      this.#addStarted(decisive, { ...setting, folders: [...folders, ...this.#named.membersIn(words, folders)] })
      this.#addShadows(words, moved)
      this.#addPatterns(words, moved)
      this.#addGiven(setting.isOwn ? decisive : words, moved, setting)
      if (!isFound && startsUnnamed(command, setting.assigned ?? new Set())) {
        this.#addFound([command, ...findersFor(commands, command)], moved)
        // Captured output is the same for all commands.
        isFound = command.isFed !== true
      }
      this.#addTexts(command.words, { ...setting, folders, isComparing })
    }
  }

  /** Adds files that may be expected output, in a text that compares. */
  #addCompared(command: ShellCommand, folders: readonly string[]): void {
    const { words, areSides } = comparedIn(command)
    for (const folder of folders) {
      this.#addMatching(words, folder)
      const names = words.filter(isPlainName).map(word => resolve(folder, word))
      const paths = names.filter(path => this.#isData(path, folder))
      const expected = areSides ? paths.filter(path => this.#isKnownAsExpected(path)) : []
      this.#addData(expected.length > 0 ? expected : paths, folder)
    }
  }

  /** Adds arguments of a workspace script: only the script knows what they mean. */
  #addGiven(words: readonly string[], folders: readonly string[], { isOwn = false, starters }: Setting): void {
    const scripts = scriptWords(words).filter(({ isSure }) => isSure)
    const program = programAt(words)
    for (const folder of folders) {
      const script = scripts.find(each => this.#pathsFrom(folder, each).some(path => this.#isOwnFile(path)))
      const name = words[program] ?? ''
      const isProgram = starters?.has(name) === true || (name.includes('/') && this.#isOwnFile(resolve(folder, name)))
      const at = isProgram ? program : script ? words.indexOf(script.word) : words.length
      const given = decisiveWords(words.slice(at + 1))
        .flatMap(sidesOf)
        .filter(isPlainName)
      const paths = given.map(word => resolve(folder, word)).filter(path => this.#isData(path, folder))
      // Files among the check's own words are guarded anyway.
      this.#addData(isOwn ? paths.filter(path => !isFile(path)) : paths, folder)
    }
  }

  #isOwnFile(path: string): boolean {
    const way = pathFrom(this.#root, path)
    return way !== undefined && !way.split('/').includes('node_modules') && isFile(path)
  }

  /** Adds files that other commands find for one to start; if those cannot be determined, the start is unknown. */
  #addFound(commands: readonly ShellCommand[], folders: readonly string[]): void {
    const found = commands.map(({ words }) => folders.map(folder => this.#addFoundBy(words, folder)))
    if (!found.flat().includes(true)) this.#isUnknown = true
  }

  #addFoundBy(words: readonly string[], folder: string): boolean {
    const paths = words.filter(isPath).map(word => resolve(folder, word))
    const data = paths.filter(path => (isFile(path) || isFolder(path)) && this.#isData(path, folder))
    this.#addData(data, folder)
    for (const path of data) {
      const text = this.#reader.text(path)
      if (text !== undefined) this.#push({ text, folders: [folder, dirname(path)], isLoose: false })
    }
    const patterns = words.filter((word, index) => word.includes('*') && !LEFT_OUT.test(words[index - 2] ?? ''))
    const bases = words.filter(word => !word.includes('*') && isFolder(resolve(folder, word)))
    for (const pattern of patterns) {
      const isName = !pattern.includes('/')
      for (const base of isName && bases.length > 0 ? bases : ['.']) {
        const way = pathFrom(this.#root, resolve(folder, base))
        const prefix = way === undefined || way === '' ? '' : `${literal(way)}/`
        if (way !== undefined) this.#globs.add(`${prefix}${isName && bases.length > 0 ? '**/' : ''}${pattern}`)
      }
    }
    return data.length > 0 || patterns.length > 0 || words.some(word => /^\w+:\/\//.test(word))
  }

  /** Whether a path is neither source, output nor a parent folder. It need not exist: a check may pass without it. */
  #isData(path: string, folder: string): boolean {
    const way = pathFrom(this.#root, path)
    if (!way || pathFrom(path, folder) !== undefined) return false
    return isFolder(path) ? !isWork(way) : !this.#isSource(path, folder)
  }

  #isKnownAsExpected(path: string): boolean {
    const way = pathFrom(this.#root, path) ?? ''
    return this.#isExpected(way) || this.#isExpected(`${way}/x`)
  }

  /** Adds files, and everything in folders. A missing path may have been either. */
  #addData(paths: readonly string[], folder: string): void {
    for (const path of paths.filter(each => !isFolder(each))) this.#add([path], folder)
    for (const path of paths.filter(each => !isFile(each)))
      this.#folders.add(`${literal(pathFrom(this.#root, path) ?? '')}/**`)
  }

  /**
   * Adds named files. Source files, and files in a loose text, only if a test runner gets them: others are the work.
   */
  #addNamed(words: readonly string[], folders: readonly string[], { isLoose, isOwn }: Setting, isRun: boolean): void {
    if (isLoose && !isRun) return
    for (const folder of folders) {
      for (const path of words.map(word => resolve(folder, word))) {
        const isSource = !isOwn && (isLoose || !isRun) && this.#isSource(path, folder)
        if (!isSource) this.#add([path], folder)
      }
    }
  }

  /** Adds programs of the workspace's own packages, anywhere in the words: `npx x`, `timeout 9 x`. */
  #addPrograms(words: readonly string[], folders: readonly string[]): void {
    for (const folder of folders) for (const word of words) this.#add(ownPrograms(this.#root, folder, word), folder)
  }

  /** Adds programs in folders that the text puts into its search path, including new ones. */
  #addSearched(words: readonly string[], folders: readonly string[], searched: readonly string[]): void {
    const program = words[programAt(words)] ?? ''
    if (!/^[\w.-]+$/.test(program)) return
    const paths = folders.flatMap(folder => searched.map(path => resolve(folder, path, program)))
    this.#addPlaces(paths.filter(path => !path.includes('node_modules')))
    for (const path of paths) this.#add([path], dirname(path))
  }

  /** Adds files loaded by a command's settings, in the folders and their parents, and by its options. */
  #addConfigured(words: readonly string[], folders: readonly string[]): void {
    const isSettings = isSettingsFor(words)
    for (const folder of new Set(folders.flatMap(each => foldersUp(this.#root, each))))
      for (const file of this.#reader.entries(folder).filter(isSettings)) this.#addSettings(file)
    const named = worksOn(words) ? decisiveWords(words).flatMap(sidesOf) : []
    for (const file of folders.flatMap(folder => named.map(word => resolve(folder, word))).filter(isFile))
      this.#addSettings(file)
  }

  /** Adds source, too, if settings name it as theirs; its imports may be the work. */
  #addSettings(file: string): void {
    if (this.#configured.has(file) || this.#configured.size >= MAX_TEXTS) return
    this.#configured.add(file)
    const { settings, imports } = loadedBy(file, this.#reader.text(file) ?? '')
    const folder = dirname(file)
    const isSettings = (path: string): boolean => !isWorkInPackage(dirname(pathFrom(this.#root, path) ?? ''))
    for (const paths of [
      ...settings.map(word => modulePathsFrom(this.#root, folder, word)),
      ...imports.map(word => modulePathsFrom(this.#root, folder, word).filter(isSettings)),
    ]) {
      this.#add(paths, folder)
      for (const path of paths.filter(each => pathFrom(this.#root, each) && isFile(each))) this.#addSettings(path)
    }
  }

  /** Adds the scripts that a script imports, not the source that it may check. */
  #addImports(path: string): void {
    if (this.#imported.has(path) || this.#imported.size >= MAX_TEXTS) return
    this.#imported.add(path)
    const text = isFile(path) ? this.#reader.text(path) : undefined
    for (const paths of text === undefined ? [] : importsIn(path, text)) {
      const isScript = (each: string): boolean => isAmongScripts(pathFrom(this.#root, each) ?? '')
      this.#add(paths.filter(isScript), dirname(path))
    }
  }

  #addStarted(words: readonly string[], { folders, isLoose, isOwn = false }: Setting): void {
    for (const folder of folders) {
      for (const script of scriptWords(words)) {
        const isLeftOut = (path: string): boolean => (isLoose || !script.isSure) && this.#isSource(path, folder)
        const paths = this.#pathsFrom(folder, script).filter(path => !isLeftOut(path))
        this.#add(paths, folder)
        if (isOwn && script.by !== 'other') this.#addPlaces(paths)
      }
      for (const paths of modulesIn(words)) {
        const found = paths.map(path => resolve(folder, path))
        this.#add(isLoose ? found.filter(path => !this.#isSource(path, folder)) : found, folder)
      }
    }
  }

  /** Adds files that a loop or an interpreter gets by a pattern, in a dedicated folder. */
  #addPatterns(words: readonly string[], folders: readonly string[]): void {
    this.#addAll(words, folders)
    const isAll = words[0] === 'for' || words.includes(':::') || runsTests(words)
    const patterns = isAll ? words : scriptWords(words).map(({ word }) => word)
    for (const folder of folders) this.#addMatching(patterns, folder)
  }

  #addAll(words: readonly string[], folders: readonly string[]): void {
    for (const folder of runsAll(words) ? folders : []) {
      const paths = words.map(word => resolve(folder, word))
      this.#addData(
        paths.filter(path => isFolder(path) && this.#isData(path, folder)),
        folder,
      )
    }
  }

  /** Adds files that patterns match in a dedicated folder. An unknown variable in a name matches any text. */
  #addMatching(words: readonly string[], folder: string): void {
    for (const word of words.map(each => each.replaceAll(/\$(?:\w+|\{\w+[^}]*\}|\([^()]*\))/g, '*'))) {
      const [, base = '', rest = ''] = /^([\w./@-]+\/)([^/]*\*.*)$/.exec(word) ?? []
      const way = base === '' || this.#isSource(resolve(folder, word), folder) ? undefined : resolve(folder, base)
      const inRoot = way === undefined ? undefined : pathFrom(this.#root, way)
      if (inRoot) this.#globs.add(`${literal(inRoot)}/${rest}`)
    }
  }

  #addShadows(words: readonly string[], folders: readonly string[]): void {
    for (const folder of folders) this.#addPlaces(shadowsIn(words).map(path => resolve(folder, path)))
    const names = shadowedBy(words)
    if (names === undefined) return
    const scripts = words.filter(word => word.endsWith('.py')).map(dirname)
    for (const folder of folders.flatMap(each => [each, ...scripts.map(script => resolve(each, script))])) {
      const way = pathFrom(this.#root, folder)
      if (way !== undefined) this.#globs.add(`${way === '' ? '' : `${literal(way)}/`}${names}`)
    }
  }

  /** Adds executables. In a loose text, a file that is not executable may be the work. */
  #addExecutables(words: readonly string[], folders: readonly string[]): void {
    for (const folder of folders) {
      for (const word of words.filter(isPath)) {
        const path = resolve(folder, word)
        if (isExecutable(path) && !this.#isSource(path, folder)) this.#add([path], folder)
      }
    }
  }

  #addTexts(words: readonly string[], setting: Setting): void {
    const { folders, isLoose, isOwn, isComparing = false, assigned = new Set() } = setting
    for (const [index, word] of words.entries()) {
      if (!/\s/.test(word) || (isOwn && isCode(words, index))) continue
      const text = { text: word.replace(/^[\w-]+=/, ''), folders, isLoose, isComparing }
      const isRun = words.slice(0, index).some(each => interpreterOf(each) !== undefined)
      this.#push(isRun ? { ...text, assigned } : text)
    }
    for (const { file, includes = [], goals = [], ...text } of this.#named.by(words, folders)) {
      if (file !== undefined) this.#add([file], dirname(file))
      this.#addPlaces([...includes, ...goals])
      for (const goal of goals.flatMap(each => pathFrom(this.#root, each) || [])) this.#places.add(asFolder(goal))
      this.#push({ ...text, isLoose: isLoose || text.isLoose })
    }
  }

  #push(text: Text): void {
    if (text.text.length > MAX_LENGTH) return
    const key = JSON.stringify([text.isLoose, text.isComparing, text.folders, text.text])
    if (this.#seen.has(key) || this.#seen.size >= MAX_TEXTS) return
    this.#read += text.text.length
    if (this.#read > MAX_READ) {
      this.#isUnknown = true
      return
    }
    this.#seen.add(key)
    this.#texts.push(text)
  }

  /** Adds paths that shadow each other, and parses those that a shell would run. */
  #add(paths: readonly string[], folder: string): void {
    const inRoot = paths.flatMap(path => pathFrom(this.#root, path) || [])
    for (const path of inRoot) this.#files.set(path, new Set([...(this.#files.get(path) ?? []), ...inRoot]))
    for (const path of paths) {
      if (pathFrom(this.#root, path)) this.#addImports(path)
      const text = pathFrom(this.#root, path) ? this.#shellText(path) : undefined
      if (text !== undefined) this.#push({ text, folders: [folder, dirname(path)], isLoose: true })
    }
  }

  /** Includes the parent folders. */
  #addBins(folder: string): void {
    const bin = pathFrom(this.#root, join(folder, 'node_modules/.bin'))
    const glob = `${literal(bin ?? '')}/**`
    if (bin === undefined || this.#globs.has(glob)) return
    this.#globs.add(glob)
    this.#addBins(dirname(folder))
  }

  #addPlaces(paths: readonly string[]): void {
    for (const path of paths.flatMap(each => pathFrom(this.#root, each) || [])) this.#places.add(path)
  }

  #pathsFrom(folder: string, script: ScriptWord): readonly string[] {
    const paths = pathsOf(script).map(path => resolve(folder, path))
    const { main } = script.by === 'node' ? this.#reader.object(resolve(folder, script.word, 'package.json')) : {}
    if (typeof main !== 'string') return paths
    return [...paths, ...pathsOf({ ...script, word: main }).map(path => resolve(folder, script.word, path))]
  }

  #shellText(path: string): string | undefined {
    const ending = extname(path)
    if (ending !== '' && !/^\.(?:ba|z|k)?sh$/.test(ending)) return undefined
    const text = isFile(path) ? this.#reader.text(path) : undefined
    return text !== undefined && (ending !== '' || SHELL_FILE.test(text)) ? withoutComments(text) : undefined
  }

  /** Whether a file is in a source or output folder, relative to where it is named. `bin` often holds scripts. */
  #isSource(path: string, folder: string): boolean {
    const way = pathFrom(folder, path) ?? pathFrom(this.#root, path) ?? ''
    const names = dirname(way).split('/')
    return isWork(names.filter(name => name !== 'bin').join('/'))
  }
}

/** A word, the parts around a `=`, and the part after a leading `-C`. */
const sidesOf = (word: string): readonly string[] => [
  ...new Set([
    word,
    ...(word.startsWith('-C') && word.length > 2 ? ['-C', word.slice(2)] : []),
    ...(word.includes('=') ? [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)] : []),
    word.slice(word.lastIndexOf('=') + 1),
  ]),
]

const isPlainName = (word: string): boolean => !/^-|[$*\n]/.test(word)

const isPath = (word: string): boolean => /^[^-\s][^\s]*$/.test(word) && word !== '.'

function foldersFrom(
  folders: readonly string[],
  words: readonly string[],
  isThere: (path: string) => boolean = () => true,
): readonly string[] {
  const found = new Set(folders)
  for (const word of words) {
    for (const path of [...found].map(folder => resolve(folder, word))) {
      if (found.size < MAX_FOLDERS && !found.has(path) && isThere(path)) found.add(path)
    }
  }
  return [...found]
}

const withoutComments = (text: string): string => text.replaceAll(/^[ \t]*#.*$/gm, '')
