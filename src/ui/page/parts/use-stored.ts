import { type Dispatch, type SetStateAction, useLayoutEffect, useState } from 'react'

/** State that survives a reload. `undefined` and '' are not stored. */
export function useStored<T>(key: string, initial: T): readonly [T, Dispatch<SetStateAction<T>>] {
  const [value, setValue] = useState<T>(() => {
    const stored = sessionStorage.getItem(key)
    return stored === null ? initial : (JSON.parse(stored) as T)
  })
  useLayoutEffect(() => {
    if (value === undefined || value === '') sessionStorage.removeItem(key)
    else sessionStorage.setItem(key, JSON.stringify(value))
  }, [key, value])
  return [value, setValue]
}
