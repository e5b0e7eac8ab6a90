import * as fc from 'fast-check'
import type { Arbitrary } from 'fast-check'
import type { Command } from '../../src/core/model/command.ts'
import { listed } from '../../src/core/model/conversation.ts'
import type { Driver } from './domain.ts'

/** A generated command: its references are resolved against the state in which it runs. */
export interface Drawn {
  /** How far the clock moves before it. */
  readonly wait: number
  readonly type: Command['type']
  readonly [part: string]: unknown
}

/**
 * Commands of all types, valid and invalid: first a turn, then anything. As at an edge, ids are strings and batches are
 * arrays, but their contents are unchecked.
 */
export const conversations = (): Arbitrary<readonly Drawn[]> =>
  fc
    .tuple(opening(), fc.array(anything(), { minLength: 15, maxLength: 60, size: 'max' }))
    .map(([first, rest]) => [first].concat(rest))

export function resolved(chat: Driver, command: Drawn): Command {
  const { wait: _, ...parts } = command
  return replaced(chat, parts) as Command
}

/** A reference in a command; an index counts what exists at that moment. */
interface Pick {
  readonly pick: 'new id' | 'new turn' | 'latest turn' | 'turn' | 'review' | 'task' | 'seq' | 'change' | 'queued'
  readonly index: number
}

/** Resolves the picks anywhere in a command. */
function replaced(chat: Driver, value: unknown): unknown {
  if (Array.isArray(value)) return value.map(element => replaced(chat, element))
  if (typeof value !== 'object' || value === null) return value
  if (isPick(value)) return PICKED[value.pick](chat, value.index)
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, replaced(chat, part)]))
}

const PICKED: Record<Pick['pick'], (chat: Driver, index: number) => unknown> = {
  'new id': chat => chat.id(),
  'new turn': ({ state }) => `turn-${state.turns.size + 1}`,
  'latest turn': ({ state }) => state.latest_turn ?? 'nowhere',
  turn: ({ state }, index) => cyclic([...state.turns.values()], index)?.id ?? 'nowhere',
  review: ({ state }, index) => {
    const all = [...state.reviews.values()].map(review => review.review_id)
    return cyclic(index < 8 ? state.pending_reviews : all, index) ?? 'nowhere'
  },
  task: ({ state }, index) => {
    const task = cyclic(listed(state), index)
    return index % 2 === 0 ? task?.id : task?.number
  },
  seq: ({ state }, index) => Math.max(0, state.seq - index),
  change: ({ log }, index) => {
    const changes = log.filter(({ data }) => 'task' in data && (data.by === 'person' || index === 0))
    return changes.at(-1 - (index % Math.max(changes.length, 1))) ?? NO_CHANGE
  },
  queued: ({ state }, index) => cyclic(state.queued, index)?.message_id ?? 'nowhere',
}

const NO_CHANGE = {
  type: 'task_removed',
  seq: 1,
  timestamp: '',
  data: { task: { id: 'nowhere', version: 1 }, by: 'person' },
}

const isPick = (value: object): value is Pick => 'pick' in value

const cyclic = <T>(all: readonly T[], index: number): T | undefined => all[index % Math.max(all.length, 1)]

const pick = (kind: Pick['pick'], max = 0): Arbitrary<Pick> => fc.nat({ max }).map(index => ({ pick: kind, index }))
const mostly = (right: Arbitrary<unknown>, wrong: Arbitrary<unknown> = JUNK, odds = 120): Arbitrary<unknown> =>
  fc.oneof({ arbitrary: right, weight: odds }, { arbitrary: wrong, weight: 1 })
const some = (parts: Record<string, Arbitrary<unknown>>): Arbitrary<Record<string, unknown>> =>
  fc.record(parts, { requiredKeys: [] })
const rarely = (part: Arbitrary<unknown>): Arbitrary<unknown> => mostly(fc.constant(undefined), part, 6)
const upTo = (maxLength: number, element: Arbitrary<unknown>, minLength = 0): Arbitrary<unknown> =>
  fc.array(element, { minLength, maxLength, size: 'max' })

const JUNK: Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown[]>(null, Number.NaN, Number.POSITIVE_INFINITY, -0, 1.5, -1, 1e300, true, [], {}, [null]),
  fc.constantFrom('', ' ', '\u0000', '\ud83d', 'x'.repeat(9_000), 'toString', '__proto__', 'nowhere', ['runsheet']),
  fc.jsonValue({ maxDepth: 2 }),
)

const NO_ID = fc.constantFrom('nowhere', '', '__proto__', 'toString', 'x'.repeat(9_000), '\ud83d')

