import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { McpServer, ServerContext } from '@modelcontextprotocol/server'

/** A name for a title is worth no longer wait. */
const TIMEOUT_MS = 1_000

/** The name of the folder that a 2025 client works in: the first of its roots. */
export async function firstRoot({ mcpReq }: ServerContext): Promise<string | undefined> {
  const { roots } = await mcpReq.send({ method: 'roots/list' }, { timeout: TIMEOUT_MS })
  const [root] = roots
  if (!root || !URL.canParse(root.uri)) return undefined
  return root.name ?? (basename(decodeURIComponent(new URL(root.uri).pathname)) || undefined)
}

/** The path of a 2025 client's first root, if that is a folder of this machine. */
export async function firstRootPath(server: McpServer['server']): Promise<string | undefined> {
  const { roots } = await server.listRoots(undefined, { timeout: TIMEOUT_MS })
  const uri = roots[0]?.uri
  if (uri === undefined || !URL.canParse(uri) || new URL(uri).protocol !== 'file:') return undefined
  try {
    return fileURLToPath(uri)
  } catch {
    // A host of another machine, or an escape that no path has.
    return undefined
  }
}
