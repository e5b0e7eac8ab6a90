import type { Json, Resolution, StoredEvent } from '../model/event.ts'
import { combined, projection } from '../model/log.ts'
import { threadLog, type ThreadLog } from './thread-log.ts'
import { transcript, type Message } from './transcript.ts'
import { work, type Work } from './work.ts'
import { cut } from '../model/text.ts'

/** The turns that hit a limit. */
export interface LimitedTurns {
  /** Turns that a limit ended. */
  readonly turns: readonly string[]
  /** The maximum of model calls in the latest turn. */
  readonly max_steps: number | null
}

export const limitedTurns = projection<LimitedTurns>({
  initial: { turns: [], max_steps: null },
  on: {
    turn_started: ({ turns }, { data: { policy } }) => ({
      turns,
      max_steps: Math.max(policy.max_steps, policy.max_steps_with_plan),
    }),
    todos_limit_reached: (state, { turn_id }) => withTurn(state, turn_id),
    turn_finished: (state, { data: { turn_id, status, steps } }) =>
      status === 'incomplete' && state.max_steps !== null && steps >= state.max_steps
        ? withTurn(state, turn_id)
        : state,
  },
})

function withTurn(state: LimitedTurns, turn: string | null): LimitedTurns {
  if (turn === null || state.turns.includes(turn)) return state
  return { ...state, turns: [...state.turns, turn] }
}

/** Review id to its resolution; a pending one has none. */
const resolutions = projection<{ readonly [review_id: string]: Resolution }>({
  initial: {},
  on: {
    task_create_review_resolved: (known, { data }) => ({ ...known, [data.review_id]: data }),
  },
})

/**
 * The view of a page besides the state.
 *
 * Plain data, folded by server and client alike.
 */
export interface View {
  readonly title: string | null
  readonly messages: readonly Message[]
  /** Review to its resolution. */
  readonly resolutions: { readonly [review_id: string]: Resolution }
  readonly limited: LimitedTurns
  /** Task to the seq at which a person added it. */
  readonly added: { readonly [task_id: string]: number }
  /** Task to the former values of the fields that a person changed since the agent's last answer. */
  readonly before: { readonly [task_id: string]: { readonly [field: string]: Json } }
  /** Turn to the times when its agent was at work. */
  readonly work: Work
  /** Turn to its marks, in order. */
  readonly thread: ThreadLog
}

/** A constant, so that unchanged views stay identical. */
const NOTHING_CHANGED: View['before'] = {}

const added = projection<View['added']>({
  initial: {},
  on: {
    task_created: (known, { data: { task, by }, seq }) => (by === 'person' ? { ...known, [task.id]: seq } : known),
    task_removed: (known, { data: { task } }) => {
      if (!Object.hasOwn(known, task.id)) return known
      const { [task.id]: _gone, ...rest } = known
      return rest
    },
  },
})

const before = projection<View['before']>({
  initial: NOTHING_CHANGED,
  on: {
    task_changed: (known, { data: { task, by, from } }) =>
      by === 'person' || by === 'file' ? { ...known, [task.id]: { ...from, ...known[task.id] } } : known,
    tool_answered: () => NOTHING_CHANGED,
  },
})

/**
 * A conversation's title: the name given by a person or a model, else its first message or first task, whichever came
 * first. Prefixed with the program elsewhere that opened it and its folder: "Claude Code · website · Collect the
 * figures".
 */
export const title = projection<string | null>({
  initial: null,
  on: {
    turn_opened: (known, { data }) => known ?? opening(data.client),
    turn_started: (known, { data }) => named(known, data.message),
    task_created: (known, { data }) => named(known, data.task.title),
    task_create_review_required: (known, { data }) => named(known, data.draft_tasks[0]?.title ?? ''),
    title_set: (_, { data }) => data.title,
  },
})

export const view = combined<View>({
  title,
  messages: transcript,
  resolutions,
  limited: limitedTurns,
  added,
  before,
  work,
  thread: threadLog,
})

/** The decision that reopened the plan which a turn continues. The turn's message is ours, not the person's. */
export function startedBy(
  known: { readonly [review_id: string]: Resolution },
  turnId: string,
): 'approved' | 'changes_requested' | undefined {
  const decision = Object.values(known).find(({ continued_by }) => continued_by === turnId)
  return decision && (decision.action === 'confirm' ? 'approved' : 'changes_requested')
}

/** The title that these events give an untitled conversation opened by `client`; null if they do not name it. */
export function titleGiven(client: string | undefined, events: readonly StoredEvent[]): string | null {
  const given = events.reduce(title.apply, opening(client))
  return given?.endsWith(OPEN) ? null : given
}

/** The name that these events give a conversation in place of any other; null if they do not. */
export const nameGiven = (events: readonly StoredEvent[]): string | null =>
  events.findLast((event): event is StoredEvent<'title_set'> => event.type === 'title_set')?.data.title ?? null

const MAX_CHARACTERS = 80

/** Ends a title that is still incomplete. No other title ends like this: `oneLine` removes such spaces. */
const OPEN = '\u00a0·'

const opening = (client = ''): string | null => (oneLine(client) === '' ? null : `${oneLine(client)}${OPEN}`)

function named(known: string | null, text: string): string {
  if (known === null) return oneLine(text)
  return known.endsWith(OPEN) ? `${known.slice(0, -OPEN.length)} · ${oneLine(text)}` : known
}

const oneLine = (text: string): string =>
  cut(
    text
      .toWellFormed()
      .replace(/[\s\p{Cc}]+/gu, ' ')
      .trim(),
    MAX_CHARACTERS,
  )
