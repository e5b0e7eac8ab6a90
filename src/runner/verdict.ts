import type { Opinion } from '../domain/claim.ts'
import { cut } from '../domain/text.ts'

/** A verdict without who gave it. `cited` has ids of the case. */
export type Ruling = Pick<Opinion, 'verdict' | 'reason' | 'cited'>

const NO_REASON = 'The assessor gave no reason.'
const MAX_REASON = 2_000

/**
 * Reads a verdict from text. The first line decides, without a reasoning block and Markdown around it: `OK`, `OK.`,
 * `NOT_OK: reason`, `NOT OK: reason`, `NOT_OK`. Anything else is no verdict, and so is an OK that may be a quotation.
 */
export function verdictIn(answer: string): Ruling {
  const rest = withoutReasoning(answer)
  const [first = '', second = ''] = linesOf(rest)
  const [no, reason] = /^NOT[_ ]OK\s*(?:\.$|:\s*(.*)$|$)/.exec(first) ?? []
  if (no !== undefined) return { verdict: 'not_ok', reason: cut(reason || second || NO_REASON, MAX_REASON) }
  if (!/^OK\.?$/.test(first)) {
    return unknown(first === '' ? 'The assessor gave no answer.' : `The assessor said: ${cut(first, 200)}`)
  }
  if (/not[\s\\_-]*ok/i.test(answer)) return unknown('The assessor said both OK and NOT_OK.')
  if (rest !== answer && second !== '') return unknown('The assessor said more than OK after its reasoning.')
  return { verdict: 'ok', reason: '' }
}

/** Reads a structured verdict. An `ok` has to cite some of `ids`, and nothing else, if `ids` is given. */
export function structuredVerdictIn(answer: unknown, ids?: readonly string[]): Ruling {
  const { verdict, reason, evidence } = asRecord(answer)
  const why = typeof reason === 'string' ? reason.trim() : ''
  const cited: readonly unknown[] = Array.isArray(evidence) ? evidence : []
  const found = ids?.filter(id => cited.includes(id)) ?? []
  const citing = found.length > 0 ? { cited: found } : {}
  if (verdict === 'not_ok') return { verdict, reason: cut(why || NO_REASON, MAX_REASON), ...citing }
  if (verdict !== 'ok') return { verdict: 'unknown', reason: `The assessor said: ${cut(JSON.stringify(answer), 200)}` }
  const invented = cited.find(id => !found.some(each => each === id))
  if (!ids || (cited.length > 0 && invented === undefined)) return { verdict, reason: '', ...citing }
  const problem = cited.length === 0 ? 'no evidence' : `evidence that does not exist: ${cut(String(invented), 40)}`
  return { verdict: 'unknown', reason: `The assessor said ok, but cited ${problem}.` }
}

const unknown = (reason: string): Ruling => ({ verdict: 'unknown', reason })

/** The lines that are not empty, without Markdown around them. */
const linesOf = (text: string): string[] =>
  text
    .split(/\r?\n/)
    .map(withoutMarkdown)
    .filter(line => line !== '')

/**
 * From the start to the last closing tag: some templates leave out the opening one. An answer that begins with a no
 * only quotes a tag.
 */
const withoutReasoning = (answer: string): string =>
  answer.replace(/^(?!\W*NOT[_ ]OK)[\s\S]*<\/(?:think|thinking|thought|reasoning)>/i, '')

/** Emphasis, code, fences, headings, quotes and list marks. The underscore of `NOT_OK` stays. */
const withoutMarkdown = (line: string): string =>
  line
    .trim()
    .replace(/^(?:```\w*|~~~\w*)$/, '')
    .replace(/^(?:#{1,6}\s+|>\s*|[-*+]\s+)+/, '')
    .replace(/^[*_`]+/, '')
    .replace(/^((?:NOT[_ ])?OK)([:.]?)[*_`]+([:.]?)/, '$1$2$3')
    .replace(/[*_`]+$/, '')
    .trim()

const asRecord = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? { ...value } : {}
