import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { complaintsOfAxe } from '../support/axe.ts'
import { builtPage, sharedBrowser, visit } from '../support/page.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { confirmed, startTurns, type TestTurns } from '../support/turns.ts'

const browser = await sharedBrowser()

const newContext = browser.newContext.bind(browser)
beforeAll(() => {
  browser.newContext = async options => {
    const context = await newContext(options)
    await context.addInitScript(askOften)
    return context
  }
})
afterAll(() => {
  browser.newContext = newContext
})

/** The page asks every five seconds what waits; here, five times a second. */
function askOften(): void {
  const every = window.setInterval
  const often = (handler: () => void, ms?: number): number => every(handler, ms === 5_000 ? 200 : ms)
  Object.assign(window, { setInterval: often })
}

interface Scene extends TestServer {
  readonly link: (path?: string) => string
  /** An agent proposes a plan, whose review waits. Its id. */
  readonly propose: (session: string, ...titles: string[]) => Promise<string>
  readonly decide: (session: string) => Promise<void>
}

async function start(): Promise<Scene> {
  const server = await startServer({ page: builtPage, reviewWaitMs: 1 })
  onTestFinished(server.close)
  const waiting = async (session: string) => (await server.person.pendingReviews(session)).reviews[0]
  return {
    ...server,
    link: (path = '?chat=c0') => `${server.url.href}${path}#code=${server.server.loginCode()}`,
    propose: async (session, ...titles) => {
      const tasks = titles.map(title => ({ title }))
      await server.agent.call('runsheet', 'plan', { session_id: session, turn_id: 't', arguments: { tasks } })
      return (await waiting(session))?.review_id ?? ''
    },
    decide: async session => {
      const review = await waiting(session)
      if (review) await server.person.decide(review.review_id, confirmed(review))
    },
  }
}

/** The browser logs the 404 of a conversation that does not exist yet. */
const NEW = { expected: /404/ }

interface Shown {
  readonly title: string
  readonly body: string
  readonly isClosed: boolean
}

/**
 * A headless browser denies notifications, whatever is granted to it, and shows none. So those that are made are noted, and
 * the permission is what the test says; `answer` of the window is what the person answers when they are asked.
 */
async function watch(context: BrowserContext, permission: NotificationPermission): Promise<void> {
  await context.addInitScript(given => {
    const made: (Shown & { target: EventTarget })[] = []
    const asked: string[] = []
    Object.assign(window, { made, asked })
    class Noted extends EventTarget {
      static permission = given
      static async requestPermission(): Promise<NotificationPermission> {
        asked.push(document.title)
        Noted.permission = (window as { answer?: NotificationPermission }).answer ?? 'denied'
        return Noted.permission
      }
      readonly #at = made.length
      constructor(title: string, { body = '' }: NotificationOptions = {}) {
        super()
        made.push({ title, body, isClosed: false, target: this })
      }
      close(): void {
        const noted = made[this.#at]
        if (noted) made[this.#at] = { ...noted, isClosed: true }
      }
    }
    Object.assign(window, { Notification: Noted })
  }, permission)
}

const made = (page: Page): Promise<Shown[]> =>
  page.evaluate(() =>
    (window as unknown as { made: Shown[] }).made.map(({ title, body, isClosed }) => ({ title, body, isClosed })),
  )
const asked = (page: Page): Promise<number> =>
  page.evaluate(() => (window as unknown as { asked: string[] }).asked.length)

/** As in a window behind others: the browser of the tests has all in front. */
async function hide(page: Page): Promise<void> {
  await page.evaluate(() => {
    Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => 'hidden' })
    document.dispatchEvent(new Event('visibilitychange'))
  })
}

const SIGNED_IN = (page: Page): Promise<void> => page.getByRole('link', { name: 'Reviews' }).waitFor()
const icon = (page: Page): Promise<string | null> => page.locator('link[rel=icon]').getAttribute('href')

