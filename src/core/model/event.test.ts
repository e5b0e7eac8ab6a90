import { describe, expect, it } from 'vitest'
import { dataOf, inRun } from '../../../test/support/domain.ts'

describe('stored events', () => {
  it('[EV2] the stored event survives JSON, field for field', () => {
    const chat = inRun()
    chat.run(chat.adds('model', { title: 'A', tags: ['x'], status: 'completed' }, 'B'))
    chat.run(chat.sets('person', 2, { outcome: 'so far' }))
    expect(JSON.parse(JSON.stringify(chat.log))).toStrictEqual(chat.log)
    expect(dataOf(chat.log, 'task_created')).toHaveLength(2)
  })
})
