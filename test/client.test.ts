import { setTimeout as delay } from 'node:timers/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import * as fc from 'fast-check'
import { pino } from 'pino'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createClient } from '../src/client/client.ts'
import type { ClientOptions, LiveConversation, LiveState } from '../src/client/index.ts'
import type { CommandOf } from '../src/core/model/command.ts'
import { fold, listed } from '../src/core/model/conversation.ts'
import { Refusal } from '../src/core/model/refusal.ts'
import { conversationOf } from '../src/core/model/snapshot.ts'
import { view } from '../src/core/views/view.ts'
import type { SnapshotAnswer } from '../src/core/views/wire.ts'
import { pageToken } from '../src/server/http/access.ts'
import { createHttpServer } from '../src/server/http/server.ts'
import { openDoor } from '../src/engine/door/door.ts'
import { openMemoryStore } from '../src/store/memory.ts'
import { conversations, resolved } from './support/commands.ts'
import { Driver, plain } from './support/domain.ts'
import { startServer, type TestServer, TOKENS } from './support/server.ts'
import { BY_PLAN } from './support/asked-by.ts'

const REF = { tenant: 'local', conversation: 'c' }

async function started(options: Parameters<typeof startServer>[0] = {}): Promise<TestServer> {
  const server = await startServer({ host: { review: false }, ...options })
  onTestFinished(() => server.close())
  return server
}

const plan = ({ agent }: TestServer, ...titles: readonly string[]) =>
  agent.call('runsheet', 'plan', {
    session_id: 'c',
    turn_id: 't',
    arguments: { tasks: titles.map(title => ({ title })) },
  })

function follow(server: { url: URL | string }, token: string = TOKENS.agent, more = {}): LiveConversation {
  const live = createClient({ url: server.url, token }).live('c', { pauseMs: 10, maxPauseMs: 50, ...more })
  onTestFinished(live.close)
  return live
}

/** The first state that fits, now or later. */
function until(live: LiveConversation, fits: (state: LiveState) => boolean): Promise<LiveState> {
  return new Promise(resolve => {
    const look = (): void => {
      if (fits(live.snapshot())) resolve(live.snapshot())
    }
    const stop = live.subscribe(look)
    onTestFinished(stop)
    look()
  })
}

const titles = ({ conversation }: LiveState): string[] => listed(conversation).map(({ title }) => title)

