import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { EndpointOptions } from '../../src/server/mcp/http.ts'
import {
  chosen,
  type Era,
  FORM,
  type Host,
  hostOf,
  type HostOptions,
  type McpTestServer,
  overHttp,
  PLAN,
  startMcpServer,
  URL_MODE,
  waiting,
} from '../support/mcp.ts'
import { TOKENS } from '../support/server.ts'

let server: McpTestServer

afterEach(() => server.close())

const started = async (
  waitLimits: EndpointOptions['waitLimits'],
  more: Partial<EndpointOptions> = {},
): Promise<void> => {
  // The scripted answers count as a person's however quick they are.
  server = await startMcpServer({ waitLimits: { panelMs: 1, personMs: 0, ...waitLimits }, ...more })
}

async function connected(
  era: Era,
  options: Omit<HostOptions, 'era'> & { as?: 'person' | 'agent'; session?: string } = {},
): Promise<Host> {
  const { as = 'person', session = 'c1', ...more } = options
  const host = hostOf({ era, ...more })
  onTestFinished(() => host.client.close())
  return overHttp(server, host, { as, headers: { 'runsheet-session': session } })
}

/** Short waits, so that calls answer `pending_review` quickly. */
const IMPATIENT = { holdMs: 30, roundMs: 15, maxRounds: 2 }

