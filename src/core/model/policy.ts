import { Refusal, invalidField } from './refusal.ts'

/** The names of the toolsets. */
export type ToolsetName = 'manage_todos' | 'checklist' | 'task_manager' | 'turn_todos' | 'task_list' | 'runsheet'

/** The rules of a conversation. */
export interface Policy {
  /** The tools of the model. */
  readonly toolset: ToolsetName
  /** True: a person confirms new tasks first. */
  readonly review: boolean
  /** True: a judge, which is a second model, confirms finished work. */
  readonly assessor: boolean
  /** True: the model is sent back to open tasks. */
  readonly gate: boolean
  /** The timeout of a review in milliseconds, 1 to 2,592,000,000; null: none. */
  readonly review_timeout_ms: number | null
  /** The grace period of a review after its last panel has closed, in milliseconds; null: none. */
  readonly panel_grace_ms: number | null
  /** The maximum of model calls in a turn without open tasks. */
  readonly max_steps: number
  /** The maximum of model calls in a turn with open tasks. */
  readonly max_steps_with_plan: number
  /** The maximum of tasks that a turn of manage_todos hands over. */
  readonly max_advances: number
  /** The number of messages of earlier turns that the model sees. */
  readonly history_limit: number
}
/** The fields of a policy to set; the others stay as they are. */
export type PolicyPatch = { readonly [K in keyof Policy]?: Policy[K] | undefined }

/** The policy of an edge's new conversations; a function if it may change while the process runs. */
export type HostPolicy = PolicyPatch | (() => PolicyPatch)

export const policyNow = (host: HostPolicy): PolicyPatch => (typeof host === 'function' ? host() : host)

interface ToolsetTraits {
  /** The tasks that a model may change: those of its turn's plan, or of the whole conversation. */
  readonly scope: 'turn' | 'conversation'
  /** True if its tools have a field for an outcome, which the model must fill in. */
  readonly outcome: boolean
  /**
   * True if its tasks are items for a person: none becomes current by itself, open ones are no unfinished work, and a
   * conversation has one plan.
   */
  readonly captures: boolean
  /** True if a call proposes a whole plan. In `task_list` each call adds one task. */
  readonly plans: boolean
  readonly review: boolean
  readonly assessor: boolean
  readonly gate: boolean
}

const AGENTS = {
  scope: 'turn',
  outcome: true,
  captures: false,
  plans: true,
  review: false,
  assessor: false,
  gate: false,
} as const
const PERSONS = { ...AGENTS, scope: 'conversation', outcome: false, captures: true } as const

export const TOOLSETS: Record<ToolsetName, ToolsetTraits> = {
  manage_todos: { ...AGENTS, outcome: false, assessor: true },
  checklist: PERSONS,
  task_manager: { ...AGENTS, scope: 'conversation', review: true },
  turn_todos: { ...AGENTS, gate: true },
  task_list: { ...PERSONS, plans: false },
  runsheet: { ...AGENTS, scope: 'conversation', review: true, assessor: true, gate: true },
}

/** True if the tasks of a conversation are items for a person. */
export const captures = (policy: Policy | null): boolean => policy !== null && TOOLSETS[policy.toolset].captures

const LIMIT_DEFAULTS = {
  review_timeout_ms: null,
  panel_grace_ms: null,
  max_steps: 10,
  max_steps_with_plan: 50,
  max_advances: 5,
  history_limit: 40,
} as const

const LIMITS_OF: { readonly [T in ToolsetName]?: Pick<Policy, 'review_timeout_ms' | 'panel_grace_ms'> } = {
  task_manager: { review_timeout_ms: 120_000, panel_grace_ms: 15_000 },
}

/** The furthest deadline of a review: 30 days. */
export const MAX_REVIEW_TIMEOUT_MS = 30 * 86_400_000

const FLAGS = ['review', 'assessor', 'gate'] as const
const RANGES: Record<keyof typeof LIMIT_DEFAULTS, readonly [number, number]> = {
  review_timeout_ms: [1, MAX_REVIEW_TIMEOUT_MS],
  panel_grace_ms: [0, 86_400_000],
  max_steps: [1, 1_000],
  max_steps_with_plan: [1, 1_000],
  max_advances: [0, 1_000],
  history_limit: [0, 10_000],
}
const FIELDS: ReadonlySet<string> = new Set(['toolset', ...FLAGS, ...Object.keys(RANGES)])

/**
 * Applies `patch` to `base`, or for a new conversation (no base) to the toolset's and the host's defaults. A change of
 * toolset brings that toolset's default timeouts.
 */
