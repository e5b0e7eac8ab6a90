import { describe, expect, it } from 'vitest'
import type { NewEvent, StoredEvent } from './event.ts'
import { transcriptOf, withSpoken } from './transcript.ts'

const at = '2026-11-15T09:00:00.000Z'

function log(...events: readonly NewEvent[]): StoredEvent[] {
  return events.map((event, index) => ({ ...event, seq: index + 1, timestamp: at, session_id: 'c' }))
}

const step = (message_id: string, text: string): NewEvent => ({
  type: 'step_finished',
  turn_id: 't',
  data: { step: 1, message_id, text, tool_calls: [{ tool: 'plan' }], usage: {}, digest_seq: 1 },
})
const added = (message_id: string, text: string, synthetic?: boolean): NewEvent => ({
  type: 'message_added',
  turn_id: 't',
  data: { message_id, role: 'assistant', text, ...(synthetic === undefined ? {} : { synthetic }) },
})

describe('a transcript', () => {
  const events = log(step('m1', 'I plan'), added('m2', 'NEXT', true), step('m3', 'half'), added('m3', 'half, and open'))

  it('[HT8] holds what was said, in order, with what was called along with it', () => {
    expect(transcriptOf(events)).toEqual([
      {
        message_id: 'm1',
        turn_id: 't',
        role: 'assistant',
        text: 'I plan',
        tool_calls: [{ tool: 'plan' }],
        created_at: at,
      },
      { message_id: 'm2', turn_id: 't', role: 'assistant', text: 'NEXT', synthetic: true, created_at: at },
      {
        message_id: 'm3',
        turn_id: 't',
        role: 'assistant',
        text: 'half, and open',
        tool_calls: [{ tool: 'plan' }],
        created_at: at,
      },
    ])
  })

  it('[LC2] event by event it comes to the same', () => {
    for (let cut = 0; cut <= events.length; cut += 1) {
      const rest = events.slice(cut)
      expect(rest.reduce(withSpoken, transcriptOf(events.slice(0, cut)))).toEqual(transcriptOf(events))
    }
  })
})
