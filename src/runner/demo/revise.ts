import { isQuestion, stepsIn } from './split.ts'
import { wordsIn } from './tools.ts'

/** The steps after what a person asked to change; undefined if the comment does not say. */
export function revised(steps: readonly string[], comment: string): readonly string[] | undefined {
  const [, count] = ONLY_FIRST.exec(comment) ?? []
  if (count !== undefined) return steps.slice(0, NUMBERS[count.toLowerCase()] ?? Number(count))
  const wishes = stepsIn(comment)
  const added = wishes.flatMap(wish => ADD.exec(wish)?.[1] ?? []).map(capitalised)
  const removed = wishes.flatMap(wish => REMOVE.exec(wish)?.[1] ?? [])
  const after = [...steps.filter(step => !removed.some(wish => isNamed(step, wish))), ...added]
  return after.length === 0 || after.join('\n') === steps.join('\n') ? undefined : after
}

/** The steps that a person who said no wants instead. */
export const wishedInstead = (comment: string): string[] =>
  stepsIn(comment.replace(/,?\s*\binstead\b/gi, '')).filter(step => !NO.test(step) && !isQuestion(step))

const ADD = /^(?:also |please )*(?:add|include|insert|append|加上|加入|添加|增加)\s*(?:a step(?: to)?\s*:?\s*)?(.+)$/i
const REMOVE = /^(?:please )*(?:remove|drop|delete|skip|leave out|without|去掉|删除|删掉|不要)\s*(.+)$/i
const ONLY_FIRST = /\b(?:only|just)\s+the\s+first\s+(\d+|one|two|three|four|five)\b/i
const NUMBERS: Readonly<Record<string, number>> = { one: 1, two: 2, three: 3, four: 4, five: 5 }

/** How a comment starts that says what is wrong rather than what to do. */
const NO =
  /^(?:no|nope|not|don't|do not|never|stop|too|only|just|fewer|less|wrong|wait|later|maybe|why|不|别|没|太)(?:\b|\p{Script=Han}|$)/iu

/** Whether the wish names the step: by a word of it, or a part of its title. */
function isNamed(step: string, wish: string): boolean {
  const words = wordsIn(wish)
  return step.includes(wish) || (words.length > 0 && words.every(word => wordsIn(step).includes(word)))
}

const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
