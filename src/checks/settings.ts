import { cleanCheck, cleanGlobs, MAX_CHECKS } from '../domain/check.ts'
import { Refusal } from '../domain/refusal.ts'
import { sayProblem } from '../domain/say.ts'
import { Problem } from '../domain/text.ts'

/** What the checks of tasks may do. */
export interface CheckSettings {
  /** Commands that run without a person's approval, word for word. */
  readonly allow: readonly (readonly string[])[]
  /** Globs of files that decide what a check means, besides the usual ones. */
  readonly protect: readonly string[]
  /** Put in front of every command, say a sandbox. */
  readonly wrap: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Commands that run once before a plan ends. */
  readonly done: readonly (readonly string[])[]
}

export const NO_CHECK_SETTINGS: CheckSettings = { allow: [], protect: [], wrap: [], env: {}, done: [] }

/** What is wrong with them, as a sentence: a command that proves nothing, or a glob that leads elsewhere. */
export function problemIn({ allow, done, protect }: CheckSettings): string | undefined {
  if (done.length > MAX_CHECKS) return `checks.done may have ${MAX_CHECKS} commands at most, got ${done.length}.`
  for (const run of [...allow, ...done]) {
    const check = cleanCheck({ kind: 'command', run }, 'checks')
    if (check instanceof Refusal) return check.message
  }
  const globs = cleanGlobs(protect)
  return globs instanceof Problem ? `checks.protect ${sayProblem(globs.fact)}.` : undefined
}
