import type { Page, Route } from 'playwright-core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { PolicyPatch } from '../../src/core/model/policy.ts'
import type { SentDecision } from '../../src/core/views/wire.ts'
import { chinese } from '../../src/ui/panels/texts/chinese.ts'
import { english } from '../../src/ui/panels/texts/english.ts'
import { complaintsOfAxe } from '../support/axe.ts'
import { sharedBrowser } from '../support/page.ts'
import { boxOf, dragByTouch, hasFocus, holds, Panels, SLOW_BROWSER, type Proposed, says } from './panels.ts'

const browser = await sharedBrowser()

let panels: Panels

beforeEach(async () => {
  panels = await Panels.open(browser)
})
afterEach(() => panels.close())

const review = (page: Page) => page.getByRole('region', { name: 'Review the plan' })
const titles = (page: Page) => page.getByLabel(/^Title, /)
const title = (page: Page, row: number) => page.getByLabel(`Title, ${row}`, { exact: true })
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const confirm = (page: Page) => page.getByRole('button', { name: /^Approve \d+ steps?$/ })
const reject = (page: Page) => button(page, 'Reject')
/** What is in the menu of a row, or of the review. */
async function choose(page: Page, name: string, row?: number): Promise<void> {
  await button(page, row === undefined ? 'More actions' : `More actions, ${row}`).click()
  await page.getByRole('menuitem', { name, exact: true }).click()
}
const composer = (page: Page) => page.locator('.app-composer')
const input = (page: Page) => page.locator('.app-input')
const isGone = (page: Page) => review(page).waitFor({ state: 'detached' })

/** A pending plan, a window that shows it, and the answer that the agent will get. */
async function openReview(...tasks: readonly Proposed[]): Promise<{ page: Page; agentAnswer: Promise<unknown> }> {
  const agentAnswer = panels.plan(...tasks)
  void agentAnswer.catch(() => {})
  const page = await panels.window()
  await review(page).waitFor()
  return { page, agentAnswer }
}

/** The same server, with another policy for new conversations. */
async function withPolicy(host: PolicyPatch): Promise<void> {
  await panels.close()
  panels = await Panels.open(browser, host)
}

it('a conversation of another agent shows its title at once, and what that agent does', async () => {
  // The agent reads its list before it plans.
  await panels.look()
  const page = await panels.window()
  await page.getByText('Another agent uses this conversation.').waitFor()
  await page.getByRole('heading', { level: 1, name: 'New conversation' }).waitFor()
  void panels.plan('Collect').catch(() => {})
  await page.getByRole('heading', { level: 2, name: 'Review the plan · 1 step' }).waitFor()
  await page.getByRole('heading', { level: 1, name: 'Collect' }).waitFor()
  // It waits for the person, and works once they decided.
  await says(page.locator('.app-other-agent'), ['Waiting for your review'])
  await confirm(page).click()
  await page.locator('.app-other-agent').getByText('Another agent is working in this conversation.').waitFor()
  await page.getByRole('navigation').getByRole('link', { name: 'Collect' }).waitFor()
  expect(await page.title()).toBe('Collect · Runsheet')
})

it('the header counts the steps and the time, says what happens then, and gives more of it', async () => {
  await withPolicy({ review_timeout_ms: 60_000 })
  const { page } = await openReview('Collect', 'Write')
  await page.getByRole('heading', { name: 'Review the plan · 2 steps' }).waitFor()
  const clock = page.getByRole('timer')
  const first = await clock.innerText()
  expect(first).toMatch(/^(1:00|0:5\d) left, then nothing is started$/)
  await expect.poll(() => clock.innerText(), SLOW_BROWSER).not.toBe(first)
  const deadline = (await panels.pending())[0]?.expires_at ?? ''
  await button(page, 'More time').click()
  await expect.poll(async () => ((await panels.pending())[0]?.expires_at ?? '') > deadline, SLOW_BROWSER).toBe(true)
  await page.route('**/extend', route => route.abort())
  await button(page, 'More time').click()
  await review(page).getByRole('alert').getByText('The server cannot be reached.').waitFor()
})

it('a review without a deadline counts nothing down, and stays when its last window is closed', async () => {
  const { page } = await openReview('Collect')
  expect(await page.getByRole('timer').count()).toBe(0)
  expect(await review(page).innerText()).not.toMatch(/0:00|NaN|left/)
  await expect.poll(async () => (await panels.showing())?.panels.length, SLOW_BROWSER).toBe(1)
  await page.goto('about:blank')
  await expect.poll(async () => (await panels.showing())?.panels.length, SLOW_BROWSER).toBe(0)
  expect(await panels.showing()).toMatchObject({ closes_at: null, expires_at: null })
  const back = await panels.window()
  await holds(titles(back), ['Collect'])
})

it('a wrong browser clock does not change the countdown', async () => {
  await withPolicy({ review_timeout_ms: 120_000 })
  const agentAnswer = panels.plan('Collect')
  for (const minutesAhead of [-7, 7]) {
    const page = await panels.window({ minutesAhead })
    const clock = page.getByRole('timer')
    await expect.poll(() => clock.innerText(), SLOW_BROWSER).toMatch(/^(2:00|1:[345]\d) left/)
    if (minutesAhead > 0) await confirm(page).click()
    else await page.close()
  }
  await agentAnswer
})

it('[PA11] what is confirmed is what is visible: all fields, added, removed and unchanged rows, and the comment', async () => {
  const { page, agentAnswer } = await openReview('Collect', { title: 'Write', done_when: 'It is one page.' }, 'Send')
  await title(page, 1).fill('Collect the figures')
  await button(page, 'More fields, 1').click()
  await page.getByLabel('Details, 1').fill('From the ledger')
  await page.getByLabel('Done when, 1').fill('All are there')
  await page.getByLabel('Priority, 1').selectOption('high')
  await page.getByLabel('Status, 1').selectOption('doing')
  await page.getByLabel('Tags, separated by commas, 1').fill('money, ledger')
  await holds(page.getByLabel('Done when, 2'), ['It is one page.'])
  await button(page, 'Remove, 3').click()
  await hasFocus(title(page, 2))
  await button(page, 'Add step').click()
  await hasFocus(title(page, 3))
  await page.keyboard.type('Archive')
  await input(page).fill('Mind the rounding.')
  await confirm(page).click()
  expect(await agentAnswer).toMatchObject({ comment: 'Mind the rounding.' })
  expect(await panels.tasks()).toMatchObject([
    {
      title: 'Collect the figures',
      details: 'From the ledger',
      criteria: 'All are there',
      priority: 'high',
      status: 'in_progress',
      tags: ['money', 'ledger'],
      created_by: 'tool',
    },
    { title: 'Write', criteria: 'It is one page.', priority: 'medium', status: 'pending', created_by: 'tool' },
    { title: 'Archive', created_by: 'user' },
  ])
  await isGone(page)
  expect(await page.getByText(/This plan was \w+ elsewhere/).count()).toBe(0)
  expect(await page.evaluate(() => Object.keys(localStorage).filter(key => key.includes('review')))).toEqual([])
})

describe('rows are reordered', () => {
  it('by keyboard: the focus stays on the row, and its new position is announced', async () => {
    const { page, agentAnswer } = await openReview('A', 'B', 'C')
    await title(page, 1).focus()
    await page.keyboard.press('Alt+ArrowDown')
    await holds(titles(page), ['B', 'A', 'C'])
    await hasFocus(title(page, 2))
    await page.getByRole('status').getByText('Moved to 2 of 3').waitFor({ state: 'attached' })
    await button(page, 'More actions, 2').focus()
    await page.keyboard.press('Enter')
    await hasFocus(page.getByRole('menuitem', { name: 'More fields' }))
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown', 'Enter']) await page.keyboard.press(key)
    await holds(titles(page), ['B', 'C', 'A'])
    await hasFocus(button(page, 'More actions, 3'))
    await page.keyboard.press('Enter')
    expect(await page.getByRole('menuitem', { name: 'Move down' }).getAttribute('aria-disabled')).toBe('true')
    await page.keyboard.press('Escape')
    await hasFocus(button(page, 'More actions, 3'))
    expect((await page.getByRole('menu').count()) + (await page.getByRole('alertdialog').count())).toBe(0)
    await confirm(page).click()
    await agentAnswer
    expect(await panels.titles()).toEqual(['B', 'C', 'A'])
  })

  it('by dragging, up and down', async () => {
    const { page, agentAnswer } = await openReview('A', 'B', 'C', 'D')
    const handles = review(page).locator('.rs-handle')
    const rows = review(page).locator('.rs-row')
    await handles.nth(0).dragTo(rows.nth(2))
    await holds(titles(page), ['B', 'C', 'A', 'D'])
    await handles.nth(3).dragTo(rows.nth(1))
    await holds(titles(page), ['B', 'D', 'C', 'A'])
    await confirm(page).click()
    await agentAnswer
    expect(await panels.titles()).toEqual(['B', 'D', 'C', 'A'])
  })
})

it('a row dropped below the last one becomes the last', async () => {
  const { page } = await openReview('A', 'B', 'C', 'D')
  const handles = review(page).locator('.rs-handle')
  await handles.nth(0).dragTo(review(page).locator('.rs-tools'))
  await holds(titles(page), ['B', 'C', 'D', 'A'])
  await handles.nth(1).dragTo(review(page).locator('.rs-add-row'))
  await holds(titles(page), ['B', 'D', 'A', 'C'])
  // Drops above or beside the rows do not move them to the end.
  await handles.nth(0).dragTo(review(page).locator('.rs-review-head'))
  await handles.nth(2).dragTo(handles.nth(0))
  await holds(titles(page), ['A', 'B', 'D', 'C'])
  expect(await review(page).locator('.rs-drop-before, .rs-drop-after').count()).toBe(0)
})

