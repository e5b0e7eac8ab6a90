import { readFileSync } from 'node:fs'
import { dirname, extname, isAbsolute, resolve } from 'node:path'
import { type FileHashes, filesOf, type FilesRequest } from './files.ts'
import { literal } from './globs.ts'
import { pathFrom } from './workspace.ts'

type Where = Omit<FilesRequest, 'globs' | 'paths'>

/**
 * Files that guarded tests name as expected output, as in `toMatchFileSnapshot('./a.html')`, including missing ones.
 */
export function namedSnapshots(where: Where, tests: FileHashes): ReadonlySet<string> {
  const ways = [...tests].flatMap(([path, hash]) =>
    wordsIn(where.root, path, hash).flatMap(word => pathFrom('/', resolve('/', dirname(path), word)) ?? []),
  )
  const globs = ways.filter(way => way.includes(ANY)).map(way => way.split(ANY).map(literal).join('*'))
  const matching = globs.length === 0 ? [] : (filesOf({ ...where, globs, paths: [] }) ?? [])
  return new Set([...ways.filter(way => !way.includes(ANY)), ...matching])
}

/** Stands for a value in a template. */
const ANY = '\u{1}'
const NAMES = /\bto\w{0,40}FileSnapshot\w{0,20}\(\s{0,99}["'`]([^"'`\n]{1,300})["'`]/g
const MAX_KNOWN = 60_000
/** By the hash of a test, so that each is read once. */
const KNOWN = new Map<string, readonly string[]>()

function wordsIn(root: string, path: string, hash: string): readonly string[] {
  if (isAbsolute(path) || !/^\.[cm]?[jt]sx?$/.test(extname(path))) return []
  const words = KNOWN.get(hash) ?? wordsOf(textOf(resolve(root, path)))
  if (KNOWN.size >= MAX_KNOWN) KNOWN.clear()
  KNOWN.set(hash, words)
  return words
}

const wordsOf = (text: string): readonly string[] =>
  [...text.matchAll(NAMES)]
    .map(([, word = '']) => word.replaceAll(/\$\{[^}]*\}/g, ANY))
    .filter(word => !isAbsolute(word))

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    // Deleted meanwhile, which counts as a change.
    return ''
  }
}
