import { Argument, Command, Option } from 'commander'
import { ASK_FOR } from '../core/model/tool-approval.ts'
import { HOST_NAMES, type HostName } from '../hosts/hosts.ts'
import { DEFAULT_CONFIG, expandHome, projectData } from './default-paths.ts'
import type { Environment } from './environment.ts'
import type { ExportOptions } from './export.ts'
import { invocation } from './invocation.ts'
import type { McpCommand } from './mcp.ts'
import {
  configOf,
  configOption,
  dataOption,
  fixedSettings,
  mcpOptions,
  secretsIn,
  serveOptions,
  storeOption,
  tenantOption,
} from './options.ts'
import type { ReceiptOptions } from './receipt.ts'
import type { ServeOptions } from './serve.ts'
import type { StoreOptions } from './server/open-store.ts'
import type { SetupChoices } from './setup.ts'
import type { StatusOptions } from './status.ts'
import type { ReviewOptions } from './terminal/review.ts'
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

/** Options as parsed; the context adds the rest. */
type Given<T> = Omit<T, 'environment' | 'invocation' | 'config' | 'fixed' | 'program'>

const command = (words: string, description: string, ...parts: readonly (Option | Argument)[]): Command => {
  const made = new Command(words).description(description)
  for (const part of parts) {
    if (part instanceof Option) made.addOption(part)
    else made.addArgument(part)
  }
  return made
}

const option = (flags: string, description: string): Option => new Option(flags, description)

/** In the groups of `--help`. Hidden commands are in none of them. */
export function addCommands(program: Command, context: CommandContext): void {
  const add = (each: Command, options = {}): void => {
    program.addCommand(each.copyInheritedSettings(program), options)
    for (const below of each.commands) below.copyInheritedSettings(each)
  }
  const { hidden, ...groups } = commands(context)
  for (const [title, all] of Object.entries(groups)) {
    program.commandsGroup(title)
    for (const each of all) add(each, { isDefault: each.name() === 'serve' })
  }
  for (const each of hidden) add(each, { hidden: true })
}

