import { rmSync } from 'node:fs'
import { expect, it, onTestFinished } from 'vitest'
import { runCli } from '../support/children.ts'
import { sharedBrowser, visit } from '../support/page.ts'
import { scratchFolder } from '../support/scratch.ts'

const browser = await sharedBrowser()

it('a newcomer opens the printed link, asks for three steps, edits the plan, confirms it, and watches it finish', async () => {
  const data = scratchFolder()
  const server = runCli(['serve', '--port', '0', '--data', data])
  onTestFinished(async () => {
    server.process.kill('SIGTERM')
    await server.ended
    rmSync(data, { recursive: true })
  })
  const link = /http\S+/.exec(await server.line(line => line.startsWith('Runsheet is ready at')))?.[0] ?? ''
  const { page, context, problems } = await visit(browser, link)
  await page.getByRole('heading', { name: 'Approve the plan, then watch it get done' }).waitFor()
  // The message box has the focus.
  await page.keyboard.type('Compute 12*7, compute 84 / 4 and then write the report.')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Review the plan' }).waitFor()
  const titles = page.getByLabel(/^Title/)
  expect(await titles.evaluateAll(inputs => inputs.map(input => (input as HTMLInputElement).value))).toEqual([
    'Compute 12*7',
    'Compute 84 / 4',
    'Write the report',
  ])
  await titles.last().fill('Write a haiku about rain')
  await page.evaluate(() => {
    const seen = new Set<string>()
    new MutationObserver(() => seen.add(document.querySelector('.rs-counts')?.textContent ?? '')).observe(document, {
      subtree: true,
      childList: true,
      characterData: true,
    })
    Object.assign(window, { seen })
  })
  await page.getByRole('button', { name: /^Approve / }).click()
  await page.locator('.rs-todos').getByText('All 3 steps done').first().waitFor()
  // Every step was visible.
  const seen = await page.evaluate(() => [...(window as unknown as { seen: Set<string> }).seen].filter(Boolean))
  expect(seen).toEqual(['0 of 3 done · 3 remaining', '1 of 3 done · 2 remaining', '2 of 3 done · 1 remaining'])
  await page.getByRole('button', { name: 'Send' }).waitFor()
  const thread = page.getByRole('region', { name: 'Messages' })
  await thread.getByText('You approved 3 steps · 1 edited').waitFor()
  await thread.getByRole('note').getByText('All 3 steps done').waitFor()
  const said = await page.getByRole('region', { name: 'Messages' }).innerText()
  expect(said).toContain('12 * 7 = 84')
  expect(said).toContain('Write a haiku about rain')
  expect(said).not.toContain('Write the report:')
  expect(await page.title()).toBe('Compute 12*7, compute 84 / 4 and then write the report. · Runsheet')
  // A reload keeps everything.
  await page.reload()
  await page.locator('.rs-todos').getByText('All 3 steps done').first().waitFor()
  await page.getByRole('region', { name: 'Messages' }).getByText('12 * 7 = 84').first().waitFor()
  expect(problems).toEqual([])
  await context.close()
})
