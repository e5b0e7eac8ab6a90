import { existsSync, renameSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pino, type Logger } from 'pino'
import { learningRedactor, type Redactor } from '../core/text/redact.ts'
import { secretsInUrl, together, type FoundSecrets } from '../core/text/secrets.ts'
import { DEMO, type FixedSettings } from '../core/model/settings.ts'
import { visible } from '../core/text/plain-text.ts'
import { pageToken, type Role } from '../server/http/access.ts'
import { redactedLines } from '../server/http/replies.ts'
import { SANDBOX_FILES } from '../demo/sandbox.ts'
import { LiveModels } from '../models/live-models.ts'
import type { LocalWorkspaces } from '../checks/local-workspaces.ts'
import { secretsOf, type McpServer } from '../engine/turn/mcp-tools.ts'
import { UnknownModel } from '../engine/turn/given-models.ts'
import { providerKeys, providerUrls } from '../models/provider-keys.ts'
import { createPrivateFile, makePrivateFolder } from '../store/private-file.ts'
import { webhookFrom, type WebhookSettings, type WebhookText } from '../webhook/settings.ts'
import { CliError, causeOf } from './cli-error.ts'
import type { DataFolder } from './server/data-folder.ts'
import { cleanEnvironment, type Environment } from './environment.ts'
import { isForManyNodes } from './server/open-store.ts'
import { LiveSettings } from './server/page-settings.ts'
import { ToolServers } from './server/server-tools.ts'
import { configFolder, readSettings, type Settings, type SettingsOptions } from './server/settings.ts'
import { ownConfigFile } from './tools.ts'
import { workspacesFor } from './server/workspaces.ts'

export interface ConfigOptions extends SettingsOptions {
  readonly store: string
  readonly log: string
  readonly token?: string
  readonly agentToken?: string
  /** Model and review settings fixed by options and variables. */
  readonly fixed: FixedSettings
  readonly data: string
  readonly workspace?: string
  readonly webhook?: string
  readonly webhookHosts?: readonly string[]
  readonly webhookSecret?: string
}

export interface Config {
  readonly tokens: Readonly<Record<Role, string>>
  readonly settings: LiveSettings
  readonly models: LiveModels
  readonly toolServers: ToolServers
  readonly log: Logger
  /** Knows every secret of this process. */
  readonly redact: Redactor
  readonly sandbox: string | undefined
  readonly usesSandbox: () => boolean
  readonly workspaces: LocalWorkspaces
  readonly webhook: WebhookSettings | undefined
}

/** Validates all settings before anything is opened. */
export async function configure(folder: DataFolder, options: ConfigOptions): Promise<Config> {
  const read = readSettings(options, line => console.error(line))
  const { policy, mcpServers, checks } = read
  const { data, fixed, environment } = options
  const webhook = webhookText(options, read)
  const tokens = tokensFor(folder, options)
  const own = { known: [...Object.values(tokens), pageToken(tokens.person), webhook.secret ?? ''], suspected: [] }
  const hook = secretsInUrl(webhook.url ?? '')
  const redact = learningRedactor(together([own, secretsFrom(options), secretsOf(mcpServers), hook]))
  const settings = new LiveSettings({ folder: configFolder(environment), fixed, file: policy, environment, redact })
  const models = new LiveModels(() => settings.choice, { environment, demoPaceMs: DEMO_PACE_MS })
  await checkModels(settings, models)
  // Other nodes lack this folder and could not continue its turns.
  const mayUseSandbox = options.workspace === undefined && !isForManyNodes(options.store)
  const usesSandbox = (): boolean => mayUseSandbox && settings.choice.model === DEMO
  // Plans that began in the sandbox may still be open.
  const sandbox = usesSandbox() ? sandboxIn(data) : knownSandbox(data)
  return {
    settings,
    models,
    toolServers: new ToolServers({
      own: ownConfigFile(environment),
      chosen: resolve(options.config.file),
      servers: mcpServers,
      redact,
      prepared: servers => inCleanEnvironment(servers, environment),
    }),
    tokens,
    redact,
    webhook: webhookFor(webhook),
    sandbox,
    usesSandbox,
    workspaces: workspacesFor(
      {
        ...options,
        sandbox,
        usesSandbox,
        judges: () => settings.choice.assessor !== undefined,
      },
      checks,
      redact,
    ),
    log: pino(
      { level: options.log, hooks: { streamWrite: redactedLines(redact) } },
      pino.destination({ dest: 2, sync: true }),
    ),
  }
}

/** Options override the settings file, field by field. */
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

function secretsFrom({ store, fixed, environment }: ConfigOptions): FoundSecrets {
  const keys = { known: [fixed.key?.value ?? '', ...providerKeys(environment)], suspected: [] }
  const urls = [fixed.base_url?.value ?? '', ...providerUrls(environment)].map(secretsInUrl)
  // The database's name is not secret: storage errors need it.
  return together([keys, ...urls, { ...secretsInUrl(store), suspected: [] }])
}

type Servers = Readonly<Record<string, McpServer>>

/** Each server gets the base environment plus its own variables; the MCP client adds none of ours. */
function inCleanEnvironment(servers: Servers, environment: Environment): Servers {
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

/**
 * Invalid options or variables abort the start. Choices made on the page do not: the page must come up to correct them.
 */
async function checkModels(settings: LiveSettings, models: LiveModels): Promise<void> {
  for (const name of models.names) {
    try {
      await models.named(name, models.endpointOf(name))
    } catch (error) {
      if (!(error instanceof UnknownModel)) throw error
      if (!settings.choice.connectionOf(name).isOfPage) throw new CliError(error.message)
      console.error(visible(`Runsheet: ${error.message}`))
    }
  }
}

function tokensFor(folder: DataFolder, { token, agentToken }: ConfigOptions): Record<Role, string> {
  const tokens = folder.tokens({ ...(token ? { person: token } : {}), ...(agentToken ? { agent: agentToken } : {}) })
  if (tokens.person !== tokens.agent) return tokens
  throw new CliError('RUNSHEET_TOKEN and RUNSHEET_AGENT_TOKEN must differ, or agents could act as a person.')
}

function knownSandbox(data: string): string | undefined {
  const folder = join(data, 'sandbox')
  return existsSync(folder) ? folder : undefined
}

/** Creates the demo's project once; existing files stay. */
function sandboxIn(data: string): string {
  const folder = join(data, 'sandbox')
  if (existsSync(folder)) return folder
  // Created under a temporary name and renamed, so that it is complete or absent.
  const temporary = `${folder}.new-${process.pid}`
  try {
    rmSync(temporary, { recursive: true, force: true })
    makePrivateFolder(resolve(temporary))
    for (const [name, text] of Object.entries(SANDBOX_FILES)) createPrivateFile(join(temporary, name), text)
    renameSync(temporary, folder)
  } catch (error) {
    throw new CliError(`cannot make the demo's sandbox ${folder}: ${causeOf(error)}.`)
  }
  return folder
}