it('[PA11] a long title is fully visible also without `field-sizing`', async () => {
  const long = 'A title that says everything there is to say about it, and then some more. '.repeat(4).trim()
  void panels.plan(long, 'B').catch(() => {})
  const context = await browser.newContext({ viewport: { width: 390, height: 844 } })
  await context.route('**/*.css', async route => {
    const answer = await route.fetch()
    await route.fulfill({ response: answer, body: (await answer.text()).replaceAll('field-sizing:content', '') })
  })
  await context.addInitScript(() => {
    CSS.supports = () => false
  })
  const page = await panels.window({ in: context })
  const heights = (row: number): Promise<number[]> =>
    title(page, row).evaluate(({ clientHeight, scrollHeight }) => [clientHeight, scrollHeight])
  const [high = 0, all] = await heights(1)
  expect(high).toBeGreaterThan(100)
  expect(high).toBe(all)
  expect((await heights(2))[0]).toBeLessThan(50)
  await title(page, 1).fill('Short')
  await expect.poll(async () => (await heights(1))[0], SLOW_BROWSER).toBeLessThan(50)
  await context.close()
})

it('in a select, Alt and an arrow key open it and move nothing', async () => {
  const { page } = await openReview('A', 'B')
  await button(page, 'More fields, 1').click()
  await page.getByLabel('Priority, 1').focus()
  await page.keyboard.press('Alt+ArrowDown')
  await page.keyboard.press('Escape')
  await holds(titles(page), ['A', 'B'])
  await title(page, 1).focus()
  await page.keyboard.press('Alt+ArrowDown')
  await holds(titles(page), ['B', 'A'])
})

it('a finger at the edge scrolls the list', async () => {
  const names = Array.from({ length: 14 }, (_, place) => `Row ${place + 1}`)
  void panels.plan(...names).catch(() => {})
  const page = await panels.window({ viewport: { width: 360, height: 640 }, hasTouch: true, isMobile: true })
  await title(page, 14).waitFor({ state: 'attached' })
  const from = await boxOf(review(page).locator('.rs-handle').first())
  const body = await boxOf(review(page).locator('.rs-review-body'))
  const hand = await page.context().newCDPSession(page)
  const x = from.x + from.width / 2
  const touch = (type: 'touchStart' | 'touchMove', y: number) =>
    hand.send('Input.dispatchTouchEvent', { type, touchPoints: [{ x, y }] })
  await touch('touchStart', from.y + from.height / 2)
  await touch('touchMove', from.y + 100)
  await touch('touchMove', body.y + body.height - 8)
  // The list scrolls until the last row is reached.
  await review(page).locator('.rs-row').last().locator('.rs-handle').waitFor()
  await expect.poll(() => review(page).locator('.rs-drop-after').getByLabel('Title, 14').count(), SLOW_BROWSER).toBe(1)
  await hand.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] })
  await holds(titles(page), [...names.slice(1), 'Row 1'])
})

it('by touch, also on a narrow screen', async () => {
  const agentAnswer = panels.plan('A', 'B', 'C', 'D')
  const page = await panels.window({ viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true })
  const handles = review(page).locator('.rs-handle')
  const rows = review(page).locator('.rs-row')
  await handles.nth(3).waitFor()
  await dragByTouch(page, handles.nth(0), rows.nth(2))
  await holds(titles(page), ['B', 'C', 'A', 'D'])
  await dragByTouch(page, handles.nth(3), rows.nth(1))
  await holds(titles(page), ['B', 'D', 'C', 'A'])
  expect(await review(page).locator('.rs-dragged, .rs-drop-before, .rs-drop-after').count()).toBe(0)
  await confirm(page).click()
  await agentAnswer
  expect(await panels.titles()).toEqual(['B', 'D', 'C', 'A'])
})

it('selected rows get a priority or tags at once', async () => {
  const { page, agentAnswer } = await openReview('A', 'B', 'C', 'D')
  await page.getByLabel('Select step 1').check()
  await page.getByLabel('Select step 3').check()
  await choose(page, 'Select', 4)
  const bar = page.getByRole('group', { name: '3 selected' })
  // What changes nothing is nothing to undo.
  await bar.getByLabel('Priority').selectOption('medium')
  await bar.getByLabel('Status').selectOption('todo')
  expect(await button(page, 'Undo').count()).toBe(0)
  await bar.getByLabel('Priority').selectOption('high')
  await button(page, 'Undo').waitFor()
  await bar.getByLabel('Status').selectOption('blocked')
  await bar.getByLabel('Tags, separated by commas').fill('x, y')
  await bar.getByRole('button', { name: 'Set tags' }).click()
  await button(page, 'Remove, 4').click()
  await page.getByRole('group', { name: '2 selected' }).waitFor()
  await confirm(page).click()
  await agentAnswer
  expect((await panels.tasks()).map(({ title, priority, status, tags }) => [title, priority, status, tags])).toEqual([
    ['A', 'high', 'blocked', ['x', 'y']],
    ['B', 'medium', 'in_progress', []],
    ['C', 'high', 'blocked', ['x', 'y']],
  ])
})

it('all rows are selected and deleted at once, and brought back by one undo', async () => {
  const { page } = await openReview('A', 'B', 'C')
  await choose(page, 'Select all')
  const bar = page.getByRole('group', { name: /selected$/ })
  await bar.getByLabel('Select all').click()
  await bar.waitFor({ state: 'detached' })
  await page.getByLabel('Select step 2').check()
  await bar.getByLabel('Select all').click()
  await page.getByLabel('Select step 1').uncheck()
  await bar.getByRole('button', { name: 'Delete' }).click()
  await holds(titles(page), ['A'])
  await hasFocus(title(page, 1))
  await page.getByRole('status').getByText('2 steps removed.').waitFor({ state: 'attached' })
  await button(page, 'Undo').click()
  await holds(titles(page), ['A', 'B', 'C'])
})

it('an empty field removes no tags; Enter applies it', async () => {
  const { page, agentAnswer } = await openReview('A', 'B')
  await button(page, 'More fields, 1').click()
  await page.getByLabel('Tags, separated by commas, 1').fill('old')
  await page.getByLabel('Select step 1').check()
  await page.getByLabel('Select step 2').check()
  const bar = page.getByRole('group', { name: '2 selected' })
  const field = bar.getByLabel('Tags, separated by commas')
  for (const nothing of ['', ' , ']) {
    await field.fill(nothing)
    expect(await bar.getByRole('button', { name: 'Set tags' }).count()).toBe(0)
    await field.press('Enter')
  }
  await holds(page.getByLabel('Tags, separated by commas, 1'), ['old'])
  await page.getByLabel('Select step 1').uncheck()
  await page.getByRole('group', { name: '1 selected' }).getByLabel('Tags, separated by commas').fill('new')
  await page.keyboard.press('Enter')
  await page.getByRole('status').getByText('Tags set in 1 step').waitFor({ state: 'attached' })
  await confirm(page).click()
  await agentAnswer
  expect((await panels.tasks()).map(({ tags }) => tags)).toEqual([['old'], ['new']])
})

