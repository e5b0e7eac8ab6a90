import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createClient } from '../../src/client/client.ts'
import { TOOLSETS } from '../../src/core/model/policy.ts'
import { complaintsOfAxe } from '../support/axe.ts'
import { runCli } from '../support/children.ts'
import { builtPage, sharedBrowser, visit } from '../support/page.ts'
import { type Answers, Provider } from '../support/provider.ts'
import { scratchFolder } from '../support/scratch.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { settingsScene, type SceneOptions } from '../support/settings.ts'

const browser = await sharedBrowser()

const KEY = 'sk-of-a-provider-that-is-scripted-7f3a'

/** `runsheet serve` in a folder of its own, as a person starts it. */
async function serve(args: readonly string[] = [], env: NodeJS.ProcessEnv = {}) {
  const data = scratchFolder()
  const server = runCli(['serve', '--port', '0', '--data', data, ...args], {
    cwd: data,
    env: { XDG_CONFIG_HOME: join(data, 'config'), ...env },
  })
  onTestFinished(async () => {
    server.process.kill('SIGTERM')
    await server.ended
    rmSync(data, { recursive: true })
  })
  const link = /http\S+/.exec(await server.line(line => line.startsWith('Runsheet is ready at')))?.[0] ?? ''
  const token = readFileSync(join(data, 'person-token'), 'utf8').trim()
  return { link, data, person: createClient({ url: new URL(link).origin, token }) }
}

async function provider(answers?: Answers): Promise<Provider> {
  const started = await Provider.start(answers)
  onTestFinished(() => started.close())
  return started
}

/** A server in this process; `scene`: its settings. */
async function start(scene: SceneOptions = {}): Promise<TestServer & { readonly link: (query?: string) => string }> {
  const { part, remove } = settingsScene(scene)
  const server = await startServer({ page: builtPage, settings: part })
  onTestFinished(async () => {
    await server.close()
    remove()
  })
  return { ...server, link: (query = '?settings') => `${server.url.href}${query}#code=${server.server.loginCode()}` }
}

const dialog = (page: Page) => page.getByRole('dialog', { name: 'Settings' })

async function fillIn(page: Page, url: string, key: string): Promise<void> {
  await dialog(page)
    .getByRole('radio', { name: /^Local or other/ })
    .check()
  await dialog(page).getByLabel('Model name').fill('scripted')
  await dialog(page).getByLabel('Base URL').fill(url)
  await dialog(page)
    .getByLabel(/^API key/)
    .fill(key)
}

