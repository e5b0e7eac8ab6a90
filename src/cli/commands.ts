import { Argument, type Command, Option } from 'commander'
import { ASK_FOR } from '../core/model/tool-rules.ts'
import { HOST_NAMES, type HostName } from '../hosts/hosts.ts'
import { CliError } from './cli-error.ts'
import { DEFAULT_CONFIG, expandHome, MIN_TOKEN_LENGTH, projectData } from './default-paths.ts'
import type { Environment } from './environment.ts'
import type { ExportOptions } from './export.ts'
import { invocation } from './invocation.ts'
import type { McpCommand } from './mcp.ts'
import type { StoreOptions } from './server/open-store.ts'
import {
  configOption,
  dataOption,
  fixedSettings,
  mcpOptions,
  serveOptions,
  storeOption,
  tenantOption,
} from './options.ts'
import type { ReceiptOptions } from './receipt.ts'
import type { ReviewOptions } from './terminal/review.ts'
import type { ServeOptions } from './serve.ts'
import type { ConfigChoice } from './server/settings.ts'
import type { SetupChoices } from './setup.ts'
import type { StatusOptions } from './status.ts'
import type { AddedTools } from './tools.ts'

// Each command imports its code lazily: shells and hosts wait for some of them.

interface CommandContext {
  readonly environment: Environment
  /** The command that runs this program again, as typed here. */
  readonly invocation: string
  /** The arguments as Node gives them, with those of Node itself. */
  readonly argv: readonly string[]
  readonly execArgv: readonly string[]
  /** This program, as others start it. */
  readonly file: string
}

type FoundHere = 'program' | 'fixed' | 'config' | 'environment' | 'invocation'

export function addServeCommands(program: Command, context: CommandContext): void {
  const { environment, invocation: here, argv } = context
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
    .action(async (options: Omit<ServeOptions, FoundHere>, command: Command) => {
      const { serve } = await import('./serve.ts')
      const { usualPort } = await import('./server/data-folder.ts')
      const { modelKey, ...given } = secretsIn(environment, 'token', 'agentToken', 'modelKey', 'webhookSecret')
      const fixed = fixedSettings(command, modelKey)
      const isChosen = command.getOptionValueSource('port') !== 'default'
      const port = isChosen ? options.port : usualPort(options.data)
      await serve({ ...options, port, ...given, fixed, config: configOf(command), invocation: here, environment })
    })
  for (const option of serveOptions()) serveCommand.addOption(option)

  const mcpCommand = program
    .command('mcp')
    .description('serve an MCP host, such as Claude Code or Codex, over stdin and stdout')
    .action(async (options: Omit<McpCommand, FoundHere>, command: Command) => {
      const { serveMcp } = await import('./mcp.ts')
      await serveMcp({
        ...options,
        data: dataOf(options, command),
        ...secretsIn(environment, 'token', 'agentToken'),
        program: [...context.execArgv, argv[1] ?? ''],
        fixed: fixedSettings(command),
        config: configOf(command),
        environment,
        // The hint is read in the host's log and typed in another folder.
        invocation: invocation({ path: environment['PATH'] ?? '' }),
      })
    })
  for (const option of mcpOptions()) mcpCommand.addOption(option)

  program
    .command('url')
    .description('print a new sign-in link for the running server')
    .addOption(dataOption())
    .action(async (options: { data: string }) => {
      const { printUrl } = await import('./url.ts')
      await printUrl({ ...options, ...secretsIn(environment, 'token'), environment, invocation: here })
    })

  // The installed program never gets here: `bin.ts` has a faster path.
  program
    .command('hook', { hidden: true })
    .allowUnknownOption()
    .allowExcessArguments()
    .action(async () => {
      const { runHook } = await import('./hook.ts')
      await runHook(argv.slice(3), environment)
    })
}

