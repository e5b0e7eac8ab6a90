const isMac = /Mac|iP(hone|ad|od)/.test(navigator.platform)

/** The name of the modifier of shortcuts. */
export const MOD = isMac ? '⌘' : 'Ctrl'

/** Ctrl+K, on a Mac Command+K: there Ctrl+K deletes to the end of a line. */
export const isPaletteKey = ({ key, ctrlKey, metaKey, shiftKey, altKey }: KeyboardEvent): boolean =>
  key.toLowerCase() === 'k' && (isMac ? metaKey && !ctrlKey : ctrlKey && !metaKey) && !shiftKey && !altKey

/** `?`, unless it is typed into a field. */
export const isHelpKey = ({ key, ctrlKey, metaKey, altKey, target }: KeyboardEvent): boolean =>
  key === '?' &&
  !(ctrlKey || metaKey || altKey) &&
  !(target instanceof Element && target.closest('input, textarea, select, [contenteditable]'))

/** "Mod+Shift+Z" as its keys on this machine. */
export const keysOf = (shortcut: string): readonly string[] =>
  shortcut
    .split('+')
    .map(key => (key === 'Mod' ? MOD : isMac && key === 'Alt' ? '⌥' : isMac && key === 'Shift' ? '⇧' : key))
