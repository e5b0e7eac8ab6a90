import type { Policy, ToolsetName, ToolsetSummary } from 'runsheet/client'

/** What a toolset turns on, as a message that chooses it sends it: another toolset's policy need not fit. */
export type ToolsetPolicy = Pick<Policy, 'toolset' | 'review' | 'assessor' | 'gate'>
/** With the deadline of its reviews, which a message does not choose. */
export type ShownPolicy = ToolsetPolicy & Pick<Policy, 'review_timeout_ms'>

/** Whether the tasks are items for a person rather than the agent's steps. */
export const isList = ({ toolset }: Pick<Policy, 'toolset'>): boolean =>
  toolset === 'checklist' || toolset === 'task_list'

/** The policies that can be chosen: those of new conversations, and the conversation's own for its own toolset. */
export const policiesNow = (toolsets: readonly ToolsetSummary[], own: Policy | null): readonly ShownPolicy[] => [
  ...(own ? [own] : []),
  ...toolsets.flatMap(({ name, ...policy }) => (name === own?.toolset ? [] : { ...policy, toolset: name })),
]

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
