import { enableCompileCache } from 'node:module'

// Must come first: modules loaded earlier are not cached.
enableCompileCache()
await import('./bare-mcp.ts')
