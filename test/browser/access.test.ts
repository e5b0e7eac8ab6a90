import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { openDoor } from '../../src/engine/door/door.ts'
import { createHttpServer } from '../../src/server/http/server.ts'
import { openFileStore } from '../../src/store/files/store.ts'
import { inLongRun } from '../support/children.ts'
import { complaintsOfAxe } from '../support/axe.ts'
import { HOSTILE } from '../support/hostile.ts'
import { builtPage, sharedBrowser, visit } from '../support/page.ts'
import { scratchFolder } from '../support/scratch.ts'
import { startServer, TOKENS } from '../support/server.ts'
import { startTurns, type TestTurns, type TurnsOptions } from '../support/turns.ts'

const browser = await sharedBrowser()

const start = (options: TurnsOptions = {}): Promise<TestTurns> =>
  startTurns({ page: builtPage, host: { review: false }, ...options })
const linkTo = ({ url, server }: Pick<TestTurns, 'url' | 'server'>, query = ''): string =>
  `${url.href}${query}#code=${server.loginCode()}`
const messages = (page: Page) => page.getByRole('region', { name: 'Messages' })

describe('signing in', () => {
  it('without a link, or with a used one, the page says how to get a link, and continues once one is opened', async () => {
    const turns = await start()
    const used = linkTo(turns)
    const { page, context, problems } = await visit(browser, turns.url, { expected: /401/ })
    await page.getByRole('heading', { name: 'You are not signed in' }).waitFor()
    await page.getByText('npm run -s runsheet -- url').waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
    // The same tab: only the fragment changes, so the page is not reloaded.
    await page.goto(used)
    await page.getByRole('heading', { name: /then watch it get done$/ }).waitFor()
    await expect.poll(() => page.url()).not.toContain('code')
    await page.evaluate(() => localStorage.clear())
    await page.goto(`${turns.url.href}?again${new URL(used).hash}`)
    await page.getByRole('alert').getByText('This link has expired or was already used.').waitFor()
    await expect.poll(() => page.url()).not.toContain('code')
    // Another window signs in, and this one continues by itself.
    const other = await context.newPage()
    await other.goto(linkTo(turns))
    await other.getByRole('heading', { name: /then watch it get done$/ }).waitFor()
    await page.getByRole('heading', { name: /then watch it get done$/ }).waitFor()
    expect(problems).toEqual([])
    await context.close()
    await turns.close()
  })

  it('an invalid token is deleted, and the page says so', async () => {
    const turns = await start()
    const { page, context, problems } = await visit(browser, turns.url, { expected: /401/ })
    await page.evaluate(() => localStorage.setItem('runsheet.token', 'of-yesterday'))
    await page.goto(`${turns.url.href}?chat=c1`)
    await page.getByRole('alert').getByText('You have been signed out.').waitFor()
    expect(await page.evaluate(() => localStorage.getItem('runsheet.token'))).toBeNull()
    expect(problems).toEqual([])
    await context.close()
    await turns.close()
  })
})

