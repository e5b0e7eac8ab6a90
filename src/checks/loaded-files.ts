import { basename, dirname, extname, resolve } from 'node:path'
import { pathsOf } from './run-words.ts'

/** Whether a file tells a runner of tests what to load. */
export const isRunnerConfig = (path: string): boolean => CONFIG.test(basename(path))

/** The paths at which a runner looks for the files that its settings have it load: setup, reporters, transforms. */
export const configuredIn = (file: string, text: string): readonly (readonly string[])[] =>
  [...text.matchAll(LOADS)]
    .flatMap(([, value = '']) => [...value.matchAll(STRING)].map(([, word = '']) => word))
    .filter(word => /^(?:<rootDir>|\.{1,2})\//.test(word))
    .map(word => pathsOf({ word: word.replace('<rootDir>', '.'), by: 'node' }))
    .map(paths => paths.map(path => resolve(dirname(file), path)))

/** The paths at which a script looks for the files beside it, or near it, that it imports. */
export function importsIn(file: string, text: string): readonly (readonly string[])[] {
  const folder = dirname(file)
  const inFolder = (paths: readonly string[]): readonly string[] => paths.map(path => resolve(folder, path))
  if (extname(file) === '.py') {
    return [...text.matchAll(OF_PYTHON)].map(([, name = '']) => {
      const way = name.replace(/^\.+/, '').replaceAll('.', '/')
      return inFolder([`${way}.py`, `${way}/__init__.py`])
    })
  }
  return /^\.[cm]?[jt]sx?$/.test(extname(file))
    ? [...text.matchAll(OF_NODE)].map(([, word = '']) => inFolder(pathsOf({ word, by: 'node' })))
    : []
}

/** Whether a file is among scripts, which are no part of what is built. */
export const isAmongScripts = (way: string): boolean =>
  dirname(way)
    .split('/')
    .some(name => SCRIPTS.test(name))

const CONFIG =
  /^(?:(?:vitest|vite|jest|playwright|karma|ava|wdio|cypress|jasmine|codecept)\.[\w.]+|\.(?:mocharc|taprc|nycrc|jest)[\w.]*|package\.json)$/
const LOADS =
  /\b\w{0,40}(?:setup|require|import|teardown|reporter|environment|runner|transform|resolver|preset|loader)\w{0,40}["']?\s{0,9}[:=]\s{0,99}(\[[^\]]{0,2000}\]|["'`][^"'`\n]{0,300}["'`]|\{[^}]{0,2000}\})/gi
const STRING = /["'`]([^"'`\n]{1,300})["'`]/g
const OF_NODE = /\b(?:from|import|require)\s{0,9}\(?\s{0,9}["'`](\.{1,2}\/[^"'`\n]{1,300})["'`]/g
const OF_PYTHON = /^[ \t]*(?:from|import)[ \t]+(\.*\w[\w.]*)/gm
const SCRIPTS = /^(?:scripts?|tools?|tooling|checks?|checkers?|verify|ci|\.ci|hack|harness|qa|util-scripts)$/
