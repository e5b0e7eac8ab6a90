import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openBrowser } from '../test/support/browser.ts'
import { runCli } from '../test/support/children.ts'
import { visit } from '../test/support/page.ts'

const folder = fileURLToPath(new URL('../docs/images', import.meta.url))
const data = mkdtempSync(join(tmpdir(), 'runsheet-images-'))
mkdirSync(folder, { recursive: true })
const server = runCli(['serve', '--port', '0', '--data', data])
const browser = await openBrowser()
try {
  const link = /http\S+/.exec(await server.line(line => line.startsWith('Runsheet is ready at')))?.[0] ?? ''
  const { page } = await visit(browser, link, {
    viewport: { width: 1180, height: 860 },
    colorScheme: 'light',
    reducedMotion: 'reduce',
  })
  const box = page.getByRole('textbox', { name: 'What do you want done?' })
  const ask = async (text: string): Promise<void> => {
    await box.fill(text)
    await box.press('Enter')
    await page.getByRole('heading', { name: 'Review the plan' }).waitFor()
  }
  const finished = async (result: RegExp): Promise<void> => {
    await page.getByText(result).first().waitFor()
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' })
  }
  await ask('Plan a birthday party for 20 people')
  await page.getByRole('button', { name: /^Approve / }).click()
  await finished(/5 of 5 done:|[Aa]ll 5 steps done/)
  await page.getByRole('button', { name: 'New chat' }).click()
  await ask('Fix the greeting in the sandbox, and prove it')
  await page.getByRole('checkbox', { name: /Run this check/ }).click()
  await page.screenshot({ path: join(folder, 'review.png') })
  await page.getByRole('button', { name: /^Approve / }).click()
  await finished(/3 of 3 done: 1 proven/)
  await page.emulateMedia({ colorScheme: 'dark' })
  const thread = page.getByRole('region', { name: 'Messages' })
  await thread.locator('.rs-step-head button').nth(1).click()
  await thread.getByText('node --test').first().waitFor()
  await page.getByText('Fix the greeting in the sandbox, and prove it').last().scrollIntoViewIfNeeded()
  // Keep hover styles out of the screenshot.
  await page.mouse.move(0, 0)
  await page.screenshot({ path: join(folder, 'proven.png') })
} finally {
  await browser.close()
  server.process.kill('SIGTERM')
  await server.ended
  rmSync(data, { recursive: true })
}
