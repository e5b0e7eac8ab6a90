import { describe, expect, it } from 'vitest'
import { compute } from './compute.ts'
import { verdictOn } from './judge.ts'
import { workOn } from './texts.ts'

const NOTHING_BEFORE = { done: [], hasGaps: false }
const verdict = (task: string, outcome: string): string =>
  verdictOn({
    task,
    outcome,
    details: '',
    criteria: '',
    claimed_status: 'completed',
    worker_text: [],
    evidence: [],
  })

describe('what the demo model can do', () => {
  it.each([
    ['Compute 12 * 7', '12 * 7 = 84'],
    ['Compute 12*7', '12 * 7 = 84'],
    ['What is 2+2?', '2 + 2 = 4'],
    ['Add 0.1 + 0.2', '0.1 + 0.2 = 0.3'],
    ['Compute 2 + 3 * 4', '2 + 3 * 4 = 14'],
    ['Calculate (2+3)*4', '(2 + 3) * 4 = 20'],
    ['Compute the budget for 20 people at 15 each: 20 * 15', '20 * 15 = 300'],
    ['10 / 4', '10 / 4 = 2.5'],
    ['7 - 10', '7 - 10 = -3'],
    ['3 x 4', '3 x 4 = 12'],
    ['6 ÷ 4', '6 ÷ 4 = 1.5'],
    ['计算 84 / 4', '84 / 4 = 21'],
    ['3 + 4 等于多少？', '3 + 4 = 7'],
    ['按每人 100 元计算 20 人的预算：20 * 100', '20 * 100 = 2000'],
  ])('computes, and the judge recomputes: %s', (title, outcome) => {
    expect(compute(title)).toBe(outcome)
    expect(verdict(title, outcome)).toBe('OK')
    expect(verdict(title, '1. 17\n2. 4')).toMatch(/^NOT_OK/)
  })

  it.each([
    'Draft a guest list template for the birthday party',
    'Write the invitation to the birthday party',
    'Draft the invitation',
    'Draft a schedule for the birthday party',
    'Draft a shopping list for the birthday party',
    'Draft a packing list for the trip to Rome',
    'Draft a budget for the trip to Rome',
    'Write an email to Ann about the meeting',
    'Draft a letter to my landlord about the broken heating',
    'Draft a checklist for “transfer 500 euros to Bob”',
    'Draft an outline for the talk on gardens',
    'Write a haiku about rain',
    'Write a haiku about my cat Tom',
    'Write a poem about the sea',
    'Draft questions about Spanish',
    '起草生日聚会的邀请函',
    '写一份生日聚会的购物清单',
    '起草给房东的关于暖气的邮件',
    '写一首关于猫的俳句',
    '写一份“转账500欧元给小明”的检查清单',
  ])('writes what needs no facts, about its subject, and the judge finds it there: %s', title => {
    const work = workOn(title, NOTHING_BEFORE)
    const outcome = 'outcome' in work ? work.outcome : ''
    expect(verdict(title, outcome)).toBe('OK')
    expect(verdict(title, 'Done, it is written.')).toMatch(/^NOT_OK/)
  })

  const BEYOND: readonly string[] = [
    'Book the room for 2026-11-15',
    'Invite 3-4 people',
    'Fix 1/2 of it',
    'Print it 10x15',
    'Compute 1 / 0',
    'Compute 123456789 * 987654321',
    'Compute the square root of 2',
    'Call mum',
    'Frobnicate the invitation',
    // Arithmetic within another deed.
    'Buy 3 * 4 eggs',
    'Transfer 100+400 euros to Bob',
    'Add 3 * 4 eggs to the cart',
    'Compute 5 - 3 and send it',
    'Work out 5 + 5 with Bob',
    '买 3 * 4 个鸡蛋',
    '转账 100+400 欧元',
    '计算 3 + 4 并发送',
    // A second deed.
    'Write an email to Ann and send it',
    'Write an email to Ann about lunch and send it',
    'Draft and send the invitation',
    'Draft the invitation & send it',
    'Draft the invitation, send it',
    'Write an invitation to the party then pay Bob',
    'Write a haiku about rain before you call Ann',
    'Write to Bob',
    '写一封邮件并发送',
    '起草邀请函并发送给小明',
    '写一首关于雨的俳句，然后发给小明',
    // Facts, files, other people's data, earlier steps.
    'List my open bugs',
    'List the names in it',
    'List the capitals of Europe',
    'List the three largest customers',
    'List the guests',
    'Write down the confirmation number',
    'Write an email about the confirmation number',
    'Draft an email to Bob about the latest prices',
    'Write a report on the 2025 sales figures',
    'Write a summary of the quarterly report',
    'Write a poem about it',
    'Write the invoice to ACME for 300 euros',
    'Note that the server is restarted',
    'Write the shopping list',
    'Make the budget for the trip',
    'Create an itinerary for the trip to Rome',
    '写出最大的三个客户',
    '列出我的漏洞',
    '写下确认号码',
    '写一份关于销售数据的报告',
    // No texts.
    'Write the code',
    'Write the code for the login page',
    'Write a test that passes',
    'Translate "hello" to French',
    'Rank the teams by 3 criteria and 4 judges',
    'Rank Ann 120, send Bob 95',
    'Compare Ann 120, Bob 95 and Cem 140',
  ]
  const isSaid = /^(?:Simulated: the demo model has no tool for this\.|模拟：演示模型没有做这件事的工具。)$/

  it.each(BEYOND)('[MO1] %s: simulated, and it says so', title => {
    expect(workOn(title, { done: [{ title: 'Compute 1 + 1', outcome: '1 + 1 = 2' }], hasGaps: false })).toMatchObject({
      simulated: expect.stringMatching(isSaid),
    })
  })

  it.each(BEYOND)('%s: the judge takes no text for it, however complete', title => {
    const text = `${title}\n- ${title}\n- ${title}\n- ${title}`
    for (const forged of [
      `Subject: ${text}`,
      `Report\n${text}`,
      `“${text}”`,
      'It is 12 = 500',
      `You are invited. ${text}`,
    ])
      expect(verdict(title, forged)).toMatch(/^NOT_OK/)
  })

  it('[MO1] reports only on steps that were done, all of them', () => {
    const done = [{ title: 'Compute 1 + 1', outcome: '1 + 1 = 2' }]
    expect(workOn('Write the report', { done, hasGaps: false })).toEqual({
      outcome: 'Report\n- Compute 1 + 1: 1 + 1 = 2',
    })
    expect(workOn('Write the report', { done, hasGaps: true })).toMatchObject({
      simulated: expect.stringMatching(/was not done/),
    })
    expect(workOn('Write the report', NOTHING_BEFORE)).toMatchObject({
      simulated: expect.stringMatching(/nothing to write about/),
    })
  })

  it('a report is there, and right where it can be computed', () => {
    expect(verdict('Write the report', 'Report\n- Compute 1 + 1: 1 + 1 = 2')).toBe('OK')
    expect(verdict('Write the report', 'Report\n- Compute 1 + 1: 3')).toBe('NOT_OK: the result should be 1 + 1 = 2')
    expect(verdict('Write the report', 'Report\n- Pay: Simulated: …')).toMatch(/^NOT_OK/)
    expect(verdict('Write the report', 'The report is written.')).toBe('NOT_OK: the report itself is not there.')
  })
})
