import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { SubmittedRow } from '../../core/model/review.ts'
import { openDoor, type ObservedCall, type Door } from './door.ts'
import { propose, startTurn } from '../../../test/store/contract.ts'
import type { Template } from '../../core/model/template.ts'
import { openMemoryStore } from '../../store/memory.ts'
import type { Store } from '../../store/store.ts'

const ref = { tenant: 'local', conversation: 'c1' }
const CANCEL = { action: 'cancel' } as const
const PARTS: ReadonlySet<string> = new Set(['queries', 'live'])
/** The store calls of the deadline sweep, which may happen at any time. */
const SWEEP: ReadonlySet<string> = new Set(['due', 'now'])

let door: Door
/** The store calls so far, in order, without those of the sweep. */
let calls: string[]

beforeEach(() => {
  calls = []
  door = openDoor({ store: recorded(openMemoryStore()) })
  onTestFinished(() => door.close())
})

describe('reviews', () => {
  beforeEach(async () => {
    await door.run(ref, startTurn('t1'), propose('t1', 'rev-1', 'a', 'b'))
    calls = []
  })

  it('a decision costs one lookup and one commit, and so does its repetition', async () => {
    await door.reviews.decide('local', 'rev-1', CANCEL, 'http')
    expect(calls).toEqual(['queries.review', 'commit'])
    await door.reviews.decide('local', 'rev-1', CANCEL, 'http')
    expect(calls).toEqual(['queries.review', 'commit', 'queries.review', 'commit'])
  })

  it('a decided review is read and awaited with one lookup', async () => {
    await door.reviews.decide('local', 'rev-1', CANCEL, 'http')
    calls = []
    const { record } = await door.reviews.get('local', 'rev-1')
    expect(await door.reviews.await('local', 'rev-1')).toEqual(record)
    expect(calls).toEqual(['queries.review', 'queries.review'])
  })

  it('the answer is made in the commit, once, and repetitions get the same', async () => {
    let made = 0
    const decide = (): Promise<string> =>
      door.reviews.decide('local', 'rev-1', CANCEL, 'http', (state, { review }) => {
        made += 1
        return `${made}: ${review.status} at ${state.seq}`
      })
    const first = await decide()
    await door.run(ref, { type: 'stop_turn', turn_id: 't1' })
    expect([await decide(), made]).toEqual([first, 1])
  })

  it('each edge gets its own form of a decision that another edge made first', async () => {
    const record = await door.reviews.decide('local', 'rev-1', CANCEL, 'mcp_form')
    const answer = await door.reviews.decide('local', 'rev-1', CANCEL, 'http', (_, { review }) => review.status)
    expect(answer).toBe('cancelled')
    expect(await door.reviews.decide('local', 'rev-1', CANCEL, 'library')).toEqual(record)
  })

  it('a review is located in its conversation, and unknown to other tenants', async () => {
    expect(await door.reviews.locate('local', 'rev-1')).toEqual(ref)
    await expect(door.reviews.locate('other', 'rev-1')).rejects.toMatchObject({ code: 'review_not_found' })
  })
})

describe('templates', () => {
  it.each<[string, string, SubmittedRow[]]>([
    ['without rows', 'weekly', []],
    ['with a row without a title', 'weekly', [{ details: 'x' }]],
    ['with a name of two lines', 'week\nly', [{ title: 'a' }]],
  ])('one %s is refused, and nothing is written', async (_, name, rows) => {
    await expect(door.templates.save('local', name, rows)).rejects.toMatchObject({ name: 'Refusal' })
    expect(calls).toEqual([])
  })

  it('one is saved with its defaults', async () => {
    const put: Template[] = []
    const templates = { put: async (_: string, template: Template) => void put.push(template) }
    const keeping = openDoor({ store: Object.assign(openMemoryStore(), { templates }) })
    onTestFinished(() => keeping.close())
    const saved = await keeping.templates.save('local', 'weekly', [{ title: ' a ' }])
    expect(saved.tasks).toMatchObject([{ title: 'a', priority: 'medium', status: 'todo' }])
    expect(put).toEqual([saved])
  })
})

describe('a store without a capability', () => {
  it('[ST29] has nothing of it', async () => {
    expect(await door.templates.list('local')).toEqual([])
    expect(await door.templates.get('local', 'weekly')).toBeUndefined()
    expect(await door.templates.rename('local', 'weekly', 'daily')).toBe('unknown')
    expect(await door.templates.delete('local', 'weekly')).toBe(false)
    expect(await door.notices.waiting('local')).toEqual({ count: 0 })
    const silent = openDoor({ store: Object.assign(openMemoryStore(), { live: undefined }) as Store })
    onTestFinished(() => silent.close())
    await silent.liveText.write(ref, { turn_id: 't', message_id: 'm', text: 'Hello' })
    expect(await silent.liveText.read(ref)).toBeUndefined()
  })

  it('[ST29] refuses what it should do or keep, which is no failure of storage', async () => {
    const failed: unknown[] = []
    door.observeStorage(report => failed.push(report))
    const refused = [
      door.search.all('local', 'a', { limit: 1 }),
      door.search.tasks('local', 'a', { limit: 1 }),
      door.search.conversations('local', 'a', { limit: 1 }),
      door.templates.save('local', 'weekly', [{ title: 'a' }]),
      door.notices.want('local', 1_000),
    ]
    for (const call of refused) await expect(call).rejects.toMatchObject({ name: 'StoreError', code: 'unsupported' })
    expect(failed).toEqual([])
  })
})

it('ids that a store could not keep reach no store, by whichever method', async () => {
  const bad = { tenant: 'local', conversation: '../c1' }
  const refused = [
    door.read(bad),
    door.conversations.summary(bad),
    door.conversations.events(bad, {}),
    door.conversations.eventsAfter(bad, 0, 1),
    door.liveText.read(bad),
    door.templates.save('../local', 'weekly', [{ title: 'a' }]),
  ]
  for (const call of refused) await expect(call).rejects.toMatchObject({ code: 'invalid_id' })
  expect(calls).toEqual([])
})

it('[HT26] is ready as long as storage answers', async () => {
  await door.ready()
  await door.close()
  await expect(door.ready()).rejects.toMatchObject({ code: 'closed' })
})

it('every observer hears of a call, until it is removed', () => {
  const heard: string[] = []
  const call: ObservedCall = {
    toolset: 'runsheet',
    tool: 'plan',
    items: 1,
    duration_ms: 1,
    outcome: 'ok',
    edge: 'library',
    session_id: 'c1',
    turn_id: 't1',
    stored: true,
  }
  const stop = door.observe(({ tool }) => heard.push(`a ${tool}`))
  door.observe(({ tool }) => heard.push(`b ${tool}`))
  door.observed(call)
  stop()
  door.observed(call)
  expect(heard).toEqual(['a plan', 'b plan', 'b plan'])
})

/** The same object, recording calls on it and on its parts. */
function recorded<T extends object>(part: T, prefix = ''): T {
  return new Proxy(part, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name, target)
      if (PARTS.has(String(name))) return recorded(member as object, `${String(name)}.`)
      if (typeof member !== 'function') return member
      return (...given: unknown[]): unknown => {
        if (!SWEEP.has(String(name))) calls.push(`${prefix}${String(name)}`)
        return Reflect.apply(member, target, given)
      }
    },
  })
}