describe('a review that waits anywhere', () => {
  it('is counted in the title of every window, in its icon and in the list, until it is decided', async () => {
    const { link, propose, decide } = await start()
    const { page, context, problems } = await visit(browser, link(), NEW)
    await SIGNED_IN(page)
    expect([await page.title(), await icon(page)]).toEqual(['Runsheet', './icon.svg'])
    await propose('c1', 'Collect')
    await expect.poll(() => page.title()).toBe('(1) Runsheet')
    expect(await icon(page)).toBe('./icon-waiting.svg')
    await page.getByText('1 plan waits for your review').waitFor()
    // Also in a window that the person does not look at.
    await hide(page)
    await propose('c2', 'Write')
    await expect.poll(() => page.title()).toBe('(2) Runsheet')
    await decide('c1')
    await decide('c2')
    await expect.poll(() => page.title()).toBe('Runsheet')
    expect(await icon(page)).toBe('./icon.svg')
    expect(problems).toEqual([])
    await context.close()
  })

  it('does not call any more once this window has rejected it, and does again after Undo', async () => {
    const { link, propose, person } = await start()
    await propose('c1', 'Collect')
    const { page, context, problems } = await visit(browser, link('?chat=c1'))
    const told = page.getByText('1 plan waits for your review')
    const mark = page.getByRole('navigation').getByRole('img', { name: 'Waiting for you' })
    const calls = async () => [
      (await page.title()).startsWith('(1) '),
      (await icon(page)) === './icon-waiting.svg',
      (await told.count()) > 0,
      (await page.getByRole('link', { name: 'Reviews' }).innerText()).includes('1'),
      (await mark.count()) > 0,
    ]
    const all = (isCalled: boolean) => Array.from({ length: 5 }, () => isCalled)
    await expect.poll(calls).toEqual(all(true))
    await page.getByRole('button', { name: 'Reject' }).click()
    await expect.poll(calls).toEqual(all(false))
    expect((await person.pendingReviews('c1')).reviews).toHaveLength(1)
    await page.getByRole('button', { name: 'Undo' }).click()
    await expect.poll(calls).toEqual(all(true))
    // Another one that waits still calls.
    await propose('c2', 'Write')
    await expect.poll(() => page.title()).toMatch(/^\(2\) /)
    await page.getByRole('button', { name: 'Reject' }).click()
    await expect.poll(() => page.title()).toMatch(/^\(1\) /)
    expect(problems).toEqual([])
    await context.close()
  })

  it('the first one offers notifications; the browser is asked by a button, and never before', async () => {
    const { link, propose, decide } = await start()
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
    context.setDefaultTimeout(20_000)
    await watch(context, 'default')
    const page = await context.newPage()
    await page.goto(link('?chat=c1'))
    await SIGNED_IN(page)
    const offer = page.getByRole('group', { name: 'Get a notification when the agent waits for you?' })
    expect([await offer.count(), await asked(page)]).toEqual([0, 0])
    await propose('c1', 'Collect')
    await offer.waitFor()
    expect(await asked(page)).toBe(0)
    expect(await complaintsOfAxe(page)).toEqual([])
    await offer.getByRole('button', { name: 'Not now' }).click()
    await offer.waitFor({ state: 'detached' })
    expect(await asked(page)).toBe(0)
    // It is not offered again, and can be turned on in the settings.
    await decide('c1')
    await page.reload()
    await propose('c1', 'Write')
    await page.getByRole('heading', { name: 'Review the plan' }).waitFor()
    expect(await offer.count()).toBe(0)
    await page.evaluate(() => Object.assign(window, { answer: 'granted' }))
    await page.getByRole('button', { name: 'Settings' }).click()
    await page.getByRole('tab', { name: 'Notifications' }).click()
    const toggle = page.getByRole('switch', { name: 'Notify me when the agent waits for me' })
    expect(await toggle.isChecked()).toBe(false)
    await toggle.click()
    await expect.poll(() => toggle.isChecked()).toBe(true)
    expect(await asked(page)).toBe(1)
    await context.close()
  })

  it('one click on the offer turns notifications on', async () => {
    const { link, propose } = await start()
    const context = await browser.newContext({ viewport: { width: 390, height: 740 } })
    context.setDefaultTimeout(20_000)
    await watch(context, 'default')
    const page = await context.newPage()
    await page.goto(link('?chat=c1'))
    await propose('c1', 'Collect')
    await page.evaluate(() => Object.assign(window, { answer: 'granted' }))
    await page.getByRole('button', { name: 'Notify me' }).click()
    await page.getByRole('button', { name: 'Notify me' }).waitFor({ state: 'detached' })
    await hide(page)
    await propose('c2', 'Write')
    await expect.poll(() => made(page)).toHaveLength(1)
    await context.close()
  })

  it('a denied permission is said at once, and in the settings with what to do', async () => {
    const { link, propose } = await start()
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
    context.setDefaultTimeout(20_000)
    await watch(context, 'default')
    const page = await context.newPage()
    await page.goto(link('?chat=c1'))
    await propose('c1', 'Collect')
    await page.getByRole('button', { name: 'Notify me' }).click()
    await page.getByRole('status').getByText('Your browser blocks notifications from this page.').waitFor()
    await page.getByRole('button', { name: 'Settings' }).click()
    await page.getByRole('tab', { name: 'Notifications' }).click()
    await page.getByText('Click the icon left of the address, allow notifications').waitFor()
    expect(await page.getByRole('switch', { name: /^Notify me/ }).isDisabled()).toBe(true)
    expect(await complaintsOfAxe(page)).toEqual([])
    await hide(page)
    await propose('c2', 'Write')
    await expect.poll(() => page.title()).toContain('(2)')
    expect(await made(page)).toEqual([])
    await context.close()
  })

  it('of several hidden windows one notifies, once; a click opens the review, and a decision takes it away', async () => {
    const { link, url, propose, decide } = await start()
    const { page, context, problems } = await visit(browser, link(), NEW)
    await SIGNED_IN(page)
    await watch(context, 'granted')
    const windows = [page, await context.newPage(), await context.newPage()]
    for (const each of windows) {
      await each.goto(new URL('?chat=c0', url).href)
      await SIGNED_IN(each)
      await hide(each)
    }
    const all = async (): Promise<Shown[]> => (await Promise.all(windows.map(made))).flat()
    await propose('c1', 'Collect', 'Write')
    for (const each of windows) await expect.poll(() => each.title()).toBe('(1) Runsheet')
    const shown = { title: 'A plan waits for your review', body: 'Collect · 2 steps', isClosed: false }
    await expect.poll(all).toEqual([shown])
    await propose('c2', 'Send')
    await expect.poll(async () => (await all()).length).toBe(2)
    // Another window takes over without notifying again.
    const callers = await Promise.all(windows.map(made))
    const caller = windows[callers.findIndex(each => each.length > 0)]
    await caller?.evaluate(() =>
      (window as unknown as { made: { target: EventTarget }[] }).made[1]?.target.dispatchEvent(new Event('click')),
    )
    await caller?.getByRole('heading', { name: 'Review the plan' }).waitFor()
    expect(new URL(caller?.url() ?? '').search).toBe('?chat=c2')
    await decide('c1')
    await expect.poll(async () => (await all()).map(({ isClosed }) => isClosed)).toEqual([true, true])
    await caller?.close()
    const rest = windows.filter(each => each !== caller)
    await propose('c3', 'Archive')
    await expect.poll(async () => (await Promise.all(rest.map(made))).flat()).toHaveLength(1)
    expect(problems).toEqual([])
    await context.close()
  })

  it('the same window notifies each time, even where the browser remembers nothing', async () => {
    const { link, url, propose } = await start()
    const { page, context } = await visit(browser, link(), NEW)
    await SIGNED_IN(page)
    await watch(context, 'granted')
    await context.addInitScript(() => {
      Storage.prototype.getItem = function (key) {
        return key === 'runsheet.called' ? null : ((this as unknown as Record<string, string>)[key] ?? null)
      }
    })
    const windows = [page, await context.newPage(), await context.newPage()]
    for (const each of windows) {
      await each.goto(new URL('?chat=c0', url).href)
      await SIGNED_IN(each)
      await hide(each)
    }
    await propose('c1', 'Collect')
    for (const each of windows) await expect.poll(() => each.title()).toBe('(1) Runsheet')
    const counts = (): Promise<number[]> => Promise.all(windows.map(async each => (await made(each)).length))
    await expect.poll(async () => Math.max(...(await counts()))).toBeGreaterThan(2)
    expect((await counts()).filter(count => count > 0)).toHaveLength(1)
    await context.close()
  })

  it('a window that the person looks at makes no notification, and what was seen there is not told later', async () => {
    const { link, url, propose } = await start()
    const { page, context, problems } = await visit(browser, link(), NEW)
    await SIGNED_IN(page)
    await watch(context, 'granted')
    const hidden = await context.newPage()
    await page.reload()
    await hidden.goto(new URL('?chat=c0', url).href)
    for (const each of [page, hidden]) await SIGNED_IN(each)
    await hide(hidden)
    await propose('c1', 'Collect')
    for (const each of [page, hidden]) await expect.poll(() => each.title()).toBe('(1) Runsheet')
    await hide(page)
    await propose('c2', 'Write')
    for (const each of [page, hidden]) await expect.poll(() => each.title()).toBe('(2) Runsheet')
    await expect
      .poll(async () => [...(await made(page)), ...(await made(hidden))].map(({ body }) => body))
      .toEqual(['Write · 1 step'])
    expect(problems).toEqual([])
    await context.close()
  })

  it('the sound is off by default, and plays once it is on and the person looks elsewhere', async () => {
    const { link, propose } = await start()
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
    context.setDefaultTimeout(20_000)
    await context.addInitScript(() => {
      const played: number[] = []
      window.OscillatorNode = class extends OscillatorNode {
        override start(at?: number): void {
          played.push(this.frequency.value)
          super.start(at)
        }
      }
      Object.assign(window, { played })
    })
    const played = (): Promise<number> => page.evaluate(() => (window as unknown as { played: number[] }).played.length)
    const page = await context.newPage()
    await page.goto(link('?chat=c0'))
    await SIGNED_IN(page)
    await hide(page)
    await propose('c1', 'Collect')
    await expect.poll(() => page.title()).toBe('(1) Runsheet')
    expect(await played()).toBe(0)
    await page.getByRole('button', { name: 'Settings' }).click()
    await page.getByRole('tab', { name: 'Notifications' }).click()
    await page.getByRole('switch', { name: 'Play a sound' }).check()
    await expect.poll(played).toBe(2)
    await propose('c2', 'Write')
    await expect.poll(played).toBe(4)
    await context.close()
  })
})

