import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { RunsheetError } from '../../src/client/http.ts'
import { withRules, type ApprovalDecision, type SavedRules } from '../../src/core/model/tool-approval.ts'
import { McpServers, type McpServer } from '../../src/engine/turn/mcp-tools.ts'
import { programOf } from '../support/children.ts'
import type { Answers } from '../support/provider.ts'
import { startTurns, type ChatReader, type TestTurns } from '../support/turns.ts'

const FIXTURE = programOf(new URL('../support/mcp-fixture.ts', import.meta.url))

const open: (() => Promise<unknown> | void)[] = []
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close()
})

interface Hands extends TestTurns {
  readonly mcp: McpServers
  readonly journal: () => string[]
  readonly near: McpServer
  /** Adds to the description of the tool `note`, from its server's next start on. */
  readonly redescribe: (text: string) => void
  rules: SavedRules
}

async function hands(answers: Answers, more: Partial<McpServer> = {}): Promise<Hands> {
  const folder = mkdtempSync(join(tmpdir(), 'runsheet-approvals-'))
  open.push(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'journal')
  writeFileSync(file, '')
  const near: McpServer = {
    command: process.execPath,
    args: [FIXTURE],
    env: { FIXTURE_JOURNAL: file, FIXTURE_SCHEMA: join(folder, 'schema') },
    ask: 'all',
    ...more,
  }
  const mcp = new McpServers({ servers: { near }, version: '0', onError: () => {} })
  const box: { rules: SavedRules } = { rules: {} }
  const server = await startTurns({
    host: { review: false, assessor: false, gate: false },
    outside: mcp,
    rules: () => box.rules,
    answers,
  })
  open.push(server.close)
  const journal = (): string[] =>
    readFileSync(file, 'utf8')
      .split('\n')
      .filter(line => line && !line.startsWith('started'))
  return Object.defineProperty(
    { ...server, mcp, near, journal, redescribe: text => appendFileSync(join(folder, 'schema'), text) } as Hands,
    'rules',
    {
      get: () => box.rules,
      set: (rules: SavedRules) => {
        box.rules = rules
      },
    },
  )
}

const note = (text: string) => ({ tool: 'near__note', args: { text } })
const echo = (text: string) => ({ tool: 'near__echo', args: { text } })

/** Waits for the nth question, and decides it. */
async function decide(
  server: TestTurns,
  reader: ChatReader,
  decision: ApprovalDecision,
  nth = 1,
  comment?: string,
): Promise<string> {
  await reader.reached('tool_approval_required', nth)
  const id = reader.of('tool_approval_required')[nth - 1]?.data.approval_id ?? ''
  await server.person.decideApproval('c1', id, { decision, ...(comment === undefined ? {} : { comment }) })
  return id
}

const results = (reader: ChatReader): unknown[] => reader.of('tool_answered').map(({ data }) => data.result)

