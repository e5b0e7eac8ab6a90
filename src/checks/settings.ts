import { isAbsolute } from 'node:path'
import { MAX_CHECKS, cleanCommand, cleanGlobs } from '../core/proof/check.ts'
import { Refusal } from '../core/model/refusal.ts'
import { sayProblem } from '../core/views/say.ts'
import { Problem } from '../core/model/text.ts'
import { findProgram, isName, searchPath, type Environment } from './program.ts'
import { Obstacle } from './obstacle.ts'

export interface CheckSettings {
  /** Commands that run without approval if they match word for word. */
  readonly allow: readonly (readonly string[])[]
  /** Globs of files that decide what a check means, in addition to the defaults. */
  readonly protect: readonly string[]
  /** Prefix of every command, such as a sandbox. */
  readonly wrap: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Commands that run once before a plan ends. */
  readonly done: readonly (readonly string[])[]
  /** The folder with the files of held-out checks, outside the workspace. */
  readonly held_out?: string | undefined
}

export const NO_CHECK_SETTINGS: CheckSettings = { allow: [], protect: [], wrap: [], env: {}, done: [] }

/** The problem with these settings as a sentence: a command that proves nothing, or a glob that leads outside. */
export function problemIn({ allow, done, protect, wrap, env, held_out }: CheckSettings): string | undefined {
  if (done.length > MAX_CHECKS) return `checks.done may have ${MAX_CHECKS} commands at most, got ${done.length}.`
  for (const [name, commands] of Object.entries({ allow, done })) {
    for (const [index, run] of commands.entries()) {
      const check = cleanCommand(run, `checks.${name}[${index}]`)
      if (check instanceof Refusal) return check.message
    }
  }
  if (wrap[0]?.trim() === '') return 'checks.wrap must begin with a program.'
  const name = Object.keys(env).find(each => each === '' || /[=\0]/.test(each))
  if (name !== undefined) return `checks.env: ${JSON.stringify(name)} is not the name of a variable.`
  if (held_out !== undefined && !isAbsolute(held_out))
    return `checks.held_out must be an absolute path, not ${held_out}.`
  const globs = cleanGlobs(protect, 'checks.protect')
  if (globs instanceof Refusal) return globs.message
  return globs instanceof Problem ? `checks.protect ${sayProblem(globs.fact)}.` : undefined
}

/** Why the wrapper cannot start commands, as a sentence. A wrapper in the workspace is looked up when a check runs. */
export function wrapperProblem({ wrap: [word], env }: CheckSettings, ours: Environment): string | undefined {
  if (word === undefined || !(isName(word) || word.startsWith('/'))) return undefined
  const path = searchPath(env['PATH'] ?? ours['PATH'])
  const found = findProgram(word, { workspace: { machine: '', path: '/' }, cwd: '/', path })
  return found instanceof Obstacle ? `checks.wrap: ${found.reason} Install it, or change the setting.` : undefined
}
