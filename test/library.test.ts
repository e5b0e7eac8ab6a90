import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as immediate } from 'node:timers/promises'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { createRunner, demoModel } from '../src/library/runner.ts'
import type { ReviewRequest } from '../src/core/model/review.ts'
import { openSqliteStore } from '../src/library/sqlite.ts'
import { createRunsheet, openMemoryStore, Refusal, type Runsheet, type RunsheetOptions } from '../src/index.ts'
import { scratchFolder } from './support/scratch.ts'

let runsheet: Runsheet
const open = (options: Partial<RunsheetOptions> = {}): Runsheet =>
  (runsheet = createRunsheet({ store: openMemoryStore(), ...options }))
afterEach(async () => {
  vi.useRealTimers()
  await runsheet.close()
})

const PLAN = { tasks: [{ title: 'Look' }, { title: 'Leap' }] }
const ALL = { action: 'confirm', tasks: [{ draft_index: 0 }, { draft_index: 1 }] } as const

describe('a review', () => {
  it('[LI1] is decided by onReview, and the call is answered with what the person changed', async () => {
    const turn = open({
      onReview: ({ draft_tasks }) => ({
        action: 'confirm',
        tasks: draft_tasks.map((_, draft_index) =>
          draft_index === 1 ? { draft_index, title: 'Jump' } : { draft_index },
        ),
      }),
    })
      .conversation('chat-1')
      .turn('turn-1')
    expect(await turn.call('plan', PLAN)).toEqual({
      ids: [1, 2],
      next: '1 Look',
      remaining: 2,
      changes: { edited: [{ id: 2, title: 'Jump' }] },
    })
  })

  it('[RE22] may be sent back by onReview, and the next one names it', async () => {
    const asked: ReviewRequest[] = []
    const turn = open({
      onReview: review => {
        asked.push(review)
        return asked.length === 1
          ? { action: 'revise', comment: 'Look twice', tasks: [{ draft_index: 0 }] }
          : { action: 'confirm', tasks: review.draft_tasks }
      },
    })
      .conversation('chat-1')
      .turn('turn-1')
    expect(await turn.call('plan', PLAN)).toMatchObject({
      confirmed: false,
      reason: 'changes_requested',
      comment: 'Look twice',
      changes: { kept: [{ title: 'Look' }], removed: [{ title: 'Leap' }] },
    })
    expect(await turn.call('plan', PLAN)).toMatchObject({ ids: [1, 2], changes: 'none' })
    expect(asked[1]?.revises).toBe(asked[0]?.review_id)
  })

  it('[RE22] may have comments on its rows, and gets more time through the library', async () => {
    const chat = open({ policy: { review_timeout_ms: 60_000 } }).conversation('chat-1')
    const waiting = chat.turn('turn-1').call('plan', PLAN)
    const review = await vi.waitFor(async () => {
      const [found] = await chat.reviews()
      if (!found) throw new Error('nothing waits yet')
      return found
    })
    const extended = await chat.extendReview(review.review_id, { ms: 86_400_000 })
    expect(Date.parse(extended.expires_at ?? '') - Date.parse(review.expires_at ?? '')).toBeGreaterThan(86_000_000)
    expect(await chat.reviews()).toEqual([extended])
    const other = runsheet.conversation('chat-2')
    await expect(other.extendReview(review.review_id)).rejects.toMatchObject({ code: 'review_not_found' })
    const row_comments = [{ draft_index: 1, comment: 'Carefully' }]
    await chat.decide(review.review_id, { ...ALL, row_comments })
    expect(await waiting).toMatchObject({ row_comments: [{ id: 2, title: 'Leap', comment: 'Carefully' }] })
    await expect(chat.extendReview(review.review_id)).rejects.toMatchObject({ code: 'review_already_decided' })
  })

  it('[RE22] fails the call if onReview sends it back without a word', async () => {
    const chat = open({ onReview: () => ({ action: 'revise', comment: ' ' }) }).conversation('chat-1')
    await expect(chat.turn('turn-1').call('plan', PLAN)).rejects.toThrow('onReview was refused: comment must not be')
  })

  it('[LI1] is left to others where onReview returns nothing', async () => {
    const asked = Promise.withResolvers<string>()
    const chat = open({ onReview: ({ review_id }) => asked.resolve(review_id) }).conversation('chat-1')
    const call = chat.turn('turn-1').call('plan', PLAN)
    const reviewId = await asked.promise
    expect((await chat.reviews()).map(({ review_id }) => review_id)).toEqual([reviewId])
    const decided = await chat.decide(reviewId, ALL)
    expect(decided.resolution).toMatchObject({ action: 'confirm', via: 'library' })
    expect(await call).toEqual(decided.result)
    expect(await chat.decide(reviewId, ALL)).toEqual(decided)
  })

  it('[LI1] that somebody else decided first is answered with that decision', async () => {
    const chat = open({
      onReview: async ({ review_id }) => {
        await chat.decide(review_id, { action: 'cancel' })
        return ALL
      },
    }).conversation('chat-1')
    expect(await chat.turn('turn-1').call('plan', PLAN)).toMatchObject({ confirmed: false, reason: 'user_cancelled' })
  })

  it('[LI1] fails the call if onReview throws', async () => {
    const chat = open({
      onReview: () => {
        throw new Error('no terminal')
      },
    }).conversation('chat-1')
    await expect(chat.turn('turn-1').call('plan', PLAN)).rejects.toThrow('no terminal')
  })

  it('[LI1] a decision that is refused fails the call, and is not told to the model', async () => {
    const chat = open({ onReview: () => ({ action: 'confirm', tasks: [] }) }).conversation('chat-1')
    await expect(chat.turn('turn-1').call('plan', PLAN)).rejects.toThrow('onReview was refused: At least 1 task')
  })

  it('[LI1] of a turn that a runner drives is decided by onReview, too', async () => {
    open({
      onReview: ({ draft_tasks }) => ({
        action: 'confirm',
        tasks: draft_tasks.map((_, draft_index) => ({ draft_index })),
      }),
    })
    const runner = createRunner({ runsheet, models: { demo: demoModel() } })
    const chat = runsheet.conversation('chat-1')
    await chat.startTurn('turn-1', { message: 'First compute 1+1, then compute 2+2.', model: 'demo' })
    for await (const { events } of chat.events()) if (events.some(({ type }) => type === 'turn_finished')) break
    expect((await chat.tasks()).map(({ status }) => status)).toEqual(['completed', 'completed'])
    await runner.close()
  })

  it('without onReview or a page the first waiting call says so on stderr after 5 s, once', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const written: string[] = []
    const stderr = vi.spyOn(process.stderr, 'write').mockImplementation(text => written.push(String(text)) > 0)
    const chat = open().conversation('chat-1')
    const calls = ['turn-1', 'turn-2'].map(id => chat.turn(id).call('plan', PLAN))
    while ((await chat.reviews()).length < 2) await immediate()
    await vi.advanceTimersByTimeAsync(4_900)
    expect(written).toEqual([])
    await vi.advanceTimersByTimeAsync(200)
    while (written.length === 0) await immediate()
    expect(written[0]).toMatch(/^Runsheet: a plan waits for review .*onReview.*decide.*review: false/)
    stderr.mockRestore()
    for (const { review_id } of await chat.reviews()) await chat.decide(review_id, { action: 'cancel' })
    await Promise.all(calls)
    expect(written).toHaveLength(1)
  })

  it('of another conversation is none of this one', async () => {
    const asked = Promise.withResolvers<string>()
    open({ onReview: ({ review_id }) => asked.resolve(review_id) })
    const call = runsheet.conversation('chat-1').turn('turn-1').call('plan', PLAN)
    const reviewId = await asked.promise
    await expect(runsheet.conversation('chat-2').decide(reviewId, ALL)).rejects.toMatchObject({
      code: 'review_not_found',
    })
    await runsheet.conversation('chat-1').decide(reviewId, ALL)
    await call
  })
})

