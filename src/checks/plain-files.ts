import { type Dir, opendirSync } from 'node:fs'
import { type Bounds, pathOf } from './git-files.ts'

/** Repository internals, and caches that Node tools write whenever they run. */
const NEVER = /(^|\/)(\.git|node_modules\/\.cache)$/

/**
 * Names of all files below a folder, as bytes in latin1. Links are listed, not followed. Undefined if a folder is
 * unreadable, or above the limit.
 */
export function plainFiles(root: string, { maxFiles, isLeftOut }: Bounds): ReadonlySet<string> | undefined {
  const names = new Set<string>()
  const folders = ['']
  let seen = 0
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of entriesIn(root, folder)) {
      seen += 1
      if (!entry || seen > maxFiles) return undefined
      if (NEVER.test(entry.name) || isLeftOut(entry.name)) continue
      if (entry.isFolder) folders.push(entry.name)
      else names.add(entry.name)
    }
  }
  return names
}

interface Found {
  readonly name: string
  readonly isFolder: boolean
}

/** Lazy, so that a large folder is not read to its end. Yields undefined if it is unreadable. */
function* entriesIn(root: string, folder: string): Generator<Found | undefined> {
  let opened: Dir | undefined
  try {
    opened = opendirSync(pathOf(root, folder), { encoding: 'latin1' })
    for (let entry = opened.readSync(); entry; entry = opened.readSync()) {
      yield { name: folder === '' ? entry.name : `${folder}/${entry.name}`, isFolder: entry.isDirectory() }
    }
  } catch {
    yield undefined
  } finally {
    opened?.closeSync()
  }
}
