import { describe, expect, it } from 'vitest'
import type { CheckSpec } from '../../src/core/proof/check.ts'
import { checkIn, workspaceKey } from '../../src/core/model/needs.ts'
import { checkedBy } from '../../src/core/proof/claims.ts'
import { taskOnWire } from '../../src/core/proof/standing.ts'
import type { SessionAnswer, TaskAnswer, TaskView, TasksAnswer } from '../../src/core/views/wire.ts'
import { checkState, standingOf, waitingChanges } from '../../src/client/index.ts'
import { plainMaker } from '../../src/engine/door/checks.ts'
import { Bench, LOOK, NPM_TEST, PLACE, TASKS, proposed } from '../support/proof.ts'
import { figuresOf } from '../support/figures.ts'
import { follow } from '../support/sse.ts'

const UUID = /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/
const HASH = plainMaker.hash(NPM_TEST, PLACE)

/** What each check of a task is allowed and how it stands. */
const seen = ({ checks = [] }: TaskView): unknown[] =>
  checks.map(({ hash, approved, state, baseline }) => ({ hash, approved, state, baseline }))

const CHANGES = [{ path: 'package.json', is: 'protected', hash: 'g1' }] as const

describe('a decision', () => {
  it('[PF1] approves the proposed checks whose hashes its rows list', async () => {
    const bench = await Bench.set()
    const other: CheckSpec = { kind: 'file', path: 'CHANGES.md' }
    const review = await bench.proposes({ title: 'A', checks: [proposed(NPM_TEST), proposed(other, 'other')] })
    const [row] = await bench.draft(review)
    expect(row?.checks).toEqual([proposed(NPM_TEST), proposed(other, 'other')])
    expect((await bench.confirms(review, { draft_index: 0, approve: [HASH] })).status).toBe(200)
    expect(seen(await bench.task())).toEqual([
      { hash: HASH, approved: true, state: 'waiting', baseline: 'not_run' },
      { hash: row?.checks?.[1]?.hash, approved: false, state: 'waiting', baseline: 'not_run' },
    ])
    const events = await bench.log()
    expect(events.filter(({ type }) => type.startsWith('check_')).map(({ type, data }) => [type, data])).toEqual([
      ['check_approved', expect.objectContaining({ hash: HASH, via: 'review', origin: expect.anything() })],
      ['check_requested', expect.objectContaining({ hash: HASH, why: 'baseline' })],
    ])
  })

  it.each([
    ['the row as it was', () => ({ draft_index: 0 })],
    ['its checks as they were', (row: object) => ({ ...row, draft_index: 0 })],
    ['its checks, without a draft_index', (row: object) => ({ ...row, title: 'Another title' })],
    ['what they say, without id and hash', () => ({ draft_index: 0, checks: [NPM_TEST] })],
    ['the short form', () => ({ draft_index: 0, check: ' npm  "test" ' })],
    ['the short form in a row of its own', () => ({ title: 'B', check: 'npm test' })],
  ])('that sends back %s approves nothing', async (_, sent) => {
    const bench = await Bench.set()
    const review = await bench.proposes({ title: 'A', checks: [proposed(NPM_TEST)] })
    const [row] = await bench.draft(review)
    expect((await bench.confirms(review, sent(row ?? {}))).status).toBe(200)
    const task = await bench.task()
    expect(task.checks).toEqual([{ ...proposed(NPM_TEST), approved: false, state: 'waiting', baseline: 'not_run' }])
    expect(await bench.types()).not.toContain('check_approved')
  })

  it('[PF3] approves what the person has written', async () => {
    const bench = await Bench.set()
    const review = await bench.proposes({ title: 'A', checks: [proposed(NPM_TEST)] }, { title: 'B' })
    const mine: CheckSpec = { kind: 'command', run: ['npm', 'run', 'lint'], contains: 'ok' }
    const changed = { ...proposed(NPM_TEST), exit: 3 }
    await bench.confirms(
      review,
      { draft_index: 0, checks: [changed] },
      { draft_index: 1, checks: [mine], scope: ['test/**'] },
    )
    const [first, second] = [await bench.task(0), await bench.task(1)]
    expect(first.checks).toEqual([
      expect.objectContaining({ exit: 3, approved: true, id: expect.stringMatching(UUID) }),
    ])
    expect(first.checks?.[0]?.hash).toBe(plainMaker.hash({ ...NPM_TEST, exit: 3 } as CheckSpec, PLACE))
    expect(second).toMatchObject({ scope: ['test/**'], checks: [{ ...mine, approved: true }] })
    const resolved = (await bench.log()).find(({ type }) => type === 'task_create_review_resolved')
    expect(resolved?.data).toMatchObject({ tasks: [{ change: 'edited' }, { change: 'edited' }] })
  })

  it('[PF1] a hash that is none of the row is refused, and the review stays', async () => {
    const bench = await Bench.set()
    const review = await bench.proposes({ title: 'A', checks: [proposed(NPM_TEST)] }, { title: 'B' })
    const { status, body } = await bench.confirms(review, { draft_index: 0 }, { draft_index: 1, approve: [HASH] })
    expect([status, body]).toMatchObject([422, { error: { code: 'invalid_field', row: 1, field: 'approve' } }])
    expect(await bench.draft(review)).toHaveLength(2)
  })

  it('takes neither ids nor hashes from outside', async () => {
    const bench = await Bench.set()
    const review = await bench.proposes({ title: 'A', checks: [proposed(NPM_TEST)] })
    const forged = { kind: 'command', run: ['rm', '-rf', 'dist'], id: 'check-of-the-model', hash: HASH } as const
    await bench.confirms(review, { draft_index: 0, checks: [forged] })
    const [check] = (await bench.task()).checks ?? []
    expect(check?.id).toMatch(UUID)
    expect(check?.hash).toBe(plainMaker.hash({ kind: 'command', run: ['rm', '-rf', 'dist'] }, PLACE))
    expect(check?.hash).not.toBe(HASH)
  })
})

