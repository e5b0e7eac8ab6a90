import { expect, it } from 'vitest'
import { cancels, inRun, outside, START, underReview } from '../../../../test/support/domain.ts'
import type { Check } from '../../../core/proof/check.ts'
import type { EventData, EventType, StoredEvent } from '../../../core/model/event.ts'
import { chinese } from '../texts/chinese.ts'
import { english } from '../texts/english.ts'
import { eventText, namesIn } from './timeline.tsx'

const nothing = namesIn([])

it('tells who added, changed and removed a task, in either language', () => {
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

it('tells what was proposed, and what was confirmed as such', () => {
  const chat = underReview('A', 'B')
  chat.run(chat.confirms([{ draft_index: 0 }]))
  const texts = chat.log.flatMap(event => eventText(event, english, nothing) ?? [])
  expect(texts).toEqual(['Proposed: A · B', 'Added: A (agent, confirmed by you)', 'Plan confirmed'])
})

it('leaves out events that are not about tasks', () => {
  const chat = outside()
  chat.answer()
  expect(chat.log.flatMap(event => eventText(event, english, nothing) ?? [])).toEqual([])
})

it('a verdict names its task', () => {
  const chat = inRun({ assessor: true })
  chat.run(chat.adds('model', 'Collect', 'Write'))
  chat.judges(1, { verdict: 'not_ok', reason: 'no figures' })
  chat.judges(1)
  const names = namesIn(chat.log)
  const texts = chat.log.flatMap(event => eventText(event, english, names) ?? [])
  expect(texts).toContain('Collect: not accepted (demo:judge): no figures')
  expect(texts).toContain('Collect: accepted as done (demo:judge)')
  const chineseTexts = chat.log.flatMap(event => eventText(event, chinese, names) ?? [])
  expect(chineseTexts).toContain('Collect：评审未通过（demo:judge）：no figures')
})

it('tells why a plan was not confirmed', () => {
  const chat = underReview('A')
  chat.run(cancels({ comment: 'Not now' }))
  expect(chat.log.flatMap(event => eventText(event, english, nothing) ?? [])).toEqual([
    'Proposed: A',
    'Plan rejected: Not now',
  ])
})

it('tells what was approved, ran, was accepted and ticked, in either language', () => {
  const task_id = 'task-1'
  const ran = { task_id, check_id: 'c1', hash: 'h1', run_id: 'r1' }
  const said = <T extends EventType>(type: T, data: EventData[T]): [string | undefined, string | undefined] => {
    const event = { seq: 9, session_id: 'chat-1', turn_id: 'turn-1', timestamp: START, type, data } as StoredEvent
    return [eventText(event, english, names), eventText(event, chinese, names)]
  }
  const checks: Readonly<Record<string, Check>> = {
    c1: { kind: 'command', run: ['npm', 'test'], id: 'c1', hash: 'h1' },
    c2: { kind: 'person', ask: 'Does it load?', id: 'c2', hash: 'h2' },
  }
  const names = { title: (id: string) => (id === task_id ? 'A' : undefined), check: (id: string) => checks[id] }
  expect([
    said('check_approved', { task_id, check_id: 'c1', hash: 'h1', via: 'review' }),
    said('check_approved', { task_id, check_id: 'c1', hash: 'h1', via: 'configuration' }),
    said('check_ran', { ...ran, why: 'baseline', result: 'failed', exit: 1, duration_ms: 1_240 }),
    said('check_ran', {
      check_id: 'gone',
      hash: 'h',
      run_id: 'r',
      why: 'final',
      result: 'passed',
      duration_ms: 61_000,
    }),
    said('check_ran', { ...ran, why: 'person', result: 'inconclusive', duration_ms: 500 }),
    said('changes_accepted', {
      task_id,
      plan_id: 't1',
      files: [{ path: 'package.json', hash: 'g' }, { path: 'a.test.js' }],
    }),
    said('check_ticked', { task_id, check_id: 'c2' }),
  ]).toEqual([
    ['A: npm test approved (you)', 'A：已批准 npm test（你）'],
    ['A: npm test approved (configuration)', 'A：已批准 npm test（配置）'],
    ['A: npm test failed · exit 1 · 1.2 s (before the work)', 'A：npm test 失败 · 退出码 1 · 1.2 秒（开工前）'],
    ['Whole plan: a check passed · 1:01 (before the plan ended)', '整个计划：某项检查 通过 · 1:01（计划结束前）'],
    ['A: npm test inconclusive · 0.5 s (you asked)', 'A：npm test 没有结果 · 0.5 秒（应你要求）'],
    ['A: changes accepted to package.json, a.test.js (you)', 'A：已接受对 package.json、a.test.js 的改动（你）'],
    ['A: ticked “Does it load?” (you)', 'A：已勾选“Does it load?”（你）'],
  ])
})

it('a check is known by the task that had it', () => {
  const chat = outside()
  chat.run(chat.adds('person', { title: 'A', checks: [{ kind: 'person', ask: 'Ok?', id: 'c2', hash: 'h2' }] }))
  chat.run({ type: 'tick_check', task: 1, check_id: 'c2' })
  const names = namesIn(chat.log)
  expect(chat.log.flatMap(event => eventText(event, english, names) ?? [])).toEqual([
    'Added: A (you)',
    'A: ticked “Ok?” (you)',
  ])
})
