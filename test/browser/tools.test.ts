import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { OutsideTool } from '../../src/engine/worker/outside.ts'
import { complaintsOfAxe } from '../support/axe.ts'
import { BUILT, runCli } from '../support/children.ts'
import { builtPage, sharedBrowser, visit } from '../support/page.ts'
import { Provider } from '../support/provider.ts'
import { scratchFolder } from '../support/scratch.ts'
import { NO_TOOLS, serverView, toolsPart, toolView } from '../support/tools.ts'
import { MODEL, startTurns, type TestTurns, type TurnsOptions } from '../support/turns.ts'

const browser = await sharedBrowser()

const run = promisify(execFile)
const dialog = (page: Page) => page.getByRole('dialog', { name: 'Tools' })
const box = (page: Page) => page.locator('#message')

it('a new user gives the agent a folder from what the page says alone, and allows what it writes there', {
  timeout: 120_000,
}, async () => {
  const [data, config, folder] = [scratchFolder(), scratchFolder(), join(scratchFolder(), 'my notes')]
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'todo.md'), 'Buy bread')
  const provider = await Provider.start([
    { calls: [{ tool: 'my-notes__read_file', args: { path: 'todo.md' } }] },
    { calls: [{ tool: 'my-notes__write_file', args: { path: 'done.md', text: 'Bought bread' } }] },
    'It is written.',
  ])
  const env = {
    XDG_CONFIG_HOME: config,
    RUNSHEET_MODEL: MODEL,
    RUNSHEET_MODEL_URL: provider.url,
    RUNSHEET_MODEL_KEY: 'key-of-ours',
    RUNSHEET_REVIEW: 'off',
  }
  const server = runCli(['serve', '--port', '0', '--data', data], { file: BUILT, env })
  onTestFinished(async () => {
    server.process.kill('SIGTERM')
    await server.ended
    await provider.close()
    for (const each of [data, config, folder]) rmSync(each, { recursive: true, force: true })
  })
  const link = /http\S+/.exec(await server.line(line => line.startsWith('Runsheet is ready at')))?.[0] ?? ''
  const { page, context, problems } = await visit(browser, link)
  await page.getByRole('button', { name: /this agent can plan and write, but not act/ }).click()
  await dialog(page).getByRole('heading', { name: 'This agent can plan and write, but not act' }).waitFor()
  await dialog(page).getByLabel('Folder').fill(folder)
  const command = await dialog(page).locator('pre').first().innerText()
  const { stdout } = await run('sh', ['-c', command], { env: { ...process.env, XDG_CONFIG_HOME: config } })
  expect(stdout).toContain('Added my-notes')
  // It appears by itself.
  await dialog(page).getByRole('heading', { name: 'my-notes' }).waitFor()
  await dialog(page).getByText('write_file', { exact: true }).waitFor()
  expect(await dialog(page).getByRole('group', { name: 'Calls of read_file' }).getByLabel('Always').isChecked()).toBe(
    true,
  )
  expect(await dialog(page).getByRole('group', { name: 'Calls of write_file' }).getByLabel('Ask').isChecked()).toBe(
    true,
  )
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: '3 tools' }).waitFor()
  await box(page).fill('Tick off what is done')
  await box(page).press('Enter')
  const card = page.getByRole('region', { name: /wants to use write_file/ })
  await card.getByText('Bought bread').waitFor()
  expect(() => readFileSync(join(folder, 'done.md'))).toThrow(/ENOENT/)
  await card.getByRole('button', { name: 'Allow once' }).press('Enter')
  await page.getByText('It is written.').waitFor()
  expect(readFileSync(join(folder, 'done.md'), 'utf8')).toBe('Bought bread')
  expect(await card.count()).toBe(0)
  // It can be taken away again.
  await page.getByRole('button', { name: '3 tools' }).click()
  await dialog(page).getByRole('button', { name: 'Remove my-notes', exact: true }).click()
  await dialog(page).getByRole('button', { name: 'Remove my-notes?' }).click()
  await dialog(page).getByRole('heading', { name: 'This agent can plan and write, but not act' }).waitFor()
  expect(JSON.parse(readFileSync(join(config, 'runsheet', 'runsheet.json'), 'utf8'))).toEqual({ mcpServers: {} })
  expect(problems).toEqual([])
  await context.close()
})

