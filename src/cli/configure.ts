import { pino, type Logger } from 'pino'
import { UnknownModel } from '../runner/model-errors.ts'
import type { McpServer } from '../runner/mcp-tools.ts'
import type { Models } from '../runner/given-models.ts'
import type { LocalWorkspaces } from '../runner/local-workspaces.ts'
import { configuredModels } from '../runner/models.ts'
import { providerKeys, providerUrls } from '../runner/provider-keys.ts'
import type { PolicyPatch } from '../domain/policy.ts'
import { type Redactor, redactor } from '../domain/redact.ts'
import { type FoundSecrets, secretsInUrl, together } from '../domain/secrets.ts'
import { redactedLines } from '../http/logger.ts'
import { secretsOf } from '../runner/mcp-secrets.ts'
import { pageToken, type Role } from '../http/credentials.ts'
import { cleanEnvironment, type Environment } from './clean-environment.ts'
import { CliError } from './cli-error.ts'
import type { DataFolder } from './data-folder.ts'
import { sandboxIn } from './sandbox.ts'
import { readSettings, type Settings, type SettingsOptions } from './settings.ts'
import { workspacesFor } from './workspaces.ts'
import { webhookFrom, type WebhookSettings, type WebhookText } from '../webhook/settings.ts'

export interface ConfigOptions extends SettingsOptions {
  readonly store: string
  readonly log: string
  readonly review?: 'on' | 'off'
  readonly token?: string
  readonly agentToken?: string
  readonly model: string
  readonly assessorModel?: string
  readonly data: string
  readonly workspace?: string
  readonly modelUrl?: string
  readonly modelKey?: string
  readonly webhook?: string
  readonly webhookHosts?: readonly string[]
  readonly webhookSecret?: string
}

export interface Config {
  readonly tokens: Readonly<Record<Role, string>>
  readonly models: Models
  /** The policy that new conversations start with. */
  readonly policy: PolicyPatch
  readonly mcpServers: Readonly<Record<string, McpServer>>
  readonly log: Logger
  /** Knows every secret of this process. */
  readonly redact: Redactor
  /** The demo's sandbox, if there is one. */
  readonly sandbox: string | undefined
  /** Where the checks of tasks run. */
  readonly workspaces: LocalWorkspaces
  readonly webhook: WebhookSettings | undefined
}

/** Checks all settings of a server, before anything is opened. */
export async function configure(folder: DataFolder, options: ConfigOptions): Promise<Config> {
  const settings = readSettings(options, line => console.error(line))
  const { policy, mcpServers, checks } = settings
  const webhook = webhookText(options, settings)
  const tokens = tokensFor(folder, options)
  const own = { known: [...Object.values(tokens), pageToken(tokens.person), webhook.secret ?? ''], suspected: [] }
  const hook = secretsInUrl(webhook.url ?? '')
  const redact = redactor(together([own, secretsFrom(options), secretsOf(mcpServers), hook]))
  const isDemo = options.model === 'demo' && options.workspace === undefined
  const sandbox = isDemo ? sandboxIn(options.data) : undefined
  return {
    policy: options.review === undefined ? policy : { ...policy, review: options.review === 'on' },
    mcpServers: inCleanEnvironment(mcpServers, options.environment),
    models: await modelsFor(options),
    tokens,
    redact,
    webhook: webhookFor(webhook),
    sandbox,
    workspaces: workspacesFor(
      { ...options, sandbox, judges: () => options.assessorModel !== undefined },
      checks,
      redact,
    ),
    log: pino(
      { level: options.log, hooks: { streamWrite: redactedLines(redact) } },
      pino.destination({ dest: 2, sync: true }),
    ),
  }
}

/** Options come before the settings file, field by field. */
const webhookText = (options: ConfigOptions, { webhook }: Settings): WebhookText => ({
  url: options.webhook ?? webhook?.url,
  secret: options.webhookSecret ?? webhook?.secret,
  hosts: options.webhookHosts ?? webhook?.hosts,
})

function webhookFor(text: WebhookText): WebhookSettings | undefined {
  const webhook = webhookFrom(text)
  if (typeof webhook === 'string') throw new CliError(`${webhook}.`)
  return webhook
}

function secretsFrom({ store, modelUrl = '', modelKey = '', environment }: ConfigOptions): FoundSecrets {
  const keys = { known: [modelKey, ...providerKeys(environment)], suspected: [] }
  const urls = [modelUrl, ...providerUrls(environment)].map(secretsInUrl)
  // To name its database is what an error of the store is for.
  return together([keys, ...urls, { ...secretsInUrl(store), suspected: [] }])
}

/** Each program gets what programs need to start, and its own variables; the client adds no others of ours. */
function inCleanEnvironment(servers: Config['mcpServers'], environment: Environment): Config['mcpServers'] {
  const clean = cleanEnvironment(environment)
  return Object.fromEntries(
    Object.entries(servers).map(([name, server]) => [
      name,
      'url' in server ? server : { ...server, env: { ...clean, ...server.env } },
    ]),
  )
}

/** Slow enough for a person to follow the demo model. */
const DEMO_PACE_MS = 20

async function modelsFor(options: ConfigOptions): Promise<Models> {
  const { model, assessorModel, modelUrl, modelKey, environment } = options
  try {
    const given = { model, assessor: assessorModel, url: modelUrl, key: modelKey, environment }
    return await configuredModels({ ...given, demoPaceMs: DEMO_PACE_MS })
  } catch (error) {
    if (error instanceof UnknownModel) throw new CliError(error.message)
    throw error
  }
}

function tokensFor(folder: DataFolder, { token, agentToken }: ConfigOptions): Record<Role, string> {
  const tokens = folder.tokens({ ...(token ? { person: token } : {}), ...(agentToken ? { agent: agentToken } : {}) })
  if (tokens.person !== tokens.agent) return tokens
  throw new CliError('RUNSHEET_TOKEN and RUNSHEET_AGENT_TOKEN must differ, or agents could act as a person.')
}
