import { useEffect, useState } from 'react'
import type { Client, ToolsetsAnswer } from 'runsheet/client'
import { SETTINGS_CHANGED } from './use-models.ts'

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