describe('a call of a tool that waits anywhere', () => {
  it('is counted, listed at /reviews, marked in the list and notified like a review, until it is decided', async () => {
    const turns = await asking()
    const { page, context, problems } = await visit(browser, linkTo(turns, '?chat=c0'), NEW)
    await SIGNED_IN(page)
    await watch(context, 'granted')
    await page.goto(new URL('?chat=c0', turns.url).href)
    await SIGNED_IN(page)
    await hide(page)
    void turns.open({ message: 'Keep my notes' })
    await expect.poll(() => page.title()).toBe('(1) Runsheet')
    expect(await icon(page)).toBe('./icon-waiting.svg')
    await page.getByText('1 decision waits for you').waitFor()
    const shown = { title: 'The agent wants to use write of files', body: 'Keep my notes', isClosed: false }
    await expect.poll(() => made(page)).toEqual([shown])
    await page.getByRole('link', { name: 'Reviews' }).click()
    const list = page.getByRole('region', { name: 'Waiting for your review' }).getByRole('listitem')
    const row = list.getByRole('link', { name: /The agent wants to use write of files.*Keep my notes.*asked/ })
    await row.waitFor()
    expect(await complaintsOfAxe(page)).toEqual([])
    await row.click()
    await page.getByRole('button', { name: 'Deny' }).click()
    await page.getByText('Then not.').waitFor()
    await expect.poll(() => page.title()).not.toContain('(1)')
    await expect.poll(() => made(page)).toEqual([{ ...shown, isClosed: true }])
    await page.goBack()
    await page.getByRole('heading', { name: 'Nothing waits for you' }).waitFor()
    expect(problems).toEqual([])
    await context.close()
  })

  it('offers notifications, and its conversation is marked in the list at once', async () => {
    const turns = await asking()
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
    context.setDefaultTimeout(20_000)
    await watch(context, 'default')
    const page = await context.newPage()
    // The list is not looked at again by itself, so that only what happens in the conversation can change it.
    await page.addInitScript(() => Object.assign(window, { setInterval: () => 0 }))
    await page.goto(linkTo(turns, '?chat=c1'))
    await SIGNED_IN(page)
    void turns.open({ message: 'Keep my notes' })
    await page.getByRole('region', { name: /wants to use write/ }).waitFor()
    await page.getByRole('group', { name: 'Get a notification when the agent waits for you?' }).waitFor()
    await page.locator('.app-mark-waiting').waitFor()
    await context.close()
  })

  for (const locale of ['en-US', 'zh-CN']) {
    it(`on a narrow screen the button of the menu has a dot, and says what waits (${locale})`, async () => {
      const turns = await asking()
      const { page, context, problems } = await visit(browser, linkTo(turns, '?chat=c0'), {
        ...NEW,
        locale,
        viewport: { width: 390, height: 740 },
      })
      const menu = page.locator('.app-menu')
      await menu.waitFor()
      const before = await menu.getAttribute('aria-label')
      void turns.open({ message: 'Keep my notes' })
      await page.locator('.app-menu-dot').waitFor()
      const words = locale === 'en-US' ? '1 decision waits for you' : '1 项等待你决定'
      expect(await menu.getAttribute('aria-label')).toBe(`${before} · ${words}`)
      expect(await complaintsOfAxe(page)).toEqual([])
      await page.goto(new URL('reviews', turns.url).href)
      await page.locator('.app-menu-dot').waitFor()
      const [waiting] = (await turns.person.pendingReviews(undefined, { approvals: true })).approvals ?? []
      await turns.person.decideApproval('c1', waiting?.approval_id ?? '', { decision: 'deny' })
      await page.locator('.app-menu-dot').waitFor({ state: 'detached' })
      expect(await menu.getAttribute('aria-label')).toBe(before)
      expect(problems).toEqual([])
      await context.close()
    })
  }
})

