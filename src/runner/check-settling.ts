import type { Workspace } from '../domain/check.ts'
import type { CommandOf, SeenWorkspace } from '../domain/command.ts'
import type { Conversation } from '../domain/conversation.ts'
import { planOf } from '../domain/plan.ts'
import { namedFiles } from '../domain/check-runs.ts'
import { workspaceKey } from '../domain/needs.ts'
import { claimedPlans } from '../domain/open-claims.ts'
import type { OpenClaim } from '../domain/proof.ts'
import { type Door, StoreError } from '../door/door.ts'
import type { Learnt, ResumedCall } from '../toolsets/calls.ts'
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

  /**
   * Makes the call of a claim again. One that cannot be made is ended: it would fail for ever. False if runs come first that
   * need another lease: that of the judge is not for checks.
   */
  async settle(state: Conversation, claim: OpenClaim): Promise<boolean> {
    const { onError } = this.#deps
    try {
      const { status } = await this.#made(state, claim)
      if (status !== 'claimed') return status !== 'ending' || !claim.judge
      onError(new Error(STUCK))
    } catch (error) {
      // Ended while it judged: the next process goes on.
      if (this.#signal.aborted) return false
      if (isStorage(error)) throw error
      onError(error)
    }
    await abandonCall(this.#context(claim), claim)
    return true
  }

  /**
   * Writes down how a run ended in one commit with the end of the claim that it was made for. False if there is none, or it
   * waits for more: then nothing is written.
   */
  async isSettledBy(state: Conversation, ran: CommandOf<'end_check'>, claim: OpenClaim | undefined): Promise<boolean> {
    const isOurs = claim && !claim.judge && state.turns.get(claim.turn_id)?.status === 'open'
    if (!isOurs) return false
    try {
      const call = await settleCall(this.#context(claim), claim, { ran })
      return call.status === 'answered' && call.stored
    } catch (error) {
      if (isStorage(error)) throw error
      // Reported when the claim is settled by itself.
      return false
    }
  }

  /** Makes the call with all that its rules ask for: a look at the workspace, the verdicts of the judge. */
  async #made(state: Conversation, claim: OpenClaim): Promise<ResumedCall> {
    const { judge } = this.#deps
    const context = this.#context(claim)
    const workspace = workspaceOfPlan(state, claim)
    const isGone = workspace !== undefined && (this.#deps.door.checks.isGone?.(workspace) ?? false)
    let seen: Learnt['seen']
    let judged: Learnt['judged']
    for (;;) {
      const call = await settleCall(context, claim, { ...(seen ? { seen } : {}), ...(judged ? { judged } : {}) })
      // Nothing can be looked at again: the plan does not end.
      if (call.status === 'ending' && isGone)
        return settleCall(context, claim, { ended: 'no_workspace', isGone, ...(judged ? { judged } : {}) })
      if (call.status === 'ending' && !seen) seen = await this.#look(state, workspace)
      else if (call.status === 'claimed' && !judged && judge)
        judged = await judge(this.#held, state, call.claims, this.#signal)
      else return call
    }
  }

  /** Without the workspace, everything in it counts as changed. */
  async #look(state: Conversation, workspace: Workspace | undefined): Promise<SeenWorkspace> {
    const { workspaces } = this.#deps
    if (!workspace || !workspaces.keys.includes(workspaceKey(workspace))) return {}
    return { fingerprint: await workspaces.fingerprint(workspace, namedFiles(state)) }
  }

  #context({ judge }: OpenClaim): ToolContext {
    const { lease } = this.#held
    const { tenant, conversation, turn } = lease
    return { door: this.#deps.door, tenant, conversation, turn, lease, judges: judge === true }
  }
}

/** The workspace of the plan that a claim is about. */
function workspaceOfPlan(state: Conversation, claim: OpenClaim): Workspace | undefined {
  const [plan = planOf(state, claim.turn_id)] = claimedPlans(state, [claim])
  return plan.workspace
}

/** A failure that may be temporary. */
export const isStorage = (error: unknown): boolean =>
  error instanceof StoreError && error.code !== 'key_conflict' && error.code !== 'id_taken'

const STUCK = 'The call of a claim could not be made again.'