describe.each(['2025', '2026'] as const)('%s', era => {
  it("[MC22] a client that cannot wait gets pending_review, the page's URL and how to wait on", async () => {
    await started(IMPATIENT)
    const { client, call } = await connected(era)
    const { content, structuredContent } = await client.callTool({ name: 'plan', arguments: PLAN })
    const { review_id } = await waiting(server.person)
    const url = `${server.url.href}?chat=c1`
    const message = `Nothing is written yet. The user can decide at ${url} now. Call await_review with this review_id.`
    // The model reads this, so it must not contain a sign-in code.
    expect(structuredContent).toEqual({ status: 'pending_review', review_id, url, message })
    expect(content).toEqual([{ type: 'text', text: JSON.stringify(structuredContent) }])

    expect((await call('await_review', { review_id })).data).toEqual(structuredContent)
    await server.person.decide(review_id, { action: 'confirm', tasks: [{ title: 'Edited' }] })
    const answer = { ids: [1], next: '1 Edited', remaining: 1 }
    expect((await call('await_review', { review_id })).data).toMatchObject(answer)
    expect((await call('await_review', { review_id })).data).toMatchObject(answer)
  })

  it('a repeated call finds its review, whether pending or decided but undelivered', async () => {
    await started(IMPATIENT)
    const { call } = await connected(era)
    const first = await call('plan', PLAN)
    expect((await call('plan', PLAN)).data).toEqual(first.data)
    expect((await server.person.pendingReviews()).reviews).toHaveLength(1)
    const review_id = String(first.data?.['review_id'])
    await server.person.decide(review_id, { action: 'confirm', tasks: [{ title: 'Edited' }] })
    expect((await call('plan', PLAN)).data).toMatchObject({ ids: [1], next: '1 Edited' })
    // The answer was delivered: proposing the same again opens another review.
    expect((await call('plan', PLAN)).data).toMatchObject({ status: 'pending_review' })
    expect((await server.person.tasks('c1')).tasks).toHaveLength(1)
  })

  it('a client with forms is not asked about a decided review', async () => {
    await started(IMPATIENT)
    const { call } = await connected(era)
    const review_id = String((await call('plan', PLAN)).data?.['review_id'])
    await server.person.decide(review_id, { action: 'confirm', tasks: [{ title: 'Decided' }] })
    const again = await connected(era, { capabilities: FORM, answers: () => ({ action: 'decline' }) })
    expect((await again.call('plan', PLAN)).data).toMatchObject({ next: '1 Decided' })
    expect((await again.call('await_review', { review_id })).data).toMatchObject({ next: '1 Decided' })
    expect(again.asked).toEqual([])
  })

  it("[MC22] answers pending_review even if the page's URL is slow or unknown", async () => {
    await started({ ...IMPATIENT, pageUrlMs: 10 }, { pageUrl: () => new Promise(() => {}) })
    const { call } = await connected(era)
    expect((await call('plan', PLAN)).data).toMatchObject({ status: 'pending_review' })
    await server.close()
    await started(IMPATIENT, { pageUrl: () => Promise.reject(new Error('no page')) })
    const other = await connected(era)
    expect((await other.call('plan', PLAN)).data).toMatchObject({ status: 'pending_review' })
  })

  it('the client is not asked if a page shows the review', async () => {
    await started({ panelMs: 20_000 })
    const { call, asked } = await connected(era, { capabilities: FORM })
    const answer = call('plan', PLAN)
    const { review_id } = await waiting(server.person)
    await server.person.showPanel(review_id, 'a-window')
    await server.person.decide(review_id, { action: 'confirm', tasks: [{ draft_index: 0 }] })
    expect((await answer).data).toMatchObject({ ids: [1] })
    expect(asked).toEqual([])
  })

  it('a held call sends progress to clients that ask for it', async () => {
    await started({ progressIntervalMs: 5 })
    const { client } = await connected(era)
    const third = Promise.withResolvers<void>()
    const seen: { progress: number; message?: string | undefined }[] = []
    const onprogress = (progress: { progress: number; message?: string | undefined }): void => {
      if (seen.push(progress) === 3) third.resolve()
    }
    const waits = 'Waiting for a person to decide on 2 tasks'
    const answer = client.callTool({ name: 'plan', arguments: PLAN }, { onprogress })
    const { review_id } = await waiting(server.person)
    await third.promise
    await server.person.decide(review_id, { action: 'cancel' })
    expect((await answer).structuredContent).toMatchObject({ confirmed: false })
    const at = `${server.url.href}?chat=c1 · ${waits}`
    expect(seen.slice(0, 3)).toEqual([
      { progress: 1, message: waits },
      { progress: 2, message: at },
      { progress: 3, message: at },
    ])
  })

  it('cancelling a call decides nothing', async () => {
    await started({})
    const { client, call } = await connected(era)
    const taken = new AbortController()
    const answer = client.callTool({ name: 'plan', arguments: PLAN }, { signal: taken.signal })
    const { review_id } = await waiting(server.person)
    taken.abort()
    await expect(answer).rejects.toThrow()
    expect((await server.person.review(review_id)).review.status).toBe('pending')
    await server.person.decide(review_id, { action: 'confirm', tasks: [{ title: 'All the same' }] })
    expect((await call('plan', PLAN)).data).toMatchObject({ next: '1 All the same' })
  })

  it('without an answer nothing is written at the deadline', async () => {
    await started({}, { host: { review_timeout_ms: 40 } })
    const { call } = await connected(era, { capabilities: FORM, answers: () => new Promise(() => {}) })
    if (era === '2025') {
      expect((await call('plan', PLAN)).data).toMatchObject({ confirmed: false, reason: 'review_timeout' })
    } else {
      // A 2026 server cannot withdraw the form: its answer comes too late.
      void call('plan', PLAN).catch(() => {})
      const statuses = async (): Promise<string[]> => {
        const { reviews } = await server.person.session('c1').catch(() => ({ reviews: [] }))
        return reviews.map(({ status }) => status)
      }
      await expect.poll(statuses, { interval: 5 }).toEqual(['expired'])
    }
    expect((await server.person.tasks('c1')).tasks).toEqual([])
  })

  it("[MC40] with an agent's token the client's answers decide nothing", async () => {
    await started(IMPATIENT)
    const { call, asked } = await connected(era, {
      as: 'agent',
      capabilities: FORM,
      answers: () => chosen('Approve as proposed'),
    })
    const { data } = await call('plan', PLAN)
    expect(data).toMatchObject({ status: 'pending_review' })
    expect(asked).toEqual([])
    const { review } = await server.person.review(String(data?.['review_id']))
    expect(review.status).toBe('pending')
  })

  it("[MC40] an agent's client gets the page's URL without a code, and cannot decline", async () => {
    await started(IMPATIENT)
    const { call, asked } = await connected(era, {
      as: 'agent',
      capabilities: URL_MODE,
      answers: () => ({ action: 'decline' }),
    })
    const { data } = await call('plan', PLAN)
    await expect.poll(() => asked.length).toBe(1)
    expect(asked[0]).toMatchObject({ url: `${server.url.href}?chat=c1` })
    const { review } = await server.person.review(String(data?.['review_id']))
    expect(review.status).toBe('pending')
  })

  it('a review of another conversation is not found', async () => {
    await started(IMPATIENT)
    const { call } = await connected(era, { session: 'c1' })
    const { data } = await call('plan', PLAN)
    const other = await connected(era, { session: 'c2' })
    const refused = await other.call('await_review', { review_id: data?.['review_id'] })
    expect(refused).toMatchObject({ isError: true, text: expect.stringContaining('There is no review') })
    expect(await other.call('await_review', { review_id: 7 })).toMatchObject({ isError: true })
    expect(await other.call('await_review', { review_id: 'rev_none' })).toMatchObject({ isError: true })
  })
})