describe('connecting a model', () => {
  it('a newcomer opens the settings, connects a model from what they say, and gets its plan', async () => {
    const model = await provider(request =>
      request.tools === undefined
        ? 'OK'
        : request.messages.some(({ role }) => role === 'tool')
          ? 'It is planned.'
          : { calls: [{ tool: 'plan', args: { tasks: [{ title: 'Invite the guests' }, { title: 'Bake a cake' }] } }] },
    )
    const { link } = await serve()
    const { page, context, problems } = await visit(browser, link)
    await page.getByRole('button', { name: 'Settings' }).click()
    await dialog(page).getByRole('radio', { name: /^Demo/, checked: true }).waitFor()
    await fillIn(page, model.url, KEY)
    await dialog(page).getByText(`sent only to ${model.url}`).waitFor()
    await dialog(page).getByRole('button', { name: 'Save and try' }).click()
    await dialog(page)
      .getByText(/openai-compatible:scripted answered in [\d.]+ s\./)
      .waitFor()
    await dialog(page).getByText('Saved. New messages go to scripted.').waitFor()
    expect(model.asked.at(-1)?.headers.authorization).toBe(`Bearer ${KEY}`)
    // The key is nowhere in the page.
    expect(await page.content()).not.toContain(KEY)
    await dialog(page).getByText('It ends in 7f3a.').waitFor()
    await page.keyboard.press('Escape')
    await dialog(page).waitFor({ state: 'detached' })
    await expect.poll(() => page.url()).not.toContain('settings')
    // The message box knows the new model at once.
    await expect.poll(() => page.getByLabel('Model').inputValue()).toBe('openai-compatible:scripted')
    await page.getByRole('textbox', { name: 'What do you want done?' }).fill('Plan a party')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Review the plan' }).waitFor()
    expect(await page.getByLabel(/^Title, 2/).inputValue()).toBe('Bake a cake')
    expect(problems).toEqual([])
    await context.close()
  })

  it('a wrong key, a wrong name and a model that cannot be reached are told with what to do, and mended there', async () => {
    const answers = [{ status: 401 }, { status: 404 }, 'OK']
    const model = await provider((_, count) => answers[count] ?? 'OK')
    const { link } = await start()
    const { page, context, problems } = await visit(browser, link())
    const tried = dialog(page).getByRole('alert')
    const again = dialog(page).getByRole('button', { name: 'Try it' })
    await fillIn(page, 'http://127.0.0.1:9/v1', KEY)
    await dialog(page).getByRole('button', { name: 'Save and try' }).click()
    await tried.getByText('The model cannot be reached').waitFor()
    expect(await tried.innerText()).toContain('http://127.0.0.1:9/v1')
    expect(await tried.innerText()).toContain('the base URL is right')
    await dialog(page).getByLabel('Base URL').fill(model.url)
    await dialog(page)
      .getByLabel(/^API key/)
      .fill(KEY)
    await dialog(page).getByRole('button', { name: 'Save and try' }).click()
    await tried.getByText('The provider refused the key').waitFor()
    await again.click()
    await tried.getByText('The provider refused the request').waitFor()
    await again.click()
    await dialog(page)
      .getByText(/answered in/)
      .waitFor()
    expect(await tried.count()).toBe(0)
    expect(problems).toEqual([])
    await context.close()
  })

  it('what is missing is asked for in the field, and a value that the server refuses is named', async () => {
    const { link, person } = await start()
    const { page, context, problems } = await visit(browser, link(), { expected: /422/ })
    await dialog(page)
      .getByRole('radio', { name: /^OpenAI/ })
      .check()
    await dialog(page).getByRole('button', { name: 'Save and try' }).click()
    expect(
      await dialog(page)
        .getByLabel('Model name')
        .evaluate(field => field.matches(':invalid:focus')),
    ).toBe(true)
    expect(await dialog(page).getByRole('link', { name: 'Get a key from OpenAI' }).getAttribute('href')).toContain(
      'https://platform.openai.com/',
    )
    await dialog(page).getByLabel('Model name').fill('no such name')
    await dialog(page).getByRole('button', { name: 'Save and try' }).click()
    await dialog(page).getByRole('alert').getByText('Model: please check this value.').waitFor()
    expect((await person.settings()).settings.model.value).toBe('demo')
    expect(problems).toEqual([])
    await context.close()
  })
})

describe('keys', () => {
  it('a saved key shows its last four characters, is removed by a button, and is erased with its address, which is said before', async () => {
    const { link, person } = await start()
    const { version } = await person.settings()
    await person.changeSettings(version, { model: 'openai:gpt-5', key: KEY })
    const { page, context, problems } = await visit(browser, link())
    await dialog(page).getByText('A key is saved. It ends in 7f3a.').waitFor()
    expect(await dialog(page).getByLabel('API key').count()).toBe(0)
    await dialog(page).getByText('Use another address').click()
    await dialog(page).getByLabel('Base URL').fill('https://gateway.example/v1')
    await dialog(page).getByText('Saving erases the saved key: it was entered for OpenAI').waitFor()
    // With a key for the new place nothing is said.
    await dialog(page).getByLabel('API key').fill(`${KEY}-2`)
    expect(await dialog(page).getByText('Saving erases').count()).toBe(0)
    await dialog(page).getByLabel('API key').fill('')
    await dialog(page).getByLabel('Base URL').fill('')
    await dialog(page).getByText('It ends in 7f3a.').waitFor()
    await dialog(page).getByRole('button', { name: 'Remove' }).click()
    await dialog(page).getByText('The key was removed.').waitFor()
    await dialog(page).getByText('This model needs a key.').waitFor()
    expect((await person.settings()).settings.key.is_set).toBe(false)
    expect(problems).toEqual([])
    await context.close()
  })
})

