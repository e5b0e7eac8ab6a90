import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { complaintsOfAxe } from '../support/axe.ts'
import { builtPage, sharedBrowser, visit } from '../support/page.ts'
import type { Answer, Answers } from '../support/provider.ts'
import { startTurns, type TestTurns, type TurnsOptions } from '../support/turns.ts'

const browser = await sharedBrowser()

const start = (answers: Answers, options: TurnsOptions = {}): Promise<TestTurns> =>
  startTurns({ page: builtPage, answers, host: { review: false, gate: false, assessor: false }, ...options })
const linkTo = ({ url, server }: TestTurns, query = '?chat=c1'): string =>
  `${url.href}${query}#code=${server.loginCode()}`
const box = (page: Page) => page.locator('.app-input')
const messages = (page: Page) => page.getByRole('region', { name: 'Messages' })
const queue = (page: Page) => page.getByRole('region', { name: 'Queue', exact: true })
const waiting = (page: Page) => queue(page).getByRole('listitem')
/** Enter does nothing while the message before is being sent: then it is pressed again. */
const say = async (page: Page, text: string): Promise<void> => {
  await box(page).fill(text)
  await expect
    .poll(async () => {
      const isWritten = (await box(page).inputValue()) === text
      if (isWritten) await box(page).press('Enter')
      return isWritten
    })
    .toBe(false)
}
/** Writes to the agent at work. */
const steer = async (page: Page, text: string): Promise<void> => {
  await say(page, text)
  await waiting(page).getByText(text, { exact: true }).waitFor()
}
const asked = ({ provider }: TestTurns, call: number): string[] =>
  provider.messages(call).flatMap(({ role, content }) => (role === 'user' ? [content ?? ''] : []))
/** The model was called: what is written now waits for the next call. */
const atWork = async (page: Page, { provider }: TestTurns): Promise<void> => {
  await page.getByRole('button', { name: 'Stop' }).waitFor()
  await expect.poll(() => provider.asked.length).toBe(1)
}
const NEW = { expected: /404|ERR_FAILED/ }

/** The first call waits for its release; then a plan of one step is done. */
function twoSteps(): { answers: Answers; release: () => void } {
  const held = Promise.withResolvers<void>()
  const script: readonly Answer[] = [
    { text: 'I plan.', calls: [{ tool: 'plan', args: { tasks: [{ title: 'Collect' }] } }], after: held.promise },
    { calls: [{ tool: 'update', args: { id: 1, outcome: 'Twelve figures.' } }] },
    'All done.',
  ]
  return { answers: (_, count) => script[count] ?? 'More.', release: () => held.resolve() }
}

it('what is written while the agent works waits above the box, in order, and can be edited and taken back; it shows in the thread where it was read', async () => {
  const { answers, release } = twoSteps()
  const turns = await start(answers)
  const { page, context, problems } = await visit(browser, linkTo(turns), NEW)
  await say(page, 'Collect the figures')
  await atWork(page, turns)
  await steer(page, 'Only of March')
  expect(await box(page).inputValue()).toBe('')
  await queue(page).getByText('Queued: the agent reads it before its next step').waitFor()
  await steer(page, 'And of April')
  await steer(page, 'Never mind')
  await queue(page).getByText('Queued: the agent reads them before its next step').waitFor()
  expect(await waiting(page).locator('p').allInnerTexts()).toEqual(['Only of March', 'And of April', 'Never mind'])
  // Edited in place: Escape leaves it, Enter saves.
  await waiting(page).nth(1).getByRole('button', { name: 'Edit' }).click()
  await page.keyboard.type(' and May')
  await page.keyboard.press('Escape')
  await waiting(page).getByText('And of April', { exact: true }).waitFor()
  await waiting(page).nth(1).getByRole('button', { name: 'Edit' }).click()
  await page.keyboard.type(' and June')
  await page.keyboard.press('Enter')
  await waiting(page).getByText('And of April and June', { exact: true }).waitFor()
  // Taken back, it is in the box again.
  await waiting(page).nth(2).getByRole('button', { name: 'Take back' }).click()
  await waiting(page).getByText('Never mind').waitFor({ state: 'detached' })
  expect(await box(page).inputValue()).toBe('Never mind')
  await box(page).fill('')
  release()
  await messages(page).getByText('All done.').waitFor()
  await queue(page).waitFor({ state: 'detached' })
  expect(asked(turns, 1).slice(-2)).toEqual(['Only of March', 'And of April and June'])
  const thread = await messages(page).innerText()
  const places = ['Collect the figures', 'I plan.', 'Only of March', 'And of April and June', 'All done.'].map(text =>
    thread.indexOf(text),
  )
  expect(places).toEqual(places.toSorted((a, b) => a - b))
  expect(places).not.toContain(-1)
  expect((await turns.log()).filter(({ type }) => type === 'turn_started')).toHaveLength(1)
  expect(problems).toEqual([])
  await context.close()
  await turns.close()
})