/** An agent that asks to use a tool. */
async function asking(): Promise<TestTurns> {
  const turns = await startTurns({
    page: builtPage,
    host: { review: false, assessor: false, gate: false },
    answers: [{ calls: [{ tool: 'files__write', args: { path: 'notes.md', text: 'Bread' } }] }, 'Then not.'],
    outside: [
      {
        name: 'files__write',
        description: '',
        inputSchema: { type: 'object' },
        isRepeatable: true,
        call: async () => 'Done',
        from: { server: 'files', tool: 'write', fingerprint: 'a.b', isReadOnly: false, ask: 'all' },
      },
    ],
  })
  onTestFinished(turns.close)
  return turns
}
const linkTo = ({ url, server }: TestTurns, path: string): string => `${url.href}${path}#code=${server.loginCode()}`

describe('all that waits', () => {
  it('has a page with the conversation, the agent, the steps, since when and the deadline; it is live', async () => {
    const turns = await startTurns({
      page: builtPage,
      answers: [{ calls: [{ tool: 'plan', args: { tasks: [{ title: 'Book a room' }] } }] }],
      host: { review: true },
    })
    onTestFinished(turns.close)
    const { page, context, problems } = await visit(
      browser,
      `${turns.url.href}reviews#code=${turns.server.loginCode()}`,
    )
    await page.getByRole('heading', { name: 'Nothing waits for you' }).waitFor()
    await expect.poll(() => page.url()).toBe(`${turns.url.href}reviews`)
    expect(await page.title()).toBe('Waiting for your review · Runsheet')
    await turns.ask('PUT', '/api/sessions/c2/policy', {
      body: { toolset: 'task_manager', review_timeout_ms: 5_400_000 },
    })
    const tasks = [{ title: 'Invite' }, { title: 'Bake' }, { title: 'Decorate' }]
    const call = { session_id: 'c2', turn_id: 't', arguments: { tasks } }
    turns.agent.call('task_manager', 'add_task', call).catch(() => {})
    const list = page.getByRole('region', { name: 'Waiting for your review' }).getByRole('listitem')
    await list.first().waitFor()
    const told = await list.first().innerText()
    expect(told).toMatch(/^Invite\n+Bake · Decorate\n/)
    expect(told).toContain('3 steps')
    expect(told).toContain('asked just now')
    expect(told).toMatch(/1 hour left/)
    await turns.open({ message: 'Plan the meeting' })
    await expect.poll(() => list.count()).toBe(2)
    expect(await list.nth(1).innerText()).toContain('Plan the meeting')
    expect(await list.nth(1).innerText()).toContain('Runsheet with openai-compatible:test')
    // It opens the review; Back is the list again.
    await list.nth(1).getByRole('link').click()
    await page.getByRole('heading', { name: 'Review the plan' }).waitFor()
    await expect.poll(() => page.url()).toBe(`${turns.url.href}?chat=c1`)
    await page.getByRole('button', { name: /^Approve / }).click()
    await page.goBack()
    await expect.poll(() => list.count()).toBe(1)
    await page.getByRole('link', { name: 'Reviews' }).and(page.locator('[aria-current]')).waitFor()
    expect(problems).toEqual([])
    await context.close()
  })

  it('two hundred at once are one notification and one list, which says that there are more', async () => {
    const { link, propose, door } = await start()
    for (let made = 0; made < 203; made += 1) await propose(`c${made}`, `Step of ${made}`)
    expect((await door.reviews.waiting('local', undefined, { limit: 200 })).items).toHaveLength(200)
    const { page, context, problems } = await visit(browser, link('reviews'))
    await SIGNED_IN(page)
    await watch(context, 'granted')
    await page.addInitScript(() => {
      localStorage.removeItem('runsheet.called')
      Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => 'hidden' })
    })
    await page.reload()
    await expect.poll(() => made(page)).toMatchObject([{ title: '200 plans wait for your review' }])
    expect(await page.title()).toBe('(200+) Waiting for your review · Runsheet')
    expect(await page.getByRole('region').getByRole('listitem').count()).toBe(200)
    await page.getByText('More are waiting.').waitFor()
    expect(problems).toEqual([])
    await context.close()
  })

  it('the page is served at /reviews and at no other path; without a link it says how to get one', async () => {
    const { url, ask } = await start()
    const status = async (path: string): Promise<number> => (await ask('GET', path, { as: 'nobody' })).status
    expect(await status('/reviews')).toBe(200)
    for (const path of ['/reviews/', '/reviews/1', '/review', '/Reviews']) expect(await status(path)).toBe(404)
    const { page, context, problems } = await visit(browser, `${url.href}reviews`)
    await page.getByRole('heading', { name: 'You are not signed in' }).waitFor()
    expect(problems).toEqual([])
    await context.close()
  })

  for (const locale of ['en-US', 'zh-CN']) {
    it(`passes axe, full and empty, in both themes, and scrolls nothing sideways (${locale})`, async () => {
      const { link, url, propose, decide } = await start()
      await propose('c1', 'Collect the figures of the third quarter from all regions', 'Write', 'Send')
      await propose('c2', 'x'.repeat(200), 'مرحبا')
      for (const width of [390, 1280]) {
        const { page, context, problems } = await visit(browser, link('reviews'), {
          locale,
          viewport: { width, height: 740 },
        })
        await page.getByRole('region').getByRole('listitem').nth(1).waitFor()
        expect(await complaintsOfAxe(page)).toEqual([])
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width)
        expect(problems).toEqual([])
        await context.close()
      }
      await decide('c1')
      await decide('c2')
      const { page, context } = await visit(browser, link('reviews'), { locale })
      await page.locator('.app-none').waitFor()
      expect(await complaintsOfAxe(page)).toEqual([])
      await expect.poll(() => page.url()).toBe(`${url.href}reviews`)
      await context.close()
    })
  }
})
