import type { Check, CheckSpec } from '../../../core/proof/check.ts'
import { contentOf, quoteWords } from '../../../core/proof/check-text.ts'
import { isHidden } from '../../../core/proof/held-out.ts'
import type { CheckRun } from '../../../core/proof/proof.ts'
import type { SentCheck } from '../../../core/views/wire.ts'
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

/** Formats a duration: `<0.1 s`, `0.7 s`, `12 s`, and `2:05` from one minute on. */
export function durationText(ms: number, { seconds }: Strings): string {
  if (ms >= 59_500) return formatDuration(ms)
  if (ms < 50) return seconds('<0.1')
  return seconds((ms / 1_000).toFixed(ms < 9_950 ? 1 : 0))
}

/** Such as `1:05`, or `2:30 h` from one hour on. */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000))
  const pad = (value: number): string => String(value).padStart(2, '0')
  if (seconds >= 3_600) return `${Math.floor(seconds / 3_600)}:${pad(Math.floor((seconds % 3_600) / 60))} h`
  return `${Math.floor(seconds / 60)}:${pad(seconds % 60)}`
}

/** Strips Markdown, for places that show a model's text as one plain text. */
export const plainMarkdown = (text: string): string =>
  text
    .replaceAll(FENCES, '')
    .replaceAll(RULES, '')
    .replaceAll(TABLE_ROWS, (_, cells: string) =>
      cells
        .split('|')
        .map(cell => cell.trim())
        .join(' · '),
    )
    .replaceAll(BLOCK_MARKS, '$1')
    .replaceAll(BOXES, '$1')
    .replaceAll(LINKS, '$1')
    .replaceAll(CODE, '$2')
    .replaceAll(EMPHASIS, '$1$3')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim()

/** The same in one line: dots separate items, cells and paragraphs. */
export const plainLine = (text: string): string =>
  plainMarkdown(text)
    .split(PARTS)
    .map(part => part.replace(ITEM, '').replaceAll(/\s+/g, ' ').trim())
    .filter(part => part !== '')
    .reduce((line, part) => (/(?:^|[.:!?。：！？])$/.test(line) ? `${line} ${part}` : `${line} · ${part}`), '')
    .trim()

/** Paragraph breaks and starts of list items. */
const PARTS = /\n[ \t]*\n|\n(?=[ \t]*(?:[-*+]|\d{1,9}[.)]) )/
const ITEM = /^\s*[-*+] /
const FENCES = /^ {0,3}(?:```|~~~).*\n?/gm
/** Horizontal rules, and the line below a table's head. */
const RULES = /^[ \t]*(?:\|[ \t]*)?:?-{3,}:?[ \t]*(?:\|[ \t]*:?-{3,}:?[ \t]*)*(?:\|[ \t]*)?(?:\n|$)/gm
const TABLE_ROWS = /^[ \t]*\|(.+)\|[ \t]*$/gm
const BLOCK_MARKS = /^([ \t]*(?:[-*+] |\d{1,9}[.)] )?)(?:#{1,6} |> ?)/gm
const BOXES = /^([ \t]*(?:[-*+]|\d{1,9}[.)]) )\[[ xX]\] /gm
// Every quantifier is bounded, so that no text causes slow backtracking.
const LINKS = /!?\[([^\]\n]{0,500})\]\([^)\s]{0,2000}(?: "[^"\n]{0,500}")?\)/g
const CODE = /(`{1,3})([^`\n]{1,1000})\1/g
/** Only around words, not in `2*3*4` or `*.ts`. Underscores stay, because names contain them. */
const EMPHASIS = /(^|[^\w*~])(\*{1,3}|~~)(?=[\p{L}\p{N}"“'‘([])([^\n*~]{0,1000}[^\s*~])\2(?![\w*~])/gmu
