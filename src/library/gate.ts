import { type Conversation, openTasks } from '../domain/conversation.ts'
import { followedTasks, followUpsIn, MAX_FOLLOW_UPS } from '../domain/gate.ts'
import { awaitsFinal, failingDoneChecks, namedFiles } from '../domain/check-runs.ts'
import { isFinished } from '../domain/turn.ts'
import type { Door, Ref } from '../door/door.ts'
import { followUpText } from '../runner/messages.ts'
import type { Workspaces } from '../runner/workspaces.ts'
import { servedUntil } from '../toolsets/serving.ts'
import type { Toolset } from '../toolsets/toolset.ts'

interface GateDeps {
  readonly door: Door
  readonly ref: Ref
  readonly turn: string
  readonly toolset: Toolset
  readonly workspaces: Workspaces | undefined
  readonly signal: AbortSignal | undefined
}

/**
 * What the gate tells a model that answered while its plan is not done; undefined if it may end. Each follow-up is in the
 * log, so that a restart does not count anew.
 */
export async function nextFollowUp(deps: GateDeps): Promise<string | undefined> {
  const { door, ref, turn, toolset } = deps
  const state = await rechecked(deps)
  const { policy } = state
  const current = state.turns.get(turn)
  if (!policy?.gate || !current || isFinished(current) || current.stop_requested) return undefined
  const open = followedTasks(openTasks(state, turn))
  if (open.length === 0 && failingDoneChecks(state, turn).length === 0) return undefined
  const made = await followUpsOf(door, ref, state, turn)
  if (made >= MAX_FOLLOW_UPS) return undefined
  const fact = { type: 'gate_followed', data: { follow_up: made + 1, open } } as const
  await door.run(ref, { type: 'record', turn_id: turn, fact })
  return followUpText({ state, turn, policy }, toolset)
}

/** Follow-ups since the last task was settled. */
async function followUpsOf({ conversations }: Door, ref: Ref, state: Conversation, turn: string): Promise<number> {
  const events = await conversations.events(ref, { types: ['gate_followed', 'task_changed'] })
  return followUpsIn(
    state,
    turn,
    events.filter(event => event.turn_id === turn),
  )
}

/**
 * The plan after its final runs. A check of the whole plan that failed runs again: the model may have mended it since.
 */
async function rechecked(deps: GateDeps): Promise<Conversation> {
  const { door, ref, turn, workspaces } = deps
  const state = await afterFinalRuns(deps)
  const workspace = state.turns.get(turn)?.workspace
  const isOpen = openTasks(state, turn).length > 0
  if (!workspace || isOpen || failingDoneChecks(state, turn).length === 0) return state
  const fingerprint = await workspaces?.fingerprint(workspace, namedFiles(state))
  await door.run(ref, { type: 'request_final', turn_id: turn, fingerprint })
  return afterFinalRuns(deps)
}

async function afterFinalRuns({ door, ref, turn, signal }: GateDeps): Promise<Conversation> {
  await servedUntil({ door, ...ref, turn }, turn, state => !awaitsFinal(state, turn), { signal })
  return door.read(ref)
}
