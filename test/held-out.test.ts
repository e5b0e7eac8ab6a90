import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { receiptMarkdown } from '../src/cli/receipt.ts'
import type { Check, CheckSpec } from '../src/core/proof/check.ts'
import { RECEIPT_TYPES, receiptOf } from '../src/core/views/receipt.ts'
import { redactor } from '../src/core/text/redact.ts'
import type { SentDecision, TaskAnswer, TaskView } from '../src/core/views/wire.ts'
import type { ReviewRequest } from '../src/core/model/review.ts'
import { ProcessNotes, handleHook } from '../src/hosts/hook-handler.ts'
import type { HookEvent } from '../src/hosts/hook-event.ts'
import type { Route } from '../src/server/http/route.ts'
import { toolsets } from '../src/engine/toolsets/index.ts'
import { Plan } from './support/checked-plan.ts'
import { hostOf, overHttp, startMcpServer, waiting, type Host, type McpTestServer } from './support/mcp.ts'
import { EVERY_ROUTE, filled } from './support/requests.ts'
import { scratchFolder } from './support/scratch.ts'
import { TOKENS } from './support/server.ts'
import { follow, type SseReader } from './support/sse.ts'
import { startTurns, type ChatReader, type Decide, type TestTurns } from './support/turns.ts'

// What an agent can read of a held-out check: everywhere, by the tables of routes and tools.

/** Words that only the held-out checks, their output, their files and the judge of their tasks have. */
const SECRETS = { command: 'narwhal', output: 'quokka', file: 'axolotl', reason: 'pangolin' }
type Secret = keyof typeof SECRETS
const secretsIn = (text: string): Secret[] =>
  (Object.keys(SECRETS) as Secret[]).filter(name => text.toLowerCase().includes(SECRETS[name]))

/** A turn of ours, and those of agents elsewhere, over MCP and over HTTP. */
const SESSIONS = ['c1', 'c2', 'c3'] as const

let heldOut: string
let workspace: string
let at: TestTurns
let mcp: McpTestServer
let host: Host
let own: ChatReader
/** What both roles read while it happened. */
const streams: Record<keyof typeof TOKENS, SseReader[]> = { person: [], agent: [] }
/** What the agent elsewhere was told. */
const told: string[] = []
const byManager: string[] = []

const held = (script: string): CheckSpec => ({
  kind: 'command',
  run: ['sh', join(heldOut, script), SECRETS.command],
  contains: 'QUOKKA',
  hidden: true,
})

/** The rows with a held-out check each, and how the person decides. */
const withChecks =
  (action: 'confirm' | 'revise', ...checks: readonly CheckSpec[]) =>
  ({ draft_tasks }: ReviewRequest): SentDecision => ({
    action,
    ...(action === 'revise' ? { comment: 'Smaller steps.' } : {}),
    tasks: draft_tasks.map(({ title }, draft_index) => ({
      title,
      draft_index,
      checks: [checks[draft_index] ?? held('axolotl-red.sh')],
    })),
  })

