import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { MockLanguageModelV4 } from 'ai/test'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { givenModels } from '../../src/engine/turn/given-models.ts'
import type { OutsideTool } from '../../src/engine/worker/outside.ts'
import type { StoredEvent } from '../../src/core/model/event.ts'
import type { TurnStatus } from '../../src/core/model/turn.ts'
import { fault } from '../support/faults.ts'
import { type Answer, type ModelRequest, Provider, type Script, type ScriptedCall } from '../support/provider.ts'
import {
  type ChatBody,
  type ChatReader,
  confirmAll,
  type Decide,
  rejectAll,
  startTurns,
  type TestTurns,
} from '../support/turns.ts'

const DIGEST = '## Where the plan stands'

let turns: TestTurns
let made: string[]
let conversations = 0

/** Says when it begins and when it ends. */
const notes: OutsideTool = {
  name: 'note',
  description: 'Writes something down.',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
  isRepeatable: false,
  call: async input => {
    const { text = '' } = input as { text?: string }
    made.push(`begin ${text}`)
    await new Promise(resolve => setImmediate(resolve))
    made.push(`end ${text}`)
    return `noted ${text}`
  },
}

beforeAll(async () => {
  turns = await startTurns({ store: 'sqlite', host: { review: false }, outside: [notes] })
})
afterEach(() => {
  expect(turns.complaints).toEqual([])
})
afterAll(() => turns.close())

interface Ended {
  readonly reader: ChatReader
  readonly session: string
  /** The last message. */
  readonly text: string
  readonly finished: Extract<StoredEvent, { type: 'turn_finished' }>['data']
  readonly failed: Extract<StoredEvent, { type: 'turn_failed' }>['data'] | undefined
  readonly statuses: [string, string][]
}

/** Runs a turn in a conversation of its own, and holds it to what is true of every turn. */
async function turn(
  answers: Parameters<Provider['script']>[0],
  options: { assessor?: Parameters<Provider['script']>[1]; body?: ChatBody; decide?: Decide; on?: TestTurns } = {},
): Promise<Ended> {
  const { assessor, body, decide, on = turns } = options
  made = []
  on.provider.script(answers, assessor)
  const session_id = body?.session_id ?? `c${(conversations += 1)}`
  const reader = await on.chat({ session_id, ...body }, decide)
  expect(reader.status).toBe(200)
  const ended = endedIn(reader)
  await holdsAlways(on, reader, session_id)
  return { reader, session: session_id, ...ended, statuses: await on.statuses(session_id) }
}

function endedIn(reader: ChatReader): Pick<Ended, 'text' | 'finished' | 'failed'> {
  const [finished, ...more] = reader.of('turn_finished')
  const [failed] = reader.of('turn_failed')
  if (!finished) throw new Error(`it did not finish: ${reader.types.join(', ')}`)
  expect(more).toEqual([])
  expect(['done', 'incomplete', 'failed', 'stopped'] satisfies TurnStatus[]).toContain(finished.data.status)
  const isFailed = finished.data.status === 'failed'
  const end = isFailed ? ['message_added', 'turn_failed', 'turn_finished'] : ['message_added', 'turn_finished']
  expect(reader.types.slice(-end.length)).toEqual(end)
  expect(reader.of('turn_failed')).toHaveLength(isFailed ? 1 : 0)
  const last = reader.of('message_added').at(-1)?.data
  expect(last?.role).toBe('assistant')
  expect(last?.text.trim()).not.toBe('')
  return { text: last?.text ?? '', finished: finished.data, failed: failed?.data }
}

async function holdsAlways(on: TestTurns, reader: ChatReader, session: string): Promise<void> {
  const log = await on.log(session)
  expect(log.map(({ seq }) => seq)).toEqual(log.map((_, place) => place + 1))
  const first = reader.events[0]?.seq ?? 0
  expect(reader.events).toEqual(log.slice(first - 1))
  // Every call was answered once, in the order in which the model made them.
  const called = reader.of('step_finished').flatMap(({ data }) => data.tool_calls)
  const ids = called.map(call => (call as { tool_call_id: string }).tool_call_id)
  expect(reader.of('tool_answered').map(({ data }) => data.tool_call_id)).toEqual(ids)
  expect(new Set(ids).size).toBe(ids.length)
  // Nothing was completed that nobody had judged.
  const passed = reader.of('task_assessed').flatMap(({ data }) => (data.verdict === 'ok' ? [data.task_id] : []))
  const [{ data: started } = { data: undefined }] = reader.of('turn_started')
  for (const task of await on.tasks(session)) {
    if (started?.policy.assessor && (task.status === 'completed' || task.status === 'cancelled')) {
      expect(passed).toContain(task.id)
      expect(task.judged_by).toBe('assessor')
    }
  }
  const { counts, remaining, status } = endedIn(reader).finished
  expect(remaining).toBe(counts.open)
  if (status === 'done' && started?.policy.gate) expect(counts.open + counts.blocked).toBe(0)
  for (const { request } of on.provider.asked) wellFormed(request)
}

/** What a provider can take: every call with its answer right behind it, and one digest, in front. */
function wellFormed({ messages }: ModelRequest): void {
  expect(messages[0]?.role).toBe('system')
  expect(messages.filter(({ role }) => role === 'system')).toHaveLength(1)
  expect(JSON.stringify(messages).split(DIGEST).length).toBeLessThanOrEqual(2)
  expect(messages[0]?.content?.length).toBeLessThan(40_000)
  let open: string[] = []
  for (const { role, tool_calls = [], tool_call_id = '' } of messages) {
    if (role === 'tool') {
      expect(open[0]).toBe(tool_call_id)
      open = open.slice(1)
    } else {
      expect(open).toEqual([])
      open = tool_calls.map(({ id }) => id)
      for (const call of tool_calls) expect(JSON.parse(call.function.arguments)).toBeTypeOf('object')
    }
  }
  expect(open).toEqual([])
}

