import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { McpServer, ServerContext } from '@modelcontextprotocol/server'

/** A name for a title is worth no longer wait. */
const TITLE_MS = 1_000
/** A host may ask its user first. */
const ANSWER_MS = 60_000

/** The name of the folder that a 2025 client works in: the first of its roots. */
export async function firstRoot({ mcpReq }: ServerContext): Promise<string | undefined> {
  const { roots } = await mcpReq.send({ method: 'roots/list' }, { timeout: TITLE_MS })
  const [root] = roots
  if (!root || !URL.canParse(root.uri)) return undefined
  return root.name ?? (basename(decodeURIComponent(new URL(root.uri).pathname)) || undefined)
}

/** The paths of a 2025 client's roots, in its order. They need not be folders of this machine. */
export async function rootPaths(server: McpServer['server']): Promise<readonly string[]> {
  const { roots } = await server.listRoots(undefined, { timeout: ANSWER_MS })
  return roots.flatMap(({ uri }) => pathOf(uri) ?? [])
}

function pathOf(uri: string): string | undefined {
  if (!URL.canParse(uri) || new URL(uri).protocol !== 'file:') return undefined
  try {
    return fileURLToPath(uri)
  } catch {
    // A host of another machine, or an escape that no path has.
    return undefined
  }
}