const commands = (context: CommandContext): Readonly<Record<string, readonly Command[]>> & { hidden: Command[] } => {
  const { environment, invocation: here, argv } = context
  const terminal = { input: process.stdin, output: process.stdout }
  return {
    'Serve:': [
      command('serve', 'start the server: page, HTTP API and event stream (default)', ...serveOptions())
        .addHelpText('after', SERVE_HELP)
        .action(async (options: Given<ServeOptions>, self: Command) => {
          const { serve } = await import('./serve.ts')
          const { usualPort } = await import('./server/data-folder.ts')
          const { modelKey, ...given } = secretsIn(environment, 'token', 'agentToken', 'modelKey', 'webhookSecret')
          const isChosen = self.getOptionValueSource('port') !== 'default'
          const port = isChosen ? options.port : usualPort(options.data)
          const fixed = fixedSettings(self, modelKey)
          await serve({ ...options, port, ...given, fixed, config: configOf(self), invocation: here, environment })
        }),
      command('mcp', 'serve an MCP host, such as Claude Code or Codex, over stdin and stdout', ...mcpOptions()).action(
        async (options: Given<McpCommand>, self: Command) => {
          const { serveMcp } = await import('./mcp.ts')
          await serveMcp({
            ...options,
            data: mcpData(options, self),
            ...secretsIn(environment, 'token', 'agentToken'),
            program: [...context.execArgv, argv[1] ?? ''],
            fixed: fixedSettings(self),
            config: configOf(self),
            environment,
            // The hint is read in the host's log and typed in another folder.
            invocation: invocation({ path: environment['PATH'] ?? '' }),
          })
        },
      ),
      command('url', 'print a new sign-in link for the running server', dataOption()).action(
        async (options: { data: string }) => {
          const { printUrl } = await import('./url.ts')
          await printUrl({ ...options, ...secretsIn(environment, 'token'), environment, invocation: here })
        },
      ),
    ],
    'Plans:': [
      command(
        'status',
        'print where the plan stands, and what waits for you',
        option('--line', 'on one line, for a status bar or a prompt; empty without a plan').conflicts('json'),
        option('--json', 'as JSON'),
        option('--session <id>', "the conversation (default: the host's, or the newest of this folder)"),
        nearestData(),
        storeOption(),
      ).action(async (given: Given<StatusOptions> & { line?: true }) => {
        // The installed program never gets here: `bin.ts` has a faster path.
        if (given.line) await (await import('./status-line.ts')).printStatusLine(argv.slice(3), environment)
        await (await import('./status.ts')).printStatus({ ...given, environment, invocation: here })
      }),
      command(
        'review',
        'show the plans that wait for you, and decide them',
        option('--wait', 'wait for the next one if none waits'),
        option('--session <id>', 'of one conversation only'),
        nearestData(),
        storeOption(),
        configOption(),
      ).action(async (given: Given<ReviewOptions>, self: Command) => {
        const { reviewPlans } = await import('./terminal/review.ts')
        const options = { ...given, config: configOf(self), environment, invocation: here }
        process.exitCode = await reviewPlans(options, terminal)
      }),
      command(
        'receipt',
        'print what a plan was, who confirmed it, and how each step was proven',
        option('--session <id>', 'the conversation (default: the newest with a plan)'),
        option('--turn <id>', 'the turn (default: the newest with a plan)'),
        option('--format <format>', 'Markdown, or JSON').choices(['md', 'json']).default('md'),
        dataOption(),
        storeOption(),
      ).action(async (options: Given<ReceiptOptions>) =>
        (await import('./receipt.ts')).printReceipt({ ...options, environment }),
      ),
      command('stats', 'print how often people overruled the model that judges', dataOption(), storeOption()).action(
        async (options: StoreOptions) => (await import('./audit.ts')).printStats({ ...options, environment }),
      ),
      command(
        'audit',
        'print who decided what, and from where',
        dataOption(),
        storeOption(),
        option('--session <id>', 'of one conversation only'),
        option('--json', 'as JSON lines'),
      ).action(async (options: StoreOptions & { session?: string; json?: true }) =>
        (await import('./audit.ts')).printAudit({ ...options, environment }),
      ),
    ],
    'Hosts and tools:': [
      command(
        'setup',
        "add Runsheet to a host's settings, or take it out",
        new Argument('<host>', 'the host').choices(HOST_NAMES),
        option('--scope <scope>', 'for you in every project, or for everyone in this one')
          .choices(['user', 'project'])
          .default('user'),
        option('--print', 'print what would change, and change nothing').conflicts('yes'),
        option('--remove', 'take out what setup put in'),
        option('--yes', 'do not ask'),
        option('--data <folder>', 'data folder (default: ~/.runsheet; with --scope project .runsheet)'),
        option('--gate', 'keep the agent at open tasks (default: as set up before, else on)'),
        option('--no-gate', 'let the agent stop while tasks are open'),
        option('--evidence', "record results of the host's tools (default: likewise)"),
        option('--no-evidence', "do not record results of the host's tools"),
        option('--digest', 'remind the agent of the plan (default: likewise)'),
        option('--no-digest', 'do not remind the agent of the plan'),
      ).action(async (host: HostName, given: SetupChoices) => {
        const { setUp } = await import('./setup.ts')
        const { file } = context
        const options = { ...given, ...secretsIn(environment, 'token'), host, environment, file, cwd: process.cwd() }
        await setUp({ ...options, invocation: here }, terminal)
      }),
      command(
        'doctor',
        'check that your hosts work with Runsheet, and say what to do',
        new Argument('[host]', 'the host (default: all that are set up)').choices(HOST_NAMES),
      ).action(async (host: HostName | undefined) => {
        const { examine } = await import('./doctor.ts')
        const options = { environment, invocation: here, cwd: process.cwd() }
        if (!(await examine({ ...(host ? { host } : {}), ...options }))) process.exitCode = 1
      }),
      toolsCommand(context),
      command(
        'trust',
        "let a project's runsheet.json, as it is now, count as your own settings",
        new Argument('[file]', 'the file').default(DEFAULT_CONFIG),
        option('--list', 'print the trusted files').conflicts('remove'),
        option('--remove', 'trust the file no longer'),
      ).action(async (file: string, { list, remove }: { list?: true; remove?: true }) => {
        const { distrustFile, listTrusted, trustFile } = await import('./trust.ts')
        const options = { file, environment, invocation: here }
        if (list) listTrusted(options)
        else if (remove) distrustFile(options)
        else await trustFile(options, terminal)
      }),
    ],
    'Data:': [
      command(
        'backup',
        'copy the plans of the data folder into one file, while a server runs',
        new Argument('<file>', 'the file to write'),
        dataOption(),
        storeOption(),
        option('--force', 'replace the file if it exists'),
      ).action(async (file: string, options: StoreOptions & { force?: true }) =>
        (await import('./backup.ts')).writeBackup({ ...options, file, environment }),
      ),
      command(
        'restore',
        'put the plans of a backup into the data folder',
        new Argument('<file>', 'the backup'),
        dataOption(),
        storeOption(),
        option('--force', 'set aside the plans that are there'),
      ).action(async (file: string, options: StoreOptions & { force?: true }) =>
        (await import('./backup.ts')).restoreBackup({ ...options, file, environment }),
      ),
      command(
        'export',
        'write a conversation, or all, as JSON lines',
        new Argument('[session]', 'the conversation'),
        option('--all', 'all conversations and templates'),
        option('--out <file>', 'the file to write (default: stdout)'),
        option('--force', 'replace the file if it exists'),
        dataOption(),
        storeOption(),
        tenantOption(),
      ).action(async (session: string | undefined, options: Given<ExportOptions>) =>
        (await import('./export.ts')).writeExport({ ...options, ...(session && { session }), environment }),
      ),
      command(
        'import',
        'read what export has written',
        new Argument('<file>', 'the export'),
        option('--as <id>', 'import the conversation under another id'),
        dataOption(),
        storeOption(),
        tenantOption(),
      ).action(async (file: string, options: StoreOptions & { as?: string; tenant: string }) =>
        (await import('./import.ts')).readImport({ ...options, file, environment }),
      ),
      command('verify', 'check all that is stored for damage, while a server runs', dataOption(), storeOption()).action(
        async (options: StoreOptions) => (await import('./verify.ts')).printVerified({ ...options, environment }),
      ),
    ],
    hidden: [
      // The installed program never gets here: `bin.ts` has a faster path.
      command('hook', 'answer an event of a host')
        .allowUnknownOption()
        .allowExcessArguments()
        .action(async () => (await import('./hook.ts')).runHook(argv.slice(3), environment)),
      command(
        'folder',
        'serve the files of a folder over MCP, on stdin and stdout',
        new Argument('<path>', 'the folder'),
      ).action(async (path: string) => (await import('./server/folder-server.ts')).serveFolder(path)),
    ],
  }
}

