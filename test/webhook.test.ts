import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, inject, it, onTestFinished } from 'vitest'
import type { Notice } from '../src/core/views/notice.ts'
import { insist, openDoor, type Door } from '../src/engine/door/door.ts'
import { openSqliteStore } from '../src/store/sqlite/store.ts'
import { cancel, finish, propose, startTurn } from './store/contract.ts'
import type { WebhookFailure } from '../src/webhook/post.ts'
import { MAX_TRIES, WebhookSender, type DeliveryOutcome, type SenderOptions } from '../src/webhook/sender.ts'
import { BUILT, runChild, runCli, runProcess } from './support/children.ts'
import { scratchFolder } from './support/scratch.ts'
import { TOKENS } from './support/server.ts'
import { placeFor, type FullKind, type Place } from './support/stores.ts'
import { Receiver, answering, type Answering } from './support/webhook-receiver.ts'

const SECRET = 'a-secret-of-at-least-32-characters'
const REVIEWED = { toolset: 'task_list', review: true } as const
const HOSTS = new Set(['127.0.0.1'])

const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

async function receiver(answer?: Answering): Promise<Receiver> {
  const started = await Receiver.start(answer)
  ends.push(() => started.close())
  return started
}

async function place(kind: FullKind): Promise<Place> {
  const made = await placeFor(kind, kind === 'postgres' ? inject('postgresUrl') : '')
  ends.push(() => made.remove())
  return made
}

async function doorTo(where: Place): Promise<Door> {
  const door = openDoor({ store: await where.open() })
  ends.push(() => door.close())
  return door
}

interface Sending {
  readonly sender: WebhookSender
  readonly outcomes: readonly DeliveryOutcome[]
  readonly failures: readonly WebhookFailure[]
  readonly works: readonly number[]
}

/** A sender that wants notices from now on. */
async function sending(door: Door, to: Receiver, more: Partial<SenderOptions> = {}): Promise<Sending> {
  const [outcomes, failures, works]: [DeliveryOutcome[], WebhookFailure[], number[]] = [[], [], []]
  const { timings, ...rest } = more
  await door.notices.want('local', 60_000)
  const sender = new WebhookSender({
    door,
    tenant: 'local',
    settings: { url: to.url, key: Buffer.from(SECRET), hosts: HOSTS },
    version: '1.2.3',
    onOutcome: (_, outcome) => outcomes.push(outcome),
    onFailing: failure => failures.push(failure),
    onWorking: count => works.push(count),
    onError: error => {
      throw error
    },
    timings: { backoffMs: 1, timeoutMs: 5_000, pollMs: 50, ...timings },
    ...rest,
  })
  sender.start()
  ends.push(() => sender.close())
  return { sender, outcomes, failures, works }
}

const at = (conversation: string) => ({ tenant: 'local', conversation })

const ended = (door: Door, conversation: string): Promise<unknown> =>
  door.run(at(conversation), startTurn('t1', {}, 'A secret message'), finish('t1'))

const waits = (door: Door, conversation: string, review = `rev-${conversation}`): Promise<unknown> =>
  door.run(
    at(conversation),
    startTurn('t1', REVIEWED, 'A secret message'),
    propose('t1', review, 'A secret title', 'Two'),
  )

const disputes = (door: Door, conversation: string): Promise<unknown> =>
  door.run(
    at(conversation),
    startTurn('t1', { review: false }, 'A secret message'),
    { type: 'edit_tasks', by: 'model', turn_id: 't1', create: [{ id: 'task-1', title: 'A secret title' }] },
    {
      type: 'edit_tasks',
      by: 'model',
      turn_id: 't1',
      change: [{ task: 1, fields: { outcome: 'A secret reason' }, disputes: true }],
    },
  )

