import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { afterEach, expect, it } from 'vitest'
import { openDoor } from '../../src/engine/door/door.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { complaintsOfAxe } from '../support/axe.ts'
import { builtPage, sharedBrowser, visit, type Visit } from '../support/page.ts'
import type { Answers } from '../support/provider.ts'
import { scratchFolder } from '../support/scratch.ts'
import { startTurns, type TestTurns, type TurnsOptions } from '../support/turns.ts'

const browser = await sharedBrowser()

let turns: TestTurns
let visits: Visit[] = []
let folder: string
/** How far the server's clock is behind. */
let agoMs = 0

afterEach(async () => {
  const problems = visits.flatMap(each => each.problems)
  for (const { context } of visits) await context.close()
  visits = []
  await turns.close()
  rmSync(folder, { recursive: true })
  expect(problems).toEqual([])
})

const start = async (answers: Answers = () => 'Well.', options: TurnsOptions = {}): Promise<void> => {
  agoMs = 0
  folder = scratchFolder()
  const path = join(folder, 'runsheet.db')
  const door = openDoor({ store: await openSqliteStore({ path, skewMs: () => -agoMs }) })
  turns = await startTurns({ page: builtPage, answers, host: { review: false }, door, ...options })
}
const open = async (
  query = '',
  options: BrowserContextOptions & { readonly expected?: RegExp } = {},
): Promise<Page> => {
  const link = `${turns.url.href}${query}#code=${turns.server.loginCode()}`
  const visited = await visit(browser, link, { expected: /404/, ...options })
  visits.push(visited)
  return visited.page
}
/** A conversation of an agent elsewhere. */
const planned = (session_id: string, title: string): Promise<unknown> =>
  turns.agent.call('runsheet', 'plan', { session_id, turn_id: 't', arguments: { tasks: [{ title }] } })
const named = async (session_id: string, title: string): Promise<void> => {
  await planned(session_id, 'A task')
  await turns.person.fileSession(session_id, { title })
}

const side = (page: Page) => page.getByRole('navigation')
const row = (page: Page, name: string) => side(page).getByRole('link', { name, exact: true })
const heading = (page: Page) => page.getByRole('heading', { level: 1 })
const field = (page: Page) => page.getByRole('textbox', { name: 'New title' })
const choose = async (page: Page, title: string, item: string): Promise<void> => {
  await side(page)
    .getByRole('button', { name: `More actions: ${title}`, exact: true })
    .click()
  await page.getByRole('menuitem', { name: item, exact: true }).click()
}
/** The list of a group. */
const group = (page: Page, name: string) => side(page).getByRole('list', { name, exact: true })
const titlesIn = (page: Page, name: string): Promise<string[]> => group(page, name).getByRole('link').allInnerTexts()
/** As when a person comes back to a window: it looks at once instead of with the next poll. */
const look = (page: Page): Promise<boolean> =>
  page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
const focused = (page: Page): Promise<string | null | undefined> =>
  page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent)

