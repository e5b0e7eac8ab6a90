import { expect, it } from 'vitest'
import { cancels, inRun, outside, underReview } from '../../test/support/domain.ts'
import { chinese } from './chinese.ts'
import { english } from './english.ts'
import { eventText, namesIn } from './event-text.ts'

const nothing = namesIn([])

it('[CH8] tells who added, changed and removed a task, in either language', () => {
  const chat = outside()
  chat.run(chat.adds('model', 'A'))
  chat.run(chat.sets('person', 1, { status: 'completed' }))
  chat.run(chat.sets('person', 1, { title: 'B', priority: 'high' }))
  chat.run(chat.removes('person', 1))
  const texts = chat.log.flatMap(event => eventText(event, english, nothing) ?? [])
  expect(texts).toContain('Added: A (agent)')
  expect(texts).toContain('A: in progress → done (you)')
  expect(texts).toContain('B: title changed, priority changed (you)')
  expect(texts).toContain('Removed: B (you)')
  expect(chat.log.flatMap(event => eventText(event, chinese, nothing) ?? [])).toContain('A：进行中 → 已完成（你）')
})

it('[CH8] tells what was proposed, and what was confirmed as such', () => {
  const chat = underReview('A', 'B')
  chat.run(chat.confirms([{ draft_index: 0 }]))
  const texts = chat.log.flatMap(event => eventText(event, english, nothing) ?? [])
  expect(texts).toEqual(['Proposed: A · B', 'Added: A (agent, confirmed by you)', 'Plan confirmed'])
})

it('[CH8] leaves out events that are not about tasks', () => {
  const chat = outside()
  chat.answer()
  expect(chat.log.flatMap(event => eventText(event, english, nothing) ?? [])).toEqual([])
})

it('[CH8] a verdict names its task', () => {
  const chat = inRun({ assessor: true })
  chat.run(chat.adds('model', 'Collect', 'Write'))
  chat.run(chat.assesses(1, { verdict: 'not_ok', reason: 'no figures' }))
  chat.run(chat.assesses(1))
  const names = namesIn(chat.log)
  const texts = chat.log.flatMap(event => eventText(event, english, names) ?? [])
  expect(texts).toContain('Collect: not accepted (demo:judge): no figures')
  expect(texts).toContain('Collect: accepted as done (demo:judge)')
  const chineseTexts = chat.log.flatMap(event => eventText(event, chinese, names) ?? [])
  expect(chineseTexts).toContain('Collect：评审未通过（demo:judge）：no figures')
})

it('[CH8] tells why a plan was not confirmed', () => {
  const chat = underReview('A')
  chat.run(cancels({ comment: 'Not now' }))
  expect(chat.log.flatMap(event => eventText(event, english, nothing) ?? [])).toEqual([
    'Proposed: A',
    'Plan rejected: Not now',
  ])
})
