import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { afterEach, describe, expect, it } from 'vitest'
import { redactor } from '../../src/core/text/redact.ts'
import { plainMaker } from '../../src/engine/door/checks.ts'
import { addEvidence, openDoor } from '../../src/engine/door/door.ts'
import { Worker } from '../../src/engine/worker/worker.ts'
import { claimJudge } from '../../src/engine/worker/judge.ts'
import type { Judge } from '../../src/engine/worker/judge.ts'
import { modelJudge } from '../../src/engine/worker/model-judge.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import { type Answers, Provider } from '../support/provider.ts'
import { startServer, type TestServer } from '../support/server.ts'

const HERE = { tenant: 'local', conversation: 'c1' }
const redact = redactor()

const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

interface Scene extends TestServer {
  readonly provider: Provider
  readonly calls: (tool: string, args: unknown) => Promise<unknown>
  readonly taskId: (number: number) => Promise<string>
}

/** An agent elsewhere whose claims a judge of ours rules on. */
async function judged(
  assessor: Answers,
  toolset: 'runsheet' | 'task_manager' | 'manage_todos' = 'runsheet',
): Promise<Scene> {
  const provider = await Provider.start([], assessor)
  ends.push(() => provider.close())
  const door = openDoor({ store: openMemoryStore(), checks: { ...plainMaker, judges: () => true } })
  const make = createOpenAICompatible({ name: 'test', baseURL: provider.url, supportsStructuredOutputs: true })
  const judge = (): Judge => modelJudge({ name: 'test', model: make('test'), isStructured: true }, { redact })
  const workspaces = {
    keys: [],
    fingerprint: async () => undefined,
    record: async () => null,
    run: () => Promise.reject(new Error('there are no checks')),
  }
  const checks = new Worker({ door, workspaces, judge: claimJudge({ door, redact, judge }) })
  ends.push(() => checks.close())
  checks.start()
  const at = await startServer({ door, host: { review: false, assessor: true } })
  ends.push(() => at.close())
  return {
    ...at,
    provider,
    calls: async (tool, args) => at.agent.call(toolset, tool, { session_id: 'c1', turn_id: 't1', arguments: args }),
    taskId: async number => (await at.person.tasks('c1')).tasks.find(each => each.number === number)?.id ?? '',
  }
}

const says = (verdict: string, ...evidence: string[]): string => JSON.stringify({ verdict, reason: '', evidence })
const test = (answer: string, ok: boolean) => ({ tool: 'Bash', arguments: { command: 'npm test' }, answer, ok })

describe('the judge of agents elsewhere', () => {
  it('gets what the agent and its host report, with the source, for the task that was current', async () => {
    const at = await judged([says('ok', 'e2')])
    await at.calls('plan', { tasks: [{ title: 'Fix' }, { title: 'Ship' }] })
    await at.agent.addEvidence('c1', test('1 failed', false))
    await addEvidence(at.door, HERE, test('ok 40', true), { source: 'host', redact })
    await at.agent.addEvidence('c1', { tool: 'Read', ok: true, task_id: await at.taskId(2) })
    await at.calls('update', { id: 1, outcome: 'Fixed.' })
    expect(at.provider.case(0)).toMatchObject({
      task: 'Fix',
      evidence: [
        { id: 'e1', source: 'agent', ...test('1 failed', false) },
        { id: 'e2', source: 'host', ...test('ok 40', true) },
      ],
      other_tasks: [{ task: 'Ship', calls: 1 }],
    })
    expect(at.provider.judged[0]?.request.messages[0]?.content).toContain('host and agent')
  })

  it('an ok has to cite what exists; the verdict names it by the id that the list has', async () => {
    const at = await judged([says('ok', 'e7'), says('ok', 'e1')])
    await at.calls('plan', { tasks: [{ title: 'Fix' }] })
    const added = await at.agent.addEvidence('c1', test('ok 40', true))
    await at.calls('update', { id: 1, outcome: 'Fixed.' })
    const { verdicts, claims, evidence } = await at.person.evidence('c1', await at.taskId(1))
    const id = added.stored ? added.evidence_id : ''
    const [claim] = claims
    expect(verdicts).toMatchObject([
      {
        verdict: 'unknown',
        reason: expect.stringContaining('does not exist: e7'),
        cited: [],
        claim_id: claim?.claim_id,
      },
      { verdict: 'ok', cited: [id], model: 'test', claim_id: claim?.claim_id },
    ])
    expect(claims).toMatchObject([{ status: 'completed', outcome: 'Fixed.', result: 'granted', because: 'judge' }])
    expect(evidence).toMatchObject([{ id, source: 'agent', answer: 'ok 40' }])
  })

  it('without reports an ok is on words alone; a plain no is a refusal', async () => {
    const at = await judged([says('not_ok'), says('ok')])
    await at.calls('plan', { tasks: [{ title: 'Fix' }] })
    expect(JSON.stringify(await at.calls('update', { id: 1, outcome: 'Fixed.' }))).toContain('not accepted')
    await at.calls('update', { id: 1, outcome: 'Fixed it.' })
    const { verdicts, claims } = await at.person.evidence('c1', await at.taskId(1))
    expect(verdicts).toMatchObject([{ verdict: 'not_ok' }, { verdict: 'ok', on_words_alone: true }])
    expect(claims).toMatchObject([{ result: 'refused', because: 'not_ok' }, { result: 'granted' }])
  })

  it('with manage_todos it rules on what is reported of a step, and the next one is current', async () => {
    const at = await judged([says('not_ok'), says('ok')], 'manage_todos')
    await at.calls('manage_todos', { add: ['Pay', 'Ship'] })
    expect(await at.calls('report_todo', { id: 1, result: 'Paid.' })).toMatchObject({
      result: { success: false, error: expect.stringContaining('was not accepted'), state: { current: { id: 1 } } },
    })
    expect(await at.calls('report_todo', { id: 1, result: 'Paid, here is the invoice.' })).toMatchObject({
      result: { success: true, state: { remaining: 1, current: { id: 2 }, items: [{ status: 'done' }, {}] } },
    })
    expect((await at.person.tasks('c1')).tasks[0]).toMatchObject({ judged_by: 'assessor', standing: 'judged' })
  })

  it('[PF19] the best of reports proves nothing: the task is judged', async () => {
    const at = await judged([says('ok', 'e1')])
    await at.calls('plan', { tasks: [{ title: 'Fix' }] })
    await addEvidence(at.door, HERE, test('ok 40', true), { source: 'host', redact })
    await at.calls('update', { id: 1, outcome: 'Fixed.' })
    expect((await at.person.tasks('c1')).tasks).toMatchObject([{ status: 'completed', standing: 'judged' }])
  })

  it('a task that an agent elsewhere creates as done is created pending, and judged once it is settled', async () => {
    const at = await judged([says('ok')], 'task_manager')
    const answer = await at.calls('add_task', { tasks: [{ title: 'Fix', status: 'done' }] })
    const id = await at.taskId(1)
    expect(answer).toMatchObject({
      result: { not_accepted: [{ id, reason: 'The assessor rules on it once you settle it with a call of its own.' }] },
    })
    expect((await at.person.tasks('c1')).tasks).toMatchObject([{ status: 'in_progress' }])
    await at.calls('complete_task', { id, outcome: 'Fixed.' })
    expect((await at.person.tasks('c1')).tasks).toMatchObject([{ status: 'completed', standing: 'judged' }])
  })
})
