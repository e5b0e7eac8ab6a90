const isMac = /Mac|iP(hone|ad|od)/.test(navigator.platform)

export const MOD = isMac ? '⌘' : 'Ctrl'

/** Ctrl+K, or Command+K on a Mac, where Ctrl+K deletes to the end of the line. */
export const isPaletteKey = ({ key, ctrlKey, metaKey, shiftKey, altKey }: KeyboardEvent): boolean =>
  key.toLowerCase() === 'k' && (isMac ? metaKey && !ctrlKey : ctrlKey && !metaKey) && !shiftKey && !altKey

export const isHelpKey = ({ key, ctrlKey, metaKey, altKey, target }: KeyboardEvent): boolean =>
  key === '?' &&
  !(ctrlKey || metaKey || altKey) &&
  !(target instanceof Element && target.closest('input, textarea, select, [contenteditable]'))

/** Splits "Mod+Shift+Z" into key names of this platform. */
export const keysOf = (shortcut: string): readonly string[] =>
  shortcut
    .split('+')
    .map(key => (key === 'Mod' ? MOD : isMac && key === 'Alt' ? '⌥' : isMac && key === 'Shift' ? '⇧' : key))