describe('a call that a person has to allow', () => {
  it('[TO1] is asked about before it is made, and the turn goes on with its answer', async () => {
    const server = await hands([{ calls: [note('a')] }, 'Kept.'])
    const reader = await server.open()
    await reader.reached('tool_approval_required')
    expect(server.journal()).toEqual([])
    await expect.poll(() => server.runner.size).toBe(0)
    const { approvals } = await server.person.session('c1')
    expect(approvals).toMatchObject([
      { server: 'near', server_tool: 'note', tool: 'near__note', arguments: { text: 'a' } },
    ])
    expect((await server.person.sessions()).sessions[0]?.mark).toBe('waiting')
    await decide(server, reader, 'allow')
    await reader.over
    expect(server.journal()).toEqual(['note a'])
    expect(results(reader)).toEqual(['kept'])
    expect(reader.types.filter(type => type.startsWith('tool_'))).toEqual([
      'tool_approval_required',
      'tool_approval_resolved',
      'tool_called',
      'tool_answered',
    ])
  })

  it('[TO2] one that is not allowed is not made, and the model is told what the person said', async () => {
    const server = await hands([{ calls: [note('a')] }, 'All right.'])
    const reader = await server.open()
    await decide(server, reader, 'deny', 1, 'Not in this folder.')
    await reader.over
    expect(server.journal()).toEqual([])
    expect(String(results(reader)[0])).toMatch(/did not allow this call.*Not in this folder\./)
    expect(reader.of('turn_finished')[0]?.data.status).toBe('done')
  })

  it('[TO2] the same decision again is no error, another one is; an agent may not decide', async () => {
    const server = await hands([{ calls: [note('a')] }, 'Kept.'])
    const reader = await server.open()
    await reader.reached('tool_approval_required')
    const id = reader.of('tool_approval_required')[0]?.data.approval_id ?? ''
    const refused = await server.agent.decideApproval('c1', id, { decision: 'allow' }).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(RunsheetError)
    expect(refused).toMatchObject({ status: 403, code: 'persons_only' })
    await decide(server, reader, 'allow')
    await decide(server, reader, 'allow')
    await expect(server.person.decideApproval('c1', id, { decision: 'deny' })).rejects.toMatchObject({
      status: 409,
      code: 'approval_already_decided',
    })
    await expect(server.person.decideApproval('c1', 'nothing', { decision: 'deny' })).rejects.toMatchObject({
      status: 404,
    })
    await reader.over
    expect(server.journal()).toEqual(['note a'])
  })

  it('[TO2] of two windows that decide at once, one counts and the other is told', async () => {
    const server = await hands([{ calls: [note('a')] }, 'Kept.'])
    const reader = await server.open()
    await reader.reached('tool_approval_required')
    const id = reader.of('tool_approval_required')[0]?.data.approval_id ?? ''
    const both = await Promise.allSettled(
      (['allow', 'deny'] as const).map(decision => server.person.decideApproval('c1', id, { decision })),
    )
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    await reader.over
    expect(reader.of('tool_approval_resolved')).toHaveLength(1)
  })

  it('a stop denies it, and the turn ends', async () => {
    const server = await hands([{ calls: [note('a')] }, 'Kept.'])
    const reader = await server.open()
    await reader.reached('tool_approval_required')
    const [turn] = reader.of('turn_started')
    await server.person.stop('c1', turn?.data.turn_id ?? '')
    await reader.over
    expect(reader.of('tool_approval_resolved')[0]?.data).toMatchObject({ decision: 'deny', reason: 'stopped' })
    expect(server.journal()).toEqual([])
  })

  it('"always" counts in its turn before it is saved; what a person sets meanwhile counts more', async () => {
    const server = await hands([{ calls: [note('a'), note('b')] }, { calls: [note('c')] }, 'Kept.'])
    const reader = await server.open()
    await decide(server, reader, 'always')
    await reader.over
    expect(server.journal()).toEqual(['note a', 'note b', 'note c'])
    expect(reader.of('tool_approval_required')).toHaveLength(1)

    const other = await hands([{ calls: [note('a')] }, { calls: [note('b')] }, 'Kept.'])
    const again = await other.open()
    await again.reached('tool_approval_required')
    other.rules = withRules({}, [{ server: 'near', tool: 'note', rule: { rule: 'ask' } }])
    await decide(other, again, 'always')
    await decide(other, again, 'deny', 2)
    await again.over
    expect(other.journal()).toEqual(['note a'])
  })

  it('[TO5] with `changes` a tool that says it only reads is not asked about; without `ask` none is', async () => {
    const some = await hands([{ calls: [echo('x'), note('a')] }, 'Kept.'], { ask: 'changes' })
    const reader = await some.open()
    await decide(some, reader, 'allow')
    await reader.over
    expect(reader.of('tool_approval_required').map(({ data }) => data.server_tool)).toEqual(['note'])

    const none = await hands([{ calls: [note('a')] }, 'Kept.'], { ask: 'none' })
    expect((await none.chat({})).of('tool_approval_required')).toEqual([])
  })

  it('[TO5] an approved plan allows no tool', async () => {
    const plan = { tool: 'plan', args: { tasks: [{ title: 'Keep a note' }] } }
    const server = await hands([{ calls: [plan] }, { calls: [note('a')] }, 'Kept.'])
    const reader = await server.open({ review: true }, ({ draft_tasks }) => ({
      action: 'confirm',
      tasks: draft_tasks.map(({ title }, draft_index) => ({ title, draft_index })),
    }))
    await decide(server, reader, 'deny')
    await reader.over
    expect(server.journal()).toEqual([])
  })

  it('a tool that is never allowed is not offered, and a call of it is refused', async () => {
    const server = await hands([{ calls: [note('a')] }, 'Kept.'])
    server.rules = { near: { note: { rule: 'never' } } }
    const reader = await server.chat({})
    expect(server.provider.tools(0)).not.toContain('near__note')
    expect(server.provider.tools(0)).toContain('near__echo')
    expect(String(results(reader)[0])).toMatch(/^Error: .*near__note/)
    expect(server.journal()).toEqual([])
  })

  it('[TO4] a tool that changes its schema after "always" is asked about again, and says why', async () => {
    const server = await hands([{ calls: [note('a')] }, 'Kept.', { calls: [note('b')] }, 'Kept.'])
    const tool = (await server.mcp.list()).find(({ from }) => from.tool === 'note')
    server.rules = { near: { note: { rule: 'always', fingerprint: tool?.from.fingerprint ?? '' } } }
    const first = await server.chat({})
    expect(first.of('tool_approval_required')).toEqual([])
    server.redescribe(' And shreds it.')
    server.mcp.use({})
    server.mcp.use({ near: server.near })
    const second = await server.open({ turn_id: 't2' })
    await second.reached('tool_approval_required')
    expect(second.of('tool_approval_required')[0]?.data.changed).toBe('tool')
    await decide(server, second, 'deny')
    await second.over
    expect(server.journal()).toEqual(['note a'])
  })

  it('[TO4] one that changes while it is asked about is asked about again: what is called is what was shown', async () => {
    const server = await hands([{ calls: [note('a')] }, 'Kept.'])
    const reader = await server.open()
    await reader.reached('tool_approval_required')
    server.redescribe(' And shreds it.')
    server.mcp.use({})
    server.mcp.use({ near: server.near })
    await decide(server, reader, 'allow')
    await decide(server, reader, 'deny', 2)
    await reader.over
    expect(reader.of('tool_approval_required').map(({ data }) => data.changed)).toEqual([undefined, 'tool'])
    expect(server.journal()).toEqual([])
  })
})
