import type { CommandOf } from '../domain/command.ts'
import type { Conversation } from '../domain/conversation.ts'
import { homeOf } from '../domain/lineage.ts'
import { namedFiles } from '../domain/check-runs.ts'
import { plansEndedBy } from '../domain/open-claims.ts'
import type { OpenClaim } from '../domain/proof.ts'
import { type Door, StoreError } from '../door/door.ts'
import { abandonCall, settleCall } from '../toolsets/claims.ts'
import type { ToolContext } from '../toolsets/context.ts'
import type { ClaimJudge } from './claim-judge.ts'
import type { HeldLease } from './held-lease.ts'
import type { Workspaces } from './workspaces.ts'

export interface CheckDeps {
  readonly door: Door
  readonly workspaces: Workspaces
  readonly judge: ClaimJudge | undefined
  readonly onError: (error: unknown) => void
}

/** Settles the claims of agents elsewhere once these are checked, under the lease of their turn. */
export class CheckSettling {
  readonly #held: HeldLease
  readonly #deps: CheckDeps
  readonly #signal: AbortSignal

  constructor(held: HeldLease, deps: CheckDeps, signal: AbortSignal) {
    this.#held = held
    this.#deps = deps
    this.#signal = signal
  }

  /** Makes the call of a claim again. One that cannot be made is ended: it would fail for ever. */
  async settle(state: Conversation, claim: OpenClaim): Promise<void> {
    const { onError, judge } = this.#deps
    const context = this.#context(claim)
    try {
      if (await this.#isRechecked(state, claim)) return
      const call = await settleCall(context, claim)
      const judged = call.status === 'claimed' ? await judge?.(this.#held, state, call.claims, this.#signal) : undefined
      const { status } = judged ? await settleCall(context, claim, { judged }) : call
      if (status === 'answered' || status === 'checking') return
      onError(new Error(STUCK))
    } catch (error) {
      // Ended while it judged: the next process goes on.
      if (this.#signal.aborted) return
      if (isStorage(error)) throw error
      onError(error)
    }
    await abandonCall(context, claim)
  }

  /**
   * Writes down how a run ended in one commit with the end of the claim that it was made for. False if there is none, or it
   * waits for more: then nothing is written.
   */
  async isSettledBy(state: Conversation, ran: CommandOf<'end_check'>, claim: OpenClaim | undefined): Promise<boolean> {
    const isOurs = claim && !claim.judge && state.turns.get(claim.turn_id)?.status === 'open'
    if (!isOurs || (ran.outcome.result === 'passed' && plansEndedBy(state, claim).length > 0)) return false
    try {
      const call = await settleCall(this.#context(claim), claim, { ran })
      return call.status === 'answered' && call.stored
    } catch (error) {
      if (isStorage(error)) throw error
      // Reported when the claim is settled by itself.
      return false
    }
  }

  /** Before the last open task of a plan is granted, everything that is out of date runs once more. */
  async #isRechecked(state: Conversation, claim: OpenClaim): Promise<boolean> {
    const { lease } = this.#held
    const { door, workspaces } = this.#deps
    const [plan] = plansEndedBy(state, claim)
    const workspace = plan === undefined ? undefined : homeOf(state, plan)?.workspace
    if (!workspace) return false
    const fingerprint = await workspaces.fingerprint(workspace, namedFiles(state))
    const final = { type: 'request_final', turn_id: lease.turn, fingerprint } as const
    const { events } = await door.run({ ...lease, lease }, final)
    return events.length > 0
  }

  #context({ judge }: OpenClaim): ToolContext {
    const { lease } = this.#held
    const { tenant, conversation, turn } = lease
    return { door: this.#deps.door, tenant, conversation, turn, lease, judges: judge === true }
  }
}

/** A failure that may be temporary. */
export const isStorage = (error: unknown): boolean =>
  error instanceof StoreError && error.code !== 'key_conflict' && error.code !== 'id_taken'

const STUCK = 'The call of a claim could not be made again.'