beforeAll(async () => {
  workspace = scratchFolder()
  heldOut = scratchFolder()
  writeFileSync(join(heldOut, 'words.txt'), 'The QUOKKA failed.\n')
  writeFileSync(join(heldOut, 'axolotl-red.sh'), 'cat "$RUNSHEET_HELD_OUT/words.txt"; echo "$1 $0"; exit 7\n')
  writeFileSync(join(heldOut, 'axolotl-green.sh'), 'cat "$RUNSHEET_HELD_OUT/words.txt"; test -d "$RUNSHEET_HELD_OUT"\n')
  at = await startTurns({
    workspace,
    heldOut,
    store: 'sqlite',
    assessor: () => `NOT_OK: the ${SECRETS.reason} is missing`,
    answers: [
      { calls: [{ tool: 'plan', args: { tasks: [{ title: 'Alpha' }, { title: 'Beta' }] } }] },
      { calls: [{ tool: 'update', args: { id: 1, outcome: 'Done.' } }] },
      { calls: [{ tool: 'update', args: { id: 2, outcome: 'Done.' } }] },
      { calls: [{ tool: 'update', args: { id: 2, outcome: 'Done at last.' } }] },
      { calls: [{ tool: 'tasks', args: {} }] },
      'I stop here.',
    ],
  })
  const policy = { toolset: 'runsheet', review: true, assessor: true, gate: true } as const
  const decided = withChecks('confirm', held('axolotl-red.sh'), held('axolotl-green.sh'))
  own = await at.open(policy, decided as Decide)
  await own.reached('turn_started')
  for (const as of ['person', 'agent'] as const) streams[as].push(await follow(at, 'c1', { as }))
  await own.over

  mcp = await startMcpServer({ door: at.door, host: { review: true, assessor: false } })
  const headers = { 'runsheet-session': 'c2', 'runsheet-turn': 't2' }
  host = await overHttp(mcp, hostOf({ era: '2026' }), { as: 'agent', headers })
  const planned = host.call('plan', { tasks: [{ title: 'Alpha' }, { title: 'Beta' }] })
  const review = await waiting(at.person, 'c2')
  for (const as of ['person', 'agent'] as const) streams[as].push(await follow(at, 'c2', { as }))
  const missing: CheckSpec = { kind: 'command', run: [`./${SECRETS.command}`], contains: 'QUOKKA', hidden: true }
  await at.person.decide(review.review_id, withChecks('confirm', held('axolotl-red.sh'), missing)(review))
  told.push((await planned).text)
  told.push((await host.call('update', { id: 1, outcome: 'Done.' })).text)
  told.push((await host.call('update', { id: 2, outcome: 'Done.' })).text)
  // An edit that the agent has not seen.
  const [first] = (await at.person.tasks('c2')).tasks
  const { version } = await changed('c2', first, { checks: [held('axolotl-green.sh')] })
  told.push((await host.call('update', { id: 1, outcome: 'Done again.' })).text)
  // A plan that is sent back.
  const next = host.call('plan', { tasks: [{ title: 'Gamma' }] })
  const second = await waiting(at.person, 'c2')
  await at.person.decide(second.review_id, withChecks('revise')(second))
  told.push((await next).text)
  // The toolset that shows checks.
  const add = { session_id: 'c3', turn_id: 't3', tool_call_id: 'call-1', arguments: { tasks: [{ title: 'Alpha' }] } }
  const added = at.agent.call('task_manager', 'add_task', add)
  const third = await waiting(at.person, 'c3')
  for (const as of ['person', 'agent'] as const) streams[as].push(await follow(at, 'c3', { as }))
  await at.person.decide(third.review_id, withChecks('confirm')(third))
  const { id } = (await at.person.tasks('c3')).tasks[0] ?? {}
  const rest: readonly (readonly [string, object])[] = [
    ['complete_task', { id, outcome: 'Done.' }],
    ['list_tasks', { include_done: true }],
  ]
  byManager.push(JSON.stringify(await added))
  for (const [tool, args] of rest) {
    const call = { session_id: 'c3', turn_id: 't3', arguments: args }
    byManager.push(JSON.stringify(await at.agent.call('task_manager', tool, call)))
  }
  await at.person.saveTemplate('kept', [{ title: 'Delta', checks: [held('axolotl-red.sh')] }])
  await at.ask('DELETE', `/api/sessions/c2/tasks/${first?.id}`, { headers: { 'if-match': `"${version}"` } })
})

/** A person's change of a task. */
async function changed(session: string, task: TaskView | undefined, body: object): Promise<TaskView> {
  const headers = { 'if-match': `"${task?.version}"` }
  const answer = await at.ask('PATCH', `/api/sessions/${session}/tasks/${task?.id}`, { body, headers })
  return ((await answer.json()) as TaskAnswer).task
}

afterAll(async () => {
  await host.client.close()
  for (const reader of [...streams.person, ...streams.agent]) reader.cut()
  await mcp.close()
  await at.close()
  for (const folder of [workspace, heldOut]) rmSync(folder, { recursive: true, force: true })
})

describe('what an agent hears of a held-out check', () => {
  it('[HD1] a model of ours hears that it failed, and that a claim was not accepted', () => {
    const answers = own.of('tool_answered').map(({ data }) => JSON.stringify(data.result))
    expect(answers[1]).toContain('Task 1 is not done: a held-out check failed.')
    expect(answers[2]).toContain('Task 2 was not accepted: Not accepted.')
    const heard = JSON.stringify(at.provider.asked.map(({ request }) => request))
    expect(heard).toContain('a held-out check failed')
    expect(secretsIn(heard)).toEqual([])
  })

  it('[HD1] so does an agent over MCP', async () => {
    expect(told[1]).toContain('Task 1 is not done: a held-out check failed.')
    expect(told[2]).toContain('was not checked with `held-out check`: It could not be run.')
    expect(told[3]).toContain('checks are now [\\"held-out check\\"]')
    expect(told[4]).toContain('held-out check')
    expect(secretsIn(told.join('\n'))).toEqual([])
  })
})

