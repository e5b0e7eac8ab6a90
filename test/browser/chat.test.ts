import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { configuredModels } from '../../src/models/models.ts'
import { builtPage, sharedBrowser, visit } from '../support/page.ts'
import type { OutsideTool } from '../../src/engine/worker/outside.ts'
import type { Answers, Script } from '../support/provider.ts'
import { confirmAll, startTurns, type TestTurns, type TurnsOptions } from '../support/turns.ts'

const browser = await sharedBrowser()

const start = (answers?: Answers, options: TurnsOptions = {}): Promise<TestTurns> =>
  startTurns({ page: builtPage, ...(answers ? { answers } : {}), host: { review: false }, ...options })
const linkTo = ({ url, server }: TestTurns, query = ''): string => `${url.href}${query}#code=${server.loginCode()}`
/** The browser logs the 404 for a conversation that does not exist yet. */
const NEW = { expected: /404/ }
const box = (page: Page) => page.getByRole('textbox', { name: 'What do you want done?' })
const messages = (page: Page) => page.getByRole('region', { name: 'Messages' })
const say = async (page: Page, text: string): Promise<void> => {
  await box(page).fill(text)
  await box(page).press('Enter')
}
const update = (args: Readonly<Record<string, unknown>>) => ({ calls: [{ tool: 'update', args }] })
/** A plan of two tasks, both completed. */
const TWO_STEPS: Answers = [
  { text: 'I plan.', calls: [{ tool: 'plan', args: { tasks: [{ title: 'Collect' }, { title: 'Write' }] } }] },
  { calls: [{ tool: 'update', args: { id: 1, outcome: 'Twelve figures.' } }] },
  { calls: [{ tool: 'update', args: { id: 2, outcome: 'Two pages.' } }] },
  'All done.',
]

it('the sidebar opens, switches and creates conversations; unsent text stays with each', async () => {
  const turns = await start(() => 'Well.')
  const { page, context, problems } = await visit(browser, linkTo(turns))
  const side = page.getByRole('navigation')
  await say(page, 'The first one')
  await messages(page).getByText('Well.').waitFor()
  await side.getByRole('link', { name: 'The first one' }).waitFor()
  const first = page.url()
  await page.getByRole('button', { name: 'New chat' }).click()
  await page.getByRole('heading', { name: /then watch it get done$/ }).waitFor()
  await say(page, 'The second one')
  await side.getByRole('link', { name: 'The second one' }).waitFor()
  await box(page).fill('half a thought')
  await side.getByRole('link', { name: 'The first one' }).click()
  await messages(page).getByText('The first one').waitFor()
  await expect.poll(() => page.url()).toBe(first)
  expect(await box(page).inputValue()).toBe('')
  expect(await side.locator('[aria-current]').innerText()).toBe('The first one')
  await page.goBack()
  await messages(page).getByText('The second one').waitFor()
  expect(await box(page).inputValue()).toBe('half a thought')
  await page.goForward()
  await messages(page).getByText('The first one').waitFor()
  await page.reload()
  await messages(page).getByText('The first one').waitFor()
  expect(problems).toEqual([])
  await context.close()
  await turns.close()
})

it('every conversation can be reached, however many there are', async () => {
  const turns = await start(() => 'Well.')
  for (let made = 0; made < 205; made += 1) {
    const call = { session_id: `c${made}`, turn_id: 't', arguments: { tasks: [{ title: `Plan ${made}` }] } }
    await turns.ask('POST', '/api/toolsets/runsheet/tools/plan', { body: call, as: 'agent' })
  }
  const { page, context, problems } = await visit(browser, linkTo(turns))
  const side = page.getByRole('navigation')
  await side.getByRole('link', { name: 'Plan 204', exact: true }).waitFor()
  // By keyboard alone; scrolling to the end does the same.
  const rows = page.locator('.app-sessions li')
  await expect
    .poll(async () => {
      await page.evaluate(() => document.querySelector<HTMLElement>('.app-more')?.focus())
      await page.keyboard.press('Enter')
      return rows.count()
    })
    .toBe(205)
  await side.getByRole('link', { name: 'Plan 0', exact: true }).click()
  await page.getByRole('heading', { level: 1, name: 'Plan 0', exact: true }).waitFor()
  expect(await side.getByRole('button', { name: 'Show more' }).count()).toBe(0)
  expect(problems).toEqual([])
  await context.close()
  await turns.close()
})

it('Markdown renders while it streams, with HTML as text, without remote images, and with links in a new window', async () => {
  const text = [
    '# Heading',
    'Is List<String> the same as Vec<T>, and what does <br> do?',
    '<div>\nImportant: do not run it\n</div>',
    '**bold** <b>raw</b> <script>alert(1)</script> ![logo](https://evil.example/x.png)',
    '[out](https://example.org/) [bad](javascript:alert(1))',
    '| a | b |\n| - | - |\n| 1 | 2 |',
    '```\ncode\n```',
  ].join('\n\n')
  let goOn = (): void => {}
  const held = new Promise<void>(resolve => (goOn = resolve))
  const turns = await start(async (_, count) => {
    if (count === 0) return { text, pace: 20 }
    await held
    return 'Later.'
  })
  const { page, context, problems } = await visit(browser, linkTo(turns))
  await say(page, 'Show me')
  await messages(page).getByRole('heading', { name: 'Heading' }).waitFor()
  await messages(page).getByRole('cell', { name: '2' }).waitFor()
  await page.getByRole('button', { name: 'Send' }).waitFor()
  const said = page.locator('.app-markdown').last()
  expect(await said.locator('strong').innerText()).toBe('bold')
  expect(await said.locator('b, br, div:not([class]), script, img').count()).toBe(0)
  const shown = (await said.innerText()).replaceAll(/\s+/g, ' ')
  expect(shown).toContain('Is List<String> the same as Vec<T>, and what does <br> do?')
  expect(shown).toContain('<div> Important: do not run it </div>')
  expect(shown).toContain('bold <b>raw</b> <script>alert(1)</script> logo')
  const link = said.getByRole('link', { name: 'out' })
  expect(await link.getAttribute('rel')).toContain('noopener')
  expect(await link.getAttribute('target')).toBe('_blank')
  expect(await said.getByText('bad').getAttribute('href')).toBe('')
  goOn()
  expect(problems).toEqual([])
  await context.close()
  await turns.close()
})

