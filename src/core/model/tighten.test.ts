import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { TOOLSETS, policyWith, tightening, type Policy, type PolicyPatch, type ToolsetName } from './policy.ts'
import { Refusal } from './refusal.ts'

const NAMES = Object.keys(TOOLSETS) as ToolsetName[]
const CHECKS = ['review', 'assessor', 'gate'] as const
const LIMITS = [
  'review_timeout_ms',
  'panel_grace_ms',
  'max_steps',
  'max_steps_with_plan',
  'max_advances',
  'history_limit',
] as const

it('[TG3] a check that is on is stricter; one that is off is ignored, and so is a toolset', () => {
  expect(tightening({ review: true, assessor: true, gate: true }, { review: false })).toEqual({
    policy: { review: true, assessor: true, gate: true },
    ignored: [],
  })
  expect(tightening({ toolset: 'runsheet', review: false, gate: false }, {})).toEqual({
    policy: {},
    ignored: ['toolset', 'review', 'gate'],
  })
})

it('[TG3] what the user has set the same way is not reported as ignored', () => {
  const same: PolicyPatch = { toolset: 'checklist', review: false, review_timeout_ms: null, max_steps: 99 }
  expect(tightening(same, same).ignored).toEqual([])
})

it('[TG3] a limit counts if it is no higher than with any toolset; no limit is the highest', () => {
  expect(tightening({ max_steps: 3, review_timeout_ms: 120_000 }, {}).ignored).toEqual([])
  // Without the user's word on it, task_manager has 120,000.
  expect(tightening({ max_steps: 11, review_timeout_ms: 120_001 }, {})).toEqual({
    policy: {},
    ignored: ['review_timeout_ms', 'max_steps'],
  })
  expect(tightening({ review_timeout_ms: 600_000 }, { review_timeout_ms: null }).ignored).toEqual([])
  expect(tightening({ review_timeout_ms: null }, { review_timeout_ms: 600_000 }).ignored).toEqual(['review_timeout_ms'])
})

it('[TG3] whatever a project asks for, no conversation is laxer than without it', () => {
  const number = fc.integer({ min: 1, max: 1_000_000 })
  const limit = fc.oneof(number, fc.constant(null))
  const patches: fc.Arbitrary<PolicyPatch> = fc.record(
    {
      toolset: fc.constantFrom(...NAMES),
      ...Object.fromEntries(CHECKS.map(field => [field, fc.boolean()])),
      review_timeout_ms: limit,
      panel_grace_ms: limit.map(value => value && Math.min(value, 86_400_000)),
      max_steps: number.map(value => (value % 1_000) + 1),
      max_steps_with_plan: number.map(value => (value % 1_000) + 1),
      max_advances: number.map(value => value % 1_000),
      history_limit: number.map(value => value % 10_000),
    },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(patches, patches, fc.constantFrom(...NAMES), (project, host, toolset) => {
      const before = policyWith(null, host, { toolset })
      const after = policyWith(null, { ...host, ...tightening(project, host).policy }, { toolset })
      fc.pre(!(before instanceof Refusal))
      expect(!(after instanceof Refusal) && isAsStrict(after, before)).toBe(true)
    }),
  )
})

function isAsStrict(after: Policy, before: Policy): boolean {
  const high = (value: number | null): number => value ?? Number.POSITIVE_INFINITY
  return (
    after.toolset === before.toolset &&
    CHECKS.every(field => after[field] || !before[field]) &&
    LIMITS.every(field => high(after[field]) <= high(before[field]))
  )
}
