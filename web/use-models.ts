import { useEffect, useState } from 'react'
import type { Client } from 'runsheet/client'

/** The models that a message can go to. */
export function useModels(client: Client): {
  readonly names: readonly string[]
  readonly byDefault: string | undefined
} {
  const [models, setModels] = useState<readonly { name: string; default: boolean }[]>([])
  useEffect(() => {
    let isCurrent = true
    client.models().then(
      answer => isCurrent && setModels(answer.models),
      () => {},
    )
    return () => {
      isCurrent = false
    }
  }, [client])
  return { names: models.map(({ name }) => name), byDefault: (models.find(each => each.default) ?? models[0])?.name }
}
