import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Receipt } from '../src/core/views/receipt.ts'
import { insist, openDoor } from '../src/engine/door/door.ts'
import { propose, startTurn } from './store/contract.ts'
import { openSqliteStore } from '../src/store/sqlite/store.ts'
import { runHere } from './support/in-process.ts'
import { scratchFolder } from './support/scratch.ts'

const at = (conversation: string) => ({ tenant: 'local', conversation })

const ANSWER = { tool_call_id: 'call-1', tool: 'tasks', result: null, duration_ms: 1, ok: true }

let data: string
beforeAll(async () => {
  data = scratchFolder()
  const door = openDoor({ store: await openSqliteStore({ path: join(data, 'runsheet.db') }) })
  const page = door.from({ actor: 'person', edge: 'page', credential: 'page' })
  const call = { evidence_id: 'evd_1', tool: 'Bash', arguments: {}, answer: 'ok 40', ok: true }
  await page.run(
    at('reported'),
    { type: 'open_turn', turn_id: 't1', toolset: 'runsheet', host: { review: false } },
    { type: 'edit_tasks', by: 'model', turn_id: 't1', create: [{ id: 'task-1', title: 'Test' }] },
    { type: 'add_evidence', source: 'host', ...call },
    { type: 'add_evidence', source: 'agent', ...call, evidence_id: 'evd_2', ok: false },
  )
  const workspace = { machine: 'here', path: '/home/ann/app' }
  const check = { kind: 'command', run: ['prog'], id: 'c1', hash: 'h1' } as const
  const reason = 'It was approved with /home/ann/one/prog, which is gone; here prog is /home/ann/two/prog.'
  const run = { turn_id: 't1', run_id: 'r1', hash: 'h1' }
  await page.run(
    at('changed'),
    { type: 'open_turn', turn_id: 't1', toolset: 'runsheet', host: { review: false }, workspace },
    {
      type: 'edit_tasks',
      by: 'model',
      turn_id: 't1',
      create: [{ id: 'task-2', title: 'A', checks: [check], allowed: ['h1'] }],
    },
    { type: 'start_check', ...run, why: 'baseline' },
    { type: 'end_check', ...run, outcome: { result: 'inconclusive', duration_ms: 0, reason, changed: true } },
  )
  const lint = { kind: 'command', run: ['./lint'], id: 'c2', hash: 'h2' } as const
  const last = { turn_id: 't1', run_id: 'r2', hash: 'h2' }
  await page.run(
    at('failing'),
    { type: 'open_turn', turn_id: 't1', toolset: 'runsheet', host: { review: false }, workspace, done_checks: [lint] },
    { type: 'edit_tasks', by: 'model', turn_id: 't1', create: [{ id: 'task-3', title: 'A' }] },
    { type: 'take_baseline', turn_id: 't1', plan_id: 't1', record: null },
    { type: 'edit_tasks', by: 'person', change: [{ task: 'task-3', fields: { status: 'completed', outcome: 'x' } }] },
    { type: 'start_check', ...last, why: 'final' },
    { type: 'end_check', ...last, outcome: { result: 'failed', duration_ms: 1, exit: 1 } },
  )
  const agent = door.from({ actor: 'agent', edge: 'mcp' })
  await agent.run(
    at('disputed'),
    { type: 'open_turn', turn_id: 't1', toolset: 'runsheet', client: 'a host', host: { review: false } },
    { type: 'edit_tasks', by: 'model', turn_id: 't1', create: [{ id: 'task-4', title: 'A' }] },
    {
      type: 'edit_tasks',
      by: 'model',
      turn_id: 't1',
      change: [{ task: 'task-4', fields: { outcome: '3 is not 4' }, disputes: true }],
    },
  )
  await insist(page, at('disputed'), 1, 'Use 4')
  await agent.run(
    at('disputed'),
    { type: 'record', turn_id: 't1', fact: { type: 'tool_answered', data: ANSWER } },
    {
      type: 'edit_tasks',
      by: 'model',
      turn_id: 't1',
      change: [{ task: 'task-4', fields: { outcome: 'Still not' }, disputes: true }],
    },
  )
  for (const session of ['older', 'newer']) {
    await page.run(at(session), startTurn('t1'), propose('t1', `rev-${session}`, 'Read', 'Write'))
    const kept = [{ draft_index: 0 }, { draft_index: 1, title: '<b>@octocat</b> | closes #1\n## Hi' }]
    await page.reviews.decide('local', `rev-${session}`, { action: 'confirm', tasks: kept }, 'http')
    const change = [{ task: 1, fields: { status: 'completed', outcome: 'Read it' } as const }]
    await page.run(at(session), { type: 'edit_tasks', by: 'person', change })
  }
  await page.run(at('unplanned'), startTurn('t9'))
  await door.close()
})
afterAll(() => rmSync(data, { recursive: true }))

