import { enableCompileCache } from 'node:module'

// First: modules that are loaded earlier are not cached.
enableCompileCache()
await import('./bare-mcp.ts')
