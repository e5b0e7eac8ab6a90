import { describe, expect, it } from 'vitest'
import { Refusal } from './refusal.ts'
import { type Policy, type PolicyPatch, policyWith, samePolicy, TOOLSETS } from './policy.ts'

const LIMITS = {
  review_timeout_ms: null,
  panel_grace_ms: null,
  max_steps: 10,
  max_steps_with_plan: 50,
  max_advances: 5,
  history_limit: 40,
}

const taken = (answer: Policy | Refusal): Policy => {
  if (answer instanceof Refusal) throw answer
  return answer
}
const fresh = (patch: PolicyPatch, host: PolicyPatch = {}): Policy => taken(policyWith(null, host, patch))
const refused = (patch: unknown, base: Policy | null = null): Refusal => {
  const answer = policyWith(base, {}, patch as PolicyPatch)
  if (answer instanceof Refusal) return answer
  throw new Error(`Taken: ${JSON.stringify(answer)}`)
}

describe('what a new conversation gets', () => {
  it.each([
    ['manage_todos', false, true, false],
    ['checklist', false, false, false],
    ['task_manager', true, false, false],
    ['turn_todos', false, false, true],
    ['task_list', false, false, false],
    ['runsheet', true, true, true],
  ] as const)('%s: review %s, assessor %s, gate %s, and the limits', (toolset, review, assessor, gate) => {
    const waits = toolset === 'task_manager' ? { review_timeout_ms: 120_000, panel_grace_ms: 15_000 } : {}
    expect(fresh({ toolset })).toStrictEqual({ toolset, review, assessor, gate, ...LIMITS, ...waits })
  })

  it('null as a review timeout or a grace is a value: it overrides the numbers of the toolset', () => {
    const never = { review_timeout_ms: null, panel_grace_ms: null }
    expect(fresh({ toolset: 'task_manager', ...never })).toMatchObject(never)
    expect(fresh({ toolset: 'task_manager' }, never)).toMatchObject(never)
    expect(fresh({ toolset: 'task_manager', review_timeout_ms: 5 }, never)).toMatchObject({ review_timeout_ms: 5 })
    expect(refused({ max_steps: null }).data).toMatchObject({ field: 'max_steps' })
  })

  it('another toolset brings its own default waits, unless the request or the host names them', () => {
    const [never, soon] = [
      { review_timeout_ms: null, panel_grace_ms: null },
      { review_timeout_ms: 120_000, panel_grace_ms: 15_000 },
    ]
    const fixed = fresh({ toolset: 'task_manager', max_steps: 7 })
    const other = taken(policyWith(fixed, {}, { toolset: 'runsheet' }))
    expect(other).toMatchObject({ ...never, max_steps: 7 })
    expect(taken(policyWith(other, {}, { toolset: 'task_manager' }))).toMatchObject(soon)
    const named = { toolset: 'runsheet', review_timeout_ms: 5 } as const
    expect(taken(policyWith(fixed, {}, named))).toMatchObject({ review_timeout_ms: 5, panel_grace_ms: null })
    const host = { panel_grace_ms: 7 }
    expect(taken(policyWith(fixed, host, named))).toMatchObject({ review_timeout_ms: 5, panel_grace_ms: 7 })
    const own = taken(policyWith(fixed, {}, { review_timeout_ms: 9 }))
    expect(taken(policyWith(own, {}, { toolset: 'task_manager' }))).toMatchObject({ review_timeout_ms: 9 })
  })

  it('runsheet is the default', () => {
    expect(fresh({}).toolset).toBe('runsheet')
  })

  it('[PL5] manage_todos and turn_todos reach the tasks of their turn, the others those of the conversation', () => {
    const scoped = Object.entries(TOOLSETS).filter(([, traits]) => traits.scope === 'turn')
    expect(scoped.map(([name]) => name)).toEqual(['manage_todos', 'turn_todos'])
  })

  it('[TA3] remaining counts the conversation in checklist and task_list, the plan in the others', () => {
    const wide = Object.entries(TOOLSETS).filter(([, traits]) => traits.captures)
    expect(wide.map(([name]) => name)).toEqual(['checklist', 'task_list'])
  })

  it('[TA4] manage_todos, checklist and task_list have no place for an outcome', () => {
    const without = Object.entries(TOOLSETS).filter(([, traits]) => !traits.outcome)
    expect(without.map(([name]) => name)).toEqual(['manage_todos', 'checklist', 'task_list'])
  })

  it('[PO2] the host lays its own over the defaults of the toolset, the request over both', () => {
    const host = { toolset: 'checklist', review: true, gate: true, max_steps: 20 } as const
    expect(fresh({ gate: false }, host)).toStrictEqual({
      ...LIMITS,
      toolset: 'checklist',
      review: true,
      assessor: false,
      gate: false,
      max_steps: 20,
    })
    expect(fresh({ toolset: 'task_list' }, host).toolset).toBe('task_list')
  })
})

