import { appendFileSync, cpSync, existsSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { runProcess } from '../support/children.ts'
import { sharedBrowser, visit } from '../support/page.ts'
import { scratchFolder } from '../support/scratch.ts'

const browser = await sharedBrowser()
const root = fileURLToPath(new URL('../..', import.meta.url))

/** A copy of the sources, which a test may change. */
function copyOfTheClone(): string {
  const folder = scratchFolder()
  const names = ['src', 'scripts', 'package.json', 'vite.config.ts', 'tsconfig.json', 'tsconfig.web.json']
  for (const name of names) {
    cpSync(join(root, name), join(folder, name), { recursive: true })
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  return folder
}

it('[CL1][CL2] npm run dev signs in, updates the page in place, restarts the server, and ends both', async () => {
  const clone = copyOfTheClone()
  const dev = runProcess([process.execPath, 'scripts/dev.ts'], { cwd: clone, env: process.env })
  onTestFinished(async () => {
    dev.process.kill('SIGTERM')
    await dev.ended
    rmSync(clone, { recursive: true })
  })
  const link = /http\S+/.exec(await dev.line(line => line.startsWith('Runsheet is ready at')))?.[0] ?? ''
  const { page } = await visit(browser, link)
  const heading = page.getByRole('heading', { name: 'Approve the plan, then watch it get done' })
  await heading.waitFor()

  await page.evaluate(() => Object.assign(window, { isSamePage: true }))
  appendFileSync(join(clone, 'src/ui/page/app.css'), '\nbody { outline: solid }\n')
  await page.waitForFunction(() => getComputedStyle(document.body).outlineStyle === 'solid')
  expect(await page.evaluate(() => 'isSamePage' in window)).toBe(true)

  appendFileSync(join(clone, 'src/server/http/server.ts'), "\nprocess.stdout.write('changed server\\n')\n")
  await dev.line(line => line === 'changed server')
  await expect.poll(() => dev.lines.filter(line => line.startsWith('Runsheet is ready at')).length).toBe(2)
  await page.reload()
  await heading.waitFor()

  dev.process.kill('SIGTERM')
  await dev.ended
  await expect(fetch(link)).rejects.toThrow()
  expect(existsSync(join(clone, '.runsheet/server.json'))).toBe(false)
})
