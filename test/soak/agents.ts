import type { ToolsetName } from '../../src/core/model/policy.ts'
import type { ReviewRequest } from '../../src/core/model/review.ts'
import type { Node } from './nodes.ts'
import { allowing, chance, pick, type World } from './world.ts'

const PLANS: Record<ToolsetName, readonly [tool: string, input: unknown]> = {
  manage_todos: ['manage_todos', { add: ['Read the report', 'Write the summary'] }],
  checklist: ['add_multiple_checklist_items', { items: [{ title: 'Read the report' }, { title: 'Write it up' }] }],
  task_manager: ['add_task', { tasks: [{ title: 'Read the report', details: 'all of it' }, { title: 'Write it up' }] }],
  turn_todos: ['create_todo', { items: [{ title: 'Read the report' }, { title: 'Write it up', order: 1 }] }],
  task_list: ['AddTask', { title: 'Read the report', description: 'all of it' }],
  runsheet: ['plan', { tasks: [{ title: 'Read the report', done_when: 'read' }, { title: '准备生日派对的预算' }] }],
}
const POLL_MS = 250

/** An agent plans; a person confirms an edited plan, cancels it, or lets it expire; some agents leave meanwhile. */
export async function plan(world: World): Promise<void> {
  const { latencies } = world
  const [host, page] = [world.node(), world.node()]
  const session_id = world.newSession()
  const toolset = pick(Object.keys(PLANS) as ToolsetName[])
  const fate = pick(['confirm', 'confirm', 'confirm', 'confirm', 'cancel', 'expire'] as const)
  const review_timeout_ms = fate === 'expire' ? 2_000 : 60_000
  await latencies.of('write', page.person.setPolicy(session_id, { toolset, review: true, review_timeout_ms }))
  const [tool, input] = PLANS[toolset]
  const leaving = new AbortController()
  const call = { session_id, turn_id: 't1', tool_call_id: 'call-1', arguments: input }
  const answer = host.agent.call(toolset, tool, call, leaving.signal).catch((error: unknown) => {
    if (!leaving.signal.aborted) throw error
  })
  // A failure is awaited further down, and counts there.
  answer.catch(() => undefined)
  const review = await pending(world, page, session_id)
  if (chance(0.1)) leaving.abort()
  // A plan may expire first where the machine is slow.
  if (review && fate !== 'expire')
    await allowing([409], latencies.of('write', page.person.decide(review.review_id, decision(fate, review))))
  await answer
  await latencies.of('read', host.agent.tasks(session_id))
}

/** The review of this conversation, once the call has arrived. */
export async function pending(world: World, { person }: Node, session: string): Promise<ReviewRequest | undefined> {
  for (let looks = 0; looks < 100 && !world.ending.aborted; looks += 1) {
    const { reviews } = await world.latencies.of('pending list', person.pendingReviews(session))
    if (reviews[0]) return reviews[0]
    await world.wait(POLL_MS)
  }
  return undefined
}

function decision(fate: 'confirm' | 'cancel', { draft_tasks }: ReviewRequest) {
  if (fate === 'cancel') return { action: 'cancel', comment: 'Not now.' } as const
  const kept = draft_tasks.slice(0, 1).map(({ title }) => ({ draft_index: 0, title: `${title}, carefully` }))
  return { action: 'confirm', tasks: [...kept, { title: 'Added by a person' }], comment: 'As I like it.' } as const
}
