import type { CommandId } from './commands.ts'

/** The texts of the palette and of the keyboard help, which are loaded with them. */
export interface CommandStrings {
  readonly palette: string
  readonly placeholder: string
  readonly actions: string
  readonly recent: string
  readonly results: string
  readonly nothing: string
  readonly kinds: Readonly<Record<'conversation' | 'task' | 'message', string>>
  readonly count: (results: number) => string
  readonly labels: Readonly<Record<CommandId, string>>
  readonly help: string
  /** By where they work: what each does, and the keys. "Mod" is Command on a Mac, else Ctrl. */
  readonly shortcuts: readonly {
    readonly where: string
    readonly keys: readonly (readonly [what: string, ...keys: readonly string[]])[]
  }[]
}
