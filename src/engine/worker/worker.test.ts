import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { scratchFolder } from '../../../test/support/scratch.ts'
import type { Json, StoredEvent } from '../../core/model/event.ts'
import { checkIn, workspaceKey } from '../../core/model/needs.ts'
import { checkState } from '../../core/proof/check-state.ts'
import type { PolicyPatch } from '../../core/model/policy.ts'
import { plainMaker } from '../door/checks.ts'
import { openDoor, type Door } from '../door/door.ts'
import { openMemoryStore } from '../../store/memory.ts'
import { openSqliteStore } from '../../store/sqlite/store.ts'
import type { Store } from '../../store/store.ts'
import { callTool } from '../toolsets/calls.ts'
import { toolsets } from '../toolsets/index.ts'
import { Worker } from './worker.ts'
import type { Workspaces } from './workspaces.ts'

const PLACE = { machine: 'here', path: '/work' }
const HERE = { tenant: 'local', conversation: 'c1' }
const CHECK = { kind: 'command', run: ['npm', 'test'], id: 'k1', hash: 'h1' } as const

const ends: (() => Promise<void>)[] = []
afterEach(async () => {
  vi.useRealTimers()
  for (const end of ends.splice(0).toReversed()) await end()
})

/** A turn of an agent elsewhere, or of ours, with one task that has one approved check. */
async function planned(own = false, store: Store = openMemoryStore()): Promise<Door> {
  const door = openDoor({ store })
  ends.push(() => door.close())
  const host = { review: false, assessor: false }
  const opened = { turn_id: 't1', workspace: PLACE, host }
  await door.run(
    HERE,
    own
      ? { type: 'start_turn', ...opened, message_id: 'm1', message: 'Do it.', model: 'x' }
      : { type: 'open_turn', ...opened, toolset: 'runsheet' },
    {
      type: 'edit_tasks',
      by: 'model',
      turn_id: 't1',
      create: [
        { id: 'task-1', title: 'a', checks: [CHECK], allowed: [CHECK.hash] },
        { id: 'task-2', title: 'b' },
      ],
    },
  )
  return door
}

const claims = (door: Door, tool = 'update') =>
  door.run(HERE, {
    type: 'make_claims',
    turn_id: 't1',
    tool_call_id: 'call-1',
    basis: 0,
    claims: [{ claim_id: 'claim-1', task_id: 'task-1', status: 'completed', outcome: 'Done.', seal: 's' }],
    held: {
      toolset: 'runsheet',
      tool,
      edit: { change: [{ task: 'task-1', fields: { status: 'completed', outcome: 'Done.' } }] },
      items: 0,
    },
  })

function runs(door: Door, more: Partial<Workspaces> = {}): { runner: Worker; reported: unknown[] } {
  const reported: unknown[] = []
  const workspaces: Workspaces = {
    keys: [workspaceKey(PLACE)],
    fingerprint: async () => 'f',
    record: async () => null,
    run: async () => ({ result: 'passed', duration_ms: 1 }),
    ...more,
  }
  const runner = new Worker({ door, workspaces, leaseMs: 100, onError: error => reported.push(error) })
  ends.push(() => runner.close())
  runner.start()
  return { runner, reported }
}

const log = (door: Door): Promise<readonly StoredEvent[]> => door.conversations.eventsAfter(HERE, 0, 1_000)

const reached = (door: Door, type: StoredEvent['type'], count = 1): Promise<void> =>
  vi.waitFor(async () => expect((await log(door)).filter(each => each.type === type)).toHaveLength(count))

describe('what fails unexpectedly', () => {
  it('a call that cannot be settled is answered, and its claim refused', async () => {
    const door = await planned()
    const { reported } = runs(door)
    await claims(door, 'of another version')
    await reached(door, 'tool_answered')
    const [settled, answered] = (await log(door)).slice(-2)
    expect(settled).toMatchObject({ type: 'claim_settled', data: { result: 'refused', because: 'refused' } })
    expect(answered).toMatchObject({ data: { tool_call_id: 'call-1', ok: false } })
    expect(reported).toHaveLength(1)
    expect((await door.read(HERE)).proof.get('task-1')?.reds).toBe(0)
  })

  it('a run is inconclusive', async () => {
    const door = await planned()
    const { reported } = runs(door, { run: () => Promise.reject(new TypeError('broken')) })
    await reached(door, 'check_ran')
    expect((await log(door)).at(-1)).toMatchObject({ data: { why: 'baseline', result: 'inconclusive' } })
    expect(reported).toEqual([new TypeError('broken')])
  })
})

/** A process that dies in the run leaves only its start behind. */
const diesIn = (door: Door, run_id: string) =>
  door.run(HERE, { type: 'start_check', turn_id: 't1', run_id, hash: CHECK.hash, why: 'baseline' })