describe('templates', () => {
  const dialog = (page: Page) => page.getByRole('dialog', { name: 'Templates' })
  const names = (page: Page) => dialog(page).locator('li button > span')
  const open = (page: Page) => choose(page, 'Templates…')
  const saved = async (name: string): Promise<unknown> =>
    (await panels.server.person.template(name)).tasks.map(row => row.title)
  const save = async (page: Page, name: string): Promise<void> => {
    await dialog(page).getByPlaceholder('Template name').fill(name)
    await page.keyboard.press('Enter')
  }

  it('a template is saved, read before it is inserted, and inserted up to the limit of rows', async () => {
    const { page, agentAnswer } = await openReview({ title: 'Tag', done_when: 'Pushed' }, 'Publish')
    await open(page)
    await dialog(page).getByText('No templates yet.').waitFor()
    await save(page, 'Release')
    await page.getByRole('status').getByText('Saved as “Release”.').waitFor()
    expect((await panels.server.person.template('Release')).tasks).toMatchObject([
      { title: 'Tag', criteria: 'Pushed' },
      { title: 'Publish' },
    ])
    await says(dialog(page).locator('section li'), ['Tag\nDone when: Pushed', 'Publish'])
    const insert = async (): Promise<void> => {
      if ((await dialog(page).count()) === 0) await open(page)
      await button(page, 'Insert 2 steps').click()
    }
    await insert()
    await holds(titles(page), ['Tag', 'Publish', 'Tag', 'Publish'])
    await hasFocus(title(page, 3))
    // A row that was removed and inserted again is a new row.
    await button(page, 'Remove, 1').click()
    await insert()
    await title(page, 2).fill('Tag 2')
    await holds(titles(page), ['Publish', 'Tag 2', 'Publish', 'Tag', 'Publish'])
    for (let rows = 7; rows <= 21; rows += 2) await insert()
    await page.getByRole('status').getByText('A plan can have at most 20 steps.').waitFor({ state: 'attached' })
    // It is also visible.
    await review(page).locator('.rs-full').getByText('A plan can have at most 20 steps.').waitFor()
    // Enter in a title says so as well, and stays there; the next edit takes it away.
    await title(page, 20).fill('Last')
    await says(review(page).locator('.rs-reason'), [''])
    await title(page, 20).press('Enter')
    await says(review(page).locator('.rs-reason'), ['A plan can have at most 20 steps.'])
    await hasFocus(title(page, 20))
    await page.keyboard.type(' one')
    expect(await title(page, 20).inputValue()).toBe('Last one')
    await says(review(page).locator('.rs-reason'), [''])
    expect(await titles(page).count()).toBe(20)
    expect(await button(page, 'Add step').isDisabled()).toBe(true)
    await confirm(page).click()
    await agentAnswer
    expect(await panels.titles()).toHaveLength(20)
  })

  it('a template is replaced only after a confirmation', async () => {
    const { page } = await openReview('Tag', 'Publish')
    await open(page)
    await dialog(page).waitFor()
    // Another window has saved one in the meantime.
    await panels.server.person.saveTemplate('Release', [{ title: 'Old' }])
    await save(page, 'Release ')
    const question = page.getByRole('alert').getByText('“Release” already exists.')
    await question.waitFor()
    // Enter does not replace it, and another name is another template.
    await page.keyboard.press('Enter')
    await question.waitFor()
    expect(await saved('Release')).toEqual(['Old'])
    await save(page, 'Release 2')
    await page.getByRole('status').getByText('Saved as “Release 2”.').waitFor()
    await save(page, 'Release')
    await button(page, 'Replace').click()
    await page.getByRole('status').getByText('Saved as “Release”.').waitFor()
    expect(await saved('Release')).toEqual(['Tag', 'Publish'])
    // Escape closes the dialog and rejects nothing.
    await page.keyboard.press('Escape')
    await dialog(page).waitFor({ state: 'detached' })
    expect(await page.getByRole('alertdialog').count()).toBe(0)
  })

  it('a template is renamed and deleted, which can be undone', async () => {
    await panels.server.person.saveTemplate('Release', [{ title: 'Tag' }])
    await panels.server.person.saveTemplate('Report', [{ title: 'Write' }])
    const { page } = await openReview('A')
    await open(page)
    await says(names(page), ['Release', 'Report'])
    await button(page, 'Rename').click()
    await dialog(page).getByLabel('Template name', { exact: true }).first().fill('Report')
    await page.keyboard.press('Enter')
    await dialog(page).getByRole('alert').getByText('There is a template with this name already.').waitFor()
    await button(page, 'Rename').click()
    await dialog(page).getByLabel('Template name', { exact: true }).first().fill('Shipping')
    await page.keyboard.press('Enter')
    await says(names(page), ['Report', 'Shipping'])
    await dialog(page).getByRole('heading', { name: 'Shipping' }).waitFor()
    await button(page, 'Delete').click()
    await says(names(page), ['Report'])
    await dialog(page).getByText('Deleted “Shipping”.').waitFor()
    await dialog(page).getByRole('button', { name: 'Undo' }).click()
    await says(names(page), ['Report', 'Shipping'])
    expect(await saved('Shipping')).toEqual(['Tag'])
  })
})

it('Approve is disabled while a title is empty or no row is left, with the reason', async () => {
  const { page } = await openReview('A', 'B')
  await title(page, 2).fill('  ')
  await page.getByText('Step 2 has no title.').waitFor()
  expect(await confirm(page).isDisabled()).toBe(true)
  expect(await title(page, 2).getAttribute('aria-invalid')).toBe('true')
  const reason = await confirm(page).getAttribute('aria-describedby')
  expect(await page.locator(`[id="${reason}"]`).innerText()).toBe('Step 2 has no title.')
  await button(page, 'Remove, 2').click()
  expect(await confirm(page).isDisabled()).toBe(false)
  await button(page, 'Remove, 1').click()
  await page.getByText('Add at least one step, or reject the plan.').waitFor()
  await hasFocus(button(page, 'Add step'))
  expect(await confirm(page).isDisabled()).toBe(true)
  // On a line of its own, above the buttons and what was changed.
  const said = await boxOf(page.getByText('Add at least one step, or reject the plan.'))
  expect(said.height).toBeLessThan(30)
  for (const beside of [reject(page), button(page, 'Reset all')]) {
    expect((await boxOf(beside)).y).toBeGreaterThanOrEqual(said.y + said.height)
  }
})

it('Escape leaves a text field; elsewhere it asks before it rejects, and returns the focus', async () => {
  const { page } = await openReview('A', 'B')
  const rows = review(page).locator('.rs-row')
  await title(page, 2).focus()
  // In a text field it ends the edit, and keeps what was typed.
  await page.keyboard.press('Escape')
  await hasFocus(rows.nth(1))
  await page.keyboard.press('Escape')
  await page.getByRole('alertdialog', { name: 'Reject this plan?' }).waitFor()
  await page.keyboard.press('Escape')
  await title(page, 2).fill('B, but better')
  await page.keyboard.press('Escape')
  expect(await page.getByRole('alertdialog').count()).toBe(0)
  await page.keyboard.press('Escape')
  const question = page.getByRole('alertdialog', { name: 'Discard your edits and reject this plan?' })
  await question.waitFor()
  await hasFocus(button(page, 'Keep editing'))
  await page.keyboard.press('Escape')
  await question.waitFor({ state: 'detached' })
  await hasFocus(rows.nth(1))
  await holds(titles(page), ['A', 'B, but better'])
  await page.keyboard.press('Escape')
  await question.getByRole('button', { name: 'Reject' }).click()
  await hasFocus(button(page, 'Undo'))
  expect(await panels.pending()).toHaveLength(1)
})

describe('a rejection', () => {
  const card = (page: Page) => review(page).getByText('You rejected this plan.')

  it('waits ten seconds, in which it can be undone with edits and comment as they were', async () => {
    const { page, agentAnswer } = await openReview('A', 'B')
    await page.clock.install()
    await title(page, 2).fill('B, but better')
    await button(page, 'More fields, 1').click()
    await input(page).fill('Not today.')
    await reject(page).click()
    await card(page).waitFor()
    await review(page).getByText('The agent is told in 10 s.').waitFor()
    await hasFocus(button(page, 'Undo'))
    expect(await title(page, 1).isVisible()).toBe(false)
    await page.keyboard.press('Enter')
    await page.getByLabel('Details, 1').waitFor()
    await holds(titles(page), ['A', 'B, but better'])
    await holds(input(page), ['Not today.'])
    await hasFocus(reject(page))
    await reject(page).click()
    await page.keyboard.press('Control+z')
    await holds(titles(page), ['A', 'B, but better'])
    await page.clock.fastForward(30_000)
    expect(await panels.pending()).toHaveLength(1)
    await reject(page).click()
    await card(page).waitFor()
    await page.clock.fastForward(9_000)
    expect(await panels.pending()).toHaveLength(1)
    await page.clock.fastForward(1_000)
    expect(await agentAnswer).toMatchObject({ reason: 'user_cancelled', comment: 'Not today.' })
    await isGone(page)
    await holds(input(page), [''])
    // The log knows when the person decided.
    const { view } = await panels.server.person.snapshot('c')
    expect(Object.values(view.resolutions).at(-1)?.held_ms).toBeGreaterThanOrEqual(9_900)
    expect(await page.getByText(/This plan was \w+ elsewhere/).count()).toBe(0)
    // In those seconds the message box is for the reason, and Enter sends the rejection with it.
    const next = panels.plan('C')
    await reject(page).click()
    await card(page).waitFor()
    expect(await input(page).getAttribute('placeholder')).toBe('Tell the agent why (optional)…')
    await page.getByText('Enter rejects now').waitFor()
    await input(page).fill('Nor tomorrow.')
    await input(page).press('Enter')
    expect(await next).toMatchObject({ reason: 'user_cancelled', comment: 'Nor tomorrow.' })
    await holds(input(page), [''])
    // The reason is optional.
    const last = panels.plan('D')
    await reject(page).click()
    await card(page).waitFor()
    await input(page).press('Enter')
    // Before its ten seconds are over.
    await expect.poll(() => panels.pending(), { timeout: 8_000 }).toEqual([])
    expect(await last).toMatchObject({ reason: 'user_cancelled' })
  })

  it('is sent when the page is left, or another conversation is opened', async () => {
    const { page, agentAnswer } = await openReview('A')
    await input(page).fill('No.')
    await reject(page).click()
    await card(page).waitFor()
    await page.goto('about:blank')
    expect(await agentAnswer).toMatchObject({ reason: 'user_cancelled', comment: 'No.' })
    const next = panels.plan('B')
    const back = await panels.window({ in: page.context() })
    await reject(back).click()
    await card(back).waitFor()
    await button(back, 'New chat').click()
    expect(await next).toMatchObject({ reason: 'user_cancelled' })
  })

  it('survives a reload, also one in which its request is lost, and is not told as if done elsewhere', async () => {
    const { page, agentAnswer } = await openReview('A')
    await input(page).fill('No.')
    await reject(page).click()
    await card(page).waitFor()
    await page.reload()
    expect(await agentAnswer).toMatchObject({ reason: 'user_cancelled', comment: 'No.' })
    await holds(input(page), [''])
    expect(await page.getByText(/elsewhere/).count()).toBe(0)
    const next = panels.plan('B')
    await reject(page).click()
    await card(page).waitFor()
    await page.route('**/decision', route => route.abort(), { times: 1 })
    await page.reload()
    expect(await next).toMatchObject({ reason: 'user_cancelled' })
    await isGone(page)
    expect(await page.getByText(/elsewhere/).count()).toBe(0)
  })

  it('is sent before the deadline of the review, which it is not mistaken for', async () => {
    await withPolicy({ review_timeout_ms: 5_000 })
    const { page, agentAnswer } = await openReview('A')
    await reject(page).click()
    expect(await agentAnswer).toMatchObject({ reason: 'user_cancelled' })
    await isGone(page)
    expect(await page.getByText('Time ran out').count()).toBe(0)
  })

  it('that fails to send brings the review back; one that was decided elsewhere meanwhile is over', async () => {
    const { page, agentAnswer } = await openReview('A')
    await page.clock.install()
    await page.route('**/decision', route => route.abort(), { times: 1 })
    await reject(page).click()
    await page.clock.fastForward(10_000)
    await review(page).getByText('Could not send. Your edits are still here.').waitFor()
    await holds(titles(page), ['A'])
    await reject(page).click()
    await card(page).waitFor()
    const [waiting] = await panels.pending()
    await panels.server.person.decide(waiting?.review_id ?? '', { action: 'confirm', tasks: [{ draft_index: 0 }] })
    await agentAnswer
    await page.getByText('This plan was approved elsewhere.').waitFor()
    await page.clock.fastForward(10_000)
    expect(await panels.titles()).toEqual(['A'])
  })
})

