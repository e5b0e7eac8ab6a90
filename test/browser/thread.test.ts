import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import type { OutsideTool } from '../../src/engine/worker/outside.ts'
import { complaintsOfAxe } from '../support/axe.ts'
import { builtPage, sharedBrowser, visit } from '../support/page.ts'
import type { Answers } from '../support/provider.ts'
import { type Decide, startTurns, type TestTurns, type TurnsOptions } from '../support/turns.ts'
import { boxOf } from './panels.ts'

const browser = await sharedBrowser()

const start = (answers: Answers, options: TurnsOptions = {}): Promise<TestTurns> =>
  startTurns({ page: builtPage, answers, host: { review: false, assessor: false }, ...options })
const linkTo = ({ url, server }: TestTurns): string => `${url.href}?chat=c1#code=${server.loginCode()}`
const messages = (page: Page) => page.getByRole('region', { name: 'Messages' })
const stepOf = (page: Page, title: string) => messages(page).getByRole('group', { name: title, exact: true })
const ending = (page: Page) => page.getByRole('note').last()
const plan = (...titles: readonly string[]) => ({
  calls: [{ tool: 'plan', args: { tasks: titles.map(title => ({ title })) } }],
})
const update = (id: number, outcome: string, more: Record<string, unknown> = {}) => ({
  calls: [{ tool: 'update', args: { id, outcome, ...more } }],
})

/** Edits one row, removes one, adds one, and comments. */
const edited: Decide = () => ({
  action: 'confirm',
  comment: 'One page, please.',
  tasks: [
    { title: 'Collect', draft_index: 0, details: 'Only March' },
    { title: 'Write it up', draft_index: 1 },
    { title: 'Proofread' },
  ],
})

it('[CH22] a plan is a card with its changes, and the end says what came of it, in both languages', async () => {
  const turns = await start(
    [
      plan('Collect', 'Write', 'Send'),
      update(1, 'Twelve figures.'),
      update(2, 'Two pages.'),
      update(3, 'No typos.'),
      'It is done.',
    ],
    { host: { assessor: false } },
  )
  await turns.chat({ message: 'A report' }, edited)
  const { page, context, problems } = await visit(browser, linkTo(turns))
  const card = page.locator('.rs-decided')
  await card.getByText('You approved 3 steps · 2 edited · 1 added · 1 removed').waitFor()
  await card.getByText('“One page, please.”').waitFor()
  await card.locator('summary').click()
  await card.getByRole('listitem').first().waitFor()
  expect(await card.getByRole('listitem').evaluateAll(rows => rows.map(row => row.textContent))).toEqual([
    'Edited: CollectDetails:  Only March',
    'Edited: Write Write it up',
    'Removed: Send',
    'Added: Proofread',
  ])
  expect(await card.locator('del').allInnerTexts()).toEqual(['Write', 'Send'])
  expect(await ending(page).innerText()).toBe('All 3 steps done')
  expect(await complaintsOfAxe(page)).toEqual([])
  // It follows what a person does later.
  await page.locator('.rs-summary').click()
  await page.locator('.rs-todos').getByRole('button', { name: 'Reopen: Proofread' }).click()
  await expect.poll(() => ending(page).innerText()).toBe('2 done, 1 left')
  await page.getByRole('button', { name: '中文' }).click()
  await card.getByText('你批准了 3 个步骤 · 修改 2 项 · 新增 1 项 · 移除 1 项').waitFor()
  expect(await ending(page).innerText()).toBe('2 项完成、1 项未完成')
  expect(problems).toEqual([])
  await context.close()
  await turns.close()
})

