import type { CommandOf, NextTurn, Rules, SeenWorkspace, TurnStart } from '../model/command.ts'
import { type Conversation, fold, stamped } from '../model/conversation.ts'
import type { NewEvent, Usage } from '../model/event.ts'
import type { Instant } from '../model/instant.ts'
import type { QueuedMessage } from '../model/queue.ts'
import { idIsTaken, invalidField, invalidId, Refusal } from '../model/refusal.ts'
import { isId, LIMITS, messageText, Problem } from '../model/text.ts'
import { ENDINGS, type EndReason, isRunning, type Turn } from '../model/turn.ts'
import { continueTurn, finishTurn, startTurn, stopTurn, unfinishedTurn } from './turns.ts'

export type QueueCommand =
  | {
      readonly type: 'finish_turn'
      readonly turn_id: string
      readonly because: EndReason
      readonly failure?: { readonly code: string; readonly message: string }
      readonly steps: number
      readonly usage: Usage
      /** The workspace of its plan. Absent: no process has read it. */
      readonly seen?: SeenWorkspace | undefined
      /** The turn that queued messages start. Absent: none. */
      readonly next?: NextTurn | undefined
    }
  | {
      /** A person's message; it joins the running turn or starts one. */
      readonly type: 'send_message'
      readonly message_id: string
      readonly text: string
      readonly next: NextTurn
      /** The start of a new turn if none runs and nothing waits. Absent: as the latest turn of ours. */
      readonly start?: TurnStart | undefined
    }
  | {
      readonly type: 'edit_queued'
      readonly message_id: string
      readonly text: string
      readonly if_version: number
    }
  | { readonly type: 'withdraw_queued'; readonly message_id: string; readonly if_version: number }
  | {
      readonly type: 'send_queued'
      readonly message_id: string
      readonly next: NextTurn
    }
  | {
      readonly type: 'deliver_queued'
      readonly turn_id: string
    }

export const QUEUE_RULES: Rules<QueueCommand> = {
  finish_turn: finishAndFollow,
  send_message: sendMessage,
  edit_queued: editQueued,
  withdraw_queued: withdrawQueued,
  send_queued: sendQueued,
  deliver_queued: deliverQueued,
}

function sendMessage(
  state: Conversation,
  { message_id, text: raw, next, start }: CommandOf<'send_message'>,
  now: Instant,
): NewEvent[] | Refusal {
  const starts = start !== undefined && state.running_turn === null && state.queued.length === 0
  // The state keeps queued messages, so their length is limited.
  const text = messageText(raw, starts ? Infinity : LIMITS.message)
  if (text instanceof Problem) return invalidField('text', text.fact)
  if (!isId(message_id)) return invalidId('message_id')
  if (starts) return startTurn(state, { type: 'start_turn', ...next, message_id, message: text, ...start }, now)
  if (queuedIn(state, message_id)) return idIsTaken('message_id')
  const turn = turnToSteer(state)
  if (!turn) return new Refusal('no_own_turn', {})
  if (state.queued.length >= LIMITS.queued) return new Refusal('too_many_queued', { limit: LIMITS.queued })
  const queued: NewEvent = { type: 'message_queued', turn_id: turn.id, data: { message_id, text } }
  if (!isRunning(turn)) return startedAfter(state, [queued], turn, next, now)
  // A person who writes after a stop expects an answer.
  return turn.stop_requested ? [queued, ...release(turn)] : [queued]
}

function editQueued(state: Conversation, command: CommandOf<'edit_queued'>): NewEvent[] | Refusal {
  const text = messageText(command.text)
  if (text instanceof Problem) return invalidField('text', text.fact)
  const message = atVersion(state, command)
  if (message instanceof Refusal) return message
  if (message.text === text) return []
  const { message_id, version } = message
  const data = { message_id, text, version: version + 1 }
  return [{ type: 'queued_message_edited', turn_id: latestOf(state), data }]
}

function withdrawQueued(state: Conversation, command: CommandOf<'withdraw_queued'>): NewEvent[] | Refusal {
  const message = atVersion(state, command)
  if (message instanceof Refusal) return message
  const { message_id } = message
  return [{ type: 'queued_message_withdrawn', turn_id: latestOf(state), data: { message_id } }]
}

