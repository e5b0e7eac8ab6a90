import type { StoredEvent } from '../model/event.ts'
import { plusMs, type Instant } from '../model/instant.ts'
import { projection } from '../model/log.ts'

/**
 * The times when the agent of a turn was at work. Excludes waiting for a person, time after the end of the turn, and
 * long silence, as when the server was down.
 */
export interface TurnWork {
  /** Past stretches of work. */
  readonly spans: readonly { readonly from: Instant; readonly to: Instant }[]
  /** When the current stretch began; null while the turn waits or is over. */
  readonly since: Instant | null
  /** The latest step, answered tool call or verdict. */
  readonly seen: Instant
  /**
   * The agent is not ours.
   *
   * Only its tool calls show that it works.
   */
  readonly is_elsewhere?: true
  /**
   * A person reopened its plan, and its agent has not called since.
   *
   * No call of it waits for the decision, which it learns with its next call.
   */
  readonly reopened?: 'pending' | 'decided'
  readonly is_over?: true
}

/** Turn id to the work in it. */
export type Work = { readonly [turn_id: string]: TurnWork }

/** Idle timeout of an agent elsewhere after its latest tool call. */
export const OUTSIDE_IDLE_MS = 10 * 60_000

/** Idle timeout of our own agent: a model may be silent for up to three minutes. */
export const OWN_IDLE_MS = 5 * 60_000

export const work = projection<Work>({
  initial: {},
  on: {
    turn_started: (known, { data, timestamp: at }) => ({ ...known, [data.turn_id]: begun({ spans: [] }, at) }),
    turn_opened: (known, { data, timestamp: at }) => ({
      ...known,
      [data.turn_id]: begun({ spans: [], is_elsewhere: true }, at),
    }),
    step_finished: changing(seen),
    tool_answered: changing(seen),
    task_assessed: changing(seen),
    task_create_review_required: changing((turn, at, { data: { reopens } }) => asked(turn, at, reopens !== undefined)),
    task_create_review_resolved: changing(decided),
    tool_approval_required: changing(paused),
    tool_approval_resolved: changing((turn, at) => begun(paused(turn, at), at)),
    turn_stop_requested: changing(over),
    turn_finished: changing(over),
  },
})

export function workedMs(known: Work, turns: readonly string[], from: Instant, to: Instant): number {
  const spans = turns.flatMap(id => (known[id] ? paused(known[id], to).spans : []))
  const ms = (span: { from: Instant; to: Instant }): number =>
    Date.parse(span.to) - Date.parse(span.from > from ? span.from : from)
  return spans.reduce((sum, span) => sum + Math.max(0, ms(span)), 0)
}

export const isAtWork = (turn: TurnWork | undefined, now: Instant): boolean =>
  turn !== undefined && turn.since !== null && endOf(turn, now) === now

function changing<E extends StoredEvent>(change: (turn: TurnWork, at: Instant, event: E) => TurnWork) {
  return (known: Work, event: E): Work => {
    const { turn_id, timestamp } = event
    const turn = known[turn_id ?? '']
    return turn_id === null || !turn || turn.is_over ? known : { ...known, [turn_id]: change(turn, timestamp, event) }
  }
}

function begun(turn: Omit<TurnWork, 'since' | 'seen'>, at: Instant): TurnWork {
  const { reopened: _, ...rest } = turn
  return { ...rest, since: at, seen: at }
}

function asked(turn: TurnWork, at: Instant, isReopened: boolean): TurnWork {
  const { reopened: _, ...waiting } = paused(turn, at)
  return isReopened && turn.is_elsewhere ? { ...waiting, reopened: 'pending' } : waiting
}

function decided(turn: TurnWork, at: Instant): TurnWork {
  return turn.reopened ? { ...turn, reopened: 'decided' } : begun(paused(turn, at), at)
}

function paused(turn: TurnWork, at: Instant): TurnWork {
  if (turn.since === null) return turn
  return { ...turn, spans: [...turn.spans, { from: turn.since, to: endOf(turn, at) }], since: null }
}

/** A sign of activity. After a long silence a new stretch begins. */
function seen(turn: TurnWork, at: Instant): TurnWork {
  if (turn.since === null) return turn.reopened === 'decided' ? begun(turn, at) : turn
  return endOf(turn, at) < at ? begun(paused(turn, at), at) : { ...turn, seen: at }
}

function over(turn: TurnWork, at: Instant): TurnWork {
  return { ...paused(turn, at), is_over: true }
}

function endOf({ seen: last, is_elsewhere }: TurnWork, at: Instant): Instant {
  const until = plusMs(last, is_elsewhere ? OUTSIDE_IDLE_MS : OWN_IDLE_MS)
  return until < at ? until : at
}