const text = fc.string({ unit: 'binary', maxLength: 6 })
const name = text.map(rest => `T${rest}`)
const statuses = fc.constantFrom('pending', 'in_progress', 'completed', 'blocked', 'cancelled')
const task = mostly(pick('task', 12))
const turn = mostly(pick('latest turn'), fc.oneof(pick('turn', 5), NO_ID), 20)
const review = mostly(pick('review', 9), NO_ID)
const basis = rarely(pick('seq', 12))
const queued = mostly(pick('queued', 3), NO_ID, 12)
const next = fc.record({ turn_id: mostly(pick('new turn'), turn, 20) })
const version = mostly(fc.constantFrom(1, 1, 2), fc.nat(9), 12)

const words = {
  title: mostly(name),
  details: mostly(text),
  criteria: mostly(text),
  priority: mostly(fc.constantFrom('high', 'medium', 'low')),
  tags: mostly(upTo(3, name)),
}
const fields = some({
  ...words,
  status: mostly(statuses),
  outcome: mostly(text),
  position: mostly(fc.oneof(fc.integer({ min: -2, max: 9 }), fc.double({ min: -3, max: 9, noNaN: true }))),
  agent_type: mostly(name),
})
const newTask = fc
  .record({
    said: some({ ...words, outcome: mostly(text), position: mostly(fc.integer({ min: -2, max: 9 })) }),
    status: fc.oneof(fc.constant(undefined), mostly(fc.constantFrom('pending', 'in_progress', 'completed', 'blocked'))),
    order: rarely(mostly(fc.integer({ min: -1, max: 6 }))),
    parent_id: rarely(pick('task', 6)),
    file_id: rarely(mostly(fc.constantFrom('7', '30', 'x'))),
    id: pick('new id'),
  })
  .map(({ said, ...rest }) => Object.assign({ title: 'New' }, said, rest))
const change = fc.record(
  {
    task,
    fields: mostly(
      fc.oneof(fc.record({ status: statuses, outcome: fc.constantFrom('done', 'done', undefined) }), fields),
    ),
    if_version: rarely(fc.integer({ min: 1, max: 3 })),
    if_open: rarely(fc.boolean()),
  },
  { requiredKeys: ['task', 'fields'] },
)
const row = some({
  ...words,
  status: mostly(fc.constantFrom('todo', 'todo', 'doing', 'blocked', 'done')),
  // A log in JSON has no -0.
  draft_index: mostly(fc.nat(2), JUNK, 10).map(index => (Object.is(index, -0) ? 0 : index)),
}).map(said => ('draft_index' in said ? said : Object.assign({ title: 'Added' }, said)))

const said = {
  comment: rarely(mostly(text)),
  row_comments: rarely(upTo(2, mostly(fc.record({ draft_index: fc.nat(2), comment: mostly(text) })))),
}

const toolset = mostly(
  fc.constantFrom('manage_todos', 'checklist', 'task_manager', 'turn_todos', 'task_list', 'runsheet'),
)
const limits = {
  review_timeout_ms: mostly(fc.constantFrom(null, 1, 5_000, 120_000)),
  panel_grace_ms: mostly(fc.constantFrom(null, 0, 1_000, 15_000)),
  max_steps: mostly(fc.integer({ min: 1, max: 10 })),
}
const policy = some({
  toolset,
  review: mostly(fc.boolean()),
  assessor: mostly(fc.boolean()),
  gate: mostly(fc.boolean()),
  ...limits,
})

const wait = fc.oneof(
  { arbitrary: fc.constantFrom(1, 10, 1_000), weight: 14 },
  { arbitrary: fc.constantFrom(15_000, 120_000), weight: 1 },
)

const command = (type: Command['type'], parts: Record<string, Arbitrary<unknown>>): Arbitrary<Drawn> =>
  fc.record({ wait, type: fc.constant(type), ...parts })

const REQUEST = { message_id: fc.constant('m'), message: fc.constant('Do it'), model: fc.constant('demo') }

function opening(): Arbitrary<Drawn> {
  const chosen = fc.record({
    toolset: fc.constantFrom('checklist', 'task_manager', 'turn_todos', 'runsheet', 'runsheet'),
    review: fc.boolean(),
    assessor: fc.boolean(),
  })
  return fc.oneof(
    command('start_turn', { turn_id: pick('new turn'), ...REQUEST, policy: chosen }),
    command('open_turn', { turn_id: pick('new turn'), host: chosen }),
  )
}

