import { basename, dirname, extname, resolve } from 'node:path'
import { pathsOf, runsTests } from './run-words.ts'

/** Tells whether a file holds settings of what a command runs: a test runner, a program by its name, or TypeScript. */
export function isSettingsFor(words: readonly string[]): (path: string) => boolean {
  const names = words.map(word => basename(word).replace(/(?<=.)@.*$/, '')).filter(name => /^[\w-]+$/.test(name))
  const isOfRunner = runsTests(words)
  return path => {
    const file = basename(path)
    if (TYPESCRIPT.test(file) || (isOfRunner && OF_RUNNER.test(file))) return true
    const plain = file.replace(/^\./, '')
    return names.some(name => plain.startsWith(name) && SETTINGS.test(plain.slice(name.length)))
  }
}

export interface Loaded {
  /** Further settings, and files that a runner is told to load: setup, reporters, transforms. */
  readonly settings: readonly string[]
  readonly imports: readonly string[]
}

export function loadedBy(file: string, text: string): Loaded {
  const values = [...text.matchAll(LOADS)].flatMap(([, value = '']) => [...value.matchAll(STRING)])
  const lists = [...text.matchAll(LIST)].flatMap(([list]) => [...list.matchAll(RELATIVE)])
  return {
    settings: [...values, ...lists].map(([, word = '']) => word.replace('<rootDir>', '.')),
    imports: isScript(file) ? [...text.matchAll(OF_SETTINGS)].map(([, word = '']) => word) : [],
  }
}

/** Candidate paths for each nearby file that a script imports. */
export function importsIn(file: string, text: string): readonly (readonly string[])[] {
  const folder = dirname(file)
  const inFolder = (paths: readonly string[]): readonly string[] => paths.map(path => resolve(folder, path))
  if (extname(file) === '.py') {
    return [...text.matchAll(OF_PYTHON)].map(([, name = '']) => {
      const way = name.replace(/^\.+/, '').replaceAll('.', '/')
      return inFolder([`${way}.py`, `${way}/__init__.py`])
    })
  }
  return isScript(file)
    ? [...text.matchAll(OF_NODE)].map(([, word = '']) => inFolder(pathsOf({ word, by: 'node' })))
    : []
}

/** Whether a path is among scripts, which are never build output. */
export const isAmongScripts = (way: string): boolean =>
  dirname(way)
    .split('/')
    .some(name => SCRIPTS.test(name))

const isScript = (file: string): boolean => /^\.[cm]?[jt]sx?$/.test(extname(file))

const TYPESCRIPT = /^[jt]sconfig[\w.-]*\.json$/
/** Whatever follows a program's name in its settings file names. */
const SETTINGS = /^(?:(?:rc|config|\.config|\.conf)(?:\.\w+)?|\.(?:jsonc?|json5|ya?ml|toml|ini))$/
const OF_RUNNER =
  /^(?:(?:vitest|vite|jest|playwright|karma|ava|wdio|cypress|jasmine|codecept)\.[\w.]+|\.(?:mocharc|taprc|nycrc|jest)[\w.]*|package\.json)$/
const LOADS =
  /\b\w{0,40}(?:setup|require|import|teardown|reporter|environment|runner|transform|resolver|preset|loader|extends?)\w{0,40}["']?\s{0,9}[:=]\s{0,99}(\[[^\]]{0,2000}\]|["'`][^"'`\n]{0,300}["'`]|\{[^}]{0,2000}\})/gi
const STRING = /["'`]([^"'`\n]{1,300})["'`]/g
/** A YAML list under `extends`. */
const LIST = /^[ \t]*extends:[^\n]*(?:\n[ \t]*-[^\n]*)*/gm
const RELATIVE = /(?<![\w.@/-])(\.{1,2}\/[^\s"',\]]+)/g
const OF_SETTINGS = /\b(?:from|import|require)\s{0,9}\(?\s{0,9}["'`]([^"'`\n]{1,300})["'`]/g
const OF_NODE = /\b(?:from|import|require)\s{0,9}\(?\s{0,9}["'`](\.{1,2}\/[^"'`\n]{1,300})["'`]/g
const OF_PYTHON = /^[ \t]*(?:from|import)[ \t]+(\.*\w[\w.]*)/gm
const SCRIPTS = /^(?:scripts?|tools?|tooling|checks?|checkers?|verify|ci|\.ci|hack|harness|qa|util-scripts)$/