it('on a narrow screen all counts of a plan that is not finished show beside Continue', async () => {
  const titles = ['Collect', 'Print', 'Write', 'Send'].map(title => ({ title }))
  const turns = await start(
    [
      { calls: [{ tool: 'plan', args: { tasks: titles } }] },
      update({ id: 1, outcome: 'Twelve figures.' }),
      update({ id: 2, status: 'blocked', outcome: 'No printer.' }),
      'That is all for now.',
    ],
    { host: { review: false, assessor: false, gate: false } },
  )
  await turns.chat({ message: 'Four steps' })
  for (const width of [320, 390]) {
    const { page, context, problems } = await visit(browser, linkTo(turns, '?chat=c1'), {
      viewport: { width, height: 800 },
    })
    const counts = page.locator('.rs-summary .rs-counts')
    await counts.getByText('1 blocked').waitFor()
    const right = (of: Element): number => of.getBoundingClientRect().right
    const next = await page.getByRole('button', { name: 'Continue' }).boundingBox()
    expect(await counts.evaluate(right)).toBeLessThanOrEqual(next?.x ?? 0)
    expect(await counts.locator('.rs-blocked').evaluate(right)).toBeLessThanOrEqual(next?.x ?? 0)
    expect(problems).toEqual([])
    await context.close()
  }
  await turns.close()
})

/** A tool that the agent has besides those of the plan. */
const reading = (wait?: Promise<unknown>): OutsideTool => ({
  name: 'read_file',
  description: 'Reads a file.',
  inputSchema: { type: 'object', properties: { path: { type: 'string' } } },
  isRepeatable: true,
  call: async input => {
    await wait
    return { text: `content of ${JSON.stringify(input)}` }
  },
})
const read = (path: string) => ({ calls: [{ tool: 'read_file', args: { path } }] })
const stepOf = (page: Page, title: string) => messages(page).getByRole('group', { name: title, exact: true })

it('tools are in words under their step, with input and output inside, also after a reload', async () => {
  const [plan, first, second, answer] = TWO_STEPS as [Script, Script, Script, string]
  const turns = await start([plan, read('reports/2026-Q3.csv'), first, second, answer], { outside: [reading()] })
  const { page, context, problems } = await visit(browser, linkTo(turns, '?chat=c1'), NEW)
  await say(page, 'Two steps')
  await messages(page).getByText('All done.').waitFor()
  for (const again of [false, true]) {
    if (again) await page.reload()
    const step = stepOf(page, 'Collect')
    await step.getByText('Twelve figures.').waitFor()
    // Folded, and the plan's own calls are nowhere.
    expect(await page.locator('details.rs-use').count()).toBe(0)
    await step.getByRole('button').first().click()
    const calls = page.locator('details.rs-use')
    await calls.getByText('Read 2026-Q3.csv').click()
    expect(await calls.count()).toBe(1)
    await calls.getByText('"path": "reports/2026-Q3.csv"').waitFor()
    await calls.getByText('"text": "content of').waitFor()
    await calls.locator('summary').click()
    await calls.getByText('"text": "content of').waitFor({ state: 'detached' })
    await step.getByRole('button').first().click()
    await calls.waitFor({ state: 'detached' })
  }
  expect(problems).toEqual([])
  await context.close()
  await turns.close()
})

it('the step that is worked on is open, and folds when it is done; only calls in flight show as running', async () => {
  const held = Promise.withResolvers<void>()
  const last = Promise.withResolvers<void>()
  const [plan, first] = TWO_STEPS as [Script, Script]
  const turns = await start(
    (_, count) => {
      const told = [plan, read('a.csv'), { ...first, after: last.promise }][count]
      return told ?? { text: 'And now to the rest of it.', hangs: true }
    },
    { outside: [reading(held.promise)] },
  )
  const { page, context, problems } = await visit(browser, linkTo(turns, '?chat=c1'), NEW)
  await say(page, 'Two steps')
  const step = stepOf(page, 'Collect')
  await step.getByText('Reading a.csv').waitFor()
  expect(await step.locator('summary .rs-turning').count()).toBe(1)
  held.resolve()
  await step.getByText('Read a.csv').waitFor()
  expect(await step.locator('summary .rs-turning').count()).toBe(0)
  await page.reload()
  await step.getByText('Read a.csv').waitFor()
  last.resolve()
  await stepOf(page, 'Write').getByText('And now to the rest of it.').waitFor()
  expect(await step.getByRole('button').first().getAttribute('aria-expanded')).toBe('false')
  expect(await stepOf(page, 'Write').getByRole('button').first().getAttribute('aria-expanded')).toBe('true')
  expect(problems).toEqual([])
  await context.close()
  await turns.close()
})

it('a decided plan is a card; a person’s decision is not a failure of the tool', async () => {
  const plan = { calls: [{ tool: 'plan', args: { tasks: [{ title: 'Collect' }] } }] }
  const turns = await start([plan, plan, 'As you like.', plan, 'I see.'], { host: { review_timeout_ms: null } })
  const { page, context, problems } = await visit(browser, linkTo(turns, '?chat=c1'), NEW)
  await say(page, 'One step')
  const review = page.getByRole('region', { name: 'Review the plan' })
  await review.waitFor()
  await page.locator('.app-input').fill('Two steps, please')
  await review.getByRole('button', { name: 'Request changes' }).click()
  await messages(page).getByText('You asked for changes “Two steps, please”').waitFor()
  await review.getByText('The agent proposes the plan as you sent it back. You asked: Two steps, please').waitFor()
  await review.getByRole('button', { name: 'Reject' }).click()
  await review.getByRole('button', { name: 'Undo' }).waitFor()
  await page.reload()
  await messages(page).getByText('As you like.').waitFor()
  await messages(page).getByText('You rejected this plan').waitFor()
  await turns.person.setPolicy('c1', { review_timeout_ms: 500 })
  await say(page, 'Once more')
  // Said once: by the panel, and by the card once that is closed.
  const outcome = page.locator('.rs-outcome-panel')
  await outcome.getByText('Time ran out. Nothing was started.').waitFor()
  await messages(page).getByText('I see.').waitFor()
  expect(await messages(page).getByText('Time ran out').count()).toBe(0)
  await outcome.getByRole('button', { name: 'Close' }).click()
  await messages(page).getByText('Time ran out. Nothing was started.').waitFor()
  expect(
    await messages(page)
      .getByText(/failed|refused|Used/)
      .count(),
  ).toBe(0)
  // What was proposed is inside.
  const card = page.locator('.rs-decided', { hasText: 'You asked for changes' })
  await card.locator('summary').click()
  await card.getByText('Collect').waitFor()
  expect(problems).toEqual([])
  await context.close()
  await turns.close()
})

