import type { Door, Ref } from '../door/door.ts'
import { type HostPolicy, policyNow } from '../domain/policy.ts'
import { toolsets } from '../toolsets/index.ts'
import type { Toolset } from '../toolsets/toolset.ts'

export interface ToolsetDeps {
  readonly door: Door
  readonly host: HostPolicy
}

/** The toolset of a conversation: its own, else the default. */
export async function toolsetOf(ref: Ref, { door, host }: ToolsetDeps): Promise<Toolset> {
  const { policy } = await door.read(ref)
  return toolsets[policy?.toolset ?? policyNow(host).toolset ?? 'runsheet']
}
