import { useEffect, useState } from 'react'
import type { Client, ModelsAnswer } from 'runsheet/client'

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
