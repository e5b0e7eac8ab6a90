import { generateText, type LanguageModel } from 'ai'
import type { Json } from '../domain/event.ts'
import type { Claim, Judged, Opinion } from '../domain/claim.ts'
import { cut, LIMITS } from '../domain/text.ts'
import { type Evidence, evidenceOf, NO_EVIDENCE } from './evidence.ts'
import { withRetries, abortOnSilence } from './retry.ts'
import { sumUsage, type Run } from './run.ts'

/** Characters per tool result. */
const MAX_RESULT = 4_000
const MAX_RESULTS = 20
/** Attempts at a clear verdict. */
const MAX_TRIES = 2
/** Longer than for a step, because the answer is not streamed. */
const SILENCE_MS = 180_000

export interface Assessor {
  readonly name: string
  readonly model: LanguageModel
  /** The first backoff of a failed call. */
  readonly retryMs?: number
}

export const ASSESSOR = `You are the assessor. Another model worked on a task and claims that it is settled. Judge whether that is true, by the criteria if there
are any, from what its tools really answered and from what it wrote. Its claim alone is no proof. A cancelled task needs a good reason. Answer
with one line: OK, or NOT_OK: followed by what is missing, in one sentence.`

/** Asks for a verdict on a claim, again if it is unclear. Fails closed: no clear verdict is no pass. */
export async function judge(
  assessor: Assessor,
  claim: Claim,
  run: Run,
  text: string,
  signal: AbortSignal,
  before: Evidence = NO_EVIDENCE,
): Promise<Judged> {
  const opinions: Opinion[] = []
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const opinion = await ask(assessor, casePrompt(claim, run, text, before), signal)
    opinions.push(opinion)
    if (opinion.verdict !== 'unknown') break
  }
  return { claim, opinions }
}

/** The first line decides. Anything but `OK` and `NOT_OK: reason` is no verdict. */
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

async function ask({ name, model, retryMs = 1_000 }: Assessor, prompt: string, signal: AbortSignal): Promise<Opinion> {
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
    return { ...verdictIn(text), model: name, usage: sumUsage({}, counted) }
  } catch (error) {
    if (signal.aborted) throw signal.reason
    const message = error instanceof Error ? error.message : String(error)
    return { verdict: 'unknown', reason: `The assessor could not be reached: ${cut(message, 300)}`, model: name }
  }
}

/** The task, the claim and the evidence. If there is too much evidence, its newest part. */
function casePrompt(claim: Claim, run: Run, text: string, before: Evidence): string {
  const now = evidenceOf(run)
  const results = [...before.results, ...now.results]
    .slice(-MAX_RESULTS)
    .map(({ tool, arguments: args, result }) => `${tool}(${short(args)}) answered: ${short(result)}`)
  const texts = [...new Set([...before.texts, ...now.texts, text])].filter(each => each.trim() !== '')
  return [
    `The request: ${cut(run.request.message, 2_000)}`,
    `The task: ${claim.title}`,
    ...(claim.details === '' ? [] : [`Details: ${claim.details}`]),
    `Done when: ${claim.criteria === '' ? '(no criteria were given)' : claim.criteria}`,
    `Claimed status: ${claim.status}`,
    `The worker says: ${claim.outcome === '' ? '(nothing)' : cut(claim.outcome, LIMITS.text)}`,
    `What the tools answered:\n${results.length === 0 ? '(no other tool was used)' : results.join('\n')}`,
    `What the worker wrote:\n${endOf(texts.join('\n---\n')) || '(nothing)'}`,
  ].join('\n\n')
}

/** The end of a long text, because the latest work is what is claimed. */
function endOf(text: string): string {
  const points = Array.from(text)
  return points.length <= LIMITS.text ? text : `…${points.slice(1 - LIMITS.text).join('')}`
}

const short = (value: Json): string => cut(typeof value === 'string' ? value : JSON.stringify(value), MAX_RESULT)
