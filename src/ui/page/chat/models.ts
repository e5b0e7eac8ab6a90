import type {
  Client,
  ModelsAnswer,
  Policy,
  ToolsAnswer,
  ToolsetName,
  ToolsetsAnswer,
  ToolsetSummary,
} from 'runsheet/client'
import { useEffect, useState } from 'react'
import type { LaterStrings } from '../texts/english-later.ts'

/** The policy that a message sends with its toolset: another toolset's policy may not fit. */
type ToolsetPolicy = Pick<Policy, 'toolset' | 'review' | 'assessor' | 'gate'>
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

export function useToolsets(client: Client): ToolsetsAnswer | undefined {
  const [toolsets, setToolsets] = useState<ToolsetsAnswer>()
  useEffect(() => {
    const left = new AbortController()
    const { signal } = left
    const load = (): void =>
      void client.toolsets().then(
        answer => signal.aborted || setToolsets(answer),
        () => {},
      )
    load()
    const onStorage = ({ key }: StorageEvent): void => void (key === SETTINGS_CHANGED && load())
    window.addEventListener('storage', onStorage, { signal })
    // Another browser may have changed them.
    window.addEventListener('focus', load, { signal })
    return () => left.abort()
  }, [client])
  return toolsets
}

/** Storage key that is rewritten whenever this or another window changes the settings. */
export const SETTINGS_CHANGED = 'runsheet.settings'

export function useModels(client: Client): {
  readonly names: readonly string[]
  readonly byDefault: string | undefined
  readonly hasSandbox: (name: string | undefined) => boolean
} {
  const [models, setModels] = useState<ModelsAnswer['models']>([])
  useEffect(() => {
    let isCurrent = true
    const load = (): void =>
      void client.models().then(
        answer => isCurrent && setModels(answer.models),
        () => {},
      )
    load()
    const update = ({ key }: StorageEvent): void => void (key === SETTINGS_CHANGED && load())
    window.addEventListener('storage', update)
    return () => {
      isCurrent = false
      window.removeEventListener('storage', update)
    }
  }, [client])
  return {
    names: models.map(({ name }) => name),
    byDefault: (models.find(each => each.default) ?? models[0])?.name,
    hasSandbox: name => models.some(each => each.name === name && each.sandbox),
  }
}

export function toolCount({ offered, servers }: ToolsAnswer, strings: LaterStrings['tools']) {
  const left = servers.flatMap(({ tools }) => tools).filter(({ left_out }) => left_out).length
  return { isAll: left === 0, text: left === 0 ? strings.count(offered) : strings.countOf(offered, offered + left) }
}
