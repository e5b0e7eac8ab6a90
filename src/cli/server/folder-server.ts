import { lstatSync, mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import * as z from 'zod'
import { CliError } from '../cli-error.ts'
import { version } from '../invocation.ts'

const MAX_BYTES = 1_000_000
const MAX_ENTRIES = 1_000

/** An MCP server for the files of one folder. Symbolic links cannot lead outside it. */
export function serveFolder(path: string): void {
  const root = rootOf(path)
  void serveStdio(() => build(root))
}

function rootOf(path: string): string {
  try {
    return realpathSync(resolve(path))
  } catch {
    throw new CliError(`${path} is not a folder.`)
  }
}

function build(root: string): McpServer {
  const server = new McpServer({ name: 'runsheet-folder', version })
  const path = z.string().describe('relative to the folder')
  const reads = { readOnlyHint: true, openWorldHint: false }
  server.registerTool(
    'list_files',
    {
      description: `Lists what is in ${root}.`,
      inputSchema: z.object({ path: path.default('.') }),
      annotations: reads,
    },
    async input => answered(() => listed(inside(root, input.path))),
  )
  server.registerTool(
    'read_file',
    { description: `Reads a text file in ${root}.`, inputSchema: z.object({ path }), annotations: reads },
    async input => answered(() => read(inside(root, input.path))),
  )
  server.registerTool(
    'write_file',
    {
      description: `Writes a text file in ${root}, in place of one that is there.`,
      inputSchema: z.object({ path, text: z.string().describe('all of it') }),
      annotations: { destructiveHint: true, idempotentHint: true, openWorldHint: false },
    },
    async input =>
      answered(() => {
        const file = inside(root, input.path)
        mkdirSync(dirname(file), { recursive: true })
        writeFileSync(file, input.text)
        return `Wrote ${relative(root, file)}: ${Buffer.byteLength(input.text)} bytes.`
      }),
  )
  return server
}

/** Resolves the nearest existing parent, so that no link leads outside the folder. */
function inside(root: string, path: string): string {
  const wanted = resolve(root, path)
  const real = realOf(wanted)
  if (real === root || real.startsWith(root.endsWith(sep) ? root : root + sep)) return real
  throw new Error(`${path} is outside of the folder.`)
}

function realOf(path: string): string {
  // Writing to a dangling link would create its target.
  if (lstatSync(path, { throwIfNoEntry: false })) return realpathSync(path)
  return dirname(path) === path ? path : join(realOf(dirname(path)), relative(dirname(path), path))
}

function listed(folder: string): string {
  const entries = readdirSync(folder, { withFileTypes: true })
  const names = entries.slice(0, MAX_ENTRIES).map(entry => (entry.isDirectory() ? `${entry.name}/` : entry.name))
  const more = entries.length - names.length
  return [...names, ...(more > 0 ? [`… and ${more} more`] : [])].join('\n') || '(empty)'
}

function read(file: string): string {
  const { size } = lstatSync(file)
  if (size > MAX_BYTES) throw new Error(`The file has ${size} bytes; at most ${MAX_BYTES} are read.`)
  return readFileSync(file, 'utf8')
}

function answered(work: () => string) {
  try {
    return { content: [{ type: 'text' as const, text: work() }] }
  } catch (error) {
    return { content: [{ type: 'text' as const, text: (error as Error).message }], isError: true }
  }
}