async function receipt(...args: readonly string[]): Promise<{ code: number | null; text: string; stderr: string }> {
  const { code, out: text, err: stderr } = await runHere(['receipt', '--data', data, ...args])
  return { code, text, stderr }
}

describe('runsheet receipt', () => {
  it('[RC8] prints Markdown about the newest turn that has a plan', async () => {
    const { code, text } = await receipt()
    expect(code).toBe(0)
    expect(text).toContain('**1 of 2 done: 1 confirmed by a person.**')
    expect(text).toMatch(/^Confirmed by a person \(page\), \d{4}-\d\d-\d\d \d\d:\d\d UTC\.$/m)
    expect(text).toContain('| 1 | Read | done | confirmed by a person |')
    expect(text).toMatch(/^- Changed by a person \(page\), .*: status, outcome/m)
    expect(text).toContain('conversation `newer`, turn `t1`')
  })

  it('says which tool calls a host and an agent report, and that they say so', async () => {
    const { text } = await receipt('--session', 'reported')
    expect(text).toContain('- Tool calls, as the host says: 1 ok, 0 failed (`Bash` 1)')
    expect(text).toContain('- Tool calls, as the agent says: 0 ok, 1 failed (`Bash` 1)')
  })

  it('says first of all which checks of the whole plan did not pass', async () => {
    const { text } = await receipt('--session', 'failing')
    expect(text).toContain(
      '**1 of 1 done: 1 confirmed by a person. Checks of the whole plan that did not pass: `./lint`.**',
    )
  })

  it('[CR24] names programs that changed, and not where they are', async () => {
    const { text } = await receipt('--session', 'changed')
    expect(text).toContain('It was approved with …/prog, which is gone; here prog is …/prog.')
    expect(text).not.toContain('/home')
  })

  it('[RC9] no title can break it', async () => {
    const { text } = await receipt()
    expect(text.match(/^#+ .*$/gm)).toEqual([
      '## Receipt',
      '### 1 Read',
      '### 2 \\<b\\>\\@\u200boctocat\\</b\\> \\| closes \\#\u200b1 \\#\\# Hi',
    ])
  })

  it('tells each dispute: by whom, why, and how it ended', async () => {
    const { text } = await receipt('--session', 'disputed')
    expect(text.replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d UTC/g, 'NOW').split('\n')).toEqual(
      expect.arrayContaining([
        '**0 of 1 done; 1 disputed.**',
        '| 1 | A | disputed |  |',
        '- Disputed by a host, NOW: 3 is not 4',
        '  - insisted on by a person (page), NOW: Use 4',
        '- Disputed by a host, NOW: Still not',
        '  - waits for a person',
      ]),
    )
  })

  it('prints JSON about the one that was named', async () => {
    const { text } = await receipt('--session', 'older', '--turn', 't1', '--format', 'json')
    const json = JSON.parse(text) as Receipt
    expect(json).toMatchObject({ format: 'runsheet-receipt', version: 1, session_id: 'older', turn_id: 't1' })
    expect(json.reviews).toMatchObject([
      { action: 'confirm', by: { actor: 'person', edge: 'page' }, changes: { kept: 1, edited: [{ from: 'Write' }] } },
    ])
    expect(json.steps.map(({ standing }) => standing)).toEqual(['confirmed', null])
  })

  it.each([
    [['--session', 'nowhere'], 'there is no conversation nowhere.'],
    [['--session', 'unplanned'], 'conversation unplanned has no plan.'],
    [['--session', 'older', '--turn', 't7'], 'conversation older has no turn t7 with a plan.'],
    [['--turn', 't9'], 'there is no turn t9 with a plan.'],
  ])('says in one line what does not exist: %j', async (args, problem) => {
    expect(await receipt(...args)).toEqual({ code: 1, text: '', stderr: `runsheet: ${problem}\n` })
  })
})