it('if the turn ends first, what waits starts the next one', async () => {
  const held = Promise.withResolvers<void>()
  const turns = await start([{ text: 'Well.', after: held.promise }, 'Yes, there too.'])
  const { page, context, problems } = await visit(browser, linkTo(turns), NEW)
  await say(page, 'Is it warm?')
  await atWork(page, turns)
  await steer(page, 'And in Rome?')
  held.resolve()
  await messages(page).getByText('Yes, there too.').waitFor()
  expect(await messages(page).innerText()).toMatch(/Well\.[^]*And in Rome\?[^]*Yes, there too\./)
  await queue(page).waitFor({ state: 'detached' })
  expect(problems).toEqual([])
  await context.close()
  await turns.close()
})

it('“Send now” stops the agent, and starts with what waits; after Stop it waits until it is sent', async () => {
  const turns = await start([{ text: 'One', hangs: true }, { text: 'Two', hangs: true }, 'At last.'])
  const { page, context, problems } = await visit(browser, linkTo(turns), NEW)
  await say(page, 'Count')
  await messages(page).getByText('One').waitFor()
  await steer(page, 'Backwards')
  await queue(page).getByRole('button', { name: 'Send now' }).click()
  await messages(page).getByText('Two').waitFor()
  expect(asked(turns, 1).at(-1)).toBe('Backwards')
  await steer(page, 'In German')
  await page.getByRole('button', { name: 'Stop' }).click()
  await queue(page).getByText('Not read: the turn ended first. Send it to go on.').waitFor()
  await queue(page).getByRole('button', { name: 'Send', exact: true }).click()
  await messages(page).getByText('At last.').waitFor()
  expect(asked(turns, 2).at(-1)).toBe('In German')
  expect(problems).toEqual([])
  await context.close()
  await turns.close()
})

it('a reload and other windows show what waits; an edit that comes too late is kept', async () => {
  const { answers, release } = twoSteps()
  const turns = await start(answers)
  const { page, context, problems } = await visit(browser, linkTo(turns), { expected: /404|409|412/ })
  await say(page, 'Collect the figures')
  await atWork(page, turns)
  await steer(page, 'Only of March')
  await page.reload()
  await waiting(page).getByText('Only of March').waitFor()
  const other = await context.newPage()
  await other.goto(`${turns.url.href}?chat=c1`)
  await waiting(other).getByText('Only of March').waitFor()
  await steer(other, 'And of April')
  await waiting(page).getByText('And of April').waitFor()
  await waiting(other).nth(1).getByRole('button', { name: 'Take back' }).click()
  await waiting(page).getByText('And of April').waitFor({ state: 'detached' })
  // One window edits while the agent reads it.
  await waiting(page).getByRole('button', { name: 'Edit' }).click()
  await page.keyboard.type(', in euros')
  await page.reload()
  expect(await queue(page).getByRole('textbox', { name: 'Edit the queued message' }).inputValue()).toBe(
    'Only of March, in euros',
  )
  release()
  await queue(page).getByText('The agent has read this message meanwhile.').waitFor()
  expect(await queue(page).getByRole('textbox', { name: 'Edit the queued message' }).inputValue()).toBe(
    'Only of March, in euros',
  )
  await messages(page).getByText('All done.').waitFor()
  await queue(page).getByRole('button', { name: 'Send as a new message' }).click()
  await messages(page).getByText('Only of March, in euros').waitFor()
  await messages(page).getByText('More.').waitFor()
  expect(problems).toEqual([])
  await context.close()
  await turns.close()
})