describe('a step', () => {
  it('shows its title, and only the fields that are set, until it is opened', async () => {
    const { page } = await openReview('A', { title: 'B', done_when: 'It is short' })
    const labels = (row: number) =>
      review(page)
        .locator('.rs-row')
        .nth(row - 1)
        .locator('.rs-fields :is(input, select, textarea)')
        .evaluateAll(fields => fields.map(field => field.getAttribute('aria-label')))
    expect(await labels(1)).toEqual(['Title, 1'])
    expect(await labels(2)).toEqual(['Title, 2', 'Done when, 2'])
    await choose(page, 'More fields', 1)
    expect(await labels(1)).toEqual([
      'Title, 1',
      'Details, 1',
      'Done when, 1',
      'Priority, 1',
      'Status, 1',
      'Tags, separated by commas, 1',
    ])
    const weight = await title(page, 1).evaluate(element => getComputedStyle(element).fontWeight)
    expect(weight).toBe('400')
  })

  it('Enter makes the next one, Backspace in an empty one removes it', async () => {
    const { page, agentAnswer } = await openReview('A', 'B')
    await title(page, 1).press('Enter')
    await hasFocus(title(page, 2))
    await page.keyboard.type('A and a half')
    await holds(titles(page), ['A', 'A and a half', 'B'])
    await page.keyboard.press('Enter')
    await holds(titles(page), ['A', 'A and a half', '', 'B'])
    await page.keyboard.press('Backspace')
    await holds(titles(page), ['A', 'A and a half', 'B'])
    await page.getByRole('status').getByText('1 step removed. Press Ctrl+Z to undo.').waitFor({ state: 'attached' })
    await hasFocus(title(page, 2))
    // The caret is at the end, where the next key belongs.
    await page.keyboard.type('!')
    await holds(titles(page), ['A', 'A and a half!', 'B'])
    await confirm(page).click()
    await agentAnswer
    expect(await panels.titles()).toEqual(['A', 'A and a half!', 'B'])
  })

  it('Enter at the start of a title makes one before it, and in an empty one the next', async () => {
    const { page } = await openReview('A', 'B')
    await title(page, 2).press('Home')
    await page.keyboard.press('Enter')
    await holds(titles(page), ['A', '', 'B'])
    await hasFocus(title(page, 2))
    await page.keyboard.press('Enter')
    await holds(titles(page), ['A', '', '', 'B'])
    await hasFocus(title(page, 3))
  })

  it('a comment on one goes with the decision, and is enough to request changes', async () => {
    const { page, agentAnswer } = await openReview('A', 'B')
    await choose(page, 'Comment on this step', 2)
    await hasFocus(page.getByLabel('Comment on this step, 2').and(page.locator('textarea')))
    await page.keyboard.type('Why?')
    await page.reload()
    await holds(page.locator('.rs-row-comment'), ['Why?'])
    await input(page).press('Enter')
    expect(await agentAnswer).toMatchObject({
      reason: 'changes_requested',
      row_comments: [{ title: 'B', comment: 'Why?' }],
    })
  })
})

describe('what differs', () => {
  const marks = (page: Page) => review(page).locator('.rs-row-mark')
  const removed = (page: Page) => review(page).locator('.rs-removed-row')

  it('from the proposal is marked and counted, and reset row by row or all at once', async () => {
    const { page } = await openReview('A', 'B', 'C')
    await title(page, 1).fill('A 2')
    await page.getByLabel('Select step 2').check()
    await page.getByRole('group', { name: '1 selected' }).getByLabel('Priority').selectOption('high')
    await button(page, 'Clear selection').click()
    await button(page, 'Remove, 3').click()
    await button(page, 'Add step').click()
    await page.keyboard.type('D')
    await says(marks(page), ['edited by you\nA\nReset', 'edited by you\nPriority\nReset', 'added by you'])
    await says(removed(page), ['C\nremoved by you\nReset'])
    await review(page).getByText('2 edited · 1 added · 1 removed').waitFor()
    // The ring of the title does not lie on it.
    await title(page, 1).focus()
    const ring = await title(page, 1).evaluate(field => {
      const { outlineWidth, outlineOffset } = getComputedStyle(field)
      return field.getBoundingClientRect().bottom + Number.parseFloat(outlineWidth) + Number.parseFloat(outlineOffset)
    })
    expect((await boxOf(marks(page).first())).y).toBeGreaterThanOrEqual(ring)
    await button(page, 'Reset, 1').click()
    await holds(titles(page), ['A', 'B', 'D'])
    await review(page).getByText('1 edited · 1 added · 1 removed').waitFor()
    await title(page, 2).press('Alt+ArrowUp')
    await says(marks(page), ['edited by you\nPriority, moved\nReset', 'added by you'])
    await review(page).getByText('1 edited · 1 added · 1 removed · reordered').waitFor()
    await button(page, 'Reset all').click()
    await holds(titles(page), ['A', 'B', 'C'])
    expect(await marks(page).count()).toBe(0)
    await button(page, 'Undo').click()
    await holds(titles(page), ['B', 'A', 'D'])
    // A removed one comes back at its place, a moved one goes back there.
    await button(page, 'Reset: C').click()
    await holds(titles(page), ['B', 'A', 'C', 'D'])
    await hasFocus(title(page, 3))
    await button(page, 'Reset, 1').click()
    await holds(titles(page), ['A', 'B', 'C', 'D'])
    await title(page, 3).press('Alt+ArrowUp')
    await title(page, 2).press('Alt+ArrowUp')
    await says(marks(page), ['moved by you\nReset', 'added by you'])
    await button(page, 'Reset, 1').click()
    await says(marks(page), ['added by you'])
    expect(await removed(page).count()).toBe(0)
  })

  it('from the plan that was sent back is shown in the one that answers it', async () => {
    const { page, agentAnswer } = await openReview('A', { title: 'B', done_when: 'It is there' }, 'C', 'D')
    const banner = review(page).locator('.rs-revision')
    const lost = review(page).getByText('Restore your earlier edits?')
    await input(page).fill('Fewer')
    await page.keyboard.press('Enter')
    await agentAnswer
    const next = panels.plan('A', { title: 'B', done_when: 'It is sent' }, 'E')
    await says(banner.locator('p').first(), ['The agent changed the plan. You asked: Fewer'])
    await says(marks(page), ['changed\nDone when', 'changed\nC'])
    await says(banner.locator('del'), ['D'])
    expect(await lost.count()).toBe(0)
    // The person's own edits come first.
    await title(page, 2).fill('B 2')
    await says(marks(page), ['edited by you\nB\nReset', 'changed\nC'])
    // Sent back with edits, it is those that the next plan is compared with.
    await button(page, 'Remove, 3').click()
    await choose(page, 'Comment on this step', 1)
    await page.keyboard.type('Why?')
    await button(page, 'Request changes').click()
    await next
    const last = panels.plan('A', { title: 'B', done_when: 'It is sent' }, 'E')
    await says(banner.locator('p').first(), ['The agent changed the plan. You asked: A: Why?'])
    await says(marks(page), ['changed\nB 2', 'new'])
    // They were sent: to restore them would undo the agent's answer.
    expect(await lost.count()).toBe(0)
    await title(page, 2).fill('B 2')
    await button(page, 'Remove, 3').click()
    await says(marks(page), ['edited by you\nB\nReset'])
    await says(removed(page), ['E\nremoved by you\nReset'])
    await input(page).fill('As I say')
    await page.keyboard.press('Enter')
    await last
    void panels.plan('A', { title: 'B 2', done_when: 'It is sent' }).catch(() => {})
    await says(banner, ['The agent proposes the plan as you sent it back. You asked: As I say'])
    await holds(titles(page), ['A', 'B 2'])
    expect([await marks(page).count(), await lost.count()]).toEqual([0, 0])
  })
})

