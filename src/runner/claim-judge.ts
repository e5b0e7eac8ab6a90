import type { Claim, Judged, Opinion } from '../domain/claim.ts'
import type { Conversation } from '../domain/conversation.ts'
import type { StoredEvent } from '../domain/event.ts'
import type { Redactor } from '../domain/redact.ts'
import type { Door } from '../door/door.ts'
import { judge, type JudgedTurn } from './assessor.ts'
import { work } from './evidence.ts'
import type { Models } from './given-models.ts'
import type { HeldLease } from './held-lease.ts'
import { isJudgeFailure } from './run.ts'

/** Rules on the claims of an agent elsewhere, under the lease of its turn. */
export type ClaimJudge = (
  held: HeldLease,
  state: Conversation,
  claims: readonly Claim[],
  signal: AbortSignal,
) => Promise<readonly Judged[]>

export interface ClaimJudgeDeps {
  readonly door: Door
  readonly models: Models
  readonly redact: Redactor
  readonly retryMs?: number
}

const RETRY_MS = 1_000

/** The judge of what agents elsewhere claim. It knows their plan and their checks, but not their own tools. */
export function claimJudge({ door, models, redact, retryMs = RETRY_MS }: ClaimJudgeDeps): ClaimJudge {
  return async (held, state, claims, signal) => {
    const { lease } = held
    const verdicts = await door.conversations.events(lease, { types: ['task_assessed'] })
    const own = verdicts.filter(
      (event): event is StoredEvent<'task_assessed'> => event.type === 'task_assessed' && event.turn_id === lease.turn,
    )
    const failures = own.reduce((count, { data }) => (isJudgeFailure(data) ? count + 1 : 0), 0)
    const turn: JudgedTurn = {
      work: work.initial,
      run: { state, verdicts: own.length, judgeFailures: failures, request: { model: models.defaultName } },
      confirmLease: each => held.confirm(each),
      eventsOf: (task, types) => door.conversations.events(lease, { task, types }),
    }
    const judged: Judged[] = []
    for (const claim of claims) {
      const opinions: Opinion[] = []
      await judge(turn, { models, redact, retryMs }, claim, signal, judged, opinions)
      judged.push({ claim, opinions })
    }
    return judged
  }
}
