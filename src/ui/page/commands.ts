import { useEffect } from 'react'

/**
 * Commands of the palette. To add one: its name here, its label in `texts/english-later.ts`, its icon in `palette.tsx`, and
 * `useCommands` in the component that runs it.
 */
export type CommandId =
  | 'new_chat'
  | 'search'
  | 'reviews'
  | 'history'
  | 'plan_beside'
  | 'rename'
  | 'pin'
  | 'unpin'
  | 'archive'
  | 'restore'
  | 'export_markdown'
  | 'export_json'
  | 'archived'
  | 'settings'
  | 'tools'
  | 'theme'
  | 'language'
  | 'keyboard_help'

type Commands = { readonly [id in CommandId]?: (() => void) | undefined }

const offered = new Map<CommandId, () => void>()

export function useCommands(commands: Commands): void {
  useEffect(() => {
    const own = Object.entries(commands).filter(entry => entry[1]) as [CommandId, () => void][]
    for (const [id, run] of own) offered.set(id, run)
    return () => {
      for (const [id, run] of own) if (offered.get(id) === run) offered.delete(id)
    }
  })
}

export const isOffered = (id: CommandId): boolean => offered.has(id)

export const runCommand = (id: CommandId): void => offered.get(id)?.()

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
