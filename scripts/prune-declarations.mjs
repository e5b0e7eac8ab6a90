import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

// Removes declarations that no entry point reaches: tsc emits one per module.

const { exports } = JSON.parse(readFileSync('package.json', 'utf8'))
const reached = new Set()
for (const { types } of Object.values(exports)) if (types) reach(resolve(types))

for (const file of readdirSync('dist', { recursive: true })) {
  const path = resolve('dist', file)
  if (path.endsWith('.d.ts') && !reached.has(path)) rmSync(path)
}

function reach(path) {
  if (reached.has(path)) return
  reached.add(path)
  const specifiers = readFileSync(path, 'utf8').matchAll(/(?:from |import\(|import )["'](\.[^"']+)\.(?:js|tsx?)["']/g)
  for (const [, specifier] of specifiers) reach(join(dirname(path), `${specifier}.d.ts`))
}