describe.each(['sqlite', 'json', 'postgres'] as const)('a webhook on %s', kind => {
  it('[WH1][WH2] is told of a plan that waits and of a turn that ended, signed, without any text', async () => {
    const to = await receiver()
    const door = await doorTo(await place(kind))
    const { outcomes } = await sending(door, to)
    await waits(door, 'c1')
    await to.until(({ received }) => received.length === 1)
    await door.run(at('c1'), cancel('rev-c1'), finish('t1'))
    await to.until(({ received }) => received.length === 2)
    const bodies = to.received.map(({ body }) => JSON.parse(body) as Notice & { id: string })
    expect(bodies).toMatchObject([
      { type: 'review_waiting', data: { session_id: 'c1', turn_id: 't1', review_id: 'rev-c1', steps: 2 } },
      { type: 'turn_finished', data: { session_id: 'c1', turn_id: 't1', status: 'stopped', remaining: 0 } },
    ])
    expect(bodies.map(({ id }) => id)).toEqual(to.ids)
    for (const { headers, body } of to.received) {
      expect(body).not.toMatch(/secret|Two/)
      expect(headers).toMatchObject({ 'content-type': 'application/json', 'user-agent': 'runsheet/1.2.3' })
    }
    await expect.poll(() => outcomes).toEqual(['delivered', 'delivered'])
    expect(await door.notices.waiting('local')).toEqual({ count: 0 })
  })

  it('[DS4] is told of a dispute, without its words', async () => {
    const to = await receiver()
    const door = await doorTo(await place(kind))
    await sending(door, to)
    await disputes(door, 'c1')
    await to.until(({ received }) => received.length === 1)
    const body = to.received[0]?.body ?? ''
    expect(body).not.toContain('secret')
    const data = { session_id: 'c1', turn_id: 't1', task_id: 'task-1', count: 1 }
    expect(JSON.parse(body)).toMatchObject({ type: 'dispute_waiting', data })
  })

  it('of two senders on one store, each event is sent by one', async () => {
    const to = await receiver()
    const where = await place(kind)
    const one = await doorTo(where)
    const two = await doorTo(where)
    const senders = [await sending(one, to), await sending(two, to)]
    for (let index = 0; index < 12; index += 1) await ended(index % 2 ? one : two, `c${index}`)
    await expect.poll(() => senders.flatMap(({ outcomes }) => outcomes).length).toBe(12)
    expect([to.received.length, new Set(to.ids).size]).toEqual([12, 12])
  })
})

describe.each(['sqlite', 'json', 'postgres'] as const)('a restart on %s', kind => {
  it('what another process could not deliver is delivered after a restart, with the same id', async () => {
    const to = await receiver(answering(500))
    const where = await place(kind)
    const first = openDoor({ store: await where.open() })
    const { sender } = await sending(first, to, { timings: { backoffMs: 60_000 } })
    await ended(first, 'c1')
    await to.until(({ received }) => received.length === 1)
    await expect.poll(async () => (await first.notices.waiting('local')).dueInMs ?? 0).toBeGreaterThan(30_000)
    await sender.close()
    await first.close()
    to.answer(answering(204))
    const door = openDoor({ store: await where.open() })
    ends.push(() => door.close())
    await dueNow(door)
    const { outcomes } = await sending(door, to)
    await expect.poll(() => outcomes).toEqual(['delivered'])
    expect(to.ids).toEqual([to.ids[0], to.ids[0]])
  })
})

/** Makes what was tried once, and waits for its retry, due now. */
async function dueNow(door: Door): Promise<void> {
  const [event] = await door.conversations.events(at('c1'), { types: ['turn_finished'] })
  expect(await door.notices.settle({ ...at('c1'), seq: event?.seq ?? 0, tries: 1 }, 0)).toBe(true)
}