it('while a review waits, Enter in the message box requests changes; text from before only when pressed again', async () => {
  const held = Promise.withResolvers<void>()
  const plan = (...titles: string[]) => ({
    calls: [{ tool: 'plan', args: { tasks: titles.map(title => ({ title })) } }],
  })
  const turns = await start([{ ...plan('Collect'), after: held.promise }, plan('Collect', 'Write'), 'All set.'], {
    host: { gate: false, assessor: false },
  })
  const { page, context, problems } = await visit(browser, linkTo(turns, '?chat=c1'), { expected: /ERR_FAILED|404/ })
  await say(page, 'A report')
  const input = page.locator('.app-input')
  const review = page.getByRole('region', { name: 'Review the plan' })
  await page.getByRole('button', { name: 'Stop' }).waitFor()
  await input.pressSequentially('Please also remind Ann about the')
  held.resolve()
  await review.waitFor()
  await input.press('End')
  await page.keyboard.type(' cake')
  await page.getByText('Written before the plan arrived').waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('status').getByText('Press Enter again').waitFor()
  await page.reload()
  await review.waitFor()
  expect((await turns.person.pendingReviews('c1')).reviews).toHaveLength(1)
  expect(await input.inputValue()).toBe('Please also remind Ann about the cake')
  await input.fill('')
  // With nothing said, Enter asks what to change, as the button does.
  await input.press('Enter')
  await review.getByText('Say what to change.').waitFor()
  expect(await input.getAttribute('placeholder')).toBe('Tell the agent what to change…')
  await input.fill('Also write it')
  await page.getByText('Enter requests changes').waitFor()
  // A request that fails leaves the text where it is.
  await page.route('**/decision', route => route.abort())
  await input.press('Enter')
  await review.getByText('Could not send. Your edits are still here.').waitFor()
  expect(await input.inputValue()).toBe('Also write it')
  await page.unroute('**/decision')
  await input.press('Enter')
  await messages(page).getByText('You asked for changes “Also write it”').waitFor()
  await expect.poll(() => input.inputValue()).toBe('')
  await page.getByLabel('Title, 2').waitFor()
  await review.getByRole('button', { name: /^Approve / }).click()
  await messages(page).getByText('All set.').waitFor()
  expect(await turns.statuses()).toMatchObject([
    ['Collect', 'in_progress'],
    ['Write', 'pending'],
  ])
  await expect.poll(() => input.getAttribute('placeholder')).toBe('What do you want done?')
  expect(problems).toEqual([])
  await context.close()
  await turns.close()
})

it('a reopened plan that is confirmed goes on in a new turn, which is followed', async () => {
  const plan = { calls: [{ tool: 'plan', args: { tasks: [{ title: 'Collect' }] } }] }
  const turns = await start(
    [
      plan,
      'Nobody decided.',
      { calls: [{ tool: 'update', args: { id: 1, outcome: 'Twelve figures.' } }] },
      'All done.',
      plan,
      'What do you mean?',
      plan,
      'I see.',
    ],
    { host: { assessor: false, review_timeout_ms: 1_000 } },
  )
  const { page, context, problems } = await visit(browser, linkTo(turns, '?chat=c1'), NEW)
  await say(page, 'One step')
  await messages(page).getByText('Nobody decided.').waitFor()
  await turns.person.setPolicy('c1', { review_timeout_ms: null })
  await page.getByRole('button', { name: 'Reopen' }).click()
  await page.getByLabel('Title, 1').fill('Collect all')
  await page.getByRole('button', { name: /^Approve / }).click()
  await messages(page).getByText('All done.').waitFor()
  await page.locator('.rs-todos').getByText('1 step done').first().waitFor()
  expect(await turns.statuses()).toEqual([['Collect all', 'completed']])
  // Nobody wrote its message, so the decision is told, in the language of the page.
  await messages(page).getByText('The agent goes on with the plan you approved.').waitFor()
  expect(await page.getByText('Go on with the plan').count()).toBe(0)
  await page.getByRole('button', { name: '中文' }).click()
  await page.getByText('智能体继续执行你批准的计划。').waitFor()
  await page.getByRole('button', { name: '历史记录' }).click()
  await page.locator('.app-turn').nth(1).getByText('智能体继续执行你批准的计划。').waitFor()
  await page.getByRole('button', { name: '返回会话' }).click()
  await page.getByRole('button', { name: 'English' }).click()
  // A request for changes that no plan answers is no dead end: the plan comes back as it was sent.
  await say(page, 'Once more')
  await page.getByLabel('Title, 1').fill('Collect twice')
  await page.locator('.app-input').fill('Is that all?')
  await page.locator('.app-input').press('Enter')
  await messages(page).getByText('What do you mean?').waitFor()
  const panel = page.locator('.rs-outcome-panel')
  await panel.getByText('You asked for changes, but no new plan came. Nothing was started.').waitFor()
  await page.reload()
  await panel.getByRole('button', { name: 'Close' }).click()
  await messages(page).getByRole('button', { name: 'Reopen' }).click()
  await expect.poll(() => page.getByLabel('Title, 1').inputValue()).toBe('Collect twice')
  // Stop sends a rejection that still waits.
  await page.locator('.app-input').fill('Then add a step')
  await page.locator('.app-input').press('Enter')
  await messages(page).getByText('The agent changes the plan, as you asked.').waitFor()
  const review = page.getByRole('region', { name: 'Review the plan' })
  await review.getByRole('button', { name: 'Reject' }).click()
  await review.getByRole('button', { name: 'Undo' }).waitFor()
  await page.getByRole('button', { name: 'Stop' }).click()
  await messages(page).getByText('You rejected this plan').waitFor()
  await review.waitFor({ state: 'detached' })
  expect(problems).toEqual([])
  await context.close()
  await turns.close()
})

it('Stop ends the turn, says so, and keeps the messages', async () => {
  const turns = await start([{ text: 'It begins', hangs: true }, 'Second try.'])
  const { page, context, problems } = await visit(browser, linkTo(turns))
  await say(page, 'Something long')
  await messages(page).getByText('It begins').waitFor()
  expect(await page.getByRole('button', { name: /^Toolset/ }).isDisabled()).toBe(true)
  // On a slow connection the press shows.
  const held = Promise.withResolvers<void>()
  await page.route('**/stop', async route => {
    await held.promise
    await route.continue()
  })
  await page.getByRole('button', { name: 'Stop' }).click()
  await messages(page).getByRole('status').getByText('Stopping…').waitFor()
  expect(await page.getByRole('button', { name: 'Stop' }).getAttribute('aria-disabled')).toBe('true')
  held.resolve()
  await page.getByRole('note').getByText('Stopped').waitFor()
  expect(await messages(page).getByText('Stopping…').count()).toBe(0)
  expect(await messages(page).innerText()).toContain('It begins')
  // A stopped turn can be retried.
  await page.getByRole('button', { name: 'Retry' }).click()
  await messages(page).getByText('Second try.').waitFor()
  expect(await messages(page).getByText('Something long').count()).toBe(2)
  expect(problems).toEqual([])
  await context.close()
  await turns.close()
})