describe('connections', () => {
  it('while the server is down the page says so and keeps its content; afterwards it catches up', async () => {
    const { url, server, door, agent, close } = await startServer({ page: builtPage, host: { review: false } })
    const plan = (title: string) =>
      agent.call('runsheet', 'plan', { session_id: 'c', turn_id: 't', arguments: { tasks: [{ title }] } })
    await plan('one')
    const { page, context, problems } = await visit(browser, linkTo({ url, server }, '?chat=c'), {
      expected: /ERR_(CONNECTION|INCOMPLETE)|ERR_EMPTY/,
    })
    await page.getByText('0 of 1 done · 1 remaining').waitFor()
    const before = await page.locator('.app-composer').boundingBox()
    await server.close(0)
    await page.getByText('Connection lost. Reconnecting').waitFor()
    await page.getByText('0 of 1 done · 1 remaining').waitFor()
    expect(await page.locator('.app-composer').boundingBox()).toEqual(before)
    // It lies between the title and the first message and covers neither.
    const { bottom, top, title, notice } = await page.evaluate(() => {
      const box = (name: string) => document.querySelector(name)?.getBoundingClientRect() ?? new DOMRect()
      const scroll = document.querySelector('.app-scroll')
      const text = document.createRange()
      text.selectNodeContents(document.querySelector('.app-title') ?? document.body)
      return {
        bottom: box('.app-notice').bottom,
        top: box('.app-scroll').top + Number.parseFloat(scroll ? getComputedStyle(scroll).paddingTop : '0'),
        title: text.getBoundingClientRect().bottom,
        notice: box('.app-notice').top,
      }
    })
    expect(bottom).toBeLessThanOrEqual(top)
    expect(notice).toBeGreaterThanOrEqual(title)
    const log = pino({ level: 'silent' })
    const again = createHttpServer({ door, tokens: TOKENS, tenant: 'local', version: '0', log })
    await again.listen(Number(url.port), '127.0.0.1')
    await plan('two')
    await page.getByText('0 of 2 done · 2 remaining').waitFor()
    expect(await page.getByText('Connection lost').count()).toBe(0)
    expect(problems).toEqual([])
    await context.close()
    await again.close(0)
    await close()
  })

  it('with a broken task file the chat is shown; a change of the list names the file, and goes through once it is repaired', async () => {
    const data = scratchFolder()
    const door = openDoor({ store: await openFileStore({ data }) })
    const { url, server, agent, close } = await startServer({ page: builtPage, door })
    const add = (title: string) =>
      agent.call('task_list', 'AddTask', { session_id: 'c', turn_id: 't', arguments: { title } })
    await add('one')
    const file = join(data, '.agents/tasks/c.json')
    const whole = readFileSync(file, 'utf8')
    writeFileSync(file, '{ "tasks": [')
    const { page, context, problems } = await visit(browser, linkTo({ url, server }, '?chat=c'), { expected: /409/ })
    await page.getByText('0 of 1 done · 1 remaining').waitFor()
    await page.locator('.rs-summary').click()
    const done = page.getByRole('button', { name: 'Mark as done: one' })
    await done.click()
    await page
      .getByRole('region', { name: 'Plan' })
      .getByText(/^The task file .agents\/tasks\/c.json/)
      .waitFor()
    writeFileSync(file, whole)
    await done.click()
    await expect.poll(() => readFileSync(file, 'utf8')).toContain('"done": true')
    expect(problems).toEqual([])
    await context.close()
    await close()
    rmSync(data, { recursive: true })
  })

  it('on a slow connection the page says that it is loading, and works', async () => {
    const turns = await start({ answers: () => 'Well.' })
    await turns.chat({ message: 'Hello' })
    const { page, context, problems } = await visit(browser, linkTo(turns, '?chat=c1'))
    await messages(page).getByText('Well.').waitFor()
    const line = await context.newCDPSession(page)
    await line.send('Network.enable')
    await line.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: 600,
      downloadThroughput: 25_000,
      uploadThroughput: 10_000,
    })
    await page.reload({ waitUntil: 'commit' })
    await page.getByText('Loading…').waitFor()
    await messages(page).getByText('Well.').waitFor()
    await page.getByRole('textbox', { name: 'What do you want done?' }).fill('Still there?')
    await page.keyboard.press('Enter')
    await expect.poll(() => messages(page).getByText('Well.').count(), { timeout: 20_000 }).toBe(2)
    expect(problems).toEqual([])
    await context.close()
    await turns.close()
  })

  it('ten windows on ten conversations show the state and its changes within seconds', async () => {
    const { url, server, agent, person, close } = await startServer({ page: builtPage, host: { review: false } })
    const plan = (session_id: string, title: string) =>
      agent.call('runsheet', 'plan', { session_id, turn_id: 't', arguments: { tasks: [{ title }] } })
    const names = Array.from({ length: 10 }, (_, count) => `c${count}`)
    for (const name of names) await plan(name, `first of ${name}`)
    const { page, context, problems } = await visit(browser, linkTo({ url, server }, '?chat=c0'), { expected: /404/ })
    await page.getByText('0 of 1 done · 1 remaining').waitFor()
    const pages = [page]
    for (const name of names.slice(1)) {
      const another = await context.newPage()
      await another.goto(`${url.href}?chat=${name}`)
      pages.push(another)
    }
    for (const each of pages) await each.getByText('0 of 1 done · 1 remaining').waitFor()
    for (const name of names) await plan(name, `second of ${name}`)
    await Promise.all(pages.map(each => each.getByText('0 of 2 done · 2 remaining').waitFor({ timeout: 5_000 })))
    // Streams leave connections free for requests.
    await pages.at(-1)?.getByRole('searchbox').fill('first of c3')
    await pages.at(-1)?.getByRole('region', { name: 'Search' }).getByText('first of c3').first().waitFor()
    // All windows show the same pending plan, and the decision of one.
    await Promise.all(pages.map(each => each.goto(`${url.href}?chat=c`)))
    await person.setPolicy('c', { toolset: 'runsheet', review: true })
    void plan('c', 'to decide').catch(() => {})
    await Promise.all(pages.map(each => each.getByRole('button', { name: /^Approve / }).waitFor()))
    await pages
      .at(-1)
      ?.getByRole('button', { name: /^Approve / })
      .click()
    await Promise.all(pages.slice(0, -1).map(each => each.getByText('This plan was approved elsewhere.').waitFor()))
    await Promise.all(pages.map(each => each.getByText('0 of 1 done · 1 remaining').waitFor()))
    expect(problems).toEqual([])
    await context.close()
    await close()
  })
})

