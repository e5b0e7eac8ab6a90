import { basename, isAbsolute } from 'node:path'
import { type Git, ignoredBy, RULES } from './git-files.ts'
import { globsOf } from './globs.ts'

/** Folders that may hold build output. `bin` may hold scripts, too; git may ignore either. */
const OUTPUT_FOLDERS: ReadonlySet<string> = new Set(
  `.cache .next .nuxt .output .svelte-kit .turbo artifacts bin build cjs compiled coverage dist es esm lib log logs
  out output reports results target temp tmp`.split(/\s+/),
)

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
    path => !isAbsolute(path) && isInOutput(path) && basename(path) !== RULES && !matches(path),
  )
  return git && candidates.length > 0 ? ignoredBy(root, git, candidates) : new Map()
}

const isInOutput = (path: string): boolean =>
  path
    .split('/')
    .slice(0, -1)
    .some(name => OUTPUT_FOLDERS.has(name))