function anything(): Arbitrary<Drawn> {
  const parts: readonly (readonly [number, Arbitrary<Drawn>])[] = [
    [1, command('set_policy', { by: fc.constantFrom('person', 'model'), policy, host: policy })],
    [
      3,
      command('open_turn', {
        turn_id: mostly(fc.oneof(pick('new turn'), turn)),
        toolset: rarely(toolset),
        host: policy,
        workspace: rarely(workspace),
      }),
    ],
    [
      4,
      command('start_turn', {
        turn_id: mostly(pick('new turn'), fc.oneof(turn, JUNK), 8),
        ...REQUEST,
        policy: rarely(policy),
        continue_turn_id: continued,
        workspace: rarely(workspace),
      }),
    ],
    [1, command('stop_turn', { turn_id: turn })],
    [4, command('record', { turn_id: turn, fact })],
    [3, command('finish_turn', { turn_id: turn, because, steps: fc.nat(9), usage: fc.constant({}), next })],
    [8, command('send_message', { message_id: mostly(pick('new id'), queued, 20), text: mostly(name), next })],
    [3, command('edit_queued', { message_id: queued, text: mostly(name), if_version: version })],
    [3, command('withdraw_queued', { message_id: queued, if_version: version })],
    [2, command('send_queued', { message_id: queued, next })],
    [3, command('deliver_queued', { turn_id: turn })],
    [12, edit({ create: upTo(3, mostly(newTask), 1) })],
    [14, edit({ change: upTo(3, mostly(change)) })],
    [4, edit({ create: upTo(2, newTask), change: upTo(2, change), remove: upTo(2, mostly(fc.record({ task }))) })],
    [
      6,
      command('assess_task', {
        turn_id: turn,
        task,
        verdict,
        reason: text,
        model: fc.constant('demo'),
        seal: fc.constant('s'),
        claim,
        basis,
      }),
    ],
    [4, decision({ action: fc.constant('confirm'), tasks: upTo(4, mostly(row)), ...said })],
    [1, decision({ action: fc.constant('cancel'), reason: rarely(mostly(name)), ...said })],
    [
      1,
      decision({ action: fc.constant('revise'), tasks: rarely(upTo(4, mostly(row))), ...said, comment: mostly(text) }),
    ],
    [6, command('undo_change', { change: pick('change', 6) })],
    [2, command('extend_review', { review_id: review, ms: rarely(mostly(fc.constantFrom(1_000, 500_000), JUNK, 4)) })],
    [1, command('expire_review', { review_id: review })],
    [2, command('reopen_review', { review_id: review, new_review_id: pick('new id') })],
    [3, command('show_panel', { review_id: review, panel: mostly(fc.constantFrom('p', 'q')) })],
    [3, command('leave_panel', { review_id: review, panel: mostly(fc.constantFrom('p', 'q')) })],
  ]
  return fc.oneof(...parts.map(([weight, arbitrary]) => ({ weight, arbitrary })))
}

const workspace = fc.constantFrom({ machine: 'm1', path: '/a' }, { machine: 'm1', path: '/b' })
const continued = fc.oneof(fc.constant(undefined), mostly(pick('turn', 5), NO_ID))
const because = fc.constantFrom('answered', 'budget', 'error', 'stopped')
const verdict = fc.constantFrom('ok', 'not_ok', 'not_ok', 'unknown')
const claim = fc.record({
  status: fc.constantFrom('completed', 'cancelled'),
  outcome: fc.constantFrom('done', 'done', undefined),
})
const fact = fc.constantFrom(
  { type: 'tool_answered', data: { tool_call_id: 'c', tool: 't', result: null, duration_ms: 1, ok: true } },
  { type: 'message_added', data: { message_id: 'a', role: 'assistant', text: 'x' } },
  stepped('s1', 'Looking', 'plan', 'read'),
  stepped('s2', ''),
  stepped('s3', 'Done.', 'update'),
  { type: 'gate_followed', data: { follow_up: 1, open: [] } },
)

function stepped(message_id: string, words: string, ...tools: readonly string[]) {
  const task_id = { pick: 'task', index: 0 }
  const tool_calls = tools.map(tool => ({ tool_call_id: `${message_id}-${tool}`, tool, arguments: {} }))
  return {
    type: 'step_finished',
    data: { step: 1, message_id, text: words, tool_calls, usage: {}, digest_seq: 1, task_id },
  }
}

function edit(parts: Record<string, Arbitrary<unknown>>): Arbitrary<Drawn> {
  const asked = fc.record({
    review_id: pick('new id'),
    tool_call_id: fc.constant('c'),
    toolset: fc.constant('runsheet'),
    tool: fc.constant('plan'),
  })
  const by = fc.constantFrom('model', 'model', 'model', 'person', 'file')
  return command('edit_tasks', { by, turn_id: turn, ...parts, basis, review: asked })
}

function decision(parts: Record<string, Arbitrary<unknown>>): Arbitrary<Drawn> {
  const ids = fc.array(pick('new id'), { minLength: 4, maxLength: 4 })
  return command('decide_review', {
    review_id: review,
    decision: fc.record(parts),
    via: fc.constantFrom('http', 'mcp_form'),
    ids,
    continuation: fc.record({ turn_id: pick('new turn'), message_id: fc.constant('m') }),
  })
}
