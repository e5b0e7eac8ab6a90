import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDoor } from '../../src/engine/door/door.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { propose, startTurn } from '../store/contract.ts'
import { runHere } from '../support/in-process.ts'
import { scratchFolder } from '../support/scratch.ts'

const at = (conversation: string) => ({ tenant: 'local', conversation })

let data: string
let task: string
beforeAll(async () => {
  data = scratchFolder()
  const door = openDoor({ store: await openSqliteStore({ path: join(data, 'runsheet.db') }) })
  // Without an origin.
  await door.run(at('old'), startTurn('t0'))
  const page = door.from({ actor: 'person', edge: 'page', credential: 'page', address: '192.0.2.7' })
  await page.run(at('new'), startTurn('t1'), propose('t1', 'rev-1', 'a', 'b'))
  const form = door.from({ actor: 'person', edge: 'mcp_form', claimed: { client: 'a host 1.0' } })
  await form.reviews.decide('local', 'rev-1', { action: 'confirm', tasks: [{ draft_index: 0 }] }, 'mcp_form')
  const change = [{ task: 1, fields: { status: 'completed', title: '\u0007a' } as const }]
  await page.run(at('new'), { type: 'edit_tasks', by: 'person', change })
  const look = { kind: 'person', ask: 'Does it look right?', id: 'look', hash: 'hash-1' } as const
  const tests = { kind: 'command', run: ['npm', 'test'], id: 'tests', hash: 'hash-2' } as const
  const checks = [{ task: 1, fields: { checks: [look, tests] } }]
  const { conversation } = await page.run(at('new'), { type: 'edit_tasks', by: 'person', change: checks })
  task = [...conversation.tasks.values()][0]?.id ?? ''
  await page.run(at('new'), { type: 'tick_check', task: 1, check_id: 'look' })
  await page.run(at('new'), { type: 'stop_turn', turn_id: 't1' })
  await door.close()
})
afterAll(() => rmSync(data, { recursive: true }))

async function audit(...args: readonly string[]): Promise<{ code: number | null; lines: string[]; stderr: string }> {
  const { code, out, err: stderr } = await runHere(['audit', '--data', data, ...args])
  return { code, lines: out === '' ? [] : out.split('\n'), stderr }
}

describe('runsheet audit', () => {
  it('[AD1] prints one line for each decision, oldest first: when, where, what, who and from where', async () => {
    const { code, lines } = await audit()
    expect(code).toBe(0)
    expect(lines.map(line => line.split('  ').slice(1).join('  '))).toEqual([
      expect.stringMatching(/^old {2}policy set: \w+, review \w+, assessor \w+, gate \w+ {2}not recorded$/),
      'old  turn t0 started  not recorded',
      expect.stringMatching(/^new {2}policy set: .* {2}person \(page\) {2}page at 192\.0\.2\.7$/),
      'new  turn t1 started  person (page)  page at 192.0.2.7',
      'new  review rev-1 confirmed: 1 task  person  MCP form  says it is "a host 1.0"',
      'new  task 1 "a" set to completed  person (page)  page at 192.0.2.7',
      'new  task 1 "a" changed: checks  person (page)  page at 192.0.2.7',
      `new  check tests of task ${task} approved: hash-2  person (page)  page at 192.0.2.7`,
      `new  check look of task ${task} ticked  person (page)  page at 192.0.2.7`,
      'new  turn t1 stopped  person (page)  page at 192.0.2.7',
    ])
    expect(lines.every(line => /^\d{4}-\d\d-\d\dT\S+Z {2}/.test(line))).toBe(true)
  })

  it('[AD1] --session reads one conversation, --json prints JSON lines', async () => {
    const { lines } = await audit('--session', 'old', '--json')
    expect(lines.map(line => JSON.parse(line) as unknown)).toMatchObject([
      { session_id: 'old', seq: 1, type: 'policy_set', origin: null },
      { session_id: 'old', seq: 2, turn_id: 't0', type: 'turn_started', what: 'turn t0 started', origin: null },
    ])
    const [, , confirmed] = (await audit('--session', 'new', '--json')).lines
    expect(JSON.parse(confirmed ?? '')).toMatchObject({
      type: 'task_create_review_resolved',
      what: 'review rev-1 confirmed: 1 task',
      origin: { actor: 'person', edge: 'mcp_form', claimed: { client: 'a host 1.0' } },
    })
  })

  it('[AD1] a conversation or folder that does not exist is one line on stderr', async () => {
    expect(await audit('--session', 'none')).toEqual({
      code: 1,
      lines: [],
      stderr: 'runsheet: there is no conversation none.\n',
    })
    const { code, stderr } = await audit('--data', join(data, 'none'))
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^runsheet: the data folder .* does not exist\.[^\n]*\n$/),
    ])
  })
})
