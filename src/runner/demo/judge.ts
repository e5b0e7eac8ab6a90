import { compute } from './compute.ts'
import { isSimulated } from './work.ts'
import { isWriting } from './write.ts'

/** What the demo assessor judges by. */
export interface ClaimCase {
  readonly task: string
  readonly claimed_status: string
  readonly outcome: string
  readonly worker_text: readonly string[]
  readonly evidence: readonly { readonly ok: boolean }[]
}

/** Passes only what was really done: computed right, written down, or done by a tool that succeeded. */
export function verdictOn({ task, claimed_status, outcome, worker_text, evidence }: ClaimCase): string {
  const said = outcome.trim() === '' ? (worker_text.at(-1) ?? '').trim() : outcome.trim()
  if (said === '') return 'NOT_OK: there is no outcome.'
  if (claimed_status === 'cancelled') return 'OK'
  if (isSimulated(said)) return 'NOT_OK: it was only simulated.'
  // Quotes are the task's own wording.
  if (FAILED.test(said.replaceAll(/“[^”]*”/g, ''))) return 'NOT_OK: the outcome says that it failed.'
  const result = compute(task)
  if (result !== undefined) return said.includes(result) ? 'OK' : `NOT_OK: the result should be ${result}`
  if (evidence.some(({ ok }) => ok)) return 'OK'
  if (!isWriting(task)) return 'NOT_OK: no tool has done this.'
  return isText(said) ? 'OK' : 'NOT_OK: the text itself is not there.'
}

const FAILED = /\b(?:could not|cannot|can't|failed|Error:|not done)|失败|无法|未完成/i

/** A text, and not a sentence that says that there is one. */
const isText = (said: string): boolean =>
  Array.from(said).length >= 15 &&
  (said.includes('\n') || !/^(?:I\b|It (?:is|was)\b|Done|Wrote|Written|我|已)/i.test(said))

/** The case in the assessor's prompt: the JSON in its last line. */
export function caseIn(messages: readonly { readonly role: string; readonly text?: string }[]): ClaimCase {
  const text = messages.map(message => message.text ?? '').join('\n')
  const { task, claimed_status, outcome, worker_text, evidence } =
    jsonIn(text.slice(text.lastIndexOf('\n') + 1)) ?? textCase(text)
  return { task, claimed_status, outcome, worker_text, evidence }
}

function jsonIn(line: string): ClaimCase | undefined {
  try {
    return JSON.parse(line) as ClaimCase
  } catch {
    return undefined
  }
}

function textCase(text: string): ClaimCase {
  const part = (pattern: RegExp): string =>
    pattern.exec(text)?.[1]?.replace(/^\((?:nothing|no other tool was used)\)$/, '') ?? ''
  const results = part(/\n\nWhat the tools answered:\n([\s\S]*?)\n\nWhat the worker wrote:/)
  return {
    task: part(/^The task: (.*)$/m),
    claimed_status: part(/^Claimed status: (.*)$/m),
    outcome: part(/\n\nThe worker says: ([\s\S]*?)\n\nWhat the tools answered:/),
    worker_text: [part(/What the worker wrote:\n([\s\S]*)$/)],
    evidence: results === '' ? [] : results.split('\n').map(line => ({ ok: !/ answered: Error:/.test(line) })),
  }
}