it('a judge’s no shows at its step and in the plan, with Accept anyway and Reopen; follow-ups are one line', async () => {
  const turns = await start(
    [
      plan('Collect', 'Write'),
      update(1, 'January and February.'),
      update(1, 'All of it.'),
      ...Array.from({ length: 4 }, () => 'I could not finish.'),
    ],
    { host: { review: false }, assessor: () => 'NOT OK: March is missing' },
  )
  await turns.chat({ message: 'A report' })
  const { page, context, problems } = await visit(browser, linkTo(turns))
  const step = stepOf(page, 'Collect')
  // Folded, and it shows all the same.
  await step.getByText('Not accepted: March is missing').waitFor()
  expect(await step.getByRole('button').first().getAttribute('aria-expanded')).toBe('false')
  expect(await step.getByText('March is missing').count()).toBe(1)
  expect(await ending(page).innerText()).toMatch(/^1 blocked, 1 left · No progress after 3 attempts\.\s+Retry blocked$/)
  // The answers that were followed up are folded.
  const followed = page.locator('.rs-follow-ups')
  await followed.getByText('Asked 3 times to finish the plan').waitFor()
  expect(await messages(page).getByText('I could not finish.').filter({ visible: true }).count()).toBe(1)
  await followed.locator('summary').click()
  await expect.poll(() => messages(page).getByText('I could not finish.').filter({ visible: true }).count()).toBe(4)
  await step.getByRole('button').first().click()
  await step.getByText('Reported as done: January and February.').waitFor()
  expect(await step.getByText('Not accepted: March is missing').count()).toBe(2)
  expect(await complaintsOfAxe(page)).toEqual([])
  await page.locator('.rs-summary').click()
  const row = page.locator('.rs-task', { hasText: 'Collect' })
  await row.getByRole('button', { name: 'not accepted: Collect' }).waitFor()
  await step.getByRole('button', { name: 'Accept anyway: Collect' }).click()
  await row.getByText('confirmed').waitFor()
  await step.getByText('confirmed').waitFor()
  expect((await turns.tasks())[0]).toMatchObject({ status: 'completed', outcome: 'All of it.' })
  // One history of changes for thread and plan.
  await messages(page).click()
  await page.keyboard.press('Control+z')
  await step.getByRole('button', { name: 'Reopen: Collect' }).click()
  await expect.poll(async () => (await turns.statuses())[0]).toEqual(['Collect', 'pending'])
  expect(problems).toEqual([])
  await context.close()
  await turns.close()
})

it('a part of the page that could not be loaded is, once the server answers again', async () => {
  const turns = await start(['**Well.**'])
  await turns.chat({ message: 'Hello' })
  const { page, context, problems } = await visit(browser, turns.url, { expected: /ERR_FAILED/ })
  const isPart = /assets\/thread-.*\.js|icon\.svg/
  const lost = page.waitForRequest(/icon\.svg/)
  await page.route(isPart, route => route.abort())
  await page.goto(linkTo(turns))
  await lost
  await page.locator('.app-input').fill('Half a thought')
  await page.unroute(isPart)
  await messages(page).locator('strong').getByText('Well.').waitFor()
  expect(await page.locator('.app-input').inputValue()).toBe('Half a thought')
  expect(problems).toEqual([])
  await context.close()
  await turns.close()
})

it('the end counts over all turns of a plan', async () => {
  const turns = await start([
    plan('One', 'Two', 'Three'),
    update(1, 'a'),
    update(2, 'No key.', { status: 'blocked' }),
    { calls: [{ tool: 'update', args: { id: 3, status: 'blocked', outcome: 'No key.' } }] },
    'Two are blocked.',
    update(2, 'b'),
    update(3, 'c'),
    'Now all are done.',
  ])
  await turns.chat({ message: 'Three steps' })
  const { page, context, problems } = await visit(browser, linkTo(turns))
  await ending(page).getByText('1 done, 2 blocked').waitFor()
  expect(await stepOf(page, 'Two').getByRole('button').allInnerTexts()).toEqual([
    'Two\nblocked',
    'Mark as done',
    'Reopen',
  ])
  await ending(page).getByRole('button', { name: 'Retry blocked' }).click()
  await messages(page).getByText('Now all are done.').waitFor()
  await expect.poll(() => ending(page).innerText()).toBe('All 3 steps done')
  expect(await page.getByRole('note').first().innerText()).toBe('1 done, 2 blocked')
  // The first turn stays as it ended; what was taken up again is settled where it was last worked on.
  const [then, now] = await Promise.all([0, 1].map(turn => stepOf(page, 'Two').nth(turn).innerText()))
  expect([then, now]).toEqual(['Two\nblocked\n\nNo key.', 'Two\nreported\n\nb'])
  expect(await stepOf(page, 'Two').first().getByRole('img').getAttribute('aria-label')).toBe('blocked')
  expect(problems).toEqual([])
  await context.close()
  await turns.close()
})

it('a model that cannot be reached says which URL was tried, and what to set', async () => {
  const turns = await start([{ cutAfter: 0 }, { cutAfter: 0 }, { cutAfter: 0 }, { cutAfter: 0 }, { cutAfter: 0 }])
  await turns.chat({ message: 'Hello' })
  const { page, context, problems } = await visit(browser, linkTo(turns))
  await ending(page).getByText('The model cannot be reached').waitFor()
  expect(await ending(page).innerText()).toContain(`${turns.provider.url}/chat/completions`)
  expect(await ending(page).innerText()).toContain('RUNSHEET_MODEL_URL')
  expect(await messages(page).getByRole('article').count()).toBe(1)
  expect(problems).toEqual([])
  await context.close()
  await turns.close()
})