/** A runner that is closed in the middle of its run. */
async function leaves(door: Door, times: number): Promise<void> {
  const { runner } = runs(door, {
    run: (_, { signal }) => new Promise((_resolve, reject) => signal.addEventListener('abort', reject)),
  })
  await reached(door, 'check_started', times)
  await runner.close()
}

it('a run that never ended is made twice, then it is inconclusive', async () => {
  const door = await planned()
  await diesIn(door, 'r1')
  await diesIn(door, 'r2')
  runs(door)
  await reached(door, 'check_ran')
  expect((await log(door)).at(-1)).toMatchObject({
    data: { result: 'inconclusive', reason: 'It was interrupted 2 times.' },
  })
})

it('a runner that is closed hands its run back, however often; only crashes count', async () => {
  const door = await planned()
  await diesIn(door, 'r1')
  for (let times = 2; times <= 5; times += 1) await leaves(door, times)
  await reached(door, 'check_handed_back', 4)
  runs(door)
  await reached(door, 'check_ran')
  expect((await log(door)).at(-1)).toMatchObject({ data: { result: 'passed' } })
})

it('handed back after a crash, the crash still counts', async () => {
  const door = await planned()
  await diesIn(door, 'r1')
  await leaves(door, 2)
  await diesIn(door, 'r3')
  runs(door)
  await reached(door, 'check_ran')
  expect((await log(door)).at(-1)).toMatchObject({ data: { result: 'inconclusive' } })
})

it('while a run is handed back, the check waits and does not run', async () => {
  const door = await planned()
  await leaves(door, 1)
  const state = await door.read(HERE)
  const task = state.tasks.get('task-1')
  expect(task && checkState(state, task, CHECK)).toBe('waiting')
})

it('a process that froze while it looked at the workspace starts nothing', async () => {
  const door = await planned()
  const started = Promise.withResolvers<unknown>()
  runs(door, {
    run: async (_, { beforeStart }) => {
      // Frozen for longer than the lease: no timer renews it.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300)
      await door.turns.claim('another', 60_000, { abilities: [checkIn(workspaceKey(PLACE))] })
      await beforeStart?.().then(started.resolve, started.reject)
      throw new Error('lost')
    },
  })
  await expect(started.promise).rejects.toMatchObject({ code: 'fenced' })
})

it('without workspaces it neither reads nor claims', async () => {
  const door = await planned()
  const read = vi.spyOn(door, 'read')
  const claim = vi.spyOn(door.turns, 'claim')
  runs(door, { keys: [] })
  await claims(door)
  await new Promise(resolve => setTimeout(resolve, 150))
  expect(read).not.toHaveBeenCalled()
  expect(claim).not.toHaveBeenCalled()
})

it('the claims of a turn of ours are left to its driver', async () => {
  const door = await planned(true)
  const { runner, reported } = runs(door)
  await reached(door, 'check_ran')
  await claims(door)
  await reached(door, 'check_ran', 2)
  await vi.waitFor(() => expect(runner.size).toBe(0))
  expect((await log(door)).at(-1)?.type).toBe('check_ran')
  expect(reported).toEqual([])
})

it('the checks of a plan run once more when a person settles its last open task', async () => {
  const door = await planned()
  runs(door, { run: async () => ({ result: 'failed', duration_ms: 1 }) })
  await reached(door, 'check_ran')
  const change = ['task-1', 'task-2'].map(task => ({ task, fields: { status: 'completed' } as const }))
  await door.run(HERE, { type: 'edit_tasks', by: 'person', change })
  await reached(door, 'check_ran', 2)
  const state = await door.read(HERE)
  expect((await log(door)).at(-1)).toMatchObject({ data: { why: 'final', result: 'failed' } })
  // What a person settled is only marked.
  expect([state.tasks.get('task-1')?.status, state.requests]).toEqual(['completed', []])
})

