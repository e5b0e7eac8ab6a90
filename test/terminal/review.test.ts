import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { CheckSpec } from '../../src/domain/check.ts'
import { planStatus } from '../../src/domain/plan-status.ts'
import type { ReviewRequest } from '../../src/domain/review.ts'
import type { Door } from '../../src/door/door.ts'
import { BUILT, runCli } from '../support/children.ts'
import { hostOf, overStdio } from '../support/mcp.ts'
import { ownDatabase, postgresUrl } from '../support/postgres-store.ts'
import { CTRL_C, inPty, noPty, type Pty } from '../support/pty.ts'
import { Agent, checkIn, doorAt, type Site, site, workspaceIn } from '../support/terminal-scene.ts'

const LINT: CheckSpec = { kind: 'command', run: ['npm', 'run', 'lint'] }
const TEST: CheckSpec = { kind: 'command', run: ['npm', 'test', '--', '-t', 'a  b'], timeout_ms: 90_000 }

/** The last line of the keys. */
const KEYS = '(it goes on waiting)\n'

const review = (
  { folder, home }: Site,
  env: Readonly<Record<string, string>> = {},
  args: readonly string[] = [],
): Pty => inPty(['review', ...args], { cwd: folder, env: { HOME: home, TMPDIR: home, NO_COLOR: '1', ...env } })

/** A program that is used as an editor. */
function editor({ home }: Site, ...lines: readonly string[]): { EDITOR: string } {
  const file = join(home, 'editor')
  writeFileSync(file, ['#!/bin/sh', 'set -e', ...lines, ''].join('\n'))
  chmodSync(file, 0o755)
  return { EDITOR: file }
}

const pending = async (door: Door): Promise<readonly ReviewRequest[]> =>
  (await door.reviews.waiting('local', undefined, { limit: 10 })).items

const decisionOf = async (agent: Agent): Promise<unknown> => (await agent.resolution()).at(-1)?.data