it('on a wide screen the plan can be moved beside the thread, which is remembered', async () => {
  const turns = await start([plan('Collect', 'Write'), { text: 'Working on it', hangs: true }])
  const reader = await turns.open({ message: 'A report' })
  await reader.reached('step_finished')
  const { page, context, problems } = await visit(browser, linkTo(turns))
  const panel = page.locator('.rs-todos')
  const above = async (): Promise<boolean> => {
    const [input, plan] = [await page.locator('.app-composer').boundingBox(), await panel.boundingBox()]
    return input !== null && plan !== null && plan.x === input.x && plan.width === input.width
  }
  await panel.waitFor()
  expect(await above()).toBe(true)
  await page.getByRole('button', { name: 'Plan beside the conversation' }).click()
  await panel.getByRole('listitem').first().waitFor()
  expect(await above()).toBe(false)
  expect(await panel.getByRole('button', { name: 'Add task' }).isVisible()).toBe(true)
  expect(await complaintsOfAxe(page)).toEqual([])
  await page.reload()
  await panel.getByRole('listitem').first().waitFor()
  // Undo and redo leave the counts their line, which does not begin with the dot before the clock.
  await panel.getByRole('button', { name: 'Mark as done: Write' }).click()
  const undo = panel.getByRole('button', { name: 'Undo' })
  for (const width of [1160, 1280, 1920]) {
    await page.setViewportSize({ width, height: 800 })
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width)
    const [buttons, counts, clock] = await Promise.all(
      [undo, panel.locator('.rs-counts'), panel.locator('.rs-elapsed')].map(boxOf),
    )
    expect(counts?.y).toBe(clock?.y)
    expect(counts?.y).toBeGreaterThanOrEqual((buttons?.y ?? 0) + (buttons?.height ?? 0) - 6)
  }
  // The conversation's title is quiet beside the list, which has it, too.
  const weight = () => page.getByRole('heading', { level: 1 }).evaluate(title => getComputedStyle(title).fontWeight)
  expect(await weight()).toBe('500')
  await page.setViewportSize({ width: 700, height: 800 })
  await expect.poll(above).toBe(true)
  expect(await weight()).toBe('600')
  expect(await page.getByRole('button', { name: 'Plan beside the conversation' }).count()).toBe(0)
  const icons = await page
    .locator('link[rel$="icon"]')
    .evaluateAll(all => all.map(each => (each as HTMLLinkElement).href))
  for (const icon of icons) expect((await page.request.get(icon)).status()).toBe(200)
  expect(icons).toHaveLength(2)
  expect(problems).toEqual([])
  await context.close()
  reader.leave()
  await turns.close()
})

it('only what runs moves, and nothing with reduced motion', async () => {
  const turns = await start([plan('Collect', 'Write'), { text: '', hangs: true }])
  const reader = await turns.open({ message: 'A report' })
  await reader.reached('tool_answered')
  const { page, context, problems } = await visit(browser, linkTo(turns), { reducedMotion: 'no-preference' })
  await page.getByText('Working…').waitFor()
  const moving = (): Promise<string[]> =>
    page.evaluate(() =>
      document
        .getAnimations()
        .filter(each => each.effect?.getTiming().iterations === Infinity)
        .map(each => {
          const { target } = each.effect as KeyframeEffect
          return (
            target?.closest('.rs-step, .rs-task, .rs-summary, .app-working, .app-mark')?.className.split(' ').at(-1) ??
            ''
          )
        })
        .toSorted(),
    )
  await expect.poll(moving).toEqual(['app-mark-running', 'app-working', 'rs-step-in_progress', 'rs-summary'])
  await page.emulateMedia({ reducedMotion: 'reduce' })
  await expect.poll(moving).toEqual([])
  expect(problems).toEqual([])
  await context.close()
  reader.leave()
  await turns.close()
})

const reading: OutsideTool = {
  name: 'read_file',
  description: 'Reads a file.',
  inputSchema: { type: 'object', properties: { path: { type: 'string' } } },
  isRepeatable: true,
  call: async () => 'content',
}

