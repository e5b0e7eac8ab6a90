import type { Workspace } from '../domain/check.ts'
import type { CommandOf, SeenWorkspace } from '../domain/command.ts'
import type { Wait } from '../domain/decide/settle.ts'
import type { Conversation } from '../domain/conversation.ts'
import { planOf } from '../domain/plan.ts'
import { namedFiles } from '../domain/check-runs.ts'
import { workspaceKey } from '../domain/needs.ts'
import { claimedPlans } from '../domain/open-claims.ts'
import type { OpenClaim } from '../domain/proof.ts'
import { type Door, StoreError } from '../door/door.ts'
import { type Facts, settleCall } from '../toolsets/calls.ts'
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

  /** Settles the call of a claim as far as this lease goes. False if another process, or another lease, goes on. */
  async settle(claim: OpenClaim): Promise<boolean> {
    const { onError } = this.#deps
    try {
      const wait = await this.#settled(claim)
      // The runs before the end of the plan are asked for: that of the judge is not for checks.
      return wait === null || (wait.needs === 'runs' && !claim.judge)
    } catch (error) {
      // Ended while it judged: the next process goes on.
      if (this.#signal.aborted) return false
      if (isStorage(error)) throw error
      onError(error)
    }
    // It would fail for ever.
    await settleCall(this.#context(claim), claim, { ended: 'failed' })
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
      await settleCall(this.#context(claim), claim, { facts: [ran] })
      return true
    } catch (error) {
      if (isStorage(error)) throw error
      // Reported when the claim is settled by itself.
      return false
    }
  }

  /** Finds out what the claims need: the files as they are, the verdicts of the judge. */
  async #settled(claim: OpenClaim): Promise<Wait | null> {
    const { door, judge } = this.#deps
    const context = this.#context(claim)
    const state = await door.read(this.#held.lease)
    const workspace = workspaceOfPlan(state, claim)
    const isGone = workspace !== undefined && (door.checks.isGone?.(workspace) ?? false)
    let facts: Facts = {}
    for (;;) {
      const wait = await settleCall(context, claim, facts)
      // Nothing can be looked at again: the plan does not end.
      if (wait?.needs === 'look' && isGone) facts = { ended: 'no_workspace', isGone }
      else if (wait?.needs === 'look') facts = { ...facts, seen: await this.#look(state, workspace) }
      else if (wait?.needs === 'judge' && judge)
        facts = { ...facts, facts: await judge(this.#held, wait.claim, this.#signal) }
      else return wait
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