describe(`runsheet review${noPty}`, { skip: noPty !== '' }, () => {
  it('lists the plans that wait; one key decides each, as the person at a terminal', async () => {
    const place = site()
    const door = await doorAt(place)
    const agents = await Promise.all(['one', 'two', 'three'].map(name => new Agent(door, name).opens()))
    for (const [index, agent] of agents.entries())
      await agent.plans(`Plan ${index + 1}`, { title: 'Then', details: 'More.\nLines.' })
    const pty = review(place)
    await pty.until('3 plans wait for you:')
    await pty.until('Which one?')
    pty.type('2')
    await pty.until(KEYS)
    pty.type('c')
    await pty.until('What should the agent change?')
    pty.type('Split it\r')
    await pty.until('Sent back: nothing was written.')
    await pty.until('Which one?')
    pty.type('1')
    await pty.until(KEYS)
    pty.type('r')
    await pty.until('Why?')
    pty.type('Not now\r')
    await pty.until('Rejected: nothing was written.')
    await pty.until(KEYS)
    // Neither what was pasted nor other keys are answers.
    for (const keys of ['aaa', '\u001b[A', 'z']) {
      pty.type(keys)
      await pty.until('\u0007')
    }
    expect(await pending(door)).toHaveLength(1)
    pty.type('a')
    await pty.until('Approved: 2 steps written.')
    expect(await pty.ended).toBe(0)
    const origin = { actor: 'person', edge: 'terminal' }
    expect(await Promise.all(agents.map(decisionOf))).toMatchObject([
      { action: 'cancel', reason: 'user_cancelled', comment: 'Not now', via: 'terminal', origin },
      { action: 'cancel', reason: 'changes_requested', comment: 'Split it', via: 'terminal', origin },
      { action: 'confirm', created_count: 2, via: 'terminal', origin },
    ])
    expect(pty.raw()).not.toContain('\u001b[1m')
  })

  it('[DS4][DS5] shows disputes beside the plans, and one key answers each, as the person at a terminal', async () => {
    const place = site()
    const door = await doorAt(place)
    const agent = await new Agent(door, 'one').opens({ review: false }, { workspace: workspaceIn(place.folder) })
    await agent.plans({ title: 'Count', criteria: 'it is 4', checks: [checkIn(place.folder, TEST)] }, 'Add', 'Tell')
    await agent.disputes(1, 'The test wants 3.')
    await agent.disputes(2, 'Nothing to add to.')
    await agent.disputes(3, 'Nobody is there.')
    await (await new Agent(door, 'two').opens()).plans('A plan')
    const pty = review(place)
    await pty.until('4 decisions wait for you:')
    await pty.until('Which one?')
    expect(pty.shown()).toMatch(/^ 2 {2}disputed: Count\n {4}asked \d+ s ago, conversation one$/m)
    pty.type('2')
    await pty.until(KEYS)
    for (const shown of [
      'The agent disputes step 1',
      'Done when: it is 4',
      "Check: npm test -- -t 'a  b'",
      'The test wants 3.',
    ])
      expect(pty.shown()).toContain(shown)
    pty.type('c')
    await pty.until('Its new check, one command')
    pty.type('npm run lint\r')
    await pty.until('The check was changed')
    await pty.until('Which one?')
    pty.type('2')
    await pty.until(KEYS)
    pty.type('i')
    await pty.until('A comment for the agent')
    pty.type('Use 4.\r')
    await pty.until('Insisted: the task is open again.')
    await pty.until('Which one?')
    pty.type('2')
    await pty.until(KEYS)
    pty.type('d')
    await pty.until('Settled as done.')
    await pty.until(KEYS)
    pty.type('q')
    expect(await pty.ended).toBe(0)
    expect(await agent.tasks()).toMatchObject([
      { status: 'in_progress', checks: [{ run: ['npm', 'run', 'lint'] }], dispute: { ended: { how: 'changed' } } },
      { status: 'pending', dispute: { ended: { how: 'insisted', comment: 'Use 4.' } } },
      { status: 'completed', judged_by: 'person', dispute: { ended: { how: 'settled' } } },
    ])
  })

  it('plans that begin alike are told apart: when each was asked, and of which conversation it is', async () => {
    const place = site()
    const door = await doorAt(place)
    for (const name of ['left-chat', 'open-chat']) {
      await (await new Agent(door, name).opens()).plans(`Collect the figures ${'of all shops '.repeat(10)}`, 'Write')
    }
    const pty = review(place)
    await pty.until('Which one?')
    expect(pty.shown()).toMatch(
      /^ 1 {2}Collect the figures .*… \(2 steps\)\n {4}asked \d+ s ago, conversation left-chat\n 2 {2}Collect the figures .*… \(2 steps\)\n {4}asked \d+ s ago, conversation open-chat$/m,
    )
    pty.type('2')
    await pty.until(KEYS)
    expect(pty.shown()).toMatch(/^2 steps to review, asked \d+ s ago, without a deadline$/m)
    pty.type('q')
    expect(await pty.ended).toBe(0)
  })

  it('approving lets exactly the checks run that are shown, in full', async () => {
    const place = site()
    const agent = await new Agent(await doorAt(place), 'chat').opens({}, { workspace: workspaceIn(place.folder) })
    const [lint, test] = [checkIn(place.folder, LINT, 'c1'), checkIn(place.folder, TEST, 'c2')]
    await agent.plans({ title: 'Fix', criteria: 'it works', checks: [lint, test], priority: 'high' }, 'Tell')
    const pty = review(place, { NO_COLOR: '' })
    await pty.until('let the 2 checks marked [x] run')
    await pty.until(KEYS)
    expect(pty.shown()).toContain(
      [
        ' 1  Fix',
        '    high priority',
        '    Done when: it works',
        '    [x] npm run lint',
        "    [x] npm test -- -t 'a  b'",
        '        timeout: 90s',
        '',
        ' 2  Tell',
      ].join('\n'),
    )
    expect(pty.raw()).toContain('\u001b[1mFix\u001b[22m')
    pty.type('a')
    await pty.until('Approved: 2 steps written, and 2 checks may run.')
    expect(await agent.approvals()).toMatchObject([
      { data: { hash: lint.hash, via: 'review' } },
      { data: { hash: test.hash, via: 'review' } },
    ])
  })

  it('e opens the plan in the editor, again with the mistake on top, and shows what was made of it', async () => {
    const place = site()
    const agent = await new Agent(await doorAt(place), 'chat').opens({}, { workspace: workspaceIn(place.folder) })
    const [lint, test] = [checkIn(place.folder, LINT, 'c1'), checkIn(place.folder, TEST, 'c2')]
    await agent.plans({ title: 'Fix', checks: [lint] }, { title: 'Tell', checks: [test] }, 'Drop me')
    const seen = join(place.home, 'seen')
    const env = editor(
      place,
      `if [ ! -e ${seen} ]; then cp "$1" ${seen}; printf '## [2] Tell all\\n- [ ] npm test\\n' > "$1"; exit 0; fi`,
      `cp "$1" ${seen}`,
      `printf '## [2] Tell all\\n- [x] npm run build\\n\\n## [1] Fix\\n- [ ] npm run lint\\n\\n## Mine\\n' > "$1"`,
    )
    const pty = review(place, env)
    await pty.until(KEYS)
    pty.type('e')
    await pty.until('approve as edited, and let the check marked [x] run')
    await pty.until(KEYS)
    expect(readFileSync(seen, 'utf8')).toMatch(
      /^# ERROR in line 5: a check that you write is yours and runs\. Mark it \[x\], or delete it\.\n.*\n# ----\n## \[2\] Tell all\n- \[ \] npm test\n/,
    )
    expect(pty.shown()).toContain(
      [
        ' 1  Tell all (edited)',
        '    [x] npm run build',
        '',
        ' 2  Fix',
        '    [ ] npm run lint',
        '        (not approved: it never runs)',
        '',
        ' 3  Mine (added)',
        '',
        'Removed: Drop me',
      ].join('\n'),
    )
    expect(await decisionOf(agent)).toBeUndefined()
    pty.type('a')
    expect(await pty.ended).toBe(0)
    expect(await agent.titles()).toEqual(['Tell all', 'Fix', 'Mine'])
    expect(await decisionOf(agent)).toMatchObject({
      changes: { added: [{ title: 'Mine' }], removed: [{ title: 'Drop me' }], reordered: true },
    })
    expect((await agent.approvals()).map(({ data }) => data)).toMatchObject([
      { task_id: expect.any(String) as string, via: 'review' },
    ])
  })

  it('what was typed before, an emptied file, a failing editor and Ctrl-C decide nothing', async () => {
    const place = site()
    const door = await doorAt(place)
    await (await new Agent(door, 'chat').opens()).plans('Fix')
    const failing = join(place.home, 'fails')
    const pty = review(place, editor(place, `[ ! -e ${failing} ] || exit 3`, ': > "$1"'))
    // Typed before anything was asked.
    pty.type('a')
    await pty.until(KEYS)
    pty.type('e')
    await pty.until('The file was empty: nothing was changed')
    await pty.until(KEYS)
    writeFileSync(failing, '')
    pty.type('e')
    await pty.until('it ended with 3.')
    await pty.until(KEYS)
    pty.type('c')
    await pty.until('What should the agent change?')
    pty.type('\r')
    await pty.until(KEYS)
    pty.type(CTRL_C)
    expect(await pty.ended).toBe(130)
    expect(await pending(door)).toHaveLength(1)
  })

  it('a decision made elsewhere is told, and edits are kept in a file', async () => {
    const place = site()
    const door = await doorAt(place)
    const first = await (await new Agent(door, 'one').opens()).plans('Plan 1')
    const pty = review(place, editor(place, `sed -i 's/Plan 2/My plan/' "$1"`))
    await pty.until(KEYS)
    const second = await (await new Agent(door, 'two').opens()).plans('Plan 2')
    pty.type('c')
    await pty.until('What should the agent change?')
    await door.reviews.decide('local', first, { action: 'confirm', tasks: [{ draft_index: 0 }] }, 'http')
    pty.type('Split it\r')
    await pty.until('Not decided here: it was approved on the page or over HTTP a moment before.')
    await pty.until(KEYS)
    pty.type('e')
    await pty.until('My plan (edited)')
    await pty.until(KEYS)
    await door.reviews.decide('local', second, { action: 'cancel' }, 'mcp_form')
    await pty.until("Not decided here: it was rejected in the agent's host a moment before.")
    await pty.until('Your edits are kept in ')
    expect(await pty.ended).toBe(0)
    const [, kept = ''] = /kept in (\S+)\n/.exec(pty.shown()) ?? []
    expect(readFileSync(kept, 'utf8')).toContain('## [1] My plan\n')
  })

  it('a plan that the agent replaces while it is edited is told, and the new one is shown', async () => {
    const place = site()
    const door = await doorAt(place)
    const agent = await new Agent(door, 'chat').opens()
    await agent.plans('Old plan')
    const [opened, go] = [join(place.home, 'opened'), join(place.home, 'go')]
    execFileSync('mkfifo', [go])
    const pty = review(place, editor(place, `sed -i 's/Old/Better/' "$1"`, `: > ${opened}`, `read line < ${go}`))
    await pty.until(KEYS)
    pty.type('e')
    await expect.poll(() => existsSync(opened)).toBe(true)
    await agent.plans('New plan')
    writeFileSync(go, 'on\n')
    await pty.until('Not decided here: The agent has proposed another plan instead.')
    await pty.until('Your edits are kept in ')
    await pty.until(' 1  New plan')
    await pty.until(KEYS)
    pty.type('s')
    expect(await pty.ended).toBe(0)
    const [, kept = ''] = /kept in (\S+)\n/.exec(pty.shown()) ?? []
    expect(readFileSync(kept, 'utf8')).toContain('## [1] Better plan\n')
    expect(await pending(door)).toMatchObject([{ draft_tasks: [{ title: 'New plan' }] }])
  })

  it('says that nothing waits, and with --wait waits for the next plan', async () => {
    const place = site()
    const empty = review(place)
    await empty.until(`Nothing waits for you in ${join(place.home, '.runsheet')}.`)
    expect(await empty.ended).toBe(0)
    const door = await doorAt(place)
    const agent = await new Agent(door, 'chat').opens()
    const pty = review(place, {}, ['--wait'])
    await pty.until('Waiting for a plan to review')
    await agent.plans('Fix')
    await pty.until(' 1  Fix')
    await pty.until(KEYS)
    pty.type('q')
    expect(await pty.ended).toBe(0)
    expect(await pending(door)).toHaveLength(1)
  })

  it("[TE9] is a person's: not in the shell of an agent, even with a terminal", async () => {
    const place = site()
    await (await new Agent(await doorAt(place), 'chat').opens()).plans('Fix')
    const pty = review(place, { GEMINI_CLI: '1' })
    await pty.until("this shell is Gemini CLI's.")
    expect(await pty.ended).toBe(1)
  })

  it.each(['sqlite', 'file', ...(postgresUrl === '' ? [] : ['postgres'])])(
    'the decision reaches the agent that waits in another process: %s',
    async kind => {
      const place = site()
      const store = kind === 'postgres' ? await ownDatabase() : kind
      const env = { HOME: place.home, RUNSHEET_STORE: store }
      const host = await overStdio(place.data, hostOf({ era: '2025' }), [], BUILT, { env, cwd: place.folder })
      onTestFinished(() => host.client.close())
      const answer = host.call('plan', { tasks: [{ title: 'Look' }, { title: 'Leap' }] })
      const pty = review(place, { ...env, ...editor(place, `sed -i 's/Leap/Jump/' "$1"`) }, ['--wait'])
      await pty.until(KEYS)
      pty.type('e')
      await pty.until(KEYS)
      pty.type('a')
      await pty.until('Approved: 2 steps written.')
      expect(await pty.ended).toBe(0)
      expect((await answer).text).toContain('Jump')
      if (kind === 'file') expect(readFileSync(taskFile(place), 'utf8')).toContain('Jump')
    },
  )
})