it('[CH22] a long card says how many rows are out of sight, and shows them', async () => {
  const titles = Array.from({ length: 20 }, (_, place) => `Step ${place + 1}`)
  const turns = await start([plan(...titles), 'It is planned.'], { host: { assessor: false, gate: false } })
  await turns.chat({ message: 'Go' }, ({ draft_tasks }) => ({
    action: 'confirm',
    tasks: draft_tasks.map((_, draft_index) => ({ draft_index })),
  }))
  const { page, context } = await visit(browser, linkTo(turns), {
    viewport: { width: 390, height: 500 },
    // It scrolls smoothly, past counts in between.
    reducedMotion: 'no-preference',
  })
  await page.locator('.rs-decided > summary').click()
  const cue = page.getByRole('button', { name: /^\d+ more below$/ })
  await cue.waitFor()
  const below = Number.parseInt(await cue.innerText(), 10)
  expect(await complaintsOfAxe(page)).toEqual([])
  await cue.click()
  await expect.poll(async () => Number.parseInt((await cue.allInnerTexts())[0] ?? '0', 10)).toBeLessThan(below)
  await page.locator('.rs-diff-row').last().scrollIntoViewIfNeeded()
  await cue.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: /^\d+ more above$/ }).waitFor()
  await context.close()
  await turns.close()
})

it('on a touch screen: 44 px targets; titles without a space, either direction, and a very long answer', async () => {
  const long = 'x'.repeat(400)
  const hebrew = 'לאסוף את הנתונים'
  const answer = `זה מוכן.\n\n${'word '.repeat(180_000)}the end`
  const turns = await start(
    [
      plan(long, hebrew),
      { text: 'קורא.', calls: [{ tool: 'read_file', args: { path: `${long}.csv` } }] },
      update(1, long),
      update(2, `**${hebrew}** (\`v2\`)`),
      answer,
    ],
    { outside: [reading], host: { assessor: false } },
  )
  await turns.chat({ message: hebrew }, ({ draft_tasks }) => ({
    action: 'confirm',
    comment: hebrew,
    tasks: draft_tasks.map(({ title }, draft_index) => ({ title, draft_index })),
  }))
  const { page, context, problems } = await visit(browser, linkTo(turns), {
    viewport: { width: 390, height: 800 },
    hasTouch: true,
    isMobile: true,
  })
  await stepOf(page, long).getByRole('button').first().click()
  await page.locator('.rs-decided > summary').click()
  await page.locator('.rs-summary').click()
  await page.locator('.rs-diff li').first().waitFor()
  const small = await page
    .locator('button, summary, input, select, textarea')
    .evaluateAll(all =>
      all
        .filter(each => each.checkVisibility() && !each.closest('.app-side') && !each.matches('.rs-mark'))
        .flatMap(each => (each.getBoundingClientRect().height < 44 ? `${each.className} ${each.textContent}` : [])),
    )
  expect(small).toEqual([])
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
  const sideways = await page.locator('.app-scroll').evaluate(each => each.scrollWidth - each.clientWidth)
  expect(sideways).toBe(0)
  // Each text begins at the side of its own direction.
  const startsRight = (text: string): Promise<boolean> =>
    page
      .locator('.app-markdown p', { hasText: text })
      .first()
      .evaluate(each => {
        const range = document.createRange()
        range.selectNodeContents(each)
        const [inner, outer] = [range.getBoundingClientRect(), each.getBoundingClientRect()]
        return outer.right - inner.right < 2 && inner.left - outer.left > 20
      })
  expect(await startsRight('זה מוכן.')).toBe(true)
  const row = page.locator('.rs-task-text > div', { hasText: hebrew })
  expect(await row.evaluateAll(all => all.map(each => getComputedStyle(each).direction))).toEqual(['rtl', 'rtl'])
  const proposed = page.locator('.rs-diff-row [dir]', { hasText: hebrew })
  expect(await proposed.evaluateAll(all => all.map(each => getComputedStyle(each).direction))).toEqual(['rtl'])
  // Outcomes are words, without their Markdown.
  expect(await page.locator('.rs-outcome').last().innerText()).toBe(`${hebrew} (v2)`)
  // The rest of a long answer is a press away.
  const rest = page.getByRole('button', { name: 'Show the rest (870 kB)' })
  expect(await messages(page).getByText('the end').count()).toBe(0)
  // The open plan leaves little room for the thread.
  await page.locator('.rs-summary').click()
  await rest.click()
  await messages(page).getByText('the end').waitFor()
  const whole = await page.locator('.app-markdown, .app-rest').allTextContents()
  expect(whole.join('')).toContain('the end')
  expect(await page.evaluate(() => document.activeElement?.className)).toBe('app-rest')
  // It takes the focus once, not with every change of the page.
  await page.locator('.app-input').focus()
  await page.keyboard.type('Thanks')
  expect(await page.locator('.app-input').inputValue()).toBe('Thanks')
  expect(problems).toEqual([])
  await context.close()
  await turns.close()
})