it('conversations are grouped by day, pinned ones first, older ones by month, with a mark each where one is due', async () => {
  await start((_, count) => (count === 0 ? { status: 400 } : { text: 'Working', hangs: true }))
  const days = 86_400_000
  for (const [id, ago] of [
    ['last year', 400],
    ['last season', 75],
    ['two weeks', 14],
    ['this week', 4],
    ['the day before', 1],
  ] as const) {
    agoMs = ago * days
    await planned(id.replaceAll(' ', '-'), id)
  }
  agoMs = 0
  await turns.chat({ session_id: 'f', message: 'It fails' })
  const running = await turns.open({ session_id: 'r', message: 'It runs' })
  await running.reached('turn_started')
  await turns.person.setPolicy('w', { toolset: 'runsheet', review: true })
  void planned('w', 'It waits').catch(() => {})
  await expect.poll(async () => (await turns.person.pendingReviews('w')).reviews.length).toBe(1)
  await turns.person.fileSession('last-year', { pinned: true })
  const page = await open()
  await row(page, 'It waits Waiting for your review').waitFor()
  await row(page, 'It runs Working').waitFor()
  await row(page, 'It fails Failed').waitFor()
  const month = new Date(Date.now() - 75 * days)
  const ofMonth = month.toLocaleDateString('en-US', {
    month: 'long',
    ...(month.getFullYear() === new Date().getFullYear() ? {} : { year: 'numeric' }),
  })
  const groups = ['Pinned', 'Today', 'Yesterday', 'Previous 7 days', 'Previous 30 days', ofMonth]
  expect(await side(page).getByRole('heading', { level: 2 }).allInnerTexts()).toEqual(groups)
  expect(await titlesIn(page, 'Pinned')).toEqual(['last year'])
  expect((await titlesIn(page, 'Today')).toSorted()).toEqual(['It fails', 'It runs', 'It waits'])
  expect(await titlesIn(page, ofMonth)).toEqual(['last season'])
  // A mark is a shape of its own, not only a colour.
  const shapes = await page.locator('.app-mark svg').evaluateAll(all => all.map(each => each.innerHTML))
  expect(new Set(shapes).size).toBe(3)
  await page.getByRole('button', { name: '中文' }).click()
  await group(page, '过去 30 天').waitFor()
  await row(page, 'It runs 处理中').waitFor()
  // What happens elsewhere takes the marks away.
  const { reviews } = await turns.person.pendingReviews('w')
  await turns.person.decide(reviews[0]?.review_id ?? '', { action: 'cancel' })
  await turns.person.stop('r', 't1')
  await look(page)
  await row(page, 'It waits').waitFor()
})

it('the day is that of the time zone of the browser', async () => {
  await start()
  // One minute before midnight UTC is today, or yesterday, in the far east; never older.
  const midnight = new Date().setUTCHours(0, 0, 0, 0)
  agoMs = Date.now() - midnight + 60_000
  await planned('a', 'Late')
  const page = await open('', { timezoneId: 'Pacific/Kiritimati' })
  await row(page, 'Late').waitFor()
  const east = await side(page).getByRole('heading', { level: 2 }).innerText()
  const dayThere = (at: number): string => new Date(at).toLocaleDateString('en', { timeZone: 'Pacific/Kiritimati' })
  expect(east).toBe(dayThere(midnight - 60_000) === dayThere(Date.now()) ? 'Today' : 'Yesterday')
})

it('a conversation is renamed in place: Enter and leaving save, Escape does not; in the header, too', async () => {
  await start()
  await turns.chat({ message: 'The first one' })
  const page = await open('?chat=c1')
  await choose(page, 'The first one', 'Rename')
  await expect.poll(() => field(page).evaluate(each => each === document.activeElement)).toBe(true)
  await page.keyboard.type('Third quarter')
  await page.keyboard.press('Enter')
  await row(page, 'Third quarter').waitFor()
  await expect.poll(() => focused(page)).toBe('Third quarter ')
  await heading(page).getByText('Third quarter').waitFor()
  await choose(page, 'Third quarter', 'Rename')
  await field(page).fill('Not this')
  await page.keyboard.press('Escape')
  await row(page, 'Third quarter').waitFor()
  // An empty title is none.
  await choose(page, 'Third quarter', 'Rename')
  await field(page).fill('  ')
  await page.keyboard.press('Enter')
  await row(page, 'Third quarter').waitFor()
  await heading(page).getByRole('button').click()
  await page.getByRole('menuitem', { name: 'Rename' }).click()
  await field(page).fill('Fourth quarter')
  await page.locator('.app-input').focus()
  await row(page, 'Fourth quarter').waitFor()
  expect((await turns.person.session('c1')).session.title).toBe('Fourth quarter')
  // Only what changed was sent.
  expect((await turns.log()).filter(({ type }) => type === 'title_set')).toHaveLength(2)
  // One at a time, by keyboard alone.
  await heading(page).getByRole('button').focus()
  await page.keyboard.press('Enter')
  await page.getByRole('menuitem', { name: 'Pin' }).waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await group(page, 'Pinned').getByRole('link', { name: 'Fourth quarter' }).waitFor()
  await choose(page, 'Fourth quarter', 'Unpin')
  await group(page, 'Today').getByRole('link', { name: 'Fourth quarter' }).waitFor()
})

