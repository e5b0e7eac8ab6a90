import { describe, expect, it } from 'vitest'
import { dataOf, type Driver, finishes, inRun, outside, typesOf } from '../../../test/support/domain.ts'
import type { Command } from '../model/command.ts'
import { decisionsIn } from '../model/decision.ts'
import { needsOf } from '../model/needs.ts'
import { markOf } from '../views/session-list.ts'
import { decidedApproval, type ToolApprovalRequest } from '../model/tool-approval.ts'
import { view } from '../views/view.ts'

const asked = (id: string, more: Partial<ToolApprovalRequest> = {}): ToolApprovalRequest => ({
  approval_id: id,
  tool_call_id: `call-${id}`,
  tool: 'files__write',
  arguments: { path: 'a.txt' },
  server: 'files',
  server_tool: 'write',
  fingerprint: 'a.b',
  ...more,
})
const asks = (id: string, turn_id = 'turn-1'): Command => ({ type: 'ask_approval', turn_id, approval: asked(id) })
const decides = (approval_id: string, decision: 'allow' | 'always' | 'deny', comment?: string): Command => ({
  type: 'decide_approval',
  approval_id,
  decision,
  comment,
  via: 'http',
})
const stops: Command = { type: 'stop_turn', turn_id: 'turn-1' }

const waiting = (): Driver => {
  const chat = inRun()
  chat.run(asks('a'))
  return chat
}

describe('a call that waits for a person', () => {
  it('[TO1] is in the state, parks its turn and marks the conversation as waiting', () => {
    const chat = waiting()
    expect(chat.state.approvals).toMatchObject([{ ...asked('a'), turn_id: 'turn-1' }])
    expect(needsOf(chat.state, 'turn-1')).toBeNull()
    expect(markOf(chat.state)).toBe('waiting')
    chat.run(decides('a', 'allow'))
    expect(chat.state.approvals).toEqual([])
    expect(needsOf(chat.state, 'turn-1')).toBe('drive')
    expect(markOf(chat.state)).toBe('running')
  })

  it('[TO1] is asked about once, and brings an archived conversation back', () => {
    const chat = inRun()
    chat.run({ type: 'set_archived', archived: true })
    chat.run(asks('a'))
    expect(chat.state.archived).toBe(false)
    chat.run({ type: 'ask_approval', turn_id: 'turn-1', approval: { ...asked('b'), tool_call_id: 'call-a' } })
    expect(dataOf(chat.log, 'tool_approval_required')).toHaveLength(1)
  })

  it('[TO2] the first decision counts; what became of one is in the log', () => {
    const chat = waiting()
    chat.run(decides('a', 'deny', '  Not there. '))
    expect(dataOf(chat.log, 'tool_approval_resolved')).toMatchObject([{ decision: 'deny', comment: 'Not there.' }])
    expect(chat.refusal(decides('a', 'allow')).code).toBe('approval_not_found')
    expect(decidedApproval(chat.log, 'a')).toEqual({ request: asked('a'), decision: 'deny', via: 'http' })
    expect(decidedApproval(chat.log, 'b')).toBeUndefined()
  })

  it('a stop does not allow it, nor does the end of the turn; after either nothing is asked', () => {
    const stopped = waiting()
    expect(typesOf(stopped.run(stops))).toEqual(['turn_stop_requested', 'tool_approval_resolved'])
    expect(dataOf(stopped.log, 'tool_approval_resolved')).toMatchObject([
      { decision: 'deny', via: 'system', reason: 'stopped' },
    ])
    expect(stopped.refusal(asks('b')).code).toBe('turn_finished')
    expect(needsOf(stopped.state, 'turn-1')).toBe('drive')

    const ended = waiting()
    ended.run(finishes('turn-1', 'error'))
    expect(dataOf(ended.log, 'tool_approval_resolved')).toMatchObject([{ decision: 'deny', reason: 'turn_ended' }])
    expect(ended.state.approvals).toEqual([])
    expect(ended.refusal(asks('b')).code).toBe('turn_finished')
  })

  it('[TO2][AD1] each decision is in the audit record', () => {
    const chat = waiting()
    chat.run(decides('a', 'always'))
    const decision = decisionsIn(chat.log).find(({ event }) => event.type === 'tool_approval_resolved')
    expect(decision?.event.data).toMatchObject({ approval_id: 'a', decision: 'always' })
  })

  it('[TO1] an agent elsewhere can ask, too, in a turn of its own', () => {
    const chat = outside()
    chat.run(asks('a', chat.state.latest_turn ?? ''))
    expect(chat.state.approvals).toHaveLength(1)
    expect(chat.refusal(asks('b', 'nowhere')).code).toBe('turn_not_found')
  })

  it('[TO1] the call in the transcript says that it waits, and what was decided; the clock of the work stands still', () => {
    const chat = inRun()
    const tool_calls = [{ tool_call_id: 'call-a', tool: 'files__write', arguments: {} }]
    const data = { step: 1, message_id: 'm1', text: '', tool_calls, usage: {}, digest_seq: 0 }
    chat.run({ type: 'record', turn_id: 'turn-1', fact: { type: 'step_finished', data } })
    const call = () => chat.log.reduce(view.apply, view.initial).messages.at(-1)?.tool_calls?.[0]
    chat.run(asks('a'))
    expect(call()?.approval).toBe('waiting')
    expect(chat.log.reduce(view.apply, view.initial).work['turn-1']?.since).toBeNull()
    chat.run(decides('a', 'deny'))
    expect(call()?.approval).toBe('deny')
    expect(chat.log.reduce(view.apply, view.initial).work['turn-1']?.since).not.toBeNull()
  })
})
