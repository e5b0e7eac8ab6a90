import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'vite'

// Generates the HTTP schemas and builds the page only if they are missing or stale, so that a second start is fast and
// does not disturb a running server or test.

const SOURCES = ['src/ui', 'src/client', 'src/core', 'vite.config.ts', 'package-lock.json']

function changedAt(path) {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (!stat?.isDirectory()) return stat?.mtimeMs ?? 0
  return Math.max(stat.mtimeMs, ...readdirSync(path).map(name => changedAt(join(path, name))))
}

if (changedAt('src/core') > changedAt('src/server/http/shapes.json')) await import('./shapes.ts')
if (Math.max(...SOURCES.map(changedAt)) > changedAt('dist/web/index.html')) {
  console.error('Building the page …')
  await build()
}
