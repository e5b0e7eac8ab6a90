import type { Policy, ToolsetName, ToolsetSummary } from 'runsheet/client'

/** The policy that a message sends with its toolset: another toolset's policy may not fit. */
export type ToolsetPolicy = Pick<Policy, 'toolset' | 'review' | 'assessor' | 'gate'>
/** With the review deadline, which a message cannot set. */
export type ShownPolicy = ToolsetPolicy & Pick<Policy, 'review_timeout_ms'>

/** True if the tasks are items for a person, not steps of the agent. */
export const isList = ({ toolset }: Pick<Policy, 'toolset'>): boolean =>
  toolset === 'checklist' || toolset === 'task_list'

/** The policies of new conversations; the conversation's own for its current toolset. */
export const policiesNow = (toolsets: readonly ToolsetSummary[], own: Policy | null): readonly ShownPolicy[] => [
  ...(own ? [own] : []),
  ...toolsets.flatMap(({ name, ...policy }) => (name === own?.toolset ? [] : { ...policy, toolset: name })),
]

/** A new conversation sends only the toolset: the server applies its policy. */
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
