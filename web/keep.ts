/** Keeps something in this browser. Other windows hear of it from the browser, other parts of this one from here. */
export function keep(key: string, value: string | null): void {
  if (value === null) localStorage.removeItem(key)
  else localStorage.setItem(key, value)
  window.dispatchEvent(new StorageEvent('storage', { key }))
}
