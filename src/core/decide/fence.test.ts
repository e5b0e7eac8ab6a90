import { describe, expect, it } from 'vitest'
import { type Driver, inRun } from '../../../test/support/domain.ts'

const worked = (): Driver => {
  const chat = inRun()
  chat.run(chat.adds('model', 'A', 'B', 'C'))
  chat.answer()
  return chat
}

describe('the fence', () => {
  it("[FE1] a model's write is refused after a person's edit that it has not seen, and told what changed", () => {
    const chat = worked()
    chat.run(chat.sets('person', 2, { title: 'B2', priority: 'high' }))
    chat.run(chat.sets('person', 2, { priority: 'low', details: 'd' }))
    const refusal = chat.refusal(chat.sets('model', 2, { status: 'completed', outcome: 'x' }))
    expect(refusal.code).toBe('edited_by_person')
    expect(refusal.data).toMatchObject({
      row: 0,
      task: chat.task(2),
      changed: { title: 'B2', priority: 'low', details: 'd' },
    })
    expect(refusal.message).toContain('title is now "B2"')
    expect(chat.refusal(chat.removes('model', 2)).code).toBe('edited_by_person')
  })

  it('[FE1] a field that the person emptied is told as null', () => {
    const chat = worked()
    chat.run(chat.sets('model', 2, { outcome: 'half' }))
    chat.answer()
    chat.run(chat.sets('person', 2, { outcome: '' }))
    expect(chat.refusal(chat.sets('model', 2, { outcome: 'x' })).data).toMatchObject({ changed: { outcome: null } })
  })

  it('[FE1] the ground is the given seq: an edit at it was seen, an edit after it was not', () => {
    const chat = worked()
    const [edit] = chat.run(chat.sets('person', 2, { title: 'B2' }))
    const seq = edit?.seq ?? 0
    const on = (basis: number) => chat.sets('model', 2, { details: 'd' }, { basis })
    expect(chat.refusal(on(seq - 1)).code).toBe('edited_by_person')
    chat.answer()
    expect(chat.refusal(on(seq - 1)).code).toBe('edited_by_person')
    chat.run(on(seq))
    expect(chat.task(2).details).toBe('d')
  })

  it('[FE1] only what was edited after the ground is told', () => {
    const chat = worked()
    chat.run(chat.sets('person', 2, { title: 'B2' }))
    chat.answer()
    chat.run(chat.sets('person', 2, { details: 'd' }))
    expect(chat.refusal(chat.sets('model', 2, { outcome: 'x' })).data).toMatchObject({ changed: { details: 'd' } })
  })

  it('[FE1] without a given seq the ground is the last answer that the agent got', () => {
    const chat = worked()
    chat.run(chat.sets('person', 2, { title: 'B2' }))
    chat.answer()
    chat.run(chat.sets('model', 2, { details: 'd' }))
    expect(chat.task(2)).toMatchObject({ title: 'B2', details: 'd' })
  })

  it('[FE1] other tasks are not fenced, and what the model itself changed is not', () => {
    const chat = worked()
    chat.run(chat.sets('person', 2, { title: 'B2' }))
    chat.run(chat.sets('model', 3, { title: 'C2' }))
    chat.run(chat.sets('model', 3, { title: 'C3' }))
    expect(chat.titles()).toEqual(['A', 'B2', 'C3'])
  })

  it('[FE1] the refusal is an answer: once the agent has it, the same call is taken', () => {
    const chat = worked()
    chat.run(chat.sets('person', 2, { title: 'B2' }))
    const call = chat.sets('model', 2, { status: 'completed', outcome: 'x' })
    expect(chat.refusal(call).code).toBe('edited_by_person')
    chat.answer()
    chat.run(call)
    expect(chat.task(2)).toMatchObject({ title: 'B2', status: 'completed' })
  })

  it('[FE1] an edit by file fences like that of a person', () => {
    const chat = worked()
    chat.run(chat.sets('file', 2, { title: 'B2' }))
    expect(chat.refusal(chat.sets('model', 2, { details: 'd' })).code).toBe('edited_by_person')
  })

  it('[FE1] changes by the rules do not fence', () => {
    const chat = worked()
    chat.run(chat.sets('person', 1, { status: 'completed' }))
    expect(chat.task(2).status).toBe('in_progress')
    chat.run(chat.sets('model', 2, { status: 'completed', outcome: 'x' }))
    expect(chat.refusal(chat.sets('model', 1, { status: 'pending' })).data).toMatchObject({
      changed: {
        status: 'completed',
      },
    })
  })

  it("[FE1] a person's or a file's own write is not fenced", () => {
    const chat = worked()
    chat.run(chat.sets('person', 2, { title: 'B2' }))
    chat.run(chat.sets('file', 2, { title: 'B3' }))
    chat.run(chat.sets('person', 2, { title: 'B4' }))
    expect(chat.task(2).title).toBe('B4')
  })
})

describe("a person's version", () => {
  it('[FE4] that is not the one of the task is a mismatch, with the task', () => {
    const chat = worked()
    chat.run(chat.sets('person', 2, { title: 'B2' }, { if_version: 1 }))
    for (const stale of [chat.sets('person', 2, { title: 'B3' }, { if_version: 1 }), chat.removes('person', 2, 3)]) {
      const refusal = chat.refusal(stale)
      expect(refusal.code).toBe('version_mismatch')
      expect(refusal.data).toMatchObject({ row: 0, task: chat.task(2) })
    }
    chat.run(chat.removes('person', 2, 2))
    expect(chat.titles()).toEqual(['A', 'C'])
  })
})