describe("a person's edit", () => {
  it('[PF3] of a task approves the checks that it adds, and those that it names', async () => {
    const bench = await Bench.set()
    const review = await bench.proposes({ title: 'A', checks: [proposed(NPM_TEST)] })
    await bench.confirms(review, { draft_index: 0 })
    const before = await bench.task()
    const checks = [...(before.checks ?? []), LOOK, { kind: 'file', path: 'a.txt', absent: true } as const]
    const { task } = await bench.server.person.changeTask('c1', before.id, before.version, { checks })
    expect(task.checks).toMatchObject([
      { id: 'check-of-the-model', hash: HASH, approved: false },
      { ...LOOK, approved: true },
      { path: 'a.txt', absent: true, approved: true },
    ])
    const approved = await bench.server.person.changeTask('c1', task.id, task.version, { approve: [HASH] })
    expect(seen(approved.task)[0]).toMatchObject({ approved: true })
    const wrong = { headers: { 'if-match': String(approved.task.version) }, body: { approve: ['no-such-hash'] } }
    const { code, field, row } = await bench.server.refused(422, 'PATCH', `${TASKS}/${task.id}`, wrong)
    expect([code, field, row]).toEqual(['invalid_field', 'approve', undefined])
  })

  it('[PF3] a new task with the short form has one approved check, with an id and a hash of ours', async () => {
    const bench = await Bench.set(false)
    const body = { title: 'A', check: `npm run "type check" -- 'a b'` }
    const { status, body: answer } = await bench.server.ask<TaskAnswer>('POST', TASKS, { body })
    const run = ['npm', 'run', 'type check', '--', 'a b']
    expect([status, answer.task.checks]).toMatchObject([201, [{ kind: 'command', run, approved: true }]])
    const [check] = answer.task.checks ?? []
    expect([check?.id, check?.hash]).toEqual([
      expect.stringMatching(UUID),
      plainMaker.hash({ kind: 'command', run }, PLACE),
    ])
    expect(await bench.types()).toEqual([
      'policy_set',
      'turn_opened',
      'task_created',
      'check_approved',
      'check_requested',
    ])
  })

  it('[PF3] writes commands as lines, beside the checks that are there', async () => {
    const bench = await Bench.set()
    const review = await bench.proposes({ title: 'A', checks: [proposed(NPM_TEST)] })
    const line = { kind: 'command', run: `npm run "type check"`, exit: 2 } as const
    await bench.confirms(review, { draft_index: 0, checks: [proposed(NPM_TEST), line] })
    const { checks } = await bench.task()
    expect(checks).toMatchObject([
      { run: ['npm', 'test'], approved: false },
      { run: ['npm', 'run', 'type check'], exit: 2, approved: true },
    ])
  })

  it('of the checks ends the claim of the model, and fences it', async () => {
    const bench = await Bench.set(false)
    const task = await bench.adds(NPM_TEST)
    await bench.ran(HASH, 'baseline', { result: 'failed' })
    await bench.claims(task)
    await bench.begins(HASH, 'claim')
    expect(seen(await bench.task())).toMatchObject([{ state: 'running', baseline: 'failed' }])
    const { seq } = await bench.server.door.read({ tenant: 'local', conversation: 'c1' })
    await bench.server.person.changeTask('c1', task.id, (await bench.task()).version, { checks: [] })
    const state = await bench.server.door.read({ tenant: 'local', conversation: 'c1' })
    expect([...state.claims.values()].map(claim => checkedBy(state, claim))).toEqual([{ result: 'closed' }])
    expect((await bench.task()).checks).toBeUndefined()
    const change = [{ task: task.id, fields: { status: 'completed', outcome: 'Done.' } as const }]
    const late = bench.run({ type: 'edit_tasks', by: 'model', turn_id: 't1', basis: seq, change })
    await expect(late).rejects.toMatchObject({ code: expect.stringMatching(/^(edited_by_person|claim_open)$/) })
  })
})

