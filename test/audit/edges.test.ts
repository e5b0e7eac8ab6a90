import { rmSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createClient } from '../../src/client/client.ts'
import { openDoor } from '../../src/engine/door/door.ts'
import { requestOrigin } from '../../src/server/http/access.ts'
import { createRunsheet, openMemoryStore } from '../../src/index.ts'
import { originNames } from '../../src/core/model/origin.ts'
import { redactor } from '../../src/core/text/redact.ts'
import { doorOf } from '../../src/library/handles.ts'
import { createHandler } from '../../src/library/http.ts'
import { openFileStore } from '../../src/store/files/store.ts'
import { originsIn, originsOf } from '../support/origins.ts'
import { scratchFolder } from '../support/scratch.ts'
import { startServer, type TestServer, TOKENS } from '../support/server.ts'
import { follow } from '../support/sse.ts'
import { confirmAll, startTurns } from '../support/turns.ts'

const PLAN = { tasks: [{ title: 'Look' }, { title: 'Leap' }] }
const PERSON = { actor: 'person', edge: 'http', credential: 'person', claimed: { client: 'node' } }
const AGENT = { actor: 'agent', edge: 'http', credential: 'agent', claimed: { client: 'node' } }
const PAGE = { actor: 'person', edge: 'page', credential: 'page', claimed: { client: 'node' } }

async function started(options: Parameters<typeof startServer>[0] = {}): Promise<TestServer> {
  const server = await startServer({ reviewWaitMs: 1, ...options })
  onTestFinished(server.close)
  return server
}

/** A plan of an agent's that waits in conversation `c`. */
async function proposed({ agent, person }: TestServer): Promise<string> {
  await agent.call('runsheet', 'plan', { session_id: 'c', turn_id: 't', arguments: PLAN })
  const [review] = (await person.pendingReviews('c')).reviews
  return review?.review_id ?? ''
}

describe.each(['memory', 'sqlite', 'json', 'postgres'] as const)('over HTTP, stored in %s', store => {
  it("the agent's and the person's tokens are told apart, in the log, the stream and after a reload", async () => {
    const at = await started({ store })
    const review = await proposed(at)
    await at.person.decide(review, { action: 'confirm', tasks: [{ draft_index: 0 }] })
    const [first] = (await at.person.tasks('c')).tasks
    const { task } = await at.person.changeTask('c', first?.id ?? '', first?.version ?? 0, { status: 'completed' })
    await at.person.removeTask('c', task.id, task.version)
    await at.person.addTask('c', { title: 'Swim' })
    const { seq } = await at.person.stop('c', 't')
    const expected = [
      ['policy_set', AGENT],
      ['turn_opened', AGENT],
      ['task_create_review_resolved', PERSON],
      ['task_changed', PERSON],
      ['task_removed', PERSON],
      ['task_created', PERSON],
      ['turn_stop_requested', PERSON],
    ]
    expect(await originsOf(at.door, 'c')).toEqual(expected)
    const stream = await follow(at, 'c')
    await stream.reached(seq)
    const sent = stream.frames.flatMap(({ event, data: { data } }) => (data['origin'] ? [[event, data['origin']]] : []))
    expect(sent).toEqual(expected)
    stream.cut()
    // Neither the state nor the rows hold it.
    expect(JSON.stringify((await at.person.session('c')).reviews)).not.toContain('origin')
    expect(JSON.stringify((await at.person.snapshot('c')).conversation)).not.toContain('origin')
  })
})

describe('over HTTP', () => {
  it('a page that signed in with a code is told apart from other clients of the person', async () => {
    const at = await started()
    const { token } = await at.person.login(at.server.loginCode())
    const page = createClient({ url: at.url, token })
    await page.decide(await proposed(at), { action: 'cancel' })
    expect((await originsOf(at.door, 'c')).at(-1)).toEqual(['task_create_review_resolved', PAGE])
  })

  it('[AD1] tasks that an agent writes without a review are a decision; its other calls are not', async () => {
    const at = await started({ host: { review: false } })
    const call = (tool: string, args: unknown) =>
      at.agent.call('runsheet', tool, { session_id: 'c', turn_id: 't', arguments: args })
    await call('plan', PLAN)
    await call('update', { id: 1, outcome: 'seen' })
    const types = (await originsOf(at.door, 'c')).map(([type]) => type)
    expect(types).toEqual(['policy_set', 'turn_opened', 'task_created'])
  })

  it('[AD6] no header and no field of a body can set who decided and from where', async () => {
    const at = await started()
    const review = await proposed(at)
    const forged = { actor: 'system', edge: 'page', credential: 'root', address: '10.9.9.9' }
    const answered = await at.ask('POST', `/api/task-manager/reviews/${review}/decision`, {
      body: { action: 'cancel', origin: forged },
    })
    expect(answered.status).toBe(422)
    const decided = await at.ask('POST', `/api/task-manager/reviews/${review}/decision`, {
      body: { action: 'cancel', reason: 'review_timeout' },
      headers: {
        'user-agent': `page ${TOKENS.person} Bearer abcdefgh12345678 ${'x'.repeat(200)}`,
        'x-forwarded-for': '10.9.9.9',
        forwarded: 'for=10.9.9.9',
        'x-real-ip': '10.9.9.9',
        'sec-fetch-site': 'same-origin',
        origin: at.url.origin,
        'x-runsheet-origin': JSON.stringify(forged),
        cookie: `token=${TOKENS.person}`,
      },
    })
    expect(decided.status).toBe(200)
    const [, origin] = (await originsOf(at.door, 'c')).at(-1) ?? []
    expect(origin).toEqual({ ...PERSON, claimed: { client: expect.any(String) } })
    const { client = '' } = origin?.claimed ?? {}
    expect(client.length).toBe(80)
    expect(client).toContain('Bearer [redacted]')
  })

  it('[AD6] the server knows its own tokens: a client that names itself after one is redacted', async () => {
    const at = await started({ redact: redactor({ known: Object.values(TOKENS) }) })
    const headers = { 'user-agent': `tool/${TOKENS.person}` }
    await at.ask('PUT', '/api/sessions/c/policy', { body: { review: false }, headers })
    expect(await originsOf(at.door, 'c')).toEqual([
      ['policy_set', { ...PERSON, claimed: { client: 'tool/[redacted]' } }],
    ])
  })

  it('[AD1] the address of another machine is that of the connection, whatever its headers say', () => {
    const request = new Request('http://runsheet.example/', { headers: { 'x-forwarded-for': '10.9.9.9' } })
    const from = (address: string) =>
      requestOrigin({ role: 'person', tenant: 'local', token: 'person' }, request, address, originNames(redactor()))
    expect(from('::ffff:192.0.2.7')).toEqual({
      actor: 'person',
      edge: 'http',
      credential: 'person',
      address: '192.0.2.7',
    })
    expect(from('127.0.0.1')).not.toHaveProperty('address')
  })
})