const guarded = (name: string, more: Partial<OutsideTool> = {}): OutsideTool => ({
  name: `files__${name}`,
  description: '',
  inputSchema: { type: 'object' },
  isRepeatable: true,
  call: async () => 'Done',
  from: { server: 'files', tool: name, fingerprint: 'a.b', isReadOnly: false, ask: 'all' },
  ...more,
})

async function start(options: TurnsOptions = {}): Promise<TestTurns> {
  const turns = await startTurns({
    page: builtPage,
    host: { review: false, assessor: false, gate: false },
    outside: [guarded('write')],
    ...options,
  })
  onTestFinished(turns.close)
  return turns
}
const linkTo = ({ url, server }: TestTurns): string => `${url.href}?chat=c1#code=${server.loginCode()}`
const CALL = {
  calls: [
    {
      tool: 'files__write',
      args: { path: 'notes/plan.md', text: '# Plan\n\n1. Look\n2. Leap', mode: { append: true } },
    },
  ],
}

describe('the card of a call that waits', () => {
  it('shows what is passed; Deny tells the agent, and the thread says so; another window follows', async () => {
    const turns = await start({ answers: [CALL, 'Then not.'] })
    void turns.open()
    const { page, context, problems } = await visit(browser, linkTo(turns))
    const other = await context.newPage()
    await other.goto(`${turns.url.href}?chat=c1`)
    const card = page.getByRole('region', { name: /The agent wants to use write of files/ })
    await card.getByText('2. Leap').waitFor()
    await other.getByRole('region', { name: /wants to use write/ }).waitFor()
    // No other element has the focus, so that the card has it, and the keyboard is enough.
    await page.keyboard.press('Tab')
    await card.getByRole('button', { name: 'Deny' }).click()
    await page.getByText('Then not.').waitFor()
    await page.getByText('not allowed').waitFor()
    expect(await page.evaluate(() => document.activeElement?.className)).toBe('rs-asks')
    await other.getByText('Then not.').waitFor()
    expect(await other.getByRole('region', { name: /wants to use write/ }).count()).toBe(0)
    expect(problems).toEqual([])
    await context.close()
  })

  it('after a stop the thread says that the call was not allowed', async () => {
    const turns = await start({ answers: [CALL] })
    void turns.open()
    const { page, context, problems } = await visit(browser, linkTo(turns))
    await page.getByRole('region', { name: /wants to use write/ }).waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByText('Stopped', { exact: true }).waitFor()
    await page.getByText('not allowed', { exact: true }).waitFor()
    expect(await page.getByRole('region', { name: /wants to use write/ }).count()).toBe(0)
    await page.reload()
    await page.getByText('not allowed', { exact: true }).waitFor()
    expect(problems).toEqual([])
    await context.close()
  })

  it('a call that was stopped while it ran says that its outcome is unknown, in both languages', async () => {
    const turns = await start({
      answers: [CALL],
      outside: [guarded('write', { call: () => new Promise(() => {}) })],
    })
    void turns.open()
    const { page, context, problems } = await visit(browser, linkTo(turns))
    await page.getByRole('button', { name: 'Allow once' }).click()
    const line = page.locator('details.rs-use summary')
    await line.locator('.rs-turning').waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    await line.getByText('stopped · outcome unknown', { exact: true }).waitFor()
    expect(await line.innerText()).toMatch(/^Writing plan.md/)
    await line.click()
    await page
      .locator('.rs-use-details')
      .getByText('Stopped before it answered. It may or may not have happened.')
      .waitFor()
    await page.reload()
    await line.getByText('stopped · outcome unknown', { exact: true }).waitFor()
    await page.evaluate(() => localStorage.setItem('runsheet.language', 'zh'))
    await page.reload()
    await line.getByText('已停止 · 结果未知', { exact: true }).waitFor()
    expect(problems).toEqual([])
    await context.close()
  })

  it('[TO4] says why it asks again; it is there after a reload; both languages', async () => {
    const turns = await start({
      answers: [CALL, 'Kept.'],
      rules: () => ({ files: { write: { rule: 'always', fingerprint: 'older.b' } } }),
    })
    void turns.open()
    const { page, context, problems } = await visit(browser, linkTo(turns))
    await page.getByText(/Since then it has changed/).waitFor()
    await page.reload()
    await page.getByText(/Since then it has changed/).waitFor()
    await page.getByRole('button', { name: '中文' }).click()
    await page.getByRole('button', { name: '允许这一次' }).waitFor()
    await page.getByText(/此后它的说明或参数有变化/).waitFor()
    await page.getByRole('button', { name: '始终允许' }).click()
    await page.getByText('Kept.').waitFor()
    expect(problems).toEqual([])
    await context.close()
  })
})