describe('a receiver that fails', () => {
  it('[WH3] is asked again with the same id and a new signature; the first failure is reported, and that it works again', async () => {
    const target = await receiver()
    const to = await receiver((response, _, count) => {
      if (count === 1) response.writeHead(500).end()
      else if (count === 2) response.writeHead(302, { location: target.url.href }).end()
      else if (count === 3) response.destroy()
      // Says nothing.
      else if (count > 4) response.writeHead(200).end('thanks')
    })
    const door = await doorTo(await place('sqlite'))
    const sent = await sending(door, to, { timings: { timeoutMs: 300 } })
    await ended(door, 'c1')
    await expect.poll(() => sent.outcomes).toEqual(['failed', 'failed', 'failed', 'failed', 'delivered'])
    expect(new Set(to.ids).size).toBe(1)
    expect(sent.failures).toMatchObject([{ code: 'status', status: 500 }])
    expect(sent.works).toEqual([4])
    expect(target.received).toEqual([])
    await ended(door, 'c2')
    await expect.poll(() => sent.outcomes.length).toBe(6)
    expect(sent.failures).toHaveLength(1)
  })

  it.each<[string, Answering, object]>([
    ['redirects', answering(307, { location: 'http://127.0.0.1:9/' }), { code: 'redirect', status: 307 }],
    ['breaks off', response => void response.destroy(), { code: 'unreachable' }],
    ['hangs', () => {}, { code: 'timeout' }],
    ['refuses', answering(404), { code: 'status', status: 404 }],
  ])('one that %s is named, without the path', async (_, answer, failure) => {
    const to = await receiver(answer)
    const door = await doorTo(await place('sqlite'))
    const sent = await sending(door, to, { timings: { timeoutMs: 200, backoffMs: 60_000 } })
    await ended(door, 'c1')
    await expect.poll(() => sent.failures).toMatchObject([failure])
    expect(sent.failures[0]?.message).toContain('127.0.0.1')
    expect(sent.failures[0]?.message).not.toContain('hook')
  })

  it('[WH3] is not asked for ever', async () => {
    const to = await receiver(answering(503))
    const door = await doorTo(await place('sqlite'))
    const { outcomes } = await sending(door, to, { timings: { backoffMs: 0, maxBackoffMs: 0 } })
    await ended(door, 'c1')
    await expect.poll(() => outcomes.at(-1)).toBe('given_up')
    expect([outcomes.length, to.received.length]).toEqual([MAX_TRIES, MAX_TRIES])
    expect(await door.notices.waiting('local')).toEqual({ count: 0 })
  })

  it('a slow one holds up four deliveries and no commit', async () => {
    const held: (() => void)[] = []
    const to = await receiver(response => void held.push(() => response.writeHead(204).end()))
    const door = await doorTo(await place('sqlite'))
    const { outcomes, sender } = await sending(door, to)
    for (let index = 0; index < 10; index += 1) await ended(door, `c${index}`)
    await to.until(({ received }) => received.length === 4)
    expect(sender.size).toBe(4)
    for (let count = 4; count <= 10; count += 1) {
      await to.until(({ received }) => received.length >= Math.min(10, count))
      held.shift()?.()
    }
    while (held.length > 0) held.shift()?.()
    await expect.poll(() => outcomes.length).toBe(10)
    expect(to.mostAtOnce).toBe(4)
  })

  it('[WH3] a review that was decided, or a dispute that was answered, meanwhile is not told, nor what is a day old', async () => {
    const to = await receiver()
    const door = await doorTo(await place('sqlite'))
    await door.notices.want('local', 60_000)
    await waits(door, 'c1')
    await door.run(at('c1'), cancel('rev-c1'))
    await disputes(door, 'c2')
    await insist(door, at('c2'), 1, undefined)
    const { outcomes } = await sending(door, to)
    await expect.poll(() => outcomes).toEqual(['dropped', 'dropped'])
    let skew = 0
    const { address } = await place('sqlite')
    const aged = openDoor({ store: await openSqliteStore({ path: address, skewMs: () => skew }) })
    ends.push(() => aged.close())
    await aged.notices.want('local', 60_000)
    await ended(aged, 'c1')
    skew = 25 * 3_600_000
    const old = await sending(aged, to)
    await expect.poll(() => old.outcomes).toEqual(['dropped'])
    expect(to.received).toEqual([])
  })
})

it.each(['sqlite', 'postgres'] as const)(
  'after kill -9 between a delivery and its note, another process delivers again, with the same id (%s)',
  async kind => {
    const where = await place(kind)
    const door = await doorTo(where)
    let child: ReturnType<typeof runChild> | undefined
    const to = await receiver((response, _, count) => {
      // It has arrived, and its sender never hears so.
      if (count === 1) child?.process.kill('SIGKILL')
      else response.writeHead(204).end()
    })
    await door.notices.want('local', 60_000)
    const order = { store: kind, at: where.address, url: to.url.href, leaseMs: 300 }
    child = runChild(new URL('support/webhook-child.ts', import.meta.url), order)
    await child.line(line => line === 'ready')
    await ended(door, 'c1')
    expect((await child.ended).signal).toBe('SIGKILL')
    const { outcomes } = await sending(door, to, { timings: { leaseMs: 300 } })
    await expect.poll(() => outcomes).toEqual(['delivered'])
    expect(to.ids).toEqual([to.ids[0], to.ids[0]])
    expect(await door.notices.waiting('local')).toEqual({ count: 0 })
  },
)