describe('what the person cannot change here', () => {
  it('a setting that an option or a variable fixes is locked, with its name and how to change it', async () => {
    const { link } = await start({
      fixed: {
        model: { value: 'openai:gpt-5', source: 'flag', by: '--model' },
        key: { value: KEY, source: 'environment', by: 'RUNSHEET_MODEL_KEY' },
        review: { value: true, source: 'environment', by: 'RUNSHEET_REVIEW' },
      },
    })
    const { page, context, problems } = await visit(browser, link())
    await dialog(page).getByText('Set by the option --model. To change it here, start the server without it.').waitFor()
    expect(await dialog(page).getByLabel('Model name').isDisabled()).toBe(true)
    expect(
      await dialog(page)
        .getByRole('radio', { name: /^OpenAI/ })
        .isDisabled(),
    ).toBe(true)
    // URL and key go together.
    expect(await dialog(page).getByLabel('Base URL').isDisabled()).toBe(true)
    expect(await dialog(page).getByText('Set by the variable RUNSHEET_MODEL_KEY.').count()).toBe(1)
    await dialog(page).getByText('Base URL and key go together, and RUNSHEET_MODEL_KEY sets the other one.').waitFor()
    const backgrounds = await dialog(page).evaluate(each =>
      [each, each.querySelector('input:disabled[type=url]') ?? each].map(
        part => getComputedStyle(part).backgroundColor,
      ),
    )
    expect(backgrounds[0]).not.toBe(backgrounds[1])
    await dialog(page).getByRole('tab', { name: 'Plans' }).click()
    expect(
      await dialog(page)
        .getByRole('switch', { name: /^Review plans/ })
        .isDisabled(),
    ).toBe(true)
    await dialog(page).getByText('Set by the variable RUNSHEET_REVIEW.').waitFor()
    expect(
      await dialog(page)
        .getByRole('switch', { name: /^Keep agents/ })
        .isDisabled(),
    ).toBe(false)
    expect(await page.content()).not.toContain(KEY)
    expect(problems).toEqual([])
    await context.close()
  })

  it('a change that another window overtook is not made; the page says so and keeps what was typed', async () => {
    const { link, person } = await start()
    const { page, context, problems } = await visit(browser, link(), { expected: /412|503/ })
    await fillIn(page, 'http://127.0.0.1:9/v1', KEY)
    await person.changeSettings((await person.settings()).version, { gate: false })
    await dialog(page).getByRole('button', { name: 'Save and try' }).click()
    await dialog(page).getByRole('alert').getByText('Nothing was saved: another window').waitFor()
    expect((await person.settings()).settings.model.value).toBe('demo')
    expect(await dialog(page).getByLabel('Model name').inputValue()).toBe('scripted')
    // A failure to write is told as what it is.
    await page.route('**/api/settings', route =>
      route.request().method() === 'PATCH'
        ? route.fulfill({ status: 503, json: { error: { code: 'settings_not_saved', message: 'No.' } } })
        : route.continue(),
    )
    await dialog(page).getByRole('button', { name: 'Save and try' }).click()
    await dialog(page).getByRole('alert').getByText('The server could not save this. Nothing was changed.').waitFor()
    await page.unroute('**/api/settings')
    await dialog(page).getByRole('button', { name: 'Save and try' }).click()
    await dialog(page).getByRole('alert').getByText('The model cannot be reached').waitFor()
    const { settings } = await person.settings()
    expect([settings.model.value, settings.gate.value]).toEqual(['openai-compatible:scripted', false])
    expect(problems).toEqual([])
    await context.close()
  })

  it('settings that cannot be loaded are told, and loaded by Retry', async () => {
    const { link } = await start()
    const { page, context, problems } = await visit(browser, link('?chat=c1'), { expected: /404|503/ })
    await page.route('**/api/settings', route =>
      route.fulfill({ status: 503, json: { error: { code: 'busy', message: 'Busy.' } } }),
    )
    await page.getByRole('button', { name: 'Settings' }).click()
    await dialog(page).getByRole('alert').getByText('The server is busy.').waitFor()
    await page.unroute('**/api/settings')
    await dialog(page).getByRole('button', { name: 'Retry' }).click()
    await dialog(page).getByRole('radio', { name: /^Demo/ }).waitFor()
    expect(problems).toEqual([])
    await context.close()
  })
})

