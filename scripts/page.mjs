import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'vite'

// Makes the schemas of HTTP and builds the page if they are missing or older than their sources: a second start is fast, and one beside a running server
// or test leaves them alone.

const SOURCES = ['web', 'src/react', 'src/client', 'src/domain', 'vite.config.ts', 'package-lock.json']

/** When a file, or the newest file of a folder, was changed; 0 if there is none. */
function changedAt(path) {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (!stat?.isDirectory()) return stat?.mtimeMs ?? 0
  return Math.max(stat.mtimeMs, ...readdirSync(path).map(name => changedAt(join(path, name))))
}

if (changedAt('src/domain') > changedAt('src/http/shapes.json')) await import('./shapes.ts')
if (Math.max(...SOURCES.map(changedAt)) > changedAt('dist/web/index.html')) {
  console.error('Building the page …')
  await build()
}
