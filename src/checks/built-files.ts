import { isAbsolute } from 'node:path'
import { type Git, ignoredFiles } from './git-files.ts'
import { globsOf } from './globs.ts'
import { outputFolder } from './work-folders.ts'

/**
 * The files that a build or a check writes anew: in a folder of output, and ignored by a `.gitignore`. Those that `named`
 * matches are none of them.
 */
export function builtFiles(
  root: string,
  git: Git | undefined,
  paths: readonly string[],
  named: readonly string[],
): ReadonlySet<string> {
  const { matches } = globsOf(named)
  const candidates = paths.flatMap(path => {
    const folder = isAbsolute(path) || matches(path) ? undefined : outputFolder(path)
    return folder === undefined ? [] : [{ path, folder }]
  })
  if (!git || candidates.length === 0) return new Set()
  const ignored = ignoredFiles(root, git, [...new Set(candidates.map(({ folder }) => folder))])
  return new Set(candidates.flatMap(({ path }) => (waysTo(path).some(way => ignored.has(way)) ? path : [])))
}

/** A file and the folders that it is in, as git lists them. */
function waysTo(path: string): readonly string[] {
  const name = Buffer.from(path).toString('latin1')
  const names = name.split('/')
  return [name, ...names.slice(1).map((_, index) => `${names.slice(0, index + 1).join('/')}/`)]
}
