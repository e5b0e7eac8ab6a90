import type { Workspace } from '../domain/check.ts'
import type { Command, CommandOf, Learnt } from '../domain/command.ts'
import type { Wait } from '../domain/decide/settle.ts'
import type { Conversation } from '../domain/conversation.ts'
import { planOf } from '../domain/plan.ts'
import { namedFiles } from '../domain/check-runs.ts'
import { workspaceKey } from '../domain/needs.ts'
import { claimedPlans } from '../domain/open-claims.ts'
import type { OpenClaim } from '../domain/proof.ts'
import { type Door, StoreError } from '../door/door.ts'
import { type Facts, settleCall, type TextAnswer } from '../toolsets/settle-call.ts'
import type { ToolContext } from '../toolsets/context.ts'
import type { ClaimJudge } from './claim-judge.ts'
import type { HeldLease } from './held-lease.ts'
import type { Workspaces } from './workspaces.ts'

/** How a process finds out what claims need. */
export interface Ways {
  readonly learnt?: Learnt
  /** The files as they are. */
  readonly look?: () => Promise<Learnt>
  /** The verdicts on a claim. */
  readonly judge?: ((claim: OpenClaim) => Promise<readonly Command[]>) | undefined
  readonly onText?: TextAnswer
}

/** Settles the call of a claim as far as this process can. The rest is what it waits for. */
export async function settleThrough(
  context: ToolContext,
  claim: OpenClaim,
  { learnt = {}, look, judge, onText }: Ways,
): Promise<Wait | null> {
  let facts: Facts = learnt
  for (;;) {
    const wait = await settleCall(context, claim, facts, onText)
    if (wait?.needs === 'look' && look) facts = await look()
    // The files may change while the judge thinks: they are looked at again.
    else if (wait?.needs === 'judge' && judge) facts = { ...learnt, facts: await judge(wait.claim) }
    else return wait
  }
}

export interface CheckDeps {
  readonly door: Door
  readonly workspaces: Workspaces
  readonly judge: ClaimJudge | undefined
  readonly onError: (error: unknown) => void
}

/** Settles the claims of agents elsewhere once these are checked, under the lease of their turn. */
export class Settling {
  readonly #held: HeldLease
  readonly #deps: CheckDeps
  readonly #signal: AbortSignal

  constructor(held: HeldLease, deps: CheckDeps, signal: AbortSignal) {
    this.#held = held
    this.#deps = deps
    this.#signal = signal
  }

  /** Settles the call of a claim as far as this lease goes. False if another process, or another lease, goes on. */
  async settle(claim: OpenClaim): Promise<boolean> {
    const { onError } = this.#deps
    try {
      const { judge } = this.#deps
      const wait = await settleThrough(this.#context, claim, {
        look: () => this.#look(claim),
        judge: judge && (each => judge(this.#held, each, this.#signal)),
      })
      // The runs before the end of the plan are asked for: that of the judge is not for checks.
      return wait === null || (wait.needs === 'runs' && !claim.judge)
    } catch (error) {
      // Ended while it judged: the next process goes on.
      if (this.#signal.aborted) return false
      if (isStorage(error)) throw error
      onError(error)
    }
    // It would fail for ever.
    await settleCall(this.#context, claim, { ended: 'failed' })
    return true
  }

  /**
   * Writes down how a run ended in one commit with the end of the claim that it was made for, if that waits for nothing more.
   * False if there is none.
   */
  async isSettledBy(state: Conversation, ran: CommandOf<'end_check'>, claim: OpenClaim | undefined): Promise<boolean> {
    const isOurs = claim && !claim.judge && state.turns.get(claim.turn_id)?.status === 'open'
    if (!isOurs) return false
    try {
      await settleCall(this.#context, claim, { facts: [ran] })
      return true
    } catch (error) {
      if (isStorage(error)) throw error
      // Reported when the claim is settled by itself.
      return false
    }
  }

  /** Without the workspace, everything in it counts as changed. If its folder is gone, the plan does not end. */
  async #look(claim: OpenClaim): Promise<Learnt> {
    const { door, workspaces } = this.#deps
    const state = await door.read(this.#held.lease)
    const workspace = workspaceOfPlan(state, claim)
    if (workspace && door.checks.isGone?.(workspace)) return { ended: 'no_workspace', isGone: true }
    if (!workspace || !workspaces.keys.includes(workspaceKey(workspace))) return { seen: {} }
    return { seen: { fingerprint: await workspaces.fingerprint(workspace, namedFiles(state)) } }
  }

  get #context(): ToolContext {
    const { lease } = this.#held
    return { door: this.#deps.door, ...lease, lease }
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
