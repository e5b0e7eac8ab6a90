import type { Case } from '../case.ts'
import { compute } from './compute.ts'
import { isSimulated } from './work.ts'
import { isWriting } from './write.ts'

type Facts = Pick<Case, 'task' | 'claimed_status' | 'outcome' | 'worker_text' | 'evidence'>

/** The case in the assessor's prompt: its last line. */
export function caseIn(messages: readonly { readonly role: string; readonly text?: string }[]): Facts {
  const text = messages.map(message => message.text ?? '').join('\n')
  return JSON.parse(text.slice(text.lastIndexOf('\n') + 1)) as Facts
}

/** Passes only what was really done: computed right, written down, or done by a tool that succeeded. */
export function verdictOn({ task, claimed_status, outcome, worker_text, evidence }: Facts): string {
  const said = outcome.trim() === '' ? (worker_text.at(-1) ?? '').trim() : outcome.trim()
  if (said === '') return 'NOT_OK: there is no outcome.'
  if (claimed_status === 'cancelled') return 'OK'
  if (isSimulated(said)) return 'NOT_OK: it was only simulated.'
  // Quotes are the task's own wording.
  if (FAILED.test(said.replaceAll(/“[^”]*”/g, ''))) return 'NOT_OK: the outcome says that it failed.'
  const result = compute(task)
  if (result !== undefined) return said.includes(result) ? 'OK' : `NOT_OK: the result should be ${oneLine(result)}`
  if (evidence.some(each => each.ok && each.task === undefined)) return 'OK'
  if (!isWriting(task)) return 'NOT_OK: no tool has done this.'
  return isText(said) ? 'OK' : 'NOT_OK: the text itself is not there.'
}

const FAILED = /\b(?:could not|cannot|can't|failed|Error:|not done)|失败|无法|未完成/i

const oneLine = (text: string): string => text.replaceAll('\n', '; ')

/** A text, and not a sentence that says that there is one. */
const isText = (said: string): boolean =>
  Array.from(said).length >= 15 &&
  (said.includes('\n') || !/^(?:I\b|It (?:is|was)\b|Done|Wrote|Written|我|已)/i.test(said))
