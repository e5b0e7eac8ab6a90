import { spawnSync } from 'node:child_process'

// After `npm ci` in a clone: links the Node that npm installed, which is then the first on the path, and makes the schemas
// of HTTP. A Node that is too old fails here; the scripts say so when they start.
await import('./clone-node/link.mjs')
spawnSync('node', ['scripts/shapes.ts'], { stdio: 'ignore' })
