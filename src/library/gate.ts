import { openTasks, type Conversation } from '../core/model/conversation.ts'
import { MAX_FOLLOW_UPS, followUpsIn, followedTasks } from '../core/views/gate.ts'
import type { StoredEvent } from '../core/model/event.ts'
import { awaitsFinal } from '../core/proof/check-runs.ts'
import { hasFinalRuns } from '../core/decide/requests.ts'
import { workspaceKey } from '../core/model/needs.ts'
import { planOf } from '../core/model/plan.ts'
import { unpassedChecks } from '../core/proof/check-state.ts'
import { isFinished } from '../core/model/turn.ts'
import type { Door, Ref } from '../engine/door/door.ts'
import { followUpText } from '../engine/turn/messages.ts'
import { seenIn, type Workspaces } from '../engine/worker/workspaces.ts'
import { servedUntil } from '../engine/toolsets/waiting.ts'
import type { Toolset } from '../engine/toolsets/toolset.ts'

interface EndDeps {
  readonly door: Door
  readonly ref: Ref
  readonly turn: string
  readonly workspaces: Workspaces | undefined
  readonly signal?: AbortSignal | undefined
}

interface GateDeps extends EndDeps {
  readonly toolset: Toolset
}

/**
 * The gate's message to a model that answered before its plan is done; undefined if it may end. Follow-ups are logged,
 * so that a restart does not reset their count.
 */
export async function nextFollowUp(deps: GateDeps): Promise<string | undefined> {
  const { door, ref, turn, toolset } = deps
  const state = await checkedOnceMore(deps)
  const { policy } = state
  const current = state.turns.get(turn)
  if (!policy?.gate || !current || isFinished(current) || current.stop_requested) return undefined
  const open = followedTasks(openTasks(state, turn))
  if (open.length === 0 && unpassedChecks(planOf(state, turn)).length === 0) return undefined
  const events = await eventsOf(door, ref, turn)
  const made = followUpsIn(state, turn, events)
  if (made >= MAX_FOLLOW_UPS) return undefined
  const fact = { type: 'gate_followed', data: { follow_up: made + 1, open } } as const
  await door.run(ref, { type: 'record', turn_id: turn, fact })
  const claimed = events.findLast(event => event.type === 'claim_settled')
  const isUnserved = claimed?.type === 'claim_settled' && claimed.data.because === 'no_workspace'
  return followUpText({ state, turn, policy }, toolset, isUnserved)
}

/** The events that the gate counts follow-ups by. */
async function eventsOf({ conversations }: Door, ref: Ref, turn: string): Promise<readonly StoredEvent[]> {
  const events = await conversations.events(ref, { types: ['gate_followed', 'task_changed', 'claim_settled'] })
  return events.filter(event => event.turn_id === turn)
}

/**
 * The plan after a last run of its checks. Reruns stale checks if this process has the workspace, and failing checks of
 * the whole plan wherever they run: the model may have fixed them since.
 */
export async function checkedOnceMore(deps: EndDeps): Promise<Conversation> {
  const { door, ref, turn, workspaces } = deps
  for (let state = await afterFinalRuns(deps), isNewEnd = true; ; state = await afterFinalRuns(deps)) {
    const current = state.turns.get(turn)
    const plan = planOf(state, turn)
    const { workspace } = plan
    const isHere = workspace && workspaces?.keys.includes(workspaceKey(workspace))
    const isUnsure = isHere ? hasFinalRuns(state, plan) : unpassedChecks(plan).length > 0
    const isEnding = plan.open.length === 0 && current && !isFinished(current) && !current.stop_requested
    if (!workspace || !isEnding || !isUnsure) return state
    const seen = await seenIn(workspaces, plan, state)
    const { events } = await door.run(ref, { type: 'request_final', turn_id: turn, ...seen, isNewEnd })
    isNewEnd = false
    if (events.length === 0 || !isHere) return afterFinalRuns(deps)
  }
}

async function afterFinalRuns({ door, ref, turn, signal }: EndDeps): Promise<Conversation> {
  await servedUntil({ door, ...ref, turn }, turn, state => !awaitsFinal(state, turn), { signal })
  return door.read(ref)
}