it('the settings have a URL, keep the conversation, and close by Back; changes that are not saved are asked about', async () => {
  const { link } = await start()
  const { page, context, problems } = await visit(browser, link('?chat=c1&settings=display'), { expected: /404/ })
  await dialog(page).getByRole('tab', { name: 'Appearance', selected: true }).waitFor()
  await page.keyboard.press('Escape')
  await dialog(page).waitFor({ state: 'detached' })
  await expect.poll(() => new URL(page.url()).search).toBe('?chat=c1')
  await page.getByRole('button', { name: 'Settings' }).click()
  await dialog(page).getByRole('tab', { name: 'Model', selected: true }).focus()
  await page.keyboard.press('ArrowDown')
  await dialog(page).getByRole('tab', { name: 'Plans', selected: true }).waitFor()
  await page.keyboard.press('End')
  await expect.poll(() => new URL(page.url()).search).toBe('?chat=c1&settings=display')
  await page.goBack()
  await dialog(page).waitFor({ state: 'detached' })
  await page.goForward()
  await dialog(page).getByRole('tab', { name: 'Model' }).click()
  await dialog(page)
    .getByRole('radio', { name: /^Google/ })
    .check()
  await page.keyboard.press('Escape')
  await dialog(page).getByRole('alert').getByText('Your changes are not saved yet.').waitFor()
  await dialog(page).getByRole('button', { name: 'Keep editing' }).click()
  expect(
    await dialog(page)
      .getByRole('radio', { name: /^Google/ })
      .isChecked(),
  ).toBe(true)
  await dialog(page).getByRole('button', { name: 'Close' }).click()
  await dialog(page).getByRole('button', { name: 'Discard' }).waitFor()
  // Once nothing is left to save, the next edit is not asked about.
  await dialog(page).getByRole('radio', { name: /^Demo/ }).check()
  await dialog(page).getByRole('button', { name: 'Discard' }).waitFor({ state: 'detached' })
  await dialog(page)
    .getByRole('radio', { name: /^Google/ })
    .check()
  expect(await dialog(page).getByRole('button', { name: 'Discard' }).count()).toBe(0)
  await dialog(page).getByRole('button', { name: 'Close' }).click()
  await dialog(page).getByRole('button', { name: 'Discard' }).click()
  await dialog(page).waitFor({ state: 'detached' })
  expect(problems).toEqual([])
  await context.close()
})

it('review, deadline and gate are saved at once, for new conversations, and can be given back', async () => {
  const { link, person } = await serve()
  const { page, context, problems } = await visit(browser, link.replace('#', '?settings=reviews#'))
  const review = dialog(page).getByRole('switch', { name: /^Review plans/ })
  const saved = async () => (await person.settings()).settings
  await review.click()
  await dialog(page).getByText('Off: agents start without asking you.').waitFor()
  await expect.poll(async () => (await saved()).review).toMatchObject({ value: false, source: 'page' })
  await dialog(page).getByLabel('Deadline of a review').selectOption({ label: '1 hour' })
  await expect.poll(async () => (await saved()).review_timeout_ms.value).toBe(3_600_000)
  await dialog(page)
    .getByRole('switch', { name: /^Keep agents/ })
    .click()
  await expect.poll(async () => (await saved()).gate.value).toBe(false)
  await dialog(page).getByRole('button', { name: 'Use the default' }).first().click()
  await expect.poll(async () => (await saved()).review).toMatchObject({ value: true, source: 'default' })
  await expect.poll(() => review.isChecked()).toBe(true)
  expect(problems).toEqual([])
  await context.close()
})

