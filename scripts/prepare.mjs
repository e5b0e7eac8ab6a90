import { spawnSync } from 'node:child_process'
import './clone-node/link.mjs'

// After `npm ci` in a clone: links the Node that npm installed, which is then the first on the path, and makes the schemas
// of HTTP. A Node that is too old fails here; the scripts say so when they start.
spawnSync('node', ['scripts/shapes.ts'], { stdio: 'ignore' })
