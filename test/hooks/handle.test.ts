import { beforeEach, describe, expect, it } from 'vitest'
import { redactor } from '../../src/core/text/redact.ts'
import type { EventType, StoredEvent } from '../../src/core/model/event.ts'
import { evidenceOf, openDoor, type Door } from '../../src/engine/door/door.ts'
import type { HookAnswer, HookEvent, HookFeatures } from '../../src/hosts/hook-event.ts'
import { ProcessNotes, deliverHook, handleHook } from '../../src/hosts/hook-handler.ts'
import { openMemoryStore } from '../../src/store/memory.ts'

const ref = { tenant: 'local', conversation: 'chat' }
const ALL: HookFeatures = { gate: true, evidence: true, digest: true }

let door: Door
let notes: ProcessNotes

beforeEach(() => {
  door = openDoor({ store: openMemoryStore() })
  notes = new ProcessNotes()
  return () => door.close()
})

type Some = Partial<HookFeatures>
type Unsessioned = HookEvent extends infer E ? (E extends HookEvent ? Omit<E, 'session'> : never) : never

const hears = (event: Unsessioned, features: Some = {}): Promise<HookAnswer> =>
  handleHook(
    { session: 'chat', ...event },
    {
      door,
      ref,
      notes,
      features: { ...ALL, ...features },
      redact: redactor(),
    },
  )

const prompts = (turn?: string): Promise<HookAnswer> => hears({ kind: 'prompt', ...(turn ? { turn } : {}) })
const stops = (turn?: string, features?: Some): Promise<HookAnswer> =>
  hears({ kind: 'stop', ...(turn ? { turn } : {}) }, features)

/** An agent makes a plan in this turn of ours. */
async function plans(turn_id: string, ...titles: readonly string[]): Promise<void> {
  const create = titles.map(title => ({ id: door.newId(), title }))
  await door.run(
    ref,
    { type: 'open_turn', turn_id, toolset: 'runsheet', plans: true, host: { review: false } },
    { type: 'edit_tasks', by: 'model', turn_id, create },
  )
}

const changes = (by: 'model' | 'person', task: number, fields: object, turn_id?: string): Promise<unknown> =>
  door.run(ref, { type: 'edit_tasks', by, ...(turn_id ? { turn_id } : {}), change: [{ task, fields }] })

const logged = (type: EventType): Promise<readonly StoredEvent[]> => door.conversations.events(ref, { types: [type] })

describe('stop', () => {
  it('[HK1] sends an agent back whose turn made the plan, by the id of the turn or since it began', async () => {
    for (const turn of ['p1', undefined]) {
      await prompts(turn)
      await plans(turn ?? 'plan_1', 'Collect', 'Write')
      expect(await stops(turn)).toMatchObject({
        kind: 'block',
        reason: expect.stringContaining('"Collect"; ') as unknown,
      })
    }
    expect(await logged('gate_followed')).toHaveLength(2)
  })

  it('[HK1] lets an unrelated question end', async () => {
    await prompts('p1')
    await plans('p1', 'Collect')
    await prompts('p2')
    await changes('person', 1, { title: 'Collect it' })
    expect(await stops('p2')).toEqual({ kind: 'silence' })
    expect(await logged('gate_followed')).toHaveLength(0)
  })

  it('[HK1] gives up after three follow-ups without progress, and counts in the log', async () => {
    await prompts('p1')
    await plans('p1', 'Collect', 'Write')
    const kinds = []
    for (let count = 0; count < 5; count += 1) kinds.push((await stops('p1')).kind)
    expect(kinds).toEqual(['block', 'block', 'block', 'silence', 'silence'])
    expect((await logged('gate_followed')).map(({ data }) => data)).toMatchObject([
      { follow_up: 1, open: [{ id: 1, title: 'Collect' }, { id: 2 }] },
      { follow_up: 2 },
      { follow_up: 3 },
    ])
    await changes('model', 1, { status: 'completed', outcome: 'Done.' }, 'p1')
    expect(await stops('p1')).toMatchObject({ kind: 'block' })
  })

  it('is silent in an unknown conversation, without a known turn, and with --no-gate; nothing is written', async () => {
    expect(await stops('p1')).toEqual({ kind: 'silence' })
    await plans('p1', 'Collect')
    expect(await stops()).toEqual({ kind: 'silence' })
    expect(await stops('p1', { gate: false })).toEqual({ kind: 'silence' })
    expect(await logged('gate_followed')).toHaveLength(0)
  })
})