it('language, theme and the plan’s place change at once and stay; the theme follows the system again', async () => {
  const { link } = await start()
  const { page, context, problems } = await visit(browser, link('?chat=c1&settings=display'), { expected: /404/ })
  const scheme = () => page.evaluate(() => getComputedStyle(document.documentElement).colorScheme)
  await dialog(page).getByRole('radio', { name: 'Dark' }).check()
  expect(await scheme()).toBe('dark')
  await dialog(page).getByRole('radio', { name: 'As the system' }).check()
  expect(await scheme()).toBe('light dark')
  await dialog(page).getByRole('switch', { name: 'Plan beside the conversation' }).check()
  const beside = page
    .locator('.app-head')
    .getByRole('button', { name: 'Plan beside the conversation', includeHidden: true })
  expect(await beside.getAttribute('aria-pressed')).toBe('true')
  await dialog(page).getByLabel('Language').selectOption('zh')
  const zh = page.getByRole('dialog', { name: '设置' })
  await zh.getByRole('radio', { name: '浅色' }).check()
  await page.reload()
  await zh.getByRole('radio', { name: '浅色', checked: true }).waitFor()
  expect(await scheme()).toBe('light')
  expect(problems).toEqual([])
  await context.close()
})

it('each toolset says in words what it is and what it turns on; one without review says so before anything is sent', async () => {
  const { link } = await start()
  const { page, context, problems } = await visit(browser, link('?chat=c1'), { expected: /404/ })
  const button = page.getByRole('button', { name: 'Toolset: Reviewed plan' })
  await button.click()
  const list = page.getByRole('group', { name: 'How the agent plans' })
  const runsheet = list.getByRole('radio', { name: /^Reviewed plan/, checked: true })
  expect(await runsheet.evaluate(each => each === document.activeElement)).toBe(true)
  await list.getByText('You approve the plan before anything runs. A judge checks each result.').waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowDown')
  await list.getByRole('radio', { name: /^To-do list/, checked: true }).waitFor()
  await page.keyboard.press('Enter')
  await list.waitFor({ state: 'hidden' })
  await page.getByRole('button', { name: 'Toolset: To-do list' }).waitFor()
  await page.getByRole('status').getByText('No review: the agent starts without asking you').waitFor()
  expect(await complaintsOfAxe(page)).toEqual([])
  await page.getByRole('button', { name: 'Toolset: To-do list' }).click()
  expect(await complaintsOfAxe(page)).toEqual([])
  await list.getByText('Task manager', { exact: true }).click()
  await list.waitFor({ state: 'hidden' })
  expect(await page.getByText('No review: the agent').count()).toBe(0)
  expect(problems).toEqual([])
  await context.close()
})

it('a new conversation says what the settings make true, at once and in every window', async () => {
  const { link, person } = await serve(['--review', 'off'])
  const { page, context, problems } = await visit(browser, link)
  await page.getByText('The agent plans and starts at once').waitFor()
  await page.getByText('No review: the agent starts without asking you').waitFor()
  expect(await page.getByText('You get a plan to edit').count()).toBe(0)
  await page.getByRole('button', { name: 'Toolset: Plan' }).click()
  const list = page.getByRole('group', { name: 'How the agent plans' })
  expect(await list.getByText('You approve').count()).toBe(0)
  expect(await list.getByText('No review', { exact: true }).count()).toBe(Object.keys(TOOLSETS).length)
  expect(await complaintsOfAxe(page)).toEqual([])
  // What it says is what the server does.
  await list.getByText('Task manager', { exact: true }).click()
  await page.getByLabel('What do you want done?').fill('Plan a picnic')
  await page.keyboard.press('Enter')
  await page.locator('.rs-todos').waitFor()
  const [session] = (await person.sessions()).sessions
  expect((await person.snapshot(session?.session_id ?? '')).conversation.policy).toMatchObject({
    toolset: 'task_manager',
    review: false,
  })
  expect(problems).toEqual([])
  await context.close()
})