it('[MC22] a round state must be ours and belong to the call', async () => {
  await started({ roundMs: 1, maxRounds: 8 })
  const { client } = await connected('2026')
  const ask = (requestState?: string, tasks = PLAN.tasks): Promise<unknown> =>
    client.callTool(
      { name: 'plan', arguments: { tasks }, ...(requestState === undefined ? {} : { requestState }) },
      { allowInputRequired: true },
    )
  const first = (await ask()) as { requestState: string }
  expect(first.requestState).toEqual(expect.any(String))
  await expect(ask(`${first.requestState}x`)).rejects.toThrow('requestState')
  // Other arguments make it another call, whose plan takes the place of the one that waits.
  await ask(first.requestState, [{ title: 'Something else' }])
  const { reviews } = await server.person.pendingReviews()
  expect(reviews.map(({ draft_tasks }) => draft_tasks[0]?.title)).toEqual(['Something else'])
})

it('a stopping server does not ask clients to repeat the call', async () => {
  await started({}, { closing: AbortSignal.abort() })
  const { client } = await connected('2026')
  const answer = await client.callTool({ name: 'plan', arguments: PLAN }, { allowInputRequired: true })
  expect(answer).toMatchObject({ structuredContent: { status: 'pending_review' } })
})

it('cancelling a call withdraws its form, and the next call asks again', async () => {
  await started({})
  const withdrawn = Promise.withResolvers<void>()
  const { client, call, asked } = await connected('2025', {
    capabilities: FORM,
    answers: (_, signal) => {
      if (asked.length > 1) return chosen('Approve as proposed', { comment: 'Asked again' })
      signal.addEventListener('abort', () => withdrawn.resolve())
      return new Promise(() => {})
    },
  })
  const taken = new AbortController()
  const answer = client.callTool({ name: 'plan', arguments: PLAN }, { signal: taken.signal })
  await expect.poll(() => asked.length).toBe(1)
  taken.abort()
  await expect(answer).rejects.toThrow()
  await withdrawn.promise
  expect((await call('plan', PLAN)).data).toMatchObject({ comment: 'Asked again' })
})

it('[RE20] a form stays as long as its review, also one that got more time', async () => {
  await started({}, { host: { review_timeout_ms: 800 } })
  let withdrawn = false
  const { call } = await connected('2025', {
    capabilities: FORM,
    answers: async (_, signal) => {
      signal.addEventListener('abort', () => (withdrawn = true))
      const [review] = (await server.person.pendingReviews('c1')).reviews
      await server.person.extend(review?.review_id ?? '', 3_600_000)
      // Past the first deadline, and past what was added to it.
      await delay(1_900)
      return chosen('Approve as proposed', { comment: 'In time' })
    },
  })
  expect((await call('plan', PLAN)).data).toMatchObject({ comment: 'In time' })
  expect(withdrawn).toBe(false)
})

it('if the call that asked is cancelled, another waiting call asks', async () => {
  await started({})
  const { client, call, asked } = await connected('2025', {
    capabilities: FORM,
    answers: () =>
      asked.length > 1 ? chosen('Approve as proposed', { comment: 'By the other' }) : new Promise(() => {}),
  })
  const taken = new AbortController()
  const first = client.callTool({ name: 'plan', arguments: PLAN }, { signal: taken.signal })
  await expect.poll(() => asked.length).toBe(1)
  const second = call('plan', PLAN)
  await call('tasks')
  expect(asked).toHaveLength(1)
  taken.abort()
  await expect(first).rejects.toThrow()
  expect((await second).data).toMatchObject({ comment: 'By the other' })
})

