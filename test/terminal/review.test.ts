import { execFileSync } from 'node:child_process'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { CheckSpec } from '../../src/core/proof/check.ts'
import { reviewPlans, type ReviewOptions } from '../../src/cli/terminal/review.ts'
import { planStatus } from '../../src/core/views/plan-status.ts'
import type { ReviewRequest } from '../../src/core/model/review.ts'
import type { Door } from '../../src/engine/door/door.ts'
import { BUILT, NO_SETTINGS, runCli } from '../support/children.ts'
import { hostOf, overStdio } from '../support/mcp.ts'
import { ownDatabase, postgresUrl } from '../support/postgres-store.ts'
import { CTRL_C, DOWN, ENTER, inPty, noPty, type Pty, typedInto } from '../support/pty.ts'
import { Agent, checkIn, doorAt, type Site, site, workspaceIn } from '../support/terminal-scene.ts'

const LINT: CheckSpec = { kind: 'command', run: ['npm', 'run', 'lint'] }
const TEST: CheckSpec = { kind: 'command', run: ['npm', 'test', '--', '-t', 'a  b'], timeout_ms: 90_000 }

const ANSWERS = ['Decide later', 'Approve', 'Edit', 'Request changes', 'Reject', 'Quit: it goes on waiting']

/** Waits until the plan's question is drawn, not drawn again after a key. */
async function asked(pty: Pty): Promise<void> {
  await pty.until('◆  What do you say?')
  await pty.until(ANSWERS.at(-1) ?? '')
}

/** Waits for the plan, and gives one of its answers. */
async function answer(pty: Pty, label: string): Promise<void> {
  await asked(pty)
  pty.type(DOWN.repeat(ANSWERS.findIndex(each => each.startsWith(label))) + ENTER)
}

/** Waits for the list, and picks one of it. */
async function picks(pty: Pty, question: string, number: number): Promise<void> {
  await pty.until(`◆  ${question}`)
  await pty.until('A plan')
  pty.type(DOWN.repeat(number) + ENTER)
}

const review = (
  { folder, home, data }: Site,
  env: Readonly<Record<string, string>> = {},
  given: Pick<ReviewOptions, 'wait' | 'store'> = {},
): Pty => {
  const environment = {
    HOME: home,
    ...NO_SETTINGS,
    PATH: process.env['PATH'],
    TERM: 'xterm',
    NO_COLOR: '1',
    ...env,
  }
  const config = { file: join(folder, 'runsheet.json'), by: 'default' } as const
  return typedInto(terminal => reviewPlans({ data, config, environment, invocation: 'runsheet', ...given }, terminal))
}

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

