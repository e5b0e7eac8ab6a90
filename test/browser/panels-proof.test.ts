import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { CheckSpec } from '../../src/core/proof/check.ts'
import type { RunOutcome } from '../../src/core/model/command.ts'
import type { TaskView } from '../../src/core/views/wire.ts'
import { plainMaker } from '../../src/engine/door/checks.ts'
import { complaintsOfAxe } from '../support/axe.ts'
import { Bench, LOOK, NPM_TEST, PLACE, proposed } from '../support/proof.ts'
import { boxOf, hasFocus, holds, says, SLOW_BROWSER } from './panels.ts'
import { BY_PLAN } from '../support/asked-by.ts'
import { builtPage, sharedBrowser } from '../support/page.ts'

const browser = await sharedBrowser()

const HASH = plainMaker.hash(NPM_TEST, PLACE)
const FILE: CheckSpec = { kind: 'file', path: 'CHANGES.md', contains: 'login' }
const FILE_HASH = plainMaker.hash(FILE, PLACE)
const FAILED: RunOutcome = { result: 'failed', exit: 1, duration_ms: 1_200, tail: 'expected <b>200</b> to be 302\n' }
const PASSED: RunOutcome = { result: 'passed', exit: 0, duration_ms: 900, tail: 'all 3 passed', fingerprint: 'f1' }

let bench: Bench
const contexts: BrowserContext[] = []
const problems: string[] = []

afterEach(async () => {
  await Promise.all(contexts.splice(0).map(context => context.close()))
  expect(problems.splice(0)).toEqual([])
})

async function visit(options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
  contexts.push(context)
  const page = await context.newPage()
  page.setDefaultTimeout(SLOW_BROWSER.timeout)
  page.on('pageerror', error => problems.push(String(error)))
  await page.goto(`${bench.server.url.href}?chat=c1#code=${bench.server.server.loginCode()}`)
  return page
}

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true })
const checked = (task: TaskView) => task.checks?.map(({ approved, state }) => [approved, state])