it('archiving can be undone; archiving what is open opens a new chat, and Undo opens it again', async () => {
  await start()
  for (const id of ['a', 'b']) await turns.chat({ session_id: id, message: `About ${id}` })
  const page = await open('?chat=a')
  await choose(page, 'About b', 'Archive')
  await page.getByRole('status').getByText('Archived “About b”').waitFor()
  await row(page, 'About b').waitFor({ state: 'detached' })
  await expect.poll(() => focused(page)).toBe('Undo')
  await page.getByRole('button', { name: 'Undo' }).click()
  await row(page, 'About b').waitFor()
  await page.getByText('Archived “About b”').waitFor({ state: 'detached' })
  expect(await page.getByRole('menu').count()).toBe(0)
  // Another window has it open and stays there.
  const other = await open('?chat=a')
  await row(other, 'About a').waitFor()
  await choose(page, 'About a', 'Archive')
  await page.getByRole('heading', { name: /then watch it get done$/ }).waitFor()
  await other.getByRole('button', { name: 'Archived · Restore' }).waitFor()
  await row(other, 'About a').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Undo' }).click()
  await heading(page).getByText('About a').waitFor()
  await expect.poll(() => page.url()).toContain('?chat=a')
  await row(page, 'About a').waitFor()
  await other.getByRole('button', { name: 'Archived · Restore' }).waitFor({ state: 'detached' })
  await row(other, 'About a').waitFor()
})

it('archived conversations have a list of their own, from which they are opened and brought back', async () => {
  await start()
  await planned('a', 'Kept')
  for (const id of ['b', 'c']) {
    await planned(id, `Old ${id}`)
    await turns.person.fileSession(id, { archived: true })
  }
  const page = await open()
  await row(page, 'Kept').waitFor()
  expect(await row(page, 'Old b').count()).toBe(0)
  await page.getByRole('button', { name: 'Archived', exact: true }).click()
  const archive = side(page).getByRole('region', { name: 'Archived' })
  await archive.getByRole('link', { name: 'Old b' }).click()
  await heading(page).getByText('Old b').waitFor()
  await page.getByRole('button', { name: 'Archived · Restore' }).waitFor()
  await archive.getByRole('button', { name: 'Restore: Old c' }).click()
  await archive.getByRole('link', { name: 'Old c' }).waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Archived · Restore' }).click()
  await page.getByRole('button', { name: 'Archived · Restore' }).waitFor({ state: 'detached' })
  await look(page)
  await archive.getByText('Nothing is archived.').waitFor()
  await archive.getByRole('button', { name: 'Back to all conversations' }).click()
  await row(page, 'Old b').waitFor()
  await row(page, 'Old c').waitFor()
})

it('a conversation is saved as a file that is named after it', async () => {
  await start()
  await turns.chat({ message: 'Plan: a/b? "C:\\d" <e>' })
  const page = await open('?chat=c1')
  const saved = async (act: () => Promise<void>): Promise<[string, string]> => {
    const [download] = await Promise.all([page.waitForEvent('download'), act()])
    return [download.suggestedFilename(), readFileSync(await download.path(), 'utf8')]
  }
  const title = 'Plan: a/b? "C:\\d" <e>'
  const [markdown, text] = await saved(() => choose(page, title, 'Export as Markdown'))
  expect(markdown).toBe('Plan a b C d e.md')
  expect(text).toContain('Well.')
  const [json, lines] = await saved(() => choose(page, title, 'Export as JSON lines'))
  expect(json).toBe('Plan a b C d e.jsonl')
  for (const line of lines.trim().split('\n')) expect(typeof JSON.parse(line)).toBe('object')
  await turns.person.fileSession('c1', { title: '准备生日派对的预算' })
  await heading(page).getByText('准备生日派对的预算').waitFor()
  await heading(page).getByRole('button').click()
  const [chinese] = await saved(() => page.getByRole('menuitem', { name: 'Export as Markdown' }).click())
  expect(chinese).toBe('准备生日派对的预算.md')
})

