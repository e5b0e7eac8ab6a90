import { describe, expect, it } from 'vitest'
import { cancels, Driver, inRun, outside, starts, underReview } from '../../../test/support/domain.ts'
import type { Command, CommandOf } from './command.ts'
import { checkIn, DRIVE, driveIn, isExclusive, JUDGE, needsOf, workspaceKey } from './needs.ts'

const workspace = { machine: 'm1', path: '/work' }
const IN_WORKSPACE = 'drive@m1:/work'
const stops: Command = { type: 'stop_turn', turn_id: 'turn-1' }
const opens = (path: string): Command => ({
  type: 'open_turn',
  turn_id: 'turn-1',
  workspace: { machine: 'm1', path },
})

/** A turn of ours in the workspace. */
function inWorkspace(more: Partial<CommandOf<'start_turn'>> = {}): Driver {
  const chat = new Driver()
  chat.run({ ...starts('turn-1'), ...more, workspace } as Command)
  return chat
}

const needs = (chat: Driver, turn = 'turn-1'): string | null => needsOf(chat.state, turn)

describe('what a turn needs', () => {
  it('a runner, while it runs; one that has its workspace, if it has one', () => {
    expect(needs(inRun())).toBe('drive')
    expect(needs(inWorkspace())).toBe(IN_WORKSPACE)
    expect(needs(inRun(), 'turn-9')).toBeNull()
  })

  it('any runner, once it is to stop', () => {
    const chat = inWorkspace()
    chat.run(stops)
    expect(needs(chat)).toBe('drive')
  })

  it('nothing while a review waits in it, and after its end', () => {
    const chat = underReview('A')
    expect(needs(chat)).toBeNull()
    chat.run(cancels())
    expect(needs(chat)).toBe('drive')
    chat.finish('turn-1')
    expect(needs(chat)).toBeNull()
  })

  it('nothing if the agent is elsewhere', () => {
    expect(needs(outside())).toBeNull()
    const chat = new Driver()
    chat.run(opens('/work'))
    expect(needs(chat)).toBeNull()
  })

  it('only checks are for one at a time', () => {
    const key = workspaceKey(workspace)
    const all = [DRIVE, JUDGE, driveIn(key), checkIn(key), null] as const
    expect(all.map(isExclusive)).toEqual([false, false, false, true, false])
    expect([driveIn(key), checkIn(key)]).toEqual([IN_WORKSPACE, 'check@m1:/work'])
  })
})

describe('the workspace of a turn', () => {
  it('is fixed when the turn begins: later calls do not change it', () => {
    const chat = new Driver()
    const [, opened] = chat.run(opens('/work'))
    expect(opened?.data).toStrictEqual({ turn_id: 'turn-1', plan_id: 'turn-1', workspace })
    chat.run(opens('/elsewhere'))
    expect(chat.state.turns.get('turn-1')?.workspace).toEqual(workspace)
  })

  it('a turn that goes on with the plan of another has its own', () => {
    const chat = inWorkspace()
    chat.finish('turn-1')
    chat.start('turn-2', {}, 'turn-1')
    expect(chat.state.turns.get('turn-2')?.workspace).toBeUndefined()
  })

  it('a reopened plan goes on in the workspace that it had', () => {
    const chat = inWorkspace({ policy: { review: true, review_timeout_ms: 1_000 } })
    chat.run(chat.adds('model', 'A'))
    chat.wait(1_000).run({ type: 'expire_review', review_id: 'review-1' })
    chat.finish('turn-1')
    chat.run({ type: 'reopen_review', review_id: 'review-1', new_review_id: 'review-2' })
    const continuation = { turn_id: 'turn-2', message_id: 'message-2' }
    chat.run(chat.confirms([{ draft_index: 0 }], { review_id: 'review-2', continuation }))
    expect(chat.state.turns.get('turn-2')).toMatchObject({ plan_id: 'turn-1', workspace })
  })
})
