import type { Standing } from '../../../core/proof/standing.ts'
import type { PlanTally } from '../../../core/views/tally.ts'
import type { TurnStatus } from '../../../core/model/turn.ts'
import type { Strings } from './strings.ts'

/** Such as "All 5 steps done · 3 proven, 2 on the agent's word" or "3 done, 2 blocked, 1 cancelled". */
export function tallyWords(tally: PlanTally, strings: Strings): string {
  const { total, done, open, standings } = tally
  const { list } = strings.timeline
  // If nothing is proven, the summary omits standings; the steps show them.
  const proof = standings?.proven ? [list(standingWords(standings, strings))] : []
  if (done === total) return [strings.allDone(total), ...proof].join(' · ')
  const parts = [
    ...(done > 0 ? [strings.doneSteps(done)] : []),
    ...notDoneWords(tally, strings),
    ...(open > 0 ? [strings.leftSteps(open)] : []),
  ]
  return [list(parts), ...proof].join(' · ')
}

/** Such as "2 blocked" or "1 cancelled". */
export const notDoneWords = (
  { disputed, blocked, cancelled }: Pick<PlanTally, 'disputed' | 'blocked' | 'cancelled'>,
  strings: Strings,
): readonly string[] => [
  ...(disputed > 0 ? [strings.disputed(disputed)] : []),
  ...(blocked > 0 ? [strings.blocked(blocked)] : []),
  ...(cancelled > 0 ? [strings.cancelled(cancelled)] : []),
]

/** True if every task is done or cancelled and the turn ended well. */
export const isDoneWith = ({ total, done, cancelled }: PlanTally, status: TurnStatus): boolean =>
  done === total || (done > 0 && done + cancelled === total && status !== 'incomplete')

/** Such as "3 proven" or "2 on the agent's word". */
export function standingWords(
  standings: Readonly<Record<Standing, number>>,
  { checks: { standingCount } }: Strings,
): readonly string[] {
  return (Object.keys(standingCount) as Standing[]).flatMap(standing =>
    standings[standing] > 0 ? standingCount[standing](standings[standing]) : [],
  )
}
