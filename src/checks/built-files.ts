import { basename, isAbsolute } from 'node:path'
import { type Git, ignoredBy, RULES } from './git-files.ts'
import { globsOf } from './globs.ts'
import { outputFolder } from './work-folders.ts'

/**
 * Files that a build or a check rewrites: ignored files in an output folder, each mapped to the `.gitignore` that
 * ignores it. Leaves out files that `named` matches, and any `.gitignore`, which could ignore itself.
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