it('it says what the default toolset does, whoever chose that', async () => {
  const { link, person } = await serve(['--toolset', 'checklist'])
  const { page, context, problems } = await visit(browser, link)
  await page.getByText('The agent adds it at once').waitFor()
  await page.getByRole('button', { name: 'Toolset: Checklist' }).waitFor()
  await page.getByText('No review: the agent starts without asking you').waitFor()
  expect(await page.getByText(/You get a plan|Approve the plan/).count()).toBe(0)
  await page.goto(new URL('/?settings=reviews', link).href)
  await dialog(page).getByText('Set by --toolset of the server.').waitFor()
  expect(
    await dialog(page)
      .getByRole('switch', { name: /^Review plans/ })
      .isChecked(),
  ).toBe(false)
  expect(await complaintsOfAxe(page)).toEqual([])
  await page.keyboard.press('Escape')
  await page.getByLabel('What do you want done?').fill('Buy milk. Call Ann.')
  await page.keyboard.press('Enter')
  await page.locator('.rs-todos').waitFor()
  const [session] = (await person.sessions()).sessions
  expect((await person.snapshot(session?.session_id ?? '')).conversation.policy).toMatchObject({
    toolset: 'checklist',
    review: false,
  })
  // What stays open is the person's: no warning, and nothing to continue.
  await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'hidden' })
  expect(await page.getByText(/Not finished|\d blocked/).count()).toBe(0)
  expect(await page.getByRole('button', { name: 'Continue' }).count()).toBe(0)
  expect(problems).toEqual([])
  await context.close()
})

it('a changed deadline or review shows in another window, in Chinese too', async () => {
  const { link } = await serve()
  const { page, context, problems } = await visit(browser, link)
  await page.getByText('You get a plan to edit before anything runs').waitFor()
  const other = await context.newPage()
  await other.goto(new URL('/?settings=reviews', link).href)
  await dialog(other).getByLabel('Deadline of a review').selectOption({ label: '1 hour' })
  const menu = page.getByRole('group', { name: 'How the agent plans' })
  await page.getByRole('button', { name: 'Toolset: Reviewed plan' }).click()
  await expect.poll(() => menu.getByText('You have 1 hour to decide; then nothing is started.').count()).toBe(2)
  await page.keyboard.press('Escape')
  await dialog(other)
    .getByRole('switch', { name: /^Review plans/ })
    .click()
  await page.getByText('The agent plans and starts at once').waitFor()
  await page.getByText('No review: the agent starts without asking you').waitFor()
  await other.keyboard.press('Escape')
  await other.getByText('The agent plans and starts at once').waitFor()
  await other.getByRole('button', { name: '中文' }).click()
  await other.getByText('智能体制定计划后立即开始').waitFor()
  await other.getByRole('button', { name: '计划', exact: false }).filter({ hasText: '计划' }).first().waitFor()
  await other.getByText('不审阅：智能体不经询问就会开始').waitFor()
  expect(await complaintsOfAxe(other)).toEqual([])
  expect(problems).toEqual([])
  await context.close()
})

describe('every page of the settings', () => {
  for (const locale of ['en-US', 'zh-CN']) {
    it(`passes axe in both themes and scrolls nothing sideways (${locale})`, async () => {
      const { link, person } = await start({
        fixed: { review: { value: true, source: 'flag', by: '--review' } },
      })
      const { version } = await person.settings()
      await person.changeSettings(version, {
        model: 'anthropic:claude-sonnet-4-5',
        key: KEY,
        assessor_model: 'openai:gpt-5',
      })
      for (const [width, height] of [
        [390, 740],
        [1280, 800],
      ] as const) {
        const { page, context, problems } = await visit(browser, link('?chat=c1'), {
          locale,
          viewport: { width, height },
          expected: /404/,
        })
        await page.locator('.app-calls').waitFor({ state: 'attached' })
        for (const name of ['model', 'reviews', 'notifications', 'display']) {
          await page.goto(new URL(`?chat=c1&settings=${name}`, link('')).href.replace(/#.*/, ''))
          await page.getByRole('tab', { selected: true }).waitFor()
          await page.locator('.app-set-page > :not(.app-quiet)').first().waitFor()
          expect(await complaintsOfAxe(page)).toEqual([])
          const wide = await page
            .locator('.app-set-page')
            .evaluate(each => [each.scrollWidth - each.clientWidth, document.documentElement.scrollWidth])
          expect(wide).toEqual([0, width])
        }
        expect(problems).toEqual([])
        await context.close()
      }
    })
  }
})
