import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { describe, expect, it, onTestFinished } from 'vitest'
import { runCli } from '../support/children.ts'
import { PAGE_ENV } from '../support/mcp.ts'
import { scratchFolder } from '../support/scratch.ts'

/** The key under which each host lists servers; null if a command adds them. */
const HOSTS: Readonly<Record<string, string | null>> = {
  'claude-code': null,
  'claude-desktop': 'mcpServers',
  codex: 'mcp_servers',
  cursor: 'mcpServers',
  'gemini-cli': 'mcpServers',
  opencode: 'mcp',
  'qwen-code': 'mcpServers',
  'vs-code': 'servers',
  zed: 'context_servers',
}

const CLONE = '/path/to/runsheet'
/** What runs a command of ours from any folder. */
const RUNSHEET = ['npm', '--prefix', CLONE, 'run', '-s', 'runsheet', '--']

const root = fileURLToPath(new URL('../..', import.meta.url))
const docs = join(root, 'docs/')
const pageOf = (host: string): string => readFileSync(`${docs}hosts/${host}.md`, 'utf8')
const overview = readFileSync(`${docs}mcp.md`, 'utf8')

describe('the setup pages', () => {
  it('[MC37] there is one for each host, and the overview names it', () => {
    expect(readdirSync(`${docs}hosts`).sort()).toEqual(Object.keys(HOSTS).map(host => `${host}.md`))
    for (const host of Object.keys(HOSTS)) expect(overview).toContain(`](hosts/${host}.md)`)
  })

  it.each(Object.keys(HOSTS))('[MC37] %s is set up by one command or one block', host => {
    expect(blocksOf(pageOf(host))).toHaveLength(1)
    expect(commandOn(host).slice(0, RUNSHEET.length)).toEqual(RUNSHEET)
  })

  it.each(Object.keys(HOSTS))(
    '[MC37] %s: the page names its sources, when they were read, and what was tried',
    host => {
      const page = pageOf(host)
      expect(page.split('\n').length).toBeLessThan(60)
      expect(page).toMatch(/^Sources, looked up on \d{4}-\d\d-\d\d( .*:$|: none but the program itself\.$)/m)
      expect(page).toMatch(/^(Not tried|Tried) in the host/m)
    },
  )

  it.each(Object.keys(HOSTS))('[MC38] %s starts a command of ours, with a data folder', async host => {
    const [command, ...args] = commandOn(host).slice(RUNSHEET.length)
    expect(command).toBe('mcp')
    expect(args).toContain('--data')
    await expectKnown(['mcp', ...args])
  })

  it('[MC38] every command on these pages is one of ours', async () => {
    const pages = [overview, ...Object.keys(HOSTS).map(pageOf)]
    const commands = pages.flatMap(page => [
      ...page.matchAll(/(?:run -s runsheet --|main\.ts|`runsheet) ([a-z][^`\n]*)/g),
    ])
    expect(commands.length).toBeGreaterThan(Object.keys(HOSTS).length)
    for (const [, args = ''] of commands) await expectKnown(args.split(' '))
    // Not published: npx would look for it in the registry.
    for (const page of pages) expect(page).not.toMatch(/npx (-y )?runsheet/)
  })

  it('[MC38] the command serves a host from another folder', async () => {
    const commands = Object.keys(HOSTS).map(host => commandOn(host).join(' '))
    expect(new Set(commands).size).toBe(1)
    const scratch = scratchFolder()
    onTestFinished(() => rmSync(scratch, { recursive: true, maxRetries: 5 }))
    const data = join(scratch, 'data')
    const [command = '', ...args] = commandOn('codex').map(word =>
      word === CLONE ? root : word === '~/.runsheet' ? data : word,
    )
    const transport = new StdioClientTransport({ command, args, cwd: scratch, env: hostEnv(), stderr: 'pipe' })
    let stderr = ''
    transport.stderr?.on('data', chunk => {
      stderr += String(chunk)
    })
    const client = new Client({ name: 'a host', version: '1.0.0' })
    await client.connect(transport)
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('await_review')
    await expect.poll(() => stderr).toContain('review plans at http')
    await client.close()
    const { pid } = JSON.parse(readFileSync(join(data, 'server.json'), 'utf8')) as { pid: number }
    process.kill(pid)
    await expect.poll(() => isAlive(pid)).toBe(false)
  })

  it('[MC38] the options in the overview exist', async () => {
    const options = [...overview.matchAll(/^\| `(--[a-z-]+)/gm)].map(([, option = '']) => option)
    expect(options).toContain('--toolset')
    expect(await optionsOf('mcp')).toEqual(expect.arrayContaining(options))
  })
})

/** OpenCode has the command with its arguments as one list. */
interface Server {
  readonly command: string | readonly string[]
  readonly args?: readonly string[]
}

/** The command that the host starts, as its page has it. */
function commandOn(host: string): string[] {
  const { command, args = [] } = serverOn(host)
  return [...(typeof command === 'string' ? [command] : command), ...args]
}

function serverOn(host: string): Server {
  const [block] = blocksOf(pageOf(host))
  const key = HOSTS[host]
  if (!block) throw new Error(`${host}: no block`)
  if (!key) {
    const [command = '', ...args] = block.text
      .trim()
      .replace(/^.*? -- /, '')
      .split(' ')
    return { command, args }
  }
  const settings = block.language === 'toml' ? fromToml(block.text) : (JSON.parse(block.text) as Settings)
  const server = settings[key]?.['runsheet']
  if (!server) throw new Error(`${host}: no ${key}.runsheet`)
  return server
}

type Settings = Record<string, Record<string, Server>>

function blocksOf(page: string): { language: string; text: string }[] {
  return [...page.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language = '', text = '']) => ({ language, text }))
}

/** The TOML that the page uses: one table, with values as in JSON. */
function fromToml(text: string): Settings {
  const [head = '', ...lines] = text.trim().split('\n')
  const [, table = '', name = ''] = /^\[(\w+)\.(\w+)\]$/.exec(head) ?? []
  const values = lines.map(line => {
    const [, key = '', value = ''] = /^(\w+) = (.+)$/.exec(line) ?? []
    return [key, JSON.parse(value)] as const
  })
  return { [table]: { [name]: Object.fromEntries(values) as unknown as Server } }
}

/** Expects a command of ours with options that it has, each with a value. */
async function expectKnown([command = '', ...args]: readonly string[]): Promise<void> {
  const known = await optionsOf(command)
  const options = args.filter((_, index) => index % 2 === 0)
  expect(known).toEqual(expect.arrayContaining(options))
  expect(args.length % 2).toBe(0)
}

/** Without what vitest runs in: a host starts servers with its own environment. */
const hostEnv = (): Record<string, string> => ({ PATH: process.env['PATH'] ?? '', ...PAGE_ENV })

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

const asked = new Map<string, Promise<string[]>>()

/** The options in a command's help. */
function optionsOf(command: string): Promise<string[]> {
  const before = asked.get(command)
  if (before) return before
  const options = helpOf(command)
  asked.set(command, options)
  return options
}

async function helpOf(command: string): Promise<string[]> {
  const child = runCli([command, '--help'])
  const { code, stderr } = await child.ended
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(child.lines[0]).toMatch(new RegExp(`^Usage: runsheet ${command} `))
  return child.lines.flatMap(line => /^ +(?:-\w, )?(--[a-z-]+)/.exec(line)?.[1] ?? [])
}