it('a change that fails is taken back and said, and can be tried again', async () => {
  await start()
  await turns.chat({ message: 'As it was' })
  const page = await open('?chat=c1', { expected: /ERR_|Failed to load/ })
  await row(page, 'As it was').waitFor()
  await page.route('**/api/sessions/c1*', route =>
    route.request().method() === 'PATCH' ? route.abort('connectionrefused') : route.continue(),
  )
  await choose(page, 'As it was', 'Rename')
  await field(page).fill('Renamed')
  await page.keyboard.press('Enter')
  const alert = page.getByRole('alert').filter({ hasText: 'Not renamed to “Renamed”.' })
  await alert.waitFor()
  await row(page, 'As it was').waitFor()
  await page.unroute('**/api/sessions/c1*')
  await alert.getByRole('button', { name: 'Retry' }).click()
  await row(page, 'Renamed').waitFor()
  await alert.waitFor({ state: 'detached' })
  expect((await turns.person.session('c1')).session.title).toBe('Renamed')
  // The same for an export.
  await page.route('**/export.md', route => route.abort('connectionrefused'))
  await choose(page, 'Renamed', 'Export as Markdown')
  await page.getByRole('alert').waitFor()
  await page.getByRole('alert').getByRole('button', { name: 'Close' }).click()
  await page.getByRole('alert').waitFor({ state: 'detached' })
})

it('a list that cannot be loaded says why, and is loaded by Retry', async () => {
  await start()
  await planned('a', 'There')
  const page = await open('', { expected: /503|404/ })
  await row(page, 'There').waitFor()
  await page.route('**/api/sessions?*', route =>
    route.fulfill({ status: 503, json: { error: { code: 'busy', message: 'Busy.' } } }),
  )
  await page.reload()
  const alert = side(page).getByRole('alert')
  await alert.waitFor()
  await page.unroute('**/api/sessions?*')
  await alert.getByRole('button', { name: 'Retry' }).click()
  await row(page, 'There').waitFor()
})

it('two windows that rename and archive at once end with the same list', async () => {
  await start()
  for (const id of ['a', 'b', 'c']) await named(id, `Title ${id}`)
  const [one, two] = [await open('?chat=a'), await open('?chat=a')]
  await Promise.all([row(one, 'Title a').waitFor(), row(two, 'Title a').waitFor()])
  const rename = async (page: Page, title: string): Promise<void> => {
    await choose(page, 'Title a', 'Rename')
    await field(page).fill(title)
  }
  await Promise.all([rename(one, 'From one'), rename(two, 'From two')])
  await Promise.all([one.keyboard.press('Enter'), two.keyboard.press('Enter')])
  await Promise.all([choose(one, 'Title b', 'Archive'), choose(two, 'Title b', 'Archive')])
  await choose(one, 'Title c', 'Archive')
  await expect.poll(async () => (await turns.person.sessions({ list: 'active' })).sessions.length).toBe(1)
  const { title } = (await turns.person.session('a')).session
  for (const page of [one, two]) {
    await look(page)
    await expect.poll(() => titlesIn(page, 'Today')).toEqual([title])
    await heading(page)
      .getByText(title ?? '')
      .waitFor()
  }
})

