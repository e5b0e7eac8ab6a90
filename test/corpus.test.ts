import { describe, expect, it } from 'vitest'
import { emptyConversation, fold } from '../src/core/model/conversation.ts'
import type { EventType } from '../src/core/model/event.ts'
import { freeze, thaw } from '../src/core/model/snapshot.ts'
import { CORPUS, corpusLog, corpusState } from './support/corpus.ts'
import { frozen } from './support/domain.ts'

// Logs as they were written once. From the first release on they never change: what cannot read them any more is what has
// to change.

/** A type that is missing here does not compile; one that is missing in the logs fails below. */
const TYPES: Record<EventType, true> = {
  policy_set: true,
  title_set: true,
  pin_set: true,
  archive_set: true,
  turn_opened: true,
  turn_started: true,
  plan_joined: true,
  turn_stop_requested: true,
  turn_failed: true,
  turn_finished: true,
  message_added: true,
  message_queued: true,
  queued_message_edited: true,
  queued_message_withdrawn: true,
  queue_released: true,
  step_finished: true,
  tool_called: true,
  tool_answered: true,
  tool_approval_required: true,
  tool_approval_resolved: true,
  todos_resubmitting: true,
  todos_limit_reached: true,
  gate_followed: true,
  task_created: true,
  task_changed: true,
  task_removed: true,
  task_assessed: true,
  task_create_review_required: true,
  task_create_review_resolved: true,
  claim_made: true,
  claim_settled: true,
  check_approved: true,
  check_requested: true,
  check_started: true,
  check_handed_back: true,
  check_ran: true,
  baseline_taken: true,
  changes_accepted: true,
  check_ticked: true,
  evidence_added: true,
  review_panel_opened: true,
  review_panel_left: true,
  review_extended: true,
}

describe('the frozen corpus', () => {
  it.each(CORPUS)('[EV3] %s folds to the state beside it', name => {
    const events = corpusLog(name)
    const state = fold(emptyConversation(events[0]?.session_id ?? ''), events)
    // A newer version may know more about a conversation, never anything else.
    expect(frozen(state)).toMatchObject(corpusState(name) as object)
    expect(frozen(thaw(freeze(state)))).toStrictEqual(frozen(state))
  })

  it.each(CORPUS)('[EV1] %s is one log: seq without a hole, time that does not go back', name => {
    const events = corpusLog(name)
    expect(events.map(event => event.seq)).toEqual(events.map((_, index) => index + 1))
    const moments = events.map(event => event.timestamp)
    expect(moments).toEqual(moments.toSorted())
    expect(new Set(events.map(event => event.session_id)).size).toBe(1)
  })

  it('[EV3] holds every type of event', () => {
    const seen = new Set(CORPUS.flatMap(corpusLog).map(event => event.type))
    expect([...seen].sort()).toEqual(Object.keys(TYPES).sort())
  })

  it('[ID2] its tasks and reviews have UUIDv7s', () => {
    const ids = CORPUS.flatMap(corpusLog).flatMap(({ data }) => {
      if ('task' in data) return [data.task.id]
      return 'review_id' in data ? [data.review_id] : []
    })
    expect(ids.length).toBeGreaterThan(0)
    for (const id of ids) expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
  })
})
