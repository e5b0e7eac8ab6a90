import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { configuredModels } from '../../src/models/models.ts'
import type { OutsideTool } from '../../src/engine/worker/outside.ts'
import { Worker } from '../../src/engine/worker/worker.ts'
import { openDoor, type Door, StoreError } from '../../src/engine/door/door.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import type { At, Store } from '../../src/store/store.ts'
import { runChild } from '../support/children.ts'
import type { Answer, Answers } from '../support/provider.ts'
import { scratchFolder } from '../support/scratch.ts'
import { storeWith } from '../support/sse.ts'
import { placeFor } from '../support/stores.ts'
import { MODEL, startTurns, type TestTurns, type TurnsOptions } from '../support/turns.ts'

const ref = { tenant: 'local', conversation: 'c1' }
const PLAIN = { toolset: 'task_list' } as const
const addTask: Answer = { calls: [{ tool: 'AddTask', args: { title: 'a' } }] }

async function started(options: TurnsOptions = {}): Promise<TestTurns> {
  const turns = await startTurns(options)
  onTestFinished(turns.close)
  return turns
}

/** A door whose commits meet with something first. */
function meeting(opened: Store, before: (at: At) => void | Promise<void>): Door {
  const store = new Proxy<Store>(opened, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name)
      if (name !== 'commit') return typeof value === 'function' ? (value.bind(target) as unknown) : value
      const commit: Store['commit'] = async (at, decide) => {
        await before(at)
        return target.commit(at, decide)
      }
      return commit
    },
  })
  return openDoor({ store })
}

async function opened(): Promise<Store> {
  const place = await placeFor('sqlite', '')
  onTestFinished(place.remove)
  return place.open()
}

const statusOf = async ({ person }: TestTurns, turn: string): Promise<string | undefined> =>
  (await person.session('c1')).turns.find(({ turn_id }) => turn_id === turn)?.status

describe('a runner whose store lets it down', () => {
  it('[TR21] goes on once the store works again: nothing is lost, doubled or ended wrongly', async () => {
    let failures = 0
    const door = meeting(await opened(), at => {
      if (!at.once?.key.startsWith('run:') && !at.once?.key.startsWith('call:')) return
      if (failures++ % 2 === 0) throw new StoreError('busy', 'The database is busy.')
    })
    // By what it has done, not by how often it was asked: a commit that fails makes the runner ask again.
    const answers: Answers = ({ messages }) => (messages.some(({ role }) => role === 'tool') ? 'Done.' : addTask)
    const turns = await started({ door, leaseMs: 150, answers })
    const reader = await turns.chat(PLAIN)
    expect(reader.of('turn_finished').at(0)?.data.status).toBe('done')
    expect(turns.complaints.length).toBeGreaterThan(0)
    expect(reader.of('step_finished').map(({ data }) => data.step)).toEqual([1, 2])
    expect(await turns.tasks()).toHaveLength(1)
  })

  it('[TR21] does not keep asking the model meanwhile', async () => {
    const until = performance.now() + 1_000
    const door = meeting(await opened(), at => {
      if (at.lease && performance.now() < until) throw new StoreError('full', 'The disk is full.')
    })
    const turns = await started({ door, leaseMs: 300, answers: () => 'Done.' })
    const reader = await turns.chat(PLAIN)
    expect(reader.of('turn_finished').at(0)?.data.status).toBe('done')
    expect(turns.provider.asked.length).toBeLessThanOrEqual(6)
  })

  it('[TR21] waits for a lock that another process holds for longer than a commit waits', async () => {
    const folder = scratchFolder()
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const path = join(folder, 'runsheet.db')
    const { promise, resolve } = Promise.withResolvers<void>()
    const turns = await started({
      door: openDoor({ store: await openSqliteStore({ path }) }),
      answers: () => ({ text: 'Done.', after: promise }),
    })
    const reader = await turns.open(PLAIN)
    await turns.provider.until(({ asked }) => asked.length === 1)
    const holder = runChild(new URL('../support/lock-holder.ts', import.meta.url), { path })
    await holder.line(line => line === 'held')
    resolve()
    await expect.poll(() => turns.complaints.length, { timeout: 30_000 }).toBeGreaterThan(0)
    holder.process.stdin?.write('\n')
    await reader.over
    await holder.ended
    expect(reader.of('turn_finished').at(0)?.data.status).toBe('done')
    expect(reader.of('step_finished')).toHaveLength(1)
  })

  it('an error that is not of the store ends the turn as failed, and is reported', async () => {
    const door = meeting(await opened(), at => {
      if (at.once?.key.endsWith(':step:1')) throw new TypeError('a bug')
    })
    const turns = await started({ door, leaseMs: 150, answers: () => 'Done.' })
    const reader = await turns.chat(PLAIN)
    expect(reader.of('turn_finished').at(0)?.data.status).toBe('failed')
    expect(reader.of('turn_failed').at(0)?.data).toMatchObject({ code: 'internal_error' })
    expect(JSON.stringify(reader.of('turn_failed'))).not.toContain('a bug')
    expect(turns.complaints.map(String)).toEqual(['TypeError: a bug'])
    expect(turns.provider.asked).toHaveLength(1)
  })
})

