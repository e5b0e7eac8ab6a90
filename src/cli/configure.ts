import { pino, type Logger } from 'pino'
import { UnknownModel } from '../runner/failure.ts'
import type { McpServer } from '../runner/mcp-tools.ts'
import type { Models } from '../runner/given-models.ts'
import { configuredModels } from '../runner/models.ts'
import { providerKeys } from '../runner/provider-keys.ts'
import type { PolicyPatch } from '../domain/policy.ts'
import { type Redactor, redactor } from '../domain/redact.ts'
import { secretsInUrl } from '../domain/secrets.ts'
import { redactedLines } from '../http/logger.ts'
import { secretsOf } from '../runner/mcp-secrets.ts'
import type { Role } from '../http/credentials.ts'
import { CliError } from './cli-error.ts'
import type { DataFolder } from './data-folder.ts'
import { readSettings } from './settings.ts'

export interface ConfigOptions {
  readonly config: string
  readonly store: string
  readonly log: string
  readonly review?: 'on' | 'off'
  readonly token?: string
  readonly agentToken?: string
  readonly model: string
  readonly assessorModel?: string
  readonly modelUrl?: string
  readonly modelKey?: string
  readonly environment?: Readonly<Record<string, string | undefined>>
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
}

/** Checks all settings of a server, before anything is opened. */
export function configure(folder: DataFolder, options: ConfigOptions): Config {
  const { policy, mcpServers } = readSettings(options.config)
  const tokens = tokensFor(folder, options)
  const { known, suspected } = secretsOf(mcpServers)
  const redact = redactor({ known: [...secretsFrom(options), ...Object.values(tokens), ...known], suspected })
  return {
    policy: options.review === undefined ? policy : { ...policy, review: options.review === 'on' },
    mcpServers,
    models: modelsFor(options),
    tokens,
    redact,
    log: pino(
      { level: options.log, hooks: { streamWrite: redactedLines(redact) } },
      pino.destination({ dest: 2, sync: true }),
    ),
  }
}

function secretsFrom({ store, modelUrl = '', modelKey = '', environment = {} }: ConfigOptions): readonly string[] {
  return [modelKey, ...providerKeys(environment), ...secretsInUrl(store), ...secretsInUrl(modelUrl)]
}

/** Slow enough for a person to follow the demo model. */
const DEMO_PACE_MS = 20

function modelsFor({ model, assessorModel, modelUrl, modelKey, environment = {} }: ConfigOptions): Models {
  try {
    const given = { model, assessor: assessorModel, url: modelUrl, key: modelKey, environment }
    return configuredModels({ ...given, demoPaceMs: DEMO_PACE_MS })
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
