import type { Standing } from '../domain/standing.ts'
import type { PlanTally } from '../domain/thread.ts'
import type { Strings } from './strings.ts'

/** How a plan stands: "All 5 steps done · 3 proven, 2 on the agent's word", "3 done, 2 blocked". */
export function tallyWords({ total, done, blocked, open, standings }: PlanTally, strings: Strings): string {
  const { list } = strings.timeline
  // Where nothing is proven, the steps say as much.
  const proof = standings?.proven ? [list(standingWords(standings, strings))] : []
  if (done === total) return [strings.allDone(total), ...proof].join(' · ')
  const parts = [
    done > 0 ? strings.doneSteps(done) : '',
    blocked > 0 ? strings.blocked(blocked) : '',
    open > 0 ? strings.leftSteps(open) : '',
  ]
  return [list(parts.filter(part => part !== '')), ...proof].join(' · ')
}

/** How many tasks have each standing: "3 proven", "2 on the agent's word". */
export function standingWords(
  standings: Readonly<Record<Standing, number>>,
  { checks: { standingCount } }: Strings,
): readonly string[] {
  return (Object.keys(standingCount) as Standing[]).flatMap(standing =>
    standings[standing] > 0 ? standingCount[standing](standings[standing]) : [],
  )
}