export function addPlanCommands(program: Command, { environment, invocation, argv }: CommandContext): void {
  program
    .command('status')
    .description('print where the plan stands, and what waits for you')
    .addOption(
      new Option('--line', 'on one line, for a status bar or a prompt; empty without a plan').conflicts('json'),
    )
    .addOption(new Option('--json', 'as JSON'))
    .addOption(new Option('--session <id>', "the conversation (default: the host's, or the newest of this folder)"))
    .addOption(nearestData())
    .addOption(storeOption())
    .action(async (given: Omit<StatusOptions, 'environment' | 'invocation'> & { line?: true }) => {
      // The installed program never gets here: `bin.ts` has a faster path.
      if (given.line) await (await import('./status-line.ts')).printStatusLine(argv.slice(3), environment)
      const { printStatus } = await import('./status.ts')
      await printStatus({ ...given, environment, invocation })
    })

  program
    .command('review')
    .description('show the plans that wait for you, and decide them')
    .addOption(new Option('--wait', 'wait for the next one if none waits'))
    .addOption(new Option('--session <id>', 'of one conversation only'))
    .addOption(nearestData())
    .addOption(storeOption())
    .addOption(configOption())
    .action(async (given: Omit<ReviewOptions, 'environment' | 'invocation' | 'config'>, command: Command) => {
      const { reviewPlans } = await import('./terminal/review.ts')
      const terminal = { input: process.stdin, output: process.stdout }
      const config = configOf(command)
      process.exitCode = await reviewPlans({ ...given, config, environment, invocation }, terminal)
    })

  program
    .command('receipt')
    .description('print what a plan was, who confirmed it, and how each step was proven')
    .addOption(new Option('--session <id>', 'the conversation (default: the newest with a plan)'))
    .addOption(new Option('--turn <id>', 'the turn (default: the newest with a plan)'))
    .addOption(new Option('--format <format>', 'Markdown, or JSON').choices(['md', 'json']).default('md'))
    .addOption(dataOption())
    .addOption(storeOption())
    .action(async (options: Omit<ReceiptOptions, 'environment'>) => {
      const { printReceipt } = await import('./receipt.ts')
      await printReceipt({ ...options, environment })
    })

  program
    .command('stats')
    .description('print how often people overruled the model that judges')
    .addOption(dataOption())
    .addOption(storeOption())
    .action(async (options: StoreOptions) => {
      const { printStats } = await import('./audit.ts')
      await printStats({ ...options, environment })
    })

  program
    .command('audit')
    .description('print who decided what, and from where')
    .addOption(dataOption())
    .addOption(storeOption())
    .addOption(new Option('--session <id>', 'of one conversation only'))
    .addOption(new Option('--json', 'as JSON lines'))
    .action(async (options: StoreOptions & { session?: string; json?: true }) => {
      const { printAudit } = await import('./audit.ts')
      await printAudit({ ...options, environment })
    })
}

