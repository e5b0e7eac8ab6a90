/** The hosts whose hooks we know. */
export const HOOK_HOSTS = ['claude-code', 'codex', 'gemini', 'opencode', 'qwen'] as const
export type HookHost = (typeof HOOK_HOSTS)[number]

/** How long a host may be kept waiting. */
export const MAX_HOOK_MS = 2_000

/** What hooks do; each can be switched off. */
export interface HookFeatures {
  /** Sends an agent back that stops while its plan is open. */
  readonly gate: boolean
  /** Stores what the host's own tools answered. */
  readonly evidence: boolean
  /** Reminds an agent of its plan. */
  readonly digest: boolean
}

/** A host's event in our words. Ids are ours already. */
export type HookEvent = {
  readonly session: string
  /** The host's turn, where it has an id. */
  readonly turn?: string
} & (
  | { readonly kind: 'start' }
  | {
      readonly kind: 'prompt'
      /** The host shows a digest until it gets the next one: each prompt brings it up to date. */
      readonly keepsDigest?: true
    }
  | { readonly kind: 'tool'; readonly call: HookCall }
  | { readonly kind: 'stop' }
)

/** A call of one of the host's own tools. */
export interface HookCall {
  readonly tool: string
  readonly arguments: unknown
  readonly answer: unknown
  /** As far as the host says. */
  readonly ok: boolean
}

/** What a hook tells its host. `silence`: the host goes on as if there were no hook. */
export type HookAnswer =
  | { readonly kind: 'silence' }
  | { readonly kind: 'block'; readonly reason: string }
  | { readonly kind: 'context'; readonly text: string }

export const SILENCE: HookAnswer = { kind: 'silence' }