describe('the review', () => {
  beforeEach(async () => {
    bench = await Bench.set(true, { page: builtPage })
  })

  const box = (page: Page, check: string) => page.getByRole('checkbox', { name: `Run this check: ${check}` })
  const footer = (page: Page) => page.locator('.rs-approved > span')
  const confirm = async (page: Page): Promise<void> => {
    await button(page, /^Approve /).click()
    await page.getByRole('region', { name: 'Review the plan' }).waitFor({ state: 'detached' })
  }

  it('[PA11] proposed checks run only where the person ticks them', async () => {
    await bench.proposes({ title: 'A', checks: [proposed(NPM_TEST), proposed(FILE, 'file')] }, { title: 'B' })
    const page = await visit()
    await holds(page.getByLabel('Check, 1', { exact: true }), ['npm test'])
    await page.getByText('contains “login”').waitFor()
    expect(await box(page, 'npm test, 1').isChecked()).toBe(false)
    await box(page, 'npm test, 1').check()
    await says(footer(page), ['1 of 2 checks approved · 1 will not run'])
    await confirm(page)
    expect(checked(await bench.task())).toEqual([
      [true, 'waiting'],
      [false, 'waiting'],
    ])
  })

  it('globs that decide a check are off until the person switches them on', async () => {
    const row = { title: 'A', checks: [proposed(NPM_TEST)], scope: ['src/**'], asks_scope: ['test/**', 'package.json'] }
    await bench.proposes(row)
    const page = await visit()
    const scope = page.getByLabel('May change, 1')
    await holds(scope, ['src/**'])
    await page.getByRole('checkbox', { name: 'test/**' }).check()
    await holds(scope, ['src/**, test/**'])
    await page.getByRole('checkbox', { name: 'package.json' }).check()
    await page.getByRole('checkbox', { name: 'package.json' }).uncheck()
    await confirm(page)
    expect((await bench.task()).scope).toEqual(['src/**', 'test/**'])
  })

  it('[PA11] an edited check runs as the person wrote it, once they tick it, and a removed one is gone', async () => {
    await bench.proposes(
      { title: 'A', checks: [proposed(NPM_TEST), proposed(FILE, 'file')] },
      { title: 'B', checks: [proposed(NPM_TEST)] },
    )
    const page = await visit()
    await page.getByLabel('Check, 1', { exact: true }).fill('npm run "type check"')
    await page.getByLabel('Check, 2', { exact: true }).fill('npm testx')
    await says(footer(page), ['0 of 3 checks approved · 3 will not run'])
    await box(page, 'npm run "type check", 1').check()
    await button(page, 'Remove: CHANGES.md, 1').click()
    await says(footer(page), ['1 of 2 checks approved · 1 will not run'])
    await page.keyboard.press('Control+z')
    await says(footer(page), ['1 of 3 checks approved · 2 will not run'])
    await button(page, 'Remove: CHANGES.md, 1').click()
    await confirm(page)
    expect((await bench.task()).checks).toMatchObject([{ run: ['npm', 'run', 'type check'], approved: true }])
    expect((await bench.task(1)).checks).toMatchObject([{ run: ['npm', 'testx'], approved: false }])
  })

  it('a check is added as one line, counts while it is typed, and survives a reload with the approvals', async () => {
    await bench.proposes({ title: 'A', checks: [proposed(NPM_TEST)] }, { title: 'B' })
    const page = await visit()
    await box(page, 'npm test, 1').check()
    await button(page, 'More fields, 2').click()
    await button(page, 'Add a check, 2').press('Enter')
    await page.keyboard.type('npm run lint')
    // It would run: to press Approve adds it.
    await says(footer(page), ['2 of 2 checks approved'])
    await page.keyboard.press('Escape')
    await says(footer(page), ['1 of 1 check approved'])
    await button(page, 'Add a check, 2').press('Enter')
    await page.keyboard.type('npm run lint')
    await page.keyboard.press('Enter')
    await hasFocus(button(page, 'Add a check, 2'))
    await page.getByLabel('May change, 2').fill('test/**, *.json')
    await says(footer(page), ['2 of 2 checks approved'])
    await page.reload()
    await says(footer(page), ['2 of 2 checks approved'])
    await holds(page.getByLabel('Check, 2', { exact: true }), ['npm run lint'])
    await confirm(page)
    expect(checked(await bench.task(0))).toEqual([[true, 'waiting']])
    expect(await bench.task(1)).toMatchObject({
      scope: ['test/**', '*.json'],
      checks: [{ run: ['npm', 'run', 'lint'], approved: true }],
    })
  })

  it('the commands of the workspace are offered to pick from', async () => {
    await bench.offers(['npm test', 'npm run lint'], { title: 'A' })
    const page = await visit()
    await button(page, 'More fields, 1').click()
    await button(page, 'Add a check, 1').click()
    const input = page.getByRole('combobox', { name: 'Add a check, 1' })
    const offered = await input.evaluate((each: HTMLInputElement) =>
      [...(each.list?.options ?? [])].map(({ value }) => value),
    )
    expect(offered).toEqual(['npm test', 'npm run lint'])
    await input.fill('npm run lint')
    await page.keyboard.press('Enter')
    await confirm(page)
    expect((await bench.task()).checks).toMatchObject([{ run: ['npm', 'run', 'lint'], approved: true }])
  })

  it('what the server refuses is said at the row, with the focus on the check', async () => {
    await bench.proposes({ title: 'A', checks: [proposed(NPM_TEST)] })
    const page = await visit()
    await page.getByLabel('Check, 1', { exact: true }).fill('npm test | tee log')
    await button(page, /^Approve /).click()
    await page.getByText('The check must be one command without shell syntax').waitFor()
    await hasFocus(page.getByLabel('Check, 1', { exact: true }))
    await page.getByLabel('Check, 1', { exact: true }).fill('echo done')
    await button(page, /^Approve /).click()
    await page.getByText('The check must be a command that can fail').waitFor()
    await page.getByLabel('Check, 1', { exact: true }).fill('')
    await button(page, /^Approve /).click()
    await page.getByText('The check cannot be empty.').waitFor()
  })

  it('without a workspace no check is offered', async () => {
    const ref = { tenant: 'local', conversation: 'c1' }
    await bench.server.door.run(ref, {
      type: 'open_turn',
      turn_id: 't2',
      toolset: 'runsheet',
      host: { review: true, assessor: false },
    })
    await bench.server.door.run(ref, {
      type: 'edit_tasks',
      by: 'model',
      turn_id: 't2',
      create: [{ title: 'A', id: bench.server.door.newId() }],
      review: { ...BY_PLAN, review_id: 'rev_2', tool_call_id: 'call-9' },
    })
    const page = await visit()
    await button(page, 'More fields, 1').click()
    await page.getByLabel('Details, 1').waitFor()
    expect(await button(page, 'Add a check, 1').count()).toBe(0)
    expect(await page.getByLabel('May change, 1').count()).toBe(0)
  })

  it('the footer counts what will run, and shows the next check that is not approved', async () => {
    await bench.proposes(
      { title: 'A', checks: [proposed(NPM_TEST), proposed(LOOK, 'look')] },
      { title: 'B', checks: [proposed(FILE, 'file')] },
    )
    const page = await visit()
    await says(footer(page), ['0 of 2 checks approved · 2 will not run'])
    for (const [show, check] of [
      ['Show next', 'npm test, 1'],
      ['Show it', 'CHANGES.md, 2'],
    ] as const) {
      await button(page, show).click()
      await hasFocus(box(page, check))
      await page.keyboard.press('Space')
    }
    await says(footer(page), ['2 of 2 checks approved'])
    expect(await button(page, 'Show it').count()).toBe(0)
    // To approve a check is not to edit its step.
    expect(await page.locator('.rs-row-mark').count()).toBe(0)
    await page.keyboard.press('Control+z')
    await says(footer(page), ['1 of 2 checks approved · 1 will not run'])
    await box(page, 'CHANGES.md, 2').check()
    await button(page, /^Approve /).click()
    await page.getByRole('region', { name: 'Plan' }).waitFor()
    expect([checked(await bench.task(0)), checked(await bench.task(1))]).toEqual([
      [
        [true, 'waiting'],
        [true, 'waiting'],
      ],
      [[true, 'waiting']],
    ])
  })
})

