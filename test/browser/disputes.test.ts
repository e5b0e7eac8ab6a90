import type { BrowserContext, Page } from 'playwright-core'
import { afterEach, expect, it } from 'vitest'
import { plainMaker } from '../../src/engine/door/checks.ts'
import { complaintsOfAxe } from '../support/axe.ts'
import { builtPage, sharedBrowser } from '../support/page.ts'
import { Bench, NPM_TEST, PLACE, proposed } from '../support/proof.ts'
import { hasFocus, says, SLOW_BROWSER } from './panels.ts'

const browser = await sharedBrowser()

const WHY = 'The test wants 3, the task says 4. Tried both.'

const contexts: BrowserContext[] = []
const problems: string[] = []
afterEach(async () => {
  await Promise.all(contexts.splice(0).map(context => context.close()))
  expect(problems.splice(0)).toEqual([])
})

async function visit({ server: { url, server } }: Bench, path = '?chat=c1'): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  contexts.push(context)
  const page = await context.newPage()
  page.setDefaultTimeout(SLOW_BROWSER.timeout)
  page.on('pageerror', error => problems.push(String(error)))
  await page.goto(`${url.href}${path}#code=${server.loginCode()}`)
  return page
}

/** An agent elsewhere disputes the first three tasks of its plan; the first has a check. */
async function disputed(): Promise<Bench> {
  const bench = await Bench.set(false, { page: builtPage })
  const { newId } = bench.server.door
  const allowed = [plainMaker.hash(NPM_TEST, PLACE)]
  const count = { id: newId(), title: 'Count', checks: [proposed(NPM_TEST)], allowed }
  const others = ['Add', 'Tell', 'Go'].map(title => ({ id: newId(), title }))
  await bench.run({ type: 'edit_tasks', by: 'model', turn_id: 't1', create: [count, ...others] })
  for (const task of [1, 2, 3]) {
    const change = [{ task, fields: { outcome: task === 1 ? WHY : `Cannot do ${task}` }, disputes: true }] as const
    await bench.run({ type: 'edit_tasks', by: 'model', turn_id: 't1', change })
  }
  return bench
}

const row = (page: Page, title: string) => page.locator('.rs-task', { has: page.getByText(title, { exact: true }) })
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

it('[DS4][DS5] a person sees each dispute in the plan, answers it, and finds it in the history', {
  timeout: 120_000,
}, async () => {
  const bench = await disputed()
  const page = await visit(bench)
  await page
    .getByRole('link', { name: /Reviews/ })
    .getByText('3', { exact: true })
    .waitFor()
  await says(row(page, 'Count').locator('.rs-dispute > .rs-note'), [
    'The agent says that this cannot be done as asked, or that its check is wrong. It waits for you.',
  ])
  await row(page, 'Count').getByText(WHY).waitFor()
  await says(row(page, 'Count').locator('.rs-mark-blocked'), ['disputed'])
  for (const width of [360, 1280]) {
    await page.setViewportSize({ width, height: 800 })
    expect([width, await complaintsOfAxe(page)]).toEqual([width, []])
    expect(
      await page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth),
    ).toBe(true)
  }

  await button(page, 'Change the check: Count').click()
  await row(page, 'Count').getByRole('button', { name: 'Remove: npm test' }).click()
  await row(page, 'Count').locator('.rs-dispute').waitFor({ state: 'detached' })

  await page.getByLabel('Comment for the agent (optional): Add').fill('Use 4.')
  await button(page, 'Insist: Add').click()
  await row(page, 'Add').locator('.rs-dispute').waitFor({ state: 'detached' })
  await hasFocus(button(page, 'Rename: Add'))

  await button(page, 'Settle as done: Tell').click()
  await row(page, 'Tell').locator('.rs-dispute').waitFor({ state: 'detached' })
  const { tasks } = await bench.server.person.tasks('c1')
  expect(tasks).toMatchObject([
    { status: 'pending', dispute: { ended: { how: 'changed' } } },
    { status: 'pending', dispute: { ended: { how: 'insisted', comment: 'Use 4.' } } },
    { status: 'completed', standing: 'confirmed', dispute: { ended: { how: 'settled' } } },
    { status: 'in_progress' },
  ])

  const told = [
    [`Count: disputed: ${WHY} (agent)`, 'Count: changed after the dispute (you)'],
    ['Add: disputed: Cannot do 2 (agent)', 'Add: insisted on after the dispute: Use 4. (you)'],
    ['Tell: disputed: Cannot do 3 (agent)', 'Tell: dispute settled → done (you)'],
  ]
  for (const [index, lines] of told.entries()) {
    await page.goto(`${bench.server.url.href}?chat=c1&task=${tasks[index]?.id}`)
    for (const line of lines) await page.getByText(line).waitFor()
  }
})

it('[DS4][CH22] what waits lists the disputes, with their reasons', async () => {
  const page = await visit(await disputed(), 'reviews')
  const list = page.locator('.app-waiting-list li')
  await list.getByText('The agent disputes: Count').waitFor()
  await list.getByText(WHY).waitFor()
  expect(await list.count()).toBe(3)
  expect(await complaintsOfAxe(page)).toEqual([])
})