describe('the client', () => {
  it('[LC1] what is refused is thrown with its code, row and field; what cannot be reached, too', async () => {
    const { url, person, agent, door } = await started()
    await expect(person.session('none')).rejects.toMatchObject({ status: 404, code: 'session_not_found' })
    await expect(agent.setPolicy('c', {})).rejects.toMatchObject({ status: 403, code: 'persons_only' })
    await door.run(REF, { type: 'open_turn', turn_id: 't' })
    await expect(person.addTask('c', { title: '' })).rejects.toMatchObject({
      name: 'RunsheetError',
      status: 422,
      code: 'invalid_field',
      details: { field: 'title' },
    })
    const { task } = await person.addTask('c', { title: 'mine' })
    await expect(person.changeTask('c', task.id, 7, { title: 'x' })).rejects.toMatchObject({
      status: 412,
      details: { task },
    })
    const nobody = createClient({ url: 'http://127.0.0.1:1', token: 'x' })
    await expect(nobody.sessions()).rejects.toMatchObject({ status: 0, code: 'unreachable' })
    await expect(createClient({ url, token: 'wrong' }).sessions()).rejects.toMatchObject({ status: 401 })
    await expect(agent.session('c', AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough')
  })

  it('[LC1] a person does everything through it', async () => {
    const { person, agent } = await started({ store: 'sqlite', host: { review: true } })
    const asked = agent.call('runsheet', 'plan', {
      session_id: 'c',
      turn_id: 't',
      arguments: { tasks: [{ title: 'one' }] },
    })
    await expect.poll(async () => (await person.pendingReviews('c')).reviews.length).toBe(1)
    const [review] = (await person.pendingReviews()).reviews
    const id = review?.review_id ?? ''
    await person.showPanel(id, 'panel-1')
    await person.leavePanel(id, 'panel-1')
    expect((await person.review(id)).review.status).toBe('pending')
    const { result } = await person.decide(id, { action: 'confirm', tasks: [{ draft_index: 0 }] })
    expect(await asked).toEqual({ result })
    expect((await person.review(id)).result).toEqual(result)
    expect((await person.setPolicy('c', { review: false })).policy.review).toBe(false)
    const { task } = await person.addTask('c', { title: 'two' }, 'key-1')
    expect((await person.addTask('c', { title: 'two' }, 'key-1')).task).toEqual(task)
    const changed = await person.changeTask('c', task.id, task.version, { status: 'completed' })
    expect(changed.task).toMatchObject({ status: 'completed', judged_by: 'person' })
    expect((await person.removeTask('c', task.id, changed.task.version)).task.removed_at).toBeDefined()
    expect((await person.tasks('c', { status: 'in_progress' })).tasks.map(({ title }) => title)).toEqual(['one'])
    expect((await person.search('ONE')).tasks).toHaveLength(1)
    expect((await person.find('on', { kind: 'task' })).results).toMatchObject([{ kind: 'task', session_title: 'one' }])
    expect((await person.timeline('c', task.id)).events.map(({ type }) => type)).toEqual([
      'task_created',
      'task_changed',
      'task_removed',
    ])
    expect((await person.stop('c', 't')).turn.stop_requested).toBe(true)
    await person.saveTemplate('Release / day', [{ title: 'tag' }])
    expect((await person.template('Release / day')).tasks).toMatchObject([{ title: 'tag', priority: 'medium' }])
    expect((await person.templates()).templates).toHaveLength(1)
    expect(await person.deleteTemplate('Release / day')).toBeUndefined()
    expect((await person.toolsets()).toolsets).toHaveLength(6)
    expect((await person.toolset('task_list')).tools).toHaveLength(5)
    expect((await person.models()).models).toEqual([])
    expect((await person.sessions({ limit: 1 })).sessions).toMatchObject([{ session_id: 'c', title: 'one' }])
    expect(await person.openApi()).toMatchObject({ openapi: '3.1.0' })
    const { code } = await person.loginCode()
    expect(await person.login(code)).toEqual({ token: pageToken(TOKENS.person) })
  })
})

describe("the client's address and token", () => {
  const asked = async (options: Omit<ClientOptions, 'fetch'>) => {
    const requests: Request[] = []
    const fetch: typeof globalThis.fetch = async (...request) => {
      requests.push(new Request(...request))
      return Response.json({ sessions: [], next_cursor: null })
    }
    await createClient({ ...options, fetch }).sessions({ limit: 1 })
    return requests[0]
  }

  it.each(['https://host/base/', 'https://host/base', new URL('https://host/base/?code=1#x')])(
    '[LC1] keeps a base path: %s',
    async url => expect((await asked({ url }))?.url).toBe('https://host/base/api/sessions?limit=1'),
  )

  it('[LC1] takes an address that is relative to the page', async () => {
    vi.stubGlobal('location', { href: 'https://host/chat/page.html' })
    onTestFinished(() => void vi.unstubAllGlobals())
    expect((await asked({ url: '/runsheet/' }))?.url).toBe('https://host/runsheet/api/sessions?limit=1')
  })

  it('[LC1] asks for its token before each request', async () => {
    const url = 'https://host/'
    for (const token of ['now', () => 'now', async () => 'now']) {
      expect((await asked({ url, token }))?.headers.get('authorization')).toBe('Bearer now')
    }
    expect((await asked({ url }))?.headers.has('authorization')).toBe(false)
  })
})

describe('a live conversation', () => {
  it('[LC2] is a snapshot, and then every event once and in order', async () => {
    const server = await started()
    await plan(server, 'one')
    const live = follow(server)
    const seqs: number[] = []
    live.onEvent(({ seq }) => seqs.push(seq))
    const { conversation } = await until(live, ({ status }) => status === 'live')
    expect(titles(live.snapshot())).toEqual(['one'])
    for (let i = 0; i < 20; i += 1) await plan(server, `more ${i}`)
    const { seq } = await server.door.read(REF)
    await until(live, state => state.conversation.seq === seq)
    expect(seqs).toEqual(Array.from({ length: seq - conversation.seq }, (_, i) => conversation.seq + 1 + i))
    expect(titles(live.snapshot())).toHaveLength(21)
  })

  it('[LC2] is the same object until something changes', async () => {
    const server = await started()
    await plan(server, 'one')
    const live = follow(server)
    await until(live, ({ status }) => status === 'live')
    const before = live.snapshot()
    expect(live.snapshot()).toBe(before)
    await plan(server, 'two')
    await until(live, state => titles(state).length === 2)
    expect(live.snapshot()).not.toBe(before)
    expect(titles(before)).toEqual(['one'])
  })

  it('[LC2] shows what is being written, from the middle on, until it is stored', async () => {
    const server = await started()
    const { door } = server
    await door.run(REF, { type: 'start_turn', turn_id: 't1', message_id: 'm1', message: 'Hello', model: 'demo' })
    await door.liveText.write(REF, { turn_id: 't1', message_id: 'm2', text: 'Good mor' })
    const live = follow(server)
    expect((await until(live, ({ text }) => text !== null)).text).toEqual({ message_id: 'm2', text: 'Good mor' })
    await door.run(REF, {
      type: 'record',
      turn_id: 't1',
      fact: {
        type: 'step_finished',
        data: { step: 1, message_id: 'm2', text: 'Good morning', tool_calls: [], usage: {}, digest_seq: 1 },
      },
    })
    const { messages } = await until(live, ({ text }) => text === null)
    expect(messages.map(({ role, text }) => [role, text])).toEqual([
      ['user', 'Hello'],
      ['assistant', 'Good morning'],
    ])
    expect((await server.person.session('c')).messages).toEqual(messages)
  })

  it('[LC2] a snapshot folds on like the log itself, wherever it is taken', { timeout: 60_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(conversations(), fc.integer({ min: 0, max: 40 }), async (drawn, cut) => {
        const chat = new Driver()
        const store = openMemoryStore({ skewMs: () => Date.parse(chat.now) - Date.now() })
        const door = openDoor({ store })
        const server = createHttpServer({
          door,
          tokens: TOKENS,
          tenant: 'local',
          version: '0',
          log: pino({ level: 'silent' }),
        })
        const client = createClient({ url: await server.listen(0, '127.0.0.1'), token: TOKENS.agent })
        const ref = { tenant: 'local', conversation: 'chat-1' }
        let taken: SnapshotAnswer | undefined
        for (const [index, one] of drawn.entries()) {
          const command = resolved(chat.wait(one.wait), one)
          const answer = chat.ask(command)
          const decided = answer instanceof Refusal ? [] : answer
          await store.commit(ref, () => ({ events: decided, value: null }))
          if (index >= cut && chat.state.seq > 0) taken ??= await client.snapshot('chat-1')
        }
        await server.close(0)
        const state = await door.read(ref)
        if (taken) {
          const missed = await store.eventsAfter(ref, taken.conversation.seq, 10_000)
          expect(plain(fold(conversationOf(taken.conversation), missed))).toEqual(plain(state))
          expect(missed.reduce(view.apply, taken.view)).toEqual(view.of(await store.eventsAfter(ref, 0, 10_000)))
        }
        await door.close()
      }),
      { numRuns: 25, endOnFailure: true },
    )
  })

  it('[LC2] is plain data: it survives JSON, and holds how reviews ended and what tools answered', async () => {
    const server = await started({ host: { review: true } })
    const { door, person } = server
    await door.run(REF, { type: 'start_turn', turn_id: 't1', message_id: 'm1', message: 'Hello', model: 'demo' })
    const record = (fact: CommandOf<'record'>['fact']) => door.run(REF, { type: 'record', turn_id: 't1', fact })
    const call = { tool_call_id: 'call-1', tool: 'look', arguments: {} }
    await record({
      type: 'step_finished',
      data: { step: 1, message_id: 'm2', text: '', tool_calls: [call], usage: {}, digest_seq: 1 },
    })
    const result = 'x'.repeat(5_000)
    await record({ type: 'tool_answered', data: { ...call, result, ok: true, duration_ms: 5 } })
    await door.run(REF, {
      type: 'edit_tasks',
      by: 'model',
      turn_id: 't1',
      create: [{ id: door.newId(), title: 'one' }],
      review: { ...BY_PLAN, review_id: 'review-1', tool_call_id: 'call-2' },
    })
    await person.decide('review-1', { action: 'cancel', comment: 'not now' })
    const { snapshot } = follow(server)
    await expect.poll(() => snapshot().status).toBe('live')
    const state = snapshot()
    expect(state).toEqual(JSON.parse(JSON.stringify(state)))
    expect(state.resolutions['review-1']).toMatchObject({ action: 'cancel', comment: 'not now' })
    const answer = state.messages.at(-1)?.tool_calls?.[0]?.answer
    expect(answer).toMatchObject({ ok: true, duration_ms: 5, is_cut: true, result: 'x'.repeat(2_000) })
    expect(await person.event('c', answer?.seq ?? 0)).toMatchObject({ type: 'tool_answered', data: { result } })
  })

  it('[LC2] a snapshot of another version is not folded on: the client says that it has to be updated', async () => {
    const server = await started()
    await plan(server, 'one')
    const answer = await server.agent.snapshot('c')
    const other = { ...answer, conversation: { ...answer.conversation, version: -1 } }
    const live = createClient({ url: server.url, fetch: async () => Response.json(other) }).live('c')
    onTestFinished(live.close)
    const { error } = await until(live, ({ status }) => status === 'failed')
    expect(error?.code).toBe('upgrade_required')
  })

  it('[LC2] comes back by itself, and has missed nothing', async () => {
    const server = await started()
    await plan(server, 'one')
    const live = follow(server)
    const seen: string[] = []
    live.onEvent(event => event.type === 'task_created' && seen.push(event.data.task.title))
    await until(live, ({ status }) => status === 'live')
    await server.server.close(0)
    await until(live, ({ status }) => status === 'reconnecting')
    await server.door.run(REF, {
      type: 'edit_tasks',
      by: 'person',
      create: [{ id: server.door.newId(), title: 'meanwhile' }],
    })
    const again = createHttpServer({
      door: server.door,
      tokens: TOKENS,
      tenant: 'local',
      version: '0',
      log: pino({ level: 'silent' }),
    })
    onTestFinished(() => again.close(0))
    await again.listen(Number(server.url.port), '127.0.0.1')
    await until(live, state => state.status === 'live' && titles(state).length === 2)
    expect(seen).toEqual(['meanwhile'])
    expect(live.snapshot().error).toBeNull()
  })

  it('[LC2] a line that went silent is given up, and a server that says when is asked then', async () => {
    const answers: ((response: import('node:http').ServerResponse) => void)[] = [
      response => response.writeHead(503, { 'retry-after': '0' }).end('{"error":{"code":"busy","message":"Busy."}}'),
      response => response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders(),
      response => response.writeHead(200, { 'content-type': 'text/event-stream' }).write(':\n\n'),
    ]
    const server = await started()
    await plan(server, 'one')
    const front = await proxy(server, answers)
    const live = follow({ url: front.url }, TOKENS.agent, { silenceMs: 60 })
    await until(live, ({ status, error }) => status === 'reconnecting' && error?.code === 'busy')
    await plan(server, 'two')
    await until(live, state => state.status === 'live' && titles(state).length === 2)
    expect(answers).toEqual([])
  })

  it('[LC2] a server that says when to come back is asked then, and not before', async () => {
    const server = await started()
    await plan(server, 'one')
    const front = await proxy(server, [
      response => response.writeHead(503, { 'retry-after': '3600' }).end('{"error":{"code":"busy","message":"Busy."}}'),
    ])
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const asked = vi.fn(globalThis.fetch)
    const live = createClient({ url: front.url, token: TOKENS.agent, fetch: asked }).live('c', { pauseMs: 10 })
    onTestFinished(live.close)
    await until(live, ({ status, error }) => status === 'reconnecting' && error?.code === 'busy')
    const before = asked.mock.calls.length
    await vi.advanceTimersByTimeAsync(3_599_999)
    expect(asked).toHaveBeenCalledTimes(before)
    await vi.advanceTimersByTimeAsync(11)
    await until(live, ({ status }) => status === 'live')
    expect(asked).toHaveBeenCalledTimes(before + 1)
  })

  it('[LC2] a server that takes the question and never answers is given up', async () => {
    const server = await started()
    await plan(server, 'one')
    const front = await proxy(server, [], 1)
    const live = follow({ url: front.url }, TOKENS.agent, { silenceMs: 200 })
    expect(titles(await until(live, ({ status }) => status === 'live'))).toEqual(['one'])
  })

  it('[LC2] a slow line may take longer for a conversation than a dead one is waited for', async () => {
    const server = await started()
    await plan(server, 'one')
    let loads = 0
    const slowly: typeof globalThis.fetch = async (input, init) => {
      const response = await fetch(input, init)
      if (!response.url.endsWith('/snapshot')) return response
      loads += 1
      const bytes = new Uint8Array(await response.arrayBuffer())
      const size = Math.ceil(bytes.length / 5)
      const pieces = async function* () {
        for (let start = 0; start < bytes.length; start += size) {
          await delay(120, undefined, { signal: init?.signal ?? undefined })
          yield bytes.subarray(start, start + size)
        }
      }
      return new Response(ReadableStream.from(pieces()), response)
    }
    const live = createClient({ url: server.url, token: TOKENS.agent, fetch: slowly }).live('c', { silenceMs: 450 })
    onTestFinished(live.close)
    expect(titles(await until(live, ({ status }) => status === 'live'))).toEqual(['one'])
    expect(loads).toBe(1)
  })

  it('[LC2] a stream that skips an event is not believed: it is asked again, and nothing is missing', async () => {
    const server = await started()
    await plan(server, 'one')
    const front = await proxy(server, [
      async response => {
        const { seq } = await server.door.read(REF)
        await plan(server, 'two')
        await plan(server, 'three')
        const [, ...later] = await server.door.conversations.eventsAfter(REF, seq, 100)
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.end(later.map(event => `id: ${event.seq}\ndata: ${JSON.stringify(event)}\n\n`).join(''))
      },
    ])
    const live = follow({ url: front.url })
    const seqs: number[] = []
    live.onEvent(({ seq }) => seqs.push(seq))
    const { conversation } = await until(live, ({ status }) => status === 'live')
    await until(live, ({ status }) => status === 'reconnecting')
    const { seq } = await server.door.read(REF)
    const { conversation: after } = await until(live, state => state.conversation.seq === seq)
    expect(listed(after).map(({ title }) => title)).toEqual(['one', 'two', 'three'])
    expect(seqs).toEqual(Array.from({ length: seq - conversation.seq }, (_, i) => conversation.seq + 1 + i))
  })

  it('a log that is another one than it knew is read anew', async () => {
    const long = await started()
    await plan(long, 'one', 'two', 'three')
    const front = await proxy(long)
    const live = follow({ url: front.url })
    await until(live, ({ status }) => status === 'live')
    const short = await started()
    await plan(short, 'other')
    front.turnTo(short)
    await until(live, state => state.status === 'live' && titles(state).join() === 'other')
    await plan(short, 'and on')
    await until(live, state => titles(state).join() === 'other,and on')
  })

  it('waits for a conversation that is not there yet', async () => {
    const server = await started()
    const live = follow(server)
    await until(live, ({ status }) => status === 'waiting')
    await plan(server, 'at last')
    live.retry()
    expect(titles(await until(live, ({ status }) => status === 'live'))).toEqual(['at last'])
  })

  it('gives up on a token that is wrong, and says why', async () => {
    const server = await started()
    const live = follow(server, 'wrong')
    const { error } = await until(live, ({ status }) => status === 'failed')
    expect(error).toMatchObject({ status: 401, code: 'unauthorized' })
  })

  it('once closed nothing changes any more', async () => {
    const server = await started()
    await plan(server, 'one')
    const live = follow(server)
    await until(live, ({ status }) => status === 'live')
    live.close()
    const last = live.snapshot()
    expect(last.status).toBe('closed')
    await plan(server, 'two')
    await expect.poll(() => server.server.activity().underWay).toBe(0)
    expect(live.snapshot()).toBe(last)
  })
})

/** Passes requests on, but leaves the first ones without an answer, and answers the first streams as it is told. */
async function proxy(
  target: TestServer,
  answers: ((response: import('node:http').ServerResponse) => void)[] = [],
  unanswered = 0,
): Promise<{ url: string; turnTo: (other: TestServer) => void }> {
  let { url } = target
  const open = new Set<AbortController>()
  let asked = 0
  const front: Server = createServer((request, response) => {
    asked += 1
    if (asked <= unanswered) return
    const path = request.url ?? '/'
    const special = path.endsWith('/events') ? answers.shift() : undefined
    if (special) return special(response)
    const line = new AbortController()
    open.add(line)
    response.once('close', () => line.abort())
    const headers = { ...(request.headers as Record<string, string>), host: url.host }
    fetch(new URL(path, url), { headers, signal: line.signal })
      .then(
        async answer => {
          response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' })
          for await (const chunk of answer.body ?? []) response.write(chunk)
          response.end()
        },
        () => response.destroy(),
      )
      .catch(() => response.destroy())
  })
  await new Promise<void>(resolve => front.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    front.closeAllConnections()
    front.close()
  })
  return {
    url: `http://127.0.0.1:${(front.address() as AddressInfo).port}`,
    turnTo: other => {
      url = other.url
      for (const line of open) line.abort()
    },
  }
}
