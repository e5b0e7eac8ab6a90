import { basename, dirname, join, resolve } from 'node:path'
import picomatch from 'picomatch'
import { memberFolders, packageScripts } from './package-scripts.ts'
import { isTaskFile, taskEntries } from './task-files.ts'
import type { TextReader } from './text-reader.ts'
import { foldersUp, pathFrom } from './workspace.ts'

export interface NamedText {
  readonly text: string
  readonly folders: readonly string[]
  /** Whether only what it starts counts, not every file that it names. */
  readonly isLoose: boolean
  readonly file?: string
  readonly made?: readonly string[]
  readonly includes?: readonly string[]
  /** Paths where an existing file or folder would make the command's goal look up to date. */
  readonly goals?: readonly string[]
}

export class NamedTexts {
  readonly #root: string
  readonly #reader: TextReader
  /** Folders and words whose members were read: in a large repository many packages share scripts. */
  readonly #read = new Set<string>()
  readonly #taskFiles = new Map<string, readonly string[]>()
  readonly #members = new Map<string, Members>()

  constructor(root: string, reader: TextReader) {
    this.#root = root
    this.#reader = reader
  }

  /** Texts that these words may name, in the folders, their parents, and once per listed package. */
  by(words: readonly string[], folders: readonly string[]): readonly NamedText[] {
    const around = [...new Set(folders.flatMap(folder => foldersUp(this.#root, folder)))]
    const isNamed = namedBy(words)
    return [...this.#scripts(words, around, isNamed), ...this.#entries(words, folders, around, isNamed)]
  }

  /** Folders of the listed packages that the words name, or of all if the command runs in each. */
  membersIn(words: readonly string[], folders: readonly string[]): readonly string[] {
    const around = [...new Set(folders.flatMap(folder => foldersUp(this.#root, folder)))]
    const members = around.map(folder => this.#membersOf(folder))
    if (words.some(word => IN_EACH.test(word))) return members.flatMap(({ folders: all }) => all)
    const names = new Set(words.flatMap(word => [word, word.slice(word.indexOf('=') + 1)]))
    return members.flatMap(({ byName }) => [...names].flatMap(name => byName.get(name) ?? []))
  }

  /** Programs other than package managers may start scripts, too, but what those name may be the source under test. */
  #scripts(words: readonly string[], around: readonly string[], isNamed: Named): readonly NamedText[] {
    const isLoose = !words.some(
      word => MANAGERS.has(basename(word)) || PREFIXED.test(word) || word.startsWith('--run='),
    )
    const scriptsOf = (folder: string): readonly NamedText[] =>
      packageScripts(folder, isNamed, this.#reader).map(text => ({ text, folders: [folder], isLoose }))
    return around.flatMap(folder => {
      const key = [folder, ...words].join('\0')
      const members = this.#read.has(key) ? [] : this.#membersOf(folder).folders
      this.#read.add(key)
      return [folder, ...members].flatMap(scriptsOf)
    })
  }

  #membersOf(folder: string): Members {
    const known = this.#members.get(folder)
    if (known) return known
    const folders = memberFolders(folder, this.#reader).filter(member => this.#isIn(member))
    const byName = Map.groupBy(folders, each => this.#reader.object(join(each, 'package.json'))['name'])
    this.#members.set(folder, { folders, byName })
    return { folders, byName }
  }

  #entries(
    words: readonly string[],
    folders: readonly string[],
    around: readonly string[],
    isNamed: Named,
  ): readonly NamedText[] {
    const listed = around.flatMap(folder => this.#taskFilesIn(folder))
    const given = words.filter(isTaskFile).flatMap(word => folders.map(folder => resolve(folder, word)))
    const files = [...listed, ...given.filter(file => this.#isIn(file))]
    return taskEntries(files, words, isNamed, this.#reader).flatMap(({ file, texts, ...entries }) =>
      texts.map(text => ({ text, folders: [dirname(file)], isLoose: true, file, ...entries })),
    )
  }

  #taskFilesIn(folder: string): readonly string[] {
    const files = this.#taskFiles.get(folder) ?? this.#reader.entries(folder).filter(isTaskFile)
    this.#taskFiles.set(folder, files)
    return files
  }

  #isIn(path: string): boolean {
    return pathFrom(this.#root, path) !== undefined
  }
}

interface Members {
  readonly folders: readonly string[]
  readonly byName: ReadonlyMap<unknown, readonly string[]>
}

type Named = (name: string) => boolean

const MANAGERS: ReadonlySet<string> = new Set(
  'npm pnpm yarn bun deno npx --run npm-run-all npm-run-all2 run-s run-p nr turbo nx lerna lage wsrun'.split(' '),
)
/** Options that run a command in every package. */
const IN_EACH = /^(?:-r|--recursive|-ws|--workspaces|foreach)$/
/** As in `concurrently npm:unit`. */
const PREFIXED = /^(?:npm|pnpm|yarn|bun|deno|node):/
const ALIASES: ReadonlyMap<string, readonly string[]> = new Map([
  ['t', ['test']],
  ['tst', ['test']],
  ['i', ['install', 'prepare']],
  ['ci', ['install', 'prepare']],
  ['install', ['prepare']],
  ['it', ['install', 'prepare', 'test']],
  ['cit', ['install', 'prepare', 'test']],
])

/** A name matches a word, the part after a `=` or prefix, or an abbreviation. `*` matches any text. */
function namedBy(words: readonly string[]): Named {
  const all = words.flatMap(word => [word, word.slice(word.indexOf('=') + 1), word.replace(PREFIXED, '')])
  const names = new Set(all.flatMap(word => [word, ...(ALIASES.get(word) ?? [])]))
  const patterns = [...names].filter(name => name.includes('*')).map(name => picomatch(name))
  return name => names.has(name) || patterns.some(isMatch => isMatch(name))
}
