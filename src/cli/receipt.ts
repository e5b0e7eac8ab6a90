import type { Conversation } from '../core/model/conversation.ts'
import type { DisputeReceipt } from '../core/proof/dispute.ts'
import { changesText, shortPaths } from '../core/proof/file-change.ts'
import { heldOutWords } from '../core/proof/held-out.ts'
import { inCode, inText } from '../core/text/plain-text.ts'
import type { Origin } from '../core/model/origin.ts'
import { DISPUTE_ENDS, STANDING_WORDS, doneWords, seconds, statusWord, when } from '../core/views/tally.ts'
import { hasTasks, planOf } from '../core/model/plan.ts'
import type { RunReason } from '../core/proof/proof.ts'
import {
  RECEIPT_TYPES,
  receiptOf,
  type CallCounts,
  type CheckReceipt,
  type Receipt,
  type ReviewReceipt,
  type StepReceipt,
} from '../core/views/receipt.ts'
import { globText } from '../core/model/row.ts'
import { cut } from '../core/model/text.ts'
import type { Door, Ref } from '../engine/door/door.ts'
import { EDGES } from './audit.ts'
import { CliError } from './cli-error.ts'
import { allConversations, knownConversation, readStore, type ReadOptions } from './server/open-store.ts'

export interface ReceiptOptions extends ReadOptions {
  readonly session?: string
  readonly turn?: string
  readonly format: 'md' | 'json'
}

/** Defaults to the newest turn with a plan. */
export function printReceipt(options: ReceiptOptions): Promise<void> {
  return readStore(options, async door => {
    const receipt = await foundReceipt(door, options)
    console.log(options.format === 'json' ? JSON.stringify(receipt, null, 2) : receiptMarkdown(receipt))
  })
}

async function foundReceipt(door: Door, { session, turn }: ReceiptOptions): Promise<Receipt> {
  if (session !== undefined) {
    const ref = await knownConversation(door, session)
    const receipt = await receiptIn(door, ref, turn)
    if (receipt) return receipt
    throw new CliError(`conversation ${session} has no ${turn === undefined ? 'plan' : `turn ${turn} with a plan`}.`)
  }
  for await (const ref of allConversations(door)) {
    const receipt = await receiptIn(door, ref, turn)
    if (receipt) return receipt
  }
  throw new CliError(turn === undefined ? 'there is no plan yet.' : `there is no turn ${turn} with a plan.`)
}

async function receiptIn(door: Door, ref: Ref, turn: string | undefined): Promise<Receipt | undefined> {
  const state = await door.read(ref)
  const turnId = turn ?? newestPlan(state)
  if (turnId === undefined || !state.turns.get(turnId)) return undefined
  return receiptOf(state, await door.conversations.events(ref, { types: RECEIPT_TYPES }), turnId)
}

const newestPlan = (state: Conversation): string | undefined =>
  [...state.turns.values()]
    .toSorted((a, b) => (a.started_at < b.started_at ? 1 : -1))
    .find(({ id }) => hasTasks(planOf(state, id)))?.id

const MAX_TEXT = 500

/** For pull requests, so it omits check output and paths of this machine. */
export function receiptMarkdown(receipt: Receipt): string {
  const { steps, reviews, checks, calls } = receipt
  const plan = [...checks.flatMap(checkLines), ...callLines(calls)]
  return [
    '## Receipt',
    `**${tallyText(receipt)}**`,
    ...headTexts(receipt),
    ...(reviews.length === 0 ? ['The plan was not reviewed before it was written.'] : reviews.map(reviewText)),
    table(steps),
    ...steps.map(stepText),
    ...(plan.length === 0 ? [] : [['### The plan as a whole', '', ...plan].join('\n')]),
    `Runsheet, conversation ${inCode(receipt.session_id)}, turn ${inCode(receipt.turn_id)}.`,
  ].join('\n\n')
}

const RUNS: Record<RunReason, string> = {
  baseline: 'at the start',
  claim: 'when it was claimed',
  final: 'before the plan ended',
  person: 'when a person asked',
}

function tallyText({ checks, tally }: Receipt): string {
  const unpassed = checks.filter(
    ({ state, runs, changes }) => runs.length > 0 && (state !== 'passed' || changes.length > 0),
  )
  const failing =
    unpassed.length > 0
      ? ` Checks of the whole plan that did not pass: ${unpassed.map(({ check }) => inCode(check)).join(', ')}.`
      : ''
  return `${doneWords({ ...tally, total: tally.of })}.${failing}`
}

function headTexts({ request, worker, started_at, status }: Receipt): string[] {
  const by = worker === null ? '' : ` by ${inText(worker)}`
  return [
    ...(request === null ? [] : [`Asked for: ${inText(cut(request, MAX_TEXT))}`]),
    `Worked on${by} since ${when(started_at)}; the turn is ${status}.`,
  ]
}

function reviewText({ action, at, by, reason, comment, changes }: ReviewReceipt): string {
  const did = action === 'confirm' ? 'Confirmed' : `Turned down${reason === null ? '' : ` (${inText(reason)})`}`
  const said = comment === null ? '' : ` Comment: ${inText(cut(comment, MAX_TEXT))}`
  const edits = changes === null ? [] : changeLines(changes)
  return [`${did} ${byWhom(by)}, ${when(at)}.${said}`, ...(edits.length === 0 ? [] : ['', ...edits])].join('\n')
}

