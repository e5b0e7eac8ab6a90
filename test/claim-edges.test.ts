import { afterEach, describe, expect, it } from 'vitest'
import { listed } from '../src/core/model/conversation.ts'
import type { Verdict } from '../src/core/model/event.ts'
import { plainMaker } from '../src/engine/door/checks.ts'
import { openDoor, type Door } from '../src/engine/door/door.ts'
import { Worker } from '../src/engine/worker/worker.ts'
import { openMemoryStore } from '../src/store/memory.ts'
import { callTool } from '../src/engine/toolsets/calls.ts'
import { toolsets } from '../src/engine/toolsets/index.ts'
import { hostOf, overHttp, startMcpServer } from './support/mcp.ts'
import type { Answer } from './support/provider.ts'
import { startServer } from './support/server.ts'
import { startTurns } from './support/turns.ts'

// The letters of a claim, through every way in. The rules themselves: src/core/decide/settle.test.ts.

const HERE = { tenant: 'local', conversation: 'c1' } as const
const HOST = { review: false, assessor: true, gate: false } as const
const DONE = { id: 1, outcome: 'Done.' }

const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

/** A judge that answers when the test says so. */
class Judge {
  /** Resolves once it is asked. */
  readonly asked: Promise<void>
  readonly #answer = Promise.withResolvers<Verdict>()
  readonly #asked = Promise.withResolvers<void>()

  constructor() {
    this.asked = this.#asked.promise
  }

  says(verdict: Verdict): void {
    this.#answer.resolve(verdict)
  }

  rules(): Promise<Verdict> {
    this.#asked.resolve()
    return this.#answer.promise
  }
}

/** An agent at one edge. */
interface Agent {
  readonly door: Door
  readonly judge: Judge
  readonly call: (tool: string, args: Record<string, unknown>, id?: string) => Promise<string>
}

const agents = {
  library: async (): Promise<Agent> => {
    const { door, judge } = elsewhere()
    const call: Agent['call'] = async (tool, args, id) =>
      JSON.stringify(
        await callTool(toolsets.runsheet, tool, args, { door, ...HERE, turn: 't1', host: HOST, toolCallId: id }),
      )
    return { door, judge, call }
  },
  http: async (): Promise<Agent> => {
    const { door, judge } = elsewhere()
    const server = await startServer({ door, host: HOST })
    ends.push(server.close)
    const call: Agent['call'] = async (tool, args, id) => {
      const at = { session_id: 'c1', turn_id: 't1', ...(id === undefined ? {} : { tool_call_id: id }) }
      return JSON.stringify(await server.agent.call('runsheet', tool, { ...at, arguments: args }))
    }
    return { door, judge, call }
  },
  mcp: async (): Promise<Agent> => {
    const { door, judge } = elsewhere()
    const server = await startMcpServer({ door, host: HOST })
    ends.push(server.close)
    const at = { 'runsheet-session': 'c1', 'runsheet-turn': 't1' }
    const { call } = await overHttp(server, hostOf({ era: '2026' }), { as: 'agent', headers: at })
    return { door, judge, call: async (tool, args) => (await call(tool, args)).text }
  },
  turn: async (): Promise<Agent> => {
    const judge = new Judge()
    const next: PromiseWithResolvers<Answer>[] = [Promise.withResolvers<Answer>()]
    const turns = await startTurns({
      answers: async (_, count) => (next[count] ??= Promise.withResolvers<Answer>()).promise,
      assessor: async () => ((await judge.rules()) === 'ok' ? 'OK' : 'NOT_OK: No proof'),
    })
    ends.push(turns.close)
    const reader = await turns.open({ toolset: 'runsheet', ...HOST })
    let made = 0
    const call: Agent['call'] = async (tool, args) => {
      made += 1
      const answers = next.length >= made ? next : [...next, Promise.withResolvers<Answer>()]
      answers[made - 1]?.resolve({ calls: [{ tool, args }] })
      next[made] ??= Promise.withResolvers<Answer>()
      await reader.until(({ events }) => events.filter(({ type }) => type === 'tool_answered').length >= made)
      return JSON.stringify(reader.of('tool_answered').at(made - 1)?.data.result)
    }
    return { door: turns.door, judge, call }
  },
}

