import type { Case } from '../engine/worker/case.ts'
import { flawInMending } from './sandbox.ts'
import { compute, isCompound, isReport, SIMULATED, write } from './texts.ts'

type Facts = Pick<Case, 'task' | 'details' | 'criteria' | 'claimed_status' | 'outcome' | 'worker_text' | 'evidence'>

/** Passes only what was really done: sums, texts, and one deed that a tool did. The case is the prompt's last line. */
export function verdictOn(messages: readonly { readonly text?: string }[]): string {
  const text = messages.map(message => message.text ?? '').join('\n')
  const facts = JSON.parse(text.slice(text.lastIndexOf('\n') + 1)) as Facts
  const said = facts.outcome.trim() || (facts.worker_text.at(-1) ?? '').trim()
  if (said === '') return 'NOT_OK: there is no outcome.'
  const flaw = facts.claimed_status === 'cancelled' ? '' : flawIn(facts, said)
  return flaw === '' ? 'OK' : `NOT_OK: ${flaw}`
}

function flawIn({ task, details, criteria, evidence }: Facts, said: string): string {
  if (said.startsWith(SIMULATED)) return 'it was only simulated.'
  // Quotes are the task's own wording.
  if (/\b(?:could not|cannot|can't|failed|Error:|not done)/i.test(said.replaceAll(/“[^”]*”/g, '')))
    return 'the outcome says that it failed.'
  if (`${details}${criteria}`.trim() !== '') return 'the demo model cannot check details and criteria.'
  const flaw = flawInMending(task, said, evidence)
  if (flaw !== undefined) return flaw
  // Calls that others only report are unconfirmed.
  const isDeed = evidence.some(
    ({ ok, source, task: other, tool }) => ok && source === 'runsheet' && other === undefined && said.includes(tool),
  )
  if (isDeed) return isCompound(task) ? 'the title asks for more than one thing.' : ''
  if (isReport(task)) return said.startsWith('Report\n- ') ? '' : 'the report itself is not there.'
  const sum = compute(task)
  if (sum !== undefined) return said === sum ? '' : `the result should be ${sum}`
  const text = write(task)
  if (text === undefined) return 'no tool has done this.'
  const words = (of: string): string => of.replaceAll(/\s+/g, ' ')
  return words(said) === words(text) ? '' : 'the text itself is not there.'
}
