import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { runCli } from '../support/children.ts'

/** Under which key each host looks for servers; null where a command adds it. */
const HOSTS: Readonly<Record<string, string | null>> = {
  'claude-code': null,
  'claude-desktop': 'mcpServers',
  codex: 'mcp_servers',
  cursor: 'mcpServers',
  'vs-code': 'servers',
  zed: 'context_servers',
}

const docs = fileURLToPath(new URL('../../docs/', import.meta.url))
const pageOf = (host: string): string => readFileSync(`${docs}hosts/${host}.md`, 'utf8')
const overview = readFileSync(`${docs}mcp.md`, 'utf8')

describe('the setup pages', () => {
  it('[MC40] there is one for each host, and the overview names it', () => {
    expect(readdirSync(`${docs}hosts`).sort()).toEqual(Object.keys(HOSTS).map(host => `${host}.md`))
    for (const host of Object.keys(HOSTS)) expect(overview).toContain(`](hosts/${host}.md)`)
  })

  it.each(Object.keys(HOSTS))('[MC40] %s is set up by one command or one block', host => {
    expect(blocksOf(pageOf(host))).toHaveLength(1)
    expect(serverOn(host)).toMatchObject({ command: 'npx' })
  })

  it.each(Object.keys(HOSTS))(
    '[MC40] %s: the page names its sources, when they were read, and what was tried',
    host => {
      const page = pageOf(host)
      expect(page.split('\n').length).toBeLessThan(60)
      expect(page).toMatch(/^Sources, looked up on \d{4}-\d\d-\d\d .*:$/m)
      expect(page).toMatch(/^(Not tried|Tried) in the host/m)
    },
  )

  it.each(Object.keys(HOSTS))(
    '[MC41] what %s starts is a command of ours, and it names the data folder',
    async host => {
      const [yes, name, ...args] = serverOn(host).args
      expect([yes, name, args[0]]).toEqual(['-y', 'runsheet', 'mcp'])
      expect(args).toContain('--data')
      await expectKnown(args)
    },
  )

  it('[MC41] every other command that these pages name is one of ours as well', async () => {
    const named = [overview, ...Object.keys(HOSTS).map(pageOf)].flatMap(page => [
      ...page.matchAll(/(?:npx (?:-y )?)runsheet ([a-z][^`\n]*)/g),
    ])
    expect(named.length).toBeGreaterThan(Object.keys(HOSTS).length)
    for (const [, args = ''] of named) await expectKnown(args.split(' '))
  })

  it('[MC41] the overview lists options that there are', async () => {
    const options = [...overview.matchAll(/^\| `(--[a-z-]+)/gm)].map(([, option = '']) => option)
    expect(options).toContain('--toolset')
    expect(await optionsOf('mcp')).toEqual(expect.arrayContaining(options))
  })
})

interface Server {
  readonly command: string
  readonly args: readonly string[]
}

/** What the host starts, as its page has it. */
function serverOn(host: string): Server {
  const [block] = blocksOf(pageOf(host))
  const key = HOSTS[host]
  if (!block) throw new Error(`${host}: no block`)
  if (!key) {
    const [command = '', ...args] = (block.text.trim().split(' -- ')[1] ?? '').split(' ')
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

/** As much of TOML as the page has: one table, and values that are written as in JSON. */
function fromToml(text: string): Settings {
  const [head = '', ...lines] = text.trim().split('\n')
  const [, table = '', name = ''] = /^\[(\w+)\.(\w+)\]$/.exec(head) ?? []
  const values = lines.map(line => {
    const [, key = '', value = ''] = /^(\w+) = (.+)$/.exec(line) ?? []
    return [key, JSON.parse(value)] as const
  })
  return { [table]: { [name]: Object.fromEntries(values) as unknown as Server } }
}

/** That our command line has this command with these options, each with a value. */
async function expectKnown([command = '', ...args]: readonly string[]): Promise<void> {
  const known = await optionsOf(command)
  const options = args.filter((_, index) => index % 2 === 0)
  expect(known).toEqual(expect.arrayContaining(options))
  expect(args.length % 2).toBe(0)
}

const asked = new Map<string, Promise<string[]>>()

/** The options of a command of ours, as it says itself. */
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
