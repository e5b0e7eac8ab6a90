import { describe, expect, it } from 'vitest'
import { planFor } from './goals.ts'
import { isGoal, stepsIn } from './split.ts'
import { workOn } from './texts.ts'

const REQUESTS: readonly (readonly [kind: string, request: string, steps: readonly string[]])[] = [
  ['a numbered list', '1. Buy milk\n2. Call mum\n3) Fix the bike', ['Buy milk', 'Call mum', 'Fix the bike']],
  ['a list with dashes and a heading', 'Today:\n- buy milk\n- call mum', ['Buy milk', 'Call mum']],
  ['boxes to tick', '- [ ] Buy milk\n- [x] call mum', ['Buy milk', 'Call mum']],
  ['a list within a line', 'Move: 1) pack boxes 2) rent a van 3) clean up', ['Pack boxes', 'Rent a van', 'Clean up']],
  [
    'a line each',
    'check the logs\nfix the error\nwrite a report',
    ['Check the logs', 'Fix the error', 'Write a report'],
  ],
  ['sentences', 'Read the report. Write a summary! Send it.', ['Read the report', 'Write a summary', 'Send it']],
  [
    'then, and finally',
    'Please write a summary of the report, then translate it into German, and finally email it to Anna.',
    ['Write a summary of the report', 'Translate it into German', 'Email it to Anna'],
  ],
  ['first', 'First, read it. Then fix it. Finally, ship it.', ['Read it', 'Fix it', 'Ship it']],
  [
    'a series behind a colon',
    'Plan a party: book a venue, invite ten friends and order a cake.',
    ['Book a venue', 'Invite ten friends', 'Order a cake'],
  ],
  [
    'semicolons, politely',
    'Could you please set up the project; run the tests; and deploy it?',
    ['Set up the project', 'Run the tests', 'Deploy it'],
  ],
  ['two deeds', 'make tea and bake bread', ['Make tea', 'Bake bread']],
  ['one resultOf with two things', 'Make tea and toast', ['Make tea and toast']],
  [
    'a difference between things',
    'Explain the difference between tea and green tea.',
    ['Explain the difference between tea and green tea'],
  ],
  ['abbreviations', 'Ask Dr. Smith. Write it down.', ['Ask Dr. Smith', 'Write it down']],
  ['numbers with a point', 'Compute 3.5 + 4.25, then say it.', ['Compute 3.5 + 4.25', 'Say it']],
  ['a condition', 'If it rains then take an umbrella.', ['If it rains then take an umbrella']],
  ['Chinese with connectives', '首先检查日志，然后修复错误，最后写一份报告。', ['检查日志', '修复错误', '写一份报告']],
  ['Chinese with numbers', '1、检查日志\n2、修复错误\n3、写报告', ['检查日志', '修复错误', '写报告']],
  ['Chinese, politely', '请帮我写一封邮件，再翻译成英文。', ['写一封邮件', '翻译成英文']],
  [
    'deeds with a clause',
    'Book a venue, order a cake and invite ten friends, with a budget of 300 euros.',
    ['Book a venue', 'Order a cake', 'Invite ten friends, with a budget of 300 euros'],
  ],
  [
    'a clause before deeds',
    'For my mother, bake a cake and call her friends',
    ['For my mother, bake a cake', 'Call her friends'],
  ],
  ['deeds without articles', 'water plants, feed cats, vacuum floors', ['Water plants', 'Feed cats', 'Vacuum floors']],
  [
    'deeds with names',
    'Email Anna, call Bob and text Cem the address',
    ['Email Anna', 'Call Bob', 'Text Cem the address'],
  ],
  ['a remark before deeds', 'My train is late. Call Anna. Book a taxi.', ['Call Anna', 'Book a taxi']],
  [
    'a remark after a deed',
    'We need to hire two engineers by March. Budget is tight.',
    ['We need to hire two engineers by March'],
  ],
  ['one deed with many things', 'Buy milk, fresh eggs and brown bread', ['Buy milk, fresh eggs and brown bread']],
  ['things without a deed', 'Fresh eggs, brown bread, cold milk', ['Fresh eggs', 'Brown bread', 'Cold milk']],
  ['Chinese deeds', '订蛋糕，给妈妈打电话，发送邀请函', ['订蛋糕', '给妈妈打电话', '发送邀请函']],
  ['short Chinese deeds', '打扫厨房，洗碗，倒垃圾', ['打扫厨房', '洗碗', '倒垃圾']],
  ['deeds that only look like clauses', 'Start the server. Use the key.', ['Start the server', 'Use the key']],
  [
    'a condition after a deed',
    'Call Anna. If she is out, call Bob. One more thing: buy milk.',
    ['Call Anna', 'If she is out, call Bob', 'One more thing: buy milk'],
  ],
  ['Chinese sentences', '打扫厨房。买牛奶。给妈妈打电话。', ['打扫厨房', '买牛奶', '给妈妈打电话']],
  ['the same twice', '- call\n- call\n- write', ['Call', 'Write']],
  ['a question', 'What is the capital of France?', ['What is the capital of France?']],
  ['questions only', 'What is it? And why?', ['What is it?']],
  ['a greeting before a request', 'Hello! Read it. Fix it.', ['Read it', 'Fix it']],
  ['a greeting', 'Hello there. Thanks for your help.', []],
  ['a single word', 'Go', ['Go']],
  ['nothing', ' \n ', []],
  ['punctuation', '。。。 ... !', []],
]