it('a thousand conversations: pages are loaded as they are scrolled to, and only what is in sight is laid out', {
  timeout: 120_000,
}, async () => {
  await start()
  // Not over HTTP, which allows an agent 600 writes a minute.
  const { door } = turns
  for (let made = 0; made < 1_000; made += 1) {
    await door.run(
      { tenant: 'local', conversation: `c${made}` },
      { type: 'open_turn', turn_id: 't', toolset: 'runsheet', plans: true, host: { review: false } },
      { type: 'edit_tasks', by: 'model', turn_id: 't', create: [{ id: door.newId(), title: `Plan ${made}` }] },
    )
  }
  const asked: number[] = []
  const page = await open()
  page.on('request', request => {
    const { pathname, searchParams } = new URL(request.url())
    if (pathname === '/api/sessions') asked.push(Number(searchParams.get('limit')))
  })
  const rows = side(page).getByRole('listitem')
  await expect.poll(() => rows.count()).toBeGreaterThanOrEqual(50)
  const scroller = page.locator('.app-sessions')
  await expect
    .poll(
      async () => {
        await scroller.evaluate(each => {
          each.scrollTop = each.scrollHeight
        })
        return page.locator('.app-sessions li').count()
      },
      { timeout: 60_000 },
    )
    .toBe(1_000)
  expect(Math.max(...asked)).toBeLessThanOrEqual(200)
  expect(await side(page).getByRole('button', { name: 'Show more' }).count()).toBe(0)
  // Far rows are skipped, and there when they are needed.
  const skipped = await page
    .locator('.app-sessions li > a')
    .evaluateAll(all => all.filter(each => !each.checkVisibility({ contentVisibilityAuto: true })).length)
  expect(skipped).toBeGreaterThan(900)
  const last = page.locator('.app-sessions li > a').last()
  const title = (await last.innerText()).trim()
  await last.click()
  await heading(page).getByText(title, { exact: true }).waitFor()
  // What another client does shows in its place, and the list stays where it was scrolled to.
  const before = await scroller.evaluate(each => each.scrollTop)
  await turns.person.fileSession('c500', { pinned: true, title: 'Up here' })
  await look(page)
  await group(page, 'Pinned').getByRole('link', { name: 'Up here' }).waitFor()
  expect(await page.locator('.app-sessions li').count()).toBe(1_000)
  expect(Math.abs((await scroller.evaluate(each => each.scrollTop)) - before)).toBeLessThan(120)
})

it('titles without a space and in either direction stay in their row, in list, header and search', async () => {
  await start()
  const long = 'x'.repeat(400)
  const hebrew = 'לאסוף את הנתונים'
  await planned('a', long)
  await named('b', 'y'.repeat(120))
  await named('c', hebrew)
  for (const width of [390, 1280]) {
    const page = await open('?chat=b', { viewport: { width, height: 800 } })
    await heading(page).getByText('yyy').waitFor()
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width)
    if (width < 760) await page.getByRole('button', { name: 'Conversations and search' }).click()
    await row(page, hebrew).waitFor()
    expect(
      await row(page, hebrew)
        .locator('span')
        .evaluate(each => getComputedStyle(each).direction),
    ).toBe('rtl')
    const sideways = (): Promise<number> =>
      page.locator('.app-sessions:visible').evaluate(each => each.scrollWidth - each.clientWidth)
    expect(await sideways()).toBe(0)
    await page.getByRole('searchbox').fill('xxxxxxx')
    await side(page).getByRole('list', { name: 'Tasks' }).getByRole('link').waitFor()
    expect(await sideways()).toBe(0)
    await page.getByRole('searchbox').press('Escape')
    await choose(page, hebrew, 'Rename')
    await field(page).fill('z'.repeat(500))
    expect((await field(page).inputValue()).length).toBe(120)
    await page.keyboard.press('Escape')
    await row(page, hebrew).waitFor()
  }
})

const plan = (...titles: string[]) => ({ tool: 'plan', args: { tasks: titles.map(title => ({ title })) } })

