/** Writes to localStorage and notifies this window too: browsers only notify the others. */
export function keep(key: string, value: string | null): void {
  if (value === null) localStorage.removeItem(key)
  else localStorage.setItem(key, value)
  window.dispatchEvent(new StorageEvent('storage', { key }))
}
