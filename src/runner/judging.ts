import type { Opinion } from '../domain/claim.ts'
import type { CommandOf } from '../domain/command.ts'
import { claimText } from '../domain/open-claims.ts'
import type { OpenClaim } from '../domain/proof.ts'
import { judge, type JudgeDeps, type JudgedTurn } from './assessor.ts'

type Verdict = CommandOf<'assess_task'>

/**
 * Asks the judge about a claim. `onInterrupted` gets what it has said if that is cut off.
 */
export async function verdictsOn(
  turn: JudgedTurn,
  deps: JudgeDeps,
  claim: OpenClaim,
  signal: AbortSignal,
  onInterrupted?: (verdicts: readonly Verdict[]) => Promise<unknown>,
): Promise<readonly Verdict[]> {
  const { turn_id, task_id: task, seal, basis } = claim
  const opinions: Opinion[] = []
  const verdicts = (): readonly Verdict[] =>
    opinions.map(opinion => ({ ...opinion, type: 'assess_task', turn_id, task, seal, basis }))
  try {
    await judge(turn, deps, claimText(turn.run.state, claim), signal, opinions)
  } catch (error) {
    if (opinions.length > 0) await onInterrupted?.(verdicts())
    throw error
  }
  return verdicts()
}
