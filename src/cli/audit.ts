import { DECISION_TYPES, type DecisionType, decisionsIn, type RecordedDecision } from '../domain/decision.ts'
import type { StoredEvent } from '../domain/event.ts'
import type { Origin } from '../domain/origin.ts'
import type { Policy } from '../domain/policy.ts'
import { shortPaths } from '../domain/short-paths.ts'
import type { Task } from '../domain/task.ts'
import { cut } from '../domain/text.ts'
import type { Door, Ref } from '../door/door.ts'
import { EDGES } from './edge-names.ts'
import { allConversations, knownConversation, type ReadOptions, readStore } from './read-store.ts'
import { visible } from '../domain/visible.ts'

export interface AuditOptions extends ReadOptions {
  readonly session?: string
  readonly json?: true
}

/** Prints who decided what, when and from where: one line for each decision, oldest first. */
export function printAudit(options: AuditOptions): Promise<void> {
  return readStore(options, async door => {
    const decisions = await allDecisions(door, options.session)
    const lineOf = options.json ? jsonLine : textLine
    for (const decision of decisions) console.log(lineOf(decision))
    if (decisions.length === 0 && !options.json) console.log('No decisions yet.')
  })
}

async function allDecisions(door: Door, session: string | undefined): Promise<readonly RecordedDecision[]> {
  if (session !== undefined) return decisionsOf(door, await knownConversation(door, session))
  const all: RecordedDecision[] = []
  for await (const ref of allConversations(door)) all.push(...(await decisionsOf(door, ref)))
  return all.sort((a, b) => (a.event.timestamp < b.event.timestamp ? -1 : 1))
}

const decisionsOf = async (door: Door, ref: Ref): Promise<readonly RecordedDecision[]> =>
  decisionsIn(await door.conversations.events(ref, { types: DECISION_TYPES }))

function jsonLine(decision: RecordedDecision): string {
  const { type, timestamp, session_id, turn_id, seq, data } = decision.event
  return JSON.stringify({
    timestamp,
    session_id,
    turn_id,
    seq,
    type,
    what: what(decision),
    origin: data.origin ?? null,
  })
}

function textLine(decision: RecordedDecision): string {
  const { timestamp, session_id, data } = decision.event
  // The names of clients and the titles of tasks are other people's text.
  return visible([timestamp, session_id, what(decision), ...origin(data.origin)].join('  '))
}

/** Who, and from where. */
function origin(from: Origin | undefined): readonly string[] {
  if (!from) return ['not recorded']
  const { actor, credential, edge, address, claimed } = from
  const who = credential === undefined || credential === actor ? actor : `${actor} (${credential})`
  const where = [EDGES[edge], ...(address === undefined ? [] : [`at ${address}`])].join(' ')
  return [who, where, ...(claimed ? [`says it is "${claimed.client}"`] : [])]
}

type Words = { readonly [T in DecisionType]: (event: StoredEvent<T>, created: number) => string }

const what = ({ event, created }: RecordedDecision): string =>
  (WORDS[event.type] as (event: StoredEvent, created: number) => string)(event, created)

const WORDS: Words = {
  policy_set: ({ data }) => `policy set: ${policyWords(data.policy)}`,
  turn_opened: ({ data }) => `turn ${data.turn_id} opened`,
  turn_started: ({ data }) => `turn ${data.turn_id} started`,
  turn_stop_requested: ({ data }) => `turn ${data.turn_id} stopped`,
  message_queued: ({ data }) => `message ${data.message_id} queued`,
  queued_message_edited: ({ data }) => `queued message ${data.message_id} edited`,
  queued_message_withdrawn: ({ data }) => `queued message ${data.message_id} taken back`,
  queue_released: ({ data }) => `queued messages to be sent when turn ${data.turn_id} stops`,
  tool_approval_resolved: ({ data: { approval_id, decision, reason } }) =>
    `call ${approval_id} ${decision === 'deny' ? 'denied' : decision === 'always' ? 'allowed, from now on always' : 'allowed'}${reason === undefined ? '' : `: ${reason}`}`,
  task_created: ({ data: { task, by } }, created) =>
    by === 'model' ? `${tasks(created)} written without review, from ${named(task)}` : `${named(task)} added`,
  task_changed: ({ data: { task, from } }) =>
    `${named(task)} ${
      'removed_at' in from
        ? 'brought back'
        : 'status' in from
          ? `set to ${task.status}`
          : `changed: ${Object.keys(from).join(', ')}`
    }`,
  task_removed: ({ data: { task } }) => `${named(task)} removed`,
  task_create_review_required: ({ data }) => `review ${data.reopens} reopened as ${data.review_id}`,
  task_create_review_resolved: ({ data: { review_id, action, reason } }, created) =>
    action === 'confirm' ? `review ${review_id} confirmed: ${tasks(created)}` : `review ${review_id} ended: ${reason}`,
  review_extended: ({ data }) => `review ${data.review_id} extended until ${data.expires_at}`,
  check_approved: ({ data }) => `check ${data.check_id} of task ${data.task_id} approved: ${data.hash}`,
  check_requested: ({ data }) => `check ${data.check_id} of task ${data.task_id} run`,
  guard_accepted: ({ data }) => `changes accepted for task ${data.task_id}: ${shortPaths(data.paths).join(', ')}`,
  check_ticked: ({ data }) => `check ${data.check_id} of task ${data.task_id} ticked`,
}

const policyWords = ({ toolset, review, assessor, gate }: Policy): string =>
  [toolset, ...Object.entries({ review, assessor, gate }).map(([name, on]) => `${name} ${on ? 'on' : 'off'}`)].join(
    ', ',
  )

const named = ({ number, title }: Task): string => `task ${number} "${cut(title, 60)}"`
const tasks = (count: number): string => (count === 1 ? '1 task' : `${count} tasks`)