it('how many steps are out of sight is said, and they are one click away; the decision stays in sight', async () => {
  void panels.plan(...Array.from({ length: 20 }, (_, place) => `Step ${place + 1}`)).catch(() => {})
  for (const width of [390, 1280]) {
    const page = await panels.window({ viewport: { width, height: 700 } })
    const cue = review(page).getByRole('button', { name: /^\d+ more below$/ })
    await cue.waitFor()
    const below = Number.parseInt(await cue.innerText(), 10)
    const { y, height } = await boxOf(review(page).locator('.rs-review-body'))
    const hidden = await titles(page).evaluateAll(
      (all, bottom) => all.filter(each => each.getBoundingClientRect().top + 10 > bottom).length,
      y + height,
    )
    expect(Math.abs(below - hidden)).toBeLessThanOrEqual(1)
    await page.getByRole('button', { name: 'Approve 20 steps' }).waitFor()
    expect(await confirm(page).isVisible()).toBe(true)
    await cue.click()
    await expect.poll(async () => Number.parseInt(await cue.innerText(), 10), SLOW_BROWSER).toBeLessThan(below)
    await title(page, 20).scrollIntoViewIfNeeded()
    await cue.waitFor({ state: 'detached' })
    // Those above are out of sight as well.
    await review(page)
      .getByRole('button', { name: /^\d+ more above$/ })
      .click()
    await cue.waitFor()
    await title(page, 20).scrollIntoViewIfNeeded()
    await cue.waitFor({ state: 'detached' })
    const box = await boxOf(confirm(page))
    expect(box.y + box.height).toBeLessThan(700)
    await page.setViewportSize({ width, height: 480 })
    await title(page, 1).scrollIntoViewIfNeeded()
    await cue.waitFor()
    if (width !== 390) continue
    for (const narrow of [320, 360, 390]) {
      await page.setViewportSize({ width: narrow, height: 700 })
      const panel = await boxOf(review(page))
      for (const verb of ['Reject', 'Request changes', 'Approve 20 steps']) {
        const { x, width: wide } = await boxOf(page.getByRole('button', { name: verb }))
        expect([narrow, verb, x >= panel.x && x + wide <= panel.x + panel.width]).toEqual([narrow, verb, true])
      }
    }
  }
})

it('titles of 400 characters without a space and right-to-left text stay inside, and read in their direction', async () => {
  const rows = Array.from({ length: 20 }, (_, place) => (place % 2 === 0 ? 'x'.repeat(400) : 'مراجعة الأرقام'))
  void panels.plan(...rows).catch(() => {})
  for (const width of [390, 1920]) {
    const page = await panels.window({ viewport: { width, height: 800 } })
    await title(page, 20).waitFor({ state: 'attached' })
    const body = review(page).locator('.rs-review-body')
    expect(await body.evaluate(element => element.scrollWidth - element.clientWidth)).toBe(0)
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width)
    const direction = (row: number) => title(page, row).evaluate(element => getComputedStyle(element).direction)
    expect([await direction(1), await direction(2)]).toEqual(['ltr', 'rtl'])
    // All of it shows, in all the width up to the menu.
    expect(await title(page, 1).evaluate(element => element.scrollHeight - element.clientHeight)).toBe(0)
    const [text, menu] = [await boxOf(title(page, 1)), await boxOf(button(page, 'More actions, 1'))]
    expect(menu.x - text.x - text.width).toBeLessThan(8)
    await confirm(page).waitFor()
  }
})

it('on a touch screen everything to press is at least 44 px high', async () => {
  void panels.plan('A', 'B').catch(() => {})
  const page = await panels.window({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true })
  await title(page, 1).fill('A 2')
  await choose(page, 'More fields', 2)
  await choose(page, 'Select', 2)
  const low = () =>
    page
      .locator('.rs-review, .app-composer')
      .locator('button, select, .rs-input, .rs-check, .rs-handle')
      .evaluateAll(all =>
        all.flatMap(each => {
          const { width, height } = each.getBoundingClientRect()
          const isSmall = height < 44 || (each.matches('.rs-check') && width < 44)
          return height > 0 && isSmall ? `${each.className}: ${width} by ${height}` : []
        }),
      )
  expect(await low()).toEqual([])
  // What surrounds a box selects its row, too.
  const box = await boxOf(review(page).locator('.rs-check').first())
  for (const [x, y] of [
    [box.x + 2, box.y + 2],
    [box.x + 42, box.y + 42],
  ] as const) {
    const select = page.getByLabel('Select step 1')
    const isOn = await select.isChecked()
    await page.touchscreen.tap(x, y)
    await expect.poll(() => select.isChecked(), SLOW_BROWSER).toBe(!isOn)
  }
  await button(page, 'More actions, 1').click()
  await page.getByRole('menu').waitFor()
  expect(await low()).toEqual([])
})

it('axe finds nothing to complain about in any state of a review, in both languages, light or dark', async () => {
  await panels.server.person.saveTemplate('Release', [{ title: 'Tag' }])
  await panels.server.person.setPolicy('c', { review_timeout_ms: 120_000 })
  void panels.plan('A', { title: 'B', done_when: 'It is there' }, 'C', 'D').catch(() => {})
  const found: string[] = []
  const look = async (page: Page, state: string): Promise<void> => {
    found.push(...(await complaintsOfAxe(page)).map(each => `${state}: ${each}`))
  }
  for (const [locale, width] of [
    ['en-US', 1280],
    ['zh-CN', 390],
  ] as const) {
    const page = await panels.window({ locale, viewport: { width, height: 900 } })
    const words = locale === 'en-US' ? english : chinese
    const { reviewing, templates, moreActions, rowComment, cancel, moreFields, remove } = words
    const open = (row?: number) =>
      button(page, row === undefined ? moreActions : words.timeline.list([moreActions, String(row)])).click()
    const pick = (name: string) => page.getByRole('menuitem', { name, exact: true }).click()
    await page.locator('.rs-row-title').first().fill('A 2')
    await open(2)
    if (width > 390) await look(page, 'menu')
    await pick(rowComment)
    await page.keyboard.type('?')
    await open(3)
    await pick(moreFields)
    await open(3)
    await pick(reviewing.select)
    await page.locator('.rs-row-title').nth(3).press('Alt+ArrowUp')
    await open(1)
    await pick(remove)
    await page.locator('.rs-removed-row').waitFor()
    await look(page, 'edited')
    if (width > 390) {
      await open()
      await pick(templates.open)
      await page.getByRole('dialog').getByRole('heading', { name: 'Release' }).waitFor()
      await look(page, 'templates')
      await page.keyboard.press('Escape')
    }
    await button(page, cancel).click()
    await button(page, reviewing.undo).waitFor()
    await look(page, 'rejected')
    await button(page, reviewing.undo).click()
    await page.locator('.rs-row').first().waitFor()
  }
  expect(found).toEqual([])
})

it('a review whose part of the page fails to load says so, and a reload brings it', async () => {
  void panels.plan('A').catch(() => {})
  const context = await browser.newContext()
  await context.route('**/pending-review*.js', route => route.abort())
  const page = await panels.window({ in: context })
  await review(page).getByText('This part of the page could not be loaded.').waitFor()
  await input(page).fill('Half a thought')
  await context.unroute('**/pending-review*.js')
  await button(page, 'Reload the page').click()
  await holds(titles(page), ['A'])
  await holds(input(page), ['Half a thought'])
  await context.close()
})

it('Request changes needs a comment, and sends the edits with it; nothing is written', async () => {
  const { page, agentAnswer } = await openReview('A', 'B')
  await title(page, 1).fill('A 2')
  await button(page, 'Request changes').click()
  await review(page).getByText('Say what to change.').waitFor()
  await hasFocus(input(page))
  expect(await panels.pending()).toHaveLength(1)
  await page.keyboard.type('Split the second step')
  await review(page).getByText('Say what to change.').waitFor({ state: 'detached' })
  await button(page, 'Request changes').click()
  expect(await agentAnswer).toMatchObject({
    confirmed: false,
    cancelled: true,
    reason: 'changes_requested',
    comment: 'Split the second step',
    changes: { edited: [{ from: { title: 'A' }, to: { title: 'A 2' } }] },
  })
  await isGone(page)
  expect(await panels.titles()).toEqual([])
  // The next plan of the turn says that it answers the request.
  void panels.plan('A 2', 'B first', 'B second').catch(() => {})
  await review(page).getByText('The agent changed the plan. You asked: Split the second step').waitFor()
})

it('a request for changes that fails can be sent again, with a half-finished row left out', async () => {
  const { page, agentAnswer } = await openReview('A', 'B')
  await title(page, 2).fill('')
  await input(page).fill('Not so many')
  await page.route('**/decision', route => route.abort())
  await button(page, 'Request changes').click()
  await page.getByRole('alert').getByText('Could not send. Your edits are still here.').waitFor()
  await page.unroute('**/decision')
  await button(page, 'Retry').click()
  expect(await agentAnswer).toMatchObject({ reason: 'changes_requested', changes: { removed: [{ title: 'B' }] } })
  await isGone(page)
})

