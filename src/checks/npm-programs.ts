import { dirname, join, resolve } from 'node:path'
import { lstatOf } from './file-hash.ts'
import { pathsOf } from './run-words.ts'
import { foldersUp, pathFrom, realOf } from './workspace.ts'

const BIN = 'node_modules/.bin'
const IN_BIN = /(?:^|\/)node_modules\/\.bin\//

/** Whether a path is in a folder of programs that package managers write. */
export const isInBin = (path: string): boolean => IN_BIN.test(path)

/** Whether such a link leads to a package of the workspace itself, whose file is source like any other. */
export const leadsToSource = (path: string, real: string): boolean => isInBin(path) && !real.includes('/node_modules/')

/** Files of the workspace's own packages that package managers start by this name in a folder. */
export function ownPrograms(root: string, folder: string, name: string): readonly string[] {
  if (!NAME.test(name) || pathFrom(root, folder) === undefined) return []
  const path = join(folder, BIN, name)
  const real = lstatOf(path)?.isSymbolicLink() ? realOf(path) : path
  const own = real !== path && leadsToSource(path, real) ? [real] : []
  return [...own, ...ownPrograms(root, dirname(folder), name)]
}

/** Candidate paths where Node looks for a module: next to its importer, or in a workspace package. */
export function modulePathsFrom(root: string, folder: string, word: string): readonly string[] {
  if (/^\.{1,2}(?:\/|$)/.test(word)) return pathsOf({ word, by: 'node' }).map(path => resolve(folder, path))
  const [, name, rest = ''] = PACKAGE.exec(word) ?? []
  if (name === undefined) return []
  return foldersUp(root, folder).flatMap(each => {
    const path = join(each, 'node_modules', name)
    const real = lstatOf(path)?.isSymbolicLink() ? realOf(path) : path
    const isOwn = real !== path && pathFrom(root, real) !== undefined && !real.includes('/node_modules/')
    return isOwn ? pathsOf({ word: `.${rest}`, by: 'node' }).map(way => resolve(real, way)) : []
  })
}

const PACKAGE = /^((?:@[\w.-]+\/)?\w[\w.-]*)(\/[^:]*)?$/
const NAME = /^[\w@][\w.@-]*$/