describe('one turn, several runners', () => {
  const tool = (calls: string[]): OutsideTool => ({
    name: 'send',
    description: 'Sends.',
    inputSchema: { type: 'object' },
    isRepeatable: false,
    call: async () => {
      calls.push('sent')
      return 'sent'
    },
  })

  it('[TR22] a runner overtaken before it logged a call does not make it', async () => {
    const calls: string[] = []
    const stalled = Promise.withResolvers<void>()
    const goOn = Promise.withResolvers<void>()
    const store = await opened()
    const door = openDoor({ store })
    const first = await started({
      // It renews in time: what overtakes it is somebody who finds the lease free.
      door: meeting(store, async at => {
        if (!at.once?.key.includes(':called:')) return
        stalled.resolve()
        await goOn.promise
      }),
      outside: [tool(calls)],
      answers: [{ calls: [{ tool: 'send' }] }, 'Sent.'],
    })
    const reader = await first.open(PLAIN)
    await stalled.promise
    await door.turns.release({ ...ref, turn: 't1', attempt: 1 })
    const models = await configuredModels({ model: MODEL, url: first.provider.url, key: 'k' })
    const other = new Worker({ door, models, outside: { list: async () => [tool(calls)], close: async () => {} } })
    onTestFinished(() => other.close())
    await other.take(ref, 't1')
    await reader.over
    goOn.resolve()
    await expect.poll(() => first.runner.size).toBe(0)
    expect(calls).toEqual(['sent'])
    expect(first.complaints).toEqual([])
    expect(reader.of('turn_finished').at(0)?.data.status).toBe('done')
    expect((await first.log()).at(-1)?.type).toBe('turn_finished')
  })

  it('[TR21] two runners never drive the same turn, and both drive some', async () => {
    const place = await placeFor('sqlite', '')
    onTestFinished(place.remove)
    const turns = await started({
      door: openDoor({ store: await place.open() }),
      isIdle: true,
      answers: request => (request.messages.some(({ role }) => role === 'tool') ? 'Done.' : addTask),
    })
    const models = await configuredModels({ model: MODEL, url: turns.provider.url, key: 'k' })
    const readers = await Promise.all(
      Array.from({ length: 20 }, (_, count) => turns.open({ session_id: `s${count}`, ...PLAIN })),
    )
    for (let count = 0; count < 3; count += 1) {
      const door = openDoor({ store: await place.open() })
      const runner = new Worker({ door, models, onError: error => expect.fail(String(error)) })
      onTestFinished(async () => {
        await runner.close()
        await door.close()
      })
      runner.start()
    }
    await Promise.all(readers.map(({ over }) => over))
    for (const reader of readers) {
      expect(reader.types.filter(type => type === 'step_finished')).toHaveLength(2)
      expect(reader.of('turn_finished').at(0)?.data.status).toBe('done')
    }
    expect(turns.provider.asked).toHaveLength(40)
  })

  it('[TR21] a runner that closes hands over its turns at once', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const place = await placeFor('sqlite', '')
    onTestFinished(place.remove)
    const here = await started({
      door: openDoor({ store: await place.open() }),
      // Longer than any test takes.
      leaseMs: 600_000,
      answers: [addTask, { text: 'Half ', hangs: true }, { text: 'Done.', after: promise }],
    })
    const models = await configuredModels({ model: MODEL, url: here.provider.url, key: 'k' })
    const there = await started({ door: openDoor({ store: await place.open() }), models })
    const reader = await there.open(PLAIN)
    await here.runner.take(ref, 't1')
    await reader.until(() => reader.asides('text_delta', 'text_snapshot').length > 0)
    const other = here.runner.size === 1 ? here : there
    await other.stopRunner()
    await here.provider.until(({ asked }) => asked.length === 3)
    resolve()
    await reader.over
    expect(reader.of('turn_finished').at(0)?.data.status).toBe('done')
    expect(await there.tasks()).toHaveLength(1)
  })

  it('[TR21] a turn that is started while the one before is being let go is taken up', async () => {
    const turns = await started({ leaseMs: 600_000, answers: () => 'Done.' })
    for (let count = 0; count < 30; count += 1) {
      const reader = await turns.open({ ...PLAIN, turn_id: `t${count}` })
      turns.runner.takeAll()
      await reader.over
      turns.runner.takeAll()
    }
    expect(await statusOf(turns, 't29')).toBe('done')
  })

  it('[TU4] a conversation that cannot be read for a while delays no stop of another, and its own stop is heard', async () => {
    const slow = Promise.withResolvers<never>()
    slow.promise.catch(() => {})
    const store = await opened()
    let isStuck = false
    const load: Store['load'] = each => (isStuck && each.conversation === 'slow' ? slow.promise : store.load(each))
    const turns = await started({
      door: openDoor({ store: storeWith(store, { load }) }),
      answers: () => ({ text: 'Half ', hangs: true }),
    })
    const readers = await Promise.all(['slow', 'c1'].map(session_id => turns.open({ ...PLAIN, session_id })))
    await turns.provider.until(({ asked }) => asked.length === 2)
    isStuck = true
    for (const conversation of ['slow', 'c1']) {
      await openDoor({ store, readOnly: true }).run({ ...ref, conversation }, { type: 'stop_turn', turn_id: 't1' })
    }
    await readers[1]?.over
    isStuck = false
    slow.reject(new StoreError('io', 'The database did not answer in time.'))
    await readers[0]?.over
    for (const reader of readers) expect(reader.of('turn_finished').at(0)?.data.status).toBe('stopped')
  })

  it('[TR21] a runner whose lease expired claims the turn again', async () => {
    const stalled = Promise.withResolvers<void>()
    const goOn = Promise.withResolvers<void>()
    const store = await opened()
    const door = openDoor({ store })
    let isFirst = true
    const turns = await started({
      leaseMs: 600_000,
      door: meeting(store, async at => {
        if (!at.once?.key.endsWith(':step:1') || !isFirst) return
        isFirst = false
        stalled.resolve()
        await goOn.promise
      }),
      answers: () => 'Done.',
    })
    const reader = await turns.open(PLAIN)
    await stalled.promise
    await door.turns.release({ ...ref, turn: 't1', attempt: 1 })
    turns.runner.takeAll()
    await expect.poll(async () => door.turns.renew({ ...ref, turn: 't1', attempt: 2 }, 600_000)).toBe(true)
    goOn.resolve()
    await reader.over
    expect(reader.of('step_finished')).toHaveLength(1)
    expect(reader.of('turn_finished').at(0)?.data.status).toBe('done')
  })
})