it('a search finds titles, tasks and messages, marks what matches, and opens each where it is', async () => {
  await start([
    { text: 'I plan it.', calls: [plan('准备生日派对的预算', 'Invite')] },
    { text: 'The figures are in the cellar.', calls: [{ tool: 'update', args: { id: 1, outcome: 'A sum.' } }] },
    { calls: [{ tool: 'update', args: { id: 2, outcome: 'Sent to twelve guests.' } }] },
    `${'A long answer. \n\n'.repeat(60)}All guests are invited.`,
    ...Array.from({ length: 6 }, () => `${'Something else. \n\n'.repeat(60)}Done.`),
  ])
  await turns.chat({ message: 'Guests for the party' })
  await turns.chat({ turn_id: 't2', message: 'And something else' })
  const page = await open()
  const results = side(page).getByRole('region', { name: 'Search' })
  const list = (name: string) => results.getByRole('list', { name, exact: true })
  const search = page.getByRole('searchbox')
  await search.fill('guests')
  await list('Conversations').waitFor()
  expect(await results.getByRole('heading').allInnerTexts()).toEqual(['Conversations', 'Tasks', 'Messages'])
  const marks = await results.locator('mark').allInnerTexts()
  expect(new Set(marks.map(each => each.toLowerCase()))).toEqual(new Set(['guests']))
  expect(await list('Tasks').getByRole('link').innerText()).toContain('done · Guests for the party')
  expect(
    await list('Messages')
      .getByRole('link', { name: /You · Guests for the party/ })
      .count(),
  ).toBe(1)
  // A message is shown where it was said, however far up.
  await list('Messages')
    .getByRole('link', { name: /All guests are invited/ })
    .click()
  const inSight = (text: string): Promise<boolean> =>
    page
      .locator('[data-message]', { hasText: text })
      .last()
      .evaluate(each => {
        const { top, bottom } = each.getBoundingClientRect()
        return each === document.activeElement && top < innerHeight && bottom > 0
      })
  await expect.poll(() => inSight('All guests are invited.')).toBe(true)
  const scroller = page.getByRole('region', { name: 'Messages' })
  expect(await scroller.evaluate(each => each.scrollHeight - each.scrollTop - each.clientHeight)).toBeGreaterThan(300)
  await expect.poll(() => page.url()).toContain('&message=')
  // In a folded step, it unfolds.
  await search.fill('cellar')
  await list('Messages')
    .getByRole('link', { name: /cellar/ })
    .click()
  await expect.poll(() => inSight('The figures are in the cellar.')).toBe(true)
  await page.reload()
  await expect.poll(() => inSight('The figures are in the cellar.')).toBe(true)
  await search.fill('生日')
  await list('Tasks').getByRole('link').waitFor()
  expect(await list('Tasks').locator('mark').allInnerTexts()).toEqual(['生日'])
  await list('Tasks').getByRole('link').click()
  await page.getByRole('group', { name: 'History of “准备生日派对的预算”' }).waitFor()
  await search.press('Escape')
  await row(page, 'Guests for the party').waitFor()
})

it('a search says when nothing is found, when it fails, and when the index is behind', async () => {
  await start()
  await planned('a', 'There')
  const page = await open('', { expected: /503|404/ })
  const results = side(page).getByRole('region', { name: 'Search' })
  await page.getByRole('searchbox').fill('nowhere to be found')
  await results.getByText('No results for “nowhere to be found”').waitFor()
  await page.route('**/api/search?*', route =>
    route.fulfill({ status: 503, json: { error: { code: 'busy', message: 'Busy.' } } }),
  )
  await page.getByRole('searchbox').fill('There')
  await results.getByRole('alert').waitFor()
  expect(await results.getByText('No results').count()).toBe(0)
  await page.unroute('**/api/search?*')
  await page.route('**/api/search?*', async route => {
    const response = await route.fetch()
    await route.fulfill({ response, json: { ...(await response.json()), indexing: true } })
  })
  await results.getByRole('button', { name: 'Retry' }).click()
  await results.getByRole('link', { name: /There/ }).first().waitFor()
  await results.getByText('Older texts are still being indexed').waitFor()
  await page.getByRole('searchbox').fill('%%%')
  await results.getByText('No results for “%%%”').waitFor()
})

