import { chineseGoals } from './chinese-goals.ts'
import { englishGoals } from './english-goals.ts'
import { bareGoal } from './english-verbs.ts'
import { isChinese } from './language.ts'

/** The steps of a plan for a goal that names none itself. */
export function planFor(goal: string): string[] {
  const [kinds, bare] = isChinese(goal) ? [chineseGoals, goal] : [englishGoals, bareGoal(goal)]
  return kinds.find(({ of }) => of.test(bare))?.plan(bare) ?? []
}
