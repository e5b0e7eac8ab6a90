import type { Page } from 'playwright-core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openDoor } from '../../src/engine/door/door.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import { boxOf, dragByTouch, hasFocus, holds, Panels, SLOW_BROWSER, says } from './panels.ts'
import { builtPage, sharedBrowser } from '../support/page.ts'
import { startServer } from '../support/server.ts'
import { MODEL, startTurns, type TestTurns, type TurnsOptions } from '../support/turns.ts'

const browser = await sharedBrowser()

let panels: Panels

const plan = (page: Page) => page.getByRole('region', { name: 'Plan' })
const summary = (page: Page) => page.getByRole('button', { name: /^Plan: / })
const current = (page: Page) => plan(page).locator('.rs-current')
const counts = (page: Page) => plan(page).locator('.rs-counts')
const rows = (page: Page) => plan(page).getByRole('listitem')
const row = (page: Page, title: string) => rows(page).filter({ hasText: title })
const shown = (page: Page) => plan(page).locator('.rs-task-title')
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

describe('with an external agent', () => {
  beforeEach(async () => {
    panels = await Panels.open(browser, { review: false })
  })
  afterEach(() => panels.close())

  /** A window with the list open. */
  async function opened(...tasks: readonly string[]): Promise<Page> {
    await panels.plan(...tasks)
    const page = await panels.window()
    await summary(page).click()
    await says(shown(page), tasks)
    return page
  }

  it('the summary shows the current task and how many are done, left and blocked; at the end, what came of it', async () => {
    const page = await panels.window()
    await page.getByLabel('What do you want done?').waitFor()
    expect(await plan(page).count()).toBe(0)
    await panels.plan('A', 'B', 'C', 'D', 'E')
    await says(current(page), ['A'])
    await says(plan(page).locator('.rs-plan-name'), ['Plan'])
    await says(counts(page), ['0 of 5 done · 5 remaining'])
    await panels.update(1)
    await panels.update(2)
    await says(current(page), ['C'])
    await says(counts(page), ['2 of 5 done · 3 remaining'])
    const bar = page.getByRole('progressbar', { name: 'Plan' })
    expect(await bar.getAttribute('aria-valuenow')).toBe('2')
    expect(await bar.getAttribute('aria-valuemax')).toBe('5')
    await panels.update(3, { status: 'blocked' })
    await says(counts(page), ['2 of 5 done · 2 remaining · 1 blocked'])
    expect(await bar.getAttribute('aria-valuetext')).toBe('2 of 5 done · 2 remaining')
    await panels.update(4)
    await panels.update(5)
    await says(page.getByRole('note'), ['4 done, 1 blocked'])
    await says(current(page), ['4 done, 1 blocked'])
    await says(page.locator('.rs-step-blocked .rs-step-word'), ['blocked'])
    await page.locator('.rs-summary').click()
    await says(page.locator('.rs-task-blocked .rs-badge').first(), ['blocked'])
    await page.locator('.rs-summary').click()
    expect(await counts(page).count()).toBe(0)
    const line = await boxOf(bar)
    const done = await boxOf(bar.locator('div').first())
    await expect
      .poll(async () => (await boxOf(bar.locator('div').first())).width / line.width, SLOW_BROWSER)
      .toBeCloseTo(0.8)
    expect(done.height).toBe(3)
  })

  it('the list shows each status, mutes done tasks, and says how done ones got there', async () => {
    const page = await opened('A', 'B', 'C')
    expect(await summary(page).getAttribute('aria-expanded')).toBe('true')
    const long = `Found three. ${'All of them are in the report. '.repeat(20)}`
    await panels.update(1, { outcome: long })
    await panels.update(2, { status: 'blocked', outcome: 'No key.' })
    await expect
      .poll(() => rows(page).evaluateAll(items => items.map(item => item.className.split(' ')[1])), SLOW_BROWSER)
      .toEqual(['rs-task-completed', 'rs-task-blocked', 'rs-task-in_progress'])
    await says(row(page, 'Found three.').locator('.rs-badge'), ['reported'])
    await row(page, 'No key.').waitFor()
    // Of a long outcome one line, and all of it in an open row.
    const outcome = row(page, 'Found three.').locator('.rs-outcome')
    const hidden = () => outcome.evaluate(each => each.scrollWidth - each.clientWidth)
    expect(await hidden()).toBeGreaterThan(20)
    await button(page, 'reported: A').click()
    await expect.poll(hidden, SLOW_BROWSER).toBe(0)
    const behind = row(page, 'Found three.').locator('.rs-proof')
    await behind.waitFor()
    await button(page, 'reported: A').click()
    await behind.waitFor({ state: 'detached' })
    const styleOf = (name: 'color' | 'textDecorationLine') =>
      shown(page).evaluateAll((each, of) => each.map(one => getComputedStyle(one)[of]), name)
    expect(await styleOf('textDecorationLine')).toEqual(['none', 'none', 'none'])
    const [done, blocked] = await styleOf('color')
    expect(done).not.toBe(blocked)
    expect(await rows(page).nth(0).textContent()).toContain('done: A')
    // A person's change counts as judged.
    await button(page, 'Mark as done: C').click()
    await expect.poll(() => panels.statusOf('C'), SLOW_BROWSER).toBe('completed')
    await button(page, 'Reopen: C').waitFor()
    await says(row(page, 'C').locator('.rs-mark'), ['confirmed'])
    await summary(page).press('Enter')
    await rows(page).first().waitFor({ state: 'hidden' })
  })

  it('beyond 50 tasks the list keeps open ones visible, counts the rest, and shows all on demand', async () => {
    const batch = (from: number) => Array.from({ length: 20 }, (_, i) => `Task ${from + i}`)
    await panels.plan(...batch(1))
    await panels.plan(...batch(21))
    await panels.plan(...batch(41))
    for (let id = 1; id <= 30; id += 1) await panels.update(id)
    const page = await panels.window()
    await says(counts(page), ['30 of 60 done · 30 remaining'])
    await summary(page).click()
    await expect.poll(() => rows(page).count(), SLOW_BROWSER).toBe(50)
    await plan(page).getByText('Task 60', { exact: true }).waitFor()
    expect(await plan(page).getByText('Task 10', { exact: true }).count()).toBe(0)
    const list = await boxOf(plan(page).locator('.rs-list'))
    const now = await boxOf(row(page, 'Task 31').first())
    expect(now.y).toBeGreaterThanOrEqual(list.y)
    expect(now.y + now.height).toBeLessThanOrEqual(list.y + list.height)
    await button(page, '+10 more').click()
    await expect.poll(() => rows(page).count(), SLOW_BROWSER).toBe(60)
    expect(await plan(page).locator('.rs-more').count()).toBe(0)
  })

  it('an added task is scrolled into view, however long the list', async () => {
    const batch = (from: number, count: number) => Array.from({ length: count }, (_, i) => `Task ${from + i}`)
    for (const [from, count] of [
      [1, 20],
      [21, 20],
      [41, 5],
    ] as const)
      await panels.plan(...batch(from, count))
    const page = await panels.window()
    await summary(page).click()
    const isInSight = async (title: string): Promise<boolean> => {
      const [list, added] = [await boxOf(plan(page).locator('.rs-list')), await boxOf(row(page, title))]
      return added.y >= list.y && added.y + added.height <= list.y + list.height + 1
    }
    await page.getByLabel('New task').fill('One more')
    await page.keyboard.press('Enter')
    await row(page, 'One more').waitFor()
    await expect.poll(() => isInSight('One more'), SLOW_BROWSER).toBe(true)
    // Also beyond the rows that are shown.
    await panels.plan(...batch(46, 10))
    await page.getByText('+6 more').waitFor()
    await page.getByLabel('New task').fill('The last')
    await page.keyboard.press('Enter')
    await row(page, 'The last').waitFor()
    await expect.poll(() => isInSight('The last'), SLOW_BROWSER).toBe(true)
    await hasFocus(page.getByLabel('New task'))
  })

  it('the current task shows its elapsed time, which stops with the agent', async () => {
    const page = await opened('A')
    const clock = plan(page).locator('.rs-elapsed')
    const first = await clock.innerText()
    expect(first).toMatch(/^\d+:\d\d/)
    await expect.poll(() => clock.innerText(), SLOW_BROWSER).not.toBe(first)
    await panels.server.person.stop('c', 't')
    await clock.waitFor({ state: 'detached' })
  })

  it('a wrong browser clock does not change the elapsed time', async () => {
    await panels.plan('A')
    for (const minutesAhead of [-7, 7]) {
      const page = await panels.window({ minutesAhead })
      const clock = plan(page).locator('.rs-elapsed')
      // With a clock that is behind, the time would stand still.
      await expect.poll(() => clock.innerText(), SLOW_BROWSER).toMatch(/^0:[0-5][1-9]$/)
    }
  })

  it('a person adds, edits, completes, cancels and reopens tasks; the agent sees it with its next answer', async () => {
    const page = await opened('A', 'B', 'C')
    const unseen = plan(page).getByText('not seen by agent yet')
    await page.getByLabel('New task').fill('D')
    await page.keyboard.press('Enter')
    await says(shown(page), ['A', 'B', 'C', 'D'])
    await hasFocus(page.getByLabel('New task'))
    await row(page, 'D').getByText('not seen by agent yet').waitFor()
    await button(page, 'Rename: B').click()
    await hasFocus(plan(page).getByLabel('Title'))
    await page.keyboard.type('B, shorter')
    await page.keyboard.press('Enter')
    await says(shown(page), ['A', 'B, shorter', 'C', 'D'])
    await hasFocus(button(page, 'Rename: B, shorter'))
    await button(page, 'Mark as done: A').click()
    await button(page, 'Cancel task: C').click()
    await button(page, 'Reopen: C').waitFor()
    await says(counts(page), ['1 of 4 done · 2 remaining · 1 cancelled'])
    await expect.poll(() => unseen.count(), SLOW_BROWSER).toBe(4)
    expect(await panels.statusOf('C')).toBe('cancelled')
    await page.reload()
    await summary(page).click()
    await expect.poll(() => unseen.count(), SLOW_BROWSER).toBe(4)
    await button(page, 'Reopen: C').click()
    await expect.poll(() => panels.statusOf('C'), SLOW_BROWSER).toBe('pending')
    await button(page, 'Reopen: A').click()
    await expect.poll(() => panels.statusOf('A'), SLOW_BROWSER).toBe('pending')
    await panels.plan('E')
    await expect.poll(() => unseen.count(), SLOW_BROWSER).toBe(0)
    await says(shown(page), ['A', 'B, shorter', 'C', 'D', 'E'])
  })

  it('a window without a stream also knows what the agent has not seen', async () => {
    const page = await opened('A')
    const holder = await panels.window({ in: page.context() })
    await page.goto('about:blank')
    await holder.goto('about:blank')
    await holder.goto(panels.server.url.href)
    await holder.evaluate(() => {
      for (const slot of [1, 2, 3, 4]) {
        void navigator.locks.request(`runsheet-stream-${slot}`, () => new Promise(() => {}))
      }
    })
    await page.goto(`${panels.server.url.href}?chat=${panels.session}`)
    await summary(page).click()
    for (const title of ['B', 'C']) {
      await panels.server.person.addTask(panels.session, { title })
      await row(page, title).getByText('not seen by agent yet').waitFor()
    }
  })

  it('a blocked task can be reopened', async () => {
    const page = await opened('A', 'B')
    await panels.update(1, { status: 'blocked', outcome: 'No key.' })
    await says(counts(page), ['0 of 2 done · 1 remaining · 1 blocked'])
    await plan(page).getByRole('button', { name: 'Reopen: A' }).focus()
    await page.keyboard.press('Enter')
    await expect.poll(() => panels.statusOf('A'), SLOW_BROWSER).toBe('pending')
    await says(counts(page), ['0 of 2 done · 2 remaining'])
    await hasFocus(button(page, 'Rename: A'))
    expect(await plan(page).getByRole('button', { name: 'Reopen: A' }).count()).toBe(0)
  })

  it('[PA30] Ctrl+Z and a button take back a cancelled task, not the text typed before', async () => {
    const page = await opened('A', 'B')
    await page.getByLabel('New task').fill('half a')
    await page.keyboard.type(' thought')
    await button(page, 'Cancel task: B').click()
    await expect.poll(() => panels.statusOf('B'), SLOW_BROWSER).toBe('cancelled')
    await page.keyboard.press('Control+z')
    await expect.poll(() => panels.statusOf('B'), SLOW_BROWSER).toBe('pending')
    await holds(page.getByLabel('New task'), ['half a thought'])
    // A blocked one is blocked again, for the same reason.
    await panels.look()
    await panels.update(2, { status: 'blocked', outcome: 'No key.' })
    await says(counts(page), ['0 of 2 done · 1 remaining · 1 blocked'])
    await button(page, 'Cancel task: B').click()
    await expect.poll(() => panels.statusOf('B'), SLOW_BROWSER).toBe('cancelled')
    await button(page, 'Undo').click()
    await expect.poll(() => panels.statusOf('B'), SLOW_BROWSER).toBe('blocked')
    expect((await panels.tasks()).find(({ title }) => title === 'B')?.outcome).toBe('No key.')
    // In a text field it is the browser's own.
    await page.getByLabel('New task').press('Control+z')
    await holds(page.getByLabel('New task'), [expect.not.stringContaining('thought')] as string[])
    expect(await panels.statusOf('B')).toBe('blocked')
  })

  it("[PA30] Ctrl+Z works with the focus on the page, and in a text field it is the browser's own", async () => {
    const page = await opened('A', 'B')
    const box = page.locator('.app-input')
    await button(page, 'Cancel task: B').click()
    await expect.poll(() => panels.statusOf('B'), SLOW_BROWSER).toBe('cancelled')
    await box.pressSequentially('half a thought')
    await page.keyboard.press('Control+z')
    await holds(box, [expect.not.stringContaining('thought')] as string[])
    expect(await panels.statusOf('B')).toBe('cancelled')
    await page.getByRole('heading', { level: 1 }).click()
    await hasFocus(page.locator('body'))
    await page.keyboard.press('Control+z')
    await expect.poll(() => panels.statusOf('B'), SLOW_BROWSER).toBe('pending')
  })

  it('[PA30] a renamed, moved and added task is taken back and made again, unless the agent changed it since', async () => {
    const page = await opened('A', 'B')
    await button(page, 'Rename: A').click()
    await page.keyboard.type('A2')
    await page.keyboard.press('Enter')
    await says(shown(page), ['A2', 'B'])
    await button(page, 'Move down: A2').click()
    await says(shown(page), ['B', 'A2'])
    await page.getByLabel('New task').fill('C')
    await page.keyboard.press('Enter')
    await says(shown(page), ['B', 'A2', 'C'])
    await page.getByRole('heading', { level: 1 }).click()
    for (const left of [
      ['B', 'A2'],
      ['A2', 'B'],
      ['A', 'B'],
    ]) {
      await page.keyboard.press('Control+z')
      await says(shown(page), left)
    }
    for (const again of [
      ['A2', 'B'],
      ['B', 'A2'],
      ['B', 'A2', 'C'],
    ]) {
      await page.keyboard.press('Control+Shift+z')
      await says(shown(page), again)
    }
    await expect.poll(() => panels.titles(), SLOW_BROWSER).toEqual(['B', 'A2', 'C'])
    await panels.look()
    await panels.update(1, { outcome: 'Done.' })
    await button(page, 'Reopen: A2').click()
    await expect.poll(() => panels.statusOf('A2'), SLOW_BROWSER).not.toBe('completed')
    await panels.look()
    await panels.update(1, { outcome: 'Done again.' })
    await expect.poll(() => panels.statusOf('A2'), SLOW_BROWSER).toBe('completed')
    await page.getByRole('heading', { level: 1 }).click()
    await page.keyboard.press('Control+z')
    await plan(page).getByRole('alert').getByText('The agent has changed this task since.').waitFor()
    expect(await panels.statusOf('A2')).toBe('completed')
  })

  it('Escape discards an edited title; leaving the input saves it', async () => {
    const page = await opened('A', 'B')
    await button(page, 'Rename: A').click()
    await page.keyboard.type('No')
    await page.keyboard.press('Escape')
    await says(shown(page), ['A', 'B'])
    await hasFocus(button(page, 'Rename: A'))
    await button(page, 'Rename: A').click()
    await page.keyboard.type('Yes')
    await page.getByLabel('New task').click()
    await expect.poll(() => panels.titles(), SLOW_BROWSER).toEqual(['Yes', 'B'])
    await says(shown(page), ['Yes', 'B'])
  })

  it('tasks are reordered by buttons and keys, and the focus stays on the moved task', async () => {
    const page = await opened('A', 'B', 'C')
    await button(page, 'Move down: A').focus()
    await page.keyboard.press('Enter')
    await says(shown(page), ['B', 'A', 'C'])
    await hasFocus(button(page, 'Move down: A'))
    await page.keyboard.press('Alt+ArrowDown')
    await says(shown(page), ['B', 'C', 'A'])
    await hasFocus(button(page, 'Move down: A'))
    await plan(page).getByRole('status').getByText('Moved to 3 of 3').waitFor({ state: 'attached' })
    await page.keyboard.press('Enter')
    await page.keyboard.press('Alt+ArrowUp')
    await says(shown(page), ['B', 'A', 'C'])
    await hasFocus(button(page, 'Move down: A'))
    await expect.poll(() => panels.titles(), SLOW_BROWSER).toEqual(['B', 'A', 'C'])
  })

  it('on a slow connection every key press counts, and a double click is no conflict', async () => {
    const page = await opened('A', 'B', 'C', 'D', 'E')
    await page.route('**/tasks/**', async route => {
      await new Promise(resolve => setTimeout(resolve, 150))
      await route.continue()
    })
    await button(page, 'Mark as done: B').focus()
    for (let stroke = 0; stroke < 5; stroke += 1) await page.keyboard.press('Alt+ArrowDown')
    await says(shown(page), ['A', 'C', 'D', 'E', 'B'])
    await plan(page).getByRole('status').getByText('Moved to 5 of 5').waitFor({ state: 'attached' })
    await button(page, 'Mark as done: C').dblclick()
    await expect.poll(() => panels.statusOf('C'), SLOW_BROWSER).toBe('completed')
    await page.keyboard.press('Tab')
    expect(await plan(page).getByRole('alert').count()).toBe(0)
    await expect.poll(() => panels.titles(), SLOW_BROWSER).toEqual(['A', 'C', 'D', 'E', 'B'])
  })

  it('tasks are reordered by dragging, up and down', async () => {
    const page = await opened('A', 'B', 'C', 'D')
    const handles = plan(page).locator('.rs-handle')
    await handles.nth(0).dragTo(rows(page).nth(2))
    await says(shown(page), ['B', 'C', 'A', 'D'])
    await handles.nth(3).dragTo(rows(page).nth(1))
    await says(shown(page), ['B', 'D', 'C', 'A'])
    await expect.poll(() => panels.titles(), SLOW_BROWSER).toEqual(['B', 'D', 'C', 'A'])
  })

  it('a task dropped below the last row becomes the last', async () => {
    const page = await opened('A', 'B', 'C')
    await plan(page).locator('.rs-handle').nth(0).dragTo(plan(page).locator('.rs-add'))
    await says(shown(page), ['B', 'C', 'A'])
    await expect.poll(() => panels.titles(), SLOW_BROWSER).toEqual(['B', 'C', 'A'])
  })

  it('a message that fails moves neither the plan nor the message box', async () => {
    await panels.plan('A', 'B')
    for (const width of [390, 1280]) {
      const page = await panels.window({ viewport: { width, height: 844 } })
      await page.route('**/messages', route => route.abort())
      await page.getByLabel('What do you want done?').fill('More')
      await summary(page).click()
      await rows(page).first().waitFor()
      await page.getByText(/cannot be written to/).waitFor()
      const boxes = async () => [await boxOf(plan(page)), await boxOf(page.locator('.app-composer'))]
      const before = await boxes()
      await page.getByLabel('What do you want done?').press('Enter')
      const alert = page.getByRole('alert').filter({ hasText: 'The server cannot be reached' })
      await alert.waitFor()
      expect(await boxes()).toEqual(before)
      const { y, height } = await boxOf(alert)
      expect(y + height).toBeLessThanOrEqual((await boxOf(plan(page))).y)
    }
  })

  it('tasks are reordered by touch', async () => {
    await panels.plan('A', 'B', 'C')
    const page = await panels.window({ viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true })
    await summary(page).click()
    await says(shown(page), ['A', 'B', 'C'])
    await dragByTouch(page, plan(page).locator('.rs-handle').nth(2), rows(page).nth(0))
    await says(shown(page), ['C', 'A', 'B'])
    await expect.poll(() => panels.titles(), SLOW_BROWSER).toEqual(['C', 'A', 'B'])
  })

  it('a failed change shows its error and keeps the typed text', async () => {
    const page = await opened('A')
    await page.route('**/tasks**', route => (route.request().method() === 'GET' ? route.continue() : route.abort()))
    await page.getByLabel('New task').fill('B')
    await page.keyboard.press('Enter')
    await plan(page).getByRole('alert').getByText('The server cannot be reached.').waitFor()
    await holds(page.getByLabel('New task'), ['B'])
    await button(page, 'Rename: A').click()
    await page.keyboard.type('A 2')
    await page.keyboard.press('Enter')
    await holds(plan(page).getByLabel('Title'), ['A 2'])
    await page.unroute('**/tasks**')
    await plan(page).getByLabel('Title').press('Enter')
    await expect.poll(() => panels.titles(), SLOW_BROWSER).toEqual(['A 2'])
    await page.getByLabel('New task').press('Enter')
    await expect.poll(() => panels.titles(), SLOW_BROWSER).toEqual(['A 2', 'B'])
    await plan(page).getByRole('alert').waitFor({ state: 'detached' })
  })

  it('a change succeeds although the agent changed another field meanwhile', async () => {
    const page = await opened('A', 'B')
    const held = Promise.withResolvers<void>()
    await page.route('**/tasks/*', async route => {
      await held.promise
      await route.continue()
    })
    await button(page, 'Rename: A').click()
    await page.keyboard.type('A 2')
    await page.keyboard.press('Enter')
    await panels.update(1)
    held.resolve()
    await expect
      .poll(async () => (await panels.tasks()).map(({ title, status }) => [title, status]), SLOW_BROWSER)
      .toEqual([
        ['A 2', 'completed'],
        ['B', 'in_progress'],
      ])
    expect(await plan(page).getByRole('alert').count()).toBe(0)
  })

  it('of two people who finish the same task at once, the second sees its new state', async () => {
    const page = await opened('A', 'B')
    const held = Promise.withResolvers<void>()
    await page.route('**/tasks/*', async route => {
      await held.promise
      await route.continue()
    })
    await button(page, 'Cancel task: A').click()
    await panels.update(1)
    held.resolve()
    await plan(page).getByRole('alert').waitFor()
    expect(await panels.statusOf('A')).toBe('completed')
    await button(page, 'Reopen: A').waitFor()
  })

  it('progress is announced, without the clock', async () => {
    const page = await opened('A', 'B')
    const said = plan(page).locator('p[role=status]').first()
    await expect.poll(() => said.textContent(), SLOW_BROWSER).toBe('A: 0 of 2 done, 2 remaining')
    await panels.update(1)
    await expect.poll(() => said.textContent(), SLOW_BROWSER).toBe('B: 1 of 2 done, 1 remaining')
  })

  it('reduced motion is respected', async () => {
    await panels.plan('A')
    const calm = await panels.window({ reducedMotion: 'reduce' })
    const duration = (page: Page): Promise<string> =>
      page
        .getByRole('progressbar')
        .locator('div')
        .first()
        .evaluate(bar => getComputedStyle(bar).transitionDuration)
    await plan(calm).waitFor()
    expect(await duration(calm)).toBe('0s')
  })

  it('in forced colours the progress bar is visible, and rows have no borders', async () => {
    await panels.plan('A', 'B')
    await panels.update(1)
    const page = await panels.window({ forcedColors: 'active' })
    await summary(page).click()
    const canvas = await page.evaluate(() => getComputedStyle(document.body).backgroundColor)
    const bar = await plan(page)
      .locator('.rs-progress > div')
      .first()
      .evaluate(e => getComputedStyle(e).backgroundColor)
    expect(bar).not.toBe(canvas)
    expect(
      await rows(page)
        .first()
        .evaluate(e => getComputedStyle(e).borderBottomColor),
    ).toBe(canvas)
  })

  it('on a narrow screen the actions of a row are behind one button', async () => {
    await panels.plan('A task with a title that is long enough to need more than one line there')
    const page = await panels.window({ viewport: { width: 360, height: 640 } })
    await plan(page).locator('.rs-elapsed').waitFor()
    await summary(page).click()
    await page.getByRole('button', { name: /^More actions: / }).click()
    await page.getByRole('button', { name: /^Cancel task: / }).click()
    await says(current(page), ['1 step'])
    await page.getByRole('button', { name: /^Reopen: / }).click()
    await says(counts(page), ['0 of 1 done · 1 remaining'])
  })
})