it('[MC15] an answer to a form that was never shown decides nothing', async () => {
  await started({ roundMs: 1, maxRounds: 8 })
  const { client } = await connected('2026')
  const ask = (more: Record<string, unknown> = {}): Promise<unknown> =>
    client.callTool({ name: 'plan', arguments: PLAN, ...more }, { allowInputRequired: true })
  const { requestState } = (await ask()) as { requestState: string }
  await ask({ requestState, inputResponses: { review: chosen('Approve as proposed') } })
  expect((await server.person.tasks('c1')).tasks).toEqual([])
  expect((await server.person.pendingReviews()).reviews).toHaveLength(1)
})

it('if a declared method fails, the next one is tried, each once', async () => {
  await started({})
  const ways: string[] = []
  const { call } = await connected('2025', {
    capabilities: { elicitation: { url: {}, form: {} } },
    answers: ({ mode = 'form' }) => {
      ways.push(mode)
      if (mode === 'form') throw new Error('I do not know how')
      return { action: 'decline' }
    },
  })
  expect((await call('plan', PLAN)).data).toMatchObject({ reason: 'user_cancelled' })
  expect(ways).toEqual(['form', 'url'])
})

describe('over HTTP, 2025, without a stream beside the call', () => {
  const ACCEPT = { accept: 'application/json, text/event-stream' }
  let session: Record<string, string>

  async function begun(capabilities: object): Promise<void> {
    const params = { protocolVersion: '2025-11-25', capabilities, clientInfo: { name: 'raw', version: '1' } }
    const answer = await post({ id: 1, method: 'initialize', params })
    session = { 'mcp-session-id': answer.headers.get('mcp-session-id') ?? '' }
    await answer.text()
    await post({ method: 'notifications/initialized' })
  }
  const post = (message: object, signal?: AbortSignal): Promise<Response> =>
    fetch(new URL('/mcp', server.url), {
      method: 'POST',
      headers: { ...ACCEPT, ...session, authorization: `Bearer ${TOKENS.person}`, 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
      ...(signal ? { signal } : {}),
    })
  const planned = (signal?: AbortSignal): Promise<Response> =>
    post({ id: 2, method: 'tools/call', params: { name: 'plan', arguments: PLAN } }, signal)

  beforeEach(() => {
    session = {}
  })

  it("the form comes on the call's own stream", async () => {
    await started({})
    await begun({ elicitation: {} })
    const { body } = await planned()
    let seen = ''
    let isAnswered = false
    for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
      seen += chunk
      const asks = seen.split('\n').find(line => line.includes('elicitation/create') && line.endsWith('}'))
      if (!asks || isAnswered) continue
      isAnswered = true
      const { id } = JSON.parse(asks.slice('data: '.length)) as { id: number }
      await post({ id, result: chosen('Approve as proposed', { comment: 'From the stream' }) })
    }
    expect(seen).toContain('From the stream')
  })

  it('after a disconnect the next call asks again, and the first form still counts', async () => {
    await started({})
    await begun({ elicitation: {} })
    const cut = new AbortController()
    const first = await asksOn(await planned(cut.signal))
    cut.abort()
    await expect.poll(() => server.server.activity().underWay).toBe(0)
    const held = await planned()
    const [seen, rest] = held.body?.tee() ?? []
    const second = await asksOn(new Response(seen))
    expect(second).not.toBe(first)
    await post({ id: first, result: chosen('Approve as proposed', { comment: 'By the first' }) })
    expect(await new Response(rest).text()).toContain('By the first')
  })

  /** The id of the elicitation request on a stream. */
  async function asksOn({ body }: Response): Promise<number> {
    let seen = ''
    for await (const chunk of body?.pipeThrough(new TextDecoderStream()).values({ preventCancel: true }) ?? []) {
      seen += chunk
      const asks = seen.split('\n').find(line => line.includes('elicitation/create') && line.endsWith('}'))
      if (asks) return (JSON.parse(asks.slice('data: '.length)) as { id: number }).id
    }
    throw new Error(`nothing was asked: ${seen}`)
  }

  it('after a disconnect the repeated call gets the answer', async () => {
    await started({})
    await begun({})
    const cut = new AbortController()
    const held = await planned(cut.signal)
    const { review_id } = await waiting(server.person)
    cut.abort()
    await expect(held.text()).rejects.toThrow()
    await expect.poll(() => server.server.activity().underWay).toBe(0)
    await server.person.decide(review_id, { action: 'confirm', tasks: [{ title: 'Once' }] })
    expect(await (await planned()).text()).toContain('1 Once')
    expect((await server.person.pendingReviews()).reviews).toEqual([])
  })
})
