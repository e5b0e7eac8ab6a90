import { describe, expect, it } from 'vitest'
import type { Json, NewEvent, StoredEvent } from '../model/event.ts'
import { transcript } from './transcript.ts'

const at = '2026-11-15T09:00:00.000Z'

function log(...events: readonly NewEvent[]): StoredEvent[] {
  return events.map((event, index) => ({ ...event, seq: index + 1, timestamp: at, session_id: 'c' }))
}

const PLAN = { tool_call_id: 'call-1', tool: 'plan', arguments: {} }

const step = (message_id: string, text: string): NewEvent => ({
  type: 'step_finished',
  turn_id: 't',
  data: { step: 1, message_id, text, tool_calls: [PLAN], usage: {}, digest_seq: 1 },
})
const added = (message_id: string, text: string, synthetic?: boolean): NewEvent => ({
  type: 'message_added',
  turn_id: 't',
  data: { message_id, role: 'assistant', text, ...(synthetic === undefined ? {} : { synthetic }) },
})

const answer = (result: Json): NewEvent => ({
  type: 'tool_answered',
  turn_id: 't',
  data: { tool_call_id: 'call-1', tool: 'plan', result, duration_ms: 7, ok: true },
})

describe('a transcript', () => {
  const events = log(step('m1', 'I plan'), added('m2', 'NEXT', true), step('m3', 'half'), added('m3', 'half, and open'))

  it('holds what was said, in order, with what was called along with it', () => {
    expect(transcript.of(events)).toEqual([
      {
        message_id: 'm1',
        turn_id: 't',
        role: 'assistant',
        text: 'I plan',
        tool_calls: [PLAN],
        created_at: at,
      },
      { message_id: 'm2', turn_id: 't', role: 'assistant', text: 'NEXT', synthetic: true, created_at: at },
      {
        message_id: 'm3',
        turn_id: 't',
        role: 'assistant',
        text: 'half, and open',
        tool_calls: [PLAN],
        created_at: at,
      },
    ])
  })

  it('holds the answers of its calls, each with its own turn', () => {
    const other: NewEvent = { ...step('m4', ''), turn_id: 'u' }
    const messages = transcript.of(log(step('m1', ''), other, { ...answer('done'), turn_id: 'u' }))
    expect(messages.map(({ tool_calls = [] }) => tool_calls[0]?.answer)).toEqual([
      undefined,
      { ok: true, duration_ms: 7, result: 'done', seq: 3 },
    ])
  })

  it('keeps an answer when its message gets a last word, and leaves out answers to calls made elsewhere', () => {
    const [message] = transcript.of(log(step('m1', ''), answer({ id: 1 }), added('m1', 'half, and open')))
    expect(message).toMatchObject({ text: 'half, and open', tool_calls: [{ answer: { result: { id: 1 } } }] })
    expect(transcript.of(log(answer('nobody asked')))).toEqual([])
  })

  it('marks the calls that a turn which is over left without an answer', () => {
    const late = { ...PLAN, tool_call_id: 'call-2' }
    const two: NewEvent = {
      type: 'step_finished',
      turn_id: 't',
      data: { step: 1, message_id: 'm1', text: '', tool_calls: [PLAN, late], usage: {}, digest_seq: 1 },
    }
    const end: NewEvent = {
      type: 'turn_finished',
      turn_id: 't',
      data: {
        turn_id: 't',
        status: 'stopped',
        because: 'stopped',
        remaining: 0,
        counts: { completed: 0, blocked: 0, disputed: 0, open: 0, cancelled: 0, removed: 0 },
        standings: { proven: 0, confirmed: 0, judged: 0, reported: 0 },
        steps: 1,
        usage: {},
      },
    }
    const events = log(two, answer('done'), end, { ...step('m2', ''), turn_id: 'u' })
    const marks = (messages: typeof transcript.initial) =>
      messages.map(({ tool_calls = [] }) => tool_calls.map(({ unanswered = false }) => unanswered))
    expect(marks(transcript.of(events.slice(0, 2)))).toEqual([[false, false]])
    expect(marks(transcript.of(events))).toEqual([[false, true], [false]])
  })

  it('cuts long results, and never through a character', () => {
    const cut = (result: Json) => transcript.of(log(step('m1', ''), answer(result)))[0]?.tool_calls?.[0]?.answer
    expect(cut('x'.repeat(2_000))).toMatchObject({ result: 'x'.repeat(2_000) })
    expect(cut('x'.repeat(2_000))).not.toHaveProperty('is_cut')
    expect(cut(`${'x'.repeat(1_999)}😀`)).toMatchObject({ result: `${'x'.repeat(1_999)}\ufffd`, is_cut: true })
    expect(cut({ rows: ['y'.repeat(3_000)] })).toMatchObject({
      result: `{"rows":["${'y'.repeat(1_990)}`,
      is_cut: true,
    })
  })
})
