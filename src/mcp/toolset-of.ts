import { type Door, type Ref, StoreError } from '../door/door.ts'
import { type HostPolicy, policyNow, type ToolsetName } from '../domain/policy.ts'
import { toolsets } from '../toolsets/index.ts'
import type { Toolset } from '../toolsets/toolset.ts'

export interface ToolsetDeps {
  readonly door: Door
  /** The policy of new conversations. */
  readonly host: HostPolicy
  readonly onError: (error: unknown) => void
}

/** The toolset of a conversation: its own, else the default of new ones. A broken task file does not hide it. */
export async function toolsetOf(ref: Ref, { door, host, onError }: ToolsetDeps): Promise<Toolset> {
  const own = await door.read(ref).then(
    ({ policy }) => policy?.toolset,
    (error: unknown) => {
      if (!(error instanceof StoreError) || error.code !== 'file_invalid') throw error
      onError(error)
      return toolsetInLog(ref, door)
    },
  )
  return toolsets[own ?? policyNow(host).toolset ?? 'runsheet']
}

async function toolsetInLog(ref: Ref, door: Door): Promise<ToolsetName | undefined> {
  const [set] = await door.conversations.events(ref, { types: ['policy_set'], last: 1 })
  return set?.type === 'policy_set' ? set.data.policy.toolset : undefined
}