const note = (text: string, id?: string): ScriptedCall => ({
  tool: 'note',
  args: { text },
  ...(id === undefined ? {} : { id }),
})
const plan = (...titles: readonly string[]): Script => ({
  calls: [{ tool: 'plan', args: { tasks: titles.map(title => ({ title, done_when: `${title} is there` })) } }],
})
const update = (id: number, status = 'done'): ScriptedCall => ({
  tool: 'update',
  args: { id, outcome: `outcome of ${id}`, status },
})
const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value)
const results = ({ reader }: Ended): unknown[] => reader.of('tool_answered').map(({ data }) => data.result)

/** What a reader of the stream saw of the text of each message. */
function shown(reader: ChatReader): Map<string, string> {
  const texts = new Map<string, string>()
  for (const { type, data } of reader.asides('text_delta', 'text_snapshot')) {
    const { message_id, text } = data as { message_id: string; text: string }
    texts.set(message_id, type === 'text_delta' ? `${texts.get(message_id) ?? ''}${text}` : text)
  }
  return texts
}

fault('a model or provider that fails, stalls, loops or talks nonsense')

describe('a provider that fails', () => {
  it.each([429, 500, 502, 503, 529])('[TR15] %i twice, and the third try is the answer', async status => {
    const { finished, text, reader } = await turn([{ status }, { status }, 'Here you are.'])
    expect([finished.status, finished.steps, text]).toEqual(['done', 1, 'Here you are.'])
    const [first, ...again] = turns.provider.asked.map(({ request }) => request)
    expect(again).toEqual([first, first])
    expect(reader.types).toEqual(['turn_started', 'step_finished', 'message_added', 'turn_finished'])
  })

  it.each([
    [429, 'provider_busy', "The model's provider is busy (429): scripted 429."],
    [500, 'provider_failed', "The model's provider failed (500): scripted 500."],
    [503, 'provider_failed', "The model's provider failed (503): scripted 503."],
  ])('[TR15] %i three times fails the turn, in plain words', async (status, code, message) => {
    const { finished, failed, text } = await turn(times(5, { status }))
    expect([finished.status, finished.steps, failed?.code, failed?.message]).toEqual(['failed', 0, code, message])
    expect(text).toBe(message)
    expect(turns.provider.asked).toHaveLength(3)
  })

  it.each([
    [400, 'provider_refused'],
    [401, 'provider_denied'],
    [403, 'provider_denied'],
    [404, 'provider_refused'],
    [422, 'provider_refused'],
  ])('%i is not tried again', async (status, code) => {
    const { finished, failed, text } = await turn([{ status }, 'never asked for'])
    expect([finished.status, failed?.code, text]).toEqual([
      'failed',
      code,
      `The model's provider refused (${status}) at ${turns.provider.url}/chat/completions: scripted ${status}.`,
    ])
    expect(turns.provider.asked).toHaveLength(1)
  })

  it('[TR15] an error that is not JSON is reported in one line', async () => {
    const body = `<html>\n<body>${'x'.repeat(5_000)}</body></html>`
    const { failed, text } = await turn([{ status: 400, body, headers: { 'content-type': 'text/html' } }])
    expect(failed?.message).toMatch(/^The model's provider refused \(400\) at http.+: .+\.$/)
    expect(text.length).toBeLessThan(500)
    expect(text).not.toContain('\n')
  })

  it.each([429, 503])('[TR15] %i with Retry-After is asked again when it says so', async status => {
    // By our own count it would be after ten minutes.
    const patient = await startTurns({ retryMs: 600_000, host: { review: false } })
    try {
      const busy = { status, headers: { 'retry-after': '0' } }
      const { finished, text } = await turn([busy, busy, 'Now.'], { on: patient })
      expect([finished.status, text]).toEqual(['done', 'Now.'])
      const later = { status, headers: { 'retry-after': new Date(Date.now() - 1_000).toUTCString() } }
      expect((await turn([later, 'By the date.'], { on: patient })).text).toBe('By the date.')
    } finally {
      await patient.close()
    }
  })

  it('[TR15] a stream that breaks is retried, and the text starts over', async () => {
    const { finished, text, reader } = await turn([
      { text: 'Half of what I wanted to', dies: true },
      { text: 'Half of it is', dies: true },
      'All of it.',
    ])
    expect([finished.status, finished.steps, text]).toEqual(['done', 1, 'All of it.'])
    expect(turns.provider.asked).toHaveLength(3)
    expect(reader.asides('text_snapshot').map(({ data }) => data['text'])).toEqual(['Half ', 'All '])
    const [step] = reader.of('step_finished')
    expect([...shown(reader)]).toEqual([[step?.data.message_id, 'All of it.']])
  })

  it('[TR15] a stream that breaks every time fails the turn; its partial text is not an answer', async () => {
    const { finished, failed, text } = await turn(times(4, { text: 'It is all done, and', dies: true }))
    expect([finished.status, finished.steps, failed?.code]).toEqual(['failed', 0, 'provider_unreachable'])
    expect(text).toMatch(/^The model could not be reached at http\S+: .+\.$/)
    expect(turns.provider.asked).toHaveLength(3)
  })

  it('a request that is retried is told once, without the errors that it ended with', async () => {
    const message = 'Make a plan, please'
    const ask = (turn_id: string, answers: readonly Answer[]): Promise<Ended> =>
      turn(answers, { body: { session_id: 'retried', turn_id, message } })
    expect((await ask('first', [{ status: 401 }])).text).toContain('(401)')
    expect((await ask('second', times(3, { text: 'I will', dies: true }))).finished.status).toBe('failed')
    await ask('third', ['Here it is.'])
    const told = turns.provider.messages(0).filter(({ role }) => role !== 'system')
    expect(told.map(({ role, content }) => [role, content])).toEqual([['user', message]])
  })

  it('what the system says about a turn is not found, what the agent said is', async () => {
    await turn([plan('Zebra'), ...times(9, 'All is quokka.')])
    await turn([{ status: 401 }])
    const found = async (words: string): Promise<unknown> => {
      const response = await turns.ask('GET', `/api/search?kind=message&q=${encodeURIComponent(words)}`)
      const { results } = (await response.json()) as { results: { excerpt: { text: string }[] }[] }
      return results
        .at(-1)
        ?.excerpt.map(({ text }) => text)
        .join('')
    }
    expect(await found('quokka')).toBe('All is quokka.')
    expect(await found('no progress after')).toBeUndefined()
    expect(await found('provider refused')).toBeUndefined()
  })

  it.each([1, 60, 200, 400, 700])(
    '[TR15] a line that is cut after %i bytes, in the middle of a call: made once',
    async cutAfter => {
      const calling = { text: 'I note that.', calls: [note('once')] }
      const { finished, text } = await turn([{ ...calling, cutAfter }, calling, 'Noted.'])
      expect([finished.status, finished.steps, text]).toEqual(['done', 2, 'Noted.'])
      expect(made).toEqual(['begin once', 'end once'])
    },
  )

  it('[TR15] a stream without a finish reason was cut', async () => {
    const cut = `data: ${JSON.stringify({ id: 'x', choices: [{ index: 0, delta: { content: 'I have delet' } }] })}\n\n`
    const { finished, text } = await turn([{ raw: cut }, 'I have deleted nothing.'])
    expect([finished.status, text]).toEqual(['done', 'I have deleted nothing.'])
  })

  it('[TR15] an error within the stream is retried, and reported in plain words', async () => {
    const raw = `data: ${JSON.stringify({ error: { message: 'the GPU fell off', type: 'server_error' } })}\n\n`
    expect((await turn([{ raw }, { raw }, 'Back again.'])).text).toBe('Back again.')
    const { finished, failed } = await turn(times(3, { raw }))
    expect(finished.status).toBe('failed')
    expect(failed?.message).toContain('the GPU fell off')
  })

  it('[TR15] a response that is not a stream fails in plain words', async () => {
    const { finished, text } = await turn(times(3, { raw: 'data: {"choices": oops\n\n' }))
    expect(finished.status).toBe('failed')
    expect(text).not.toContain('[object')
    expect(text.length).toBeLessThan(500)
  })

  it('[TR15] a model that goes silent, before or within its answer, is asked again, and then given up', async () => {
    const quiet = await startTurns({ silenceMs: 400 })
    try {
      const again = await turn([{ hangs: true }, { text: 'half an', hangs: true }, { text: 'whole' }], { on: quiet })
      expect([again.finished.status, again.text]).toEqual(['done', 'whole'])
      const { finished, failed } = await turn([{ hangs: true }, { hangs: true }, { hangs: true }], { on: quiet })
      expect([finished.status, failed?.code]).toEqual(['failed', 'provider_unreachable'])
      expect(failed?.message).toContain('no response for 0.4 s')
    } finally {
      await quiet.close()
    }
  })

  it('[TR15] a provider that cannot be reached', async () => {
    const gone = await Provider.start()
    const { url } = gone
    await gone.close()
    const { configuredModels } = await import('../../src/models/models.ts')
    const nobody = await startTurns({ models: await configuredModels({ model: 'openai-compatible:test', url }) })
    try {
      const { finished, failed, text } = await turn([], { on: nobody })
      expect([finished.status, failed?.code]).toEqual(['failed', 'provider_unreachable'])
      expect(text).toMatch(/^The model could not be reached at http\S+: .*ECONNREFUSED.*\.$/)
    } finally {
      await nobody.close()
    }
  })

  it('[TR14][TR15] a provider that fails during the work leaves the plan as it is, and the last message names it', async () => {
    const ended = await turn([plan('Dig', 'Plant'), { calls: [update(1)] }, ...times(3, { status: 500 })])
    expect([ended.finished.status, ended.finished.counts.completed, ended.finished.remaining]).toEqual(['failed', 1, 1])
    expect(ended.statuses).toEqual([
      ['Dig', 'completed'],
      ['Plant', 'in_progress'],
    ])
    expect(ended.text).toBe("The model's provider failed (500): scripted 500.\n\nNot done:\n- Plant")
  })

  it('a model that is not configured any more fails the turn that asked for it', async () => {
    const starter = await startTurns({ isIdle: true })
    const reader = await starter.open({ session_id: 'left' })
    const { givenModels } = await import('../../src/engine/turn/given-models.ts')
    const { Worker } = await import('../../src/engine/worker/worker.ts')
    const complaints: unknown[] = []
    const runner = new Worker({
      door: starter.door,
      models: givenModels(new Map(), 'none'),
      onError: error => complaints.push(error),
    })
    runner.start()
    try {
      await reader.over
      const { finished, failed, text } = endedIn(reader)
      expect([finished.status, failed?.code]).toEqual(['failed', 'model_unknown'])
      expect(text).toContain('openai-compatible:test is not configured')
      expect(complaints).toEqual([])
    } finally {
      await runner.close()
      await starter.close()
    }
  })
})

describe('calls that are none', () => {
  it.each([
    '{"tasks":',
    'not json at all',
    '"a string"',
    '[1, 2]',
    'null',
    '12',
    '',
    '{"tasks":"x"}',
    '{"tasks":[{"title":7}]}',
    '{"__proto__":{"title":"x"}}',
    `{"tasks":${'['.repeat(500)}${']'.repeat(500)}}`,
    '{"tasks":[{"title":"\\u0000\\ud800"}',
  ])('arguments that are malformed are answered to the model: %j', async args => {
    const ended = await turn([{ calls: [{ tool: 'plan', args, id: 'a' }] }, 'I see.'])
    expect([ended.finished.status, ended.text, ended.statuses]).toEqual(['done', 'I see.', []])
    expect(ended.reader.of('tool_answered').map(({ data }) => data.ok)).toEqual([false])
    expect(JSON.stringify(results(ended))).toMatch(/Error: |"error":/)
    expect(turns.provider.messages(1).slice(-2)).toMatchObject([
      { role: 'assistant', tool_calls: [{ id: 'a', function: { name: 'plan' } }] },
      { role: 'tool', tool_call_id: 'a' },
    ])
  })

  it('arguments that are malformed do not reach a tool from outside', async () => {
    const ended = await turn([{ calls: [{ tool: 'note', args: '{"text": "half' }, note('whole')] }, 'Noted.'])
    expect(results(ended)).toEqual(['Error: The arguments are not valid JSON.', 'noted whole'])
    expect(made).toEqual(['begin whole', 'end whole'])
  })

  it.each(['delete_everything', 'Plan', 'x'.repeat(300), 'plan; drop', '__proto__', 'toString'])(
    'an unknown tool is answered with the available ones: %s',
    async tool => {
      const ended = await turn([{ calls: [{ tool, args: { a: 1 } }] }, 'Then not.'])
      expect([ended.finished.status, ended.text]).toEqual(['done', 'Then not.'])
      expect(results(ended)).toEqual([
        `Error: There is no tool ${tool.slice(0, 64)}. Available: plan, update, tasks, note.`,
      ])
    },
  )

  it('ten calls in one step run in order, one after the other', async () => {
    const names = Array.from({ length: 10 }, (_, place) => `n${place}`)
    const ended = await turn([{ calls: names.map(name => note(name)) }, 'All noted.'])
    expect(ended.finished.status).toBe('done')
    expect(made).toEqual(names.flatMap(name => [`begin ${name}`, `end ${name}`]))
    expect(results(ended)).toEqual(names.map(name => `noted ${name}`))
    expect(turns.provider.messages(1).filter(({ role }) => role === 'tool')).toHaveLength(10)
  })

  it('of forty calls at once the last eight are told that they are too many', async () => {
    const ended = await turn([{ calls: Array.from({ length: 40 }, (_, place) => note(`n${place}`)) }, 'Enough.'])
    expect(made).toHaveLength(64)
    expect(results(ended).slice(31, 33)).toEqual(['noted n31', 'Error: A step can make at most 32 calls.'])
    expect([ended.finished.status, results(ended).length]).toEqual(['done', 40])
  })

  it('ids that repeat, within a step and across steps, are different calls', async () => {
    const ended = await turn([
      { calls: [note('a', 'same'), note('b', 'same'), note('c', 'same')] },
      { calls: [note('d', 'same'), note('e', 'same_2')] },
      { calls: [note('f', 'x'.repeat(500)), note('g', 'x'.repeat(400))] },
      'Done.',
    ])
    expect(results(ended)).toEqual([...'abcdefg'].map(text => `noted ${text}`))
    expect(ended.finished.status).toBe('done')
    const sent = turns.provider.messages(3).filter(({ role }) => role === 'tool')
    expect(sent.map(({ content }) => content)).toEqual(results(ended))
  })

  it('the same id with other arguments is another call of the plan', async () => {
    const ended = await turn([
      { calls: [{ ...plan('A').calls?.[0], tool: 'plan', id: '1' }] },
      { calls: [{ ...update(1), id: '1' }] },
      'Done.',
    ])
    expect([ended.finished.status, ended.statuses]).toEqual(['done', [['A', 'completed']]])
  })

  it('an id that was used in an earlier turn is a new call', async () => {
    const { session } = await turn([{ calls: [note('a', 'id')] }, 'One.'])
    const again = await turn([{ calls: [note('b', 'id')] }, 'Two.'], { body: { session_id: session, turn_id: 't2' } })
    expect(results(again)).toEqual(['noted b'])
  })
})

describe('a model that does not stop', () => {
  const forEver = (_: ModelRequest, count: number): Answer => ({ calls: [note(`n${count}`)] })
  const untilLast = ({ tools = [] }: ModelRequest, count: number): Answer =>
    tools.length > 0 ? { calls: [note(`n${count}`)] } : 'As far as I got.'

  it('[TR9] without a plan it is asked ten times, the last time without tools and for an answer', async () => {
    const { finished, text } = await turn(untilLast)
    expect([finished.status, finished.steps, text]).toEqual(['done', 10, 'As far as I got.'])
    expect(turns.provider.tools(8)).toEqual(['note', 'plan', 'update', 'tasks'])
    expect(turns.provider.tools(9)).toEqual([])
    expect(turns.provider.system(8)).not.toContain('last call')
    expect(turns.provider.system(9)).toContain('This is the last call of this turn')
    expect(turns.provider.asked).toHaveLength(10)
  })

  it('[TR9][TR14] a model that calls tools even then is refused, and the turn ends incomplete', async () => {
    const ended = await turn(forEver)
    expect([ended.finished.status, ended.finished.steps]).toEqual(['incomplete', 10])
    expect(ended.text).toBe('I stopped here because this turn reached its limit of model calls.')
    expect(made).toHaveLength(18)
    expect(results(ended).at(-1)).toMatch(/^Error: /)
  })

  it('[TR9] a plan that is made in the last call is not made', async () => {
    const ended = await turn((_, count) => (count < 9 ? { calls: [note(`n${count}`)] } : plan('Late')))
    expect([ended.finished.status, ended.finished.steps, ended.statuses]).toEqual(['incomplete', 10, []])
  })

  it('[TR9] with open tasks it is asked at most fifty times', async () => {
    const ended = await turn((request, count) => (count === 0 ? plan('Endless') : untilLast(request, count)))
    expect([ended.finished.status, ended.finished.steps]).toEqual(['incomplete', 50])
    expect(ended.text).toBe(
      'As far as I got.\n\nI stopped here because this turn reached its limit of model calls.\n\nNot done:\n- Endless',
    )
    expect([turns.provider.tools(48).length, turns.provider.tools(49)]).toEqual([4, []])
    expect(turns.provider.asked).toHaveLength(50)
    expect(ended.statuses).toEqual([['Endless', 'in_progress']])
    expect(ended.reader.of('step_finished').map(({ data }) => data.budget)).toEqual(
      Array.from({ length: 50 }, (_, place) => Math.min(50, Math.max(10, place + 10))),
    )
  })

  it('[TR9] once the plan is settled, the budget counts from the last open task', async () => {
    const ended = await turn((request, count) =>
      count === 0 ? plan('A') : count === 5 ? { calls: [update(1)] } : untilLast(request, count),
    )
    expect([ended.finished.status, ended.finished.steps]).toEqual(['done', 15])
  })

  it('[TR29] a model that repeats itself is stopped after three times', async () => {
    const ended = await turn(() => ({ calls: [note('again')] }))
    expect([ended.finished.status, ended.finished.steps]).toEqual(['incomplete', 3])
    expect(ended.text).toBe('I stopped here because I kept repeating the same calls.')
  })

  it('[TR29] the same call with another answer is not a repetition', async () => {
    let count = 0
    const clock: OutsideTool = { ...notes, name: 'clock', call: async () => (count += 1) }
    const other = await startTurns({ outside: [clock] })
    try {
      const ended = await turn([...times(4, { calls: [{ tool: 'clock' }] }), 'Four.'], { on: other })
      expect([ended.finished.status, results(ended)]).toEqual(['done', [1, 2, 3, 4]])
    } finally {
      await other.close()
    }
  })

  it('[TR13][TR14] a model that says the same again and again is followed up three times', async () => {
    const ended = await turn([plan('A', 'B'), ...times(9, 'All is well.')])
    expect([ended.finished.status, ended.finished.steps, ended.finished.remaining]).toEqual(['incomplete', 5, 2])
    expect(ended.text).toBe('All is well.\n\nNo progress after 3 attempts.\n\nNot done:\n- A\n- B')
    expect(ended.reader.of('message_added').at(-1)?.data.answer_length).toBe('All is well.'.length)
  })
})

describe('answers', () => {
  it.each(['', ' \n\t ', '\u200b\u2060'])('after an empty answer the model is asked again: %j', async text => {
    const ended = await turn([{ text }, 'Now.'])
    expect([ended.finished.status, ended.finished.steps, ended.text]).toEqual(['done', 2, 'Now.'])
  })

  it.each(['', ' \n\t ', '\u200b\u2060'])('two empty answers in a row end the turn as failed: %j', async text => {
    const ended = await turn([{ text }, { text }, 'never asked for'])
    expect([ended.finished.status, ended.failed?.code, ended.text]).toEqual([
      'failed',
      'empty_answer',
      'The model gave no answer.',
    ])
    expect(turns.provider.asked).toHaveLength(2)
  })

  it('[TR14] empty answers with open tasks: the last message names them', async () => {
    const ended = await turn([plan('A'), '', ''])
    expect([ended.finished.status, ended.text]).toEqual(['failed', 'The model gave no answer.\n\nNot done:\n- A'])
  })

  it('empty answers with work between them are not in a row', async () => {
    const ended = await turn(['', { calls: [note('a')] }, '', 'Done.'])
    expect([ended.finished.status, ended.text]).toEqual(['done', 'Done.'])
  })

  it('an answer of 900 kB is kept whole; its beginning streams, and the next turn sees it in short', async () => {
    const text = `${'word '.repeat(180_000)}end`
    const { session, ...ended } = await turn([text])
    expect([ended.finished.status, ended.text === text]).toEqual(['done', true])
    const [step] = ended.reader.of('step_finished')
    expect([step?.data.text === text, step?.data.cut]).toEqual([true, undefined])
    expect(shown(ended.reader).get(step?.data.message_id ?? '')).toBe(text.slice(0, 100_000))
    await turn(['Yes.'], { body: { session_id: session, turn_id: 't2' } })
    const told = turns.provider.messages(0).find(({ role }) => role === 'assistant')
    expect(told?.content?.length).toBeLessThan(200_100)
  })

  it('a cut does not split a character', async () => {
    const ended = await turn([`a${'🗒'.repeat(600_000)}`])
    const [step] = ended.reader.of('step_finished')
    expect([step?.data.text.isWellFormed(), ended.text.isWellFormed()]).toEqual([true, true])
    expect([...shown(ended.reader).values()].every(each => each.isWellFormed())).toBe(true)
    expect(JSON.stringify(step?.data.parts)).not.toMatch(/\\ud[89a-f]/)
  })

  it('an endless answer is read up to 1 MB: it is cut, and says so', async () => {
    // More than sockets hold, so that the provider notices that nobody reads on.
    const ended = await turn([{ text: 'word '.repeat(4_000_000) }])
    expect(ended.finished.status).toBe('done')
    expect(ended.text).toMatch(
      /word \n\nThe answer was cut off here, after 1,000,000 characters\. An answer can have at most 1 MB of text\.$/,
    )
    expect(ended.text.length).toBeLessThan(1_000_200)
    expect(ended.reader.of('step_finished')[0]?.data).toMatchObject({ cut: 'too_long', answer_length: 1_000_000 })
    const { view } = await turns.person.snapshot(ended.session)
    expect(view.messages.at(-1)).toMatchObject({ cut: 'too_long', answer_length: 999_999, text: ended.text })
    expect(JSON.stringify(await turns.log(ended.session)).length).toBeLessThan(3_100_000)
    await turns.provider.until(({ hungUp }) => hungUp === 1)
  })

  it('endless arguments are read up to 2 MB a step: the calls are refused, and the model is told', async () => {
    const big = { tool: 'note', args: { text: 'x'.repeat(1_000_000) } }
    const ended = await turn([{ calls: times(20, big) }, 'Smaller, then.'])
    expect([ended.finished.status, ended.finished.steps, made]).toEqual(['done', 2, []])
    const problem = 'A step can have at most 2 MB of arguments, in all its calls together. This call was not made.'
    expect(new Set(results(ended))).toEqual(new Set([`Error: ${problem}`]))
    expect(JSON.stringify(await turns.log(ended.session)).length).toBeLessThan(10_000)
    await turns.provider.until(({ hungUp }) => hungUp === 1)
    expect(turns.provider.messages(1).findLast(({ role }) => role === 'tool')?.content).toContain(problem)
  })

  it('1.9 MB of arguments are a call like any other', async () => {
    const ended = await turn([{ calls: [note('x'.repeat(1_900_000))] }, 'Noted.'])
    expect([ended.finished.status, made.length]).toEqual(['done', 2])
  })

  it('of endless calls those beyond 32 are refused, and those beyond 64 are not read', async () => {
    const ended = await turn([{ calls: Array.from({ length: 500 }, (_, n) => note(`n${n}`)) }, 'Enough.'])
    expect([ended.finished.status, results(ended).length]).toEqual(['done', 65])
    expect(results(ended).at(-1)).toContain('A step can make at most 32 calls.')
  })

  it.each([
    [
      'an error that never ends',
      { status: 400, body: `{"error":{"message":"${'x'.repeat(2_100_000)}` },
      '2 MB at once',
    ],
    ['a line that never ends', { raw: `data: {"x":"${'x'.repeat(4_100_000)}`, hangs: true }, '4 MB in one event'],
    ['an event that never ends', { raw: 'data: 1\n'.repeat(550_000), hangs: true }, '4 MB in one event'],
  ])('%s is read up to a limit, and not tried again', async (_, answer, limit) => {
    const { failed } = await turn([answer, 'never asked for'])
    const message = `The model's provider sent too much: over ${limit}.`
    expect([failed?.code, failed?.message, turns.provider.asked.length]).toEqual(['answer_too_long', message, 1])
  })

  it('a verdict that never ends is read up to 2 MB, and is no verdict', async () => {
    const raw = `{"choices":[{"message":{"content":"NOT_OK: ${'x'.repeat(2_100_000)}`
    const ended = await turn([plan('A'), { calls: [update(1)] }], { assessor: () => ({ raw, hangs: true }) })
    const reason = "The assessor could not be reached. The model's provider sent too much: over 2 MB at once."
    expect(ended.reader.of('task_assessed').map(({ data }) => data.reason)).toEqual([reason, reason])
    expect([ended.finished.status, turns.provider.judged.length]).toEqual(['incomplete', 2])
    await turns.provider.until(({ hungUp }) => hungUp === 2)
  })

  it('[TR15] a model that sends only empty pieces is silent', async () => {
    async function* empty(): AsyncGenerator<LanguageModelV4StreamPart> {
      yield { type: 'stream-start', warnings: [] }
      yield { type: 'reasoning-start', id: '1' }
      for (;;) {
        yield { type: 'reasoning-delta', id: '1', delta: '' }
        await new Promise(resolve => setTimeout(resolve, 5))
      }
    }
    const model = new MockLanguageModelV4({ doStream: async () => ({ stream: ReadableStream.from(empty()) }) })
    const models = givenModels(new Map([['empty', model]]), 'empty')
    const on = await startTurns({ models, silenceMs: 60 })
    try {
      const { failed } = await turn([], { on })
      expect(failed?.message).toContain('no response for 0.06 s')
    } finally {
      await on.close()
    }
  })

  it('[TR14] a text with a tool call is not an answer, whatever it says', async () => {
    const ended = await turn([{ text: 'All done!', calls: [note('x')] }, 'Really done.'])
    expect([ended.finished.steps, ended.text]).toEqual([2, 'Really done.'])
  })

  it('usage that the provider does not report is null', async () => {
    const { finished } = await turn([{ calls: [note('x')], usage: null }, 'Done.'])
    expect(finished.usage).toEqual({ input_tokens: 10, output_tokens: 5, total_tokens: 15 })
  })

  it.each(['memory', 'sqlite', 'json', 'postgres'] as const)(
    '[TR14] text that cannot be stored or read does not end the turn: %s',
    async store => {
      const other = await startTurns({ store, host: { review: false }, outside: [notes] })
      try {
        const odd = 'a\u0000b\ud800c'
        const ended = await turn(
          [
            { text: odd, calls: [note(odd, `id${odd}`), { tool: `t${odd}`, args: { [odd]: odd } }] },
            { ...plan(odd) },
            { calls: [update(1)] },
            odd,
          ],
          { on: other },
        )
        expect(ended.finished.status).toBe('done')
      } finally {
        await other.close()
      }
    },
  )
})

describe('a model that would be done with it', () => {
  it('[TR13] a model that answers with open tasks is told what is open, and goes on', async () => {
    const ended = await turn([
      plan('Dig', 'Plant'),
      'Both are done.',
      { calls: [update(1)] },
      'Now they are.',
      'They are.',
      'They are!',
      'THEY ARE',
    ])
    expect([ended.finished.status, ended.finished.remaining, ended.finished.steps]).toEqual(['incomplete', 1, 7])
    expect(ended.reader.of('gate_followed').map(({ data }) => [data.follow_up, data.open.length])).toEqual([
      [1, 2],
      [1, 1],
      [2, 1],
      [3, 1],
    ])
    const said = turns.provider.messages(6).filter(({ role }) => role === 'user')
    expect(said).toHaveLength(5)
    expect(said[1]?.content).toMatch(/^The plan is not finished\. Open: 1 Dig; 2 Plant\. /)
    expect(said[4]?.content).toMatch(/^The plan is not finished\. Open: 2 Plant\. /)
    expect(ended.reader.of('message_added').map(({ data }) => data.synthetic ?? false)).toEqual([
      ...times(4, true),
      false,
    ])
    expect(ended.text).toMatch(/^THEY ARE\n\nNo progress after 3 attempts\.\n\nNot done:\n- Plant$/)
  })

  it('[JU1] a model that marks everything done at once: each claim is judged separately', async () => {
    const titles = Array.from({ length: 8 }, (_, place) => `Step ${place + 1}`)
    const ended = await turn([
      { text: 'I noted it.', calls: [note('proof')] },
      plan(...titles),
      { calls: titles.map((_, place) => update(place + 1)) },
      'All done.',
    ])
    expect([ended.finished.status, ended.finished.counts.completed]).toEqual(['done', 8])
    expect(turns.provider.judged).toHaveLength(8)
    for (const [place, { request }] of turns.provider.judged.entries()) {
      expect(request.tools).toBeUndefined()
      expect(request.messages.map(({ role }) => role)).toEqual(['system', 'user'])
      expect(turns.provider.case(place)).toMatchObject({
        request: 'Do it.',
        task: `Step ${place + 1}`,
        criteria: `Step ${place + 1} is there`,
        claimed_status: 'completed',
        outcome: `outcome of ${place + 1}`,
        evidence: [{ tool: 'note', arguments: { text: 'proof' }, answer: 'noted proof', ok: true }],
        worker_text: ['I noted it.'],
      })
    }
    expect(ended.reader.of('task_assessed').map(({ data }) => data.verdict)).toEqual(times(8, 'ok'))
    // The judge's tokens count, its calls do not.
    expect([ended.finished.steps, ended.finished.usage]).toEqual([
      4,
      { input_tokens: 120, output_tokens: 60, total_tokens: 180 },
    ])
  })

  it('[JU1] cancelled is claimed the same way', async () => {
    const ended = await turn([plan('A', 'B'), { calls: [update(1, 'cancelled'), update(2, 'cancelled')] }, 'Gone.'], {
      assessor: ['OK', 'NOT_OK: there is no reason.'],
    })
    expect(turns.provider.case(0).claimed_status).toBe('cancelled')
    expect(ended.statuses).toEqual([
      ['A', 'cancelled'],
      ['B', 'in_progress'],
    ])
    expect(ended.failed?.message).toContain('the script is over')
  })

  it('a claim that is not accepted is answered with the reason; the second one blocks the task', async () => {
    const ended = await turn([plan('A'), { calls: [update(1)] }, { calls: [update(1)] }, 'Well.'], {
      assessor: ['NOT_OK: there is no proof.', 'NOT_OK: still no proof.'],
    })
    expect(JSON.stringify(results(ended)[1])).toContain('not accepted: there is no proof.')
    expect(JSON.stringify(results(ended)[2])).toContain('still no proof.')
    expect(ended.statuses).toEqual([['A', 'blocked']])
    expect([ended.finished.status, ended.finished.counts.blocked]).toEqual(['incomplete', 1])
    expect(ended.text).toBe('Well.\n\nNot done:\n- A (blocked: still no proof.)')
    expect(turns.provider.messages(2).at(-1)?.content).toContain('there is no proof.')
  })

  it('the verdict, what it grants and the answer are one commit', async () => {
    const { reader } = await turn([plan('A'), { calls: [update(1)] }, 'Done.'])
    const from = reader.types.indexOf('task_assessed')
    const commit = reader.events.slice(from, from + 4)
    const types = commit.map(({ type }) => type)
    expect(types).toEqual(['task_assessed', 'task_changed', 'claim_settled', 'tool_answered'])
    expect(new Set(commit.map(({ timestamp }) => timestamp)).size).toBe(1)
  })

  it('two claims of the same task in one step: the second finds it settled', async () => {
    const ended = await turn([plan('A'), { calls: [update(1), update(1)] }, 'Done.'])
    expect([ended.finished.status, turns.provider.judged.length]).toEqual(['done', 1])
  })

  it.each([
    ['nothing', ''],
    ['something else', 'I think it looks fine.'],
    ['another word', 'Okay.'],
    ['a yes with a but', 'OK, but only nearly'],
    ['a question', 'OK?'],
    ['a refusal', { status: 400 }],
    ['a failure', { status: 500, headers: { 'retry-after-ms': '1' } }],
  ] satisfies [string, Answer][])(
    '[JU4] an assessor that answers with %s twice: the task stays, and the turn ends incomplete',
    async (_, answer) => {
      const ended = await turn([plan('A', 'B'), { calls: [update(1)] }, 'never asked for'], { assessor: () => answer })
      expect([ended.finished.status, ended.finished.steps, ended.finished.remaining]).toEqual(['incomplete', 2, 2])
      expect(ended.statuses).toEqual([
        ['A', 'in_progress'],
        ['B', 'pending'],
      ])
      expect(ended.reader.of('task_assessed').map(({ data }) => data.verdict)).toEqual(['unknown', 'unknown'])
      expect(ended.text).toMatch(/^I stopped here because the assessor gave no clear verdict.+\n\nNot done:\n- A\n- B$/)
    },
  )

  it('[JU4] a clear verdict on the second try counts', async () => {
    const ended = await turn([plan('A'), { calls: [update(1)] }, 'Done.'], { assessor: ['Hm.', 'OK\nIt is there.'] })
    expect([ended.finished.status, ended.statuses]).toEqual(['done', [['A', 'completed']]])
    expect(ended.reader.of('task_assessed').map(({ data }) => data.verdict)).toEqual(['unknown', 'ok'])
  })

  it('[JU4] an unjudged task stays so, whatever is judged after it in the same step', async () => {
    const ended = await turn([plan('A', 'B'), { calls: [update(1), update(2)] }, 'never asked for'], {
      assessor: ['Hm.', 'Hm.', 'OK'],
    })
    expect([ended.finished.status, ended.finished.steps]).toEqual(['incomplete', 2])
    expect(ended.statuses).toEqual([
      ['A', 'in_progress'],
      ['B', 'completed'],
    ])
  })

  it('[JU1] an assessor sees a part of very long output', async () => {
    const flood = 'word '.repeat(30_000)
    const ended = await turn([
      plan('A'),
      { text: flood, calls: [note('x'.repeat(30_000))] },
      { calls: [update(1)] },
      'Done.',
    ])
    expect(ended.finished.status).toBe('done')
    expect(turns.provider.prompt(0).length).toBeLessThan(30_000)
  })

  it('a plan of twelve tasks with results of 38 kB fits into the context of its model', async () => {
    const page: OutsideTool = { ...notes, name: 'page', call: async () => 'x'.repeat(38_000) }
    const on = await startTurns({ host: { review: false }, outside: [page] })
    const titles = Array.from({ length: 12 }, (_, place) => `Read ${place + 1}`)
    try {
      const sizes: number[] = []
      const ended = await turn(
        (request, count) => {
          sizes.push(JSON.stringify(request.messages).length)
          if ((sizes.at(-1) ?? 0) > 130_000) return { status: 400, body: '{"error":{"message":"too long"}}' }
          if (count === 0) return plan(...titles)
          const step = Math.ceil(count / 2)
          if (step > 12) return 'All read.'
          return { calls: [count % 2 === 1 ? { tool: 'page', args: { step } } : update(step)] }
        },
        { on },
      )
      expect([ended.finished.status, ended.finished.counts.completed]).toEqual(['done', 12])
      expect(Math.max(...sizes)).toBeLessThan(130_000)
    } finally {
      await on.close()
    }
  })

  it.each([
    [
      'long texts',
      (count: number): Answer =>
        count < 8 ? { text: `${count} ${'word '.repeat(18_000)}`, calls: [note(`n${count}`)] } : 'Done.',
    ],
    [
      'many long results at once',
      (count: number): Answer =>
        count === 0 ? { calls: Array.from({ length: 12 }, (_, n) => note(`${n}${'x'.repeat(38_000)}`)) } : 'Done.',
    ],
    [
      'arguments of 1.9 MB',
      (count: number): Answer => (count < 3 ? { calls: [note(`${count}${'x'.repeat(1_900_000)}`)] } : 'Done.'),
    ],
  ])('a model that makes %s is not sent more than it can take', async (_, answer) => {
    const ended = await turn((__, count) => answer(count))
    expect(ended.finished.status).toBe('done')
    const sizes = turns.provider.asked.map(({ request }) => JSON.stringify(request.messages).length)
    expect(Math.max(...sizes)).toBeLessThan(230_000)
  })

  it('[TR11] the digest is replaced before every call, and is bounded', async () => {
    const long = (name: string): string => `${name} ${'x'.repeat(150)}`
    const titles = Array.from({ length: 20 }, (_, place) => long(`T${place + 1}`))
    const ended = await turn(
      [
        plan(...titles),
        plan(...titles.map(title => `More ${title}`)),
        plan(...titles.map(title => `Even more ${title}`)),
        { calls: [update(1)] },
        { calls: [update(2)] },
        ...times(4, 'Enough.'),
      ],
      { body: { message: 'm'.repeat(50_000) } },
    )
    expect(ended.finished.counts).toMatchObject({ completed: 2, open: 58 })
    expect(turns.provider.system(0)).not.toContain(DIGEST)
    expect(turns.provider.system(1)).toContain('20 remaining.')
    expect(turns.provider.system(3)).toContain('60 remaining.')
    const digest = turns.provider.system(5).slice(turns.provider.system(5).indexOf(DIGEST))
    expect(digest).toContain('58 remaining.')
    expect(digest).toContain('- 1 T1 ')
    expect(digest).toContain('(done: outcome of 1)')
    expect(digest).toContain('- and 17 more')
    expect(digest.length).toBeLessThan(20_000)
  })
})

describe('a model that does not take a no', () => {
  const TURNED_DOWN =
    'I stopped here because three plans in a row were turned down. Tell me what you would like instead.'

  it.each([
    ['proposes it again', () => plan('Sell the house')],
    ['rewords it each time', (_: ModelRequest, count: number) => plan(`Sell the house, way ${count}`)],
  ] as const)('[TR29] a model that %s is stopped after the third no', async (_, answers) => {
    const ended = await turn(answers, { body: { review: true }, decide: rejectAll })
    expect([ended.finished.status, ended.finished.because, ended.finished.steps]).toEqual(['incomplete', 'rejected', 3])
    expect(results(ended)).toMatchObject(times(3, { confirmed: false, cancelled: true, reason: 'user_cancelled' }))
    expect([ended.text, ended.statuses]).toEqual([TURNED_DOWN, []])
  })

  it('[TR29] a model that blocks and reopens a task in between is stopped after the third no, too', async () => {
    const toggled = (_: ModelRequest, count: number): Answer => {
      if (count === 0) return plan('Look')
      if (count % 3 === 1) return plan(`Way ${count}`)
      return { calls: [update(1, count % 3 === 2 ? 'blocked' : 'doing')] }
    }
    const ended = await turn(toggled, {
      body: { review: true },
      decide: (review, count) => (count === 0 ? confirmAll(review, count) : rejectAll(review, count)),
    })
    expect([ended.finished.status, ended.finished.because]).toEqual(['incomplete', 'rejected'])
    expect(ended.reader.of('task_create_review_required')).toHaveLength(4)
  })

  it('[TR29] of many plans in one step, those after the third no are not put before the person', async () => {
    turns.provider.script(() => ({
      calls: Array.from({ length: 20 }, (_, n) => plan(`Way ${n}`).calls?.[0] ?? note('')),
    }))
    const reader = await turns.chat({ session_id: 'many-plans', review: true }, rejectAll)
    expect(reader.of('task_create_review_required')).toHaveLength(3)
    expect(reader.of('turn_finished')[0]?.data).toMatchObject({ status: 'incomplete', because: 'rejected' })
    expect(reader.of('message_added').at(-1)?.data.text).toBe(TURNED_DOWN)
  })

  it('[TR29] a model whose plans are sent back for ever asks at most 20 times, and its turn ends', async () => {
    const many = (count: number): Script => ({
      calls: Array.from({ length: 8 }, (_, place) => plan(`Way ${count * 8 + place}`).calls?.[0] ?? note('')),
    })
    const ended = await turn(({ tools = [] }, count) => (tools.length > 0 ? many(count) : 'I give up.'), {
      body: { review: true },
      decide: () => ({ action: 'revise', comment: 'Another way.' }),
    })
    expect(ended.reader.of('task_create_review_required')).toHaveLength(20)
    expect([ended.finished.status, ended.finished.steps, ended.text]).toEqual(['done', 10, 'I give up.'])
    expect(JSON.stringify(results(ended).at(-1))).toMatch(/20/)
  })

  it('[TR14] a removed row that is proposed again is reviewed again, not written', async () => {
    const ended = await turn([plan('Dig', 'Sell the house'), plan('Sell the house'), { calls: [update(1)] }, 'Done.'], {
      body: { review: true },
      decide: (_, count) =>
        count === 0
          ? { action: 'confirm', tasks: [{ title: 'Dig', draft_index: 0 }], comment: 'Not the house.' }
          : { action: 'cancel' },
    })
    expect(results(ended)[0]).toMatchObject({ changes: { removed: ['Sell the house'] }, comment: 'Not the house.' })
    expect([ended.finished.status, ended.statuses]).toEqual(['done', [['Dig', 'completed']]])
    expect(turns.provider.messages(1).at(-1)?.content).toContain('Not the house.')
  })
})