/** Workspaces in which nothing is run. */
const NO_RUNS = {
  fingerprint: async () => undefined,
  record: async () => null,
  run: () => Promise.reject(new Error('there is no check')),
}

describe('a turn with a workspace', () => {
  const workspace = { machine: 'm1', path: '/work' }
  const start = {
    type: 'start_turn',
    message_id: 'm',
    message: 'Do it',
    model: MODEL,
    policy: PLAIN,
    workspace,
  } as const

  it('is driven by a runner that has it, and by no other, unless it is to stop', async () => {
    const here = await started({ door: openDoor({ store: await opened() }), answers: () => 'Done.' })
    const { door, runner } = here
    await door.run(ref, { ...start, turn_id: 't1' })
    await runner.take(ref, 't1')
    expect([runner.size, await statusOf(here, 't1')]).toEqual([0, 'running'])
    const models = await configuredModels({ model: MODEL, url: here.provider.url, key: 'k' })
    const workspaces = { ...NO_RUNS, keys: ['m1:/other', 'm1:/work'] }
    const there = new Worker({ door, models, workspaces })
    onTestFinished(() => there.close())
    there.start()
    await expect.poll(() => statusOf(here, 't1')).toBe('done')
    await there.close()
    await door.run(ref, { ...start, turn_id: 't2' })
    await door.run(ref, { type: 'stop_turn', turn_id: 't2' })
    await expect.poll(() => statusOf(here, 't2')).toBe('stopped')
    expect(here.provider.asked).toHaveLength(1)
  })
})
