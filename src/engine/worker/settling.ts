import type { Command, Learnt } from '../../core/model/command.ts'
import type { Wait } from '../../core/decide/settle.ts'
import type { OpenClaim } from '../../core/proof/proof.ts'
import { type Facts, settleCall, type TextAnswer } from '../toolsets/settle-call.ts'
import type { ToolContext } from '../toolsets/context.ts'

interface Ways {
  readonly learnt?: Learnt
  readonly look?: () => Promise<Learnt>
  readonly judge?: ((claim: OpenClaim) => Promise<readonly Command[]>) | undefined
  readonly onText?: TextAnswer
}

/** Settles the call of a claim as far as this process can; returns what it still waits for. */
export async function settleThrough(
  context: ToolContext,
  claim: OpenClaim,
  { learnt = {}, look, judge, onText }: Ways,
): Promise<Wait | null> {
  let facts: Facts = learnt
  for (;;) {
    const wait = await settleCall(context, claim, facts, onText)
    if (wait?.needs === 'look' && look) facts = await look()
    // Files may change while the judge thinks, so the workspace is surveyed again.
    else if (wait?.needs === 'judge' && judge) facts = { ...learnt, facts: await judge(wait.claim) }
    else return wait
  }
}
