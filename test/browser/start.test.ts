import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pino } from 'pino'
import { build } from 'vite'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { pageFrom } from '../../src/server/http/page.ts'
import { createHttpServer } from '../../src/server/http/server.ts'
import { builtPage, sharedBrowser } from '../support/page.ts'
import { scratchFolder } from '../support/scratch.ts'
import { startServer, TOKENS } from '../support/server.ts'

const browser = await sharedBrowser()

let folder: string

beforeAll(async () => {
  folder = scratchFolder()
  await build({
    configFile: false,
    logLevel: 'error',
    root: fileURLToPath(new URL('fixture', import.meta.url)),
    build: { outDir: join(folder, 'page'), target: 'es2023' },
  })
})
afterAll(() => rmSync(folder, { recursive: true }))

it('[AU1] the printed link signs in, leaves no code in the URL, and shows the pending plan', async () => {
  const { url, server, agent, person, close } = await startServer({ page: builtPage })
  const call = {
    session_id: 'c',
    turn_id: 't',
    arguments: { tasks: [{ title: 'Collect' }, { title: '<b>Write</b>' }] },
  }
  const waiting = agent.call('runsheet', 'plan', call)
  const page = await browser.newPage()
  const problems: string[] = []
  page.on('console', message => message.type() === 'error' && problems.push(message.text()))
  page.on('pageerror', error => problems.push(String(error)))
  await page.goto(`${url.href}?chat=c#code=${server.loginCode()}`)
  await page.getByRole('heading', { name: 'Review the plan' }).waitFor()
  await expect.poll(() => page.url()).toBe(`${url.href}?chat=c`)
  expect(
    await page.getByLabel(/^Title, /).evaluateAll(inputs => inputs.map(input => (input as HTMLInputElement).value)),
  ).toEqual(['Collect', '<b>Write</b>'])
  await page.getByRole('button', { name: /^Approve / }).click()
  expect(await waiting).toMatchObject({ result: { ids: [1, 2], changes: 'none' } })
  await page.getByText('0 of 2 done · 2 remaining').waitFor()
  await page.reload()
  await page.getByText('0 of 2 done · 2 remaining').waitFor()
  expect((await person.tasks('c')).tasks).toHaveLength(2)
  expect(problems).toEqual([])
  await page.close()
  await close()
})

it('[LC2] a live conversation works in a browser and reconnects', async () => {
  const { url, server, door, agent, close } = await startServer({
    page: pageFrom(join(folder, 'page')),
    host: { review: false },
  })
  const plan = (title: string) =>
    agent.call('runsheet', 'plan', { session_id: 'c', turn_id: 't', arguments: { tasks: [{ title }] } })
  await plan('one')
  const context = await browser.newContext()
  const page = await context.newPage()
  const shows = (text: string): Promise<unknown> =>
    page.waitForFunction(wanted => document.querySelector('pre')?.textContent === wanted, text)
  await page.goto(`${url.href}#code=${server.loginCode()}&session=c`)
  await shows('live\none: in_progress')
  await plan('two')
  await shows('live\none: in_progress\ntwo: pending')
  await server.close(0)
  await shows('reconnecting\none: in_progress\ntwo: pending')
  const again = createHttpServer({
    door,
    tokens: TOKENS,
    tenant: 'local',
    version: '0',
    log: pino({ level: 'silent' }),
  })
  await again.listen(Number(url.port), '127.0.0.1')
  await plan('three')
  await shows('live\none: in_progress\ntwo: pending\nthree: pending')
  expect(await page.evaluate(() => Object.values(localStorage).join())).not.toContain(TOKENS.person)
  expect((await door.read({ tenant: 'local', conversation: 'c' })).tasks.size).toBe(3)
  await context.close()
  await again.close(0)
  await close()
})
