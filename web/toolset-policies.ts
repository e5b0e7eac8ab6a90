import type { Policy, SettingsView, ToolsetName } from 'runsheet/client'

/** What a toolset turns on, as a message that chooses it sends it: another toolset's policy need not fit. */
export type ToolsetPolicy = Pick<Policy, 'toolset' | 'review' | 'assessor' | 'gate'>
/** With the deadline of its reviews, which a message does not choose. */
export type ShownPolicy = ToolsetPolicy & Pick<Policy, 'review_timeout_ms'>
/** What the server's settings say about new conversations. */
export type PlanSettings = Pick<SettingsView, 'review' | 'review_timeout_ms' | 'gate'>

/** The policy that each toolset starts with. */
export const TOOLSETS: readonly ShownPolicy[] = [
  { toolset: 'runsheet', review: true, assessor: true, gate: true, review_timeout_ms: null },
  { toolset: 'task_manager', review: true, assessor: false, gate: false, review_timeout_ms: 120_000 },
  { toolset: 'manage_todos', review: false, assessor: true, gate: false, review_timeout_ms: null },
  { toolset: 'turn_todos', review: false, assessor: false, gate: true, review_timeout_ms: null },
  { toolset: 'checklist', review: false, assessor: false, gate: false, review_timeout_ms: null },
  { toolset: 'task_list', review: false, assessor: false, gate: false, review_timeout_ms: null },
]

/** The policies that can be chosen: a setting counts for every toolset, the conversation's own policy for its own. */
export const policiesNow = (settings: Partial<PlanSettings>, own: Policy | null): readonly ShownPolicy[] =>
  TOOLSETS.map(each => {
    if (each.toolset === own?.toolset) return own
    const set = Object.entries(settings).flatMap(([name, { value, source }]) =>
      source === 'default' ? [] : [[name, value]],
    )
    return { ...each, ...Object.fromEntries(set) }
  })

/** What a message that chooses a toolset sends. The server knows the policy of a new conversation best. */
export function chosenPolicy(
  policies: readonly ShownPolicy[],
  own: Policy | null,
  toolset: ToolsetName | undefined,
): Partial<ToolsetPolicy> {
  const policy = policies.find(each => each.toolset === toolset)
  if (!policy || toolset === own?.toolset) return {}
  const { review, assessor, gate } = policy
  return { toolset: policy.toolset, ...(own && { review, assessor, gate }) }
}
