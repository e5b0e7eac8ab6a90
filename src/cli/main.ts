#!/usr/bin/env node
import { inspect } from 'node:util'
import { Command, CommanderError } from 'commander'
import { redactor } from '../domain/redact.ts'
import { visible } from '../domain/visible.ts'
import { CliError } from './cli-error.ts'
import { addDataCommands, addHostCommands, addPlanCommands, type CommandContext } from './commands.ts'
import { MIN_TOKEN_LENGTH, projectData } from './default-paths.ts'
import { invocation, version } from './invocation.ts'
import type { McpCommand } from './mcp.ts'
import { dataOption, fixedSettings, mcpOptions, serveOptions } from './options.ts'
import type { ServeOptions } from './serve.ts'
import type { ConfigChoice } from './settings.ts'

// Each command imports its code lazily: hosts wait for `runsheet mcp` to start.

/** Environment only: every process can read the command line. */
const SECRETS = {
  token: 'RUNSHEET_TOKEN',
  agentToken: 'RUNSHEET_AGENT_TOKEN',
  modelKey: 'RUNSHEET_MODEL_KEY',
  webhookSecret: 'RUNSHEET_WEBHOOK_SECRET',
} as const

type FoundByMain = 'program' | 'fixed' | 'config' | 'environment' | 'invocation'

/** For output before, or without, a composed app. */
const redact = redactor({ known: Object.values(SECRETS).map(name => process.env[name] ?? '') })

const path = process.env['PATH'] ?? ''
const invocationHere = invocation({ path, cwd: workingFolder() })

const program = new Command('runsheet')
  .description('The plan an AI agent works from and a person can trust.')
  .version(version, '-V, --version', 'print the version')
  .helpOption('-h, --help', 'print help')
  .helpCommand('help [command]', 'print help for a command')
  .exitOverride()
  .configureOutput({ outputError: () => {} })
  .showSuggestionAfterError(false)
  .commandsGroup('Serve:')
  .addHelpText('after', `\nFor the options of a command: ${invocationHere} serve --help`)

const serveCommand = program
  .command('serve', { isDefault: true })
  .description('start the server: page, HTTP API and event stream (default)')
  .addHelpText(
    'after',
    `
Secrets come from the environment only:
  RUNSHEET_TOKEN            token of the person (default: created in the data folder)
  RUNSHEET_AGENT_TOKEN      token for agents (default: created in the data folder)
  RUNSHEET_MODEL_KEY        API key of the model (default: the page's settings, else the provider's own variable)
  RUNSHEET_WEBHOOK_SECRET   key of the signatures of --webhook

Models, their key, review, deadline and gate can be set on the page, too. An option counts before its variable, both before
the page (which shows them locked), and the page before runsheet.json.`,
  )
  .action(async (options: Omit<ServeOptions, 'config' | 'invocation' | 'environment' | 'fixed'>, command: Command) => {
    const { serve } = await import('./serve.ts')
    const { usualPort } = await import('./data-folder.ts')
    const { modelKey, ...given } = secrets('token', 'agentToken', 'modelKey', 'webhookSecret')
    const fixed = fixedSettings(command, modelKey)
    const config = configOf(command)
    const isChosen = command.getOptionValueSource('port') !== 'default'
    const port = isChosen ? options.port : usualPort(options.data)
    await serve({ ...options, port, ...given, fixed, config, invocation: invocationHere, environment: process.env })
  })
for (const option of serveOptions()) serveCommand.addOption(option)

const mcpCommand = program
  .command('mcp')
  .description('serve an MCP host, such as Claude Code or Codex, over stdin and stdout')
  .action(async (options: Omit<McpCommand, FoundByMain>, command: Command) => {
    const { serveMcp } = await import('./mcp.ts')
    const program = [...process.execArgv, process.argv[1] ?? '']
    // The hint is read in the host's log and typed in another folder.
    await serveMcp({
      ...options,
      data: dataOf(options, command),
      ...secrets('token', 'agentToken'),
      program,
      fixed: fixedSettings(command),
      config: configOf(command),
      environment: process.env,
      invocation: invocation({ path }),
    })
  })
for (const option of mcpOptions()) mcpCommand.addOption(option)

