import { describe, expect, it } from 'vitest'
import type { QueuedMessageAnswer, SentMessageAnswer, SentNowAnswer, SessionAnswer } from '../../src/core/views/wire.ts'
import type { Ref } from '../../src/engine/door/door.ts'
import { type Answered, type CheckedServer, started } from '../support/checked.ts'
import type { StoreKind } from '../support/stores.ts'

const ref: Ref = { tenant: 'local', conversation: 'c1' }

/** A server with a turn that runs and that nobody drives; `taken` has the turns that it hands to a runner. */
async function running(store: StoreKind = 'memory'): Promise<CheckedServer & { readonly taken: string[] }> {
  const taken: string[] = []
  const turns = { names: ['demo'], defaultName: 'demo', take: (_: Ref, turn: string) => void taken.push(turn) }
  const server = await started({ store, turns })
  const request = { message_id: 'm1', message: 'Do it', model: 'demo' }
  await server.door.run(ref, { type: 'start_turn', turn_id: 't1', ...request })
  return { ...server, taken }
}

const fails = { type: 'finish_turn', turn_id: 't1', because: 'error', steps: 1, usage: {} } as const

const at = (id: string): string => `/api/sessions/c1/messages/${id}`
const POSTED = '/api/sessions/c1/messages'

const post = (server: CheckedServer, text: string): Promise<Answered<SentMessageAnswer>> =>
  server.ask('POST', POSTED, { body: { text } })

const queuedIn = async (server: CheckedServer): Promise<readonly (readonly [string, number])[]> =>
  (await server.ask<SessionAnswer>('GET', '/api/sessions/c1')).body.queued.map(({ text, version }) => [text, version])

