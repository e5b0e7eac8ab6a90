import { basename } from 'node:path'
import type { ServerContext } from '@modelcontextprotocol/server'

/** A name for a title is worth no longer wait. */
const TIMEOUT_MS = 1_000

/** The name of the folder that a 2025 client works in: the first of its roots. */
export async function firstRoot({ mcpReq }: ServerContext): Promise<string | undefined> {
  const { roots } = await mcpReq.send({ method: 'roots/list' }, { timeout: TIMEOUT_MS })
  const [root] = roots
  if (!root || !URL.canParse(root.uri)) return undefined
  return root.name ?? (basename(decodeURIComponent(new URL(root.uri).pathname)) || undefined)
}
