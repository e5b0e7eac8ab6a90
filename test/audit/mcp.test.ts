import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { ElicitResult } from '@modelcontextprotocol/client'
import { expect, it, onTestFinished } from 'vitest'
import { openDoor } from '../../src/engine/door/door.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { CLI, runCli } from '../support/children.ts'
import {
  afterALook,
  chosen,
  FORM,
  hostOf,
  type HostOptions,
  overHttp,
  overStdio,
  PLAN,
  startMcpServer,
  URL_MODE,
} from '../support/mcp.ts'
import { originsOf } from '../support/origins.ts'
import { scratchFolder } from '../support/scratch.ts'

const NAME = 'a host\u001b[31m'
const claimed = { client: String.raw`a host\u001b[31m 1.0.0` }
const approve = (): ElicitResult => chosen('Approve as proposed')

/** Whether the client is asked by a form, and its answer; and how that decision is recorded. */
const WAYS: readonly (readonly [string, Omit<HostOptions, 'era'>, string])[] = [
  ['a form', { capabilities: FORM, answers: afterALook(approve) }, 'mcp_form'],
  ['a link', { capabilities: URL_MODE, answers: afterALook(() => ({ action: 'decline' })) }, 'mcp_link'],
]

it.each((['2025', '2026'] as const).flatMap(era => WAYS.map(([way, options, edge]) => ({ era, way, options, edge }))))(
  "over HTTP, $era: the call is the agent's, the answer to $way the person's",
  async ({ era, options, edge }) => {
    const server = await startMcpServer({ waitLimits: { panelMs: 50 } })
    onTestFinished(server.close)
    const host = await overHttp(server, hostOf({ era, name: NAME, ...options }), {
      headers: { 'runsheet-session': 'c', 'x-forwarded-for': '10.9.9.9', 'user-agent': 'a library' },
    })
    onTestFinished(() => host.client.close())
    await host.call('plan', PLAN)
    const call = { actor: 'agent', edge: 'mcp', credential: 'person', claimed }
    expect(await originsOf(server.door, 'c')).toEqual([
      ['policy_set', call],
      ['turn_opened', call],
      ['task_create_review_resolved', { actor: 'person', edge, credential: 'person', claimed }],
    ])
  },
)

it.each(['2025', '2026'] as const)("over HTTP, %s: an agent's token is recorded as such", async era => {
  const server = await startMcpServer({ host: { review: false } })
  onTestFinished(server.close)
  const host = await overHttp(server, hostOf({ era }), { as: 'agent', headers: { 'runsheet-session': 'c' } })
  onTestFinished(() => host.client.close())
  const _meta = { 'runsheet/origin': { actor: 'person', edge: 'page' }, origin: { actor: 'person' } }
  await host.client.callTool({ name: 'plan', arguments: { ...PLAN, origin: { actor: 'person' } }, _meta })
  const agent = { actor: 'agent', edge: 'mcp', credential: 'agent', claimed: { client: 'a host 1.0.0' } }
  expect(await originsOf(server.door, 'c')).toEqual([
    ['policy_set', agent],
    ['turn_opened', agent],
    ['task_created', agent],
  ])
})

it.each(['2025', '2026'] as const)(
  "over stdio, %s: a form's answer is the person's, without a credential",
  async era => {
    const data = scratchFolder()
    // Otherwise `mcp` starts a server that outlives the test.
    const page = runCli(['serve', '--port', '0', '--data', data])
    await page.line(line => line.startsWith('Runsheet is ready'))
    onTestFinished(async () => {
      page.process.kill()
      await page.ended
      rmSync(data, { recursive: true })
    })
    const options = { era, name: NAME, capabilities: FORM, answers: afterALook(approve) }
    const host = await overStdio(data, hostOf(options), ['--session', 'c', '--review', 'on'], CLI)
    await host.call('plan', PLAN)
    await host.client.close()
    const door = openDoor({ store: await openSqliteStore({ path: join(data, 'runsheet.db') }), readOnly: true })
    onTestFinished(() => door.close())
    const call = { actor: 'agent', edge: 'mcp', claimed }
    expect(await originsOf(door, 'c')).toEqual([
      ['policy_set', call],
      ['turn_opened', call],
      ['task_create_review_resolved', { actor: 'person', edge: 'mcp_form', claimed }],
    ])
  },
)
