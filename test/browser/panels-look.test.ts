import type { Locator, Page } from 'playwright-core'
import { afterEach, expect, it, onTestFinished } from 'vitest'
import { plainMaker } from '../../src/engine/door/checks.ts'
import { complaintsOfAxe } from '../support/axe.ts'
import { builtPage, sharedBrowser } from '../support/page.ts'
import { Bench, NPM_TEST, PLACE, proposed } from '../support/proof.ts'
import { boxOf, holds, Panels, says, SLOW_BROWSER } from './panels.ts'

const browser = await sharedBrowser()

const LONG = 'x'.repeat(400)

let panels: Panels | undefined
afterEach(async () => {
  await panels?.close()
  panels = undefined
})

const open = async (review: boolean, more: Parameters<typeof Panels.open>[1] = {}): Promise<Panels> => {
  panels = await Panels.open(browser, { review, assessor: false, ...more })
  return panels
}
const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true })
const row = (page: Page, text: string) => page.locator('.rs-task', { hasText: text })
const end = (page: Page) => page.getByRole('note').last()
const turning = (page: Page) => page.locator('.rs-turning, .rs-elapsed').count()

/** Whether an element lies on any line of a text. */
async function coversText(over: Locator, text: Locator): Promise<boolean> {
  const { x, y, width, height } = await boxOf(over)
  const lines = await text.evaluate(each => {
    const range = document.createRange()
    range.selectNodeContents(each)
    return [...range.getClientRects()].map(({ left, right, top, bottom }) => ({ left, right, top, bottom }))
  })
  // The icons are higher than a line, and have nothing at their edges.
  return lines.some(
    line => line.right > x + 1 && line.left < x + width - 1 && line.bottom > y + 6 && line.top < y + height - 6,
  )
}

it('in the plan a title has the width until its row is hovered or focused, and its icons never cover it', async () => {
  const agent = await open(false)
  await agent.plan('Short', LONG)
  const page = await agent.window()
  await page.locator('.rs-summary').click()
  const icons = (text: string) => row(page, text).locator('.rs-folded')
  const title = (text: string) => row(page, text).locator('.rs-task-title')
  await title(LONG).waitFor()
  const list = await boxOf(page.locator('.rs-list'))
  const wide = await boxOf(title(LONG))
  expect(list.x + list.width - wide.x - wide.width).toBeLessThan(30)
  for (const text of ['Short', LONG]) {
    await row(page, text).hover()
    await expect.poll(() => icons(text).evaluate(each => getComputedStyle(each).opacity)).toBe('1')
    expect(await coversText(icons(text), title(text))).toBe(false)
  }
  await page.mouse.move(0, 0)
  await button(page, 'Mark as done: Short').focus()
  await expect.poll(() => icons('Short').evaluate(each => getComputedStyle(each).opacity)).toBe('1')
  await page.keyboard.press('Tab')
  expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe('Rename: Short')
  expect(await complaintsOfAxe(page)).toEqual([])
})

it('on a wide touch screen a row of the plan has one button for them', async () => {
  const agent = await open(false)
  await agent.plan('Short', LONG)
  const page = await agent.window({ hasTouch: true, isMobile: true, viewport: { width: 1024, height: 800 } })
  await page.locator('.rs-summary').tap()
  const shown = () => row(page, 'Short').locator('button').filter({ visible: true }).count()
  await row(page, 'Short').waitFor()
  expect(await shown()).toBe(2)
  await row(page, 'Short').getByRole('button', { name: 'More actions: Short' }).tap()
  expect(await shown()).toBe(6)
  await button(page, 'Cancel task: Short').tap()
  await expect.poll(() => agent.statusOf('Short'), SLOW_BROWSER).toBe('cancelled')
  // Muted, not struck through.
  const style = await row(page, 'Short')
    .locator('.rs-task-title')
    .evaluate(each => getComputedStyle(each).textDecorationLine)
  expect(style).toBe('none')
})

it('in the review the icons show beside a short title, and beside a long one are in the menu only', async () => {
  const agent = await open(true)
  void agent.plan('Short', LONG).catch(() => {})
  const page = await agent.window()
  const rows = page.locator('.rs-row')
  const remove = (place: number) => button(page, `Remove, ${place}`)
  /** What a click in the middle of it would hit. */
  const isHit = (of: Locator): Promise<boolean> =>
    of.evaluate(each => {
      const { x, y, width, height } = each.getBoundingClientRect()
      return each.contains(document.elementFromPoint(x + width / 2, y + height / 2))
    })
  await rows.nth(1).hover()
  expect(await isHit(remove(2))).toBe(false)
  await rows.nth(0).hover()
  expect(await isHit(remove(1))).toBe(true)
  // By keyboard each can be reached, and the title makes room.
  await page.getByLabel('Title, 2', { exact: true }).focus()
  const before = await boxOf(page.getByLabel('Title, 2', { exact: true }))
  await page.keyboard.press('Tab')
  await expect.poll(() => isHit(button(page, 'More fields, 2'))).toBe(true)
  const after = await boxOf(page.getByLabel('Title, 2', { exact: true }))
  const icon = await boxOf(button(page, 'More fields, 2'))
  expect(after.width).toBeLessThan(before.width)
  expect(icon.x).toBeGreaterThanOrEqual(after.x + after.width - 1)
})

