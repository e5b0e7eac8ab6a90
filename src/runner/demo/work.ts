import { compute } from './compute.ts'
import { isChinese } from './lexicon.ts'
import { type Done, textFor } from './texts.ts'

/** What came of a step: its outcome, or that it was only simulated, and why. */
export type Work = { readonly outcome: string } | { readonly simulated: string }

/** The steps before the one to work on. */
export interface Past {
  readonly done: readonly Done[]
  /** Whether one of them was not done. */
  readonly hasGaps: boolean
}

/** Does a step if all of it can be done without tools: computes, or writes the text that it asks for. */
export function workOn(title: string, { done, hasGaps }: Past): Work {
  const words = isChinese(title) ? CHINESE : ENGLISH
  const result = compute(title)
  if (result !== undefined) return { outcome: result }
  const text = textFor(title)
  if (text?.isReport && (hasGaps || done.length === 0)) return { simulated: hasGaps ? words.gaps : words.nothingYet }
  return text ? { outcome: text.written(done) } : { simulated: words.noTool }
}

/** What a step is reported as whose details or criteria ask for more than its title. */
export const beyondTitle = (title: string): string => (isChinese(title) ? CHINESE : ENGLISH).details

const ENGLISH = {
  noTool: 'Simulated: the demo model has no tool for this.',
  nothingYet: 'Simulated: no step before this one was done, so there is nothing to write about.',
  gaps: 'Simulated: a step before this one was not done, so there is not everything to write about.',
  details: 'Simulated: the demo model goes by the title alone, and this step has details.',
}
const CHINESE: typeof ENGLISH = {
  noTool: '模拟：演示模型没有做这件事的工具。',
  nothingYet: '模拟：前面没有完成的步骤，所以没有可写的内容。',
  gaps: '模拟：前面有步骤没有完成，所以内容不全，写不出来。',
  details: '模拟：演示模型只看标题，而这一步还有细节。',
}

/** Whether an outcome says that the step was only simulated. */
export const isSimulated = (outcome: string): boolean => /^(?:Simulated:|模拟：)/.test(outcome.trim())