it('a failed turn is a card with what to do, and Retry continues its plan', async () => {
  const turns = await start([
    { calls: [{ tool: 'plan', args: { tasks: [{ title: 'Collect' }] } }] },
    { status: 401, body: '{"error":{"message":"no such key"}}' },
    { calls: [{ tool: 'update', args: { id: 1, outcome: 'Found.' } }] },
    'Now it is done.',
  ])
  const { page, context, problems } = await visit(browser, linkTo(turns, '?chat=c1'), NEW)
  await say(page, 'Collect it')
  const card = page.getByRole('note')
  await card.getByText('The provider refused the key').waitFor()
  await card.getByText('Change the key in the settings, or set RUNSHEET_MODEL_KEY', { exact: false }).waitFor()
  expect(await messages(page).getByText('no such key').count()).toBe(1)
  expect(await messages(page).getByText('Not done').count()).toBe(0)
  await page.getByRole('note').getByRole('button', { name: 'Retry' }).click()
  await messages(page).getByText('Now it is done.').waitFor()
  expect(await turns.statuses()).toEqual([['Collect', 'completed']])
  expect(problems).toEqual([])
  await context.close()
  await turns.close()
})

it('Retry after blocked steps goes on with those, and leaves finished ones alone; settled steps open', async () => {
  const turns = await start(
    [
      { calls: [{ tool: 'plan', args: { tasks: [{ title: 'Collect' }, { title: 'Write' }, { title: 'Send' }] } }] },
      update({ id: 1, outcome: 'Twelve figures.' }),
      update({ id: 2, status: 'blocked', outcome: 'No printer.' }),
      'I could not write.',
      update({ id: 2, outcome: 'Two pages.' }),
      update({ id: 3, outcome: 'Sent.' }),
      'Now it is written.',
    ],
    { host: { review: false, assessor: false, gate: false } },
  )
  const { page, context, problems } = await visit(browser, linkTo(turns, '?chat=c1'), NEW)
  const result = page.locator('.rs-current')
  await say(page, 'Two steps')
  // What is blocked is offered beside what is left open.
  await page.getByRole('note').getByText('1 done, 1 blocked, 1 left').waitFor()
  await page.getByRole('button', { name: 'Continue' }).waitFor()
  const [collected] = await turns.tasks()
  await page.getByRole('button', { name: 'Retry blocked' }).click()
  await messages(page).getByText('Try the blocked steps again.').waitFor()
  await messages(page).getByText('Now it is written.').waitFor()
  await page.getByRole('note').getByText('All 3 steps done').waitFor()
  // One fact once: the plan's line does not repeat it.
  await expect.poll(() => result.innerText()).toBe('3 steps')
  expect(await turns.tasks()).toEqual([
    collected,
    expect.objectContaining({ title: 'Write', status: 'completed', outcome: 'Two pages.' }),
    expect.objectContaining({ title: 'Send', status: 'completed' }),
  ])
  // Each settled step opens to its outcome and its buttons, also one without other work.
  const step = page.getByRole('group', { name: 'Send' })
  await step.getByRole('button', { name: 'Send', expanded: false }).click()
  await step.getByRole('button', { name: 'Confirm: Send' }).waitFor()
  await step.getByRole('button', { name: 'Reopen: Send' }).waitFor()
  expect(await step.locator('.rs-clamp').count()).toBe(0)
  const [first, second] = (await turns.log()).filter(({ type }) => type === 'turn_started')
  expect(second?.data).toMatchObject({ continue_turn_id: first?.turn_id })
  expect(await page.getByRole('button', { name: /^Retry/ }).count()).toBe(0)
  expect(problems).toEqual([])
  await context.close()
  await turns.close()
})

it('a step that is blocked again can be retried again: Retry goes by the plan', async () => {
  const turns = await start(
    [
      { calls: [{ tool: 'plan', args: { tasks: [{ title: 'Collect' }, { title: 'Write' }] } }] },
      update({ id: 1, status: 'blocked', outcome: 'No key.' }),
      update({ id: 2, status: 'blocked', outcome: 'No printer.' }),
      'I could do nothing.',
      update({ id: 1, outcome: 'Twelve figures.' }),
      update({ id: 2, status: 'blocked', outcome: 'Still no printer.' }),
      'I could not write.',
      update({ id: 2, outcome: 'Two pages.' }),
      'Now it is written.',
    ],
    { host: { review: false, assessor: false } },
  )
  const { page, context, problems } = await visit(browser, linkTo(turns, '?chat=c1'), NEW)
  await say(page, 'Two steps')
  await messages(page).getByText('I could do nothing.').waitFor()
  await page.getByRole('button', { name: 'Retry blocked' }).click()
  await messages(page).getByText('I could not write.').waitFor()
  await page.getByRole('button', { name: 'Retry blocked' }).click()
  await messages(page).getByText('Now it is written.').waitFor()
  expect(await turns.statuses()).toEqual([
    ['Collect', 'completed'],
    ['Write', 'completed'],
  ])
  const asked = (await turns.log()).filter(({ type }) => type === 'turn_started')
  expect(asked.map(({ data }) => data)).toMatchObject([
    { message: 'Two steps' },
    { message: 'Try the blocked steps again.', continue_turn_id: asked[0]?.turn_id },
    { message: 'Try the blocked steps again.', continue_turn_id: asked[1]?.turn_id },
  ])
  expect(problems).toEqual([])
  await context.close()
  await turns.close()
})

it('a blocked step of a reopened plan can be retried', async () => {
  const turns = await start(
    [
      { calls: [{ tool: 'plan', args: { tasks: [{ title: 'Collect' }, { title: 'Write' }] } }] },
      'Nobody decided.',
      update({ id: 1, outcome: 'Twelve figures.' }),
      update({ id: 2, status: 'blocked', outcome: 'No printer.' }),
      'I could not write.',
      update({ id: 2, outcome: 'Two pages.' }),
      'Now it is written.',
    ],
    { host: { assessor: false, review_timeout_ms: 1_000 } },
  )
  const { page, context, problems } = await visit(browser, linkTo(turns, '?chat=c1'), NEW)
  await say(page, 'Two steps')
  await messages(page).getByText('Nobody decided.').waitFor()
  await turns.person.setPolicy('c1', { review_timeout_ms: null })
  await page.getByRole('button', { name: 'Reopen' }).click()
  await page.getByRole('button', { name: /^Approve / }).click()
  await messages(page).getByText('I could not write.').waitFor()
  await page.getByRole('button', { name: 'Retry blocked' }).click()
  await messages(page).getByText('Try the blocked steps again.').waitFor()
  await messages(page).getByText('Now it is written.').waitFor()
  expect(await turns.statuses()).toEqual([
    ['Collect', 'completed'],
    ['Write', 'completed'],
  ])
  expect(problems).toEqual([])
  await context.close()
  await turns.close()
})