export function addHostCommands(program: Command, context: CommandContext): void {
  const { environment, invocation } = context

  program
    .command('setup')
    .description("add Runsheet to a host's settings, or take it out")
    .addArgument(new Argument('<host>', 'the host').choices(HOST_NAMES))
    .addOption(
      new Option('--scope <scope>', 'for you in every project, or for everyone in this one')
        .choices(['user', 'project'])
        .default('user'),
    )
    .addOption(new Option('--print', 'print what would change, and change nothing').conflicts('yes'))
    .addOption(new Option('--remove', 'take out what setup put in'))
    .addOption(new Option('--yes', 'do not ask'))
    .addOption(new Option('--data <folder>', 'data folder (default: ~/.runsheet; with --scope project .runsheet)'))
    .addOption(new Option('--gate', 'keep the agent at open tasks (default: as set up before, else on)'))
    .addOption(new Option('--no-gate', 'let the agent stop while tasks are open'))
    .addOption(new Option('--evidence', "record results of the host's tools (default: likewise)"))
    .addOption(new Option('--no-evidence', "do not record results of the host's tools"))
    .addOption(new Option('--digest', 'remind the agent of the plan (default: likewise)'))
    .addOption(new Option('--no-digest', 'do not remind the agent of the plan'))
    .action(async (host: HostName, choices: SetupChoices) => {
      const { setUp } = await import('./setup.ts')
      const terminal = { input: process.stdin, output: process.stdout }
      await setUp(
        {
          ...choices,
          ...secretsIn(environment, 'token'),
          host,
          environment,
          invocation,
          file: context.file,
          cwd: process.cwd(),
        },
        terminal,
      )
    })

  program
    .command('doctor')
    .description('check that your hosts work with Runsheet, and say what to do')
    .addArgument(new Argument('[host]', 'the host (default: all that are set up)').choices(HOST_NAMES))
    .action(async (host: HostName | undefined) => {
      const { examine } = await import('./doctor.ts')
      const isWell = await examine({ ...(host ? { host } : {}), environment, invocation, cwd: process.cwd() })
      if (!isWell) process.exitCode = 1
    })

  const tools = program.command('tools').description('give the agent tools: a folder, or an MCP server')
  const repeated = (value: string, before: readonly string[] = []): readonly string[] => [...before, value]
  tools
    .command('add')
    .description('add a folder, or an MCP server')
    .addArgument(new Argument('[name]', "what to call it (default: the folder's name)"))
    .addArgument(new Argument('[command...]', 'after --: the command that starts the server'))
    .addOption(new Option('--folder <path>', 'the files in this folder, to read and write'))
    .addOption(new Option('--url <url>', 'an MCP server over HTTP'))
    .addOption(new Option('--header <name:value>', 'sent to it; repeatable').argParser(repeated))
    .addOption(new Option('--env <name=value>', 'a variable of the command; repeatable').argParser(repeated))
    .addOption(
      new Option('--ask <which>', 'which calls you have to allow (default: all; of a folder, changes)').choices(
        ASK_FOR,
      ),
    )
    .addOption(new Option('--replace', 'replace a server of this name'))
    .action(async (name: string | undefined, words: readonly string[], options: AddedTools) => {
      const { addTools } = await import('./tools.ts')
      addTools(name, words, options, context)
    })
  tools
    .command('list')
    .description('print the MCP servers in your own settings')
    .action(async () => {
      const { listTools } = await import('./tools.ts')
      listTools(context)
    })
  tools
    .command('remove')
    .description('remove an MCP server from your own settings')
    .addArgument(new Argument('<name>', 'the server'))
    .action(async (name: string) => {
      const { removeTools } = await import('./tools.ts')
      removeTools(name, context)
    })
  program
    .command('folder', { hidden: true })
    .description('serve the files of a folder over MCP, on stdin and stdout')
    .addArgument(new Argument('<path>', 'the folder'))
    .action(async (path: string) => {
      const { serveFolder } = await import('./server/folder-server.ts')
      serveFolder(path)
    })

  program
    .command('trust')
    .description("let a project's runsheet.json, as it is now, count as your own settings")
    .addArgument(new Argument('[file]', 'the file').default(DEFAULT_CONFIG))
    .addOption(new Option('--list', 'print the trusted files').conflicts('remove'))
    .addOption(new Option('--remove', 'trust the file no longer'))
    .action(async (file: string, { list, remove }: { list?: true; remove?: true }) => {
      const { distrustFile, listTrusted, trustFile } = await import('./trust.ts')
      const options = { file, environment, invocation }
      if (list) listTrusted(options)
      else if (remove) distrustFile(options)
      else await trustFile(options, { input: process.stdin, output: process.stdout })
    })
}