it('[WH2] the program of the documentation verifies what is sent, and prints each event once', async () => {
  const example = fileURLToPath(new URL('../examples/webhook.ts', import.meta.url))
  expect(readFileSync(new URL('../docs/webhooks.md', import.meta.url), 'utf8')).toContain(readFileSync(example, 'utf8'))
  const taken = await receiver()
  const { port } = taken.url
  await taken.close()
  const program = runProcess([process.execPath, example, port, SECRET])
  onTestFinished(() => void program.process.kill('SIGKILL'))
  await program.line(line => line === 'listening')
  const url = new URL(`http://127.0.0.1:${port}/`)
  const door = await doorTo(await place('sqlite'))
  await door.notices.want('local', 60_000)
  const outcomes: DeliveryOutcome[] = []
  const start = (secret: string): WebhookSender => {
    const settings = { url, key: Buffer.from(secret), hosts: HOSTS }
    const onOutcome = (_: string, outcome: DeliveryOutcome): void => void outcomes.push(outcome)
    const sender = new WebhookSender({
      door,
      tenant: 'local',
      settings,
      version: '0',
      onOutcome,
      timings: { pollMs: 20 },
    })
    ends.push(() => sender.close())
    sender.start()
    return sender
  }
  const forger = start('another-secret-that-nobody-knows-of')
  await ended(door, 'c1')
  await expect.poll(() => outcomes).toEqual(['failed'])
  await forger.close()
  await dueNow(door)
  start(SECRET)
  await program.line(line => line.startsWith('turn_finished'))
  await expect.poll(() => outcomes).toEqual(['failed', 'delivered'])
})

describe('runsheet serve', () => {
  const serve = (data: string, args: readonly string[], env: Record<string, string> = {}) =>
    runCli(['serve', '--port', '0', '--data', join(data, 'data'), ...args], {
      cwd: data,
      file: BUILT,
      env: { RUNSHEET_TOKEN: TOKENS.person, RUNSHEET_AGENT_TOKEN: TOKENS.agent, ...env },
    })
  const folder = (): string => {
    const data = scratchFolder()
    ends.push(async () => rmSync(data, { recursive: true, force: true }))
    return data
  }

  it('tells the webhook of its settings; failures are logged once and in /metrics', async () => {
    const to = await receiver(answering(500))
    const data = folder()
    writeFileSync(
      join(data, 'mine.json'),
      JSON.stringify({ webhook: { url: to.url.href, secret: SECRET, hosts: ['127.0.0.1'] } }),
    )
    const child = serve(data, ['--config', 'mine.json', '--review', 'off'])
    const ready = await child.line(line => line.startsWith('Runsheet is ready'))
    const url = /http:\S+?(?=#)/.exec(ready)?.[0] ?? ''
    for (const turn_id of ['t1', 't2']) {
      const body = JSON.stringify({ session_id: 'c1', turn_id, message: 'Hello there' })
      const headers = { authorization: `Bearer ${TOKENS.person}`, 'content-type': 'application/json' }
      await (await fetch(new URL('/api/chat', url), { method: 'POST', headers, body })).text()
    }
    await to.until(({ received }) => received.length >= 2)
    const metrics = async (): Promise<string> => (await fetch(new URL('/metrics', url))).text()
    await expect.poll(metrics).toContain('runsheet_webhook_deliveries_total{event="turn_finished",outcome="failed"} 2')
    expect(await metrics()).toContain('runsheet_webhook_waiting 2')
    child.process.kill('SIGTERM')
    const { stderr } = await child.ended
    expect(stderr.match(/webhook failed/g)).toHaveLength(1)
    expect(stderr).not.toContain(SECRET)
  })

  it.each<[string, readonly string[], Record<string, string>, RegExp]>([
    ['no secret', ['--webhook', 'https://hooks.example'], {}, /RUNSHEET_WEBHOOK_SECRET/],
    [
      'no TLS',
      ['--webhook', 'http://hooks.example'],
      { RUNSHEET_WEBHOOK_SECRET: SECRET },
      /--webhook-hosts hooks\.example/,
    ],
    [
      'a store without notices',
      ['--webhook', 'https://hooks.example', '--store', 'memory'],
      { RUNSHEET_WEBHOOK_SECRET: SECRET },
      /cannot use --store memory/,
    ],
    ['no URL', ['--webhook', 'nonsense'], { RUNSHEET_WEBHOOK_SECRET: SECRET }, /https:\/\/ URL/],
  ])('%s is one line, and the server does not start', async (_, args, env, line) => {
    const { code, stderr } = await serve(folder(), args, env).ended
    expect(code).toBe(1)
    expect(stderr).toMatch(line)
    expect(stderr.trim().split('\n')).toHaveLength(1)
  })

  it("a project's settings do not name a webhook", async () => {
    const to = await receiver()
    const data = folder()
    writeFileSync(join(data, 'runsheet.json'), JSON.stringify({ webhook: { url: to.url.href, secret: SECRET } }))
    const child = serve(data, [])
    await child.line(line => line.startsWith('Runsheet is ready'))
    child.process.kill('SIGTERM')
    expect((await child.ended).stderr).toContain('ignored webhook in')
  })
})