const tooMany = Array.from({ length: 9 }, (_, index) => ({ kind: 'file', path: `f${index}` }))

describe('a check that is refused', () => {
  it.each<[why: string, sent: object, field: string]>([
    ['proves nothing', { checks: [{ kind: 'command', run: ['true'] }] }, 'checks[0].run'],
    ['proves nothing', { check: 'echo done' }, 'check'],
    ['looks for nothing', { checks: [NPM_TEST, { kind: 'file', path: 'a', contains: ' ' }] }, 'checks[1].contains'],
    ['leaves the workspace', { checks: [{ kind: 'file', path: '../secret' }] }, 'checks[0].path'],
    ['leaves the workspace', { checks: [{ kind: 'unchanged', paths: ['/etc/**'] }] }, 'checks[0].paths[0]'],
    ['leaves the workspace', { scope: ['../**'] }, 'scope[0]'],
    ['is one of nine', { checks: tooMany }, 'checks'],
    ['needs a shell', { check: 'npm test && rm -rf /' }, 'check'],
    ['needs a shell', { checks: [{ kind: 'command', run: 'npm test | tee log' }] }, 'checks[0].run'],
    ['is said twice', { check: 'npm test', checks: [] }, 'check'],
    ['is of no kind', { checks: [{ kind: 'magic' }] }, 'checks[0].kind'],
    ['has a field of no check', { checks: [{ kind: 'person', ask: 'Ok?', run: ['x'] }] }, 'run'],
    ['is no list', { checks: NPM_TEST }, 'checks'],
  ])('because it %s: 422 with the field, and nothing is written', async (_, sent, field) => {
    const bench = await Bench.set()
    const review = await bench.proposes({ title: 'A' }, { title: 'B' })
    const { seq } = await bench.server.person.session('c1')
    const decided = await bench.confirms(review, { draft_index: 0 }, { draft_index: 1, ...sent })
    expect([decided.status, decided.body]).toMatchObject([422, { error: { code: 'invalid_field', row: 1, field } }])
    const one = await bench.server.refused(422, 'POST', TASKS, { body: { title: 'C', ...sent } })
    expect([one.code, one.field, one.row]).toEqual(['invalid_field', field, undefined])
    expect((await bench.server.person.session('c1')).seq).toBe(seq)
  })
})