it('a message that fails to be queued is back in the box; sent again, or if only the answer was lost, it is one message', async () => {
  const { answers, release } = twoSteps()
  const turns = await start(answers)
  const { page, context, problems } = await visit(browser, linkTo(turns), NEW)
  await say(page, 'Collect the figures')
  await atWork(page, turns)
  const target = '**/api/sessions/c1/messages'
  await page.route(target, route => route.abort())
  await box(page).fill('Only of March')
  await box(page).press('Enter')
  const card = page.getByRole('alert').filter({ hasText: 'The server cannot be reached' })
  await card.waitFor()
  await card.getByText(`Tried: ${turns.url.origin}`).waitFor()
  expect(await box(page).inputValue()).toBe('Only of March')
  await page.unroute(target)
  await card.getByRole('button', { name: 'Retry' }).click()
  await waiting(page).getByText('Only of March').waitFor()
  expect(await box(page).inputValue()).toBe('')
  // It arrives, and its answer is lost.
  await page.route(target, async route => {
    await route.fetch()
    await route.abort()
  })
  await say(page, 'And of April')
  await waiting(page).getByText('And of April').waitFor()
  await expect.poll(() => box(page).inputValue()).toBe('')
  await card.waitFor({ state: 'detached' })
  await page.unroute(target)
  // The page is left while a message is on its way.
  await page.route(target, async route => {
    await route.fetch()
    await new Promise(() => {})
  })
  const sent = page.waitForRequest(request => request.url().endsWith('/c1/messages'))
  await say(page, 'And of May')
  await sent
  await expect.poll(async () => (await turns.person.session('c1')).queued.length).toBe(3)
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  await page.reload()
  await waiting(page).getByText('And of May').waitFor()
  await expect.poll(() => box(page).inputValue()).toBe('')
  expect((await turns.person.session('c1')).queued.map(({ text }) => text)).toEqual([
    'Only of March',
    'And of April',
    'And of May',
  ])
  release()
  await messages(page).getByText('All done.').waitFor()
  expect(problems).toEqual([])
  await context.close()
  await turns.close()
})

it('while a review waits the box is the review’s, and what waits is read after the decision', async () => {
  const { answers, release } = twoSteps()
  const turns = await start(answers, { host: { gate: false, assessor: false } })
  const { page, context, problems } = await visit(browser, linkTo(turns), NEW)
  await say(page, 'Collect the figures')
  await atWork(page, turns)
  await steer(page, 'Only of March')
  release()
  await page.getByRole('button', { name: /^Approve / }).waitFor()
  await queue(page).getByText('Queued: the agent reads it after your decision').waitFor()
  await page.getByRole('textbox', { name: 'Tell the agent what to change…' }).waitFor()
  await page.getByRole('button', { name: /^Approve / }).click()
  await messages(page).getByText('All done.').waitFor()
  expect(asked(turns, 1).at(-1)).toBe('Only of March')
  expect(problems).toEqual([])
  await context.close()
  await turns.close()
})

it('an agent elsewhere cannot be written to: the page says who gets the message, and what that agent does meanwhile', async () => {
  const turns = await start(() => 'Well.')
  await turns.agent.call('runsheet', 'plan', {
    session_id: 'c1',
    turn_id: 't',
    arguments: { tasks: [{ title: 'Plant' }] },
  })
  const { page, context, problems } = await visit(browser, linkTo(turns))
  await page.locator('.rs-todos').waitFor()
  await box(page).fill('Water it, too')
  await page
    .getByRole('status')
    .getByText(/works here and cannot be written to\. What you send goes to Runsheet’s own agent/)
    .waitFor()
  await box(page).fill('')
  await page.getByText(/cannot be written to/).waitFor({ state: 'detached' })
  expect(problems).toEqual([])
  await context.close()
  await turns.close()
})

it('[CH22] the queue passes axe in both languages and schemes, at 390 and 1280 px', async () => {
  const { answers, release } = twoSteps()
  const turns = await start(answers)
  const { page, context, problems } = await visit(browser, linkTo(turns), { ...NEW })
  await say(page, 'Collect the figures')
  await atWork(page, turns)
  await steer(page, 'Only of March')
  await steer(page, 'And of April')
  await waiting(page).nth(1).getByRole('button', { name: 'Edit' }).click()
  await box(page).fill('Half a thought')
  const found: string[] = []
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 800 })
    found.push(...(await complaintsOfAxe(page)))
    await page.getByRole('button', { name: '中文' }).click()
    await page.getByRole('region', { name: '队列' }).getByText('已排队：智能体会在下一步之前读到').waitFor()
    found.push(...(await complaintsOfAxe(page)))
    await page.getByRole('button', { name: 'English' }).click()
    await queue(page).waitFor()
  }
  expect(found).toEqual([])
  release()
  await messages(page).getByText('All done.').waitFor()
  expect(problems).toEqual([])
  await context.close()
  await turns.close()
})