it('[HD2] over HTTP, an agent sees that a task has one', () => {
  expect(byManager[1]).toContain('a held-out check failed')
  expect(byManager[2]).toContain('"run":["held-out check"]')
  expect(secretsIn(byManager.join('\n'))).toEqual([])
})

describe('everything that an agent can read', () => {
  it('[HD2] over HTTP has none of it, and a person reads all of it', async () => {
    const [agent, person] = [await walked('agent'), await walked('person')]
    expect(found(person)).toEqual(Object.keys(SECRETS).sort())
    expect(leaks(agent)).toEqual([])
    expect([...agent.values()].join('\n')).toContain('"hidden":true')
  })

  it('[HD2] as it happens has none of it, and keeps every seq', async () => {
    for (const [index, session] of SESSIONS.entries()) {
      const { seq: head } = await at.door.read({ tenant: 'local', conversation: session })
      const [person, agent] = [streams.person[index], streams.agent[index]]
      if (!person || !agent) throw new TypeError('nobody follows')
      for (const reader of [person, agent]) await reader.reached(head)
      const ids = (reader: SseReader): unknown[] => reader.frames.flatMap(({ id }) => id ?? [])
      expect(ids(agent)).toEqual(ids(person))
      expect(secretsIn(agent.raw)).toEqual([])
      expect(secretsIn(person.raw)).toContain('output')
    }
  })

  it('[HD2] over MCP has none of it: tools, resources and prompts', async () => {
    const { client } = host
    const texts: string[] = [JSON.stringify(client.getServerCapabilities()), client.getInstructions() ?? '']
    const { tools } = await client.listTools()
    texts.push(JSON.stringify(tools))
    for (const { name } of tools) {
      for (const args of [{}, { id: 1 }, { id: 1, outcome: 'Done.' }, { claim_id: 'x' }]) {
        texts.push(JSON.stringify(await client.callTool({ name, arguments: args }).catch(String)))
      }
    }
    const { resources } = await client.listResources()
    expect(resources.length).toBeGreaterThan(0)
    for (const { uri } of resources) texts.push(JSON.stringify(await client.readResource({ uri })))
    const { prompts } = await client.listPrompts()
    expect(prompts.length).toBeGreaterThan(0)
    for (const { name } of prompts) texts.push(JSON.stringify(await client.getPrompt({ name, arguments: {} })))
    const all = texts.join('\n')
    expect(all).toContain('held-out check')
    expect(secretsIn(all)).toEqual([])
  })

  it('[HD2] from hooks has none of it', async () => {
    const texts: string[] = []
    const events: readonly HookEvent[] = [
      { kind: 'start', session: 'c2' },
      { kind: 'prompt', session: 'c2', keepsDigest: true },
      { kind: 'tool', session: 'c2', call: { tool: 'Bash', arguments: {}, answer: 'ok', ok: true } },
      { kind: 'stop', session: 'c2' },
    ]
    const notes = new ProcessNotes()
    const features = { gate: true, evidence: true, digest: true }
    const ref = { tenant: 'local', conversation: 'c2' }
    for (const event of events) {
      const deps = { door: at.door, ref, notes, features, redact: redactor() }
      texts.push(JSON.stringify(await handleHook(event, deps)))
    }
    expect(texts.join('\n')).toContain('Beta')
    expect(secretsIn(texts.join('\n'))).toEqual([])
  })

  it('[HD3] in a receipt has none of it', async () => {
    const ref = { tenant: 'local', conversation: 'c1' }
    const events = await at.door.conversations.events(ref, { types: RECEIPT_TYPES })
    const receipt = receiptOf(await at.door.read(ref), events, 't1')
    if (!receipt) throw new TypeError('there is no plan')
    expect(secretsIn(JSON.stringify(receipt) + receiptMarkdown(receipt))).toEqual([])
  })
})

it('[HD1] a receipt counts the held-out checks beside the standing', () => {
  const plan = new Plan({ title: 'Alpha' })
  const check: Check = { kind: 'command', run: [SECRETS.command], hidden: true, id: 'c9', hash: 'h9' }
  plan.run({ type: 'edit_tasks', by: 'person', change: [{ task: plan.task(1).id, fields: { checks: [check] } }] })
  plan.answer()
  plan.runs('failed')
  plan.claims(1)
  plan.runs('passed')
  plan.resumes(1)
  const receipt = receiptOf(plan.state, plan.log, 'turn-1')
  expect(receipt && receiptMarkdown(receipt)).toContain('| 1 | Alpha | done | proven, 1 held out |')
})