it('a blocked step that cannot be reopened is reported, and Retry tries again', async () => {
  const turns = await start(
    [
      { calls: [{ tool: 'plan', args: { tasks: [{ title: 'Write' }] } }] },
      { calls: [{ tool: 'update', args: { id: 1, status: 'blocked', outcome: 'No printer.' } }] },
      'I could not write.',
      { calls: [{ tool: 'update', args: { id: 1, outcome: 'Two pages.' } }] },
      'Now it is written.',
    ],
    { host: { review: false, assessor: false } },
  )
  const { page, context, problems } = await visit(browser, linkTo(turns, '?chat=c1'), { expected: /ERR_FAILED|404/ })
  await say(page, 'One step')
  await page.route('**/tasks/*', route => route.abort())
  await page.getByRole('button', { name: 'Retry blocked' }).click()
  await page.getByRole('alert').getByText('The server cannot be reached').waitFor()
  await page.unroute('**/tasks/*')
  await page.getByRole('alert').getByRole('button', { name: 'Retry' }).click()
  await messages(page).getByText('Now it is written.').waitFor()
  expect(await turns.statuses()).toEqual([['Write', 'completed']])
  expect(problems).toEqual([])
  await context.close()
  await turns.close()
})

it('an answer can be copied as it was written', async () => {
  const turns = await start(['**So** it is.'])
  const { page, context, problems } = await visit(browser, linkTo(turns), {
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  await say(page, 'How is it?')
  await page.getByRole('article', { name: 'Agent' }).getByRole('button', { name: 'Copy' }).click()
  await messages(page).getByText('Copied').waitFor()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('**So** it is.')
  expect(problems).toEqual([])
  await context.close()
  await turns.close()
})

it('the history is by turn; each task has a timeline with a URL', async () => {
  const turns = await start([...(TWO_STEPS as []), 'Hello again.'])
  await turns.chat({ message: 'Two steps' })
  await turns.chat({ message: 'And hello', turn_id: 't2' })
  const { page, context, problems } = await visit(browser, linkTo(turns, '?chat=c1'), NEW)
  await page.getByRole('button', { name: 'History' }).click()
  const first = page.getByRole('article', { name: 'Turn 1' })
  await first.getByText('Two steps').waitFor()
  await page.getByRole('article', { name: 'Turn 2' }).getByText('No tasks').waitFor()
  await first.getByRole('button', { name: /Collect/ }).click()
  const story = page.getByRole('group', { name: 'History of “Collect”' })
  await story.getByText(/→ done/).waitFor()
  expect(await story.getByRole('listitem').count()).toBeGreaterThan(2)
  expect(await story.innerText()).not.toContain('Write')
  const address = page.url()
  expect(address).toContain('task=')
  await page.reload()
  await story.getByText(/→ done/).waitFor()
  await first.getByRole('button', { name: /Write/ }).click()
  await page.getByRole('group', { name: 'History of “Write”' }).waitFor()
  await page.goBack()
  await story.waitFor()
  await expect.poll(() => page.url()).toBe(address)
  await page.getByRole('button', { name: 'Back to the conversation' }).click()
  await messages(page).getByText('Hello again.').waitFor()
  expect(problems).toEqual([])
  await context.close()
  await turns.close()
})

it('a continued plan is under both turns, and its progress is cumulative', async () => {
  const held = Promise.withResolvers<void>()
  const turns = await start(
    [
      { calls: [{ tool: 'manage_todos', args: { add: ['One', 'Two'] } }] },
      'The first is done.',
      { text: 'The second is done.', after: held.promise },
      'The second is done, really.',
    ],
    { host: { toolset: 'manage_todos', max_advances: 0 }, assessor: () => 'OK' },
  )
  await turns.chat({ message: 'Two steps' })
  const { page, context, problems } = await visit(browser, linkTo(turns, '?chat=c1'), NEW)
  await page.getByText('1 of 2 done · 1 remaining').waitFor()
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: 'Stop' }).waitFor()
  await page.getByText('1 of 2 done · 1 remaining').waitFor()
  held.resolve()
  await page.locator('.rs-todos').getByText('All 2 steps done').first().waitFor()
  await page.getByRole('button', { name: 'History' }).click()
  const tasksOf = (turn: string) => page.getByRole('article', { name: turn }).locator('.app-task-history-title')
  await tasksOf('Turn 2').nth(1).waitFor()
  expect(await tasksOf('Turn 1').allInnerTexts()).toEqual([
    expect.stringMatching(/^One\n/),
    expect.stringMatching(/^Two\ncontinued in turn 2/),
  ])
  expect(await tasksOf('Turn 2').allInnerTexts()).toEqual([
    expect.stringMatching(/^One\nfrom turn 1/),
    expect.stringMatching(/^Two/),
  ])
  // It opens where it is pressed.
  await page.getByRole('article', { name: 'Turn 1' }).getByRole('button', { name: /Two/ }).click()
  const story = page.getByRole('article', { name: 'Turn 1' }).getByRole('group', { name: 'History of “Two”' })
  await story.getByText(/^Two: accepted as done/).waitFor()
  expect(await page.getByRole('group', { name: 'History of “Two”' }).count()).toBe(1)
  expect(problems).toEqual([])
  await context.close()
  await turns.close()
})

it('a turn that answered with open tasks is not shown as done, and says how many are open', async () => {
  const tasks = [{ title: 'One', status: 'done' }, { title: 'Two' }, { title: 'Three' }, { title: 'Four' }]
  const turns = await start([{ calls: [{ tool: 'add_task', args: { tasks } }] }, 'That is the list.', 'Hello again.'], {
    host: { toolset: 'task_manager', review: false },
  })
  await turns.chat({ message: 'A list' })
  await turns.chat({ message: 'And hello', turn_id: 't2' })
  const { page, context, problems } = await visit(browser, linkTo(turns, '?chat=c1&view=history'), NEW)
  const chipOf = (turn: string) => page.getByRole('article', { name: turn }).locator('.app-chip')
  await chipOf('Turn 1').waitFor()
  expect(await chipOf('Turn 1').innerText()).toBe('Not finished · 3 of 4 open')
  expect(await chipOf('Turn 2').innerText()).toBe('Done')
  expect(problems).toEqual([])
  await context.close()
  await turns.close()
})

