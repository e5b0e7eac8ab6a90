import type { Case } from '../case.ts'
import { compute } from './compute.ts'
import { isCompound } from './lexicon.ts'
import { flawInMending } from './mend.ts'
import { isSimulated, textFor, workOn } from './texts.ts'

type Facts = Pick<Case, 'task' | 'details' | 'criteria' | 'claimed_status' | 'outcome' | 'worker_text' | 'evidence'>

/** The case is the last line of the judge's prompt. */
export function caseIn(messages: readonly { readonly role: string; readonly text?: string }[]): Facts {
  const text = messages.map(message => message.text ?? '').join('\n')
  return JSON.parse(text.slice(text.lastIndexOf('\n') + 1)) as Facts
}

/** Passes only real work: correct calculations, written texts, and successful tool calls. */
export function verdictOn({ task, details, criteria, claimed_status, outcome, worker_text, ...facts }: Facts): string {
  // Calls that others only report are unconfirmed.
  const evidence = facts.evidence.filter(({ source }) => source === 'runsheet')
  const said = outcome.trim() === '' ? (worker_text.at(-1) ?? '').trim() : outcome.trim()
  if (said === '') return 'NOT_OK: there is no outcome.'
  if (claimed_status === 'cancelled') return 'OK'
  if (isSimulated(said)) return 'NOT_OK: it was only simulated.'
  // Quotes are the task's own wording.
  if (FAILED.test(said.replaceAll(/“[^”]*”/g, ''))) return 'NOT_OK: the outcome says that it failed.'
  if (`${details}${criteria}`.trim() !== '') return 'NOT_OK: the demo model cannot check details and criteria.'
  const flaw = flawInMending(task, said, evidence)
  if (flaw !== undefined) return flaw === '' ? 'OK' : `NOT_OK: ${flaw}`
  if (evidence.some(each => each.ok && each.task === undefined && said.includes(each.tool)))
    return isCompound(task) ? 'NOT_OK: the title asks for more than one thing.' : 'OK'
  const missing = textFor(task)?.isReport ? flawInReport(said) : flawInWork(task, said)
  return missing === '' ? 'OK' : `NOT_OK: ${missing}`
}

const FAILED = /\b(?:could not|cannot|can't|failed|Error:|not done)|失败|无法|未完成/i

/** Flaws in work without a tool, found by redoing it; empty if there are none. */
function flawInWork(task: string, said: string): string {
  const sum = compute(task)
  if (sum !== undefined) return said === sum ? '' : `the result should be ${sum}`
  const work = workOn(task, { done: [], hasGaps: false })
  if ('simulated' in work) return 'no tool has done this.'
  const words = (text: string): string => text.replaceAll(/\s+/g, ' ')
  return words(said) === words(work.outcome) ? '' : 'the text itself is not there.'
}

/** A report lists steps with their outcomes; its calculations must be right. */
function flawInReport(said: string): string {
  const [heading = '', ...lines] = said.split('\n')
  if (!/^(?:Report|报告)$/.test(heading) || lines.length === 0) return 'the report itself is not there.'
  for (const line of lines) {
    const [, step, result] = /^- (.+?[^:：]): (.+)$/.exec(line) ?? []
    if (step === undefined || result === undefined || isSimulated(result)) return 'the report leaves a result out.'
    const sum = compute(step)
    if (sum !== undefined && sum !== result) return `the result should be ${sum}`
  }
  return ''
}
