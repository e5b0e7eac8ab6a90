import type { ServerContext } from '@modelcontextprotocol/server'
import { describe, expect, it } from 'vitest'
import { Driver, outside, underReview } from '../../test/support/domain.ts'
import { type Binding, bindingOf, turnFor } from './binding.ts'

const bound = (meta: Record<string, unknown>, headers: Record<string, string> = {}): Binding => {
  const req = new Request('http://localhost/mcp', { headers })
  return bindingOf({ mcpReq: { _meta: meta }, http: { req } } as ServerContext, () => 'its-own')
}

describe('where a request belongs', () => {
  it('[MC3] comes from _meta, then headers, then the connection', () => {
    const headers = { 'runsheet-session': 'by-header', 'runsheet-turn': 'turn-by-header' }
    const meta = { 'runsheet/session_id': 'by-meta', 'runsheet/turn_id': 'turn-by-meta' }
    const places = [bound(meta, headers), bound({}, headers), bound({})]
    expect(places.map(({ conversation, turn }) => [conversation, turn])).toEqual([
      ['by-meta', 'turn-by-meta'],
      ['by-header', 'turn-by-header'],
      ['its-own', undefined],
    ])
  })

  it('[MC7] carries the ids of its call and messages', () => {
    const meta = {
      'runsheet/tool_call_id': 'call-7',
      'runsheet/source_user_message_id': 'u1',
      'runsheet/source_assistant_message_id': 'a1',
    }
    expect(bound(meta)).toMatchObject({
      toolCallId: 'call-7',
      sources: { source_user_message_id: 'u1', source_assistant_message_id: 'a1' },
    })
  })

  it.each(['', 5, null, 'x'.repeat(1_000)])('[MC3] refuses an invalid name in _meta: %j', name => {
    expect(() => bound({ 'runsheet/session_id': name })).toThrow(/_meta runsheet\/session_id/)
  })
})

describe('the turn of a call whose host has none', () => {
  const creates = true

  it('[MC6] is a new one in a new conversation', () => {
    expect(turnFor(new Driver().state, creates)).toBe('plan_1')
  })

  it('[MC6] is the open one while its plan has open tasks, or has none yet', () => {
    const chat = outside()
    expect(turnFor(chat.state, creates)).toBe('turn-1')
    chat.run(chat.adds('model', 'A'))
    expect(turnFor(chat.state, creates)).toBe('turn-1')
  })

  it('[MC6] is a new one for a plan that is created once the last one is settled', () => {
    const chat = outside()
    chat.run(chat.adds('model', 'A'))
    chat.run(chat.sets('model', 1, { status: 'completed', outcome: 'Seen' }))
    expect(turnFor(chat.state, creates)).toBe('plan_2')
    expect(turnFor(chat.state, !creates)).toBe('turn-1')
  })

  it('[MC6] is the same while its review waits', () => {
    const chat = outside('runsheet', { review: true })
    chat.run(chat.adds('model', 'A'))
    expect(turnFor(chat.state, creates)).toBe('turn-1')
  })

  it('[MC6] is a new one for a plan that is created after a stop, and not for other calls', () => {
    const chat = outside()
    chat.run(chat.adds('model', 'A'))
    chat.run({ type: 'stop_turn', turn_id: 'turn-1' })
    expect(turnFor(chat.state, creates)).toBe('plan_2')
    expect(turnFor(chat.state, !creates)).toBe('turn-1')
  })

  it('[MC6] never takes the turn of a run of ours', () => {
    expect(turnFor(underReview('A').state, !creates)).toBe('plan_2')
  })

  it('[MC6] has a unique name', () => {
    const chat = new Driver()
    chat.run({ type: 'open_turn', turn_id: 'plan_2', toolset: 'runsheet', host: { review: false } })
    chat.run(chat.adds('model', 'A'))
    chat.run(chat.sets('model', 1, { status: 'completed', outcome: 'Seen' }))
    expect(turnFor(chat.state, creates)).toBe('plan_3')
  })
})