program
  .command('url')
  .description('print a new sign-in link for the running server')
  .addOption(dataOption())
  .action(async (options: { data: string }) => {
    const { printUrl } = await import('./url.ts')
    await printUrl({ ...options, ...secrets('token'), environment: process.env, invocation: invocationHere })
  })

// The installed program never gets here: `bin.ts` has a faster path.
program
  .command('hook', { hidden: true })
  .allowUnknownOption()
  .allowExcessArguments()
  .action(async () => {
    const { runHook } = await import('./hook.ts')
    await runHook(process.argv.slice(3), process.env)
  })

const context: CommandContext = {
  environment: process.env,
  invocation: invocationHere,
  secrets: () => secrets('token'),
  configOf,
  words: process.argv.slice(3),
}
addPlanCommands(program.commandsGroup('Plans:'), context)
addHostCommands(program.commandsGroup('Hosts and tools:'), context)
addDataCommands(program.commandsGroup('Data:'), context)

// A reader such as `head` may close the pipe. The work continues without output; `mcp` handles it itself.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
  })
}

try {
  // An empty variable counts as unset.
  for (const name of Object.keys(process.env))
    if (name.startsWith('RUNSHEET_') && !process.env[name]) delete process.env[name]
  await program.parseAsync()
} catch (error) {
  if (error instanceof CommanderError) {
    if (error.exitCode !== 0) fail(usageProblem(error), 2)
  } else if (error instanceof CliError) fail(error.message, 1)
  else if ((error as NodeJS.ErrnoException).code === 'EPIPE') process.exitCode = 0
  else {
    console.error(redact.block(inspect(error)))
    process.exitCode = 1
  }
}

/** Fails early: every relative path depends on it. */
function workingFolder(): string {
  try {
    return process.cwd()
  } catch {
    fail('the current folder was deleted or cannot be read. Change to another one.', 1)
    return process.exit()
  }
}

/** Hooks and the server must find the same folder, as `setup` configures for a project. */
function dataOf({ data, hooks }: Pick<McpCommand, 'data' | 'hooks'>, command: Command): string {
  return hooks && command.getOptionValueSource('data') === 'default' ? projectData(process.cwd()) : data
}

function configOf(command: Command): ConfigChoice {
  const source = command.getOptionValueSource('config')
  const by = source === 'cli' ? 'cli' : source === 'env' ? 'env' : 'default'
  return { file: String(command.opts()['config']), by }
}

/** Commander's message without its prefix, plus a pointer to the help. */
function usageProblem({ code, message }: CommanderError): string {
  const command = program.commands.find(each => each.name() === process.argv[2])?.name()
  const help = `Try: ${invocationHere} ${command ?? 'serve'} --help`
  const [, option] = /^error: unknown option '(.*)'$/s.exec(message) ?? []
  const [, word] = /^error: too many arguments .* got \d+: (.*)\.$/s.exec(message) ?? []
  if (code === 'commander.unknownOption') return `unknown option: ${option}. ${help}`
  if (code !== 'commander.excessArguments') return `${message.replace(/^error: /, '').replace(/\.$/, '')}. ${help}`
  return command ? `unexpected argument: ${word}. ${help}` : `unknown command: ${word}. Try: ${invocationHere} --help`
}

function fail(message: string, exitCode: number): void {
  console.error(visible(redact.line(`runsheet: ${message.replaceAll(/\s*\n\s*/g, ' ')}`)))
  process.exitCode = exitCode
}

/** The secrets that are set. A token must fit into an HTTP header. */
function secrets<K extends keyof typeof SECRETS>(...names: readonly K[]): Partial<Record<K, string>> {
  const given = names.flatMap(name => {
    const value = process.env[SECRETS[name]]
    const min = name === 'modelKey' ? 1 : MIN_TOKEN_LENGTH
    if (value !== undefined && (value.length < min || !/^[\x21-\x7e]{1,500}$/.test(value))) {
      throw new CliError(`${SECRETS[name]} must be ${min} to 500 printable ASCII characters without spaces.`)
    }
    return value ? [[name, value] as const] : []
  })
  return Object.fromEntries(given) as Partial<Record<K, string>>
}