/** An agent elsewhere whose claims a judge of ours rules on. */
function elsewhere(): Pick<Agent, 'door' | 'judge'> {
  const judge = new Judge()
  const door = openDoor({ store: openMemoryStore(), checks: { ...plainMaker, judges: () => true } })
  const worker = new Worker({
    door,
    judge: async (_, { turn_id, task_id: task, seal, basis }) => {
      const said = { verdict: await judge.rules(), reason: 'No proof', model: 'm', seal, basis }
      return [{ type: 'assess_task', turn_id, task, ...said }]
    },
  })
  worker.start()
  ends.push(
    () => door.close(),
    () => worker.close(),
  )
  return { door, judge }
}

const typesIn = async (door: Door): Promise<readonly string[]> =>
  (await door.conversations.eventsAfter(HERE, 0, 1_000)).map(({ type }) => type)

const statusIn = async (door: Door): Promise<readonly string[]> =>
  listed(await door.read(HERE)).map(({ status }) => status)

const person = async (door: Door): Promise<unknown> => {
  const [task] = listed(await door.read(HERE))
  return door.run(HERE, {
    type: 'edit_tasks',
    by: 'person',
    change: [{ task: task?.id ?? '', fields: { details: 'x' } }],
  })
}

describe.each(['library', 'http', 'mcp', 'turn'] as const)('a claim over %s', edge => {
  const planned = async (): Promise<Agent> => {
    const agent = await agents[edge]()
    await agent.call('plan', { tasks: [{ title: 'A' }, { title: 'B' }] })
    return agent
  }

  it('(a) is refused at once if it is wrong whatever comes of it', async () => {
    const { door, call } = await planned()
    expect(await call('update', { id: 9, outcome: 'Done.' })).toContain('There is no task with this id')
    expect(await typesIn(door)).not.toContain('claim_made')
  })

  it('(b) what needs nothing is made at once', async () => {
    const { door, call } = await planned()
    expect(await call('update', { id: 2, status: 'blocked', outcome: 'No key.' })).toContain('"remaining":1')
    expect(await typesIn(door)).not.toContain('claim_made')
  })

  it('(c)(d) is held until the judge has ruled, and made and answered in one commit', async () => {
    const { door, judge, call } = await planned()
    const answered = call('update', DONE)
    await judge.asked
    expect(await statusIn(door)).toEqual(['in_progress', 'pending'])
    judge.says('ok')
    expect(await answered).toContain('"next":"2 B","remaining":1')
    const types = await typesIn(door)
    expect(types.slice(types.indexOf('claim_made'))).toEqual([
      'claim_made',
      'task_assessed',
      'task_changed',
      'task_changed',
      'claim_settled',
      'tool_answered',
    ])
  })

  it('(c) that is turned down is answered with the reason', async () => {
    const { door, judge, call } = await planned()
    judge.says('not_ok')
    expect(await call('update', DONE)).toContain('Task 1 was not accepted: No proof.')
    expect(await statusIn(door)).toEqual(['in_progress', 'pending'])
  })

  it("(e)(g) is closed by a person's edit, whatever the judge says then", async () => {
    const { door, judge, call } = await planned()
    const answered = call('update', DONE)
    await judge.asked
    await person(door)
    judge.says('ok')
    expect(await answered).toContain('A person changed task 1')
    expect(await statusIn(door)).toEqual(['in_progress', 'pending'])
  })

  it.skipIf(edge === 'turn')('(f) an equal call joins it, and another one is refused', async () => {
    const { door, judge, call } = await planned()
    const answered = call('update', DONE)
    await judge.asked
    const joined = call('update', DONE)
    expect(await call('update', { id: 1, outcome: 'Something else.' })).toContain('Task 1 is being checked')
    judge.says('ok')
    expect(await joined).toBe(await answered)
    expect((await typesIn(door)).filter(type => type === 'claim_made')).toHaveLength(1)
  })
})

