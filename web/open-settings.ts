/** Opens the settings: whoever shows them follows the URL. */
export function openSettings(): void {
  const url = new URL(location.href)
  if (url.searchParams.has('settings')) return
  url.searchParams.set('settings', '')
  history.pushState(null, '', url)
  dispatchEvent(new PopStateEvent('popstate'))
}