describe('a held-out check is refused by name', () => {
  const check = { kind: 'command', run: ['npm', 'test'], hidden: true }

  it.each([
    ['beside the title', { title: 'Gamma', check: 'npm test', hidden: true }],
    ['as a check', { title: 'Gamma', checks: [check] }],
  ])('[HD1] from a model, %s', async (_, row) => {
    const { text } = await host.call('plan', { tasks: [row] })
    expect(text).toContain('Only a person can add a held-out check')
  })

  it("[HD1] with an agent's credential", async () => {
    const [task] = (await at.person.tasks('c1')).tasks
    for (const [method, path] of [
      ['POST', '/api/sessions/c1/tasks'],
      ['PATCH', `/api/sessions/c1/tasks/${task?.id}`],
    ] as const) {
      const body = { title: 'Gamma', checks: [check] }
      const answer = await at.ask(method, path, { as: 'agent', body, headers: { 'if-match': '"1"' } })
      expect([answer.status, ((await answer.json()) as { error: { code: string } }).error.code]).toEqual([
        403,
        'persons_only',
      ])
    }
  })
})

type Read = ReadonlyMap<string, string>

const found = (read: Read): string[] => secretsIn([...read.values()].join('\n')).sort()
const leaks = (read: Read): unknown[] =>
  [...read].flatMap(([path, text]) => (secretsIn(text).length > 0 ? [[path, secretsIn(text)]] : []))

/** Every request that the table of routes allows, with every value that its parameters can have here. */
async function walked(as: keyof typeof TOKENS): Promise<Read> {
  const read = new Map<string, string>()
  for (const session of SESSIONS) {
    const values = await valuesIn(session)
    for (const route of EVERY_ROUTE) {
      // A person's request would change what the next one reads.
      if (as === 'person' && route.method !== 'get') continue
      for (const path of pathsOf(route, values)) {
        const query = `?q=Alpha&session_id=${session}&turn_id=${session.replace('c', 't')}&origins=true&approvals=true&list=all`
        const url = route.path === '/api/sessions/:session_id/tasks' ? path : path + query
        read.set(`${route.method} ${path}`, await answerTo(route, url, as))
      }
    }
  }
  return read
}

async function valuesIn(session: string): Promise<Readonly<Record<string, readonly string[]>>> {
  const ref = { tenant: 'local', conversation: session }
  const state = await at.door.read(ref)
  const tasks = [...state.tasks.values()]
  return {
    session_id: [session],
    turn_id: [...state.turns.values()].map(({ id }) => id),
    task_id: tasks.map(({ id }) => id),
    check_id: tasks.flatMap(({ checks = [] }) => checks.map(({ id }) => id)),
    review_id: [...state.reviews.values()].map(({ review_id }) => review_id),
    seq: Array.from({ length: state.seq }, (_, index) => String(index + 1)),
    message_id: ['none'],
    approval_id: ['none'],
    panel: ['p1'],
    server: ['none'],
    name: ['kept', ...Object.keys(toolsets)],
    tool: Object.values(toolsets).flatMap(({ tools }) => tools.map(({ name }) => name)),
  }
}

function pathsOf({ path }: Route, values: Readonly<Record<string, readonly string[]>>): string[] {
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
  return names.reduce<string[]>(
    (paths, name) => {
      const known = values[name]
      // A new parameter needs a value here.
      if (!known?.length) throw new TypeError(`the walk knows no value of :${name} in ${path}`)
      return paths.flatMap(each => known.map(value => filledOne(each, name, value)))
    },
    [path],
  )
}

const filledOne = (path: string, name: string, value: string): string =>
  filled(path, each => (each === name ? value : `:${each}`))

async function answerTo(
  { method, path: template, answers }: Route,
  path: string,
  as: keyof typeof TOKENS,
): Promise<string> {
  const sessionOf = /\/sessions\/(\w+)/.exec(path)?.[1] ?? 'c2'
  const call = { session_id: 'c2', turn_id: 't2', arguments: { id: 1, outcome: 'Done.' } }
  const body = template.includes('/tools/:tool') ? call : {}
  const isStream = answers[200]?.type === 'text/event-stream' && method === 'get'
  if (isStream) {
    const { seq } = await at.door.read({ tenant: 'local', conversation: sessionOf })
    const reader = await follow(at, sessionOf, { as })
    await reader.reached(seq)
    reader.cut()
    return reader.raw
  }
  const response = await at.ask(method.toUpperCase(), path, { as, ...(method === 'get' ? {} : { body }) })
  return response.text()
}
