import type { Evidence } from '../evidence.ts'
import { isChinese } from './lexicon.ts'
import type { Call } from './planners.ts'
import { SANDBOX } from './sandbox.ts'
import type { Offered } from './tools.ts'

export type Deed = { readonly call: Call } | { readonly outcome: string } | { readonly failed: string }

interface Heard {
  readonly role: string
  readonly tool?: string
  readonly result?: unknown
}

/** Fixes that the demo model knows, in the order it sees them: the second bug only shows in the test's output. */
const REPAIRS = [
  { find: 'Helo', replace: 'Hello' },
  { find: 'greet(name)', replace: "greet(name = 'stranger')" },
] as const

export const isSandboxTool = (name: string): boolean => name === SANDBOX.read || name === SANDBOX.edit

const hasSandbox = (tools: readonly Offered[]): boolean => tools.some(({ name }) => name === SANDBOX.edit)

/** Steps for a request to fix the sandbox; undefined for other requests, or without a sandbox. */
export function mendingSteps(tools: readonly Offered[], request: string): readonly string[] | undefined {
  if (!hasSandbox(tools)) return undefined
  if (/\bsandbox\b/i.test(request) && /\b(?:fix|mend|repair)\b/i.test(request)) return ENGLISH
  return /沙盒/.test(request) && /修/.test(request) ? CHINESE : undefined
}

const ENGLISH = [`Read ${SANDBOX.file}`, `Fix the greeting in ${SANDBOX.file}`, 'Write the report']
const CHINESE = [`读取 ${SANDBOX.file}`, `修好 ${SANDBOX.file} 里的问候`, '写一份报告']

const isReading = (title: string): boolean => title === ENGLISH[0] || title === CHINESE[0]
const isMending = (title: string): boolean => title === ENGLISH[1] || title === CHINESE[1]

export const checkFor = (tools: readonly Offered[], title: string): string | undefined =>
  hasSandbox(tools) && isMending(title) ? SANDBOX.check : undefined

/**
 * Works on a step of the sandbox; undefined for other steps. Fixes what it sees, claims, and continues from the
 * objections of the check or the judge.
 */
export function mending(
  tools: readonly Offered[],
  title: string,
  since: readonly Heard[],
  refusal: string | undefined,
): Deed | undefined {
  if (!hasSandbox(tools) || !(isReading(title) || isMending(title))) return undefined
  const answer = since.findLast(({ tool = '' }) => isSandboxTool(tool))
  if (!answer) return { call: { tool: SANDBOX.read, input: { path: SANDBOX.file } } }
  const text = typeof answer.result === 'string' ? answer.result : ''
  if (text.startsWith('Error:')) return { failed: `${answer.tool}: ${text}` }
  if (isReading(title)) return { outcome: lineCount(text, title) }
  if (since.at(-1) === answer && answer.tool === SANDBOX.edit) return { outcome: changesIn(text) }
  const next = REPAIRS.find(({ find }) => text.includes(find))
  if (next) return { call: { tool: SANDBOX.edit, input: { path: SANDBOX.file, ...next } } }
  if (refusal !== undefined) return { failed: refusal }
  return { outcome: isChinese(title) ? '问候已经是对的' : 'the greeting is right already' }
}

/** The judge's objection to the file as the tools last saw it; undefined for tasks not about the sandbox. */
export function flawInMending(
  task: string,
  said: string,
  evidence: readonly Pick<Evidence, 'tool' | 'answer' | 'ok'>[],
): string | undefined {
  if (!isMending(task) && !isReading(task)) return undefined
  const seen = evidence.findLast(({ tool, ok }) => ok && isSandboxTool(tool))
  if (!seen) return 'no tool has looked at the file.'
  const text = typeof seen.answer === 'string' ? seen.answer : ''
  if (isReading(task)) return said === lineCount(text, task) ? '' : `it should say that ${lineCount(text, task)}.`
  if (!text.includes('`Hello, ${name}!`')) return 'it does not say “Hello” and the name.'
  return /greet\(name = /.test(text) ? '' : 'without a name it greets nobody.'
}

const lineCount = (text: string, title: string): string => {
  const count = text.trimEnd().split('\n').length
  return isChinese(title) ? `${SANDBOX.file} 有 ${count} 行` : `${SANDBOX.file} has ${count} lines`
}

function changesIn(text: string): string {
  const made = REPAIRS.filter(({ replace }) => text.includes(replace))
  return made.map(({ find, replace }) => `“${find}” → “${replace}”`).join(', ')
}