describe('the steps of a request', () => {
  it.each(REQUESTS)('[MO1] %s: %j', (_, request, steps) => {
    expect(stepsIn(request)).toEqual(steps)
  })

  it('[MO1] loses none of a long list', () => {
    const list = Array.from({ length: 40 }, (_, place) => `- Step ${place + 1}`).join('\n')
    expect(stepsIn(list)).toHaveLength(40)
  })

  it('[MO1] keeps titles short, and never half a character', () => {
    const [title = ''] = stepsIn(`- ${'😀'.repeat(900)}\n- b`)
    expect([Array.from(title).length, title.isWellFormed()]).toEqual([200, true])
  })
})

describe('a goal that names no steps', () => {
  it.each([
    [
      'Plan a birthday party for 20 people',
      [
        'Draft a guest list template for the birthday party',
        'Compute the budget for 20 people at 15 each: 20 * 15',
        'Write the invitation to the birthday party',
        'Draft a schedule for the birthday party',
        'Draft a shopping list for the birthday party',
      ],
    ],
    [
      'Transfer 500 euros to Bob',
      [
        'Draft a checklist for “transfer 500 euros to Bob”',
        'Transfer 500 euros to Bob',
        'Check that it worked: transfer 500 euros to Bob',
      ],
    ],
    [
      'Learn to play the guitar in three months',
      [
        'Draft questions about “learn to play the guitar in three months”',
        'Draft a checklist for “learn to play the guitar in three months”',
        'Draft a schedule for “learn to play the guitar in three months”',
        'Learn to play the guitar in three months',
        'Check that it worked: learn to play the guitar in three months',
      ],
    ],
    [
      'I want to migrate our Postgres database to version 17',
      [
        'Draft questions about “migrate our Postgres database to version 17”',
        'Draft a checklist for “migrate our Postgres database to version 17”',
        'Draft a schedule for “migrate our Postgres database to version 17”',
        'Migrate our Postgres database to version 17',
        'Check that it worked: migrate our Postgres database to version 17',
      ],
    ],
    [
      'Fix the flaky login test',
      [
        'Draft a checklist for “fix the flaky login test”',
        'Fix the flaky login test',
        'Check that it worked: fix the flaky login test',
      ],
    ],
    [
      'Write a haiku about autumn',
      [
        'Draft questions about the haiku about autumn',
        'Draft an outline for the haiku about autumn',
        'Write a haiku about autumn',
        'Draft a title for the haiku about autumn',
        'Draft a checklist for the haiku about autumn',
      ],
    ],
    [
      '为20个人策划一场生日聚会',
      [
        '写一份生日聚会的宾客名单模板',
        '按每人 100 元计算 20 人的预算：20 * 100',
        '起草生日聚会的邀请函',
        '写一份生日聚会的日程草案',
        '写一份生日聚会的购物清单',
      ],
    ],
    [
      '安排一次团队旅行',
      [
        '写一份团队旅行的检查清单',
        '写一份团队旅行的行程草案',
        '写一份团队旅行的行李清单',
        '写一份团队旅行的预算草案',
        '预订交通和住宿',
      ],
    ],
    ['转账500欧元给小明', ['写一份“转账500欧元给小明”的检查清单', '转账500欧元给小明', '检查结果：转账500欧元给小明']],
  ])('%s is planned', (goal, steps) => {
    expect(isGoal(goal)).toBe(true)
    expect(planFor(goal)).toEqual(steps)
  })

  it.each([
    'Organise a team dinner',
    'Plan a trip to Rome',
    'Write an email to my landlord about the heating',
    'Learn Spanish',
    'Choose a new laptop',
    'Build a website for my bakery',
    'Clean the kitchen',
    'Plan a birthday party for 20 people',
    'Translate my website into German',
    'clean the garage',
    'Prepare for my job interview',
    'Find a new job',
    'grow tomatoes on my balcony',
    'Plan my week',
    '计划一次去北京的旅行',
    '写一封邮件给房东',
    '学习西班牙语',
    '帮我准备面试',
    '帮我减肥',
    '打扫车库',
    '把我的网站翻译成德语',
  ])('%s: five different steps, in its language, most of which it can do', request => {
    const [goal = ''] = stepsIn(request)
    expect(isGoal(request)).toBe(true)
    const steps = planFor(goal)
    expect(steps).toHaveLength(5)
    expect(new Set(steps).size).toBe(5)
    expect(steps.filter(step => 'outcome' in workOn(step, { done: [], hasGaps: false })).length).toBeGreaterThanOrEqual(
      3,
    )
    for (const step of steps) expect(/\p{Script=Han}/u.test(step)).toBe(/\p{Script=Han}/u.test(goal))
  })

  it.each([
    'Plan a birthday party for 20 people, with a budget of 300 euros',
    'Plan a birthday party for my daughter, who turns 6',
    'Plan a birthday party for my daughter, who turns 6 and loves horses',
    'Plan a wedding for 80 people, in June, near the sea',
    'Plan a wedding for 80 people, vegetarian food only, max 5000 euros',
    'Plan a trip to Japan for two weeks, including Kyoto and Osaka',
    'Plan a 3-day trip to Paris for two adults and one child, on a tight budget',
    'Create a landing page for my bakery, using HTML and CSS',
    'Build a website for my bakery, keep it simple',
    'Organise a conference for 200 developers in Lyon, with a budget of 30k',
    'I want to get fit, but I hate running',
    'My mother turns 60 in May. Plan a party for her.',
    'Plan a picnic. It should be cheap. We are ten people.',
    'Prepare my taxes, please',
    'Plan a garden party, weather permitting, open bar included',
    'Learn HTML, modern CSS and plain JavaScript',
    '为我妈妈准备60岁生日聚会，预算5000元',
    '策划一场婚礼，预算五万元左右，在六月举行',
    '计划一次去日本的旅行，包括京都和大阪，带两个孩子',
    '做一个面包店的网页，用简单的颜色',
    '准备一次野餐。我们一共十个人。不要太贵。',
  ])('a clause is part of the goal and no step: %s', request => {
    const [goal = '', ...more] = stepsIn(request)
    expect(more).toEqual([])
    expect(isGoal(request)).toBe(true)
    const steps = planFor(goal)
    expect(new Set(steps).size).toBe(5)
    const done = steps.filter(step => 'outcome' in workOn(step, { done: [], hasGaps: false }))
    expect(done.length).toBeGreaterThanOrEqual(3)
  })

  it('clauses are not repeated in the titles of texts, and stay with the deed', () => {
    expect(planFor('Plan a birthday party for 20 people, with a budget of 300 euros')).toEqual(
      planFor('Plan a birthday party for 20 people'),
    )
    expect(planFor('Plan a birthday party, for 20 people')[1]).toBe(
      'Compute the budget for 20 people at 15 each: 20 * 15',
    )
    expect(planFor('Transfer 500 euros to Bob, by Friday')).toEqual([
      'Draft a checklist for “transfer 500 euros to Bob”',
      'Transfer 500 euros to Bob, by Friday',
      'Check that it worked: transfer 500 euros to Bob, by Friday',
    ])
    expect(planFor('Learn HTML, CSS and JavaScript')[0]).toBe('Draft questions about “HTML, CSS and JavaScript”')
    expect(planFor('为我妈妈准备60岁生日聚会，预算5000元')[0]).toBe('写一份60岁生日聚会的宾客名单模板')
  })

  it.each([
    'What is the capital of France?',
    'Hello',
    'Tell me a joke',
    'Translate "good morning" into French',
    'Go on',
    'Thanks!',
    'Go',
    '你好',
    '继续',
    '法国的首都是什么？',
  ])('[MO1] %s is not a goal', request => {
    expect(isGoal(request)).toBe(false)
  })
})