describe('a message to the agent at work', () => {
  it.each(['memory', 'sqlite', 'json', 'postgres'] as const)(
    '[HT44] is sent, edited and taken back (%s)',
    async store => {
      const server = await running(store)
      const sent = await post(server, 'Also\nthis \u0000 \u{1f389}')
      expect([sent.status, sent.headers.get('etag')]).toEqual([201, '"1"'])
      expect(sent.body).toMatchObject({ message: { text: 'Also\nthis \u0000 \u{1f389}', version: 1 }, turn_id: 't1' })
      expect(sent.body.started).toBeUndefined()
      const { message_id } = sent.body.message
      const edited = await server.ask<QueuedMessageAnswer>('PATCH', at(message_id), {
        body: { text: 'Better' },
        headers: { 'if-match': '"1"' },
      })
      expect([edited.status, edited.headers.get('etag')]).toEqual([200, '"2"'])
      expect(edited.body.message).toMatchObject({ message_id, text: 'Better', version: 2 })
      expect(await queuedIn(server)).toEqual([['Better', 2]])
      const back = await server.ask<QueuedMessageAnswer>('DELETE', at(message_id), { headers: { 'if-match': '2' } })
      expect(back.body.message.text).toBe('Better')
      expect(await queuedIn(server)).toEqual([])
      expect(server.taken).toEqual([])
    },
  )

  it('[HT44] with an id of the sender, it is one message, wherever it is by then; another text is 409', async () => {
    const server = await running()
    const send = (message_id: string, text: string) =>
      server.ask<SentMessageAnswer>('POST', POSTED, { body: { message_id, text } })
    const [first, twin] = await Promise.all([send('m-1', 'Once'), send('m-1', 'Once')])
    expect(first.body).toMatchObject({ message: { message_id: 'm-1', text: 'Once' }, turn_id: 't1' })
    expect(twin.body).toEqual(first.body)
    await server.door.run(ref, { type: 'deliver_queued', turn_id: 't1' })
    expect((await send('m-1', 'Once')).body).toEqual(first.body)
    expect(await queuedIn(server)).toEqual([])
    expect(await server.refused(409, 'POST', POSTED, { body: { message_id: 'm-1', text: 'Twice' } })).toMatchObject({
      code: 'key_conflict',
    })
    await server.refused(400, 'POST', POSTED, { body: { message_id: 'm 1', text: 'Once' } })
  })

  it('[HT44] it starts the first turn of a conversation, as it says, once', async () => {
    const taken: string[] = []
    const turns = {
      names: ['demo', 'other'],
      defaultName: 'demo',
      take: (_: Ref, turn: string) => void taken.push(turn),
    }
    const server = await started({ turns })
    const body = { message_id: 'm-1', text: 'Hello', start: { model: 'other', toolset: 'task_list', review: false } }
    const first = await server.ask<SentMessageAnswer>('POST', POSTED, { body })
    expect(first.body).toMatchObject({ started: true, message: { message_id: 'm-1', text: 'Hello', version: 1 } })
    expect((await server.ask('POST', POSTED, { body })).body).toEqual(first.body)
    expect(taken).toEqual([first.body.turn_id])
    const session = await server.person.session('c1')
    expect(session).toMatchObject({
      policy: { toolset: 'task_list', review: false },
      turns: [{ turn_id: first.body.turn_id, status: 'running' }],
      messages: [{ message_id: 'm-1', text: 'Hello' }],
    })
    expect((await server.door.read(ref)).turns.get(first.body.turn_id)?.model).toBe('other')
    // A turn runs by now: it joins that.
    expect((await server.person.sendMessage('c1', 'And this', 'm-2', {})).turn_id).toBe(first.body.turn_id)
    expect((await server.person.session('c1')).queued).toMatchObject([{ message_id: 'm-2' }])
    await server.refused(422, 'POST', POSTED, { body: { text: 'x', start: { model: 'nobody' } } })
    const noTurns = await started()
    await noTurns.refused(501, 'POST', POSTED, { body: { text: 'x', start: {} } })
  })

  it('[HT44] many at once are all kept, each once, up to 20', async () => {
    const server = await running('sqlite')
    const texts = Array.from({ length: 20 }, (_, count) => `Number ${count}`)
    await Promise.all(texts.map(text => post(server, text)))
    expect((await queuedIn(server)).map(([text]) => text).toSorted()).toEqual(texts.toSorted())
    const refused = await server.refused(409, 'POST', POSTED, { body: { text: 'One more' } })
    expect(refused).toMatchObject({ code: 'too_many_queued', limit: 20 })
  })

  it('[HT44] a text that is blank or too long is 422, and nothing waits', async () => {
    const server = await running()
    for (const [text, rule] of [
      [' ', 'empty'],
      ['x'.repeat(32_001), 'too_long'],
      ['\ud800', 'malformed_unicode'],
    ] as const) {
      expect(await server.refused(422, 'POST', POSTED, { body: { text } })).toMatchObject({ field: 'text', rule })
    }
    for (const body of [{}, { text: 1 }, { text: 'x', turn_id: 't1' }])
      await server.refused(422, 'POST', POSTED, { body })
    expect(await queuedIn(server)).toEqual([])
  })

  it('[HT44] after the end of the turn it starts one that continues it, which a runner takes once', async () => {
    const server = await running()
    await server.door.run(ref, fails)
    const send = () => server.ask<SentMessageAnswer>('POST', POSTED, { body: { message_id: 'm-1', text: 'Try again' } })
    const { body } = await send()
    expect(body).toMatchObject({ started: true, message: { text: 'Try again' } })
    expect(body.turn_id).not.toBe('t1')
    expect((await send()).body).toEqual(body)
    expect(server.taken).toEqual([body.turn_id])
    const { turns, messages, queued } = await server.person.session('c1')
    expect(turns.at(-1)).toMatchObject({ turn_id: body.turn_id, status: 'running', plan_id: 't1' })
    expect(messages.at(-1)).toMatchObject({ turn_id: body.turn_id, role: 'user', text: 'Try again' })
    expect(queued).toEqual([])
  })

  it('[HT44] an unknown conversation is 404, one without a turn of ours 409', async () => {
    const server = await started()
    expect(await server.refused(404, 'POST', POSTED, { body: { text: 'x' } })).toMatchObject({
      code: 'session_not_found',
    })
    await server.door.run(ref, { type: 'open_turn', turn_id: 't1' })
    expect(await server.refused(409, 'POST', POSTED, { body: { text: 'x' } })).toMatchObject({ code: 'no_own_turn' })
  })

  it('of two windows that edit at once one wins; the other gets 412 with the message as it is', async () => {
    const server = await running()
    const { message_id } = (await post(server, 'First')).body.message
    const edit = (text: string) => server.ask('PATCH', at(message_id), { body: { text }, headers: { 'if-match': '1' } })
    const answers = await Promise.all([edit('Ann'), edit('Bob')])
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 412]))
    const [[winner] = []] = await queuedIn(server)
    const refused = await server.refused(412, 'PATCH', at(message_id), {
      body: { text: 'Late' },
      headers: { 'if-match': '1' },
    })
    expect(refused).toMatchObject({ code: 'message_changed', expected: 1, queued: { text: winner, version: 2 } })
    expect(refused.message).toBe('The message is at version 2, not 1: it has changed since.')
    expect(await server.refused(412, 'DELETE', at(message_id), { headers: { 'if-match': '1' } })).toMatchObject({
      code: 'message_changed',
    })
    expect(await server.refused(428, 'DELETE', at(message_id))).toMatchObject({ code: 'version_required' })
    expect(
      await server.refused(400, 'PATCH', at(message_id), {
        body: { text: 'x' },
        headers: { 'if-match': 'x' },
      }),
    ).toMatchObject({ code: 'invalid_request' })
  })

  it('what comes too late is told: delivered, taken back, or never there', async () => {
    const server = await running()
    const gone = (await post(server, 'Gone')).body.message.message_id
    await server.person.withdrawMessage('c1', gone, 1)
    const had = (await post(server, 'Had')).body.message.message_id
    await server.door.run(ref, { type: 'deliver_queued', turn_id: 't1' })
    const { seq } = await server.person.session('c1')
    for (const [id, status, code] of [
      [had, 409, 'message_delivered'],
      [gone, 409, 'message_withdrawn'],
      ['nowhere', 404, 'message_not_found'],
    ] as const) {
      const headers = { 'if-match': '1' }
      const refused = [
        await server.refused(status, 'PATCH', at(id), { body: { text: 'x' }, headers }),
        await server.refused(status, 'DELETE', at(id), { headers }),
        await server.refused(status, 'POST', `${at(id)}/send`),
      ]
      expect(refused.map(error => error.code)).toEqual([code, code, code])
    }
    expect(await server.person.session('c1')).toMatchObject({ seq, turns: [{ stop_requested: false }] })
  })

  it('sent now: the turn stops for it, twice is once; without one, a turn is started', async () => {
    const server = await running()
    const { message_id } = (await post(server, 'Now')).body.message
    const send = () => server.ask<SentNowAnswer>('POST', `${at(message_id)}/send`)
    const first = await send()
    expect(first.body).toEqual({ turn_id: 't1', seq: first.body.seq })
    expect((await send()).body).toEqual(first.body)
    expect((await server.person.session('c1')).turns).toMatchObject([{ turn_id: 't1', stop_requested: true }])
    await server.door.run(ref, { ...fails, because: 'stopped' })
    // Ended by a program that starts no turns, it left the message.
    const { body } = await send()
    expect(body).toMatchObject({ started: true })
    expect(server.taken).toEqual([body.turn_id])
    await server.refused(409, 'POST', `${at(message_id)}/send`)
  })

  it('[HT44] is for persons, and the log says who', async () => {
    const server = await running()
    const { message_id } = (await post(server, 'Mine')).body.message
    const headers = { 'if-match': '1' }
    const answers = await Promise.all([
      server.ask('POST', POSTED, { as: 'agent', body: { text: 'x' } }),
      server.ask('PATCH', at(message_id), { as: 'agent', body: { text: 'x' }, headers }),
      server.ask('DELETE', at(message_id), { as: 'agent', headers }),
      server.ask('POST', `${at(message_id)}/send`, { as: 'agent' }),
    ])
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403])
    await server.person.editMessage('c1', message_id, 1, 'Ours')
    await server.person.sendMessageNow('c1', message_id)
    const types = ['message_queued', 'queued_message_edited', 'queue_released'] as const
    const events = await server.door.conversations.events(ref, { types })
    expect(events.map(({ type, data }) => [type, 'origin' in data && data.origin?.actor])).toEqual(
      types.map(type => [type, 'person']),
    )
  })
})