function changeLines({ edited, added, removed, reordered }: NonNullable<ReviewReceipt['changes']>): string[] {
  return [
    ...edited.map(({ from, to, fields }) =>
      from === to
        ? `- changed ${fields.join(', ')} of: ${inText(to)}`
        : `- changed: ${inText(from)} → ${inText(to)}${others(fields)}`,
    ),
    ...added.map(title => `- added: ${inText(title)}`),
    ...removed.map(title => `- removed: ${inText(title)}`),
    ...(reordered ? ['- changed the order'] : []),
  ]
}

function others(fields: readonly string[]): string {
  const more = fields.filter(field => field !== 'title')
  return more.length === 0 ? '' : ` (and ${more.join(', ')})`
}

const table = (steps: readonly StepReceipt[]): string =>
  [
    '| | step | status | standing |',
    '| --- | --- | --- | --- |',
    ...steps.map(
      ({ number, title, status, standing, disputes, checks }) =>
        `| ${number} | ${inText(title)} | ${statusWord(status, disputes.at(-1)?.ended === null)} | ${standing === null ? '' : STANDING_WORDS[standing] + heldOutWords(checks.map(({ spec }) => spec))} |`,
    ),
  ].join('\n')

function stepText(step: StepReceipt): string {
  const { number, title, outcome, reasons, disputes, scope, checks, verdicts, edits, accepted, calls, reports } = step
  return [
    `### ${number} ${inText(title)}`,
    '',
    ...(outcome === null ? [] : [`- Outcome: ${inText(cut(outcome, MAX_TEXT))}`]),
    ...reasons.map(reason => `- Why: ${inText(reason)}`),
    ...disputes.flatMap(disputeLines),
    ...(scope === null ? [] : [`- May change: ${scope.map(glob => inCode(globText(glob))).join(', ')}`]),
    ...checks.flatMap(checkLines),
    ...verdicts.map(({ verdict, reason, model, fenced }) => {
      const why = reason === '' ? '' : `: ${inText(cut(reason, MAX_TEXT))}`
      return `- Judge ${inText(model)}: ${verdict}${why}${fenced ? ' (a person changed the step meanwhile)' : ''}`
    }),
    ...edits.map(({ fields, at, by }) => `- Changed ${byWhom(by)}, ${when(at)}: ${fields.join(', ')}`),
    ...accepted.map(
      ({ paths, at, by }) =>
        `- Changes accepted ${byWhom(by)}, ${when(at)}: ${shortPaths(paths).map(inCode).join(', ')}`,
    ),
    ...callLines(calls),
    ...callLines(reports.host, 'Tool calls, as the host says'),
    ...callLines(reports.agent, 'Tool calls, as the agent says'),
  ].join('\n')
}

function disputeLines({ reason, by, at, ended }: DisputeReceipt): string[] {
  const answer =
    ended === null
      ? 'waits for a person'
      : `${DISPUTE_ENDS[ended.how]} ${byWhom(ended.by)}, ${when(ended.at)}${ended.comment === null ? '' : `: ${inText(cut(ended.comment, MAX_TEXT))}`}`
  return [
    `- Disputed by ${by === null ? 'the agent' : inText(by)}, ${when(at)}: ${inText(cut(reason, MAX_TEXT))}`,
    `  - ${answer}`,
  ]
}

function checkLines({ check, spec, approved, runs, changes }: CheckReceipt): string[] {
  const name = spec.kind === 'person' ? inText(check) : inCode(check)
  return [
    `- Check ${name}: ${approvalText(spec.kind, approved)}`,
    ...runs.map(({ why, result, exit, duration_ms, reason }) => {
      const code = exit === null ? '' : `, exit code ${exit}`
      // Unless the result is inconclusive, the exit code already explains it.
      const because = reason === null || result !== 'inconclusive' ? '' : `: ${inText(withoutFolders(reason))}`
      return `  - ${RUNS[why]}: ${result}${code}, ${seconds(duration_ms)}${because}`
    }),
    ...(changes.length === 0 ? [] : [`  - changed and not accepted: ${changesText(changes).map(inCode).join(', ')}`]),
  ]
}

/** Strips the folders of programs on this machine. */
const withoutFolders = (text: string): string => text.replaceAll(/\/[^\s,;]*\/(?=[^\s/,;])/g, '…/')

function approvalText(kind: CheckReceipt['spec']['kind'], approved: CheckReceipt['approved']): string {
  if (approved === null) return 'not approved, never run'
  const { via, at, by } = approved
  if (via === 'configuration') return 'allowed by the configuration'
  if (at === null) return kind === 'person' ? 'not ticked' : 'approved earlier'
  return `${kind === 'person' ? 'ticked' : 'approved'} ${byWhom(by)}, ${when(at)}`
}

function callLines({ ok, failed, tools }: CallCounts = NO_CALLS, what = 'Tool calls'): string[] {
  if (ok + failed === 0) return []
  const names = Object.entries(tools).map(([tool, { ok: good, failed: bad }]) => `${inCode(tool)} ${good + bad}`)
  return [`- ${what}: ${ok} ok, ${failed} failed (${names.join(', ')})`]
}

const NO_CALLS: CallCounts = { ok: 0, failed: 0, tools: {} }

function byWhom(origin: Origin | null): string {
  if (origin === null) return 'by somebody unrecorded'
  const { actor, edge, claimed } = origin
  const says = claimed ? `, which says it is ${inText(claimed.client)}` : ''
  return actor === 'system' ? 'by Runsheet itself' : `by ${WHO[actor]} (${EDGES[edge]}${says})`
}

const WHO: Record<Exclude<Origin['actor'], 'system'>, string> = {
  person: 'a person',
  agent: 'an agent',
  program: 'a program',
}
