import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { McpServer, ServerContext } from '@modelcontextprotocol/server'

/** A name for a title is not worth a longer wait. */
const TITLE_MS = 1_000
/** A host may ask its user first. */
const ANSWER_MS = 60_000

/** The folder name of a 2025 client's first root. */
export async function firstRoot({ mcpReq }: ServerContext): Promise<string | undefined> {
  const { roots } = await mcpReq.send({ method: 'roots/list' }, { timeout: TITLE_MS })
  const [root] = roots
  if (!root || !URL.canParse(root.uri)) return undefined
  return root.name ?? (basename(decodeURIComponent(new URL(root.uri).pathname)) || undefined)
}

/** Paths of a 2025 client's roots, in order. They need not exist on this machine. */
export async function rootPaths(server: McpServer['server']): Promise<readonly string[]> {
  const { roots } = await server.listRoots(undefined, { timeout: ANSWER_MS })
  return roots.flatMap(({ uri }) => pathOf(uri) ?? [])
}

function pathOf(uri: string): string | undefined {
  if (!URL.canParse(uri) || new URL(uri).protocol !== 'file:') return undefined
  try {
    return fileURLToPath(uri)
  } catch {
    // From a host on another machine, or with an invalid escape.
    return undefined
  }
}
