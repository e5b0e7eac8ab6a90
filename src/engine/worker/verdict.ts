import type { Opinion } from '../../core/proof/claim.ts'
import { cut } from '../../core/model/text.ts'

/** A verdict without its source. `cited` holds ids of the case. */
export type Ruling = Pick<Opinion, 'verdict' | 'reason' | 'cited'>

const NO_REASON = 'The assessor gave no reason.'
const MAX_REASON = 2_000

/**
 * Reads a verdict from text: JSON or the first line, without reasoning and Markdown. Anything else is no verdict, as is
 * an OK that may be quoted, or that its own line doubts.
 */
export function verdictIn(answer: string): Ruling {
  const rest = withoutReasoning(answer)
  const ruling = rulingIn(rest)
  if (ruling.verdict !== 'ok') return ruling
  if (NOT_OK.test(spokenIn(answer))) return unknown('The assessor said both OK and NOT_OK.')
  if (!jsonIn(rest) && DOUBT.test(rest.replace(PRAISE, '')))
    return unknown(`The assessor said: ${cut(rest.trim(), 200)}`)
  if (rest !== answer && !jsonIn(rest) && linesOf(rest).length > 1) {
    return unknown('The assessor said more than OK after its reasoning.')
  }
  return ruling
}

function rulingIn(text: string): Ruling {
  const json = jsonIn(text)
  if (json) return structuredVerdictIn(json)
  const [first = '', second = ''] = linesOf(text)
  const [no, after, reason = after] = /^NOT[_ ]OK\s*(?:\.$|:\s*(.*)$|[-–—]\s+(.*)$|$)/i.exec(first) ?? []
  if (no !== undefined) return { verdict: 'not_ok', reason: cut(reason || second || NO_REASON, MAX_REASON) }
  const [ok] = /^OK(?:[.!]*|\s*[:：–—]\s*\S.*|\s+-\s+\S.*)$/i.exec(first) ?? []
  if (ok !== undefined && !DOUBT.test(ok.replace(PRAISE, ''))) return { verdict: 'ok', reason: '' }
  return unknown(first === '' ? 'The assessor gave no answer.' : `The assessor said: ${cut(first, 200)}`)
}

const NOT_OK = /not[\s\\_-]*ok/i

/** Words of doubt that retract nothing: "no problems found", "nothing is missing". */
const PRAISE =
  /\bno longer (?:fails?|failing|missing)\b|\b(?:no|not any|nothing|none|without)\b(?:\s+\w+){0,2}?\s+(?:problems?|issues?|errors?|failures?|gaps?|missing|wrong|left|open)\b(?!\s+(?:but|except))|没有(?:任何)?问题/gi

/** Words by which the reason for an OK may retract it. A false alarm only costs one more call. */
const DOUBT =
  /[?？…]|\b(?:no|not|none|nothing|never|cannot|without|but|however|except|although|though|unless|if|yet|almost|assum\w*|should|would|pending|remain\w*|needs?|nearly|mostly|partly|partially|fail\w*|miss\w*|incomplete|unfinished|wait|false)\b|n['’]t\b|[但不没未除缺]|失败/i

/** Reads a structured verdict, or its text. If `ids` is given, an `ok` must cite some of them and nothing else. */
export function structuredVerdictIn(answer: unknown, ids?: readonly string[]): Ruling {
  const given = asRecord(typeof answer === 'string' ? jsonIn(withoutReasoning(answer)) : answer)
  const { reason, evidence } = given
  const verdict = givenIn(given)
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

function givenIn({ verdict, ok }: Readonly<Record<string, unknown>>): 'ok' | 'not_ok' | undefined {
  const said = typeof verdict === 'string' ? verdict.toLowerCase().replace(' ', '_') : verdict
  const given = [
    ...(said === undefined ? [] : [said]),
    ...(ok === undefined ? [] : [ok === true ? 'ok' : ok === false && 'not_ok']),
  ]
  return (['ok', 'not_ok'] as const).find(each => given.length > 0 && given.every(one => one === each))
}

function jsonIn(text: string): object | undefined {
  const [, fenced] = /^\s*```\w*\s*\n([^]*)\n\s*```\s*$/.exec(text) ?? []
  try {
    const value: unknown = JSON.parse(fenced ?? text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

const unknown = (reason: string): Ruling => ({ verdict: 'unknown', reason })

const linesOf = (text: string): string[] =>
  text
    .split(/\r?\n/)
    .map(withoutMarkdown)
    .filter(line => line !== '')

/**
 * Removes everything up to the last closing tag, because some templates omit the opening one. An answer that begins
 * with a no only quotes a tag.
 */
const withoutReasoning = (answer: string): string =>
  answer.replace(/^(?!\W*NOT[_ ]OK)[\s\S]*<\/(?:think|thinking|thought|reasoning)>/i, '')

/**
 * The part that is not certainly reasoning: the whole answer, unless it begins with blocks and has no other closing
 * tag.
 */
function spokenIn(answer: string): string {
  const spoken = answer.replace(/^\s*(?:<(think|thinking|thought|reasoning)>[^]*?<\/\1>\s*)+/i, '')
  return /<\/(?:think|thinking|thought|reasoning)>/i.test(spoken) ? answer : spoken
}

/** Emphasis, code, fences, headings, quotes and list marks. The underscore of `NOT_OK` stays. */
const withoutMarkdown = (line: string): string =>
  line
    .trim()
    .replace(/^(?:```\w*|~~~\w*)$/, '')
    .replace(/^(?:#{1,6}\s+|>\s*|[-*+]\s+)+/, '')
    .replace(/^[*_`]+/, '')
    .replace(/^((?:NOT[_ ])?OK)([:.!]?)[*_`]+([:.!]?)/i, '$1$2$3')
    .replace(/[*_`]+$/, '')
    .trim()

const asRecord = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? { ...value } : {}