/** Markdown takes it for HTML, not for a link. */
const isHtml = (text: string): boolean => /^(?:["']>)?<[/!a-z]+[ >]/i.test(text)

describe('language, theme and hostile input', () => {
  it('[CH19] the language follows the browser, can be switched, is remembered, and is set for screen readers', async () => {
    const turns = await start()
    const { page, context, problems } = await visit(browser, linkTo(turns), { locale: 'zh-CN' })
    await page.getByRole('heading', { name: '说出你的目标，再看它完成' }).waitFor()
    expect(await page.evaluate(() => document.documentElement.lang)).toBe('zh-Hans')
    await page.getByRole('button', { name: 'English' }).click()
    await page.getByRole('heading', { name: /then watch it get done$/ }).waitFor()
    expect(await page.evaluate(() => document.documentElement.lang)).toBe('en')
    await page.reload()
    await page.getByRole('heading', { name: /then watch it get done$/ }).waitFor()
    await page.getByRole('button', { name: '中文' }).click()
    await page.getByRole('button', { name: '新建会话' }).waitFor()
    expect(await page.locator('body').innerText()).not.toMatch(/Search|Send|History|Conversation/)
    expect(problems).toEqual([])
    await context.close()
    await turns.close()
  })

  it('[CH19] dates and times are in the language of the page, not of the browser', async () => {
    const turns = await start({
      answers: [{ calls: [{ tool: 'plan', args: { tasks: [{ title: 'Collect' }] } }] }, 'I stop here.', 'Yes.', 'Yes.'],
    })
    await turns.chat({ message: 'One step' })
    for (const [locale, english, chinese] of [
      ['de-DE', 'en', 'zh'],
      ['en-GB', 'en-GB', 'zh'],
    ] as const) {
      const { page, context, problems } = await visit(browser, linkTo(turns, '?chat=c1&view=history'), { locale })
      await page.getByText('Full activity log').click()
      await page.locator('.rs-timeline time').first().waitFor()
      const are = (language: string) =>
        page.locator('time').evaluateAll(
          (times, as) =>
            times.map(time => {
              const at = new Date((time as HTMLTimeElement).dateTime)
              return time.textContent === (time.closest('ol') ? at.toLocaleTimeString(as) : at.toLocaleString(as))
            }),
          language,
        )
      expect(new Set(await are(english))).toEqual(new Set([true]))
      await page.getByRole('button', { name: '中文' }).click()
      await page.getByText('完整活动记录').waitFor()
      expect(new Set(await are(chinese))).toEqual(new Set([true]))
      expect(problems).toEqual([])
      await context.close()
    }
    await turns.close()
  })

  it('the theme follows the system, can be switched, and is remembered', async () => {
    const turns = await start()
    const { page, context, problems } = await visit(browser, linkTo(turns), { colorScheme: 'dark' })
    await page.getByRole('heading', { name: /then watch it get done$/ }).waitFor()
    const background = (): Promise<string> => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
    const dark = await background()
    await page.getByRole('button', { name: 'Light or dark' }).click()
    const light = await background()
    expect(light).not.toBe(dark)
    await page.reload()
    await page.getByRole('heading', { name: /then watch it get done$/ }).waitFor()
    expect(await background()).toBe(light)
    await page.getByRole('button', { name: 'Light or dark' }).click()
    expect(await background()).toBe(dark)
    expect(problems).toEqual([])
    await context.close()
    await turns.close()
  })

  it('[CH21] fifty hostile texts stay text everywhere: no script runs, no other origin is contacted, nothing becomes HTML', async () => {
    const batches = Array.from({ length: 5 }, (_, batch) => HOSTILE.slice(batch * 10, batch * 10 + 10))
    const turns = await start({
      host: { review: false, assessor: false, gate: false },
      answers: (_, count) => {
        const tasks = batches[count]?.map(title => ({ title, details: title }))
        return tasks
          ? { text: tasks[0]?.title ?? '', calls: [{ tool: 'plan', args: { tasks } }] }
          : HOSTILE.join('\n\n')
      },
    })
    await turns.chat({ message: HOSTILE.join('\n') })
    expect((await turns.tasks()).length).toBe(50)
    const rows = HOSTILE.slice(0, 20).map(title => ({ title, details: title, tags: [title.slice(0, 60)] }))
    await turns.person.setPolicy('c4', { toolset: 'task_manager', review: true })
    void turns.agent
      .call('task_manager', 'add_task', { session_id: 'c4', turn_id: 't', arguments: { tasks: rows } })
      .catch(() => {})
    const { page, context, problems } = await visit(browser, linkTo(turns, '?chat=c1'))
    const answer = messages(page).locator('.app-markdown').last()
    await answer.waitFor()
    const words = (text: string): string => text.replaceAll(/\s+/g, ' ')
    const shown = words(await answer.innerText())
    expect(HOSTILE.filter(isHtml).filter(text => !shown.includes(words(text)))).toEqual([])
    const check = async (view: string): Promise<void> => {
      await page.waitForTimeout(150)
      const found = await page.evaluate(() => ({
        ran: 'ran' in window,
        elements: [
          ...document.querySelectorAll(
            '#app :is(script, style, link, iframe, object, embed, img, image, video, audio, base, meta, marquee, math, template, noscript, use, animate, mtext)',
          ),
        ].map(element => element.outerHTML.slice(0, 80)),
        links: [...document.querySelectorAll<HTMLAnchorElement>('#app a[href]')]
          .map(link => link.href)
          .filter(href => /^(javascript|data|vbscript):/i.test(href)),
      }))
      expect({ view, ...found }).toEqual({ view, ran: false, elements: [], links: [] })
    }
    await check('messages')
    const calls = page.locator('details.rs-use summary')
    for (let count = 0; count < (await calls.count()); count += 1) await calls.nth(count).click()
    await check('calls')
    await page.locator('.rs-summary').click()
    await check('plan')
    await page.locator('.rs-summary').click()
    for (const link of await page.locator('.app-markdown a').all())
      expect(await link.getAttribute('rel')).toMatch(/noopener/)
    await page.getByRole('button', { name: 'History' }).click()
    await page.getByText('Full activity log').click()
    await page.locator('.app-all-events li').first().waitFor()
    for (const number of [0, 7, 41]) {
      await page.locator('.app-task-history').nth(number).click()
      await page.locator('.app-task-history-events li').first().waitFor()
      await check(`timeline ${number}`)
    }
    for (const query of ['<', 'script', HOSTILE[0] ?? '']) {
      await page.getByRole('searchbox').fill(query)
      await page.getByRole('navigation').getByRole('region', { name: 'Search' }).waitFor()
      await check(`search ${query}`)
    }
    await page.goto(`${turns.url.href}?chat=c4`)
    await page.getByRole('heading', { name: 'Review the plan' }).waitFor()
    await check('review')
    await page.goto(
      `${turns.url.href}?chat=${encodeURIComponent(HOSTILE[0] ?? '')}&task=${encodeURIComponent('"><img>')}`,
    )
    await page.getByRole('heading', { name: /then watch it get done$/ }).waitFor()
    await check('address')
    expect(problems).toEqual([])
    await context.close()
    await turns.close()
  })
})

it('[CH22] axe finds nothing to complain about in any view, in the light and the dark scheme', {
  timeout: 180_000,
}, async () => {
  const violations: string[] = []
  const turns = await start({
    host: {},
    answers: [
      {
        text: 'A **plan**, `code`, [a link](https://example.org/)\n\n| a |\n| - |\n| 1 |',
        calls: [plan('Collect', 'Write')],
      },
      { calls: [plan('Collect', 'Write', 'Send')] },
      { text: 'I look.', calls: [{ tool: 'look', args: { path: 'a.csv' } }] },
      { calls: [{ tool: 'update', args: { id: 1, outcome: 'Found.' } }] },
      { status: 401 },
    ],
    outside: [
      {
        name: 'look',
        description: '',
        inputSchema: { type: 'object' },
        isRepeatable: true,
        call: async () => 'Figures',
      },
    ],
  })
  const { page, context, problems } = await visit(browser, turns.url, {
    expected: /404|401/,
  })
  let views = 0
  const check = async (view: string): Promise<void> => {
    views += 1
    // In the short run each view at one of the widths.
    for (const width of inLongRun([390, 1280], [views % 2 === 0 ? 390 : 1280])) {
      await page.setViewportSize({ width, height: 800 })
      const found = await complaintsOfAxe(page)
      violations.push(...found.map(each => `${view} ${width}: ${each}`))
    }
    await page.setViewportSize({ width: 1280, height: 800 })
  }
  await page.getByRole('heading', { name: 'You are not signed in' }).waitFor()
  await check('sign-in')
  await page.goto(`${turns.url.href}?x#code=wrong`)
  await page.getByRole('alert').waitFor()
  await check('used link')
  await page.goto(linkTo(turns))
  await page.getByRole('heading', { name: /then watch it get done$/ }).waitFor()
  await check('empty')
  await page.getByRole('textbox', { name: 'What do you want done?' }).fill('Collect and write')
  await page.getByRole('textbox', { name: 'What do you want done?' }).press('Enter')
  await page.getByRole('button', { name: /^Approve / }).waitFor()
  await check('review')
  await page.getByRole('button', { name: 'Request changes' }).click()
  await page.getByText('Say what to change.').waitFor()
  await check('request without a comment')
  await page.locator('.app-input').fill('Send it, too')
  await page.locator('.app-input').press('Enter')
  await page.getByText('The agent changed the plan. You asked: Send it, too').waitFor()
  await page.locator('.app-input').fill('Half a thought')
  await check('revised review')
  await page.locator('.app-input').fill('')
  await page.getByRole('button', { name: /^Approve / }).click()
  await page.getByRole('note').getByText('The provider refused the key').waitFor()
  await check('failed')
  await page.locator('.rs-step-head button').first().click()
  await page.locator('details.rs-use summary').click()
  await page.getByText('Output').waitFor()
  await page.locator('.rs-decided summary').first().click()
  await page.locator('.rs-diff').waitFor()
  await check('step, call and plan card')
  await page.locator('.rs-summary').click()
  await check('plan')
  await page.locator('.rs-summary').click()
  await page.getByRole('button', { name: 'History' }).click()
  await page.locator('.app-task-history').first().click()
  await page.locator('.app-task-history-events li').first().waitFor()
  await page.getByText('Full activity log').click()
  await check('history')
  await page.getByRole('searchbox').fill('Collect')
  await page
    .getByRole('navigation')
    .getByRole('list', { name: 'Tasks' })
    .getByRole('link', { name: /Collect/ })
    .first()
    .waitFor()
  await check('search')
  await page.setViewportSize({ width: 390, height: 800 })
  await page.getByRole('button', { name: 'Conversations and search' }).click()
  const found = await complaintsOfAxe(page)
  violations.push(...found.map(each => `side: ${each}`))
  void turns.agent
    .call('runsheet', 'plan', { session_id: 'c9', turn_id: 't', arguments: plan('Tag').args })
    .catch(() => {})
  await page.goto(`${turns.url.href}?chat=c9`)
  await page.getByLabel('Title, 1').fill('Tag it twice')
  const { reviews } = await turns.person.pendingReviews('c9')
  await turns.person.decide(reviews[0]?.review_id ?? '', { action: 'revise', comment: 'Twice' })
  await page.getByRole('button', { name: 'Your edits' }).click()
  await page.getByRole('button', { name: 'Reopen' }).waitFor()
  await check('edits, and a card with Reopen')
  expect(violations).toEqual([])
  expect(problems).toEqual([])
  await context.close()
  await turns.close()
})

const plan = (...titles: readonly string[]) => ({ tool: 'plan', args: { tasks: titles.map(title => ({ title })) } })