it('a turn that leaves items for the person says how many, and neither that it is done nor that it is not', async () => {
  const items = [{ title: 'One', isChecked: true }, { title: 'Two' }, { title: 'Three' }]
  const turns = await start(
    [{ calls: [{ tool: 'add_multiple_checklist_items', args: { items } }] }, 'That is the list.'],
    { host: { toolset: 'checklist' } },
  )
  await turns.chat({ message: 'A list' })
  const { page, context, problems } = await visit(browser, linkTo(turns, '?chat=c1&view=history'), NEW)
  const chip = page.getByRole('article', { name: 'Turn 1' }).locator('.app-chip')
  await chip.waitFor()
  expect(await chip.innerText()).toBe('2 of 3 open')
  for (const [at, left] of ['1 of 3 open', 'Done'].entries()) {
    const task = (await turns.tasks())[at + 1]
    await turns.person.changeTask('c1', task?.id ?? '', task?.version ?? 0, { status: 'completed' })
    await expect.poll(() => chip.innerText()).toBe(left)
  }
  expect(problems).toEqual([])
  await context.close()
  await turns.close()
})

it('a closed timeline is not fetched; an open one is fetched at a limited rate', async () => {
  const turns = await start(TWO_STEPS)
  const { page, context, problems } = await visit(browser, linkTo(turns, '?chat=c1'), NEW)
  await say(page, 'Two steps')
  await messages(page).getByText('All done.').waitFor()
  const read: string[] = []
  page.on('request', request => void (request.url().includes('/timeline') ? read.push(request.url()) : undefined))
  await page.getByRole('button', { name: 'History' }).click()
  await page.getByText('Turn 1', { exact: true }).waitFor()
  const happen = async (count: number): Promise<void> => {
    for (let made = 0; made < count; made += 1) {
      await turns.ask('POST', '/api/sessions/c1/tasks', { body: { title: `More ${count} ${made}` } })
    }
  }
  await happen(5)
  await page.getByRole('button', { name: 'More 5 4' }).waitFor()
  // One fetch tells whether the agent has seen the added tasks.
  expect(read.length).toBeLessThan(2)
  read.length = 0
  await page.getByText('Full activity log').click()
  await page.getByText('Added: More 5 4').waitFor()
  await happen(20)
  await page.getByText('Added: More 20 19').waitFor()
  expect(read.length).toBeLessThan(10)
  expect(problems).toEqual([])
  await context.close()
  await turns.close()
})

it('the history lists turns in the order in which they began', async () => {
  const turns = await start(() => 'Well.')
  const asked = Array.from({ length: 6 }, (_, count) => `Request ${count + 1}`)
  for (const [count, message] of asked.entries()) await turns.chat({ message, turn_id: `t${9 - count}` })
  const { page, context, problems } = await visit(browser, linkTo(turns, '?chat=c1&view=history'))
  await page.getByRole('article', { name: 'Turn 6' }).waitFor()
  expect(await page.locator('.app-request').allInnerTexts()).toEqual(asked)
  expect(await page.locator('.app-turn h2').allInnerTexts()).toEqual(asked.map((_, count) => `Turn ${count + 1}`))
  expect(problems).toEqual([])
  await context.close()
  await turns.close()
})

it('a search result opens the timeline of the task in its conversation', async () => {
  const turns = await start(TWO_STEPS)
  await turns.chat({ message: 'Two steps' })
  const { page, context, problems } = await visit(browser, linkTo(turns))
  await page.getByRole('searchbox').fill('twelve fig')
  await page
    .getByRole('navigation')
    .getByRole('list', { name: 'Tasks' })
    .getByRole('link', { name: /Collect/ })
    .click()
  await page
    .getByRole('group', { name: 'History of “Collect”' })
    .getByText(/→ done/)
    .waitFor()
  await expect.poll(() => page.url()).toContain('?chat=c1&task=')
  await page.getByRole('searchbox').fill('nowhere to be found')
  await page.getByText('No results for “nowhere to be found”').waitFor()
  expect(problems).toEqual([])
  await context.close()
  await turns.close()
})

it('a conversation is found by its title, and opens', async () => {
  const turns = await start(() => 'Well.')
  await turns.chat({ message: 'Plan the Birthday party' })
  await turns.chat({ session_id: 'c2', message: 'Something else' })
  const { page, context, problems } = await visit(browser, linkTo(turns))
  await page.getByRole('searchbox').fill('birthday')
  const found = page.getByRole('region', { name: 'Search' })
  const titles = found.getByRole('list', { name: 'Conversations' }).getByRole('link')
  await titles.first().waitFor()
  expect(await titles.locator('.app-result').allInnerTexts()).toEqual(['Plan the Birthday party'])
  await titles.click()
  await messages(page).getByText('Plan the Birthday party').waitFor()
  await expect.poll(() => page.url()).toContain('?chat=c1')
  expect(problems).toEqual([])
  await context.close()
  await turns.close()
})

it('examples are one click away; the chosen toolset and model go with the next message', async () => {
  const turns = await start(undefined, { models: await configuredModels({ model: 'demo' }), host: {} })
  const { page, context, problems } = await visit(browser, linkTo(turns, '?chat=c1'), NEW)
  expect(await page.getByRole('combobox', { name: 'Model' }).inputValue()).toBe('demo')
  await page.getByRole('button', { name: 'Toolset: Reviewed plan' }).click()
  await page.getByRole('radio', { name: /^Steps with outcomes/ }).check()
  await page.getByRole('button', { name: /birthday party/ }).click()
  await page.locator('.rs-todos').getByText('All 5 steps done').first().waitFor()
  await page.getByRole('button', { name: 'Send' }).waitFor()
  const started = (await turns.log()).find(({ type }) => type === 'turn_started')
  expect(started?.data).toMatchObject({ policy: { toolset: 'turn_todos', review: false } })
  await page.reload()
  await page.locator('.rs-todos').getByText('All 5 steps done').first().waitFor()
  await page.getByRole('button', { name: 'Toolset: Steps with outcomes' }).waitFor()
  expect(problems).toEqual([])
  await context.close()
  await turns.close()
})

it('on a narrow screen a long model name does not cut off the toolset', async () => {
  const turns = await start(() => 'Well.')
  const { page, context, problems } = await visit(browser, linkTo(turns))
  const toolset = page.getByRole('button', { name: /^Toolset/ })
  const width = (): Promise<number> => toolset.evaluate(button => button.clientWidth)
  await page.getByRole('combobox', { name: 'Model' }).waitFor()
  await toolset.click()
  await page.getByRole('radio', { name: /^Task manager/ }).check()
  const wide = await width()
  await page.setViewportSize({ width: 360, height: 740 })
  expect(await width()).toBe(wide)
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360)
  expect(problems).toEqual([])
  await context.close()
  await turns.close()
})