describe('the plan', () => {
  const plan = (page: Page) => page.getByRole('region', { name: 'Plan' })
  const mark = (page: Page) => plan(page).locator('.rs-mark')
  const section = (page: Page) => plan(page).getByRole('group', { name: 'Checks: A' })
  const state = (page: Page) => section(page).locator('.rs-check-state')

  beforeEach(async () => {
    bench = await Bench.set(false, { page: builtPage })
  })

  /** A window with the list open. */
  async function opened(options: BrowserContextOptions = {}): Promise<Page> {
    const page = await visit(options)
    await page.locator('.rs-summary').click()
    await plan(page).getByRole('listitem').first().waitFor()
    return page
  }

  /** A task whose check was red at the start. */
  async function red(...checks: readonly CheckSpec[]): Promise<TaskView> {
    const task = await bench.adds(NPM_TEST, ...checks)
    await bench.ran(HASH, 'baseline', FAILED)
    if (checks.includes(FILE)) await bench.ran(FILE_HASH, 'baseline', { result: 'failed', duration_ms: 1 })
    return task
  }

  async function proven(guards: Partial<RunOutcome> = {}): Promise<TaskView> {
    const task = await red()
    await bench.claims(task)
    await bench.ran(HASH, 'claim', { ...PASSED, ...guards })
    await bench.settles(task)
    return task
  }

  it('[CR24] a check that is not what was approved says so, and is approved anew as it is now', async () => {
    await bench.adds(NPM_TEST)
    const reason = 'It was approved with /usr/bin/npm, which is gone.'
    await bench.ran(HASH, 'baseline', { result: 'inconclusive', duration_ms: 0, reason, changed: true })
    const hash = vi.spyOn(plainMaker, 'hash').mockReturnValue('of-another-program')
    onTestFinished(() => hash.mockRestore())
    const page = await opened()
    await mark(page).click()
    await section(page).getByText(reason).waitFor()
    await button(page, 'Approve: npm test').click()
    await says(state(page), ['waiting to run'])
    expect((await bench.task()).checks).toMatchObject([{ hash: 'of-another-program', approved: true }])
  })

  it('a completed task shows its standing in one word, with an icon', async () => {
    await proven()
    const { person } = bench.server
    const byPerson = await person.addTask('c1', { title: 'B' })
    await person.changeTask('c1', byPerson.task.id, byPerson.task.version, { status: 'completed' })
    const byModel = await person.addTask('c1', { title: 'C' })
    // The call that leaves nothing open would wait for the checks of the plan.
    await person.addTask('c1', { title: 'D' })
    const change = [{ task: byModel.task.id, fields: { status: 'completed', outcome: 'Done.' } as const }]
    const { seq } = await bench.server.door.read({ tenant: 'local', conversation: 'c1' })
    await bench.run({ type: 'edit_tasks', by: 'model', turn_id: 't1', basis: seq, change })
    const page = await opened()
    await says(mark(page), ['proven', 'confirmed', 'reported'])
    const icons = mark(page).locator('svg')
    const shapes = await icons.evaluateAll(all => all.map(icon => icon.innerHTML))
    expect(new Set(shapes).size).toBe(3)
    await button(page, 'reported: C').click()
    await plan(page).getByText('Reported: only the agent says so.').waitFor()
    await button(page, 'Confirm: C').click()
    await button(page, 'confirmed: C').waitFor()
    await plan(page).getByText('Confirmed: you settled it.').waitFor()
  })

  it('an open row shows each check, its last run and the end of its output as text', async () => {
    await red()
    const page = await opened()
    await button(page, '1 check: A').press('Enter')
    await says(state(page), ['failed · exit 1 · 1.2 s'])
    const output = section(page).getByRole('group', { name: 'Output: npm test' })
    expect(await output.innerText()).toContain('expected <b>200</b> to be 302')
    expect(await output.getAttribute('tabindex')).toBe('0')
    await button(page, 'Run again: npm test').click()
    await says(state(page), ['waiting to run'])
    await bench.begins(HASH, 'person')
    await expect.poll(() => state(page).innerText(), SLOW_BROWSER).toMatch(/^running · 0:\d\d$/)
    await button(page, 'checking: npm test: A').waitFor()
    await button(page, 'Stop: npm test').click()
    await section(page).getByText('It was stopped.').waitFor()
    await bench.server.person.runCheck('c1', (await bench.task()).id, (await bench.task()).checks?.[0]?.id ?? '')
    await bench.ran(HASH, 'person', PASSED)
    await says(state(page), ['passed · 0.9 s'])
    await button(page, 'Show output: npm test').click()
    await hasFocus(output)
    expect(await output.innerText()).toBe('all 3 passed')
  })

  it('a check that passed at the start says that it only guards', async () => {
    const task = await bench.adds(NPM_TEST)
    await bench.ran(HASH, 'baseline', PASSED)
    const page = await opened()
    await button(page, '1 check: A').click()
    await section(page).getByText('passes already: guards only').waitFor()
    await bench.claims(task)
    await bench.ran(HASH, 'claim', PASSED)
    await bench.settles(task)
    await button(page, 'reported: A').waitFor()
  })

  it('an unapproved check is approved, edited and removed there, and another is added', async () => {
    const task = await bench.adds(NPM_TEST)
    await bench.ran(HASH, 'baseline', FAILED)
    const create = [{ title: 'M', id: bench.server.door.newId(), checks: [proposed(FILE, 'file')] }]
    await bench.run({ type: 'edit_tasks', by: 'model', turn_id: 't1', create })
    const page = await opened()
    const own = plan(page).getByRole('group', { name: 'Checks: M' })
    await button(page, '1 check not approved: M').click()
    await says(own.locator('.rs-check-state'), ['not approved'])
    await button(page, 'Approve: CHANGES.md exists').click()
    await says(own.locator('.rs-check-state'), ['waiting to run'])
    await button(page, 'Add a check: M').click()
    await page.keyboard.type('npm run lint && true')
    await page.keyboard.press('Enter')
    await plan(page).getByRole('alert').getByText('The check must be one command').waitFor()
    await holds(own.getByLabel('Add a check: M'), ['npm run lint && true'])
    await own.getByLabel('Add a check: M').fill('npm run lint')
    await page.keyboard.press('Enter')
    await button(page, 'Edit: npm run lint').click()
    await own.getByRole('textbox').fill('npm run types')
    await page.keyboard.press('Enter')
    await says(own.locator('.rs-check-label'), ['CHANGES.md exists contains “login”', 'npm run types'])
    await button(page, 'Remove: CHANGES.md exists').click()
    await says(own.locator('.rs-check-label'), ['npm run types'])
    expect((await bench.task(1)).checks).toMatchObject([{ run: ['npm', 'run', 'types'], approved: true }])
    expect((await bench.task(0)).id).toBe(task.id)
  })

  it('[HD1] a held-out check is added there, and shown with what it is and what it printed', async () => {
    await bench.adds(NPM_TEST)
    await bench.ran(HASH, 'baseline', FAILED)
    const page = await opened()
    await button(page, '1 check: A').click()
    await button(page, 'Add a held-out check: A').click()
    await page.keyboard.type('npm run secret')
    await page.keyboard.press('Enter')
    await says(section(page).locator('.rs-check-label'), ['npm test', 'held out: npm run secret'])
    const hidden = (await bench.task()).checks?.[1]
    expect(hidden).toMatchObject({ run: ['npm', 'run', 'secret'], hidden: true, approved: true })
    await bench.ran(hidden?.hash ?? '', 'baseline', { ...FAILED, tail: 'the secret is out' })
    await button(page, 'Show output: held out: npm run secret').click()
    await section(page).getByText('the secret is out').waitFor()
  })

  it('changes outside the scope wait until the person accepts them, protected ones one by one', async () => {
    await proven({
      changes: [
        { path: 'package.json', is: 'protected', hash: 'g1' },
        { path: 'notes.txt', is: 'outside' },
        { path: 'git:c0ffee', is: 'git', hash: 'g2', files: 312 },
      ],
    })
    const page = await opened()
    await button(page, 'reported · files changed: A').click()
    await says(section(page).locator('.rs-file-changes li'), [
      'package.json\nAccept',
      'notes.txt',
      'from git: 312 files',
    ])
    await button(page, 'Accept package.json').click()
    await says(section(page).locator('.rs-file-changes li'), ['notes.txt', 'from git: 312 files'])
    await button(page, 'Accept changes').click()
    await button(page, 'proven: A').waitFor()
    await section(page).getByText('failed before, passes now').waitFor()
    expect(await section(page).locator('.rs-file-changes').count()).toBe(0)
  })

  it('a claim shows what it waits for: its check, or the person', async () => {
    const task = await red(LOOK)
    const page = await opened()
    await bench.claims(task)
    await says(mark(page), ['checking: npm test'])
    await bench.ran(HASH, 'claim', FAILED)
    await bench.refuses()
    await says(mark(page), ['npm test: failed'])
    await bench.claims(task, 'call-3')
    await bench.ran(HASH, 'claim', PASSED)
    await says(mark(page), ['waits for you'])
    await mark(page).click()
    await button(page, 'Tick: Does the page load?').click()
    await section(page).getByText('you ticked it').waitFor()
    await bench.settles(task, 'call-3')
    await says(mark(page), ['proven'])
    await section(page).getByRole('button', { name: 'Reopen' }).click()
    await expect.poll(async () => (await bench.task()).status, SLOW_BROWSER).toBe('in_progress')
    await button(page, 'Mark as done: A').click()
    await expect.poll(async () => (await bench.task()).judged_by, SLOW_BROWSER).toBe('person')
  })

  it('the line of a finished plan says how far it can be trusted', async () => {
    await proven()
    const { task } = await bench.server.person.addTask('c1', { title: 'B' })
    const page = await visit({ viewport: { width: 390, height: 800 } })
    await says(plan(page).locator('.rs-counts'), ['1 of 2 done · 1 remaining'])
    await bench.claims(task, 'call-5')
    await bench.settles(task, 'call-5')
    const tally = plan(page).locator('.rs-current')
    // The thread says it.
    await says(page.getByRole('note'), ["All 2 steps done · 1 proven, 1 on the agent's word"])
    await says(tally, ['2 steps'])
    await button(page, 'History').click()
    await says(tally, ["2 of 2 done: 1 proven, 1 on the agent's word"])
    expect((await boxOf(tally)).height).toBeGreaterThan(30)
    await says(plan(page).locator('p[role=status]').first(), ["2 of 2 done: 1 proven, 1 on the agent's word"])
  })

  it('an open row lists verdicts with their reasons, and tool calls with their answers', async () => {
    const task = await red()
    const { agent } = bench.server
    const answer = 'expected <b>200</b>'
    await agent.addEvidence('c1', { tool: 'Bash', arguments: { command: 'curl' }, answer, ok: false })
    const page = await opened()
    await button(page, '1 check: A').click()
    const calls = section(page).getByRole('list', { name: 'Evidence' }).getByRole('listitem')
    await says(calls.locator('summary'), ['Bash curl\nagent says\nfailed'])
    await calls.locator('summary').click()
    await calls.getByText(answer).waitFor()
    await bench.run({ type: 'set_policy', by: 'person', policy: { assessor: true } })
    await bench.claims(task, 'call-2', true)
    const model = 'scripted:judge'
    const said = { type: 'assess_task', turn_id: 't1', task: task.id, model, seal: 'sealed' } as const
    await bench.run({ ...said, verdict: 'not_ok', reason: 'The request still fails.' })
    const verdicts = section(page).getByRole('list', { name: 'Verdicts' }).getByRole('listitem')
    await says(verdicts, ['The request still fails. scripted:judge\nnot accepted'])
    await bench.run({ ...said, verdict: 'ok', reason: '', rests: 'words' })
    await says(verdicts.last(), ['No reason given scripted:judge · on words alone\naccepted'])
    await agent.addEvidence('c1', { tool: 'Read', answer: 'fine', ok: true })
    await says(calls.locator('.rs-check-label'), ['Bash curl', 'Read'])
  })

  it('the checks of the whole plan are below its tasks, and named in its review', async () => {
    bench = await Bench.set(true, { page: builtPage, done: [proposed(NPM_TEST, 'done-1')] })
    await bench.proposes({ title: 'A' })
    const page = await visit()
    await page.getByText('Before the plan ends: npm test').waitFor()
    await button(page, /^Approve /).click()
    await page.locator('.rs-summary').click()
    const own = page.locator('.rs-plan-checks')
    await says(own.locator('.rs-check-state'), ['not run yet'])
    await bench.run({ type: 'take_baseline', turn_id: 't1', plan_id: 't1', record: null })
    await bench.run({ type: 'request_final', turn_id: 't1' })
    await bench.ran(HASH, 'final', FAILED)
    await says(own.locator('.rs-check-state'), ['failed · exit 1 · 1.2 s'])
    await own.getByText('expected <b>200</b> to be 302').waitFor()
  })

  it('the history tells what was approved, ran, was accepted and ticked', async () => {
    const task = await red(LOOK)
    await bench.claims(task)
    await bench.ran(HASH, 'claim', { ...PASSED, changes: [{ path: 'package.json', is: 'protected', hash: 'g1' }] })
    await bench.server.person.tickCheck('c1', task.id, task.checks?.[1]?.id ?? '')
    await bench.settles(task)
    await bench.server.person.acceptChanges('c1', task.id, ['package.json'])
    const page = await visit()
    await button(page, 'History').click()
    await page.locator('.app-task-history').click()
    await says(page.locator('.app-task-history-events li span'), [
      'Added: A (you)',
      'A: npm test approved (you)',
      'A: npm test failed · exit 1 · 1.2 s (before the work)',
      'A: npm test passed · 0.9 s (reported as done)',
      'A: ticked “Does the page load?” (you)',
      'A: in progress → done, outcome changed (agent)',
      'A: changes accepted to package.json (you)',
    ])
  })
})

