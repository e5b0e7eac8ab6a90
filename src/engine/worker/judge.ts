import { claimText, type Opinion } from '../../core/proof/claims.ts'
import type { CommandOf } from '../../core/model/command.ts'
import type { Conversation } from '../../core/model/conversation.ts'
import type { EventType, StoredEvent, Usage } from '../../core/model/event.ts'
import { MAX_REPORTS } from '../../core/proof/evidence.ts'
import { planIdOf } from '../../core/model/plan.ts'
import type { OpenClaim } from '../../core/proof/proof.ts'
import type { Redactor } from '../../core/text/redact.ts'
import { cut } from '../../core/model/text.ts'
import { StoreError, type Door, type Lease } from '../door/door.ts'
import { CASE_TYPES, caseOf, refsOf, work, type Case, type Work } from './case.ts'
import type { HeldLease } from './held-lease.ts'
import { UnknownModel } from '../turn/given-models.ts'
import { isJudgeFailure, type Run } from '../turn/run.ts'
import { abortOnSilence, untilAborted } from './silence.ts'

/** Rules on an agent's claims: `async theCase => ({ ok, reason, evidence })`. It sees only the case. */
export interface Judge {
  (theCase: Case, options: JudgeCall): Promise<JudgeAnswer>
  /** The name stored with verdicts. Default: `judge`. */
  readonly model?: string
}

/** Options of one call to a judge. */
export interface JudgeCall {
  /** Aborts if the answer is no longer needed, or takes too long. */
  readonly signal: AbortSignal
  /** Why the last answer was no verdict; the judge is asked once more. */
  readonly unclear?: string
}

/** A judge's answer. */
export interface JudgeAnswer {
  /** Whether the task is settled as claimed. Anything but true or false is no verdict. */
  readonly ok: boolean | null
  /** What is missing, in one sentence. */
  readonly reason?: string
  /** The ids of the evidence in the case that the verdict rests on. */
  readonly evidence?: readonly string[]
  /** Tokens used. */
  readonly usage?: Usage
}

export interface JudgeDeps {
  readonly judge: () => Judge | Promise<Judge>
  readonly redact: Redactor
}

export interface JudgedTurn {
  readonly work: Work
  readonly run: Pick<Run, 'state' | 'verdicts' | 'judgeFailures'>
  confirmLease(signal: AbortSignal): Promise<void>
  eventsOf(task: string, types: readonly EventType[]): Promise<readonly StoredEvent[]>
}

type Verdict = CommandOf<'assess_task'>

/** Attempts at a clear verdict. */
const MAX_TRIES = 2
/** Consecutive failures after which a turn stops asking. */
const MAX_FAILURES = 2
/** Per turn. */
const MAX_VERDICTS = 200
const MAX_REASON = 2_000
/** For one answer, retries included. */
const MAX_MS = 600_000
const NO_USAGE: Usage = { input_tokens: 0, output_tokens: 0, total_tokens: 0 }

/**
 * Asks the judge about a claim, and once more if the answer is unclear. Fails closed: no clear verdict is no pass.
 * `onInterrupted` gets the verdicts so far if it is interrupted.
 */
export async function verdictsOn(
  turn: JudgedTurn,
  deps: JudgeDeps,
  claim: OpenClaim,
  signal: AbortSignal,
  onInterrupted?: (verdicts: readonly Verdict[]) => Promise<unknown>,
): Promise<readonly Verdict[]> {
  const { turn_id, task_id: task, seal, basis } = claim
  const { run, work: done } = turn
  const verdicts: Verdict[] = []
  const add = (opinion: Opinion): unknown =>
    verdicts.push({ ...opinion, type: 'assess_task', turn_id, task, seal, basis })
  try {
    const chosen = await deps.judge()
    const model = chosen.model ?? 'judge'
    const facts = caseOf(claimText(run.state, claim), done, run.state, await turn.eventsOf(task, CASE_TYPES))
    while (verdicts.length < MAX_TRIES && (verdicts.at(-1)?.verdict ?? 'unknown') === 'unknown') {
      const reason = whyNotAsked(run, verdicts)
      if (reason !== undefined) {
        if (verdicts.length === 0) add({ verdict: 'unknown', reason, model })
        break
      }
      await turn.confirmLease(signal)
      const { cited, ...opinion } = await ask(chosen, deps, facts, signal, verdicts.at(-1))
      add({ ...opinion, model, ...(cited ? { cited: refsOf(done, cited) } : {}) })
    }
  } catch (error) {
    if (verdicts.length > 0) await onInterrupted?.(verdicts)
    if (!(error instanceof UnknownModel)) throw error
    add({ ...unreachable(error, deps.redact), model: error.model ?? 'judge' })
  }
  return verdicts
}