function toolsCommand(context: CommandContext): Command {
  const repeated = (value: string, before: readonly string[] = []): readonly string[] => [...before, value]
  const tools = command('tools', 'give the agent tools: a folder, or an MCP server')
  const all = [
    command(
      'add',
      'add a folder, or an MCP server',
      new Argument('[name]', "what to call it (default: the folder's name)"),
      new Argument('[command...]', 'after --: the command that starts the server'),
      option('--folder <path>', 'the files in this folder, to read and write'),
      option('--url <url>', 'an MCP server over HTTP'),
      option('--header <name:value>', 'sent to it; repeatable').argParser(repeated),
      option('--env <name=value>', 'a variable of the command; repeatable').argParser(repeated),
      option('--ask <which>', 'which calls you have to allow (default: all; of a folder, changes)').choices(ASK_FOR),
      option('--replace', 'replace a server of this name'),
    ).action(async (name: string | undefined, words: readonly string[], options: AddedTools) =>
      (await import('./tools.ts')).addTools(name, words, options, context),
    ),
    command('list', 'print the MCP servers in your own settings').action(async () =>
      (await import('./tools.ts')).listTools(context),
    ),
    command('remove', 'remove an MCP server from your own settings', new Argument('<name>', 'the server')).action(
      async (name: string) => (await import('./tools.ts')).removeTools(name, context),
    ),
  ]
  for (const each of all) tools.addCommand(each)
  return tools
}

const SERVE_HELP = `
Secrets come from the environment only:
  RUNSHEET_TOKEN            token of the person (default: created in the data folder)
  RUNSHEET_AGENT_TOKEN      token for agents (default: created in the data folder)
  RUNSHEET_MODEL_KEY        API key of the model (default: the page's settings, else the provider's own variable)
  RUNSHEET_WEBHOOK_SECRET   key of the signatures of --webhook

Models, their key, review, deadline and gate can be set on the page, too. An option counts before its variable, both before
the page (which shows them locked), and the page before runsheet.json.`

const nearestData = (): Option =>
  option('--data <folder>', 'data folder (default: .runsheet if it is here, else ~/.runsheet)')
    .env('RUNSHEET_DATA')
    .argParser(expandHome)

/** Hooks and the server must find the same folder, as `setup` configures for a project. */
const mcpData = ({ data, hooks }: Pick<McpCommand, 'data' | 'hooks'>, self: Command): string =>
  hooks && self.getOptionValueSource('data') === 'default' ? projectData(process.cwd()) : data
