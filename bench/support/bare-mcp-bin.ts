import { enableCompileCache } from 'node:module'

// Before the rest is loaded: what was loaded earlier would not be cached.
enableCompileCache()
await import('./bare-mcp.ts')