describe('[PA30] Ctrl+Z', () => {
  it('[PA30] takes back a removal, then what was typed before it', async () => {
    const { page, agentAnswer } = await openReview('A', 'B', 'C')
    await title(page, 1).press('End')
    await page.keyboard.type('+')
    await button(page, 'Remove, 2').click()
    await holds(titles(page), ['A+', 'C'])
    await page.keyboard.press('Control+z')
    await holds(titles(page), ['A+', 'B', 'C'])
    await hasFocus(title(page, 2))
    await page.keyboard.press('Control+z')
    await holds(titles(page), ['A', 'B', 'C'])
    // In order, also where something was typed in between.
    await button(page, 'Remove, 3').click()
    await title(page, 1).press('End')
    await page.keyboard.type('!')
    await holds(titles(page), ['A!', 'B'])
    await page.keyboard.press('Control+z')
    await holds(titles(page), ['A', 'B'])
    await page.keyboard.press('Control+z')
    await holds(titles(page), ['A', 'B', 'C'])
    await confirm(page).click()
    await agentAnswer
    expect(await panels.titles()).toEqual(['A', 'B', 'C'])
  })

  it("[PA30] works with the focus on the page, and in another text field it is the browser's own", async () => {
    const { page } = await openReview('A', 'B', 'C')
    await button(page, 'Remove, 2').click()
    await holds(titles(page), ['A', 'C'])
    await input(page).pressSequentially('half a thought')
    await page.keyboard.press('Control+z')
    await holds(input(page), [expect.not.stringContaining('thought')] as string[])
    await holds(titles(page), ['A', 'C'])
    await page.getByRole('heading', { level: 1 }).click()
    await hasFocus(page.locator('body'))
    await page.keyboard.press('Control+z')
    await holds(titles(page), ['A', 'B', 'C'])
    await hasFocus(title(page, 2))
    // Also on a button of the page.
    await button(page, 'Remove, 1').click()
    await button(page, 'History').focus()
    await page.keyboard.press('Control+z')
    await holds(titles(page), ['A', 'B', 'C'])
  })

  it('[PA30] takes back moved, added and reprioritised rows', async () => {
    const { page } = await openReview('A', 'B')
    await choose(page, 'Move down', 1)
    await button(page, 'More fields, 1').click()
    await page.getByLabel('Priority, 1').selectOption('high')
    await button(page, 'Add step').click()
    await holds(titles(page), ['B', 'A', ''])
    await page.keyboard.press('Control+z')
    await holds(titles(page), ['B', 'A'])
    await page.keyboard.press('Control+z')
    expect(await page.getByLabel('Priority, 1').inputValue()).toBe('medium')
    await page.keyboard.press('Control+z')
    await holds(titles(page), ['A', 'B'])
    await page.keyboard.press('Control+Shift+z')
    await holds(titles(page), ['B', 'A'])
    await page.keyboard.press('Control+y')
    expect(await page.getByLabel('Priority, 1').inputValue()).toBe('high')
    await page.keyboard.press('Control+y')
    await holds(titles(page), ['B', 'A', ''])
    await hasFocus(title(page, 3))
    // What is typed counts, wherever the focus is; in the message box the keys are the browser's own.
    await page.keyboard.type('C')
    await input(page).pressSequentially('note')
    await page.keyboard.press('Control+z')
    await holds(input(page), [expect.not.stringContaining('note')] as string[])
    await holds(titles(page), ['B', 'A', 'C'])
    await page.getByRole('heading', { level: 1 }).click()
    await page.keyboard.press('Control+z')
    await holds(titles(page), ['B', 'A', ''])
  })
})

it('[PA17] a reload restores the review with its edits, and cancels nothing', async () => {
  const { page, agentAnswer } = await openReview('A', 'B')
  await expect
    .poll(() => panels.showing(), SLOW_BROWSER)
    .toMatchObject({ panels: [expect.any(String)], closes_at: null })
  const before = await panels.showing()
  await title(page, 1).fill('A, half done')
  await button(page, 'Add step').click()
  await title(page, 3).fill('C')
  await title(page, 2).focus()
  await page.keyboard.press('Alt+ArrowUp')
  await input(page).fill('Wait')
  await page.reload()
  await holds(titles(page), ['B', 'A, half done', 'C'])
  await holds(input(page), ['Wait'])
  // The old page has left, this one is announced, and no grace period runs.
  await expect
    .poll(() => panels.showing(), SLOW_BROWSER)
    .toMatchObject({ panels: [expect.any(String)], closes_at: null })
  await expect.poll(async () => (await panels.showing())?.panels, SLOW_BROWSER).not.toEqual(before?.panels)
  await confirm(page).click()
  expect(await agentAnswer).toMatchObject({ comment: 'Wait' })
  expect(await panels.titles()).toEqual(['B', 'A, half done', 'C'])
})

it('[PA17] closing the last window cancels after the grace period; closing one of two does not', async () => {
  await withPolicy({ panel_grace_ms: 400 })
  const { page, agentAnswer } = await openReview('A')
  const second = await panels.window({ in: page.context() })
  await review(second).waitFor()
  await expect.poll(async () => (await panels.showing())?.panels.length, SLOW_BROWSER).toBe(2)
  await page.goto('about:blank')
  await expect.poll(async () => (await panels.showing())?.panels.length, SLOW_BROWSER).toBe(1)
  expect(await panels.showing()).toMatchObject({ closes_at: null })
  await second.goto('about:blank')
  expect(await agentAnswer).toBeDefined()
  expect(await panels.titles()).toEqual([])
  const back = await panels.window({ in: page.context() })
  // A returning person sees the outcome, and can open it again.
  await back.getByText('You left before deciding. The plan is still here.').waitFor()
  expect(await titles(back).count()).toBe(0)
})

it('a second window shows the decision of the first, and can close it', async () => {
  const { page, agentAnswer } = await openReview('A')
  const second = await panels.window()
  await review(second).waitFor()
  await confirm(page).click()
  await agentAnswer
  await says(second.getByRole('alert'), ['This plan was approved elsewhere.'])
  expect(await page.getByText(/This plan was \w+ elsewhere/).count()).toBe(0)
  expect(await button(second, 'Your edits').count()).toBe(0)
  await button(second, 'Close').click()
  await second.getByText(/This plan was \w+ elsewhere/).waitFor({ state: 'detached' })
  expect(await panels.titles()).toEqual(['A'])
})

it('its own edits stay there to be read and copied, also after a reload', async () => {
  const { page, agentAnswer } = await openReview('A', 'B')
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  const second = await panels.window({ in: page.context() })
  await title(second, 1).fill('Mine')
  await button(second, 'More fields, 2').click()
  await second.getByLabel('Priority, 2').selectOption('high')
  await input(second).fill('Mind the rounding')
  await confirm(page).click()
  await agentAnswer
  const edits = second.getByRole('list', { name: 'Your edits' })
  for (const again of [false, true]) {
    if (again) await second.reload()
    await says(second.getByRole('alert'), ['This plan was approved elsewhere. Your edits were not sent.'])
    await button(second, 'Your edits').click()
    await says(edits.getByRole('listitem'), ['Mine', 'B\nPriority: High'])
    // What was typed for the agent is still in the message box.
    await holds(input(second), ['Mind the rounding'])
    expect(await review(second).getByRole('textbox').count()).toBe(0)
  }
  await button(second, 'Copy').click()
  await button(second, 'Copied').waitFor()
  expect(await second.evaluate(() => navigator.clipboard.readText())).toBe('1. Mine\n2. B\n   Priority: High')
  // The window that decided has nothing left to show, and the next plan is not filled with these.
  expect(await button(page, 'Your edits').count()).toBe(0)
  await button(second, 'Close').click()
  await edits.waitFor({ state: 'detached' })
  void panels.plan('Next').catch(() => {})
  await holds(titles(second), ['Next'])
  expect(await second.getByText('Restore your earlier edits?').count()).toBe(0)
})

it('[PA17] opening another conversation is not leaving the page; leaving it from there is', async () => {
  await withPolicy({ panel_grace_ms: 1_000 })
  const { page } = await openReview('A')
  await expect.poll(async () => (await panels.showing())?.panels.length, SLOW_BROWSER).toBe(1)
  await title(page, 1).fill('Mine')
  await button(page, 'New chat').click()
  await page.getByRole('heading', { name: /then watch it get done$/ }).waitFor()
  await new Promise(resolve => setTimeout(resolve, 2_000))
  expect(await panels.pending()).toHaveLength(1)
  await page.goBack()
  await holds(titles(page), ['Mine'])
  expect((await panels.showing())?.panels).toHaveLength(1)
  await button(page, 'New chat').click()
  await page.getByRole('heading', { name: /then watch it get done$/ }).waitFor()
  await page.goto('about:blank')
  await expect.poll(async () => (await panels.pending()).length, SLOW_BROWSER).toBe(0)
})

it('a late confirmation shows the decision that came first', async () => {
  const { page } = await openReview('A')
  const held = Promise.withResolvers<void>()
  await page.route('**/decision', async route => {
    await held.promise
    await route.continue()
  })
  await title(page, 1).fill('Mine')
  await confirm(page).click()
  await page.getByText('Sending…').waitFor()
  const [waiting] = await panels.pending()
  await panels.server.person.decide(waiting?.review_id ?? '', { action: 'confirm', tasks: [{ draft_index: 0 }] })
  held.resolve()
  await page.getByText('This plan was approved elsewhere. Your edits were not sent.').waitFor()
  await button(page, 'Your edits').click()
  await says(page.getByRole('list', { name: 'Your edits' }).getByRole('listitem'), ['Mine'])
  expect(await panels.titles()).toEqual(['A'])
})