it('a message shows at once as being sent, and blocks another one', async () => {
  const turns = await start(() => 'Well.')
  const { page, context, problems } = await visit(browser, linkTo(turns))
  const held = Promise.withResolvers<void>()
  await page.route('**/messages', async route => {
    await held.promise
    await route.continue()
  })
  await say(page, 'Are you there?')
  await messages(page).getByText('Are you there?').waitFor()
  await messages(page).getByRole('status').getByText('Sending…').waitFor()
  expect(await box(page).inputValue()).toBe('')
  expect(await page.getByRole('button', { name: /birthday party/ }).count()).toBe(0)
  // Typing goes on meanwhile; it is sent once the first one has arrived.
  await say(page, 'And there?')
  expect(await page.getByRole('button', { name: 'Send' }).isDisabled()).toBe(true)
  expect(await box(page).inputValue()).toBe('And there?')
  held.resolve()
  await messages(page).getByText('Well.').waitFor()
  expect(await messages(page).getByText('Are you there?').count()).toBe(1)
  expect(await messages(page).getByText('Sending…').count()).toBe(0)
  const session = new URL(page.url()).searchParams.get('chat') ?? ''
  expect((await turns.log(session)).filter(({ type }) => type === 'turn_started')).toHaveLength(1)
  expect(problems).toEqual([])
  await context.close()
  await turns.close()
})

it('a message that fails returns to the box with the reason; sent again it is one turn', async () => {
  const turns = await start(() => 'Well.')
  const { page, context, problems } = await visit(browser, linkTo(turns, '?chat=c1'), { expected: /ERR_FAILED|404/ })
  const asked: string[] = []
  await page.route('**/messages', async route => {
    asked.push((route.request().postDataJSON() as { message_id: string }).message_id)
    await (asked.length < 3 ? route.abort() : route.continue())
  })
  // Examples behave the same.
  await page.getByRole('button', { name: /Plan a birthday/ }).click()
  await page.getByRole('alert').getByText('The server cannot be reached').waitFor()
  expect(await box(page).inputValue()).toMatch(/^Plan a birthday/)
  expect(await messages(page).getByRole('article').count()).toBe(0)
  await page.getByRole('alert').getByRole('button', { name: 'Retry' }).click()
  await page.getByRole('alert').waitFor()
  await box(page).press('Enter')
  await messages(page).getByText('Well.').waitFor()
  expect(await box(page).inputValue()).toBe('')
  expect(await page.getByRole('alert').count()).toBe(0)
  expect(new Set(asked).size).toBe(1)
  expect(problems).toEqual([])
  await context.close()
  await turns.close()
})

it('a lost answer is no failure once the log has the message', async () => {
  const turns = await start(() => 'Well.')
  const { page, context, problems } = await visit(browser, linkTo(turns), { expected: /ERR_FAILED/ })
  await page.route('**/messages', async route => {
    await route.fetch().catch(() => {})
    await route.abort()
  })
  await say(page, 'Are you there?')
  await messages(page).getByText('Well.').waitFor()
  await expect.poll(() => box(page).inputValue()).toBe('')
  await page.getByRole('alert').waitFor({ state: 'detached' })
  expect(await page.getByRole('article').locator('.app-plain, .app-markdown').allInnerTexts()).toEqual([
    'Are you there?',
    'Well.',
  ])
  expect(problems).toEqual([])
  await context.close()
  await turns.close()
})

it('retried after a lost answer, before the log shows it, it is one message', async () => {
  const turns = await start(() => 'Well.')
  const { page, context, problems } = await visit(browser, linkTo(turns, '?chat=c1'), { expected: /ERR_FAILED|404/ })
  await page.route('**/api/sessions/**', route => route.abort())
  await page.route('**/messages', async route => {
    await route.fetch()
    await route.abort()
  })
  await say(page, 'Something long')
  await page.getByRole('alert').getByText('The server cannot be reached').waitFor()
  await page.unroute('**/messages')
  await page.route('**/messages', route => route.continue())
  // The log shows it only once both requests were answered.
  await box(page).press('Enter')
  await expect.poll(() => box(page).inputValue()).toBe('')
  await page.unrouteAll()
  await messages(page).getByText('Well.').waitFor()
  const log = await turns.log()
  expect(log.filter(({ type }) => type === 'turn_started' || type === 'message_queued')).toHaveLength(1)
  expect(await messages(page).getByText('Something long').count()).toBe(1)
  expect(problems).toEqual([])
  await context.close()
  await turns.close()
})

it('a message in flight survives a reload, and leaving before it fails', async () => {
  const turns = await start(() => 'Well.')
  const { page, context, problems } = await visit(browser, linkTo(turns), { expected: /ERR_FAILED|404/ })
  const held = Promise.withResolvers<void>()
  await page.route('**/messages', async route => {
    await held.promise
    await route.abort().catch(() => {})
  })
  await say(page, 'Something long')
  await messages(page).getByText('Sending…').waitFor()
  await page.reload()
  await expect.poll(() => box(page).inputValue()).toBe('Something long')
  const first = page.url()
  await box(page).press('Enter')
  await messages(page).getByText('Sending…').waitFor()
  await page.getByRole('button', { name: 'New chat' }).click()
  await page.getByRole('heading', { name: /then watch it get done$/ }).waitFor()
  held.resolve()
  await page.goBack()
  await expect.poll(() => page.url()).toBe(first)
  await expect.poll(() => box(page).inputValue()).toBe('Something long')
  // A message that did arrive is in the log and not in the box.
  await page.unroute('**/messages')
  await page.route('**/api/sessions/**', route => route.abort())
  await page.route('**/messages', async route => {
    await route.fetch().catch(() => {})
    await new Promise(() => {})
  })
  await box(page).press('Enter')
  await messages(page).getByText('Sending…').waitFor()
  await expect
    .poll(async () => (await turns.log(new URL(first).searchParams.get('chat') ?? '')).length)
    .toBeGreaterThan(3)
  await page.unroute('**/api/sessions/**')
  await page.reload()
  await messages(page).getByText('Well.').waitFor()
  await expect.poll(() => box(page).inputValue()).toBe('')
  expect(await messages(page).getByText('Something long').count()).toBe(1)
  expect(problems).toEqual([])
  await context.close()
  await turns.close()
})

it('after a reload, a message that arrived although sending it failed is not in the box', async () => {
  const turns = await start(() => 'Well.')
  const { page, context, problems } = await visit(browser, linkTo(turns), { expected: /ERR_FAILED|404/ })
  await page.route('**/api/sessions/**', route => route.abort())
  await page.route('**/messages', async route => {
    await route.fetch()
    await route.abort()
  })
  await say(page, 'Something long')
  await page.getByRole('alert').getByText('The server cannot be reached').waitFor()
  expect(await box(page).inputValue()).toBe('Something long')
  await page.unroute('**/api/sessions/**')
  await page.reload()
  await messages(page).getByText('Well.').waitFor()
  await expect.poll(() => box(page).inputValue()).toBe('')
  expect(problems).toEqual([])
  await context.close()
  await turns.close()
})

