import { readFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { isFile, pathFrom } from './workspace.ts'

/** A command, and where it runs. */
export interface Start {
  readonly root: string
  readonly cwd: string
  readonly run: readonly string[]
}

/** Texts that are read for one command: scripts may name each other. */
const MAX_TEXTS = 100

/**
 * The files that a command may start without naming them itself: those that scripts of `package.json` name, a shell's text,
 * and the modules that Python is told to run. They need not exist.
 */
export function startedFiles({ root, cwd, run }: Start): readonly string[] {
  const found = new Set(modulePaths(run).map(path => resolve(cwd, path)))
  const read = new Set<string>()
  const texts = textsIn(run, cwd, root, false)
  for (let next = texts.pop(); next && read.size < MAX_TEXTS; next = texts.pop()) {
    const { text, folder } = next
    const key = `${folder}\0${text}`
    if (read.has(key)) continue
    read.add(key)
    const words = wordsOf(text)
    for (const at of foldersIn(words, folder)) {
      for (const path of [...words.flatMap(pathsOf), ...modulePaths(words)]) found.add(resolve(at, path))
      texts.push(...textsIn(words, at, root, true))
    }
  }
  return [...found].flatMap(path => pathFrom(root, path) || [])
}

/** Modules that an agent can replace with a file of that name: Python looks into the working folder first. */
export function shadowPaths({ root, cwd, run }: Start): readonly string[] {
  return run
    .filter((word, index) => RUNNERS.has(word) && MODULE.test(run[index - 1] ?? ''))
    .flatMap(name => [`${name}.py`, `${name}/__init__.py`])
    .flatMap(path => pathFrom(root, resolve(cwd, path)) || [])
}

interface Text {
  readonly text: string
  readonly folder: string
}

const SHELLS = /^(?:ba|da|z|k)?sh$/
const MANAGERS: ReadonlySet<string> = new Set('npm pnpm yarn bun --run npm-run-all run-s run-p'.split(' '))
const PYTHON = /^(?:python|pypy)[\d.]*$/
const MODULE = /^-[A-Za-z]*m$/
const NODE = /^(?:node|nodejs|tsx|ts-node|bun)$/
const LOADS: ReadonlySet<string> = new Set(['-r', '--require', '--import'])
const RUNNERS: ReadonlySet<string> = new Set(
  'behave coverage doctest flake8 mypy nose2 nox pylint pytest ruff tox unittest'.split(' '),
)
const ALIASES: Readonly<Record<string, string>> = { t: 'test', tst: 'test' }

/** The texts that a shell gets to run: words with spaces, and scripts by their names. */
function textsIn(words: readonly string[], folder: string, root: string, isText: boolean): Text[] {
  const shell = isText ? 0 : words.findIndex(word => SHELLS.test(basename(word)))
  const texts = shell === -1 ? [] : words.slice(shell).filter(word => /\s/.test(word))
  return [...texts.map(text => ({ text, folder })), ...scriptsIn(words, folder, root)]
}

/** The scripts that a package manager is told to run, with those before and after each. */
function scriptsIn(words: readonly string[], folder: string, root: string): readonly Text[] {
  const manager = words.findIndex(word => MANAGERS.has(basename(word)))
  if (manager === -1) return []
  const rest = words.slice(manager + 1).flatMap(word => [word, word.slice(word.indexOf('=') + 1)])
  const names = new Set(rest.map(word => ALIASES[word] ?? word))
  // `--prefix`, `-C`, `--cwd` and `-w` name other packages.
  const packages = new Set([packageFolder(folder, root), ...rest.map(word => resolve(folder, word))])
  return [...packages].flatMap(at => {
    const scripts = pathFrom(root, at) === undefined ? {} : scriptsOf(at)
    return [...names].flatMap(name =>
      [`pre${name}`, name, `post${name}`].flatMap(each => {
        const text = Object.hasOwn(scripts, each) ? scripts[each] : undefined
        return typeof text === 'string' ? [{ text, folder: at }] : []
      }),
    )
  })
}

/** The nearest folder with a `package.json`, up to the root. */
function packageFolder(folder: string, root: string): string {
  if (folder === root || isFile(join(folder, 'package.json'))) return folder
  return pathFrom(root, folder) === undefined ? root : packageFolder(dirname(folder), root)
}

function scriptsOf(folder: string): Readonly<Record<string, unknown>> {
  try {
    const { scripts } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { scripts?: unknown }
    return typeof scripts === 'object' && scripts !== null ? { ...scripts } : {}
  } catch {
    // None there, or not for us to read: then npm cannot, either.
    return {}
  }
}

/** Words as a shell has them, roughly: a quoted one as a whole. */
const wordsOf = (text: string): readonly string[] =>
  [...text.matchAll(/"((?:\\.|[^"\\])*)"|'([^']*)'|[^\s;&|()<>"'`]+/g)].map(([word, double, single]) =>
    double === undefined ? (single ?? word) : double.replaceAll(/\\(.)/g, '$1'),
  )

/** The folder of a text, and those that it goes to. */
const foldersIn = (words: readonly string[], folder: string): readonly string[] => [
  folder,
  ...words.flatMap((word, index) => (words[index - 1] === 'cd' ? resolve(folder, word) : [])),
]

/** What a word may be the path of. Node also finds its script without an ending, and a folder's `index.js`. */
function pathsOf(word: string, index: number, words: readonly string[]): readonly string[] {
  const paths = [...new Set([word, word.slice(word.indexOf('=') + 1)])]
  const before = words.slice(0, index).findLast(each => !each.startsWith('-') || LOADS.has(each)) ?? ''
  const isScript = !word.startsWith('-') && (LOADS.has(before) || NODE.test(basename(before)))
  return isScript ? paths.flatMap(path => [path, `${path}.js`, `${path}/index.js`]) : paths
}

/** What Python runs for `-m a.b`, and for the dotted names after it. */
function modulePaths(words: readonly string[]): readonly string[] {
  const python = words.findIndex(word => PYTHON.test(basename(word)))
  if (python === -1) return []
  return words.slice(python + 1).flatMap((word, index, rest) => {
    const isModule = /^\w+(?:\.\w+)*$/.test(word) && (word.includes('.') || MODULE.test(rest[index - 1] ?? ''))
    if (!isModule) return []
    const names = word.split('.')
    const packages = names.map((_, at) => `${names.slice(0, at + 1).join('/')}/__init__.py`)
    return [`${names.join('/')}.py`, `${names.join('/')}/__main__.py`, ...packages]
  })
}
