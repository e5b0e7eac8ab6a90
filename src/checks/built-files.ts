import { basename, isAbsolute } from 'node:path'
import { type Git, ignoredBy, RULES } from './git-files.ts'
import { globsOf } from './globs.ts'
import { outputFolder } from './work-folders.ts'

/**
 * The files that a build or a check writes anew, each with the `.gitignore` that says so: in a folder of output, and
 * ignored. Neither those that `named` matches, nor a `.gitignore`, which could ignore itself.
 */
export function builtFiles(
  root: string,
  git: Git | undefined,
  paths: readonly string[],
  named: readonly string[],
): ReadonlyMap<string, string> {
  const { matches } = globsOf(named)
  const candidates = paths.filter(
    path => !isAbsolute(path) && outputFolder(path) !== undefined && basename(path) !== RULES && !matches(path),
  )
  return git && candidates.length > 0 ? ignoredBy(root, git, candidates) : new Map()
}