it('a message that is sent again the moment it is back in the box is not forgotten', async () => {
  const turns = await start(() => 'Well.')
  const { page, context, problems } = await visit(browser, linkTo(turns), { expected: /ERR_FAILED|404/ })
  await page.route('**/messages', () => new Promise(() => {}))
  await say(page, 'Something long')
  await messages(page).getByText('Sending…').waitFor()
  await page.addInitScript(() => {
    const observer = new MutationObserver(() => {
      const input = document.querySelector<HTMLTextAreaElement>('.app-input')
      if (input?.value !== 'Something long') return
      observer.disconnect()
      input.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true }))
    })
    observer.observe(document, { subtree: true, childList: true })
  })
  await page.reload()
  await messages(page).getByText('Sending…').waitFor()
  await page.getByRole('button', { name: 'New chat' }).click()
  await page.getByRole('heading', { name: /then watch it get done$/ }).waitFor()
  await page.goBack()
  await expect.poll(() => box(page).inputValue()).toBe('Something long')
  expect(problems).toEqual([])
  await context.close()
  await turns.close()
})

it('[CH17] the key that ends an input method composition sends nothing', async () => {
  const turns = await start(() => 'Well.')
  const { page, context, problems } = await visit(browser, linkTo(turns))
  await box(page).fill('你好')
  for (const how of [{ isComposing: true }, { keyCode: 229 }]) {
    await box(page).evaluate((element, more) => {
      const key = { key: 'Enter', bubbles: true, cancelable: true, ...more }
      element.dispatchEvent(new KeyboardEvent('keydown', key))
    }, how)
  }
  expect(await messages(page).getByRole('article').count()).toBe(0)
  expect(await box(page).inputValue()).toBe('你好')
  await box(page).press('Enter')
  await messages(page).getByText('你好').waitFor()
  expect(problems).toEqual([])
  await context.close()
  await turns.close()
})

it('[CH17] the keyboard does everything: line breaks, sending, and the sidebar on a small screen', async () => {
  const turns = await start(() => 'Well.')
  const { page, context, problems } = await visit(browser, linkTo(turns), { viewport: { width: 390, height: 700 } })
  const focused = (): Promise<string> =>
    page.evaluate(
      () => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent ?? 'nothing',
    )
  await box(page).waitFor()
  expect(await focused()).toBe('What do you want done?')
  await page.keyboard.type('one')
  await page.keyboard.press('Shift+Enter')
  await page.keyboard.type('two')
  expect(await box(page).inputValue()).toBe('one\ntwo')
  await page.keyboard.press('Enter')
  await messages(page).getByText('Well.').waitFor()
  expect(await focused()).toBe('What do you want done?')
  await page.reload()
  await messages(page).getByText('Well.').waitFor()
  const order: string[] = []
  for (let count = 0; count < 13; count += 1) {
    await page.keyboard.press('Tab')
    order.push(await focused())
    const outline = await page.evaluate(() => {
      const element = document.activeElement
      if (!element) return false
      const { outlineStyle, outlineWidth } = getComputedStyle(element)
      const ring = element.matches('.app-input') && getComputedStyle(element.closest('form')!).boxShadow !== 'none'
      return ring || (outlineStyle !== 'none' && outlineWidth !== '0px')
    })
    expect(outline, `${order.at(-1)} shows its focus`).toBe(true)
  }
  expect(order).toEqual([
    'Skip to the message box',
    'Conversations and search',
    'one two',
    'History',
    'Light or dark',
    '中文',
    'Messages',
    // Of the message, and of the answer.
    'Copy',
    'Edit message',
    'Copy',
    'Ask again',
    'What do you want done?',
    expect.stringContaining('Plan'),
  ])
  await page.getByRole('button', { name: 'Conversations and search' }).press('Enter')
  await page.getByRole('button', { name: 'Close' }).waitFor()
  expect(await focused()).toBe('Close')
  // The content behind is inert.
  for (let count = 0; count < 5; count += 1) {
    await page.keyboard.press('Tab')
    expect(await page.evaluate(() => document.activeElement?.closest('main'))).toBeNull()
  }
  await page.getByRole('searchbox').focus()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Close' }).waitFor({ state: 'hidden' })
  await expect.poll(focused).toBe('Conversations and search')
  await page.keyboard.press('Enter')
  await page.getByRole('navigation').getByRole('link', { name: 'one' }).press('Enter')
  await messages(page).getByText('Well.').waitFor()
  expect(problems).toEqual([])
  await context.close()
  await turns.close()
})

it('nothing scrolls sideways from 360 px up, and the panel is as wide as the message box', async () => {
  const long = `x${'yz'.repeat(180)}`
  const turns = await start([
    { text: `\`${long}\``, calls: [{ tool: 'plan', args: { tasks: [{ title: long }, { title: 'Short' }] } }] },
    { text: `| ${'column | '.repeat(30)}\n| ${'--- | '.repeat(30)}`, hangs: true },
  ])
  const reader = await turns.open({ message: long }, confirmAll)
  await reader.until(({ frames }) => frames.some(({ data }) => JSON.stringify(data).includes('column')))
  const { page, context, problems } = await visit(browser, linkTo(turns, '?chat=c1'), NEW)
  await page.locator('.rs-summary').click()
  for (const view of ['chat', 'history'] as const) {
    if (view === 'history') {
      await page.setViewportSize({ width: 1280, height: 960 })
      await page.getByRole('button', { name: 'History' }).click()
      await page.locator('.app-task-history').first().press('Enter')
    }
    for (const width of [360, 390, 760, 761, 1280, 2560]) {
      await page.setViewportSize({ width, height: 480 })
      const seen = await page.evaluate(() => {
        const [above, header] = ['.rs-todos', '.app-head'].map(
          name => document.querySelector(name)?.getBoundingClientRect() ?? null,
        ) as [DOMRect | null, DOMRect | null]
        return {
          wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
          scroller: [...document.querySelectorAll('.app-scroll')].map(each => each.scrollWidth - each.clientWidth),
          panel: document.querySelector('.rs-todos')?.getBoundingClientRect().width,
          input: document.querySelector('.app-composer')?.getBoundingClientRect().width,
          isClear: above !== null && header !== null && above.top >= header.bottom,
        }
      })
      expect({ width, view, ...seen }).toEqual({
        width,
        view,
        wide: 0,
        scroller: [0],
        panel: seen.input,
        input: seen.input,
        isClear: true,
      })
    }
  }
  expect(problems).toEqual([])
  await context.close()
  reader.leave()
  await turns.close()
})
