import { type Command, InvalidArgumentError, Option } from 'commander'
import { TOOLSETS, type ToolsetName } from '../core/model/policy.ts'
import type { Fixed, FixedSettings } from '../core/model/settings.ts'
import { LOCAL_TENANT } from '../store/store.ts'
import { CliError } from './cli-error.ts'
import { DEFAULT_CONFIG, DEFAULT_DATA, DEFAULT_PORT, expandHome, MIN_TOKEN_LENGTH } from './default-paths.ts'
import type { Environment } from './environment.ts'
import type { ConfigChoice } from './server/settings.ts'

// Each option is also an environment variable: --idle-exit is RUNSHEET_IDLE_EXIT.

export const dataOption = (): Option =>
  fromEnv('--data <folder>', 'folder for the database, the tokens and the log')
    .default(DEFAULT_DATA)
    .argParser(expandHome)

export const storeOption = (): Option =>
  fromEnv('--store <store>', 'where plans are stored: sqlite, file, memory or postgres://…').default('sqlite')

/** For programs that use the library with their own tenants. */
export const tenantOption = (): Option => new Option('--tenant <id>', 'whose conversations').default(LOCAL_TENANT)

const reviewOption = (): Option =>
  fromEnv('--review <on|off>', 'whether a person reviews plans in new conversations').choices(['on', 'off'])

const toolsetOption = (description: string): Option =>
  fromEnv('--toolset <name>', description).choices(Object.keys(TOOLSETS))

export const configOption = (): Option =>
  fromEnv('--config <file>', 'JSON file with the policy and MCP servers, beside your own settings')
    .default(DEFAULT_CONFIG)
    .argParser(expandHome)

const workspaceOption = (): Option =>
  fromEnv('--workspace <folder>', 'folder in which the checks of tasks run').argParser(expandHome)

export const serveOptions = (): readonly Option[] => [
  fromEnv('--host <address>', 'address to listen on').default('127.0.0.1'),
  fromEnv('--port <number>', 'port to listen on; 0 picks a free one').default(DEFAULT_PORT).argParser(parsePort),
  dataOption(),
  storeOption(),
  toolsetOption('tools for the model in new conversations (default: runsheet)'),
  reviewOption(),
  workspaceOption(),
  fromEnv(
    '--idle-exit <time>',
    'exit after this long without requests, streams or running turns, e.g. 30m, 90s, 2h',
  ).argParser(parseDuration),
  fromEnv('--agent-writes <number>', 'write requests an agent may send per minute').default(600).argParser(parseCount),
  fromEnv('--agent-reads <number>', 'read requests an agent may send per minute').default(6_000).argParser(parseCount),
  fromEnv('--max-requests <number>', 'open requests per token, event streams and calls that wait included')
    .default(2_000)
    .argParser(parseCount),
  fromEnv('--log <level>', 'log level on stderr').choices(['silent', 'error', 'warn', 'info', 'debug']).default('warn'),
  configOption(),
  fromEnv('--public-url <url>', 'URL that browsers use, if the server is behind a proxy').argParser(parseOrigin),
  fromEnv(
    '--model <model>',
    "model that does the work: demo, openai:NAME, anthropic:NAME, google:NAME or openai-compatible:NAME (default: the page's settings, else demo)",
  ),
  fromEnv('--assessor-model <model>', "model that judges finished tasks (default: the page's settings, else --model)"),
  fromEnv('--model-url <url>', "base URL of the model's API (default: the page's settings, else the provider's)"),
  fromEnv('--webhook <url>', 'URL to tell of plans that wait and turns that end'),
  fromEnv(
    '--webhook-hosts <names>',
    'hosts of webhooks, separated by commas, that may have private addresses or no TLS',
  ).argParser((names: string) => names.split(',')),
  fromEnv('--titles <on|off>', 'whether the model names a conversation after its first turn')
    .choices(['on', 'off'])
    .default('on'),
]

/** Settings fixed by options and variables: the page shows them read-only. */
export function fixedSettings(command: Command, modelKey?: string): FixedSettings {
  const model = given(command, 'model')
  const base_url = given(command, 'modelUrl')
  const assessor_model = given(command, 'assessorModel')
  const review = given(command, 'review')
  const toolset = given(command, 'toolset')
  const key = { value: modelKey ?? '', source: 'environment', by: 'RUNSHEET_MODEL_KEY' } as const
  return {
    ...(model && { model }),
    ...(base_url && { base_url }),
    ...(assessor_model && { assessor_model }),
    ...(review && { review: { ...review, value: review.value === 'on' } }),
    ...(toolset && { toolset: { ...toolset, value: toolset.value as ToolsetName } }),
    ...(modelKey ? { key } : {}),
  }
}

function given(command: Command, name: string): Fixed<string> | undefined {
  const option = command.options.find(each => each.attributeName() === name)
  const source = command.getOptionValueSource(name)
  const value = String(command.opts()[name])
  if (source === 'cli') return { value, source: 'flag', by: option?.long ?? name }
  return source === 'env' ? { value, source: 'environment', by: option?.envVar ?? name } : undefined
}

export const mcpOptions = (): readonly Option[] => [
  dataOption(),
  storeOption(),
  toolsetOption("tools for the host's model (default: runsheet)"),
  reviewOption(),
  workspaceOption(),
  fromEnv('--session <id>', "conversation to use (default: the host's, or a new one)"),
  configOption(),
  fromEnv('--browser <on|off>', 'whether to open the page of a plan that waits, where there is a display')
    .choices(['on', 'off'])
    .default('on'),
  fromEnv('--idle-exit <time>', '--idle-exit of the page server that it starts')
    .default('30m')
    .argParser(time => (parseDuration(time), time)),
  new Option('--hooks', "offer the tool that the host's hooks call"),
  new Option('--no-gate', 'hooks do not keep the agent at open tasks'),
  new Option('--no-evidence', "hooks do not record results of the host's tools"),
  new Option('--no-digest', 'hooks do not remind the agent of the plan'),
]

function fromEnv(flags: string, description: string): Option {
  const option = new Option(flags, description)
  return option.env(`RUNSHEET_${option.name().replaceAll('-', '_').toUpperCase()}`)
}

function parsePort(raw: string): number {
  const value = Number(raw)
  if (!/^\d+$/.test(raw) || value > 65_535) throw new InvalidArgumentError('It must be a number from 0 to 65535.')
  return value
}

function parseCount(raw: string): number {
  const value = Number(raw)
  if (!/^\d{1,9}$/.test(raw) || value < 1) throw new InvalidArgumentError('It must be a whole number of at least 1.')
  return value
}

function parseOrigin(raw: string): URL {
  const url = URL.canParse(raw) ? new URL(raw) : undefined
  if (url && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`) return url
  throw new InvalidArgumentError('It must be a URL without a path, such as https://runsheet.example.com')
}

function parseDuration(raw: string): number {
  const [, amount, unit] = /^(\d{1,6})(ms|s|m|h)$/.exec(raw) ?? []
  const factor = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }[unit ?? '']
  if (amount === undefined || factor === undefined || Number(amount) === 0) {
    throw new InvalidArgumentError('It must be a time such as 30m, 90s or 2h.')
  }
  return Number(amount) * factor
}

export function configOf(command: Command): ConfigChoice {
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
export function secretsIn<K extends keyof typeof SECRETS>(
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
