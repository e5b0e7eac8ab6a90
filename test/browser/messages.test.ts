import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { configuredModels } from '../../src/models/models.ts'
import type { OutsideTool } from '../../src/engine/worker/outside.ts'
import { complaintsOfAxe } from '../support/axe.ts'
import { builtPage, sharedBrowser, visit } from '../support/page.ts'
import type { Answers } from '../support/provider.ts'
import { MODEL, startTurns, type TestTurns, type TurnsOptions } from '../support/turns.ts'

const browser = await sharedBrowser()

const start = (answers?: Answers, options: TurnsOptions = {}): Promise<TestTurns> =>
  startTurns({
    page: builtPage,
    ...(answers ? { answers } : {}),
    host: { review: false, gate: false, assessor: false },
    ...options,
  })
const linkTo = ({ url, server }: TestTurns, query = '?chat=c1'): string =>
  `${url.href}${query}#code=${server.loginCode()}`
const NEW = { expected: /404/ }
const box = (page: Page) => page.locator('.app-input')
const messages = (page: Page) => page.getByRole('region', { name: 'Messages' })
const mine = (page: Page) => messages(page).getByRole('article', { name: 'You' })
const answers = (page: Page) => messages(page).getByRole('article', { name: 'Agent' })
const say = async (page: Page, text: string): Promise<void> => {
  await box(page).fill(text)
  await box(page).press('Enter')
}
const opacity = (page: Page, selector: string): Promise<string> =>
  page
    .locator(selector)
    .last()
    .evaluate(element => getComputedStyle(element).opacity)

it('hovering or focusing a message shows when it was written, and what can be done with it', async () => {
  const turns = await start(['Well.'])
  const { page, context, problems } = await visit(browser, linkTo(turns), NEW)
  await say(page, 'Good morning')
  await answers(page).getByText('Well.').waitFor()
  await page.mouse.move(0, 0)
  const foot = '.app-message-user > .app-message-foot'
  expect(await opacity(page, foot)).toBe('0')
  await mine(page).hover()
  expect(await opacity(page, foot)).toBe('1')
  const time = mine(page).locator('time')
  expect(await time.innerText()).toMatch(/^\d{1,2}:\d{2}/)
  expect(await time.getAttribute('title')).toMatch(/\d{4}.*\d{1,2}:\d{2}:\d{2}/)
  await page.mouse.move(0, 0)
  await mine(page).getByRole('button', { name: 'Copy' }).focus()
  expect(await opacity(page, foot)).toBe('1')
  expect(problems).toEqual([])
  await context.close()
  await turns.close()
})

it('an edited message is sent as a new one, which the page says; what came before stays', async () => {
  const turns = await start(['Twelve.', 'Thirteen.', 'Thirteen again.'])
  const { page, context, problems } = await visit(browser, linkTo(turns), NEW)
  await say(page, 'How many in March?')
  await answers(page).getByText('Twelve.').waitFor()
  await page.getByRole('button', { name: 'Send' }).waitFor()
  const edit = mine(page).first().getByRole('button', { name: 'Edit message' })
  await edit.click()
  const editor = page.getByRole('textbox', { name: 'Edit the message' })
  expect(await editor.inputValue()).toBe('How many in March?')
  await page.getByText('Sent as a new message. What was said and done before stays as it is.').waitFor()
  await page.keyboard.press('Escape')
  await editor.waitFor({ state: 'detached' })
  await page.waitForFunction(() => document.activeElement?.getAttribute('aria-label') === 'Edit message')
  await edit.click()
  await editor.fill('How many in April?')
  await editor.press('Enter')
  await answers(page).getByText('Thirteen.').waitFor()
  expect(await mine(page).locator('.app-plain').allInnerTexts()).toEqual(['How many in March?', 'How many in April?'])
  expect(turns.provider.messages(1).filter(({ role }) => role === 'user')).toHaveLength(2)
  // The latest answer can be asked for again.
  await answers(page).last().getByRole('button', { name: 'Ask again' }).click()
  await answers(page).getByText('Thirteen again.').waitFor()
  await expect.poll(() => messages(page).getByRole('button', { name: 'Ask again' }).count()).toBe(1)
  expect(problems).toEqual([])
  await context.close()
  await turns.close()
})

