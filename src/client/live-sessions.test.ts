import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Session } from '../core/views/wire.ts'
import type { Client, Filing } from './client.ts'
import { groupSessions, liveSessions } from './live-sessions.ts'

const session = (session_id: string, more: Partial<Session> = {}): Session => ({
  session_id,
  title: session_id,
  seq: 1,
  created_at: '2026-11-16T09:00:00.000Z',
  updated_at: '2026-11-16T09:00:00.000Z',
  active_at: '2026-11-16T09:00:00.000Z',
  pinned: false,
  archived: false,
  mark: null,
  ...more,
})

/** A server in memory. */
function server(...sessions: Session[]) {
  const all = new Map(sessions.map(each => [each.session_id, each]))
  let refuses = false
  const asked: Parameters<Client['sessions']>[0][] = []
  return {
    all,
    asked,
    refuse: () => {
      refuses = true
    },
    client: {
      sessions: async (query: Parameters<Client['sessions']>[0] = {}) => {
        asked.push(query)
        const { limit = 50, cursor = '0', list } = query
        const from = Number(cursor)
        const listed = [...all.values()].filter(({ archived }) => archived === (list === 'archived'))
        const end = from + limit
        return { sessions: listed.slice(from, end), next_cursor: end < listed.length ? String(end) : null }
      },
      fileSession: async (id: string, change: Filing) => {
        if (refuses) throw new Error('refused')
        const changed = { ...session(id), ...all.get(id), ...change }
        all.set(id, changed)
        return changed
      },
    },
  }
}

const names = (live: ReturnType<typeof liveSessions>): string[] | undefined =>
  live.snapshot().sessions?.map(({ session_id }) => session_id)

afterEach(() => {
  vi.useRealTimers()
})

describe('a live list of conversations', () => {
  it('is loaded anew if a listener asks for that the moment it changes', async () => {
    const { client, asked } = server(session('a'))
    const live = liveSessions(client)
    const done = Promise.withResolvers<void>()
    const leave = live.subscribe(() => {
      // After the listeners, as React's effects are.
      if (asked.length === 1) void Promise.resolve().then(() => live.reload().then(done.resolve))
    })
    await done.promise
    expect(asked).toHaveLength(2)
    leave()
  })

  it('is loaded with the first listener, and again and again until the last leaves', async () => {
    vi.useFakeTimers()
    const { client, all } = server(session('a'))
    const live = liveSessions(client)
    expect(names(live)).toBeUndefined()
    const leave = live.subscribe(() => {})
    await vi.advanceTimersByTimeAsync(0)
    expect(names(live)).toEqual(['a'])
    all.set('b', session('b', { mark: 'waiting' }))
    await vi.advanceTimersByTimeAsync(15_000)
    expect(live.snapshot().sessions?.at(-1)).toMatchObject({ session_id: 'b', mark: 'waiting' })
    leave()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('shows more, page by page', async () => {
    const { client, asked } = server(...Array.from({ length: 450 }, (_, index) => session(`c${index}`)))
    const live = liveSessions(client)
    await live.reload()
    expect([names(live)?.length, live.snapshot().hasMore]).toEqual([50, true])
    await live.more()
    await live.more()
    expect([names(live)?.length, live.snapshot().hasMore]).toEqual([400, true])
    await live.more()
    expect([names(live)?.length, live.snapshot().hasMore]).toEqual([450, false])
    expect(asked.every(query => (query?.limit ?? 0) <= 200)).toBe(true)
  })

  it('more of them, asked for while an answer is on its way, are not missed', async () => {
    const { client } = server(...Array.from({ length: 90 }, (_, index) => session(`c${index}`)))
    const live = liveSessions(client)
    const first = live.reload()
    await Promise.all([first, live.more()])
    expect(names(live)?.length).toBe(90)
  })

  it('a change shows at once, in its place, and is taken back if the server refuses', async () => {
    const { client, refuse } = server(session('a'), session('b'), session('c'))
    const live = liveSessions(client)
    await live.reload()
    const pinned = live.file('c', { pinned: true })
    expect(names(live)?.[0]).toBe('c')
    expect(await pinned).toBe(true)
    refuse()
    const renamed = live.file('a', { title: 'Mine' })
    expect(live.snapshot().sessions?.find(each => each.session_id === 'a')?.title).toBe('Mine')
    expect(await renamed).toBe(false)
    expect(live.snapshot().sessions?.find(each => each.session_id === 'a')?.title).toBe('a')
    expect(live.snapshot().error).toMatchObject({ message: 'refused' })
  })

  it('what was archived here can be brought back', async () => {
    const { client } = server(session('a'), session('b'))
    const live = liveSessions(client)
    await live.reload()
    await live.file('a', { archived: true })
    expect([names(live), live.snapshot().archived?.session_id]).toEqual([['b'], 'a'])
    expect(await live.unarchive()).toBe(true)
    expect(names(live)?.toSorted()).toEqual(['a', 'b'])
    expect([live.snapshot().archived, await live.unarchive()]).toEqual([undefined, false])
  })

  it('an answer that was on its way does not undo a change', async () => {
    const { client } = server(session('a'), session('b'))
    const gates: (() => void)[] = []
    const slow = {
      ...client,
      sessions: async (query?: Parameters<Client['sessions']>[0]) => {
        const answer = await client.sessions(query)
        await new Promise<void>(resolve => gates.push(resolve))
        return answer
      },
    }
    const live = liveSessions(slow)
    const answered = async (count: number): Promise<void> => {
      await vi.waitFor(() => expect(gates).toHaveLength(count))
      gates[count - 1]?.()
    }
    const first = live.reload()
    await answered(1)
    await first
    const second = live.reload()
    await vi.waitFor(() => expect(gates).toHaveLength(2))
    await live.file('a', { pinned: true })
    await answered(2)
    await answered(3)
    await second
    expect(live.snapshot().sessions?.[0]).toMatchObject({ session_id: 'a', pinned: true })
  })
})

it('conversations are grouped by the day of their last activity, pinned ones apart, older ones by month', () => {
  const now = new Date(2026, 10, 16, 9, 30).getTime()
  const ago = (days: number, hours = 0): string => new Date(2026, 10, 16 - days, 9 - hours, 0).toISOString()
  const listed = [
    session('p', { pinned: true, active_at: ago(90) }),
    session('now', { active_at: ago(0) }),
    session('early', { active_at: ago(0, 9) }),
    session('late', { active_at: ago(0, 10) }),
    session('w', { active_at: ago(7) }),
    session('m', { active_at: ago(8) }),
    session('o', { active_at: ago(31) }),
    session('oct', { active_at: new Date(2026, 9, 1).toISOString() }),
    session('sep', { active_at: new Date(2026, 8, 30, 23).toISOString() }),
    session('old', { active_at: new Date(2025, 8, 30).toISOString() }),
  ]
  const groups = groupSessions(listed, now).map(({ group, month, sessions }) => [
    month ? month.toDateString() : group,
    sessions.map(each => each.session_id),
  ])
  expect(groups).toEqual([
    ['pinned', ['p']],
    ['today', ['now', 'early']],
    ['yesterday', ['late']],
    ['week', ['w']],
    ['month', ['m']],
    ['Thu Oct 01 2026', ['o', 'oct']],
    ['Tue Sep 01 2026', ['sep']],
    ['Mon Sep 01 2025', ['old']],
  ])
})