describe('the routes of a check', () => {
  const at = (task: TaskView, action: string, index = 0): string =>
    `${TASKS}/${task.id}/checks/${task.checks?.[index]?.id}/${action}`

  it('a person asks for a run, which is made once, and stops it', async () => {
    const bench = await Bench.set(false)
    const task = await bench.adds(NPM_TEST)
    await bench.ran(HASH, 'baseline', { result: 'failed' })
    const { seq } = await bench.server.person.session('c1')
    const asked = await bench.server.ask<TaskAnswer>('POST', at(task, 'run'))
    expect([asked.status, seen(asked.body.task)]).toMatchObject([200, [{ state: 'failed' }]])
    expect(asked.headers.get('etag')).toBe(`"${asked.body.task.version}"`)
    expect((await bench.server.person.runCheck('c1', task.id, task.checks?.[0]?.id ?? '')).seq).toBe(asked.body.seq)
    await bench.begins(HASH, 'person')
    expect(seen(await bench.task())).toMatchObject([{ state: 'running' }])
    const { task: stopped } = await bench.server.person.stopCheck('c1', task.id, task.checks?.[0]?.id ?? '')
    expect(seen(stopped)).toMatchObject([{ state: 'inconclusive' }])
    expect((await bench.server.ask('POST', at(task, 'stop'))).status).toBe(200)
    expect(await bench.types(seq)).toEqual(['check_requested', 'check_started', 'check_ran'])
  })

  it('a person ticks what a person is asked, once', async () => {
    const bench = await Bench.set(false)
    const task = await bench.adds(LOOK, NPM_TEST)
    const { seq } = await bench.server.person.session('c1')
    const { task: ticked } = await bench.server.person.tickCheck('c1', task.id, task.checks?.[0]?.id ?? '')
    expect(ticked.checks?.map(({ kind, state }) => [kind, state])).toEqual([
      ['person', 'passed'],
      ['command', 'waiting'],
    ])
    await bench.server.ask('POST', at(task, 'tick'))
    expect(await bench.types(seq)).toEqual(['check_ticked'])
    expect((await bench.server.refused(422, 'POST', at(task, 'tick', 1))).field).toBe('check_id')
  })

  it('what cannot be run is refused, with the reason', async () => {
    const bench = await Bench.set()
    const review = await bench.proposes({ title: 'A', checks: [proposed(NPM_TEST), proposed(LOOK, 'look')] })
    await bench.confirms(review, { draft_index: 0 })
    const task = await bench.task()
    const reasons = [0, 1].map(
      async index => (await bench.server.refused(409, 'POST', at(task, 'run', index)))['because'],
    )
    expect(await Promise.all(reasons)).toEqual(['unapproved', 'person'])
    for (const action of ['run', 'stop', 'tick']) {
      const missing = await bench.server.refused(404, 'POST', `${TASKS}/${task.id}/checks/none/${action}`)
      expect(missing.code).toBe('check_not_found')
      const nowhere = await bench.server.refused(404, 'POST', `${TASKS}/none/checks/none/${action}`)
      expect([nowhere.code, nowhere.row]).toEqual(['task_not_found', undefined])
    }
  })

  it('without a workspace nothing runs', async () => {
    const { server } = await Bench.set(false)
    const ref = { tenant: 'local', conversation: 'c2' }
    await server.door.run(ref, { type: 'open_turn', turn_id: 't1', toolset: 'runsheet', host: { review: false } })
    const { task } = await server.person.addTask('c2', { title: 'A', check: 'npm test' })
    const run = server.person.runCheck('c2', task.id, task.checks?.[0]?.id ?? '')
    await expect(run).rejects.toMatchObject({ code: 'check_not_runnable', details: { because: 'no_workspace' } })
  })

  it('a person accepts changes, together or one by one', async () => {
    const bench = await Bench.set(false)
    const task = await bench.adds(NPM_TEST)
    await bench.ran(HASH, 'baseline', { result: 'failed' })
    await bench.claims(task)
    const changes = ['package.json', 'test/a.test.js'].map(path => ({ path, is: 'protected', hash: 'g1' }) as const)
    await bench.ran(HASH, 'claim', { result: 'passed', changes })
    await bench.settles(task)
    expect(await bench.task()).toMatchObject({ standing: 'reported', checks: [{ state: 'passed', changes }] })
    const path = `${TASKS}/${task.id}/changes/accept`
    expect((await bench.server.refused(422, 'POST', path, { body: { paths: ['other.json'] } })).field).toBe('paths')
    const { task: half } = await bench.server.person.acceptChanges('c1', task.id, ['package.json'])
    expect(half).toMatchObject({ standing: 'reported', checks: [{ changes: changes.slice(1) }] })
    const { task: accepted } = await bench.server.person.acceptChanges('c1', task.id, ['test/a.test.js'])
    expect(accepted).toMatchObject({ standing: 'proven', checks: [{ state: 'passed' }] })
    expect(accepted.checks?.[0]).not.toHaveProperty('changes')
  })

  it('an agent may do none of it', async () => {
    const bench = await Bench.set(false)
    const task = await bench.adds(NPM_TEST)
    const as = 'agent'
    for (const action of ['run', 'stop', 'tick']) {
      expect((await bench.server.refused(403, 'POST', at(task, action), { as })).code).toBe('persons_only')
    }
    const paths = { as, body: { paths: [] } } as const
    expect((await bench.server.refused(403, 'POST', `${TASKS}/${task.id}/changes/accept`, paths)).code).toBe(
      'persons_only',
    )
  })
})