/** Why the judge is not asked again in this turn, counting these opinions, which are not logged yet. */
function whyNotAsked({ verdicts, judgeFailures }: JudgedTurn['run'], opinions: readonly Opinion[]): string | undefined {
  if (verdicts + opinions.length >= MAX_VERDICTS) {
    return `The assessor was not asked: a turn has at most ${MAX_VERDICTS} verdicts.`
  }
  const failures = opinions.reduce((count, each) => (isJudgeFailure(each) ? count + 1 : 0), judgeFailures)
  return failures >= MAX_FAILURES ? 'The assessor was not asked: it had failed twice in a row.' : undefined
}

async function ask(
  chosen: Judge,
  { redact }: JudgeDeps,
  facts: Case,
  signal: AbortSignal,
  last: Opinion | undefined,
): Promise<Omit<Opinion, 'model'>> {
  const unclear = last && !isJudgeFailure(last) ? { unclear: last.reason } : {}
  try {
    const answer = await abortOnSilence(MAX_MS, signal, each =>
      untilAborted(Promise.resolve(chosen(facts, { signal: each, ...unclear })), each),
    )
    return opinionOf(answer, facts)
  } catch (error) {
    if (signal.aborted) throw signal.reason
    // A lost lease or a store failure is not the judge's opinion.
    if (error instanceof StoreError) throw error
    return unreachable(error, redact)
  }
}

/** A program's function may return anything. */
function opinionOf(answer: Partial<JudgeAnswer> | null | undefined, facts: Case): Omit<Opinion, 'model'> {
  const { ok, reason, evidence, usage = NO_USAGE } = answer ?? {}
  const said = typeof reason === 'string' ? cut(reason.trim(), MAX_REASON) : ''
  if (typeof ok !== 'boolean')
    return { verdict: 'unknown', reason: said || `The assessor said: ${cut(JSON.stringify(answer) ?? '', 200)}`, usage }
  const cited = Array.isArray(evidence) ? evidence.map(String) : []
  const citing = cited.length > 0 ? { cited } : {}
  if (!ok) return { verdict: 'not_ok', reason: said || 'The assessor gave no reason.', usage, ...citing }
  const invented = cited.find(id => !facts.evidence.some(each => each.id === id))
  if (invented !== undefined) {
    const problem = `The assessor said ok, but cited evidence that does not exist: ${cut(invented, 40)}.`
    return { verdict: 'unknown', reason: problem, usage }
  }
  return { verdict: 'ok', reason: said, usage, rests: restsOn(cited, facts), ...citing }
}

function restsOn(cited: readonly string[], { evidence, checks }: Case): NonNullable<Opinion['rests']> {
  if (cited.length > 0) return 'cited'
  return evidence.length === 0 && checks.length === 0 ? 'words' : 'uncited'
}

const unreachable = (error: unknown, redact: Redactor): Pick<Opinion, 'verdict' | 'reason'> => {
  const message = redact.error(error instanceof Error ? error.message : String(error))
  return { verdict: 'unknown', reason: `The assessor could not be reached. ${cut(message, 300)}` }
}

/** Rules on a claim of an agent elsewhere, under the lease of its turn. */
export type ClaimJudge = (
  held: HeldLease,
  claim: OpenClaim,
  signal: AbortSignal,
) => Promise<readonly CommandOf<'assess_task'>[]>

/** Judges the claims of external agents by what they and their hosts report. */
export function claimJudge({ door, ...deps }: JudgeDeps & { readonly door: Door }): ClaimJudge {
  return async (held, claim, signal) => {
    const { lease } = held
    const state = await door.read(lease)
    const verdicts = await door.conversations.events(lease, { types: ['task_assessed'] })
    const own = verdicts.filter(
      (event): event is StoredEvent<'task_assessed'> => event.type === 'task_assessed' && event.turn_id === lease.turn,
    )
    const failures = own.reduce((count, { data }) => (isJudgeFailure(data) ? count + 1 : 0), 0)
    const turn: JudgedTurn = {
      work: await reportedWork(door, lease, state),
      run: { state, verdicts: own.length, judgeFailures: failures },
      confirmLease: each => held.confirm(each),
      eventsOf: (task, types) => door.conversations.events(lease, { task, types }),
    }
    return verdictsOn(turn, deps, claim, signal)
  }
}

async function reportedWork({ conversations }: Door, lease: Lease, state: Conversation): Promise<Work> {
  const reports = await conversations.events(lease, { types: ['evidence_added'], last: MAX_REPORTS })
  const isOfPlan = (taskId: string): boolean => {
    const task = state.tasks.get(taskId)
    return task?.plan_id === planIdOf(state, lease.turn)
  }
  return work.of(
    reports.filter(
      event => event.type === 'evidence_added' && (event.turn_id === lease.turn || isOfPlan(event.data.task_id)),
    ),
  )
}