describe('runsheet review', () => {
  it('lists the plans that wait; a choice decides each, as the person at a terminal', async () => {
    const place = site()
    const door = await doorAt(place)
    const agents = await Promise.all(['one', 'two', 'three'].map(name => new Agent(door, name).opens()))
    for (const [index, agent] of agents.entries())
      await agent.plans(`Plan ${index + 1}`, { title: 'Then', details: 'More.\nLines.' })
    const pty = review(place)
    await pty.until('3 plans wait for you. Which one?')
    await pty.until('Plan 3')
    pty.type(DOWN.repeat(2) + ENTER)
    await answer(pty, 'Request changes')
    await pty.until('What should the agent change?')
    pty.type('Split it\r')
    await pty.until('Sent back: nothing was written.')
    await pty.until('Which one?')
    await pty.until('Plan 3')
    pty.type(DOWN + ENTER)
    await answer(pty, 'Reject')
    await pty.until('Why?')
    pty.type('Not now\r')
    await pty.until('Rejected: nothing was written.')
    await answer(pty, 'Approve')
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

  it('[DS4][DS5] shows disputes beside the plans, and an answer settles each, as the person at a terminal', async () => {
    const place = site()
    const door = await doorAt(place)
    const agent = await new Agent(door, 'one').opens({ review: false }, { workspace: workspaceIn(place.folder) })
    await agent.plans({ title: 'Count', criteria: 'it is 4', checks: [checkIn(place.folder, TEST)] }, 'Add', 'Tell')
    await agent.disputes(1, 'The test wants 3.')
    await agent.disputes(2, 'Nothing to add to.')
    await agent.disputes(3, 'Nobody is there.')
    await (await new Agent(door, 'two').opens()).plans('A plan')
    const pty = review(place)
    await picks(pty, '4 decisions wait for you.', 2)
    expect(pty.shown()).toMatch(/disputed: Count\n *asked \d+ s ago, conversation one$/m)
    await asked(pty)
    for (const shown of [
      'The agent disputes step 1',
      'Done when: it is 4',
      "Check: npm test -- -t 'a  b'",
      'The test wants 3.',
    ])
      expect(pty.shown()).toContain(shown)
    pty.type(DOWN + ENTER)
    await pty.until('Its new check, one command')
    pty.type('npm run lint\r')
    await pty.until('The check was changed')
    await picks(pty, '3 decisions wait for you.', 2)
    await asked(pty)
    pty.type(DOWN.repeat(4) + ENTER)
    await pty.until('A comment for the agent')
    pty.type('Use 4.\r')
    await pty.until('Insisted: the task is open again.')
    await picks(pty, '2 decisions wait for you.', 2)
    await asked(pty)
    pty.type(DOWN.repeat(2) + ENTER)
    await pty.until('Settled as done.')
    await answer(pty, 'Quit')
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
    await pty.until('open-chat')
    expect(pty.shown()).toMatch(
      /Collect the figures .*… \(2 steps\)\n *asked \d+ s ago, conversation left-chat\n.*Collect the figures .*… \(2 steps\)\n *asked \d+ s ago, conversation open-chat/,
    )
    pty.type(DOWN.repeat(2) + ENTER)
    await asked(pty)
    expect(pty.shown()).toMatch(/^2 steps to review, asked \d+ s ago, without a deadline$/m)
    pty.type(CTRL_C)
    expect(await pty.ended).toBe(130)
  })

  it('approving lets exactly the checks run that are shown, in full', async () => {
    const place = site()
    const agent = await new Agent(await doorAt(place), 'chat').opens({}, { workspace: workspaceIn(place.folder) })
    const [lint, test] = [checkIn(place.folder, LINT, 'c1'), checkIn(place.folder, TEST, 'c2')]
    await agent.plans({ title: 'Fix', criteria: 'it works', checks: [lint, test], priority: 'high' }, 'Tell')
    const pty = review(place, { NO_COLOR: '' })
    await asked(pty)
    expect(pty.shown()).toContain(
      [
        ' 1  Fix',
        '    high priority',
        '    Done when: it works',
        '    [x] npm run lint',
        "    [x] npm test -- -t 'a  b'",
        '        timeout_ms: 90000',
        '',
        ' 2  Tell',
      ].join('\n'),
    )
    expect(pty.raw()).toContain('\u001b[1mFix\u001b[22m')
    expect(pty.shown()).toContain('Approve as proposed, and let the 2 checks marked [x] run')
    pty.type(DOWN + ENTER)
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
      `if [ ! -e ${seen} ]; then cp "$1" ${seen}; echo 'steps: [{ step: 9, title: Tell all }]' > "$1"; exit 0; fi`,
      `cat > "$1" <<END
steps:
- { step: 2, title: Tell all, checks: [{ run: npm run build }] }
- { step: 1, title: Fix, checks: [{ run: npm run lint, approved: false }] }
- title: Mine
END`,
    )
    const pty = review(place, env)
    await answer(pty, 'Edit')
    await pty.until('step 1: there is no step 9: the proposed steps are 1 to 3.')
    await pty.until('Keep the plan as it was')
    pty.type(ENTER)
    await asked(pty)
    expect(pty.shown()).toContain('Approve as edited, and let the check marked [x] run')
    expect(readFileSync(seen, 'utf8')).toContain('- step: 2\n  title: Tell\n')
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
    pty.type(DOWN + ENTER)
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
    pty.type(DOWN + ENTER)
    await answer(pty, 'Edit')
    await pty.until('The file was empty: nothing was changed')
    await asked(pty)
    writeFileSync(failing, '')
    pty.type(DOWN.repeat(2) + ENTER)
    await pty.until('it ended with 3.')
    await answer(pty, 'Request changes')
    await pty.until('What should the agent change?')
    pty.type(ENTER)
    // Letters, also pasted ones, are no answers.
    await asked(pty)
    pty.type('aaa')
    pty.type(CTRL_C)
    expect(await pty.ended).toBe(130)
    expect(await pending(door)).toHaveLength(1)
  })

  it('a plan that was decided or replaced meanwhile is not decided here, and edits are kept in a file', async () => {
    const place = site()
    const door = await doorAt(place)
    const first = await (await new Agent(door, 'one').opens()).plans('Plan 1')
    const pty = review(place, editor(place, `sed -i 's/Plan 2/My plan/' "$1"`))
    await asked(pty)
    const agent = await new Agent(door, 'two').opens()
    await agent.plans('Plan 2')
    pty.type(DOWN.repeat(3) + ENTER)
    await pty.until('What should the agent change?')
    await door.reviews.decide('local', first, { action: 'confirm', tasks: [{ draft_index: 0 }] }, 'http')
    pty.type('Split it\r')
    await pty.until('Not decided here: This review was already decided: confirmed.')
    await answer(pty, 'Edit')
    await pty.until('My plan (edited)')
    await asked(pty)
    await agent.plans('New plan')
    pty.type(DOWN + ENTER)
    await pty.until('Not decided here: This review was already decided: cancelled.')
    await pty.until('Your edits are kept in ')
    await pty.until(' 1  New plan')
    await answer(pty, 'Decide later')
    expect(await pty.ended).toBe(0)
    const [, kept = ''] = /kept in (\S+)\n/.exec(pty.shown()) ?? []
    expect(readFileSync(kept, 'utf8')).toContain('- step: 1\n  title: My plan\n')
    expect(await pending(door)).toMatchObject([{ draft_tasks: [{ title: 'New plan' }] }])
  })

  it('says that nothing waits, and with --wait waits for the next plan', async () => {
    const place = site()
    const empty = review(place)
    await empty.until(`Nothing waits for you in ${place.data}.`)
    expect(await empty.ended).toBe(0)
    const door = await doorAt(place)
    const agent = await new Agent(door, 'chat').opens()
    const pty = review(place, {}, { wait: true })
    await pty.until('Waiting for a plan to review')
    await agent.plans('Fix')
    await pty.until(' 1  Fix')
    await answer(pty, 'Quit')
    expect(await pty.ended).toBe(0)
    expect(await pending(door)).toHaveLength(1)
  })

  it("[TE9] is a person's: not in the shell of an agent, even with a terminal", async () => {
    const place = site()
    await (await new Agent(await doorAt(place), 'chat').opens()).plans('Fix')
    await expect(review(place, { GEMINI_CLI: '1' }).ended).rejects.toThrow("this shell is Gemini CLI's.")
  })

  it.skipIf(noPty !== '')('decides as a program, in a terminal', async () => {
    const place = site()
    const door = await doorAt(place)
    await (await new Agent(door, 'chat').opens()).plans('Fix')
    const pty = inPty(['review'], { cwd: place.folder, env: { HOME: place.home } })
    await answer(pty, 'Approve')
    expect(await pty.ended).toBe(0)
    expect(await pending(door)).toEqual([])
  })

  it.each(['sqlite', 'file', ...(postgresUrl === '' ? [] : ['postgres'])])(
    'the decision reaches the agent that waits in another process: %s',
    async kind => {
      const place = site()
      const store = kind === 'postgres' ? await ownDatabase() : kind
      const env = { HOME: place.home, RUNSHEET_STORE: store }
      const host = await overStdio(place.data, hostOf({ era: '2025' }), [], BUILT, { env, cwd: place.folder })
      onTestFinished(() => host.client.close())
      const planned = host.call('plan', { tasks: [{ title: 'Look' }, { title: 'Leap' }] })
      const given = { wait: true, store } as const
      const pty = review(place, editor(place, `sed -i 's/Leap/Jump/' "$1"`), given)
      await answer(pty, 'Edit')
      await answer(pty, 'Approve')
      await pty.until('Approved: 2 steps written.')
      expect(await pty.ended).toBe(0)
      expect((await planned).text).toContain('Jump')
      if (kind === 'file') expect(readFileSync(taskFile(place), 'utf8')).toContain('Jump')
    },
  )
})

describe('a check that is written in the terminal', () => {
  it('runs where the agent works, and proves the step', async () => {
    const place = site()
    const env = { HOME: place.home, XDG_CONFIG_HOME: join(place.home, '.config') }
    const host = await overStdio(place.data, hostOf({ era: '2025' }), ['--workspace', place.folder], BUILT, {
      env,
      cwd: place.folder,
    })
    onTestFinished(() => host.client.close())
    const planned = host.call('plan', { tasks: [{ title: 'Write it down' }] })
    const pty = review(
      place,
      { ...env, ...editor(place, `printf '  scope: [notes.txt]\\n  checks: [{ run: ls notes.txt }]\\n' >> "$1"`) },
      { wait: true },
    )
    await answer(pty, 'Edit')
    await answer(pty, 'Approve')
    await pty.until('and 1 check may run.')
    await planned
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