describe('a task on the wire', () => {
  it('[PF9] says how its checks stand and, once it is completed, how far that can be trusted', async () => {
    const bench = await Bench.set(false)
    const task = await bench.adds(NPM_TEST)
    await bench.ran(HASH, 'baseline', { result: 'failed', exit: 1, fingerprint: 'f1' })
    await bench.run({
      type: 'edit_tasks',
      by: 'model',
      turn_id: 't1',
      create: [{ id: 'b', title: 'B', status: 'completed', outcome: 'x' }],
    })
    await bench.claims(task)
    await bench.ran(HASH, 'claim', { result: 'passed', exit: 0, fingerprint: 'f2' })
    await bench.settles(task)
    const expected = [
      {
        id: task.id,
        checks: [{ hash: HASH, approved: true, state: 'passed', baseline: 'failed' }],
        standing: 'proven',
        standing_reasons: ['npm test: failed before, passes now'],
      },
      { id: 'b', standing: 'reported', standing_reasons: ["the agent's word"] },
    ]
    const { server } = bench
    expect((await server.ask<TasksAnswer>('GET', TASKS, { as: 'agent' })).body.tasks).toMatchObject(expected)
    const { tasks, turns } = (await server.ask<SessionAnswer>('GET', '/api/sessions/c1')).body
    expect(tasks).toMatchObject(expected)
    expect(turns).toMatchObject([{ standings: { proven: 1, confirmed: 0, judged: 0, reported: 1 } }])
    const found = await server.ask<TasksAnswer>('GET', '/api/tasks?q=Done')
    expect(found.body.tasks).toMatchObject(expected.slice(0, 1))
    const headers = { 'if-match': String((await bench.task()).version) }
    const removed = await server.ask<TaskAnswer>('DELETE', `${TASKS}/${task.id}`, { headers })
    expect(removed.body.task).toMatchObject(expected[0] ?? {})
    const stored = (await bench.log()).flatMap(({ data }) => ('task' in data ? [data.task] : []))
    for (const each of stored) {
      expect(each).not.toHaveProperty('standing')
      for (const check of each.checks ?? []) expect(check).not.toHaveProperty('approved')
    }
  })

  it('[PF9] an open task has no standing, and one without checks no checks', async () => {
    const bench = await Bench.set(false)
    const task = await bench.adds()
    expect(task).not.toHaveProperty('standing')
    expect(task).not.toHaveProperty('checks')
    expect((await bench.server.person.session('c1')).turns[0]).not.toHaveProperty('standings')
    const done = await bench.server.person.changeTask('c1', task.id, task.version, { status: 'completed' })
    expect(done.task).toMatchObject({ standing: 'confirmed', standing_reasons: ['a person settled it'] })
  })

  it('a live client derives the same from the events', async () => {
    const bench = await Bench.set(false)
    const live = bench.server.person.live('c1')
    try {
      const task = await bench.adds(NPM_TEST, LOOK)
      await bench.ran(HASH, 'baseline', { result: 'failed' })
      await bench.claims(task)
      await bench.server.person.tickCheck('c1', task.id, task.checks?.[1]?.id ?? '')
      await bench.ran(HASH, 'claim', { result: 'passed', changes: CHANGES })
      await bench.settles(task)
      const { tasks, seq } = await bench.server.person.tasks('c1')
      await new Promise<void>(resolve => {
        const look = (): void => (live.snapshot().conversation.seq >= seq ? resolve() : undefined)
        live.subscribe(look)
        look()
      })
      const { conversation } = live.snapshot()
      const own = conversation.tasks[task.id]
      const [check] = own?.checks ?? []
      if (!own || !check) throw new Error('the task is not there')
      expect(taskOnWire(conversation, own)).toEqual(tasks[0])
      expect([checkState(conversation, own, check), waitingChanges(conversation, own, check)]).toEqual([
        'passed',
        CHANGES,
      ])
      expect(standingOf(conversation, own)?.standing).toBe('reported')
    } finally {
      live.close()
    }
  })
})