describe('a decision whose answer is lost in a reload is this window’s own', () => {
  /** Decides, leaves the page before the request is through, and comes back after it, or another decision, was. */
  async function lose(page: Page, decide: () => Promise<void>, instead?: SentDecision): Promise<void> {
    const held = Promise.withResolvers<Route>()
    await page.route('**/decision', held.resolve)
    await decide()
    const route = await held.promise
    const sent: SentDecision = route.request().postDataJSON()
    const [waiting] = await panels.pending()
    const { href } = new URL(page.url())
    await page.goto('about:blank')
    await panels.server.person.decide(waiting?.review_id ?? '', instead ?? sent)
    // Its request is gone with the page, or goes nowhere.
    await route.abort().catch(() => {})
    await page.unroute('**/decision')
    await page.goto(href)
  }

  it('approved with edits and a comment', async () => {
    const { page, agentAnswer } = await openReview('A', { title: 'B', done_when: 'It is there' })
    await title(page, 1).fill(' My  edit ')
    await button(page, 'More fields, 2').click()
    await page.getByLabel('Tags, separated by commas, 2').fill('money, ledger')
    await input(page).fill('Mind the rounding')
    await lose(page, () => confirm(page).click())
    await agentAnswer
    await page.getByText('You approved 2 steps · 2 edited').waitFor()
    expect(await page.getByText(/elsewhere|Your edits/).count()).toBe(0)
    await holds(input(page), [''])
  })

  it('but edits that another window overruled were not sent', async () => {
    const { page } = await openReview('A')
    await title(page, 1).fill('Mine')
    await lose(page, () => confirm(page).click(), { action: 'confirm', tasks: [{ draft_index: 0 }] })
    await page.getByText('This plan was approved elsewhere. Your edits were not sent.').waitFor()
  })

  it('sent back with edits, which the plan that answers it does not ask to restore', async () => {
    const { page, agentAnswer } = await openReview('A', 'B')
    await title(page, 1).fill('My edit')
    await button(page, 'Add step').click()
    await input(page).fill('Fewer')
    await lose(page, () => button(page, 'Request changes').click())
    await agentAnswer
    await page.getByText('You asked for changes').waitFor()
    expect(await page.getByText(/elsewhere|Your edits/).count()).toBe(0)
    void panels.plan('A').catch(() => {})
    await holds(titles(page), ['A'])
    expect(await page.getByText('Restore your earlier edits?').count()).toBe(0)
  })
})

it('a timeout is shown; Reopen brings back the plan and the edits, without the agent', async () => {
  await withPolicy({ review_timeout_ms: 4_000 })
  const { page } = await openReview('A', 'B')
  await title(page, 2).fill('B, but better')
  // The last seconds are announced once, not every second.
  await review(page)
    .getByRole('status')
    .getByText(/^0:0\d left, then nothing is started$/)
    .waitFor({ state: 'attached' })
  await page.getByRole('alert').getByText('Time ran out. Nothing was started; your edits are saved.').waitFor()
  expect(await panels.titles()).toEqual([])
  await panels.server.person.setPolicy('c', { review_timeout_ms: null })
  await button(page, 'Reopen').click()
  await holds(titles(page), ['A', 'B, but better'])
  expect(await page.getByRole('timer').count()).toBe(0)
  await page.reload()
  await holds(titles(page), ['A', 'B, but better'])
  await confirm(page).click()
  await isGone(page)
  await expect.poll(() => panels.titles(), SLOW_BROWSER).toEqual(['A', 'B, but better'])
  const kept = (): Promise<string[]> =>
    page.evaluate(() => Object.keys(localStorage).filter(key => key.includes('runsheet.review')))
  await expect.poll(kept, SLOW_BROWSER).toEqual([])
})

it('a plan that was reopened elsewhere is shown, and a failed Reopen says why', async () => {
  await withPolicy({ review_timeout_ms: 1_000 })
  const { page } = await openReview('A')
  await page.locator('.rs-outcome-panel').getByText('Time ran out. Nothing was started.').waitFor()
  await page.route('**/reopen', route => route.abort())
  await button(page, 'Reopen').click()
  await review(page).getByText('The server cannot be reached.').waitFor()
  const { reviews } = (await panels.server.person.snapshot('c')).conversation
  await panels.server.person.setPolicy('c', { review_timeout_ms: null })
  await panels.server.person.reopen(Object.keys(reviews)[0] ?? '')
  await holds(titles(page), ['A'])
})

it('a plan that a form of an MCP client rejected can be reopened', async () => {
  const { page } = await openReview('A')
  const [{ review_id } = { review_id: '' }] = await panels.pending()
  await panels.server.door.reviews.decide('local', review_id, { action: 'cancel' }, 'mcp_form', () => null)
  await page.getByText('This plan was rejected elsewhere.').waitFor()
  await button(page, 'Reopen').click()
  await holds(titles(page), ['A'])
})

it('a timeout is shown after a reload, until it is closed; then its card has Reopen', async () => {
  await withPolicy({ review_timeout_ms: 1_500 })
  const { page } = await openReview('A')
  const outcome = page.locator('.rs-outcome-panel').getByText('Time ran out. Nothing was started.')
  await outcome.waitFor()
  await page.reload()
  await outcome.waitFor()
  await says(review(page).getByRole('button'), ['Reopen', 'Close'])
  await button(page, 'Close').click()
  await outcome.waitFor({ state: 'detached' })
  await page.reload()
  await page.getByText('Another agent uses this conversation.').waitFor()
  expect(await outcome.count()).toBe(0)
  await panels.server.person.setPolicy('c', { review_timeout_ms: null })
  await page.route('**/reopen', route => route.abort(), { times: 1 })
  await button(page, 'Reopen').click()
  await page.locator('.rs-reopenable').getByText('The server cannot be reached.').waitFor()
  await button(page, 'Reopen').click()
  await holds(titles(page), ['A'])
  expect(await button(page, 'Reopen').count()).toBe(0)
})

it('edits of a review that timed out are kept over a reload, and can be restored in the next one', async () => {
  await withPolicy({ review_timeout_ms: 5_000 })
  const { page } = await openReview('A', 'B')
  await title(page, 2).fill('B, but better')
  await button(page, 'Add step').click()
  await title(page, 3).fill('C')
  await page.getByText('your edits are saved.').waitFor()
  await page.reload()
  await page.getByText('your edits are saved.').waitFor()
  await panels.server.person.setPolicy('c', { review_timeout_ms: 120_000 })
  const agentAnswer = panels.plan('B', 'A')
  await holds(titles(page), ['B', 'A'])
  await page.getByText('Restore your earlier edits?').waitFor()
  await button(page, 'Restore').click()
  await holds(titles(page), ['A', 'B, but better', 'C'])
  expect(await button(page, 'Restore').count()).toBe(0)
  await confirm(page).click()
  await agentAnswer
  // The agent sees each row as an edit of the proposed one.
  expect((await panels.tasks()).map(each => [each.title, each.created_by])).toEqual([
    ['A', 'tool'],
    ['B, but better', 'tool'],
    ['C', 'user'],
  ])
  const kept = (): Promise<string[]> =>
    page.evaluate(() => Object.keys(localStorage).filter(key => key.includes('review')))
  await expect.poll(kept, SLOW_BROWSER).toEqual([])
})

it('[PA20] a failed decision keeps the edits, and Retry sends the latest', async () => {
  const { page, agentAnswer } = await openReview('A', 'B')
  await title(page, 1).fill('A 2')
  await page.route('**/decision', route => route.abort())
  await confirm(page).click()
  await page.getByRole('alert').getByText('Could not send. Your edits are still here.').waitFor()
  await holds(titles(page), ['A 2', 'B'])
  await title(page, 2).fill('B 2')
  await page.unroute('**/decision')
  await button(page, 'Retry').click()
  await agentAnswer
  expect(await panels.titles()).toEqual(['A 2', 'B 2'])
  await isGone(page)
  expect(await page.getByText(/This plan was \w+ elsewhere/).count()).toBe(0)
})

it('[PA20] a lost answer is no failure once the log has the decision', async () => {
  const { page, agentAnswer } = await openReview('A')
  await page.route('**/decision', async route => {
    await route.fetch()
    await route.abort()
  })
  await confirm(page).click()
  await agentAnswer
  await isGone(page)
  expect(await page.getByText(/This plan was \w+ elsewhere/).count()).toBe(0)
  expect(await panels.titles()).toEqual(['A'])
})

it('a restart of the server keeps the review, its edits and its deadline', async () => {
  const { page } = await openReview('A', 'B')
  await title(page, 1).fill('A 2')
  await panels.stopServer()
  await confirm(page).click()
  await page.getByText('Could not send. Your edits are still here.').waitFor()
  await title(page, 2).fill('B 2')
  await panels.startAgain()
  await button(page, 'Retry').click()
  await isGone(page)
  await page.getByText('0 of 2 done · 2 remaining').first().waitFor()
  expect(await panels.titles()).toEqual(['A 2', 'B 2'])
})

it('a reload while the server is down keeps the edits', async () => {
  const { page } = await openReview('A')
  await title(page, 1).fill('A 2')
  await panels.stopServer()
  await panels.startAgain()
  await page.reload()
  await holds(titles(page), ['A 2'])
  expect(await panels.pending()).toHaveLength(1)
})

it('a refused field is shown at its row and gets the focus', async () => {
  const { page, agentAnswer } = await openReview('A', 'B', 'C')
  await title(page, 2).fill('x'.repeat(401))
  await confirm(page).click()
  const refused = review(page).locator('.rs-row-problem')
  await refused.getByText('Title: at most 400 characters (now 401).', { exact: true }).waitFor()
  await page.getByRole('alert').getByText('Step 2 needs fixing.').waitFor()
  expect(await button(page, 'Retry').count()).toBe(0)
  await hasFocus(title(page, 2))
  expect(await title(page, 2).getAttribute('aria-invalid')).toBe('true')
  await title(page, 2).fill('B')
  await refused.waitFor({ state: 'detached' })
  await page.getByText('Step 2 needs fixing').waitFor({ state: 'detached' })
  for (const row of [1, 3]) {
    await button(page, `More fields, ${row}`).click()
    await page.getByLabel(`Status, ${row}`).selectOption('doing')
  }
  await confirm(page).click()
  await hasFocus(page.getByLabel('Status, 3'))
  await page.getByLabel('Status, 3').selectOption('todo')
  await confirm(page).click()
  await agentAnswer
  expect(await panels.titles()).toEqual(['A', 'B', 'C'])
})

