import type { Check, CheckSpec } from '../domain/check.ts'
import { labelOf } from '../domain/check-label.ts'
import type { CheckRun } from '../domain/proof.ts'
import type { SentCheck } from '../domain/wire.ts'
import { durationText } from './duration-text.ts'
import type { Strings } from './strings.ts'

export function checkLabel(check: Check, { checks }: Strings): string {
  switch (check.kind) {
    case 'command':
    case 'person':
      return labelOf(check)
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
      return typeof check.run === 'string' ? check.run : labelOf({ ...check, run: check.run, id: '', hash: '' })
    case 'file':
      return check.path
    case 'unchanged':
      return check.paths.join(', ')
    case 'person':
      return check.ask
  }
}

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

export const splitList = (text: string): string[] =>
  text
    .split(/[,，]/)
    .map(item => item.trim())
    .filter(item => item !== '')