describe('a template', () => {
  it('keeps checks, unapproved: only `approve` approves them in a decision', async () => {
    const bench = await Bench.set()
    const rows = [{ title: 'Release', checks: [NPM_TEST], approve: [] }]
    await bench.server.person.saveTemplate('release', rows)
    const { tasks } = await bench.server.person.template('release')
    expect(tasks).toMatchObject([{ title: 'Release', checks: [NPM_TEST] }])
    expect(tasks[0]).not.toHaveProperty('approve')
    const [row] = tasks
    const sent = row?.checks?.[0]?.hash ?? ''
    expect(sent).toBe(plainMaker.hash(NPM_TEST, undefined))

    const first = await bench.proposes({ title: 'A' })
    await bench.confirms(first, { draft_index: 0 }, row ?? {})
    expect(seen(await bench.task(1))).toMatchObject([{ hash: HASH, approved: false }])
    const second = await bench.proposes({ title: 'B' })
    await bench.confirms(second, { draft_index: 0 }, { ...row, approve: [sent] })
    expect(seen(await bench.task(3))).toMatchObject([{ hash: HASH, approved: true }])
  })

  it('refuses the checks that a review would', async () => {
    const bench = await Bench.set()
    const body = { tasks: [{ title: 'A' }, { title: 'B', check: 'true' }] }
    const path = '/api/task-manager/templates/bad'
    expect(await bench.server.refused(422, 'PUT', path, { body })).toMatchObject({ row: 1, field: 'check' })
  })
})

it('the output of a check that runs is streamed, in a turn of an agent elsewhere, too', async () => {
  const bench = await Bench.set(false)
  const { door } = bench.server
  await bench.adds(NPM_TEST)
  const lease = await door.turns.claim('runner', 60_000, { abilities: [checkIn(workspaceKey(PLACE))] })
  if (!lease) throw new Error('there is no lease')
  const reader = await follow(bench.server, 'c1')
  await bench.begins(HASH, 'baseline')
  const started = (await bench.log()).findLast(({ type }) => type === 'check_started')
  const message_id = `check:${started?.type === 'check_started' ? started.data.run_id : ''}`
  const show = (text: string): Promise<void> => door.liveText.write(lease, { turn_id: 't1', message_id, text })
  await show('one')
  await reader.until(() => reader.asides('text_delta').length === 1)
  await show('one two')
  await reader.until(() => reader.asides('text_delta').length === 2)
  expect(reader.asides('text_delta').map(({ data }) => data)).toEqual([
    { message_id, text: 'one' },
    { message_id, text: ' two' },
  ])
  const late = await follow(bench.server, 'c1')
  await late.until(() => late.asides('text_snapshot').length === 1)
  expect(late.asides('text_snapshot')[0]?.data).toEqual({ message_id, text: 'one two' })
})

it('claims and runs are counted by how they ended', async () => {
  const bench = await Bench.set(false)
  const task = await bench.adds(NPM_TEST)
  await bench.ran(HASH, 'baseline', { result: 'failed' })
  await bench.claims(task)
  await bench.ran(HASH, 'claim', { result: 'passed' })
  await bench.settles(task)
  expect(await figuresOf(bench.server.url, 'runsheet_claims_total')).toEqual({ 'granted checks': 1 })
  expect(await figuresOf(bench.server.url, 'runsheet_check_runs_total')).toEqual({
    'failed baseline': 1,
    'passed claim': 1,
  })
})