it('rows show the numbers that messages refer to', async () => {
  const { page } = await openReview('A', 'B', 'C')
  const numbered = review(page).locator('.rs-number')
  await says(numbered, ['1', '2', '3'])
  await title(page, 3).fill('')
  await page.getByText('Step 3 has no title.').waitFor()
  await title(page, 3).press('Alt+ArrowUp')
  await page.getByText('Step 2 has no title.').waitFor()
  await says(numbered, ['1', '2', '3'])
  await says(
    review(page)
      .locator('.rs-row')
      .filter({ has: page.locator('[aria-invalid=true]') })
      .locator('.rs-number'),
    ['2'],
  )
})

it('errors of a row are in the language of the page', async () => {
  void panels.plan('A', 'B').catch(() => {})
  const page = await panels.window({ locale: 'zh-CN' })
  const field = page.getByLabel('标题、2', { exact: true })
  await field.fill('长'.repeat(401))
  await button(page, '批准 2 个步骤').click()
  const refused = page.locator('.rs-row-problem')
  await refused.getByText('标题过长：最多 400 个字符（当前 401）。', { exact: true }).waitFor()
  await page.getByRole('alert').getByText('第 2 步需要修改。').waitFor()
  await field.fill('短')
  for (const row of [1, 2]) {
    await button(page, `展开更多字段、${row}`).click()
    await page.getByLabel(`状态、${row}`).selectOption('doing')
  }
  await button(page, '批准 2 个步骤').click()
  await refused.getByText('只能有一项任务为“进行中”。', { exact: true }).waitFor()
  expect(await review(page).count()).toBe(0)
  expect(await page.getByRole('region', { name: '审阅计划' }).innerText()).not.toMatch(/[A-Za-z]{4,}/)
})

describe('the focus', () => {
  it('moves to a new review if nothing else has it, and back', async () => {
    const { page, agentAnswer } = await openReview('A')
    await hasFocus(review(page))
    await page.getByRole('alert').getByText('A plan with 1 step is waiting for your review.').waitFor()
    await input(page).focus()
    await confirm(page).focus()
    await page.keyboard.press('Enter')
    await agentAnswer
    await hasFocus(input(page))
  })

  it('moves to the plan if nothing had it before', async () => {
    const { page } = await openReview('A')
    await hasFocus(review(page))
    await confirm(page).click()
    await hasFocus(page.getByRole('button', { name: /^Plan: Show the plan/ }))
  })

  it('is never taken from an input', async () => {
    await panels.server.person.setPolicy('c', { toolset: 'runsheet' })
    const page = await panels.window()
    const box = input(page)
    await page.getByRole('heading', { name: /then watch it get done$/ }).waitFor()
    await box.fill('Half a')
    void panels.plan('A').catch(() => {})
    await review(page).waitFor()
    await hasFocus(box)
    await page.keyboard.type(' sentence')
    await holds(box, ['Half a sentence'])
  })
})

describe('nothing else moves when a panel appears or goes', () => {
  for (const [width, height] of [
    [360, 640],
    [390, 780],
    [1280, 800],
  ] as const) {
    it(`at ${width} px: the input stays, and panel and input are as wide as each other`, async () => {
      await panels.close()
      panels = await Panels.open(browser, { review: false })
      await panels.plan('Z')
      const page = await panels.window({ viewport: { width, height } })
      const plan = page.getByRole('region', { name: 'Plan' })
      await plan.waitFor()
      const before = await boxOf(composer(page))
      const header = await boxOf(page.locator('.app-head'))
      expect(before.y + before.height).toBeLessThanOrEqual(height)
      const same = async (): Promise<void> => {
        expect(await boxOf(composer(page))).toEqual(before)
        expect(await boxOf(page.locator('.app-head'))).toEqual(header)
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width)
      }
      expect(await boxOf(plan)).toMatchObject({ x: before.x, width: before.width })
      await page.getByRole('button', { name: /^Plan: / }).click()
      await page.getByLabel('New task').waitFor()
      await same()
      await panels.server.person.setPolicy('c', { review: true })
      const agentAnswer = panels.plan(
        ...Array.from({ length: 12 }, (_, i) => `Step ${i} of a plan that is rather long`),
      )
      await review(page).waitFor()
      await same()
      const box = await boxOf(review(page))
      expect(box).toMatchObject({ x: before.x, width: before.width })
      expect(box.y).toBeGreaterThanOrEqual(0)
      expect(box.y + box.height).toBeLessThanOrEqual(before.y)
      await title(page, 12).scrollIntoViewIfNeeded()
      await confirm(page).click()
      await agentAnswer
      await isGone(page)
      await same()
    })
  }
})

describe('in a low window', () => {
  for (const [width, height] of [
    [844, 390],
    [390, 430],
    [667, 190],
  ] as const) {
    it(`of ${width} by ${height} px the rows have room, a field that is typed in is in sight, and Approve is in reach`, async () => {
      void panels.plan('A', 'B', 'C', 'D').catch(() => {})
      const page = await panels.window({ viewport: { width, height } })
      await review(page).waitFor()
      await title(page, 4).click()
      await page.keyboard.type(', edited')
      const body = await boxOf(review(page).locator('.rs-review-body'))
      const field = await boxOf(title(page, 4))
      expect(body.height).toBeGreaterThanOrEqual(80)
      expect(field.y).toBeGreaterThanOrEqual(body.y)
      expect(field.y + field.height).toBeLessThanOrEqual(body.y + body.height)
      const box = await boxOf(confirm(page))
      expect(box.y + box.height).toBeLessThanOrEqual(height)
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width)
      expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBe(height)
      await confirm(page).click()
      await expect.poll(() => panels.titles(), SLOW_BROWSER).toEqual(['A', 'B', 'C', 'D, edited'])
    })
  }
})

it('a review cancelled by closing its page says so, and can be reopened', async () => {
  await withPolicy({ panel_grace_ms: 1_000 })
  void panels.plan('A').catch(() => {})
  const page = await panels.window()
  await review(page).waitFor()
  await expect.poll(async () => (await panels.showing())?.panels.length, SLOW_BROWSER).toBe(1)
  const [waiting] = await panels.pending()
  // As if this window's own leave had arrived late.
  const leave = async (): Promise<number> => {
    for (const name of (await panels.showing())?.panels ?? []) {
      await panels.server.person.leavePanel(waiting?.review_id ?? '', name)
    }
    return (await panels.pending()).length
  }
  await expect.poll(leave, SLOW_BROWSER).toBe(0)
  await page.getByText('You left before deciding. The plan is still here.').waitFor()
  await says(review(page).getByRole('button'), ['Reopen', 'Close'])
})

it('stopping the agent says that no tasks were added', async () => {
  const { page } = await openReview('A')
  await panels.server.person.stop('c', 't')
  await page.getByText('The agent was stopped before you decided. No tasks were added.').waitFor()
  await says(page.getByRole('region', { name: 'Review the plan' }).getByRole('button'), ['Close'])
})

it('the timeline tells confirmed tasks from those that the person added', async () => {
  const { page, agentAnswer } = await openReview('Collect')
  await button(page, 'Add step').click()
  await title(page, 2).fill('Archive')
  await confirm(page).click()
  await agentAnswer
  await button(page, 'History').click()
  await page.getByText('Full activity log').click()
  const line = (text: string) => page.getByRole('listitem').getByText(text, { exact: true })
  await line('Added: Collect (agent, confirmed by you)').waitFor()
  await line('Added: Archive (you)').waitFor()
})

it('a conversation with a pending review is marked in the sidebar until it is decided', async () => {
  const { page } = await openReview('Collect')
  const side = page.getByRole('navigation')
  const mark = side.getByRole('link', { name: /^Collect.*Waiting for your review$/ })
  const plain = side.getByRole('link', { name: 'Collect', exact: true })
  await mark.waitFor()
  await button(page, 'New chat').click()
  await isGone(page)
  await mark.waitFor()
  const [{ review_id } = { review_id: '' }] = await panels.pending()
  await panels.server.person.decide(review_id, { action: 'cancel' })
  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
  await plain.waitFor()
  expect(await mark.count()).toBe(0)
  // The open conversation is marked at once.
  await plain.click()
  void panels.plan('Write').catch(() => {})
  await mark.waitFor()
  await reject(page).click()
  await button(page, 'Undo').waitFor()
  await button(page, 'New chat').click()
  await expect.poll(() => panels.pending(), SLOW_BROWSER).toEqual([])
  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
  await plain.waitFor()
})

it('colours set on any element around a panel reach every part of it', async () => {
  const { page } = await openReview('A')
  await page.locator('.app-panels').evaluate(around => {
    around.style.setProperty('--rs-accent', 'rgb(200, 0, 0)')
    around.style.setProperty('--rs-radius', '3px')
  })
  const region = page.getByRole('region', { name: 'Review the plan' })
  expect(await confirm(page).evaluate(element => getComputedStyle(element).backgroundColor)).toBe('rgb(200, 0, 0)')
  expect(await region.evaluate(element => getComputedStyle(element).borderRadius)).toBe('3px')
})
