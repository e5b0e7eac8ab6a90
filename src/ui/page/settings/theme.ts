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