describe('a turn', () => {
  const unreviewed = { policy: { review: false } } as const

  it('gives tools, prompt, digest and what is open', async () => {
    const turn = open(unreviewed).conversation('chat-1').turn('turn-1')
    expect(turn.tools().map(({ name }) => name)).toEqual(['plan', 'update', 'tasks'])
    expect(turn.tools({ format: 'openai' })[0]).toMatchObject({ type: 'function', function: { name: 'plan' } })
    expect(await turn.prompt()).toMatch(/^## Plan/)
    expect(await turn.digest()).toBe('')
    await turn.call('plan', PLAN)
    expect(await turn.digest()).toBe('## Where the plan stands\nNow:\n- 1 Look\nNext:\n- 2 Leap\n2 remaining.')
    expect((await turn.openTasks()).map(({ title }) => title)).toEqual(['Look', 'Leap'])
  })

  it('offers the named tools, with a prefix', async () => {
    const turn = open(unreviewed)
      .conversation('chat-1')
      .turn('turn-1', { prefix: 'rs_', names: ['plan', 'update'] })
    expect(turn.tools().map(({ name }) => name)).toEqual(['rs_plan', 'rs_update'])
    expect(await turn.prompt()).toMatch(/call rs_plan once[^]*settle each with rs_update/)
    expect(await turn.call('rs_plan', PLAN)).toMatchObject({ ids: [1, 2] })
    expect(
      await runsheet
        .conversation('chat-1')
        .turn('turn-1', { names: ['update'] })
        .prompt(),
    ).toBe('')
  })

  it('finishes done, or incomplete while tasks are open, and then takes no more calls', async () => {
    const chat = open(unreviewed).conversation('chat-1')
    const turn = chat.turn('turn-1')
    await turn.call('plan', PLAN)
    expect(await turn.finish()).toMatchObject({ status: 'incomplete', remaining: 2 })
    expect(await turn.call('tasks', {})).toMatchObject({ error: expect.stringContaining('turn-1 is over') })
    const next = chat.turn('turn-2')
    await next.call('plan', { tasks: [{ title: 'Land' }] })
    await next.call('update', { id: 3, outcome: 'Landed.' })
    expect(await next.finish()).toMatchObject({ status: 'done', remaining: 0 })
  })

  it('stopped, takes no more calls', async () => {
    const turn = open(unreviewed).conversation('chat-1').turn('turn-1')
    await turn.call('plan', PLAN)
    await turn.stop()
    expect(await turn.call('tasks', {})).toMatchObject({ error: expect.stringContaining('stopped') })
  })

  it('[TS1] a call without a turn around it reads and writes nothing, and is answered that there is none', async () => {
    const turn = open(unreviewed).conversation('chat-1').turn('turn-1')
    const none = 'Error: Task list is not available (no conversation context).'
    expect(await runsheet.call('plan', PLAN)).toBe(none)
    expect(await turn.within(() => runsheet.call('plan', PLAN))).toMatchObject({ ids: [1, 2] })
    expect(await runsheet.call('plan', PLAN)).toBe(none)
    await expect(turn.within(() => Promise.reject(new Error('the request failed')))).rejects.toThrow('failed')
    expect(await runsheet.call('tasks', {})).toBe(none)
    const other = createRunsheet({ store: openMemoryStore() })
    expect(await turn.within(() => other.call('tasks', {}))).toBe(none)
    await other.close()
    expect(await runsheet.conversation('chat-1').tasks()).toHaveLength(2)
  })

  it('[TS1] requests at once each call in their own turn', async () => {
    open(unreviewed)
    const request = (id: string, waits: number): Promise<unknown> =>
      runsheet
        .conversation(id)
        .turn('turn-1')
        .within(async () => {
          for (let turns = 0; turns < waits; turns += 1) await immediate()
          await runsheet.call('plan', { tasks: [{ title: `in ${id}` }] })
          await immediate()
          return runsheet.call('tasks', {})
        })
    const ids = Array.from({ length: 20 }, (_, index) => `c${index}`)
    const answers = await Promise.all(ids.map((id, index) => request(id, index % 3)))
    expect(answers.map(answer => (answer as { tasks: { title: string }[] }).tasks.map(({ title }) => title))).toEqual(
      ids.map(id => [`in ${id}`]),
    )
  })

  it('[TS14] a repeated call id answers the same', async () => {
    const turn = open(unreviewed).conversation('chat-1').turn('turn-1')
    const first = await turn.call('plan', PLAN, { id: 'call-1' })
    expect(await turn.call('plan', PLAN, { id: 'call-1' })).toEqual(first)
    expect(await runsheet.conversation('chat-1').tasks()).toHaveLength(2)
  })
})

describe('a conversation', () => {
  it("is changed on a person's behalf, and its state is plain data", async () => {
    const chat = open({ policy: { review: false } }).conversation('chat-1')
    await chat.turn('turn-1').call('plan', PLAN)
    const added = await chat.addTask({ title: 'Land' })
    expect(added).toMatchObject({ number: 3, created_by: 'user' })
    const changed = await chat.changeTask(3, { title: 'Land softly' }, { version: added.version })
    expect(changed).toMatchObject({ title: 'Land softly', version: 2 })
    await expect(chat.changeTask(added.id, { title: 'x' }, { version: 1 })).rejects.toThrow(Refusal)
    await chat.removeTask(3)
    const snapshot = await chat.snapshot()
    expect(JSON.parse(JSON.stringify(snapshot))).toEqual(snapshot)
    expect(
      Object.values(snapshot.tasks)
        .map(({ title }) => title)
        .sort(),
    ).toEqual(['Leap', 'Look'])
  })

  it("[TA21] a person's change is taken back and made again", async () => {
    const chat = open({ policy: { review: false } }).conversation('chat-1')
    await chat.turn('turn-1').call('plan', PLAN)
    const [, leap] = await chat.tasks()
    const removed = await chat.removeTask(leap?.id ?? '')
    const back = await chat.undoChange(removed.id, removed.version)
    expect([back.version, back.number]).toEqual([3, 2])
    expect((await chat.undoChange(back.id, back.version)).removed_at).toEqual(expect.any(String))
    expect((await chat.tasks()).map(({ title }) => title)).toEqual(['Look'])
    await expect(chat.undoChange(back.id, 1)).rejects.toMatchObject({ code: 'not_undoable' })
  })

  it('refuses options that it does not know, instead of ignoring them', () => {
    const chat = open().conversation('chat-1')
    expect(() => chat.turn('turn-1', { toolset: 'nope' as 'runsheet' })).toThrow('toolset must be one of: manage_todos')
    expect(() => chat.turn('turn-1', { names: ['nope'] })).toThrow('names must be one of: plan, update, tasks')
    const reviw = { reviw: false } as RunsheetOptions['policy']
    expect(() => createRunsheet({ store: openMemoryStore(), ...(reviw ? { policy: reviw } : {}) })).toThrow(
      'reviw is not a known field',
    )
  })

  it('is found by its words', async () => {
    const folder = scratchFolder()
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const store = await openSqliteStore(join(folder, 'runsheet.db'))
    const chat = open({ store, policy: { review: false } }).conversation('chat-1')
    await chat.turn('turn-1').call('plan', { tasks: [{ title: 'Größe ändern' }] })
    for (let index = 0; index < 60; index += 1) await chat.addTask({ title: `Größe ${index}` })
    const { results, indexing } = await runsheet.find('grosse and')
    expect(indexing).toBe(false)
    expect(results.map(({ kind }) => kind)).toEqual(['conversation', 'task'])
    expect((await runsheet.find('grosse', { kind: 'task' })).results).toHaveLength(20)
    expect((await runsheet.find('grosse', { kind: 'task', limit: 1_000 })).results).toHaveLength(50)
    expect((await runsheet.find(`${' '.repeat(400)}grosse`)).results).toEqual([])
    expect((await runsheet.search('grosse', { limit: 3 })).items.map(({ number }) => number)).toEqual([61, 60, 59])
  })

  it('tells its events, commit by commit', async () => {
    const chat = open({ policy: { review: false } }).conversation('chat-1')
    await chat.turn('turn-1').call('plan', PLAN)
    const ending = new AbortController()
    const types: string[][] = []
    for await (const { events } of chat.events({ signal: ending.signal })) {
      types.push(events.map(({ type }) => type))
      ending.abort()
    }
    expect(types).toEqual([['policy_set', 'turn_opened', 'task_created', 'task_created', 'tool_answered']])
  })

  it('[ID1] refuses an id that could name a path', () => {
    open()
    for (const id of ['', '../x', 'a/b', 'x'.repeat(129)]) {
      expect(() => runsheet.conversation(id)).toThrow('conversation must be 1 to 128 characters')
      expect(() => runsheet.conversation('chat-1').turn(id)).toThrow('turn must be 1 to 128 characters')
    }
    expect(() => createRunsheet({ store: openMemoryStore(), tenant: 'a b' })).toThrow(Refusal)
  })
})

describe('checks', () => {
  it('[PF20] tool calls are reported and read through the library', async () => {
    const chat = open({ policy: { review: false } }).conversation('chat-1')
    const call = { tool: 'Bash', arguments: { command: 'npm test' }, answer: { passed: 3 }, ok: true }
    expect(await chat.addEvidence(call)).toEqual({ stored: false, because: 'no_task_in_progress', seq: 0 })
    await chat.turn('turn-1').call('plan', PLAN)
    const added = await chat.addEvidence({ ...call, task: 2 })
    const { evidence } = await chat.evidence(2)
    expect(evidence).toMatchObject([{ ...call, source: 'agent', id: added.stored ? added.evidence_id : '' }])
    expect(await chat.evidence(1)).toMatchObject({ verdicts: [], claims: [], evidence: [] })
    await expect(chat.evidence(9)).rejects.toThrow(Refusal)
    await expect(chat.addEvidence({ ...call, tool: '' })).rejects.toThrow(Refusal)
  })

  it('are written, approved and read through the library as over HTTP', async () => {
    const chat = open({ onReview: ({ draft_tasks }) => ({ action: 'confirm', tasks: draft_tasks }) }).conversation(
      'chat-1',
    )
    await chat.turn('turn-1').call('plan', PLAN)
    const added = await chat.addTask({ title: 'Land', check: 'npm test' })
    expect(added.checks).toMatchObject([{ kind: 'command', run: ['npm', 'test'], approved: true, state: 'waiting' }])
    const [check] = added.checks ?? []
    const checks = [...(added.checks ?? []), { kind: 'person', ask: 'Does it fly?' } as const]
    const changed = await chat.changeTask(added.number, { checks, status: 'completed' }, { version: added.version })
    expect(changed).toMatchObject({
      standing: 'confirmed',
      checks: [{ id: check?.id, hash: check?.hash, approved: true }, { ask: 'Does it fly?' }],
    })
    expect((await chat.tasks()).at(-1)).toEqual(changed)
    await expect(chat.addTask({ title: 'Cheat', check: 'true' })).rejects.toMatchObject({
      code: 'invalid_field',
      data: { field: 'check' },
    })
  })
})