describe('a change', () => {
  const base = fresh({ toolset: 'runsheet', history_limit: 7 })

  it('[PO2] changes what is named, and the rest stays', () => {
    expect(taken(policyWith(base, {}, { gate: false }))).toStrictEqual({ ...base, gate: false })
    expect(taken(policyWith(base, {}, { toolset: 'checklist' }))).toStrictEqual({ ...base, toolset: 'checklist' })
    expect(taken(policyWith(base, {}, { gate: undefined }))).toStrictEqual(base)
  })

  it('[PO2] a host does not change the policy of an existing conversation', () => {
    expect(taken(policyWith(base, { toolset: 'task_list', gate: false, max_steps: 1 }, {}))).toStrictEqual(base)
  })

  it('[PO2] drops undefined fields', () => {
    expect(fresh({ owner: 'me' } as PolicyPatch)).not.toHaveProperty('owner')
  })

  it('two policies are the same when every field is', () => {
    expect(samePolicy(base, { ...base })).toBe(true)
    expect(samePolicy(base, { ...base, max_advances: 6 })).toBe(false)
  })
})

describe('what is refused', () => {
  it('manage_todos without the assessor', () => {
    expect(refused({ toolset: 'manage_todos', assessor: false }).code).toBe('assessor_required')
    expect(refused({ toolset: 'manage_todos' }, fresh({ toolset: 'checklist' })).code).toBe('assessor_required')
    expect(refused({ assessor: false }, fresh({ toolset: 'manage_todos' })).code).toBe('assessor_required')
  })

  it.each([
    ['review_timeout_ms', 1, 2_592_000_000],
    ['panel_grace_ms', 0, 86_400_000],
    ['max_steps', 1, 1_000],
    ['max_steps_with_plan', 1, 1_000],
    ['max_advances', 0, 1_000],
    ['history_limit', 0, 10_000],
  ] as const)('a %s that is not from %i to %i', (field, least, most) => {
    expect(fresh({ [field]: least })[field]).toBe(least)
    expect(fresh({ [field]: most })[field]).toBe(most)
    for (const value of [least - 1, most + 1, -0, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '5']) {
      const refusal = refused({ [field]: value })
      expect(refusal.code).toBe('invalid_field')
      expect(refusal.data).toMatchObject({ field })
    }
  })

  it('an unknown toolset', () => {
    for (const toolset of ['todo', '', 'toString', '__proto__', 7, ['runsheet'], { toString: null }]) {
      const refusal = refused({ toolset })
      expect(refusal.code).toBe('invalid_field')
      expect(refusal.data).toMatchObject({ field: 'toolset' })
    }
  })

  it.each(['review', 'assessor', 'gate'])('a %s that is neither true nor false', field => {
    for (const value of ['on', 1, null]) expect(refused({ [field]: value }).data).toMatchObject({ field })
  })
})
