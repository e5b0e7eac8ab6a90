import { describe, expect, it } from 'vitest'
import { dataOf, inRun, typesOf, underReview } from '../../../test/support/domain.ts'
import { title } from '../views/view.ts'

const names = (by: 'person' | 'model', title: string) => ({ type: 'set_title', by, title }) as const

describe('a title', () => {
  it("a person's name is one line and replaces any other", () => {
    const chat = inRun()
    expect(title.of(chat.log)).toBe('Do it')
    chat.run(names('model', 'By the model'))
    chat.run(names('person', ' Third\u00a0quarter\nreport '))
    expect(title.of(chat.log)).toBe('Third quarter report')
    chat.run(names('person', 'Q3'))
    chat.run(chat.adds('model', 'A task'))
    expect([title.of(chat.log), chat.state.titled_by]).toEqual(['Q3', 'person'])
  })

  it('a model names what has no name, once', () => {
    const chat = inRun()
    expect(typesOf(chat.run(names('model', 'One')))).toEqual(['title_set'])
    expect(chat.run(names('model', 'Two'))).toEqual([])
    expect(title.of(chat.log)).toBe('One')
    const other = inRun()
    other.run(names('person', 'Mine'))
    expect(other.run(names('model', 'One'))).toEqual([])
    expect(title.of(other.log)).toBe('Mine')
  })

  it.each([
    ['empty', ' \n '],
    ['too_long', 'x'.repeat(121)],
    ['malformed_unicode', '\ud800'],
  ])('one that is %s is refused', (rule, text) => {
    expect(inRun().refusal(names('person', text))).toMatchObject({
      code: 'invalid_field',
      data: { field: 'title', rule },
    })
  })
})

describe('pins and the archive', () => {
  it('are set once, and taken back', () => {
    const chat = inRun()
    expect(dataOf(chat.run({ type: 'set_pinned', pinned: true }), 'pin_set')).toEqual([{ pinned: true }])
    expect(chat.run({ type: 'set_pinned', pinned: true })).toEqual([])
    expect(chat.run({ type: 'set_archived', archived: false })).toEqual([])
    chat.run({ type: 'set_archived', archived: true })
    expect(chat.state).toMatchObject({ pinned: true, archived: true })
    chat.run({ type: 'set_archived', archived: false })
    expect(chat.state).toMatchObject({ pinned: true, archived: false })
  })

  it('a turn that is started, or a plan that waits, brings a conversation back', () => {
    const chat = inRun()
    chat.finish('turn-1')
    chat.run({ type: 'set_archived', archived: true })
    chat.start('turn-2')
    expect(chat.state.archived).toBe(false)
    const waiting = underReview('Look')
    waiting.run({ type: 'set_archived', archived: true })
    expect(waiting.state.archived).toBe(true)
    const asked = inRun({ review: true })
    asked.run({ type: 'set_archived', archived: true })
    asked.run(asked.adds('model', 'Look'))
    expect(asked.state.archived).toBe(false)
  })
})

it('naming, pinning, archiving and looking are no activity', () => {
  const chat = inRun({ review: true, review_timeout_ms: null })
  chat.run(chat.adds('model', 'Look'))
  const { active_at } = chat.state
  chat.wait(3_600_000)
  chat.run(names('person', 'Mine'))
  chat.run({ type: 'set_pinned', pinned: true })
  chat.run({ type: 'show_panel', review_id: 'review-1', panel: 'p1' })
  expect(chat.state.active_at).toBe(active_at)
  chat.wait(1_500)
  chat.answer()
  expect(chat.state.active_at).toBe('2026-11-02T10:00:00.000Z')
  chat.wait(1_500)
  chat.finish('turn-1', 'stopped')
  expect(chat.state.active_at).toBe('2026-11-02T10:00:03.000Z')
})
