import { describe, expect, it } from 'vitest'
import { type Driver, inRun, plain, underReview } from '../../../test/support/domain.ts'
import { emptyConversation, listed } from './conversation.ts'
import { conversationOf, freeze, SNAPSHOT_VERSION, snapshotIsDue, snapshotOf, thaw } from './snapshot.ts'
import { Table } from './table.ts'
import type { Task } from './task.ts'
import { BY_PLAN } from '../../../test/support/asked-by.ts'

describe('a snapshot', () => {
  const lived = (): Driver => {
    const chat = underReview('A', 'B')
    chat.run(chat.confirms([{ draft_index: 0 }, { draft_index: 1 }]))
    chat.run(chat.sets('person', 2, { title: 'B2' }))
    chat.finish('turn-1')
    chat.start('turn-2', { assessor: true }, 'turn-1')
    chat.run(chat.assesses(1, { verdict: 'not_ok', reason: 'no' }))
    chat.run(
      chat.edits('model', {
        create: [{ id: chat.id(), title: 'C' }],
        review: { ...BY_PLAN, review_id: 'r-2', tool_call_id: 'c' },
      }),
    )
    chat.run({ type: 'show_panel', review_id: 'r-2', panel: 'p' })
    return chat
  }

  it('[EV1] is the state, as text and back', () => {
    const { state } = lived()
    expect(plain(thaw(freeze(state)))).toStrictEqual(plain(state))
    const empty = emptyConversation('chat-1')
    expect(plain(thaw(freeze(empty)))).toStrictEqual(plain(empty))
  })

  it('[EV1] what is decided and folded on top of it is the same', () => {
    const [a, b] = [lived(), lived()]
    b.state = thaw(freeze(b.state))
    for (const chat of [a, b]) {
      chat.run({ type: 'leave_panel', review_id: 'r-2', panel: 'p' })
      chat.run(chat.assesses(1, { verdict: 'not_ok', reason: 'still no' }))
    }
    expect(b.log).toStrictEqual(a.log)
    expect(plain(b.state)).toStrictEqual(plain(a.state))
  })

  it('[EV1] is plain data: JSON keeps all of it, whatever the ids are', () => {
    const { state } = lived()
    const odd = { ...state, rejections: state.rejections.with('__proto__', 1).with('constructor', 2) }
    const snapshot = snapshotOf(odd)
    expect(JSON.parse(JSON.stringify(snapshot))).toEqual(snapshot)
    expect(plain(thaw(freeze(odd)))).toStrictEqual(plain(odd))
    expect(listed(snapshot)).toEqual(listed(odd))
    expect(snapshotOf(state).rejections['constructor']).toBeUndefined()
  })

  it('of another version is refused', () => {
    const snapshot = { ...snapshotOf(lived().state), version: SNAPSHOT_VERSION + 1 }
    expect(() => conversationOf(snapshot)).toThrow(`version ${SNAPSHOT_VERSION + 1}`)
  })

  it('is due after 200 events, or as many as the list has tasks where these are more', () => {
    const at = (seq: number, tasks: number) => {
      const entries = Array.from({ length: tasks }, (_, index) => [`t${index}`, {} as Task] as const)
      return { ...inRun().state, seq, tasks: Table.from(entries) }
    }
    expect(snapshotIsDue(at(299, 0), 100)).toBe(false)
    expect(snapshotIsDue(at(300, 200), 100)).toBe(true)
    expect(snapshotIsDue(at(300, 201), 100)).toBe(false)
    expect(snapshotIsDue(at(301, 201), 100)).toBe(true)
  })
})
