import { setTimeout as delay } from 'node:timers/promises'
import { availableParallelism, loadavg } from 'node:os'
import { fileURLToPath } from 'node:url'
import { pino } from 'pino'
import { pageFrom } from '../src/server/http/page.ts'
import { createHttpServer } from '../src/server/http/server.ts'
import { openDoor } from '../src/engine/door/door.ts'
import { openMemoryStore } from '../src/store/memory.ts'
import { createClient } from '../src/client/client.ts'
import { openBrowser } from '../test/support/browser.ts'

/** Measures how long the page is busy while a large plan changes and text streams. */
const TASKS = 200
const CHANGES_PER_SECOND = 10
const PIECES_PER_SECOND = 30
const SECONDS = Number(process.env['SECONDS'] ?? 10)
const LIMIT_MS = 50

const tokens = { person: 'person-of-the-bench', agent: 'agent-of-the-bench' }
const door = openDoor({ store: openMemoryStore() })
const server = createHttpServer({
  door,
  tokens,
  tenant: 'local',
  version: '0',
  log: pino({ level: 'silent' }),
  page: pageFrom(fileURLToPath(new URL('../dist/web', import.meta.url))),
  turns: { names: ['bench'], defaultName: 'bench', take: () => {} },
})
const url = await server.listen(0, '127.0.0.1')
const person = createClient({ url, token: tokens.person })
const ref = { tenant: 'local', conversation: 'bench' }

await person.chat({ session_id: 'bench', turn_id: 't', message: 'Stream while the plan changes.', review: false })
for (let count = 0; count < TASKS; count += 1) await person.addTask('bench', { title: `Step ${count + 1} of the plan` })

const browser = await openBrowser()
const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
await page.goto(`${url.href}?chat=bench#code=${server.loginCode()}`)
await page.locator('.rs-summary').click()
await page.waitForTimeout(1_000)
const metrics = await page.context().newCDPSession(page)
await metrics.send('Performance.enable')
const busy = async (): Promise<number> => {
  const { metrics: all } = await metrics.send('Performance.getMetrics')
  const of = (name: string): number => all.find(each => each.name === name)?.value ?? 0
  return of('ScriptDuration') + of('LayoutDuration') + of('RecalcStyleDuration')
}
const results: { view: string; tasks: number[]; shown: number; busy: number }[] = []
for (const view of ['plan open', 'all of it shown', 'plan closed']) {
  if (view === 'all of it shown') await page.locator('.rs-more').click()
  if (view === 'plan closed') await page.locator('.rs-summary').click()
  await page.waitForTimeout(500)
  await page.evaluate(`window.long = []
    new PerformanceObserver(list => window.long.push(...list.getEntries().map(({ duration }) => duration)))
      .observe({ type: 'longtask' })`)
  const { tasks } = await person.tasks('bench', { limit: 200 })
  const versions = new Map(tasks.map(({ id, version }) => [id, version]))
  const ids = tasks.map(({ id }) => id)
  const before = await busy()
  let text = ''
  const started = performance.now()
  let changes = 0
  for (let tick = 0; performance.now() - started < SECONDS * 1_000; tick += 1) {
    text += tick % 20 === 19 ? `words ${tick}.\n\n- an item with \`code\`\n\n` : `word${tick} **and** more `
    server.showText(ref, { turn_id: 't', message_id: `m-${view.replace(' ', '-')}`, text })
    if (tick % (PIECES_PER_SECOND / CHANGES_PER_SECOND) === 0) {
      const id = ids[changes % ids.length] ?? ''
      const { task } = await person.changeTask('bench', id, versions.get(id) ?? 0, { title: `Step, version ${tick}` })
      versions.set(id, task.version)
      changes += 1
    }
    const due = started + ((tick + 1) * 1_000) / PIECES_PER_SECOND
    await delay(Math.max(0, due - performance.now()))
  }
  await page.waitForTimeout(300)
  const long = await page.evaluate<number[]>('window.long')
  results.push({ view, tasks: long.toSorted((a, b) => b - a), shown: changes, busy: (await busy()) - before })
}
for (const { view, tasks: long, shown, busy } of results) {
  const longest =
    long[0] === undefined ? `none over ${LIMIT_MS} ms` : `${long.length} over ${LIMIT_MS} ms, the longest ${long[0]} ms`
  console.log(
    `${TASKS} tasks, ${view}, ${shown} changes and text in ${SECONDS} s: long tasks ${longest}; busy ${((busy / SECONDS) * 100).toFixed(0)} % of the time`,
  )
}
if (results.some(({ tasks: long }) => long.length > 0)) process.exitCode = 1
console.log(`load of the machine: ${loadavg()[0]?.toFixed(1)} on ${availableParallelism()} cores`)
await browser.close()
await server.close(0)
await door.close()
