import type { Claim, Judged, Opinion } from '../domain/claim.ts'
import { recordVerdicts } from '../toolsets/verdicts.ts'
import { judge } from './assessor.ts'
import type { TurnDeps } from './drive.ts'
import type { Step } from './run.ts'
import type { ActiveTurn } from './turn.ts'

/** Asks for a verdict on each claim of a call or of a text, whose id in the turn is `id`. */
export async function judgeAll(
  turn: ActiveTurn,
  deps: TurnDeps,
  step: Step,
  id: string,
  claims: readonly Claim[],
  signal: AbortSignal,
): Promise<readonly Judged[]> {
  const judged: Judged[] = []
  try {
    for (const claim of claims) {
      const opinions: Opinion[] = []
      const before = [...judged]
      judged.push({ claim, opinions })
      await judge(turn, deps, claim, signal, before, opinions)
    }
  } catch (error) {
    await keepVerdicts(turn, deps, step, id, judged)
    throw error
  }
  return judged
}

/** Keeps the verdicts that a stop interrupted. After any other interruption, the claims are judged anew. */
async function keepVerdicts(
  turn: ActiveTurn,
  { door }: TurnDeps,
  step: Step,
  id: string,
  judged: readonly Judged[],
): Promise<void> {
  const answered = judged.filter(({ opinions }) => opinions.length > 0)
  if (answered.length === 0) return
  await door.transact(turn.at(`verdicts:${id}`), transaction => {
    if (!transaction.state.turns.get(turn.run.turn)?.stop_requested) return transaction.discard(null)
    for (const one of answered) {
      const { task } = one.claim
      const about = typeof task === 'string' ? task : door.newId()
      recordVerdicts(transaction, about, one, { turnId: turn.run.turn, basis: step.digest_seq })
    }
    return null
  })
}