export function addDataCommands(program: Command, { environment }: CommandContext): void {
  program
    .command('backup')
    .description('copy the plans of the data folder into one file, while a server runs')
    .addArgument(new Argument('<file>', 'the file to write'))
    .addOption(dataOption())
    .addOption(storeOption())
    .addOption(new Option('--force', 'replace the file if it exists'))
    .action(async (file: string, options: StoreOptions & { force?: true }) => {
      const { writeBackup } = await import('./backup.ts')
      await writeBackup({ ...options, file, environment })
    })

  program
    .command('restore')
    .description('put the plans of a backup into the data folder')
    .addArgument(new Argument('<file>', 'the backup'))
    .addOption(dataOption())
    .addOption(storeOption())
    .addOption(new Option('--force', 'set aside the plans that are there'))
    .action(async (file: string, options: StoreOptions & { force?: true }) => {
      const { restoreBackup } = await import('./backup.ts')
      await restoreBackup({ ...options, file, environment })
    })

  program
    .command('export')
    .description('write a conversation, or all, as JSON lines')
    .addArgument(new Argument('[session]', 'the conversation'))
    .addOption(new Option('--all', 'all conversations and templates'))
    .addOption(new Option('--out <file>', 'the file to write (default: stdout)'))
    .addOption(new Option('--force', 'replace the file if it exists'))
    .addOption(dataOption())
    .addOption(storeOption())
    .addOption(tenantOption())
    .action(async (session: string | undefined, options: Omit<ExportOptions, 'session' | 'environment'>) => {
      const { writeExport } = await import('./export.ts')
      await writeExport({ ...options, ...(session === undefined ? {} : { session }), environment })
    })

  program
    .command('import')
    .description('read what export has written')
    .addArgument(new Argument('<file>', 'the export'))
    .addOption(new Option('--as <id>', 'import the conversation under another id'))
    .addOption(dataOption())
    .addOption(storeOption())
    .addOption(tenantOption())
    .action(async (file: string, options: StoreOptions & { as?: string; tenant: string }) => {
      const { readImport } = await import('./import.ts')
      await readImport({ ...options, file, environment })
    })

  program
    .command('verify')
    .description('check all that is stored for damage, while a server runs')
    .addOption(dataOption())
    .addOption(storeOption())
    .action(async (options: StoreOptions) => {
      const { printVerified } = await import('./verify.ts')
      await printVerified({ ...options, environment })
    })
}

const nearestData = (): Option =>
  new Option('--data <folder>', 'data folder (default: .runsheet if it is here, else ~/.runsheet)')
    .env('RUNSHEET_DATA')
    .argParser(expandHome)

/** Hooks and the server must find the same folder, as `setup` configures for a project. */
function dataOf({ data, hooks }: Pick<McpCommand, 'data' | 'hooks'>, command: Command): string {
  return hooks && command.getOptionValueSource('data') === 'default' ? projectData(process.cwd()) : data
}

function configOf(command: Command): ConfigChoice {
  const source = command.getOptionValueSource('config')
  const by = source === 'cli' ? 'cli' : source === 'env' ? 'env' : 'default'
  return { file: String(command.opts()['config']), by }
}

/** Environment only: every process can read the command line. */
export const SECRETS = {
  token: 'RUNSHEET_TOKEN',
  agentToken: 'RUNSHEET_AGENT_TOKEN',
  modelKey: 'RUNSHEET_MODEL_KEY',
  webhookSecret: 'RUNSHEET_WEBHOOK_SECRET',
} as const

/** The secrets that are set. A token must fit into an HTTP header. */
function secretsIn<K extends keyof typeof SECRETS>(
  environment: Environment,
  ...names: readonly K[]
): Partial<Record<K, string>> {
  const given = names.flatMap(name => {
    const value = environment[SECRETS[name]]
    const min = name === 'modelKey' ? 1 : MIN_TOKEN_LENGTH
    if (value !== undefined && (value.length < min || !/^[\x21-\x7e]{1,500}$/.test(value))) {
      throw new CliError(`${SECRETS[name]} must be ${min} to 500 printable ASCII characters without spaces.`)
    }
    return value ? [[name, value] as const] : []
  })
  return Object.fromEntries(given) as Partial<Record<K, string>>
}
