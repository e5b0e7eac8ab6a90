import { useEffect, useState } from 'react'
import type { Client } from 'runsheet/client'

/** Kept anew when this window or another one changes the settings. */
export const SETTINGS_CHANGED = 'runsheet.settings'

/** The models that a message can go to. */
export function useModels(client: Client): {
  readonly names: readonly string[]
  readonly byDefault: string | undefined
} {
  const [models, setModels] = useState<readonly { name: string; default: boolean }[]>([])
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
  return { names: models.map(({ name }) => name), byDefault: (models.find(each => each.default) ?? models[0])?.name }
}
