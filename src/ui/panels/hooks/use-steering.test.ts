import { createElement, type ReactNode } from 'react'
import { renderToString } from 'react-dom/server'
import { expect, it } from 'vitest'
import { finishes, inRun, type Driver } from '../../../../test/support/domain.ts'
import { createClient, type Client } from '../../../client/client.ts'
import { liveState } from '../../../client/live.ts'
import { RunsheetError } from '../../../client/http.ts'
import * as domain from '../../../core/views/view.ts'
import { useSteering, type SteeringHandle } from './use-steering.ts'

const next = { turn_id: 'turn-next' }

/** A running turn with two messages that wait. */
function steered(): Driver {
  const chat = inRun()
  chat.run({ type: 'send_message', message_id: 'a', text: 'One', next })
  chat.run({ type: 'send_message', message_id: 'b', text: 'Two', next })
  return chat
}

/** What the hook returns for a conversation. */
function handleFor({ state, log }: Driver, client: Client = createClient({ url: 'http://127.0.0.1:1' })) {
  const shown = { conversation: state, view: domain.view.of(log) }
  const connection = { status: 'live', text: null, output: null, error: null } as const
  const retries: number[] = []
  const view = { state: liveState(shown, connection), onEvent: () => () => {}, retry: () => void retries.push(1) }
  let handle: SteeringHandle | undefined
  const Shown = (): ReactNode => {
    handle = useSteering({ client, view })
    return null
  }
  renderToString(createElement(Shown))
  if (!handle) throw new Error('the hook did not run')
  return { ...handle, retries }
}

/** A client that notes what is sent, and fails as told. */
function clientWith(sent: unknown[], fails: () => boolean = () => false): Client {
  const message = { message_id: 'a', text: 'One', version: 1, queued_at: '2026-11-16T10:00:00.000Z' }
  const answer = async (...what: readonly unknown[]) => {
    sent.push(what)
    if (fails()) throw new RunsheetError(409, { code: 'message_delivered', message: 'Too late.' })
    return { message, turn_id: 'turn-1', seq: 9 }
  }
  return {
    ...createClient({ url: 'http://127.0.0.1:1' }),
    editMessage: answer,
    withdrawMessage: answer,
    sendMessageNow: answer,
  }
}

it('[TU12] shows what waits, and whether the turn is being stopped for it', () => {
  const chat = steered()
  expect(handleFor(chat)).toMatchObject({
    queued: [
      { message_id: 'a', text: 'One' },
      { message_id: 'b', text: 'Two' },
    ],
    isHeld: false,
    isSending: false,
    isBusy: false,
  })
  chat.run({ type: 'send_queued', message_id: 'b', next })
  expect(handleFor(chat)).toMatchObject({ isHeld: false, isSending: true })
})

it('[TU14] what a stopped turn left is held', () => {
  const chat = steered()
  chat.run({ type: 'stop_turn', turn_id: 'turn-1' })
  chat.run(finishes('turn-1', 'stopped'))
  expect(handleFor(chat)).toMatchObject({ isHeld: true, isSending: false })
  expect(handleFor(inRun())).toMatchObject({ queued: [], isHeld: false, isSending: false })
})

it('edits and takes back by the version that the person saw; a message that was taken back gives its text', async () => {
  const sent: unknown[] = []
  const chat = steered()
  const { edit, takeBack, sendNow } = handleFor(chat, clientWith(sent))
  const [message] = chat.state.queued
  if (!message) throw new Error('nothing waits')
  expect(await edit(message, 'Better')).toBe(true)
  expect(await takeBack(message)).toBe('One')
  expect(await sendNow('a')).toBe(true)
  expect(sent).toEqual([
    ['chat-1', 'a', 1, 'Better'],
    ['chat-1', 'a', 1],
    ['chat-1', 'a'],
  ])
  // The answers to the first attempts were lost.
  const refused =
    (code: string, more: object = {}) =>
    async () => {
      throw new RunsheetError(409, { code, message: 'Refused.', ...more })
    }
  const changed = { queued: { ...message, text: 'Better', version: 2 } }
  const repeated = handleFor(chat, {
    ...clientWith([]),
    editMessage: refused('message_changed', changed),
    withdrawMessage: refused('message_withdrawn'),
  })
  expect(await repeated.edit(message, 'Better')).toBe(true)
  expect(await repeated.edit(message, 'Other')).toBe(false)
  expect(await repeated.takeBack(message)).toBe('One')
  const late = handleFor(
    chat,
    clientWith([], () => true),
  )
  expect([await late.edit(message, 'x'), await late.takeBack(message), await late.sendNow('a')]).toEqual([
    false,
    undefined,
    false,
  ])
})
