import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'vite'

// Builds the page where it is missing, or older than anything that it is made from: a second start need not wait for it,
// and one beside a server or a test that reads the page does not take it away.

const SOURCES = ['web', 'src/react', 'src/client', 'src/domain', 'vite.config.ts', 'package-lock.json']

/** When a file, or the newest of a folder, was changed; never, where there is none. */
function changedAt(path) {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (!stat?.isDirectory()) return stat?.mtimeMs ?? 0
  return Math.max(stat.mtimeMs, ...readdirSync(path).map(name => changedAt(join(path, name))))
}

if (Math.max(...SOURCES.map(changedAt)) > changedAt('dist/web/index.html')) await build()