describe('behind createHandler', () => {
  it('the name that authenticate returns is the credential; without one there is none', async () => {
    const runsheet = createRunsheet({ store: openMemoryStore() })
    const handler = createHandler({
      runsheet,
      authenticate: ({ headers }) => {
        const name = headers.get('x-user') ?? undefined
        return { role: 'person', ...(name === undefined ? {} : { name }) }
      },
    })
    onTestFinished(async () => {
      await handler.close()
      await runsheet.close()
    })
    const put = (body: object, headers: Record<string, string>): Promise<Response> =>
      handler(
        new Request('https://host.example/api/sessions/c/policy', {
          method: 'PUT',
          headers: { 'content-type': 'application/json', ...headers },
          body: JSON.stringify(body),
        }),
      )
    await put({ review: false }, { 'x-user': 'ann@example.com' })
    await put({ review: true }, {})
    await put({ review: false }, { 'x-user': 'sk-abcdefgh12345678', 'user-agent': 'Mozilla/5.0' })
    expect((await originsOf(doorOf(runsheet), 'c')).map(([, origin]) => origin)).toEqual([
      { actor: 'person', edge: 'http', credential: 'ann@example.com' },
      { actor: 'person', edge: 'http' },
      { actor: 'person', edge: 'http', credential: '[redacted]', claimed: { client: 'Mozilla/5.0' } },
    ])
  })
})

describe('inside', () => {
  it("what a program does with the library is the program's, onReview included", async () => {
    const runsheet = createRunsheet({ store: openMemoryStore(), onReview: () => ({ action: 'cancel' }) })
    onTestFinished(() => runsheet.close())
    const turn = runsheet.conversation('c').turn('t')
    await turn.call('plan', PLAN)
    await turn.stop()
    const program = { actor: 'program', edge: 'library' }
    expect(await originsOf(doorOf(runsheet), 'c')).toEqual([
      ['policy_set', program],
      ['turn_opened', program],
      ['task_create_review_resolved', program],
      ['turn_stop_requested', program],
    ])
  })

  it('a turn of ours writes without a review as a turn; the person who started it is in the same log', async () => {
    const turns = await startTurns({
      answers: [{ calls: [{ tool: 'plan', args: PLAN }] }, 'Done.'],
      host: { review: false, assessor: false, gate: false },
    })
    onTestFinished(turns.close)
    await turns.chat({}, confirmAll)
    expect(originsIn(await turns.log())).toEqual([
      ['policy_set', PERSON],
      ['turn_started', PERSON],
      ['task_created', { actor: 'agent', edge: 'turn' }],
    ])
  })

  it("a review that expires is the system's; reopening it is the person's", async () => {
    const at = await started({ host: { review_timeout_ms: 100 } })
    const review = await proposed(at)
    await expect.poll(async () => (await at.person.review(review)).review.status).toBe('expired')
    await expect.poll(async () => (await originsOf(at.door, 'c')).length).toBe(3)
    await at.person.reopen(review)
    expect((await originsOf(at.door, 'c')).slice(2, 4)).toEqual([
      ['task_create_review_resolved', { actor: 'system', edge: 'system' }],
      ['task_create_review_required', PERSON],
    ])
  })

  it("what another program writes into a task file is the file's", async () => {
    const data = scratchFolder()
    const door = openDoor({ store: await openFileStore({ data }) })
    onTestFinished(async () => {
      await door.close()
      rmSync(data, { recursive: true })
    })
    const at = await started({ door, host: { review: false } })
    await at.agent.call('runsheet', 'plan', { session_id: 'c', turn_id: 't', arguments: PLAN })
    const file = join(data, '.agents/tasks/c.json')
    writeFileSync(file, readFileSync(file, 'utf8').replace('Look', 'Listen'))
    await at.person.tasks('c')
    expect((await originsOf(door, 'c')).at(-1)).toEqual(['task_changed', { actor: 'program', edge: 'file' }])
  })
})