describe('a held call of an agent elsewhere', () => {
  const held = async () => {
    const agent = await agents.library()
    await agent.call('plan', { tasks: [{ title: 'A' }, { title: 'B' }] })
    return agent
  }

  it('is granted, although a person has started a turn meanwhile', async () => {
    const { door, judge, call } = await held()
    const answered = call('update', DONE)
    await judge.asked
    const message = { turn_id: 'own', message_id: 'm1', message: 'Something else', model: 'demo' }
    await door.run(HERE, { type: 'start_turn', ...message })
    judge.says('ok')
    expect(await answered).toContain('"next":"2 B","remaining":1')
  })

  it('whose tool this version does not have is abandoned, and stands in no way', async () => {
    const { door, call } = await held()
    const [task] = listed(await door.read(HERE))
    const claim = {
      claim_id: 'clm_1',
      task_id: task?.id ?? '',
      status: 'completed',
      outcome: 'Done.',
      seal: '',
    } as const
    const edit = { change: [{ task: 1, fields: { status: 'completed', outcome: 'Done.' } }] } as const
    await door.run(HERE, {
      type: 'make_claims',
      turn_id: 't1',
      tool_call_id: 'old',
      basis: 0,
      claims: [claim],
      held: { toolset: 'runsheet', tool: 'gone', edit, items: 0 },
    })
    await person(door)
    expect(await call('tasks', {})).toContain('"title":"A"')
    expect((await door.read(HERE)).claims.size).toBe(0)
  })

  it('without an id is told one over HTTP, with which it gets its answer', async () => {
    const { door, judge } = elsewhere()
    const server = await startServer({ door, host: HOST, reviewWaitMs: 50 })
    ends.push(server.close)
    const at = { session_id: 'c1', turn_id: 't1' }
    await server.agent.call('runsheet', 'plan', { ...at, arguments: { tasks: [{ title: 'A' }, { title: 'B' }] } })
    const waiting = await server.agent.call('runsheet', 'update', { ...at, arguments: DONE })
    expect(waiting).toMatchObject({ status: 'checking', tool_call_id: expect.stringMatching(/^call_/) as string })
    judge.says('ok')
    const tool_call_id = 'tool_call_id' in waiting ? (waiting.tool_call_id ?? '') : ''
    const again = () => server.agent.call('runsheet', 'update', { ...at, arguments: DONE, tool_call_id })
    await expect.poll(again).toEqual({ result: { next: '2 B', remaining: 1 } })
    expect((await typesIn(door)).filter(type => type === 'claim_made')).toHaveLength(1)
  })

  it('is counted with the way in that it took, and from its beginning', async () => {
    const { door, judge } = elsewhere()
    const server = await startServer({ door, host: HOST })
    ends.push(server.close)
    const at = { session_id: 'c1', turn_id: 't1' }
    await server.agent.call('runsheet', 'plan', { ...at, arguments: { tasks: [{ title: 'A' }, { title: 'B' }] } })
    const answered = server.agent.call('runsheet', 'update', { ...at, arguments: DONE })
    await judge.asked
    const from = Date.parse((await door.conversations.eventsAfter(HERE, 0, 100)).at(-1)?.timestamp ?? '')
    await expect.poll(async () => Date.parse(await door.now()) - from).toBeGreaterThan(20)
    judge.says('ok')
    await answered
    const [answer] = await door.conversations.events(HERE, { types: ['tool_answered'], last: 1 })
    expect(answer?.data).toMatchObject({ edge: 'http' })
    expect(answer?.type === 'tool_answered' && answer.data.duration_ms).toBeGreaterThanOrEqual(20)
  })

  it('finds its answer again behind a thousand others', async () => {
    const { judge, call } = await held()
    judge.says('ok')
    const answer = await call('update', DONE, 'mine')
    for (let count = 0; count < 1_001; count += 1) await call('tasks', {})
    expect(await call('update', DONE, 'mine')).toBe(answer)
  })
})
