import type { PlanTally } from '../domain/thread.ts'
import type { Strings } from './strings.ts'

/** How a plan stands: "All 5 steps done · 3 proven", "3 done, 2 blocked". */
export function tallyWords({ total, done, blocked, open, standings }: PlanTally, strings: Strings): string {
  const { checks } = strings
  const proven = standings?.proven ? [checks.standingCount.proven(standings.proven)] : []
  if (done === total) return [strings.allDone(total), ...proven].join(' · ')
  const parts = [
    done > 0 ? strings.doneSteps(done) : '',
    blocked > 0 ? strings.blocked(blocked) : '',
    open > 0 ? strings.leftSteps(open) : '',
  ]
  return [strings.timeline.list(parts.filter(part => part !== '')), ...proven].join(' · ')
}
