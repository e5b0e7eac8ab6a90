import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Whether a folder has a `.git` that git accepts as a repository: a file that points to one, or these three entries.
 */
export function hasRepository(folder: string): boolean {
  const path = join(folder, '.git')
  if (!existsSync(path)) return false
  return statSync(path).isFile() || ['HEAD', 'objects', 'refs'].every(name => existsSync(join(path, name)))
}
