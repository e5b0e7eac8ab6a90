type Over = 'settings' | 'tools'

/** Opens a dialog through the URL, so that Back closes it. */
function open(name: Over): void {
  const url = new URL(location.href)
  if (url.searchParams.has(name)) return
  url.searchParams.set(name, '')
  history.pushState(null, '', url)
  dispatchEvent(new PopStateEvent('popstate'))
}

export const openSettings = (): void => open('settings')
export const openTools = (): void => open('tools')

export function closeTools(): void {
  const url = new URL(location.href)
  url.searchParams.delete('tools')
  history.replaceState(null, '', url)
  dispatchEvent(new PopStateEvent('popstate'))
}