it('blocked has one colour: in the line of the plan, its row, its icons and the thread', async () => {
  const agent = await open(false)
  await agent.plan('A', 'B')
  await agent.update(1, { status: 'blocked', outcome: 'No key.' })
  const page = await agent.window()
  await page.locator('.rs-summary').click()
  await row(page, 'A').waitFor()
  const words = page.locator('.rs-blocked, .rs-status-blocked, .rs-mark-blocked')
  const colours = await words.evaluateAll(all => all.map(each => getComputedStyle(each).color))
  expect(colours).toHaveLength(5)
  expect(new Set(colours).size).toBe(1)
})

it('an outcome is one line in a closed row and step, and rendered Markdown in an opened one', async () => {
  const agent = await open(false)
  await agent.plan('Look', 'Leap')
  await agent.update(1, { outcome: 'Found:\n\n- **one** file\n- two tests\n\n```sh\nnpm test\n```' })
  const page = await agent.window()
  await page.locator('.rs-summary').click()
  const line = 'Found: one file · two tests · npm test'
  await says(row(page, 'Look').locator('.rs-outcome'), [line])
  const step = page.getByRole('group', { name: 'Look', exact: true })
  await says(step.locator('.rs-step-outcome'), [line])
  for (const part of [row(page, 'Look'), step]) {
    await part.locator('[aria-expanded="false"]').first().click()
    await says(part.locator('li').filter({ hasText: /file|tests/ }), ['one file', 'two tests'])
    await part.locator('pre', { hasText: /^npm test\s*$/ }).waitFor()
  }
})

it('a plan of another agent that a person reopened looks idle until that agent calls, and its end is told', async () => {
  const agent = await open(true, { review_timeout_ms: 1_000 })
  await agent.plan('Look', 'Leap')
  const page = await agent.window()
  await agent.server.person.setPolicy('c', { review_timeout_ms: null })
  await button(page, 'Reopen').click()
  await button(page, /^Approve /).click()
  await page.getByText('0 of 2 done · 2 remaining').waitFor()
  await page.locator('.rs-summary').click()
  expect(await turning(page)).toBe(0)
  expect(await page.getByRole('note').count()).toBe(0)
  await agent.look()
  await expect.poll(() => turning(page), SLOW_BROWSER).toBeGreaterThan(0)
  await agent.update(1)
  await agent.update(2)
  await says(end(page), ['All 2 steps done'])
  expect(await turning(page)).toBe(0)
  // One fact once.
  await says(page.locator('.rs-current'), ['2 steps'])
  await button(page, 'Reopen: Leap').first().click()
  await expect.poll(() => page.getByRole('note').count(), SLOW_BROWSER).toBe(0)
  await agent.look()
  await agent.update(2, { status: 'blocked' })
  await says(end(page), ['1 done, 1 blocked'])
  expect(await complaintsOfAxe(page)).toEqual([])
})

it('a check that was left unapproved says so on the card, at its step and in its row, until it is approved', async () => {
  const bench = await Bench.set(true, { page: builtPage })
  await bench.proposes({ title: 'Write', checks: [proposed(NPM_TEST)] }, { title: 'Send' })
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  onTestFinished(() => context.close())
  const page = await context.newPage()
  page.setDefaultTimeout(SLOW_BROWSER.timeout)
  await page.goto(`${bench.server.url.href}?chat=c1#code=${bench.server.server.loginCode()}`)
  await button(page, 'Approve 2 steps').click()
  const card = page.locator('.rs-decided')
  await card.getByText('You approved 2 steps · 1 check not approved').waitFor()
  await card.locator('summary').click()
  await says(card.locator('small'), ['npm test · not approved, not run'])
  const { id, version } = await bench.task()
  await bench.server.person.changeTask('c1', id, version, { status: 'completed' })
  const step = page.getByRole('group', { name: 'Write', exact: true })
  await step.getByRole('button').first().click()
  await says(step.locator('.rs-line'), ['npm test · not approved, not run'])
  expect(await complaintsOfAxe(page)).toEqual([])
  const done = await bench.task()
  await bench.server.person.changeTask('c1', id, done.version, { status: 'pending' })
  await page.locator('.rs-summary').click()
  await button(page, '1 check not approved: Write').click()
  await button(page, /^Approve: npm test/).click()
  await button(page, '1 check: Write').waitFor()
  await card.getByText('You approved 2 steps', { exact: true }).waitFor()
  expect(plainMaker.hash(NPM_TEST, PLACE)).toBe((await bench.task()).checks?.[0]?.hash)
})

it('of two reviews the oldest shows, and how many more follow; rejected, nothing waits any more', async () => {
  const agent = await open(true)
  const ask = (turn_id: string, title: string) =>
    void agent.server.agent
      .call('runsheet', 'plan', { session_id: agent.session, turn_id, arguments: { tasks: [{ title }] } })
      .catch(() => {})
  const waiting = async (): Promise<number> => (await agent.pending()).length
  ask('t1', 'First')
  await expect.poll(waiting, SLOW_BROWSER).toBe(1)
  const page = await agent.window()
  const titles = page.getByLabel(/^Title, /)
  await holds(titles, ['First'])
  const words = () => page.getByText('Waiting for your review').filter({ visible: true }).count()
  await expect.poll(words, SLOW_BROWSER).toBeGreaterThan(0)
  ask('t2', 'Second')
  await says(page.locator('.rs-others'), ['1 more plan to review after this one'])
  await holds(titles, ['First'])
  expect(await complaintsOfAxe(page)).toEqual([])
  await button(page, 'Reject').click()
  await page.getByText('You rejected this plan.').waitFor()
  await expect
    .poll(() => page.locator('.app-scroll').getByText('Waiting for your review').count(), SLOW_BROWSER)
    .toBe(0)
  await page.locator('.app-input').press('Enter')
  await holds(titles, ['Second'])
  expect(await page.locator('.rs-others').count()).toBe(0)
})
