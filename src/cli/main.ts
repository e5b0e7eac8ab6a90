#!/usr/bin/env node
import { homedir } from 'node:os'
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { TOOLSETS } from '../domain/policy.ts'
import { Complaint } from './complaint.ts'
import type { McpCommand } from './mcp.ts'
import type { ServeOptions } from './serve.ts'
import type { StatsOptions } from './stats.ts'
import { self, version } from './version.ts'

// What a command needs is loaded when it is called: a host that starts `runsheet mcp` waits for nothing else.

const data = (): Option =>
  new Option('--data <folder>', 'where everything is kept').env('RUNSHEET_DATA').default('.runsheet').argParser(atHome)
const kept = (): Option =>
  new Option('--store <store>', 'sqlite, file, memory, or postgres://…').env('RUNSHEET_STORE').default('sqlite')
const reviewed = (): Option =>
  new Option('--review <on|off>', 'what new conversations get').env('RUNSHEET_REVIEW').choices(['on', 'off'])
const config = (): Option => new Option('--config <file>', 'settings').env('RUNSHEET_CONFIG').default('runsheet.json')
/** From the environment only: the command line is there for every process of this machine to read. */
const { RUNSHEET_TOKEN: token, RUNSHEET_AGENT_TOKEN: agentToken, RUNSHEET_MODEL_KEY: modelKey } = process.env

const program = new Command('runsheet')
  .description('The plan an AI agent works from and a person can trust.')
  .version(version)
  .exitOverride()
  .configureOutput({ outputError: () => {} })
  .showSuggestionAfterError(false)

program
  .command('serve', { isDefault: true })
  .description('serve the page, HTTP and the event stream')
  .addOption(new Option('--host <address>', 'where to listen').env('RUNSHEET_HOST').default('127.0.0.1'))
  .addOption(new Option('--port <number>', '0 for any that is free').env('RUNSHEET_PORT').default(4747).argParser(port))
  .addOption(data())
  .addOption(kept())
  .addOption(reviewed())
  .addOption(
    new Option('--idle-exit <time>', 'end when nobody was here for so long: 30m, 90s, 2h')
      .env('RUNSHEET_IDLE_EXIT')
      .argParser(duration),
  )
  .addOption(
    new Option('--agent-writes <number>', 'how often an agent may write in a minute')
      .env('RUNSHEET_AGENT_WRITES')
      .default(600)
      .argParser(count),
  )
  .addOption(
    new Option('--max-streams <number>', 'how many may follow at once')
      .env('RUNSHEET_MAX_STREAMS')
      .default(2_000)
      .argParser(count),
  )
  .addOption(
    new Option('--log <level>', 'what goes to stderr')
      .env('RUNSHEET_LOG')
      .choices(['silent', 'error', 'warn', 'info', 'debug'])
      .default('warn'),
  )
  .addOption(config())
  .addOption(
    new Option('--public-url <url>', 'where it is reached behind a proxy').env('RUNSHEET_PUBLIC_URL').argParser(url),
  )
  .addOption(
    new Option('--model <model>', 'demo, openai:NAME, anthropic:NAME, google:NAME or openai-compatible:NAME')
      .env('RUNSHEET_MODEL')
      .default('demo'),
  )
  .addOption(new Option('--assessor-model <model>', 'who judges; the same, if absent').env('RUNSHEET_ASSESSOR_MODEL'))
  .addOption(new Option('--model-url <url>', "instead of the provider's own").env('RUNSHEET_MODEL_URL'))
  .action(async (options: ServeOptions) => {
    const secrets = given({ token, agentToken, modelKey })
    const { serve } = await import('./serve.ts')
    await serve({ ...options, ...secrets, environment: process.env })
  })

