import { type Dir, opendirSync } from 'node:fs'
import { type Bounds, pathOf } from './git-files.ts'

/** Neither the files of a repository itself, nor what tools of Node write to whenever they run. */
const NEVER = /(^|\/)(\.git|node_modules\/\.cache)$/

/**
 * The names of all files below a folder, as bytes in latin1. Links are listed, not followed. Undefined if one of its folders
 * cannot be read, or if there are more files and folders than may be looked at.
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

/** One after the other, so that a large folder is not read to its end. Undefined if it cannot be read. */
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
