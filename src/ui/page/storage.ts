import { type Dispatch, type SetStateAction, useLayoutEffect, useState } from 'react'

/** Writes to localStorage and notifies this window too: browsers only notify the others. */
export function keep(key: string, value: string | null): void {
  if (value === null) localStorage.removeItem(key)
  else localStorage.setItem(key, value)
  window.dispatchEvent(new StorageEvent('storage', { key }))
}

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

export const THEME = 'runsheet.theme'

export function applyTheme(): void {
  const theme = localStorage.getItem(THEME)
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset['theme'] = theme
}

export function switchTheme(): void {
  const root = document.documentElement
  const isDark = root.dataset['theme']
    ? root.dataset['theme'] === 'dark'
    : matchMedia('(prefers-color-scheme: dark)').matches
  root.dataset['theme'] = isDark ? 'light' : 'dark'
  localStorage.setItem(THEME, root.dataset['theme'])
}
