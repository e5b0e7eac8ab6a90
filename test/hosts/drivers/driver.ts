import type { HookHost } from '../../../src/hosts/hosts.ts'
import type { OwnCall } from '../agent.ts'
import type { ModelApi } from '../model/model.ts'

/** How tests run a host: with a scripted model, and without a terminal. */
export interface Driver {
  /** As `runsheet setup` has it. */
  readonly name: HookHost
  readonly label: string
  /** On npm. */
  readonly package: string
  /** The one that docs/hosts tells of. */
  readonly version: string
  /** In `node_modules/.bin`. */
  readonly command: string
  readonly api: ModelApi
  /** Variables that lead it to the model at this URL, and keep it from calling anyone else. */
  env(modelUrl: string): Readonly<Record<string, string>>
  /** The arguments that give it a prompt. */
  args(prompt: string, options: RunOptions): readonly string[]
  /** A server of its own that outlives its turns, where the gate works only there. */
  readonly server?: { readonly args: readonly string[]; urlIn(printed: string): string | undefined }
  /** The id of the session in what it printed. */
  sessionIn(printed: string): string | undefined
  /** A call of its own shell. */
  shell(command: string): OwnCall
  /** Its shell, as its hooks name it. */
  readonly shellName: string
  /** A call that writes a new file; the path is absolute. */
  write(path: string, content: string): OwnCall
  /** Whether it says of a command that it failed. */
  readonly tellsFailures: boolean
  /** The settings of a user who has only signed in, where the host keeps that in its settings. */
  readonly signedIn?: Readonly<Record<string, string>>
  /** Settings of a user who has used it before, by their path in the home folder. */
  readonly settings: Readonly<Record<string, string>>
  /** Settings by which it trusts a project, if it reads those of the project only then and no variable says so. */
  readonly trusting?: (project: string) => Readonly<Record<string, string>>
  /** The files of them that it writes anew when it runs. */
  readonly rewrites: readonly string[]
  readonly terminal: TerminalDriver
}

export interface RunOptions {
  readonly modelUrl: string
  /** The session to go on with; by default a new one. */
  readonly session?: string | undefined
  /** The URL of the host's own server. */
  readonly server?: string | undefined
}

/** How tests run it in a terminal. */
export interface TerminalDriver {
  args(modelUrl: string): readonly string[]
  /** The settings of a user who has used it in this project before, so that it asks nothing at the start. */
  settings?(project: string): Readonly<Record<string, string>>
  /** What is on the screen once it can be asked. */
  readonly ready: string
}

/** The first match of a pattern's group. */
export const found = (pattern: RegExp, text: string): string | undefined => pattern.exec(text)?.[1]
