import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openBrowser } from '../test/support/browser.ts'
import { runCli } from '../test/support/children.ts'
import { visit } from '../test/support/page.ts'

/** Takes the README's screenshots of the built page. */
const folder = fileURLToPath(new URL('../docs/images', import.meta.url))
const data = mkdtempSync(join(tmpdir(), 'runsheet-images-'))
mkdirSync(folder, { recursive: true })
const server = runCli(['serve', '--port', '0', '--data', data])
const browser = await openBrowser()
try {
  const link = /http\S+/.exec(await server.line(line => line.startsWith('Runsheet is ready at')))?.[0] ?? ''
  const { page } = await visit(browser, link, { viewport: { width: 1180, height: 760 }, colorScheme: 'light' })
  const box = page.getByRole('textbox', { name: 'Ask for something' })
  const ask = async (text: string): Promise<void> => {
    await box.fill(text)
    await box.press('Enter')
    await page.getByRole('heading', { name: 'Review the plan' }).waitFor()
  }
  const finished = () => page.getByRole('button', { name: 'Send' }).waitFor()
  await ask('Plan a birthday party for 20 people')
  await page.getByRole('button', { name: 'Confirm' }).click()
  await finished()
  await page.getByRole('button', { name: 'New chat' }).click()
  await ask('Compute 12*7, compute 84 / 4 and then write the report.')
  await page
    .getByLabel(/^Title/)
    .last()
    .fill('Write a report of two pages')
  await page.screenshot({ path: join(folder, 'review.png') })
  await page.getByRole('button', { name: 'Confirm' }).click()
  await finished()
  await page.getByRole('button', { name: 'New chat' }).click()
  await page.emulateMedia({ colorScheme: 'dark' })
  await ask(
    '1. Draft the invitation\n2. Draft the schedule for the party\n3. Draft the shopping list for the party\n4. Compute 20 * 15\n5. Write the report',
  )
  await page.getByRole('button', { name: 'Confirm' }).click()
  await page.locator('.rs-summary').click()
  await page.locator('.rs-status-completed').nth(1).waitFor()
  await page.screenshot({ path: join(folder, 'working.png') })
} finally {
  await browser.close()
  server.process.kill('SIGTERM')
  await server.ended
  rmSync(data, { recursive: true })
}
