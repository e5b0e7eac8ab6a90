import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { describe, expect, it, onTestFinished } from 'vitest'
import { HOST_NAMES } from '../../src/hosts/hosts.ts'
import { runCli } from '../support/children.ts'
import { PAGE_ENV } from '../support/mcp.ts'
import { scratchFolder } from '../support/scratch.ts'

/** How `runsheet setup` names the host of each page; null if it is set up by hand. */
const HOSTS: Readonly<Record<string, (typeof HOST_NAMES)[number] | null>> = {
  'claude-code': 'claude-code',
  'claude-desktop': null,
  codex: 'codex',
  cursor: 'cursor',
  'gemini-cli': 'gemini',
  opencode: 'opencode',
  'qwen-code': 'qwen',
  'vs-code': 'vscode',
  zed: 'zed',
}

const TRIED = ['claude-code', 'codex', 'gemini-cli', 'opencode', 'qwen-code']

const root = fileURLToPath(new URL('../..', import.meta.url))
const docs = join(root, 'docs/')
const pageOf = (host: string): string => readFileSync(`${docs}hosts/${host}.md`, 'utf8')
const overview = readFileSync(`${docs}mcp.md`, 'utf8')

describe('the setup pages', () => {
  it('there is one for each host, and the overview names it', () => {
    expect(readdirSync(`${docs}hosts`).sort()).toEqual(Object.keys(HOSTS).map(host => `${host}.md`))
    for (const host of Object.keys(HOSTS)) expect(overview).toContain(`](hosts/${host}.md)`)
    expect(new Set(Object.values(HOSTS))).toEqual(new Set([...HOST_NAMES, null]))
  })

  it.each(Object.entries(HOSTS))('%s is set up by one block', (host, name) => {
    const [block, ...more] = blocksOf(pageOf(host))
    expect(more).toEqual([])
    if (name) expect(commandsIn(block ?? '')).toContainEqual(['setup', name])
    else expect(JSON.parse(block ?? '')).toEqual({ mcpServers: { runsheet: BY_HAND } })
  })

  it.each(Object.keys(HOSTS))('%s: the page names its sources, when they were read, and what was tried', host => {
    const page = pageOf(host)
    expect(page.split('\n').length).toBeLessThan(60)
    expect(page).toMatch(/^Sources, looked up on \d{4}-\d\d-\d\d( in stored copies:|: none but the program itself\.)/m)
    expect(page).toMatch(TRIED.includes(host) ? /^Tried on \d{4}-\d\d-\d\d: .* \d+\.\d+\.\d+ /m : /^Not tried: /m)
    expect(page.includes('](../images/')).toBe(TRIED.includes(host))
  })

  it.each(TRIED)('%s: the version is the one that the tests run', host => {
    const driver = readFileSync(join(root, 'test/hosts/drivers', `${HOSTS[host]}.ts`), 'utf8')
    const [, name, version] = /package: '(.*)',\n {2}version: '(.*)'/.exec(driver) ?? []
    expect(pageOf(host)).toContain(`npm install -g ${name}@${version}\n`)
    expect(pageOf(host)).toMatch(new RegExp(`^Tried on .* ${version} `, 'm'))
  })

  it('every command on these pages is one of ours', async () => {
    const pages = [overview, ...Object.keys(HOSTS).map(pageOf)]
    const commands = pages.flatMap(page => [
      ...blocksOf(page).flatMap(commandsIn),
      ...[...page.matchAll(/`(runsheet [a-z][^`\n]*)`/g)].flatMap(([, line = '']) => commandsIn(line)),
    ])
    expect(commands.length).toBeGreaterThan(20)
    for (const command of commands) await expectKnown(command)
    // Not published: npx would look for it in the registry.
    for (const page of pages) expect(page).not.toMatch(/npx (-y )?runsheet/)
  })

  it('the command of a clone serves a host from another folder', async () => {
    const line = /^npm --prefix .*$/m.exec(overview)?.[0] ?? ''
    const scratch = scratchFolder()
    onTestFinished(() => rmSync(scratch, { recursive: true, maxRetries: 5 }))
    const data = join(scratch, 'data')
    const places: Readonly<Record<string, string>> = { '/path/to/runsheet': root, '~/.runsheet': data }
    const [command = '', ...args] = line.split(' ').map(word => places[word] ?? word)
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

  it('the options in the overview exist', async () => {
    const options = [...overview.matchAll(/^\| `(--[a-z-]+)/gm)].map(([, option = '']) => option)
    expect(options).toContain('--toolset')
    expect(await optionsOf('mcp')).toEqual(expect.arrayContaining(options))
  })
})

/** What Claude Desktop is to start. */
const BY_HAND = { command: 'runsheet', args: ['mcp', '--data', '~/.runsheet'] }

const blocksOf = (page: string): string[] => [...page.matchAll(/^```\w+\n(.*?)^```$/gms)].map(([, text = '']) => text)

/** Our commands in a block or a line, without comments. */
const commandsIn = (text: string): string[][] =>
  text.split('\n').flatMap(line => {
    const [, command] = /^(?:npm .*run -s )?runsheet (?:-- )?([^#]+)/.exec(line) ?? []
    return command === undefined ? [] : [command.trim().split(/\s+/)]
  })

/** Expects a command of ours with options that it has. */
async function expectKnown([command = '', ...args]: readonly string[]): Promise<void> {
  const options = args.filter(arg => arg.startsWith('--'))
  expect(await optionsOf(command)).toEqual(expect.arrayContaining(options))
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
