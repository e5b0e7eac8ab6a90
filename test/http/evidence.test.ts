import { afterEach, describe, expect, it } from 'vitest'
import type { EvidenceAnswer } from '../../src/core/views/wire.ts'
import { liveEvidence, RunsheetError } from '../../src/client/index.ts'
import { redactor } from '../../src/core/text/redact.ts'
import { startServer, type TestServer } from '../support/server.ts'

const KEY = 'a-key-that-nobody-may-read-0123456789'
const CALL = { tool: 'Bash', arguments: { command: 'npm test' }, answer: 'ok 3', ok: true }

const servers: TestServer[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

/** A conversation of an agent elsewhere whose first task is in progress. */
async function working(): Promise<TestServer & { readonly tasks: readonly string[] }> {
  const at = await startServer({ redact: redactor({ known: [KEY] }), host: { review: false } })
  servers.push(at)
  const tasks = [{ title: 'Fix it' }, { title: 'Ship it' }]
  await at.agent.call('runsheet', 'plan', { session_id: 'c1', turn_id: 't1', arguments: { tasks } })
  return { ...at, tasks: (await at.person.tasks('c1')).tasks.map(({ id }) => id) }
}

describe('POST …/evidence', () => {
  it('[PF20] stores what an agent or a person reports, as said by the agent', async () => {
    const { agent, person, tasks } = await working()
    const [first = '', second = ''] = tasks
    const added = await agent.addEvidence('c1', CALL)
    expect(added).toEqual({ stored: true, evidence_id: expect.any(String), task_id: first, seq: expect.any(Number) })
    await person.addEvidence('c1', { tool: 'Read', ok: false, task_id: second })
    expect((await agent.evidence('c1', first)).evidence).toEqual([
      {
        ...CALL,
        id: (added as { evidence_id: string }).evidence_id,
        source: 'agent',
        at: expect.any(String),
        seq: added.seq,
      },
    ])
    expect((await person.evidence('c1', second)).evidence).toMatchObject([
      { tool: 'Read', arguments: null, answer: null, ok: false, source: 'agent' },
    ])
  })

  it('[PF20] the source is not for the caller to say', async () => {
    const { ask } = await working()
    const answer = await ask('POST', '/api/sessions/c1/evidence', { as: 'agent', body: { ...CALL, source: 'host' } })
    expect(answer.status).toBe(422)
  })

  it('[PF20] says why nothing was stored, and creates no conversation', async () => {
    const { agent, person, ask } = await working()
    const { tasks } = await person.tasks('c1')
    for (const { id, version } of tasks.toReversed()) await person.removeTask('c1', id, version)
    const { seq } = await person.session('c1')
    expect(await agent.addEvidence('c1', CALL)).toEqual({ stored: false, because: 'no_task_in_progress', seq })
    const unknown = await ask('POST', '/api/sessions/none/evidence', { as: 'agent', body: CALL })
    expect([unknown.status, (await person.sessions()).sessions.length]).toEqual([404, 1])
    const named = await ask('POST', '/api/sessions/c1/evidence', { as: 'agent', body: { ...CALL, task_id: 'x' } })
    expect(named.status).toBe(404)
  })

  it('[PF16] stores no secret, whole or in colours, and nothing that a terminal obeys', async () => {
    const { agent, door, tasks } = await working()
    const half = KEY.length / 2
    await agent.addEvidence('c1', {
      tool: 'Bash',
      arguments: { password: 'hunter2-hunter2', command: `curl -H "Authorization: Bearer ${'k3y'.repeat(12)}"` },
      answer: `\u001b[32m${KEY.slice(0, half)}\u001b[0m${KEY.slice(half)} ${'x'.repeat(20_000)}\u202e ${KEY}`,
      ok: true,
    })
    const events = await door.conversations.events(
      { tenant: 'local', conversation: 'c1' },
      { types: ['evidence_added'], task: tasks[0] },
    )
    const text = JSON.stringify(events)
    for (const secret of [KEY, KEY.slice(0, half), 'hunter2', 'k3yk3y', '\\u001b', '\u202e']) {
      expect(text).not.toContain(secret)
    }
    expect(text).toContain('characters left out')
    // Many parts become one text.
    const parts = Array.from({ length: 3_000 }, () => 'x')
    await agent.addEvidence('c1', { tool: 'Bash', answer: [KEY, { password: 'hunter2-hunter2' }, ...parts], ok: true })
    const { evidence } = await agent.evidence('c1', tasks[0] ?? '')
    expect(evidence.at(-1)?.answer).toMatch(/^\["[\s\S]* characters left out/)
    expect(JSON.stringify(evidence)).not.toMatch(new RegExp(`${KEY}|hunter2`))
    expect(text.length).toBeLessThan(9_000)
  })
})

describe('GET …/tasks/:task_id/evidence', () => {
  it('an unknown conversation or task is 404, a task without anything has empty lists', async () => {
    const { agent, ask, tasks } = await working()
    expect((await ask('GET', `/api/sessions/none/tasks/${tasks[0]}/evidence`)).status).toBe(404)
    expect((await ask('GET', '/api/sessions/c1/tasks/none/evidence')).status).toBe(404)
    const empty = { verdicts: [], claims: [], evidence: [], left_out: [] }
    expect(await agent.evidence('c1', tasks[1] ?? '')).toEqual({ task_id: tasks[1], ...empty, seq: expect.any(Number) })
  })

  it('shows the calls that tell most, and counts the others by tool', async () => {
    const { agent, tasks } = await working()
    await agent.addEvidence('c1', { ...CALL, tool: 'Lint', ok: false })
    for (let n = 0; n < 60; n += 1) await agent.addEvidence('c1', { ...CALL, answer: n })
    const { evidence, left_out } = await agent.evidence('c1', tasks[0] ?? '')
    expect(left_out).toEqual([{ tool: 'Bash', calls: 11, failed: 0 }])
    expect([evidence.length, evidence[0]?.tool, evidence.at(-1)?.answer]).toEqual([50, 'Lint', 59])
  })
})

describe('liveEvidence', () => {
  /** A live conversation of which the test is the server. */
  function followed() {
    let hear: (event: never) => void = () => {}
    const answers: PromiseWithResolvers<EvidenceAnswer>[] = []
    const evidence = (): Promise<EvidenceAnswer> => {
      const answer = Promise.withResolvers<EvidenceAnswer>()
      answers.push(answer)
      return answer.promise
    }
    const onEvent = (listener: (event: never) => void) => {
      hear = listener
      return () => (hear = () => {})
    }
    return {
      answers,
      live: liveEvidence({ evidence }, { onEvent }, 'c1', 'a'),
      says: (type: string, task_id: string) => hear({ type, data: { task_id } } as never),
    }
  }
  const answer = (seq: number): EvidenceAnswer => ({
    task_id: 'a',
    verdicts: [],
    claims: [],
    evidence: [],
    left_out: [],
    seq,
  })

  it('loads with its first listener, and again after events about its task, once for many', async () => {
    const { live, answers, says } = followed()
    expect([live.snapshot().evidence, answers.length]).toEqual([null, 0])
    let heard = Promise.withResolvers<void>()
    const leave = live.subscribe(() => heard.resolve())
    expect([live.snapshot().isLoading, answers.length]).toEqual([true, 1])
    says('evidence_added', 'b')
    for (let n = 0; n < 3; n += 1) says('evidence_added', 'a')
    heard = Promise.withResolvers()
    answers[0]?.resolve(answer(1))
    await heard.promise
    await expect.poll(() => answers.length).toBe(2)
    answers[1]?.resolve(answer(2))
    await expect.poll(() => live.snapshot()).toEqual({ evidence: answer(2), isLoading: false, error: null })
    leave()
    says('evidence_added', 'a')
    expect(answers.length).toBe(2)
  })

  it('keeps what it has when a request fails, and says so', async () => {
    const { live, answers } = followed()
    live.subscribe(() => {})
    answers[0]?.resolve(answer(1))
    await expect.poll(() => live.snapshot().isLoading).toBe(false)
    live.reload()
    answers[1]?.reject(new RunsheetError(503, { code: 'closing', message: 'Later.' }))
    await expect.poll(() => live.snapshot().error?.code).toBe('closing')
    expect(live.snapshot()).toMatchObject({ evidence: answer(1), isLoading: false })
  })
})