describe('with a turn on the server', () => {
  let turns: TestTurns
  afterEach(async () => {
    await panels.close()
    await turns.close()
  })

  /** Turns driven by a scripted model, with the page. */
  async function start(options: TurnsOptions): Promise<void> {
    turns = await startTurns(options)
    const { door, runner } = turns
    const take = (ref: { tenant: string; conversation: string }, turn: string): void => void runner.take(ref, turn)
    const { host = {} } = options
    panels = new Panels(
      browser,
      await startServer({ door, page: builtPage, host, turns: { names: [MODEL], defaultName: MODEL, take } }),
    )
  }

  it('messages and message box stay in place when a review appears, is decided, and the plan follows', async () => {
    const gates = { plan: Promise.withResolvers<void>(), end: Promise.withResolvers<void>() }
    let asked = 0
    await start({
      host: { toolset: 'runsheet', review: true, assessor: false },
      answers: () => {
        asked += 1
        const calls = [{ tool: 'plan', args: { tasks: [{ title: 'One' }, { title: 'Two' }] } }]
        return asked === 1 ? { calls, after: gates.plan.promise } : { text: 'Done.', after: gates.end.promise }
      },
    })
    const page = await panels.window()
    await page.getByLabel('What do you want done?').fill('Two steps')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Stop' }).waitFor()
    const message = page.getByRole('article').filter({ hasText: 'Two steps' })
    await message.waitFor()
    const boxes = async () => [await boxOf(message), await boxOf(page.locator('.app-composer'))]
    const before = await boxes()
    gates.plan.resolve()
    await page.getByRole('heading', { name: 'Review the plan' }).waitFor()
    expect(await boxes()).toEqual(before)
    await page.getByRole('button', { name: /^Approve / }).click()
    await says(counts(page), ['0 of 2 done · 2 remaining'])
    expect(await boxes()).toEqual(before)
    await summary(page).click()
    await rows(page).first().waitFor()
    expect(await boxes()).toEqual(before)
    gates.end.resolve()
  })

  it('a step that is taken up again days later goes on from the time that was worked on it', async () => {
    const held = Promise.withResolvers<void>()
    let skewMs = -5 * 86_400_000
    await start({
      door: openDoor({ store: openMemoryStore({ skewMs: () => skewMs }) }),
      host: { review: false, assessor: false, gate: false },
      answers: [
        { calls: [{ tool: 'plan', args: { tasks: [{ title: 'One' }] } }] },
        'Later.',
        { text: 'Now.', after: held.promise },
      ],
    })
    await turns.chat({ session_id: 'c' })
    skewMs = 0
    await turns.open({ session_id: 'c', turn_id: 't2', continue_turn_id: 't1' })
    const page = await panels.window()
    await expect.poll(() => plan(page).locator('.rs-elapsed').innerText(), SLOW_BROWSER).toMatch(/^0:[0-5]\d$/)
    held.resolve()
    await plan(page).locator('.rs-elapsed').waitFor({ state: 'detached' })
  })

  it('an hour in which the server was down is not counted', async () => {
    const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const
    let skewMs = -60 * 60_000
    await start({
      door: openDoor({ store: openMemoryStore({ skewMs: () => skewMs }) }),
      // The lease outlives the hour: the turn is not to begin again.
      leaseMs: 2 * 60 * 60_000,
      host: { review: false, assessor: false, gate: false },
      answers: [
        { calls: [{ tool: 'plan', args: { tasks: [{ title: 'One' }] } }] },
        { calls: [{ tool: 'tasks', args: {} }], after: gates[0].promise },
        { text: 'Now.', after: gates[1].promise },
      ],
    })
    const reader = await turns.open({ session_id: 'c' })
    await reader.reached('tool_answered')
    skewMs = 0
    const page = await panels.window()
    await says(current(page), ['One'])
    expect(await plan(page).locator('.rs-elapsed').count()).toBe(0)
    gates[0].resolve()
    await expect.poll(() => plan(page).locator('.rs-elapsed').innerText(), SLOW_BROWSER).toMatch(/^5:[0-5]\d$/)
    gates[1].resolve()
    await plan(page).locator('.rs-elapsed').waitFor({ state: 'detached' })
  })

  it('the step that is taken up shows at once; a step limit is named, and Continue resumes', async () => {
    const first = Promise.withResolvers<void>()
    const second = Promise.withResolvers<void>()
    const third = Promise.withResolvers<void>()
    let asked = 0
    await start({
      host: { toolset: 'manage_todos', max_advances: 1 },
      answers: () => {
        asked += 1
        const calls = [{ tool: 'manage_todos', args: { add: ['One', 'Two', 'Three'] } }]
        if (asked === 1) return { calls, after: first.promise }
        if (asked === 2) return 'The first is done.'
        if (asked === 3) return { text: 'The second is done.', after: second.promise }
        return { text: 'The third is done.', after: third.promise }
      },
      assessor: () => 'OK',
    })
    const page = await panels.window()
    await page.getByRole('button', { name: /^Toolset/ }).click()
    await page.getByRole('radio', { name: /^To-do list/ }).check()
    await page.getByLabel('What do you want done?').fill('Three steps')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Stop' }).waitFor()
    first.resolve()
    await says(current(page), ['Two'])
    second.resolve()
    const ending = page.getByRole('note').getByText('2 done, 1 left · It reached its limit of steps in a row.')
    await ending.waitFor()
    await says(counts(page), ['2 of 3 done · 1 remaining'])
    // Said once, and one way to resume: Continue beside the plan, no Retry.
    expect(await page.locator('.rs-warning').count()).toBe(0)
    expect(await button(page, 'Retry').count()).toBe(0)
    await page.reload()
    await ending.waitFor()
    expect(await button(page, 'Retry').count()).toBe(0)
    // Beside the history nothing else says it.
    await button(page, 'History').click()
    await plan(page).getByText('Step limit reached: 1 left').waitFor()
    await button(page, 'History').click()
    await button(page, 'Continue').click()
    await button(page, 'Continue').waitFor({ state: 'detached' })
    third.resolve()
    await page.getByRole('note').getByText('All 3 steps done').waitFor()
    await says(current(page), ['3 steps'])
    await expect
      .poll(() => turns.statuses('c'), SLOW_BROWSER)
      .toEqual([
        ['One', 'completed'],
        ['Two', 'completed'],
        ['Three', 'completed'],
      ])
  })
})
