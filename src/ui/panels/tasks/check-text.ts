import type { Check, CheckSpec } from '../../../core/proof/check.ts'
import { contentOf } from '../../../core/proof/check-label.ts'
import { isHidden } from '../../../core/proof/held-out.ts'
import { quoteWords } from '../../../core/proof/command-line.ts'
import type { CheckRun } from '../../../core/proof/proof.ts'
import type { SentCheck } from '../../../core/views/wire.ts'
import { durationText } from '../thread/duration-text.ts'
import type { Strings } from '../texts/strings.ts'

export const checkLabel = (check: Check, strings: Strings): string =>
  isHidden(check) ? strings.checks.heldOut(bareLabel(check, strings)) : bareLabel(check, strings)

function bareLabel(check: Check, { checks }: Strings): string {
  switch (check.kind) {
    case 'command':
    case 'person':
      return contentOf(check)
    case 'file':
      return (check.absent ? checks.isAbsent : checks.exists)(check.path)
    case 'unchanged':
      return checks.isUnchanged(check.paths.join(', '))
  }
}

/** Such as “failed · exits with 1 · 1.2 s”. */
export function runText(run: Pick<CheckRun, 'result' | 'exit' | 'duration_ms'>, strings: Strings): string {
  const { result, exit, duration_ms } = run
  const code = result === 'failed' && exit !== undefined && exit !== 0 ? strings.checks.exitCode(exit) : undefined
  return [strings.checks.state[result], code, durationText(duration_ms, strings)]
    .filter(text => text !== undefined)
    .join(' · ')
}

export const kindLabel = (check: SentCheck, { checks }: Strings): string =>
  check.kind === 'file' && check.absent ? checks.kind.absent : checks.kind[check.kind]

export function conditionsOf(check: SentCheck, { checks }: Strings): string {
  const { cwd, exit, contains, timeout_ms } = check as Partial<Extract<CheckSpec, { kind: 'command' }>>
  return [
    cwd === undefined ? '' : checks.inFolder(cwd),
    exit === undefined ? '' : checks.exits(exit),
    contains === undefined ? '' : checks.contains(contains),
    timeout_ms === undefined ? '' : checks.within(timeout_ms / 1_000),
  ]
    .filter(text => text !== '')
    .join(' · ')
}

export function textOf(check: SentCheck): string {
  switch (check.kind) {
    case 'command':
      return typeof check.run === 'string' ? check.run : quoteWords(check.run)
    case 'file':
      return check.path
    case 'unchanged':
      return check.paths.join(', ')
    case 'person':
      return check.ask
  }
}

export const writtenCheck = (run: string, isHidden: boolean): SentCheck => ({
  kind: 'command',
  run,
  ...(isHidden ? { hidden: true } : {}),
})

/** A check with another text is a new check: it loses its id, hash and approval. */
export function withText(check: SentCheck, text: string): SentCheck {
  const { id: _id, hash: _hash, programs: _programs, ...rest } = check
  switch (rest.kind) {
    case 'command':
      return { ...rest, run: text }
    case 'file':
      return { ...rest, path: text }
    case 'unchanged':
      return { ...rest, paths: splitList(text) }
    case 'person':
      return { ...rest, ask: text }
  }
}

/** The number of held-out checks, to follow a standing: ", 1 held out". */
export function heldOutText(checks: readonly Check[] | undefined, strings: Strings): string {
  const count = checks?.filter(isHidden).length ?? 0
  return count === 0 ? '' : strings.checks.heldOutCount(count)
}

export const splitList = (text: string): string[] =>
  text
    .split(/[,，]/)
    .map(item => item.trim())
    .filter(item => item !== '')
