import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { rolldown } from 'rolldown'

export interface Contender {
  readonly name: string
  args(data: string, session?: string): string[]
}

export interface Contenders {
  /** As installed: the `bin` of package.json. */
  readonly ours: Contender
  readonly oursFromSource: Contender
  /** Bundled, with the compile cache. */
  readonly bare: Contender
  readonly bareNormal: Contender
  readonly bareFromSource: Contender
}

export type Folder = (contender: Contender) => string

export interface Session {
  readonly pid: number
  plan(titles: readonly string[]): Promise<number[]>
  settle(id: number, outcome: string): Promise<void>
  close(): Promise<void>
}

const root = fileURLToPath(new URL('..', import.meta.url))

export async function contenders(folder: string): Promise<Contenders> {
  const { bin } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { bin: { runsheet: string } }
  const installed = join(root, bin.runsheet)
  if (!existsSync(installed)) throw new Error(`no ${bin.runsheet}: npm run build`)
  const bundled = await bundle(folder)
  const ours = (name: string, file: string): Contender => ({
    name,
    args: (data, session) => [file, 'mcp', '--review', 'off', '--data', data, ...named(session)],
  })
  const bare = (name: string, file: string, sync: string): Contender => ({
    name,
    args: (data, session) => [file, '--sync', sync, '--data', data, ...named(session)],
  })
  return {
    ours: ours('ours', installed),
    oursFromSource: ours('ours from source', join(root, 'src/cli/main.ts')),
    bare: bare('bare', bundled, 'FULL'),
    bareNormal: bare('bare, NORMAL', bundled, 'NORMAL'),
    bareFromSource: bare('bare from source', join(root, 'bench/support/bare-mcp.ts'), 'FULL'),
  }
}

/** Connects an official client and lists the tools. Its requests time out after a minute. */
export async function connect(contender: Contender, data: string, session?: string): Promise<Session> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: contender.args(data, session),
    // The compile cache goes there, too, and is removed with the folder.
    env: { TMPDIR: join(data, '..') },
    stderr: 'pipe',
  })
  let said = ''
  transport.stderr?.on('data', chunk => (said = `${said}${chunk}`.slice(-2_000)))
  const client = new Client({ name: 'bench', version: '1.0.0' })
  const call = async (name: string, args: Record<string, unknown>): Promise<Record<string, unknown>> => {
    const { isError, structuredContent, content } = await client.callTool({ name, arguments: args })
    if (isError || structuredContent === undefined) throw new Refused(`${contender.name}: ${JSON.stringify(content)}`)
    return structuredContent as Record<string, unknown>
  }
  try {
    await client.connect(transport)
    await client.listTools()
  } catch (error) {
    await client.close()
    throw new Error(`${contender.name} does not start: ${said}`, { cause: error })
  }
  return {
    pid: transport.pid ?? Number.NaN,
    plan: async titles => (await call('plan', { tasks: titles.map(title => ({ title })) }))['ids'] as number[],
    settle: async (id, outcome) => void (await call('update', { id, outcome })),
    close: () => client.close(),
  }
}

export class Refused extends Error {}

/** Milliseconds for a plan, from create to the last completion. */
export async function workThrough(session: Session, titles: readonly string[]): Promise<number> {
  const started = performance.now()
  for (const id of await session.plan(titles)) await session.settle(id, 'Done.')
  return performance.now() - started
}

export const titlesOf = (plan: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `Step ${index + 1} of plan ${plan}`)

/** Serves a data folder from a child process, so that `runsheet mcp` finds a server and leaves none behind. */
export async function servedFolder(data: string): Promise<{ end(): Promise<void> }> {
  mkdirSync(data, { recursive: true })
  const args = [join(root, 'src/cli/main.ts'), 'serve', '--port', '0', '--data', data]
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('RUNSHEET_')))
  const server = spawn(process.execPath, args, { cwd: data, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  server.stderr.on('data', chunk => (said = `${said}${chunk}`.slice(-2_000)))
  const ended = once(server, 'exit')
  const failed = ended.then(() => Promise.reject(new Error(`the server ended before it was ready: ${said}`)))
  await Promise.race([once(createInterface(server.stdout), 'line'), failed])
  failed.catch(() => {})
  return {
    end: async () => {
      server.kill()
      await ended
    },
  }
}

async function bundle(folder: string): Promise<string> {
  const build = await rolldown({
    input: join(root, 'bench/support/bare-mcp-bin.ts'),
    platform: 'node',
    logLevel: 'silent',
    // package.json declares no side effects, which holds for the library only.
    treeshake: { moduleSideEffects: [{ test: /bare-mcp/, sideEffects: true }] },
  })
  await build.write({
    dir: folder,
    format: 'esm',
    entryFileNames: 'bare.mjs',
    chunkFileNames: '[name].mjs',
    minify: true,
  })
  await build.close()
  return join(folder, 'bare.mjs')
}

const named = (session: string | undefined): string[] => (session === undefined ? [] : ['--session', session])
