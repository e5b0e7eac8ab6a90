import { generateText, type LanguageModel } from 'ai'
import type { Json } from '../domain/event.ts'
import type { Claim, Judged, Opinion } from '../domain/claim.ts'
import { cut } from '../domain/text.ts'
import { type Evidence, evidenceOf, NO_EVIDENCE } from './evidence.ts'
import { withRetries, abortOnSilence } from './retry.ts'
import { added, type Run } from './run.ts'

const MOST_RESULT = 4_000
const MOST_RESULTS = 20
const MOST_TEXT = 8_000
/** One that gives no clear answer is asked once more. */
const TRIES = 2
/** It thinks in one piece: nothing is heard before its answer. */
const SILENCE_MS = 180_000

export interface Assessor {
  readonly name: string
  readonly model: LanguageModel
  /** The first pause before it is asked again, where its provider fails. */
  readonly retryMs?: number
}

export const ASSESSOR = `You are the assessor. Another model worked on a task and says that it is settled. Judge from what its tools really answered
and from what it wrote whether that is so, by the criteria where there are some. Its own word is no proof. A task that is cancelled must have
a good reason. Answer with one line: OK, or NOT_OK: and what is missing, in one sentence.`

/** What the assessor says of a claim, asked again where it gives no clear answer. It fails closed: silence is no pass. */
export async function judge(
  assessor: Assessor,
  claim: Claim,
  run: Run,
  text: string,
  signal: AbortSignal,
  before: Evidence = NO_EVIDENCE,
): Promise<Judged> {
  const opinions: Opinion[] = []
  for (let tries = 0; tries < TRIES; tries += 1) {
    const opinion = await asked(assessor, caseOf(claim, run, text, before), signal)
    opinions.push(opinion)
    if (opinion.verdict !== 'unknown') break
  }
  return { claim, opinions }
}

/** The first line decides: anything else than the two forms is no verdict. */
export function verdictIn(answer: string): Pick<Opinion, 'verdict' | 'reason'> {
  const [first = ''] = answer.trim().split(/\r?\n/)
  if (first.trim() === 'OK') return { verdict: 'ok', reason: '' }
  const [, reason] = /^NOT_OK\s*:\s*(\S.*)$/.exec(first.trim()) ?? []
  if (reason !== undefined) return { verdict: 'not_ok', reason: cut(reason, 2_000) }
  return {
    verdict: 'unknown',
    reason: answer.trim() === '' ? 'The assessor gave no answer.' : `The assessor said: ${cut(first, 200)}`,
  }
}

async function asked(
  { name, model, retryMs = 1_000 }: Assessor,
  prompt: string,
  signal: AbortSignal,
): Promise<Opinion> {
  try {
    const { text, usage } = await withRetries(
      () =>
        abortOnSilence(SILENCE_MS, signal, abortSignal =>
          generateText({ model, instructions: ASSESSOR, prompt, abortSignal, maxRetries: 0 }),
        ),
      retryMs,
      signal,
    )
    const { inputTokens = 0, outputTokens = 0, totalTokens = inputTokens + outputTokens } = usage
    const counted = { input_tokens: inputTokens, output_tokens: outputTokens, total_tokens: totalTokens }
    return { ...verdictIn(text), model: name, usage: added({}, counted) }
  } catch (error) {
    if (signal.aborted) throw signal.reason
    const message = error instanceof Error ? error.message : String(error)
    return { verdict: 'unknown', reason: `The assessor could not be asked: ${cut(message, 300)}`, model: name }
  }
}

/** The task, what the worker says, and what its tools really answered: the newest of it, where there is too much. */
function caseOf(claim: Claim, run: Run, text: string, before: Evidence): string {
  const now = evidenceOf(run)
  const results = [...before.results, ...now.results]
    .slice(-MOST_RESULTS)
    .map(({ tool, arguments: args, result }) => `${tool}(${short(args)}) answered: ${short(result)}`)
  const said = [...new Set([...before.texts, ...now.texts, text])].filter(each => each.trim() !== '')
  return [
    `The request: ${cut(run.request.message, 2_000)}`,
    `The task: ${claim.title}`,
    ...(claim.details === '' ? [] : [`Details: ${claim.details}`]),
    `Done when: ${claim.criteria === '' ? '(no criteria were given)' : claim.criteria}`,
    `Claimed status: ${claim.status}`,
    `The worker says: ${claim.outcome === '' ? '(nothing)' : cut(claim.outcome, MOST_TEXT)}`,
    `What the tools answered:\n${results.length === 0 ? '(no other tool was used)' : results.join('\n')}`,
    `What the worker wrote:\n${newest(said.join('\n---\n')) || '(nothing)'}`,
  ].join('\n\n')
}

/** The end of a long text: what was done last is what is claimed now. */
function newest(text: string): string {
  const points = Array.from(text)
  return points.length <= MOST_TEXT ? text : `…${points.slice(1 - MOST_TEXT).join('')}`
}

const short = (value: Json): string => cut(typeof value === 'string' ? value : JSON.stringify(value), MOST_RESULT)