program
  .command('mcp')
  .description('serve a host at standard input and output')
  .addOption(data())
  .addOption(kept())
  .addOption(
    new Option('--toolset <name>', "what the host's model is given; runsheet, if absent")
      .env('RUNSHEET_TOOLSET')
      .choices(Object.keys(TOOLSETS)),
  )
  .addOption(reviewed())
  .addOption(new Option('--session <id>', 'the conversation; one of its own, if absent').env('RUNSHEET_SESSION'))
  .addOption(config())
  .addOption(
    new Option('--idle-exit <time>', 'when the page that it starts ends')
      .env('RUNSHEET_IDLE_EXIT')
      .default('30m')
      .argParser(time => (duration(time), time)),
  )
  .action(async (options: Omit<McpCommand, 'program' | 'environment'>) => {
    const { serveMcp } = await import('./mcp.ts')
    const program = [...process.execArgv, process.argv[1] ?? '']
    await serveMcp({ ...options, ...given({ token }), program, environment: process.env })
  })

program
  .command('url')
  .description('print a fresh link to the page of the server that runs')
  .addOption(data())
  .action(async (options: { data: string }) => {
    const secrets = given({ token })
    const { printUrl } = await import('./url.ts')
    await printUrl({ ...options, ...secrets })
  })

program
  .command('stats')
  .description('how often the assessor was overruled, by model')
  .addOption(data())
  .addOption(kept())
  .action(async (options: StatsOptions) => {
    const { printStats } = await import('./stats.ts')
    await printStats(options)
  })

try {
  // Set empty is not set.
  for (const name of Object.keys(process.env))
    if (name.startsWith('RUNSHEET_') && !process.env[name]) delete process.env[name]
  await program.parseAsync()
} catch (error) {
  if (error instanceof CommanderError) {
    if (error.exitCode !== 0) complain(`${inWords(error)} Try: ${self} --help`, 2)
  } else if (error instanceof Complaint) complain(error.message, 1)
  else throw error
}

function inWords({ code, message }: CommanderError): string {
  const [, option] = /^error: unknown option '(.*)'$/.exec(message) ?? []
  const [, word] = /^error: too many arguments .* got \d+: (.*)\.$/s.exec(message) ?? []
  if (code === 'commander.unknownOption') return `I do not know ${option}.`
  if (code === 'commander.excessArguments') return `I do not know ${word}.`
  return `${message.replace(/^error: /, '').replace(/\.$/, '')}.`
}

function complain(message: string, code: number): void {
  console.error(`runsheet: ${message.replaceAll(/\s*\n\s*/g, ' ')}`)
  process.exitCode = code
}

/** Those that are set, and can be sent in a header. */
function given<K extends string>(tokens: Readonly<Record<K, string | undefined>>): Partial<Record<K, string>> {
  const set = Object.entries<string | undefined>(tokens).filter(([, value]) => value)
  if (set.some(([, value]) => !/^[\x21-\x7e]{1,500}$/.test(value ?? ''))) {
    throw new Complaint('a token may hold letters, digits and signs, without spaces.')
  }
  return Object.fromEntries(set) as Partial<Record<K, string>>
}

/** Hosts start us without a shell, which would have done this. */
function atHome(folder: string): string {
  return folder.replace(/^~(?=\/|$)/, homedir())
}

function port(raw: string): number {
  const value = Number(raw)
  if (!/^\d+$/.test(raw) || value > 65_535) throw new InvalidArgumentError('It must be a number from 0 to 65535.')
  return value
}

function count(raw: string): number {
  const value = Number(raw)
  if (!/^\d{1,9}$/.test(raw) || value < 1) throw new InvalidArgumentError('It must be a whole number from 1.')
  return value
}

function url(raw: string): URL {
  const given = URL.canParse(raw) ? new URL(raw) : undefined
  if (given && /^https?:$/.test(given.protocol) && given.href === `${given.origin}/`) return given
  throw new InvalidArgumentError('It must be a URL without a path, like https://runsheet.example.com')
}

function duration(raw: string): number {
  const [, amount, unit] = /^(\d{1,6})(ms|s|m|h)$/.exec(raw) ?? []
  const factor = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }[unit ?? '']
  if (amount === undefined || factor === undefined || Number(amount) === 0) {
    throw new InvalidArgumentError('It must be a time, like 30m, 90s or 2h.')
  }
  return Number(amount) * factor
}
