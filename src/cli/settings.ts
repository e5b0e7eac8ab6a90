import { existsSync, readFileSync } from 'node:fs'
import * as z from 'zod'
import type { McpServer } from '../runner/mcp-tools.ts'
import { policyProblem, type PolicyPatch } from '../domain/policy.ts'
import { CliError } from './cli-error.ts'

const schema = z.strictObject({
  policy: z.record(z.string(), z.unknown()).optional(),
  mcpServers: z
    .record(
      z.string().regex(/^[A-Za-z0-9_-]{1,32}$/),
      z.union([
        z.object({
          command: z.string(),
          args: z.array(z.string()).optional(),
          env: z.record(z.string(), z.string()).optional(),
        }),
        z.object({ url: z.url(), headers: z.record(z.string(), z.string()).optional() }),
      ]),
    )
    .optional(),
})

export interface Settings {
  /** The policy that new conversations start with. */
  readonly policy: PolicyPatch
  readonly mcpServers: Readonly<Record<string, McpServer>>
}

/** Reads `runsheet.json`; a missing file means no settings. */
export function readSettings(path: string): Settings {
  if (!existsSync(path)) return { policy: {}, mcpServers: {} }
  let raw: unknown
  try {
    raw = JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    throw new CliError(`${path} is not valid JSON: ${(error as Error).message}.`)
  }
  const parsed = schema.safeParse(raw)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    throw new CliError(`${path}: ${[issue?.path.join('.'), issue?.message].filter(Boolean).join(': ')}.`)
  }
  const { policy = {}, mcpServers = {} } = parsed.data
  return { policy: checkedPolicy(path, policy), mcpServers: mcpServers as Settings['mcpServers'] }
}

/** Reports a wrong policy at startup instead of at the first conversation. */
function checkedPolicy(path: string, policy: PolicyPatch): PolicyPatch {
  const problem = policyProblem(policy)
  if (problem) throw new CliError(`${path}: ${problem.message}`)
  return policy
}
