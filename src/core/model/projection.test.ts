import { describe, expect, it } from 'vitest'
import { inRun } from '../../../test/support/domain.ts'
import type { StoredEvent } from './event.ts'
import { combined, projection } from './log.ts'

const turns = projection<readonly string[]>({
  initial: [],
  on: { turn_started: (known, { data }) => [...known, data.turn_id], turn_finished: () => [] },
})
const messages = projection({ initial: 0, on: { turn_started: count => count + 1, message_added: count => count + 1 } })

describe('a projection', () => {
  const { log } = inRun()
  const newer = (type: string): StoredEvent => ({ ...log[0], type, data: {} }) as StoredEvent

  it('[EV1] reads the types of events that it handles, and no others', () => {
    expect(turns.types).toEqual(['turn_started', 'turn_finished'])
    expect(turns.of(log)).toEqual(turns.of(log.filter(({ type }) => turns.types.includes(type))))
    expect(turns.of(log)).toEqual(['turn-1'])
  })

  it.each(['a_newer_type', 'constructor', '__proto__'])('[EV3] a type such as %s changes nothing', type => {
    expect(turns.apply(['t'], newer(type))).toEqual(['t'])
  })

  it('[EV1] is combined with others into one state that reads what either reads', () => {
    const both = combined<{ turns: readonly string[]; messages: number }>({ turns, messages })
    expect(both.types).toEqual(['turn_started', 'turn_finished', 'message_added'])
    expect(both.of(log)).toEqual({ turns: ['turn-1'], messages: 1 })
    const state = both.of(log)
    expect(both.apply(state, newer('a_newer_type'))).toBe(state)
  })
})