it('Ctrl+K does everything by keyboard: commands, conversations, messages and tasks', async () => {
  await start()
  await turns.chat({ session_id: 'a', message: 'About apples' })
  await turns.chat({ session_id: 'b', message: 'About pears' })
  const page = await open('?chat=a')
  await page.locator('.app-input').fill('Half a thought')
  await page.keyboard.press('Control+k')
  const palette = page.getByRole('dialog', { name: 'Commands and search' })
  const input = palette.getByRole('combobox')
  await expect.poll(() => input.evaluate(each => each === document.activeElement)).toBe(true)
  const active = (): Promise<string | null | undefined> =>
    input.evaluate(each => document.getElementById(each.getAttribute('aria-activedescendant') ?? '')?.textContent)
  expect(await active()).toBe('New chat')
  expect(await palette.getByRole('option', { name: /Settings|Reviews/ }).count()).toBe(2)
  await page.keyboard.press('ArrowUp')
  expect(await active()).toMatch(/^About (apples|pears)$/)
  await page.keyboard.press('ArrowDown')
  expect(await active()).toBe('New chat')
  await page.keyboard.press('Escape')
  await palette.waitFor({ state: 'detached' })
  // The text and the focus are where they were.
  expect(await page.evaluate(() => document.activeElement?.className)).toBe('app-input')
  expect(await page.locator('.app-input').inputValue()).toBe('Half a thought')
  const run = async (typed: string, wanted: string | RegExp): Promise<void> => {
    await page.keyboard.press('Control+k')
    await input.waitFor()
    await page.keyboard.type(typed)
    await expect.poll(active).toMatch(wanted)
    await page.keyboard.press('Enter')
    await palette.waitFor({ state: 'detached' })
  }
  await run('pears', /^About pears/)
  await heading(page).getByText('About pears').waitFor()
  await run('rename', 'Rename conversation')
  await expect.poll(() => field(page).evaluate(each => each === document.activeElement)).toBe(true)
  await page.keyboard.type('About plums')
  await page.keyboard.press('Enter')
  await row(page, 'About plums').waitFor()
  await run('pin conv', 'Pin conversation')
  await group(page, 'Pinned').getByRole('link', { name: 'About plums' }).waitFor()
  await run('history', 'History of this conversation')
  await page.getByRole('region', { name: 'History' }).waitFor()
  await run('light', 'Switch between light and dark')
  expect(await page.evaluate(() => document.documentElement.dataset['theme'])).toBe('dark')
  await run('archive conv', 'Archive conversation')
  await page.getByRole('heading', { name: /then watch it get done$/ }).waitFor()
  await run('archived', 'Archived conversations')
  await side(page).getByRole('region', { name: 'Archived' }).waitFor()
  // Nothing can be done with a conversation before its first message.
  await page.keyboard.press('Control+k')
  await page.keyboard.type('rename')
  await palette.getByText('Nothing found').waitFor()
  await page.keyboard.press('Escape')
  await palette.waitFor({ state: 'detached' })
  await run('chinese', 'Switch to Chinese (中文)')
  await page.keyboard.press('Control+k')
  await page.getByRole('dialog', { name: '命令与搜索' }).waitFor()
})

it('? shows every shortcut, unless it is typed', async () => {
  await start()
  await planned('a', 'There')
  const page = await open('?chat=a')
  const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  await row(page, 'There').waitFor()
  await page.locator('.app-input').focus()
  await page.keyboard.type('Really?')
  expect(await page.locator('.app-input').inputValue()).toBe('Really?')
  expect(await help.count()).toBe(0)
  await row(page, 'There').focus()
  await page.keyboard.press('?')
  await help.waitFor()
  expect(await help.getByRole('heading', { level: 3 }).allInnerTexts()).toEqual([
    'Everywhere',
    'Message box',
    'Review',
    'Plan',
    'Menus and lists',
  ])
  // One dialog at a time.
  await page.keyboard.press('Control+k')
  expect(await page.getByRole('dialog').count()).toBe(1)
  await page.keyboard.press('Escape')
  await help.waitFor({ state: 'detached' })
  expect(await focused(page)).toContain('There')
})