export function policyWith(base: Policy | null, host: PolicyPatch, patch: PolicyPatch): Policy | Refusal {
  const toolset = patch.toolset ?? base?.toolset ?? host.toolset ?? 'runsheet'
  if (typeof toolset !== 'string' || !Object.hasOwn(TOOLSETS, toolset)) {
    return invalidField('toolset', { rule: 'not_allowed', allowed: Object.keys(TOOLSETS) })
  }
  const { review, assessor, gate } = TOOLSETS[toolset]
  const defaults = { review, assessor, gate, ...LIMIT_DEFAULTS, ...LIMITS_OF[toolset], ...known(host) }
  const { review_timeout_ms, panel_grace_ms } = defaults
  const waits = toolset === base?.toolset ? {} : { review_timeout_ms, panel_grace_ms }
  return checked({ ...(base ?? defaults), ...waits, ...known(patch), toolset })
}

/** Returns the first problem of a host's policy; unknown fields count. */
export function policyProblem(patch: PolicyPatch): Refusal | undefined {
  const unknown = Object.keys(patch).find(field => !FIELDS.has(field))
  if (unknown !== undefined) return invalidField(unknown, { rule: 'unknown_key' })
  const policy = policyWith(null, patch, {})
  return policy instanceof Refusal ? policy : undefined
}

export const samePolicy = (a: Policy, b: Policy): boolean =>
  (Object.keys(a) as (keyof Policy)[]).every(field => a[field] === b[field])

function checked(policy: Policy): Policy | Refusal {
  for (const field of FLAGS) {
    if (typeof policy[field] !== 'boolean') return invalidField(field, { rule: 'not_a_boolean' })
  }
  for (const [field, [min, max]] of Object.entries(RANGES) as [keyof typeof RANGES, readonly [number, number]][]) {
    const value = policy[field]
    if (value === null && LIMIT_DEFAULTS[field] === null) continue
    // JSON turns -0 into 0, so the policy would differ from itself after a reload.
    if (value === null || !Number.isInteger(value) || Object.is(value, -0) || value < min || value > max) {
      return invalidField(field, { rule: 'out_of_range', min, max })
    }
  }
  if (policy.toolset === 'manage_todos' && !policy.assessor) {
    return new Refusal('assessor_required', { toolset: policy.toolset })
  }
  return policy
}

const known = (patch: PolicyPatch): Partial<Policy> =>
  Object.fromEntries(Object.entries(patch).filter(([field, value]) => FIELDS.has(field) && value !== undefined))

/** The tools that a thread leaves out because the plan already shows their effect. */
export const OWN_TOOLS: Record<ToolsetName, readonly string[]> = {
  manage_todos: ['manage_todos', 'report_todo'],
  checklist: ['add_multiple_checklist_items', 'update_checklist_items'],
  task_manager: ['add_task', 'list_tasks', 'update_task', 'complete_task', 'delete_task'],
  turn_todos: ['create_todo', 'list_todo', 'complete_todo'],
  task_list: ['ListTasks', 'AddTask', 'CompleteTask', 'UncompleteTask', 'DeleteTask'],
  runsheet: ['plan', 'update', 'tasks'],
}

interface Tightening {
  readonly policy: PolicyPatch
  /** Fields that change nothing are left out. */
  readonly ignored: readonly (keyof Policy)[]
}

/**
 * The stricter value of each field: a check that is on, or a lower limit. A toolset is neither, and brings defaults of
 * its own.
 */
const STRICTER: Record<keyof Policy, 'on' | 'lower' | 'neither'> = {
  toolset: 'neither',
  review: 'on',
  assessor: 'on',
  gate: 'on',
  // A review that times out creates no tasks, so a lower timeout is stricter.
  review_timeout_ms: 'lower',
  panel_grace_ms: 'lower',
  max_steps: 'lower',
  max_steps_with_plan: 'lower',
  max_advances: 'lower',
  history_limit: 'lower',
}

/** The fields of a valid patch that need no trust: those stricter than the host's policy under every toolset. */
export function tightening(patch: PolicyPatch, host: PolicyPatch): Tightening {
  const given = (Object.keys(STRICTER) as (keyof Policy)[]).filter(field => patch[field] !== undefined)
  const kept = given.filter(field => tightens(field, patch, host))
  return {
    policy: Object.fromEntries(kept.map(field => [field, patch[field]])),
    ignored: given.filter(field => !kept.includes(field) && patch[field] !== host[field]),
  }
}

function tightens(field: keyof Policy, patch: PolicyPatch, host: PolicyPatch): boolean {
  switch (STRICTER[field]) {
    case 'on':
      return patch[field] === true
    case 'lower':
      return policiesOf(host).every(policy => limitOf(patch[field]) <= limitOf(policy[field]))
    case 'neither':
      return false
  }
}

/** The policies that conversations start with: toolsets differ in their limits. */
const policiesOf = (host: PolicyPatch): readonly Policy[] =>
  (Object.keys(TOOLSETS) as ToolsetName[]).flatMap(toolset => {
    const policy = policyWith(null, host, { toolset })
    return policy instanceof Refusal ? [] : [policy]
  })

/** Null means no limit. */
const limitOf = (value: unknown): number => (typeof value === 'number' ? value : Number.POSITIVE_INFINITY)
