import { useEffect, useState } from 'react'
import type { Client } from 'runsheet/client'
import type { PlanSettings } from './toolset-policies.ts'
import { SETTINGS_CHANGED } from './use-models.ts'

/** What the server's settings say about new conversations; undefined until that is known, empty where it has none. */
export function usePlanSettings(client: Client): Partial<PlanSettings> | undefined {
  const [settings, setSettings] = useState<Partial<PlanSettings>>()
  useEffect(() => {
    const left = new AbortController()
    const { signal } = left
    const load = (): void =>
      void client.settings(signal).then(
        ({ settings: { review, review_timeout_ms, gate } }) =>
          signal.aborted || setSettings({ review, review_timeout_ms, gate }),
        () => signal.aborted || setSettings(before => before ?? {}),
      )
    load()
    const onStorage = ({ key }: StorageEvent): void => void (key === SETTINGS_CHANGED && load())
    window.addEventListener('storage', onStorage, { signal })
    // Another browser may have changed them.
    window.addEventListener('focus', load, { signal })
    return () => left.abort()
  }, [client])
  return settings
}