it('axe finds nothing in list, menus, search, palette and help, at 390 and 1280 px, in both languages', {
  timeout: 180_000,
}, async () => {
  await start()
  await turns.chat({ session_id: 'a', message: 'About apples' })
  await turns.chat({ session_id: 'b', message: 'About pears' })
  await turns.person.fileSession('b', { pinned: true })
  await planned('c', 'Apples in the cellar')
  await turns.person.fileSession('c', { archived: true })
  const found: string[] = []
  for (const [width, locale, words] of [
    [390, 'zh-CN', { side: '会话与搜索', more: '更多操作', archived: '已归档', rename: '重命名' }],
    [1280, 'en-US', { side: 'Conversations and search', more: 'More actions', archived: 'Archived', rename: 'Rename' }],
  ] as const) {
    const page = await open('?chat=a', { viewport: { width, height: 800 }, locale })
    const check = async (view: string): Promise<void> => {
      found.push(...(await complaintsOfAxe(page)).map(each => `${view} ${width}: ${each}`))
    }
    await heading(page).getByText('About apples').waitFor()
    if (width < 760) await page.getByRole('button', { name: words.side }).click()
    await row(page, 'About pears').waitFor()
    await check('list')
    await side(page)
      .getByRole('button', { name: new RegExp(`^${words.more}.*pears`) })
      .click()
    await page.getByRole('menuitem', { name: words.rename }).waitFor()
    await check('menu')
    await page.getByRole('menuitem', { name: words.rename }).click()
    await page.locator('.app-rename').waitFor()
    await check('rename')
    await page.keyboard.press('Escape')
    await page.getByRole('searchbox').fill('apples')
    await side(page).locator('mark').first().waitFor()
    await check('search')
    await page.getByRole('searchbox').fill('nothing of the sort')
    await side(page).locator('.app-results [role=status] small').waitFor()
    await check('no results')
    await page.getByRole('searchbox').fill('')
    await page.getByRole('button', { name: words.archived, exact: true }).click()
    await side(page)
      .getByRole('link', { name: /cellar/ })
      .waitFor()
    await check('archived')
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog').getByRole('option').first().waitFor()
    await check('palette')
    await page.keyboard.type('apples')
    await page.locator('dialog mark').first().waitFor()
    await check('palette results')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: words.archived, exact: true }).click()
    await page.getByRole('button', { name: words.archived, exact: true }).focus()
    await page.keyboard.press('?')
    await page.getByRole('dialog').waitFor()
    await check('help')
    await page.keyboard.press('Escape')
    await side(page)
      .getByRole('button', { name: new RegExp(`^${words.more}.*pears`) })
      .click()
    await page.getByRole('menuitem').last().click()
    await page.locator('.app-toast').waitFor()
    await check('notice')
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width)
    await turns.person.fileSession('b', { archived: false })
  }
  expect(found).toEqual([])
})

it('on a small screen the list is an overlay: opening a result closes it, and menus and notices stay in sight', async () => {
  await start()
  await turns.chat({ session_id: 'a', message: 'About apples' })
  await turns.chat({ session_id: 'b', message: 'About pears' })
  const page = await open('?chat=a', { viewport: { width: 390, height: 700 }, hasTouch: true, isMobile: true })
  await heading(page).getByText('About apples').waitFor()
  const menu = page.getByRole('button', { name: 'Conversations and search' })
  await menu.tap()
  const small = await side(page)
    .locator('button, a, input')
    .evaluateAll(all =>
      all
        .filter(each => each.checkVisibility())
        .flatMap(each => {
          const { height, width } = each.getBoundingClientRect()
          return height < 44 || width < 44 ? `${each.className} ${each.textContent}` : []
        }),
    )
  expect(small).toEqual([])
  const more = side(page).getByRole('button', { name: 'More actions: About pears' })
  await more.tap()
  const items = await page.getByRole('menu').boundingBox()
  expect(items && items.x >= 0 && items.x + items.width <= 390 && items.y + items.height <= 700).toBe(true)
  await page.getByRole('menuitem', { name: 'Archive' }).tap()
  await page.getByRole('button', { name: 'Undo' }).tap()
  await row(page, 'About pears').waitFor()
  await page.getByRole('searchbox').fill('pears')
  await side(page).getByRole('list', { name: 'Messages' }).getByRole('link').first().tap()
  await heading(page).getByText('About pears').waitFor()
  await side(page).waitFor({ state: 'hidden' })
  // Renamed from the header, without the list.
  await heading(page).getByRole('button').tap()
  await page.getByRole('menuitem', { name: 'Rename' }).tap()
  await field(page).fill('About plums')
  await page.keyboard.press('Enter')
  await heading(page).getByText('About plums').waitFor()
})
