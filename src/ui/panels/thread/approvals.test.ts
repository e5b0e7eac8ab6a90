import { createElement, type ReactNode } from 'react'
import { renderToString } from 'react-dom/server'
import { expect, it } from 'vitest'
import { inRun, type Driver } from '../../../../test/support/domain.ts'
import { createClient, type Client } from '../../../client/client.ts'
import { liveState } from '../../../client/live.ts'
import { RunsheetError } from '../../../client/http.ts'
import * as domain from '../../../core/views/view.ts'
import { ApprovalCards, useApprovals, type ApprovalsHandle } from './approvals.tsx'

const approval = {
  approval_id: 'a',
  tool_call_id: 'call-1',
  tool: 'files__write',
  arguments: { path: '<b>.md', lines: [1, 2] },
  server: 'files',
  server_tool: 'write',
  fingerprint: 'a.b',
}

function asked(): Driver {
  const chat = inRun()
  chat.run({ type: 'ask_approval', turn_id: 'turn-1', approval })
  return chat
}

function viewOf({ state, log }: Driver) {
  const shown = { conversation: state, view: domain.view.of(log) }
  const connection = { status: 'live', text: null, output: null, error: null } as const
  const retries: number[] = []
  return {
    retries,
    view: { state: liveState(shown, connection), onEvent: () => () => {}, retry: () => void retries.push(1) },
  }
}

function handleFor(chat: Driver, client: Client) {
  const { view, retries } = viewOf(chat)
  let handle: ApprovalsHandle | undefined
  const Shown = (): ReactNode => {
    handle = useApprovals({ client, view })
    return null
  }
  renderToString(createElement(Shown))
  if (!handle) throw new Error('the hook did not run')
  return { ...handle, retries }
}

function clientWith(sent: unknown[], code?: string): Client {
  return {
    ...createClient({ url: 'http://127.0.0.1:1' }),
    decideApproval: async (...what) => {
      sent.push(what)
      if (code !== undefined) throw new RunsheetError(409, { code, message: 'No.' })
      return { approval_id: 'a', decision: 'allow', seq: 9 }
    },
  }
}

it('shows what waits, and sends one decision however often it is clicked', async () => {
  const sent: unknown[] = []
  const { waiting, decide } = handleFor(asked(), clientWith(sent))
  expect(waiting).toMatchObject([approval])
  const both = await Promise.all([decide('a', 'allow'), decide('a', 'deny')])
  expect(both).toEqual([true, false])
  expect(sent).toEqual([['chat-1', 'a', { decision: 'allow' }]])
})

it('one that was decided elsewhere is decided; another failure is not, and the log is read again', async () => {
  const elsewhere = handleFor(asked(), clientWith([], 'approval_already_decided'))
  expect(await elsewhere.decide('a', 'deny', 'No')).toBe(true)
  const failing = handleFor(asked(), clientWith([], 'closed'))
  expect(await failing.decide('a', 'deny')).toBe(false)
  expect(failing.retries).toHaveLength(1)
})

it('the card shows tool, server and arguments as text; once decided it is gone', () => {
  const client = clientWith([])
  const html = (chat: Driver): string =>
    renderToString(createElement(ApprovalCards, { client, view: viewOf(chat).view }))
  const chat = asked()
  expect(html(chat)).toContain('&lt;b&gt;.md')
  expect(html(chat)).toContain('Always allow')
  chat.run({ type: 'decide_approval', approval_id: 'a', decision: 'deny', via: 'http' })
  expect(html(chat)).not.toContain('rs-ask ')
  expect(html(chat)).not.toContain('Always allow')
})
