import type { Case } from '../case.ts'
import { valueOf } from './arithmetic.ts'
import { isChinese } from './language.ts'
import { ACTIONS, isCompound } from './lexicon.ts'
import { flawInText } from './judge-text.ts'
import { flawInMending } from './mend.ts'
import { isSimulated } from './work.ts'

type Facts = Pick<Case, 'task' | 'details' | 'criteria' | 'claimed_status' | 'outcome' | 'worker_text' | 'evidence'>

/** The case in the assessor's prompt: its last line. */
export function caseIn(messages: readonly { readonly role: string; readonly text?: string }[]): Facts {
  const text = messages.map(message => message.text ?? '').join('\n')
  return JSON.parse(text.slice(text.lastIndexOf('\n') + 1)) as Facts
}

/**
 * Passes only what was really done: computed right, written down, or done by a tool that succeeded. It reads the claim
 * by rules of its own, so that what the worker takes for doable does not pass for that reason.
 */
export function verdictOn({ task, details, criteria, claimed_status, outcome, worker_text, ...facts }: Facts): string {
  // What others only report is not known to have been done.
  const evidence = facts.evidence.filter(({ source }) => source === 'runsheet')
  const said = outcome.trim() === '' ? (worker_text.at(-1) ?? '').trim() : outcome.trim()
  if (said === '') return 'NOT_OK: there is no outcome.'
  if (claimed_status === 'cancelled') return 'OK'
  if (isSimulated(said)) return 'NOT_OK: it was only simulated.'
  // Quotes are the task's own wording.
  if (FAILED.test(said.replaceAll(/“[^”]*”/g, ''))) return 'NOT_OK: the outcome says that it failed.'
  if (`${details}${criteria}`.trim() !== '') return 'NOT_OK: the demo model cannot check details and criteria.'
  const flaw = flawInSum(task, said) ?? flawInOrder(task, said) ?? flawInMending(task, said, evidence)
  if (flaw !== undefined) return flaw === '' ? 'OK' : `NOT_OK: ${flaw}`
  if (evidence.some(each => each.ok && each.task === undefined && said.includes(each.tool)))
    return isCompound(task) ? 'NOT_OK: the title asks for more than one thing.' : 'OK'
  const missing = isReport(task) ? flawInReport(said) : flawInText(task, said)
  return missing === '' ? 'OK' : `NOT_OK: ${missing}`
}

const FAILED = /\b(?:could not|cannot|can't|failed|Error:|not done)|失败|无法|未完成/i

/** All that a title may say around an expression. */
const SUM_WORDS = new Set(
  'compute calculate evaluate work out add up sum of multiply subtract divide how much is what what’s s the budget cost costs total price for people guests at each and'.split(
    ' ',
  ),
)
const CHINESE_SUM_WORDS = /请|按每人|计算|算出|算一下|预算|费用|总价|等于多少|是多少|元|人的|[：:？。]/g

/** What is wrong with a computation; empty if nothing is, undefined if the title asks for another thing. */
function flawInSum(task: string, said: string): string | undefined {
  const runs = task.match(/[-\d(][-+*/x×÷−().\d\s]*[\d)]/g) ?? []
  const given = runs.findLast(run => /\d\s*\)*\s*[-+*/x×÷−]/.test(run))
  const expression = given ?? (/^(?:add|sum)\b|\bsum of\b/i.test(task) ? numbersIn(task).join(' + ') : '')
  const value = /\d\D+\d/.test(expression) ? valueOf(expression) : undefined
  if (value === undefined) return undefined
  const words = task.replaceAll(/[-+*/×÷−().\d]|(?<=\d)\s*x\s*(?=\d)/gi, ' ').replaceAll(CHINESE_SUM_WORDS, ' ')
  const areAllowed = words.match(/[\p{L}]+/gu)?.every(word => SUM_WORDS.has(word.toLowerCase())) ?? true
  if (!areAllowed) return undefined
  const last = said.match(/-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/gi)?.at(-1)
  return last !== undefined && Number(last) === value && !said.includes('\n')
    ? ''
    : `the result should be ${expression.replaceAll(/\s+/g, ' ').trim()} = ${value}`
}

/** The same for a ranking of numbers that the title itself has. */
function flawInOrder(task: string, said: string): string | undefined {
  if (!/^(?:compare|rank|sort|比较|排序)/i.test(task)) return undefined
  const given = numbersIn(task)
  const rest = task.replaceAll(/\p{L}*\s*\p{L}*\s*[:：]?\s*\d+(?:\.\d+)?|,|，|、|\band\b|和|[.。]/giu, '')
  if (given.length < 2 || rest.replace(/^(?:compare|rank|sort|比较|排序)\s*[:：]?/i, '').trim() !== '') return undefined
  const names = (task.match(/\p{L}+/gu) ?? []).slice(1).filter(word => !/^(?:and|和)$/i.test(word))
  if (names.some(word => ACTIONS.has(word.toLowerCase()) || !said.includes(word))) return undefined
  const ranked = said.split('\n').map(line => numbersIn(line).at(-1))
  const order = given.toSorted((a, b) => a - b)
  return order.join() === ranked.join() ? '' : `the order should be ${order.join(', ')}`
}

const numbersIn = (text: string): number[] => (text.match(/(?<![\d\w])-?\d+(?:\.\d+)?/g) ?? []).map(Number)

const isReport = (task: string): boolean =>
  isChinese(task)
    ? /^(?:写|起草|告诉我).{0,4}(?:报告|总结|结果|答案)$/.test(task)
    : /^\w+(?:\s+(?:a|the|me|us|short|brief|final))*\s+(?:it|report|summary|results?|answers?|steps)(?:\s+(?:of|on)\s+(?:the\s+)?(?:results|steps))?$/i.test(
        task,
      ) && /^(?:write|draft|compose|prepare|make|create|say|tell|summari[sz]e)\b/i.test(task)

/** A report names steps with what came of them; what can be computed in it has to be right. */
function flawInReport(said: string): string {
  const [heading = '', ...lines] = said.split('\n')
  if (!/^(?:Report|报告)$/.test(heading) || lines.length === 0) return 'the report itself is not there.'
  for (const line of lines) {
    const [, step, result] = /^- (.+?[^:：]): (.+)$/.exec(line) ?? []
    if (step === undefined || result === undefined || isSimulated(result)) return 'the report leaves a result out.'
    const flaw = flawInSum(step, result)
    if (flaw !== undefined && flaw !== '') return flaw
  }
  return ''
}