it('axe finds nothing to complain about, light or dark, and nothing scrolls sideways', async () => {
  bench = await Bench.set(true, { page: builtPage })
  const found: string[] = []
  const look = async (page: Page, view: string, width: number): Promise<void> => {
    await page.setViewportSize({ width, height: 800 })
    const complaints = await complaintsOfAxe(page)
    found.push(...complaints.map(each => `${view} ${width}: ${each}`))
  }
  const measure = async (page: Page, view: string): Promise<void> => {
    for (const width of [390, 1280, 1920]) {
      await page.setViewportSize({ width, height: 800 })
      const isWide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)
      if (isWide) found.push(`${view} ${width}: scrolls sideways`)
    }
  }
  const review = await bench.proposes({ title: 'A', checks: [proposed(NPM_TEST), proposed(LOOK, 'look')] })
  const page = await visit({ reducedMotion: 'reduce' })
  await button(page, 'More fields, 1').click()
  await button(page, 'Add a check, 1').click()
  await measure(page, 'review')
  await look(page, 'review', 390)
  await bench.confirms(review, { draft_index: 0, approve: [HASH] })
  const task = await bench.task()
  await bench.ran(HASH, 'baseline', FAILED)
  await bench.claims(task)
  await bench.ran(HASH, 'claim', { ...PASSED, changes: [{ path: 'package.json', is: 'protected', hash: 'g1' }] })
  await bench.server.person.tickCheck('c1', task.id, task.checks?.[1]?.id ?? '')
  await bench.settles(task)
  await page.locator('.rs-summary').click()
  await page.locator('.rs-mark').click()
  await button(page, 'Show output: npm test').click()
  await page.locator('.rs-output').waitFor()
  await measure(page, 'plan')
  await look(page, 'plan', 390)
  await look(page, 'plan', 1280)
  expect(found).toEqual([])
})
