import { type HookHost, HOSTS } from './hosts.ts'

/** A host blocks on its hooks for at most this long. */
export const MAX_HOOK_MS = 2_000

export interface HookFeatures {
  /** Blocks an agent from stopping while its plan is open. */
  readonly gate: boolean
  /** Records the results of the host's own tools as evidence. */
  readonly evidence: boolean
  /** Reminds an agent of its plan. */
  readonly digest: boolean
}

/** A host's event in our terms. Ids are already converted. */
export type HookEvent = {
  readonly session: string
  readonly turn?: string
} & (
  | { readonly kind: 'start' }
  | {
      readonly kind: 'prompt'
      /** The host keeps showing a digest until it gets the next one, so every prompt must refresh it. */
      readonly keepsDigest?: true
    }
  | { readonly kind: 'tool'; readonly call: HookCall }
  | { readonly kind: 'stop' }
)

export interface HookCall {
  readonly tool: string
  readonly arguments: unknown
  readonly answer: unknown
  /** True unless the host reports a failure. */
  readonly ok: boolean
}

/** `silence`: the host continues as if there were no hook. */
export type HookAnswer =
  | { readonly kind: 'silence' }
  | { readonly kind: 'block'; readonly reason: string }
  | { readonly kind: 'context'; readonly text: string }

export const SILENCE: HookAnswer = { kind: 'silence' }

/** The answer as the host expects it. */
export function answerFor(host: HookHost, event: string, answer: HookAnswer): Readonly<Record<string, unknown>> {
  if (answer.kind === 'silence') return {}
  if (HOSTS[host].hooks === 'plugin')
    return answer.kind === 'block' ? { reason: answer.reason } : { context: answer.text }
  if (answer.kind === 'block') return { decision: 'block', reason: answer.reason }
  return { hookSpecificOutput: { hookEventName: event, additionalContext: answer.text } }
}