describe('digest', () => {
  it('[HK5] is given when a session starts, and where there is no plan nothing is', async () => {
    expect(await hears({ kind: 'start' })).toEqual({ kind: 'silence' })
    await plans('p1', 'Collect')
    expect(await hears({ kind: 'start' })).toMatchObject({
      kind: 'context',
      text: expect.stringContaining('"Collect"') as unknown,
    })
    expect(await hears({ kind: 'start' }, { digest: false })).toEqual({ kind: 'silence' })
  })

  it('[HK5] comes with the first prompt of a session whose start was not heard', async () => {
    expect(await prompts('p1')).toEqual({ kind: 'silence' })
    await plans('p1', 'Collect')
    notes = new ProcessNotes()
    expect(await prompts('p2')).toMatchObject({ kind: 'context' })
    expect(await prompts('p3')).toEqual({ kind: 'silence' })
  })

  it('comes with a prompt only if somebody changed the plan since the agent saw it', async () => {
    await plans('p1', 'Collect')
    await hears({ kind: 'start' })
    expect(await prompts('p2')).toEqual({ kind: 'silence' })
    await changes('person', 1, { title: 'Collect for May' })
    expect(await prompts('p3')).toMatchObject({ kind: 'context', text: expect.stringContaining('for May') as unknown })
    expect(await prompts('p4')).toEqual({ kind: 'silence' })
  })
})

describe('tools', () => {
  const call = {
    tool: 'Bash',
    arguments: { command: 'npm test' },
    answer: 'key sk-ant-api03-abcdefghijklmnopqrstuvwxyz012345',
    ok: false,
  }

  it('are evidence of the task in progress: by the host, without secrets', async () => {
    await plans('p1', 'Collect')
    const [task] = (await door.read(ref)).tasks.values()
    await hears({ kind: 'tool', call })
    const { evidence } = (await evidenceOf(door, ref, task?.id ?? '')) ?? {}
    expect(evidence).toMatchObject([{ source: 'host', tool: 'Bash', arguments: { command: 'npm test' }, ok: false }])
    expect(JSON.stringify(evidence)).not.toContain('abcdefghijklmnopqrstuvwxyz')
  })

  it('are kept without a value that is nested too deeply to be read', async () => {
    await plans('p1', 'Collect')
    const answer: unknown = JSON.parse(`${'['.repeat(20_000)}${']'.repeat(20_000)}`)
    await hears({ kind: 'tool', call: { ...call, answer } })
    expect(await logged('evidence_added')).toMatchObject([{ data: { answer: expect.stringContaining('too deeply') } }])
  })

  it('are not stored without a task in progress, or with --no-evidence', async () => {
    await hears({ kind: 'tool', call })
    expect((await door.read(ref)).seq).toBe(0)
    await plans('p1', 'Collect')
    await hears({ kind: 'tool', call }, { evidence: false })
    expect(await logged('evidence_added')).toHaveLength(0)
  })
})

it('a host does not wait for evidence, and is not told that it could not be stored', async () => {
  const failed = Promise.withResolvers<unknown>()
  const gone = new Error('The store is gone.')
  const broken = new Proxy(door, {
    get: (target, name) =>
      name === 'transact' || name === 'read' ? () => Promise.reject(gone) : Reflect.get(target, name),
  })
  const deps = { door: broken, ref, notes, features: ALL, redact: redactor(), onError: failed.resolve }
  const call = { tool: 'Bash', arguments: {}, answer: 'a', ok: true }
  expect(await deliverHook({ session: 'chat', kind: 'tool', call }, deps)).toEqual({ kind: 'silence' })
  expect(await failed.promise).toBe(gone)
  await expect(deliverHook({ session: 'chat', kind: 'prompt' }, deps)).rejects.toBe(gone)
})