/**
 * Stops the running turn, whose end then starts one with all queued messages. Without a running turn, one starts at
 * once.
 */
function sendQueued(
  state: Conversation,
  { message_id, next }: CommandOf<'send_queued'>,
  now: Instant,
): NewEvent[] | Refusal {
  const turn = turnToSteer(state)
  if (!queuedIn(state, message_id) || !turn) return new Refusal('message_not_found', { message_id })
  if (!isRunning(turn)) return startedAfter(state, [], turn, next, now)
  const stopped = stopTurn(state, { type: 'stop_turn', turn_id: turn.id }, now)
  return stopped instanceof Refusal ? stopped : [...stopped, ...release(turn)]
}

/** Delivers queued messages to the turn, in order. After a stop they stay queued. */
function deliverQueued(state: Conversation, { turn_id }: CommandOf<'deliver_queued'>): readonly NewEvent[] | Refusal {
  const turn = unfinishedTurn(state, turn_id)
  if (turn instanceof Refusal) return turn
  if (!isRunning(turn) || turn.stop_requested) return []
  return state.queued.map(({ message_id, text }) => ({
    type: 'message_added',
    turn_id,
    data: { message_id, role: 'user', text },
  }))
}

/** Ends a turn. Queued messages start the next one in the same commit. */
function finishAndFollow(state: Conversation, command: CommandOf<'finish_turn'>, now: Instant): NewEvent[] | Refusal {
  const finished = finishTurn(state, command, now)
  const turn = state.turns.get(command.turn_id)
  if (finished instanceof Refusal || !turn || !isOurs(turn) || !command.next || !goesOn(turn, command)) return finished
  const followed = startedAfter(state, finished, turn, command.next, now)
  // The turn must end even if the next cannot start; then the messages stay queued.
  return followed instanceof Refusal ? finished : followed
}

type OwnTurn = Turn & { readonly model: string }

const isOurs = (turn: Turn): turn is OwnTurn => turn.model !== undefined

function turnToSteer({ turns, running_turn, latest_turn }: Conversation): OwnTurn | undefined {
  const turn = turns.get(running_turn ?? latest_turn ?? '')
  if (turn && isOurs(turn)) return turn
  const own = [...turns.values()].filter(isOurs)
  return own.toSorted((a, b) => (a.started_at < b.started_at ? 1 : -1))[0]
}

/** After a stop or a failure the messages stay queued until a person asks to send them. */
function goesOn({ releases_queue, stop_requested }: Turn, { because }: CommandOf<'finish_turn'>): boolean {
  const isDone = ENDINGS[because] === 'answered' || ENDINGS[because] === 'exhausted'
  return releases_queue === true || (isDone && !stop_requested)
}

function startedAfter(
  state: Conversation,
  events: readonly NewEvent[],
  turn: OwnTurn,
  next: NextTurn,
  now: Instant,
): NewEvent[] | Refusal {
  const after = fold(state, stamped(state, events, now))
  const [first] = after.queued
  if (!first) return [...events]
  const message = { turn_id: next.turn_id, message_id: first.message_id, message: first.text }
  const started = continueTurn(after, turn, message, now)
  return started instanceof Refusal ? started : [...events, ...started]
}

const release = ({ id: turn_id, releases_queue }: Turn): NewEvent[] =>
  releases_queue ? [] : [{ type: 'queue_released', turn_id, data: { turn_id } }]

const queuedIn = ({ queued }: Conversation, id: string): QueuedMessage | undefined =>
  queued.find(({ message_id }) => message_id === id)

function atVersion(
  state: Conversation,
  { message_id, if_version: expected }: CommandOf<'edit_queued' | 'withdraw_queued'>,
): QueuedMessage | Refusal {
  const queued = queuedIn(state, message_id)
  if (!queued) return new Refusal('message_not_found', { message_id })
  return queued.version === expected ? queued : new Refusal('message_changed', { queued, expected })
}

const latestOf = ({ running_turn, latest_turn }: Conversation): string | null => running_turn ?? latest_turn