describe('a lease', () => {
  const NEED = checkIn(workspaceKey(PLACE))

  it('that is given back is taken up at once, without a look', async () => {
    vi.useFakeTimers({ toFake: ['setInterval'] })
    const door = await planned()
    const lease = await door.turns.claim('another', 60_000, { abilities: [NEED] })
    const { runner } = runs(door)
    await claims(door)
    expect(runner.size).toBe(0)
    if (lease) await door.turns.release(lease)
    await reached(door, 'check_ran', 2)
  })

  it('is kept for the next claim of its turn, and given back at the end', async () => {
    const door = await planned()
    const { runner } = runs(door)
    await reached(door, 'check_ran')
    await vi.waitFor(() => expect(runner.size).toBe(0))
    expect(await door.turns.served(NEED)).toBe(true)
    await runner.close()
    expect(await door.turns.served(NEED)).toBe(false)
  })

  it("that is kept is in nobody's way: another turn in the workspace is served at once", async () => {
    vi.useFakeTimers({ toFake: ['setInterval'] })
    const door = await planned()
    const { runner } = runs(door)
    await reached(door, 'check_ran')
    await vi.waitFor(() => expect(runner.size).toBe(0))
    const there = { tenant: 'local', conversation: 'c2' }
    const create = [{ id: 'task-3', title: 'a', checks: [CHECK], allowed: [CHECK.hash] }]
    await door.run(
      there,
      { type: 'open_turn', turn_id: 't2', workspace: PLACE, host: { review: false }, toolset: 'runsheet' },
      { type: 'edit_tasks', by: 'model', turn_id: 't2', create },
    )
    await vi.waitFor(async () => expect((await door.read(there)).runs.get(CHECK.hash)?.last).toBeDefined())
  })

  it('a run that was begun under it is made or handed back, whatever ends it', async () => {
    const door = await planned()
    const { runner } = runs(door)
    await reached(door, 'check_ran')
    await vi.waitFor(() => expect(runner.size).toBe(0))
    await Promise.all([claims(door), runner.close()])
    const types = (await log(door)).map(({ type }) => type)
    expect(types.filter(type => type === 'check_started')).toHaveLength(2)
    expect(types.at(-1)).toBe('check_handed_back')
  })

  it('of a turn of ours is not kept: its driver needs it', async () => {
    const door = await planned(true)
    const { runner } = runs(door)
    await reached(door, 'check_ran')
    await vi.waitFor(() => expect(runner.size).toBe(0))
    expect(await door.turns.served(NEED)).toBe(false)
  })
})

describe('a claim that no process serves', () => {
  /** The answer of a claim that nobody serves, once that was noticed. */
  async function unserved(door: Door, host: PolicyPatch, onClaimed: () => unknown = () => {}): Promise<Json> {
    const worker = new Worker({ door, leaseMs: 100 })
    ends.push(() => worker.close())
    worker.start()
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const context = { door, ...HERE, turn: 't1', host }
    const answered = callTool(toolsets.runsheet, 'update', { id: 1, outcome: 'Done.' }, context)
    await reached(door, 'claim_made')
    onClaimed()
    // Each look reads the store.
    for (let looks = 0; looks < 8; looks += 1) await vi.advanceTimersByTimeAsync(2_000)
    return answered
  }

  it('[CF8] is ended by the worker of whoever waits, though it can serve nothing itself', async () => {
    const door = await planned()
    const answer = await unserved(door, { review: false, assessor: false })
    expect(JSON.stringify(answer)).toContain('No process with its workspace (/work) is running')
    expect((await log(door)).at(-2)).toMatchObject({
      type: 'claim_settled',
      data: { result: 'refused', because: 'no_workspace' },
    })
    expect(await door.turns.served(checkIn(workspaceKey(PLACE)))).toBe(false)
  })

  it.each([true, false])('[CF8] is not granted without its judge, though one be configured (%s)', async isOn => {
    let judges = true
    const door = openDoor({ store: openMemoryStore(), checks: { ...plainMaker, judges: () => judges } })
    ends.push(() => door.close())
    const host = { review: false, assessor: true }
    const tasks = [{ title: 'a' }, { title: 'b' }]
    await callTool(toolsets.runsheet, 'plan', { tasks }, { door, ...HERE, turn: 't1', host })
    const answer = await unserved(door, host, () => (judges = isOn))
    expect(JSON.stringify(answer)).toContain('The server with the judge is not running')
    const all = [...(await door.read(HERE)).tasks.values()]
    expect(all.filter(({ status }) => status === 'completed')).toEqual([])
  })
})

it('a claim takes two flushes: with the start of its check, and with its result and all that follows', async () => {
  const folder = scratchFolder()
  ends.push(async () => rmSync(folder, { recursive: true }))
  let flushes = 0
  const onFaultPoint = (point: string): void => void (flushes += point === 'committed' ? 1 : 0)
  const door = await planned(false, await openSqliteStore({ path: join(folder, 'runsheet.db'), onFaultPoint }))
  const { runner } = runs(door)
  await reached(door, 'check_ran')
  await vi.waitFor(() => expect(runner.size).toBe(0))
  const [before, { seq }] = [flushes, await door.read(HERE)]
  const context = { door, ...HERE, turn: 't1', host: { review: false, assessor: false } }
  expect(await callTool(toolsets.runsheet, 'update', { id: 1, outcome: 'Done.' }, context)).toMatchObject({
    remaining: 1,
  })
  expect(flushes - before).toBe(2)
  expect((await door.conversations.eventsAfter(HERE, seq, 10)).map(({ type }) => type)).toEqual([
    'tool_called',
    'claim_made',
    'check_started',
    'check_ran',
    'task_changed',
    'task_changed',
    'claim_settled',
    'tool_answered',
  ])
})
