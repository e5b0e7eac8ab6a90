import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { scratchFolder } from '../test/support/scratch.ts'
import { benchMany, benchPlan } from './mcp-plans.ts'
import { type Contenders, contenders, type Folder, servedFolder } from './mcp-servers.ts'
import { benchStart } from './mcp-start.ts'
import { benchTogether } from './mcp-together.ts'
import { benchUsage } from './mcp-usage.ts'
import { printMachine } from './table.ts'

printMachine(
  'On stdio, with the official client, beside a bare server on the same SDK and node:sqlite; ratios are medians of rounds that alternate within this run.',
)

const parts: Readonly<Record<string, (all: Contenders, folder: Folder) => Promise<void>>> = {
  start: benchStart,
  plan: benchPlan,
  many: benchMany,
  usage: benchUsage,
  together: benchTogether,
}

const only = process.argv[2]
const scratch = scratchFolder()
try {
  const all = await contenders(join(scratch, 'bundle'))
  for (const [name, part] of Object.entries(parts)) if (!only || only === name) await onFreshFolders(name, all, part)
} finally {
  rmSync(scratch, { recursive: true, maxRetries: 5 })
}

/** Runs a part on fresh data folders. Ours has a running server, as when the page is open. */
async function onFreshFolders(
  name: string,
  all: Contenders,
  part: (all: Contenders, folder: Folder) => Promise<void>,
): Promise<void> {
  const folder: Folder = contender => join(scratch, `${name} ${contender.name}`)
  const server = await servedFolder(folder(all.ours))
  try {
    await part(all, folder)
  } finally {
    await server.end()
  }
}
