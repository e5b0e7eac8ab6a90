import { spawnSync } from 'node:child_process'

// Runs after `npm ci` in a clone: links the Node that npm installed, which then comes first on the PATH, and generates
// the HTTP schemas. An old Node fails here silently; the other scripts report it when they start.
await import('./clone-node/link.mjs')
spawnSync('node', ['scripts/shapes.ts'], { stdio: 'ignore' })
