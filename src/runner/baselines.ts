import type { Check, Workspace } from '../domain/check.ts'
import { type Conversation, openTasks } from '../domain/conversation.ts'
import type { StoredEvent } from '../domain/event.ts'
import type { RunToMake } from '../domain/proof.ts'
import type { Door, Lease, Ref } from '../door/door.ts'
import type { Baseline, Workspaces } from './workspaces.ts'

/** What the guarded files were at confirmation. Those of a check that is new are looked at before it first runs. */
export async function takeBaseline(
  door: Door,
  workspaces: Workspaces,
  lease: Lease,
  state: Conversation,
  { task_id, turn_id: asked, why, check }: RunToMake,
  workspace: Workspace,
): Promise<Baseline> {
  const task = task_id === undefined ? undefined : state.tasks.get(task_id)
  const turn_id = task?.conversation_turn_id ?? asked
  const known = await knownBaseline(door, lease, turn_id)
  const checks = why === 'baseline' ? [...checksOf(state, turn_id), check] : [check]
  const taken = await workspaces.baselineOf(workspace, checks, known)
  if (!taken) return known
  await door.run({ ...lease, lease }, { type: 'take_baseline', turn_id, ...taken })
  return merged(known, taken)
}

async function knownBaseline({ conversations }: Door, ref: Ref, turnId: string): Promise<Baseline> {
  const events = await conversations.events(ref, { types: ['baseline_taken'] })
  const own = events.filter(
    (event): event is StoredEvent<'baseline_taken'> => event.type === 'baseline_taken' && event.data.turn_id === turnId,
  )
  return own.reduce((known: Baseline, { data }) => merged(known, data), { covers: [], files: {} })
}

/** The checks of a plan and of its tasks. */
const checksOf = (state: Conversation, turnId: string): readonly Check[] => [
  ...(state.turns.get(turnId)?.done_checks ?? []),
  ...openTasks(state, turnId).flatMap(({ checks }) => checks ?? []),
]

/** What was there first counts. */
function merged(known: Baseline, more: Baseline): Baseline {
  const incomplete = known.incomplete || more.incomplete
  return {
    covers: [...new Set([...known.covers, ...more.covers])],
    files: { ...more.files, ...known.files },
    ...(incomplete ? { incomplete } : {}),
  }
}