const MANY = {
  ...NO_TOOLS,
  offered: 100,
  servers: [
    serverView('files', {
      tools: [
        toolView('read_file', { read_only: true, rule: 'always', source: 'page' }),
        toolView('write_file', { changed: 'tool' }),
        toolView('delete_file', { rule: 'never', source: 'page' }),
      ],
    }),
    serverView('github', {
      tools: Array.from({ length: 200 }, (_, index) =>
        toolView(`tool_${index + 1}`, index >= 98 ? { left_out: true } : {}),
      ),
    }),
    serverView('slow', { state: 'connecting' }),
    serverView('broken', {
      state: 'failed',
      reason: 'spawn npx ENOENT',
      removable: false,
      file: '/work/runsheet.json',
    }),
  ],
}

describe('the tools', () => {
  it('show servers and tools with their state; a rule is one click, or one key', async () => {
    const turns = await start({ tools: toolsPart(MANY) })
    const { page, context, problems } = await visit(browser, linkTo(turns), { expected: /404/ })
    await page.getByRole('button', { name: /100 of 202 tools · 1 server failed · connecting/ }).click()
    await dialog(page).locator('header').getByText('The agent gets 100 of 202 tools').waitFor()
    await dialog(page).getByText('spawn npx ENOENT').waitFor()
    await dialog(page).getByText('From /work/runsheet.json').waitFor()
    await dialog(page).getByText('It has changed since you always allowed it').waitFor()
    const write = dialog(page).getByRole('group', { name: 'Calls of write_file' })
    await write.getByLabel('Ask').focus()
    await page.keyboard.press('ArrowRight')
    await expect.poll(() => write.getByLabel('Always').isChecked()).toBe(true)
    expect((await turns.person.tools()).servers[0]?.tools[1]?.rule).toBe('always')
    // 200 tools: some of them, all at once.
    const many = dialog(page).getByRole('region', { name: 'github' })
    await many.getByLabel('Filter tools').fill('tool_19')
    expect(await many.getByRole('listitem').count()).toBe(11)
    await many.getByLabel('Set all to').selectOption('never')
    await expect
      .poll(async () => (await turns.person.tools()).servers[1]?.tools.filter(({ rule }) => rule === 'never').length)
      .toBe(11)
    await dialog(page).getByRole('button', { name: 'Try again' }).click()
    await dialog(page).getByText('spawn npx ENOENT').waitFor({ state: 'detached' })
    await page.keyboard.press('Escape')
    expect(await dialog(page).count()).toBe(0)
    expect(problems).toEqual([])
    await context.close()
  })

  it('have a URL, close by Back, and keep Close in sight below many tools', async () => {
    const turns = await start({ tools: toolsPart(MANY) })
    const { page, context, problems } = await visit(browser, linkTo(turns), { expected: /404/ })
    await page.getByRole('button', { name: /100 of 202 tools/ }).click()
    await dialog(page).getByRole('button', { name: 'Remove github', exact: true }).waitFor()
    await expect.poll(() => new URL(page.url()).searchParams.has('tools')).toBe(true)
    await page.goBack()
    await dialog(page).waitFor({ state: 'detached' })
    await expect.poll(() => new URL(page.url()).searchParams.has('tools')).toBe(false)
    await page.goForward()
    await dialog(page).getByText('spawn npx ENOENT').waitFor()
    await dialog(page).evaluate(each => each.scrollTo(0, each.scrollHeight))
    expect(await dialog(page).evaluate(each => each.scrollHeight)).toBeLessThan(3_000)
    const close = dialog(page).getByRole('button', { name: 'Close' })
    const [top, upper] = await Promise.all([
      close.evaluate(each => each.getBoundingClientRect().top),
      dialog(page).evaluate(each => each.getBoundingClientRect().top),
    ])
    expect(top).toBeGreaterThanOrEqual(upper)
    await close.click()
    await dialog(page).waitFor({ state: 'detached' })
    await expect.poll(() => new URL(page.url()).searchParams.has('tools')).toBe(false)
    await page.getByRole('button', { name: '中文' }).click()
    await page.getByRole('button', { name: /202 个工具中的 100 个/ }).click()
    await page.getByText(/智能体得到 202 个工具中的 100 个/).waitFor()
    expect(problems).toEqual([])
    await context.close()
  })

  it('on a touch screen everything to press in them is at least 44 px high', async () => {
    const turns = await start({ tools: toolsPart(MANY) })
    const screen = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, expected: /404/ }
    const { page, context, problems } = await visit(browser, linkTo(turns), screen)
    await page.getByRole('button', { name: /100 of \d+ tools/ }).tap()
    await dialog(page).getByRole('group', { name: 'Calls of write_file' }).waitFor()
    const small = await dialog(page)
      .locator('button, select, summary, label:has(:is([type=radio], [type=checkbox])), input:not([type=radio])')
      .evaluateAll(all =>
        all.flatMap(each => {
          const { height } = each.getBoundingClientRect()
          return height > 0 && height < 44 ? `${each.className} ${each.textContent}: ${height}` : []
        }),
      )
    expect([...new Set(small)]).toEqual([])
    expect(problems).toEqual([])
    await context.close()
  })

  it('[CH22] axe finds nothing, in both themes, and nothing scrolls sideways at 360 px', {
    timeout: 120_000,
  }, async () => {
    const turns = await start({ tools: toolsPart(MANY), answers: [CALL, 'Kept.'] })
    void turns.open()
    const { page, context } = await visit(browser, linkTo(turns))
    const found: string[] = []
    const isNarrow = (): Promise<boolean> =>
      page.evaluate(() => {
        const scrollers = [document.documentElement, ...document.querySelectorAll('dialog')]
        return scrollers.every(each => each.scrollWidth <= each.clientWidth)
      })
    for (const width of [360, 1280]) {
      await page.setViewportSize({ width, height: 800 })
      await page.getByRole('region', { name: /wants to use write/ }).waitFor()
      found.push(...(await complaintsOfAxe(page)).map(each => `card ${width}: ${each}`))
      expect(await isNarrow()).toBe(true)
      await page.getByRole('button', { name: /100 of 202 tools/ }).click()
      await dialog(page).getByText('spawn npx ENOENT').waitFor()
      found.push(...(await complaintsOfAxe(page)).map(each => `tools ${width}: ${each}`))
      expect(await isNarrow()).toBe(true)
      await page.keyboard.press('Escape')
    }
    expect(found).toEqual([])
    await context.close()
  })
})
