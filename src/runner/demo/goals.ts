import { chineseGoals } from './chinese-goals.ts'
import { englishGoals } from './english-goals.ts'
import { isChinese } from './language.ts'

/** The steps of a plan for a goal that names none itself. */
export function planFor(goal: string): string[] {
  const kinds = isChinese(goal) ? chineseGoals : englishGoals
  return kinds.find(({ of }) => of.test(goal))?.plan(goal) ?? []
}