it('scrolled up, a button leads to the latest, and says if something new came', async () => {
  const long = Array.from({ length: 80 }, (_, line) => `Line ${line + 1}`).join('\n\n')
  const held = Promise.withResolvers<void>()
  const turns = await start([long, { text: 'Fresh news.', after: held.promise }])
  const { page, context, problems } = await visit(browser, linkTo(turns), NEW)
  await say(page, 'Tell me')
  await messages(page).getByText('Line 80', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Send' }).waitFor()
  expect(await page.locator('.app-latest').count()).toBe(0)
  await say(page, 'And more')
  await mine(page).getByText('And more').waitFor()
  await messages(page).evaluate(element => element.scrollTo(0, 0))
  await page.getByRole('button', { name: 'Jump to latest' }).waitFor()
  held.resolve()
  await page.getByRole('button', { name: 'New messages' }).click()
  const isAtEnd = () =>
    messages(page).evaluate(element => element.scrollHeight - element.scrollTop - element.clientHeight < 40)
  await expect.poll(isAtEnd).toBe(true)
  await page.locator('.app-latest').waitFor({ state: 'detached' })
  expect(problems).toEqual([])
  await context.close()
  await turns.close()
})

it('a code block has its language, a copy button and colors, and stays text', async () => {
  const code = 'const greeting = "<img src=x onerror=alert(1)>" // hello\nreturn 42'
  const turns = await start([
    `Look:\n\n\`\`\`ts\n${code}\n\`\`\`\n\n\`\`\`\nplain\n\`\`\`\n\n\`\`\`nolang\nodd <b>\n\`\`\``,
  ])
  const { page, context, problems } = await visit(browser, linkTo(turns), {
    ...NEW,
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  await say(page, 'Show me')
  const block = messages(page).locator('.app-code')
  await block.first().locator('.hljs-keyword').first().waitFor()
  expect(await block.locator('.app-code-head > span:first-child').allInnerTexts()).toEqual(['ts', 'code', 'nolang'])
  expect(await block.first().locator('pre').innerText()).toBe(code)
  expect(await block.locator('img, b').count()).toBe(0)
  const colors = await block
    .first()
    .locator('code span')
    .evaluateAll(spans => new Set(spans.map(span => getComputedStyle(span).color)).size)
  expect(colors).toBeGreaterThanOrEqual(3)
  await block.first().getByRole('button', { name: 'Copy code' }).click()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(code)
  expect(problems).toEqual([])
  await context.close()
  await turns.close()
})

it('a turn ends with its time, beside Copy also once it is no longer the last, and with its tokens only where the provider said them', async () => {
  const turns = await start([
    { text: 'Well.', usage: { prompt_tokens: 1_200, completion_tokens: 34 } },
    { text: 'Hm.', usage: null },
  ])
  const { page, context, problems } = await visit(browser, linkTo(turns), NEW)
  await say(page, 'One')
  const figures = page.locator('.app-figures')
  await figures.getByText('1,234 tokens').waitFor()
  const place = async (): Promise<readonly number[]> => {
    const [one, copy] = await Promise.all([
      figures.first().boundingBox(),
      answers(page).first().getByRole('button', { name: 'Copy' }).boundingBox(),
    ])
    return one && copy ? [one.x, one.y + one.height / 2 - copy.y - copy.height / 2] : []
  }
  const before = await place()
  expect(Math.abs(before[1] ?? 99)).toBeLessThanOrEqual(2)
  expect(await figures.innerText()).toMatch(/^[<\d.]+ s · 1,234 tokens$/)
  expect(await figures.locator('span').getAttribute('title')).toBe('1,200 in, 34 out, as the provider counts')
  await say(page, 'Two')
  await expect.poll(() => figures.count()).toBe(2)
  expect(await figures.last().innerText()).toMatch(/^[<\d.]+ s$/)
  expect(await place()).toEqual(before)
  expect(problems).toEqual([])
  await context.close()
  await turns.close()
})

const TOO_LONG = JSON.stringify({
  error: { message: "This model's maximum context length is 8192 tokens.", code: 'x' },
})

it.each([
  [401, undefined, 'The provider refused the key', 'RUNSHEET_MODEL_KEY', true],
  [429, undefined, 'The provider is busy', 'Wait a moment', false],
  [400, TOO_LONG, 'The conversation is too long for this model', 'larger context', true],
  [404, undefined, 'The provider refused the request', 'RUNSHEET_MODEL', true],
] as const)('a model that answers %i is a card with what to do', async (status, body, title, todo, isSetting) => {
  const refusal = { status, headers: { 'retry-after': '0' }, ...(body === undefined ? {} : { body }) }
  const turns = await start([refusal, refusal, refusal, 'Well.'].slice(status === 429 ? 0 : 2), { retryMs: 1 })
  const { page, context, problems } = await visit(browser, linkTo(turns), NEW)
  await say(page, 'Good morning')
  const card = messages(page).getByRole('note').filter({ hasText: title })
  await card.getByText(todo, { exact: false }).first().waitFor()
  if (status === 401) await card.getByText(`at ${turns.provider.url}/chat/completions`, { exact: false }).waitFor()
  expect(await answers(page).count()).toBe(0)
  expect(await card.getByRole('button', { name: 'Open settings' }).count()).toBe(isSetting ? 1 : 0)
  if (isSetting) {
    await card.getByRole('button', { name: 'Open settings' }).click()
    await expect.poll(() => new URL(page.url()).searchParams.has('settings')).toBe(true)
    await page.goBack()
  }
  await card.getByRole('button', { name: 'Retry' }).click()
  await answers(page).getByText('Well.').waitFor()
  expect(problems).toEqual([])
  await context.close()
  await turns.close()
})

it('a model that is not there is a card with the URL that was tried', async () => {
  const turns = await start([{ cutAfter: 0 }, { cutAfter: 0 }, { cutAfter: 0 }], { retryMs: 1 })
  const { page, context, problems } = await visit(browser, linkTo(turns), NEW)
  await say(page, 'Good morning')
  const card = messages(page).getByRole('note').filter({ hasText: 'The model cannot be reached' })
  await card.getByText(turns.provider.url, { exact: false }).waitFor()
  await card.getByText('RUNSHEET_MODEL_URL', { exact: false }).waitFor()
  await card.getByRole('button', { name: 'Open settings' }).waitFor()
  expect(problems).toEqual([])
  await context.close()
  await turns.close()
})

it('a tool server that is gone is a card, until one of its tools answers again', async () => {
  let isDown = true
  const read: OutsideTool = {
    name: 'files__read',
    description: '',
    inputSchema: { type: 'object' },
    isRepeatable: true,
    call: async () => {
      if (isDown) throw new Error('MCP error -32000: Connection closed')
      return 'Figures'
    },
  }
  const calls = { calls: [{ tool: 'files__read', args: { path: 'a.csv' } }] }
  const turns = await start([calls, 'I could not read it.', calls, 'Now I could.'], { outside: [read] })
  const { page, context, problems } = await visit(browser, linkTo(turns), NEW)
  await say(page, 'Read it')
  const card = messages(page).getByRole('note').filter({ hasText: 'The tool server “files” did not answer' })
  await card.getByText('Connection closed', { exact: false }).waitFor()
  await answers(page).getByText('I could not read it.').waitFor()
  isDown = false
  await say(page, 'Again')
  await answers(page).getByText('Now I could.').waitFor()
  expect(await card.count()).toBe(0)
  expect(problems).toEqual([])
  await context.close()
  await turns.close()
})

it('storage that fails is a card with what to do, and the text stays', async () => {
  const turns = await start(['Well.'])
  const { page, context, problems } = await visit(browser, linkTo(turns), { expected: /404|507|503/ })
  await page.route('**/messages', route =>
    route.fulfill({ status: 507, json: { error: { code: 'full', message: 'No space left.' } } }),
  )
  await say(page, 'Good morning')
  const card = page.getByRole('alert').filter({ hasText: 'The server could not save this' })
  await card.getByText('The server is out of disk space.').waitFor()
  await card.getByText('Look at its disk and data folder', { exact: false }).waitFor()
  expect(await box(page).inputValue()).toBe('Good morning')
  await page.unroute('**/messages')
  await card.getByRole('button', { name: 'Retry' }).click()
  await answers(page).getByText('Well.').waitFor()
  expect(problems).toEqual([])
  await context.close()
  await turns.close()
})

it('one banner says that this is the demo model, leads to the settings, and can be hidden for the session', async () => {
  const turns = await start(undefined, { models: await configuredModels({ model: 'demo' }), host: {} })
  const { page, context, problems } = await visit(browser, linkTo(turns), NEW)
  const banner = page.getByRole('complementary').filter({ hasText: 'Demo model' })
  await banner.getByText('it plans and writes, but cannot act').waitFor()
  // Without a sandbox, nothing to do there is offered.
  expect(await page.getByRole('button', { name: /sandbox/ }).count()).toBe(0)
  await page.getByRole('button', { name: 'Plan a birthday party for 20 people' }).click()
  await page.getByRole('button', { name: 'Approve 5 steps' }).click()
  await page.locator('.rs-todos').getByText('All 5 steps done').first().waitFor()
  expect(await messages(page).innerText()).not.toMatch(/demo model/i)
  await banner.getByRole('button', { name: 'Connect a real one' }).click()
  await expect.poll(() => new URL(page.url()).searchParams.has('settings')).toBe(true)
  await page.goBack()
  await banner.getByRole('button', { name: 'Hide for now' }).click()
  await banner.waitFor({ state: 'detached' })
  await page.reload()
  await page.locator('.rs-todos').waitFor()
  expect(await banner.count()).toBe(0)
  expect(problems).toEqual([])
  await context.close()
  await turns.close()
})

it('500 messages: what is out of sight is not laid out, the newest is in sight, and the first can be reached', async () => {
  const turns = await start()
  for (let made = 0; made < 250; made += 1) {
    const turn_id = `t${made}`
    const text = `Answer **${made}** with \`code\`.\n\n- one\n- two`
    const answer = { message_id: `answer-${made}`, role: 'assistant', text } as const
    await turns.door.run(
      { tenant: 'local', conversation: 'c1' },
      {
        type: 'start_turn',
        turn_id,
        message_id: `question-${made}`,
        message: `Question ${made}`,
        model: MODEL,
        policy: {},
      },
      { type: 'record', turn_id, fact: { type: 'message_added', data: answer } },
      { type: 'finish_turn', turn_id, because: 'answered', steps: 1, usage: {} },
    )
  }
  const { page, context, problems } = await visit(browser, linkTo(turns))
  await mine(page).getByText('Question 249', { exact: true }).waitFor()
  const isInSight = (name: string): Promise<boolean> =>
    mine(page)
      .getByText(name, { exact: true })
      .evaluate(element => {
        const { top, bottom } = element.getBoundingClientRect()
        return top >= 0 && bottom <= innerHeight
      })
  await expect.poll(() => isInSight('Question 249')).toBe(true)
  const skipped = () =>
    page
      .locator('.app-thread-turn')
      .evaluateAll(
        all => all.filter(turn => !turn.firstElementChild?.checkVisibility({ contentVisibilityAuto: true })).length,
      )
  await expect.poll(skipped, { timeout: 20_000 }).toBeGreaterThan(240)
  await messages(page).press('Home')
  await expect.poll(() => isInSight('Question 0')).toBe(true)
  await page.getByRole('button', { name: 'Jump to latest' }).click()
  await expect.poll(() => isInSight('Question 249')).toBe(true)
  expect(problems).toEqual([])
  await context.close()
  await turns.close()
})

it('[CH22] messages, cards and banner pass axe in both languages and schemes, at 390 and 1280 px', async () => {
  const turns = await start([
    'Look:\n\n```ts\nconst a: string = "b" // c\nfunction d() { return 42 }\n```\n\n```diff\n- a\n+ b\n```',
    { status: 401 },
  ])
  const { page, context, problems } = await visit(browser, linkTo(turns), { ...NEW })
  await box(page).waitFor()
  await page.route('**/api/models', route =>
    route.fulfill({ json: { models: [{ name: 'demo', default: true, sandbox: true }] } }),
  )
  await page.reload()
  await say(page, 'Show me')
  await messages(page).locator('.hljs-keyword').first().waitFor()
  await page.getByRole('button', { name: 'Send' }).waitFor()
  await say(page, 'Once more')
  await messages(page).getByRole('button', { name: 'Open settings' }).waitFor()
  await mine(page).first().getByRole('button', { name: 'Edit message' }).click()
  await page.route('**/messages', route => route.abort())
  const found: string[] = []
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 800 })
    await mine(page).last().hover()
    found.push(...(await complaintsOfAxe(page)))
    await page.getByRole('button', { name: '中文' }).click()
    await page.getByText('演示模型：能制定计划和写作，只在沙盒里动手执行。').waitFor()
    found.push(...(await complaintsOfAxe(page)))
    await page.getByRole('button', { name: 'English' }).click()
    await page.getByText('Demo model: it plans and writes, but acts only in a sandbox.').waitFor()
  }
  expect(found).toEqual([])
  expect(problems).toEqual([])
  await context.close()
  await turns.close()
})