describe(`a check that is written in the terminal${noPty}`, { skip: noPty !== '' }, () => {
  it('runs where the agent works, and proves the step', async () => {
    const place = site()
    const env = { HOME: place.home, XDG_CONFIG_HOME: join(place.home, '.config') }
    const host = await overStdio(place.data, hostOf({ era: '2025' }), ['--workspace', place.folder], BUILT, {
      env,
      cwd: place.folder,
    })
    onTestFinished(() => host.client.close())
    const answer = host.call('plan', { tasks: [{ title: 'Write it down' }] })
    const pty = review(
      place,
      { ...env, ...editor(place, `printf -- '\\n- may change: notes.txt\\n- [x] ls notes.txt\\n' >> "$1"`) },
      ['--wait'],
    )
    await pty.until(KEYS)
    pty.type('e')
    await pty.until('let the check marked [x] run')
    await pty.until(KEYS)
    pty.type('a')
    await pty.until('and 1 check may run.')
    await answer
    expect(await host.call('update', { id: 1, outcome: 'Done.' })).toMatchObject({ isError: true })
    writeFileSync(join(place.folder, 'notes.txt'), 'noted')
    expect(await host.call('update', { id: 1, outcome: 'Done.' })).toMatchObject({ isError: false })
    const door = await doorAt(place)
    const { items } = await door.conversations.list('local', { limit: 1 })
    const state = await door.read({ tenant: 'local', conversation: items[0]?.session_id ?? '' })
    expect(planStatus(state, await door.now())).toMatchObject({ done: 1, standings: { proven: 1 } })
  })
})

describe('runsheet review without a terminal', () => {
  it("[TE9] decides nothing: it is a person's", async () => {
    const place = site()
    const door = await doorAt(place)
    await (await new Agent(door, 'chat').opens()).plans('Fix')
    const child = runCli(['review'], { cwd: place.folder, env: { HOME: place.home }, file: BUILT })
    child.process.stdin?.end('a\na\n')
    expect(await child.ended).toMatchObject({
      code: 1,
      stderr: 'runsheet: a plan is decided by a person: run this in a terminal (stdin and stdout), or use the page.\n',
    })
    expect(await pending(door)).toHaveLength(1)
  })
})

const taskFile = ({ data }: Site): string =>
  join(data, '.agents/tasks', execFileSync('ls', [join(data, '.agents/tasks')], { encoding: 'utf8' }).trim())
