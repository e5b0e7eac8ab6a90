import { invalidField, Refusal } from './refusal.ts'

/** The names of the toolsets. */
export type Toolset = 'manage_todos' | 'checklist' | 'task_manager' | 'turn_todos' | 'task_list' | 'runsheet'

/** What a conversation is worked under: the vocabulary, who has a say, and the limits. */
export interface Policy {
  readonly toolset: Toolset
  readonly review: boolean
  readonly assessor: boolean
  readonly gate: boolean
  readonly review_timeout_ms: number
  readonly panel_grace_ms: number
  readonly max_steps: number
  readonly max_steps_with_plan: number
  readonly max_advances: number
  readonly history_limit: number
}
/** The fields of a policy to set; the others stay as they are. */
export type PolicyPatch = { readonly [K in keyof Policy]?: Policy[K] | undefined }

interface ToolsetTraits {
  /** Which tasks a model may touch: those of its turn's plan, or all of the conversation. */
  readonly scope: 'turn' | 'conversation'
  /** What `remaining`, `current` and `next` speak of. */
  readonly counts: 'turn' | 'conversation'
  /** Whether its tools have a place for an outcome, so that a model owes one. */
  readonly outcome: boolean
  readonly review: boolean
  readonly assessor: boolean
  readonly gate: boolean
}

export const TOOLSETS: Record<Toolset, ToolsetTraits> = {
  manage_todos: { scope: 'turn', counts: 'turn', outcome: false, review: false, assessor: true, gate: false },
  checklist: {
    scope: 'conversation',
    counts: 'conversation',
    outcome: false,
    review: false,
    assessor: false,
    gate: false,
  },
  task_manager: { scope: 'conversation', counts: 'turn', outcome: true, review: true, assessor: false, gate: false },
  turn_todos: { scope: 'turn', counts: 'turn', outcome: true, review: false, assessor: false, gate: true },
  task_list: {
    scope: 'conversation',
    counts: 'conversation',
    outcome: false,
    review: false,
    assessor: false,
    gate: false,
  },
  runsheet: { scope: 'conversation', counts: 'turn', outcome: true, review: true, assessor: true, gate: true },
}

const LIMIT_DEFAULTS = {
  review_timeout_ms: 120_000,
  panel_grace_ms: 15_000,
  max_steps: 10,
  max_steps_with_plan: 50,
  max_advances: 5,
  history_limit: 40,
} as const

const RANGES: Record<keyof typeof LIMIT_DEFAULTS, readonly [number, number]> = {
  review_timeout_ms: [1, 86_400_000],
  panel_grace_ms: [0, 86_400_000],
  max_steps: [1, 1_000],
  max_steps_with_plan: [1, 1_000],
  max_advances: [0, 1_000],
  history_limit: [0, 10_000],
}

/**
 * The policy that holds once `patch` is laid over `base`; without a base (a new conversation) over the toolset's
 * defaults and the host's own.
 */
export function policyWith(base: Policy | null, host: PolicyPatch, patch: PolicyPatch): Policy | Refusal {
  const toolset = patch.toolset ?? base?.toolset ?? host.toolset ?? 'runsheet'
  if (typeof toolset !== 'string' || !Object.hasOwn(TOOLSETS, toolset)) {
    return invalidField('toolset', { rule: 'not_allowed', allowed: Object.keys(TOOLSETS) })
  }
  const { review, assessor, gate } = TOOLSETS[toolset]
  const ground = base ?? { review, assessor, gate, ...LIMIT_DEFAULTS, ...named(host) }
  return checked({ ...ground, ...named(patch), toolset })
}

/** Two policies compared field by field. */
export const samePolicy = (a: Policy, b: Policy): boolean =>
  (Object.keys(a) as (keyof Policy)[]).every(field => a[field] === b[field])

function checked(policy: Policy): Policy | Refusal {
  for (const field of ['review', 'assessor', 'gate'] as const) {
    if (typeof policy[field] !== 'boolean') return invalidField(field, { rule: 'not_a_boolean' })
  }
  for (const [field, [least, most]] of Object.entries(RANGES) as [keyof typeof RANGES, readonly [number, number]][]) {
    const value = policy[field]
    // JSON turns -0 into 0, which would then be a different policy.
    if (!Number.isInteger(value) || Object.is(value, -0) || value < least || value > most) {
      return invalidField(field, { rule: 'out_of_range', min: least, max: most })
    }
  }
  if (policy.toolset === 'manage_todos' && !policy.assessor) {
    return new Refusal('assessor_required', { toolset: policy.toolset })
  }
  return policy
}

/** Only fields of a policy that were given a value. */
function named(patch: PolicyPatch): Partial<Policy> {
  const fields = ['toolset', 'review', 'assessor', 'gate', ...Object.keys(LIMIT_DEFAULTS)] as (keyof Policy)[]
  return Object.fromEntries(fields.flatMap(field => (patch[field] === undefined ? [] : [[field, patch[field]]])))
}
