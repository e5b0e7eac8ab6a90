import { compute } from './compute.ts'
import { isChinese } from './language.ts'
import { type Done, isWriting, write } from './write.ts'

/** What came of a step: its outcome, or that it was only simulated, and why. */
export type Work = { readonly outcome: string } | { readonly simulated: string }

/** Does a step as far as a model without tools can: computes, or writes the text that it asks for. */
export function workOn(title: string, done: readonly Done[]): Work {
  const text = compute(title) ?? (isWriting(title) ? write(title, done) : undefined)
  if (text !== undefined) return { outcome: text }
  const words = isChinese(title) ? CHINESE : ENGLISH
  return { simulated: isWriting(title) ? words.nothingYet : words.noTool }
}

const ENGLISH = {
  noTool: 'Simulated: the demo model has no tool for this.',
  nothingYet: 'Simulated: no step before this one was done, so there is nothing to write about.',
}
const CHINESE = {
  noTool: '模拟：演示模型没有做这件事的工具。',
  nothingYet: '模拟：前面没有完成的步骤，所以没有可写的内容。',
}

/** Whether an outcome says that the step was only simulated. */
export const isSimulated = (outcome: string): boolean => /^(?:Simulated:|模拟：)/.test(outcome.trim())
