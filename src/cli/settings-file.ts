import { createHash } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import * as z from 'zod'
import { type CheckSettings, NO_CHECK_SETTINGS, problemIn } from '../checks/settings.ts'
import { MAX_CHECKS } from '../domain/check.ts'
import { policyProblem, type PolicyPatch } from '../domain/policy.ts'
import { ASK_FOR } from '../domain/tool-rules.ts'
import type { McpServer } from '../runner/mcp-tools.ts'
import { readRegularFile } from '../store/private-file.ts'
import type { WebhookText } from '../webhook/settings.ts'
import { causeOf } from './cause.ts'
import { CliError } from './cli-error.ts'

export interface Settings {
  readonly policy: PolicyPatch
  readonly mcpServers: Readonly<Record<string, McpServer>>
  readonly checks: CheckSettings
  readonly webhook?: WebhookText | undefined
}

/** Read once, so that the hashed bytes are the parsed bytes. */
export interface SettingsFile extends Settings {
  /**
   * The name in its folder's real path, not the link's target: a link elsewhere is another file, in another working
   * folder.
   */
  readonly path: string
  readonly sha256: string
}

const MAX_BYTES = 1_000_000

const argv = z.array(z.string()).min(1)

const schema = z.strictObject({
  checks: z
    .strictObject({
      allow: z.array(argv),
      protect: z.array(z.string()),
      wrap: z.array(z.string()),
      env: z.record(z.string(), z.string()),
      done: z.array(argv).max(MAX_CHECKS),
      held_out: z.string(),
    })
    .partial()
    .optional(),
  policy: z.record(z.string(), z.unknown()).optional(),
  webhook: z
    .strictObject({ url: z.string(), secret: z.string().optional(), hosts: z.array(z.string()).optional() })
    .optional(),
  mcpServers: z
    .record(
      z.string().regex(/^[A-Za-z0-9_-]{1,32}$/),
      z.union([
        z.object({
          command: z.string(),
          args: z.array(z.string()).optional(),
          env: z.record(z.string(), z.string()).optional(),
          ask: z.enum(ASK_FOR).optional(),
        }),
        z.object({
          url: z.url(),
          headers: z.record(z.string(), z.string()).optional(),
          ask: z.enum(ASK_FOR).optional(),
        }),
      ]),
    )
    .optional(),
})

export function readSettingsFile(path: string): SettingsFile | undefined {
  const bytes = bytesOf(path)
  if (!bytes) return undefined
  return {
    ...settingsIn(bytes, path),
    path: placeOf(path),
    sha256: createHash('sha256').update(bytes).digest('hex'),
  }
}

export const placeOf = (path: string): string => join(realpathSync(dirname(resolve(path))), basename(path))

function bytesOf(path: string): Buffer | undefined {
  try {
    return readRegularFile(path, { maxBytes: MAX_BYTES, follow: true })
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw new CliError(`cannot read ${path}: ${causeOf(error)}.`)
  }
}

function settingsIn(bytes: Buffer, path: string): Settings {
  let raw: unknown
  try {
    raw = JSON.parse(bytes.toString('utf8'))
  } catch (error) {
    // JSON.parse quotes the file, which may be a link to something private.
    const [where = ''] = /at position .*/.exec((error as Error).message) ?? []
    throw new CliError(`${[path, 'is not valid JSON', where].filter(Boolean).join(' ')}.`)
  }
  const parsed = schema.safeParse(raw)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    throw new CliError(`${path}: ${[issue?.path.join('.'), issue?.message].filter(Boolean).join(': ')}.`)
  }
  const { policy = {}, mcpServers = {}, checks = {}, webhook } = parsed.data
  return {
    policy: checkedPolicy(path, policy),
    mcpServers: mcpServers as Settings['mcpServers'],
    checks: checkedChecks(path, { ...NO_CHECK_SETTINGS, ...(checks as Partial<CheckSettings>) }),
    ...(webhook ? { webhook } : {}),
  }
}

/** Reports a mistake at startup instead of at the first check. */
function checkedChecks(path: string, checks: CheckSettings): CheckSettings {
  const problem = problemIn(checks)
  if (problem !== undefined) throw new CliError(`${path}: ${problem}`)
  return checks
}

/** Reports a mistake at startup instead of at the first conversation. */
export function checkedPolicy(path: string, policy: PolicyPatch): PolicyPatch {
  const problem = policyProblem(policy)
  if (problem) throw new CliError(`${path}: ${problem.message}`)
  return policy
}
