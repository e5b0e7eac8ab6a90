import { Argument, type Command, Option } from 'commander'
import { ASK_FOR } from '../domain/tool-rules.ts'
import { HOST_NAMES, type HostName } from '../hosts/hosts.ts'
import { DEFAULT_CONFIG, expandHome } from './default-paths.ts'
import type { Environment } from './environment.ts'
import type { ExportOptions } from './export.ts'
import type { StoreOptions } from './open-store.ts'
import { configOption, dataOption, storeOption, tenantOption } from './options.ts'
import type { ReceiptOptions } from './receipt.ts'
import type { ReviewOptions } from './review.ts'
import type { ConfigChoice } from './settings.ts'
import type { SetupChoices } from './setup.ts'
import type { StatusOptions } from './status.ts'
import type { AddedTools } from './tools.ts'

// The commands that run beside a server. Each imports its code lazily: shells and hosts wait for some of them.

export interface CommandContext {
  readonly environment: Environment
  readonly invocation: string
  readonly secrets: () => { readonly token?: string }
  readonly configOf: (command: Command) => ConfigChoice
  readonly words: readonly string[]
}

export function addPlanCommands(program: Command, { environment, invocation, configOf, words }: CommandContext): void {
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
      if (given.line) await (await import('./status-line.ts')).printStatusLine(words, environment)
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
      const { reviewPlans } = await import('./review.ts')
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
  const { environment, invocation, secrets } = context

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
      await setUp({ ...choices, ...secrets(), host, environment, invocation, cwd: process.cwd() }, terminal)
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
      const { serveFolder } = await import('./folder-server.ts')
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

export function addDataCommands(program: Command, { environment, invocation }: CommandContext): void {
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
      await printVerified({ ...options, environment, invocation })
    })

  program
    .command('recover')
    .description('save what can be read of a damaged database, which is kept')
    .addOption(dataOption())
    .action(async (options: { data: string }) => {
      const { recover } = await import('./recover.ts')
      await recover({ ...options, environment, invocation })
    })
}

const nearestData = (): Option =>
  new Option('--data <folder>', 'data folder (default: .runsheet if it is here, else ~/.runsheet)')
    .env('RUNSHEET_DATA')
    .argParser(expandHome)
