import { type Policy, type PolicyPatch, policyWith, TOOLSETS, type ToolsetName } from './policy.ts'
import { Refusal } from './refusal.ts'

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
