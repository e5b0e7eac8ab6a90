import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { type ModelMessage, streamText } from 'ai'
import { toolsFor } from '../src/engine/turn/ask.ts'
import { givenModels } from '../src/engine/turn/given-models.ts'
import { Worker } from '../src/engine/worker/worker.ts'
import { openDoor, type Door } from '../src/engine/door/door.ts'
import { openMemoryStore } from '../src/store/memory.ts'
import { openSqliteStore } from '../src/store/sqlite/store.ts'
import { toolsets } from '../src/engine/toolsets/index.ts'
import { promptFor } from '../src/engine/toolsets/guidance.ts'
import { scratchFolder } from '../test/support/scratch.ts'
import { bareSqlite } from './sqlite.ts'
import { type Line, median, printTable } from './table.ts'

const TASKS = 20
/** The plan, one step per task, and the answer. */
const STEPS = TASKS + 2
const ROUNDS = 9
const AT_ONCE = 200

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
}

/** A model without latency: it plans twenty tasks, settles them one by one, and answers. */
const model: LanguageModelV4 = {
  specificationVersion: 'v4',
  provider: 'bench',
  modelId: 'zero',
  supportedUrls: {},
  doGenerate: async () => {
    throw new Error('not used')
  },
  doStream: async options => ({ stream: ReadableStream.from(said(options)) }),
}

function* said({ prompt }: LanguageModelV4CallOptions): Generator<LanguageModelV4StreamPart> {
  const results = prompt.flatMap(message => (message.role === 'tool' ? message.content : []))
  yield { type: 'stream-start', warnings: [] }
  const call = (toolName: string, input: unknown): LanguageModelV4StreamPart => ({
    type: 'tool-call',
    toolCallId: `call-${results.length}`,
    toolName,
    input: JSON.stringify(input),
  })
  if (results.length === 0) {
    yield call('create_todo', { items: Array.from({ length: TASKS }, (_, i) => ({ title: `Step ${i + 1}` })) })
  } else if (results.length <= TASKS) {
    const [first] = results
    const output = first?.type === 'tool-result' && 'value' in first.output ? first.output.value : undefined
    const { created } = output as unknown as { created: { id: string }[] }
    yield call('complete_todo', { todoId: created[results.length - 1]?.id, outcome: 'Done.' })
  } else {
    yield { type: 'text-start', id: '1' }
    yield { type: 'text-delta', id: '1', delta: 'All done.' }
    yield { type: 'text-end', id: '1' }
  }
  const unified = results.length > TASKS ? 'stop' : 'tool-calls'
  yield { type: 'finish', finishReason: { unified, raw: undefined }, usage }
}

const tools = toolsFor(toolsets.turn_todos, [])

/** The same model and calls with an array as the store; `flush` stands in for a step's commits. */
async function bareTurn(flush: () => void = () => {}): Promise<number> {
  const messages: ModelMessage[] = [{ role: 'user', content: 'Do twenty things.' }]
  const todos = Array.from({ length: TASKS }, (_, i) => ({ id: `todo-${i}`, title: `Step ${i + 1}`, order: i + 1 }))
  const started = performance.now()
  for (let step = 0; step < STEPS; step += 1) {
    const result = streamText({ model, instructions: promptFor(toolsets.turn_todos), messages, tools })
    await result.consumeStream()
    messages.push(...(await result.response).messages)
    flush()
    for (const { toolCallId, toolName } of await result.toolCalls) {
      const value = toolName === 'create_todo' ? { created: todos, totalPending: TASKS } : { remaining: TASKS - step }
      messages.push({
        role: 'tool',
        content: [{ type: 'tool-result', toolCallId, toolName, output: { type: 'json', value } }],
      })
    }
  }
  return (performance.now() - started) / STEPS
}

let turns = 0

async function ourTurn(door: Door, runner: Worker): Promise<{ ms: number; status: string }> {
  const conversation = `bench-${(turns += 1)}`
  const ref = { tenant: 'local', conversation }
  const started = performance.now()
  const { conversation: begun } = await door.run(ref, {
    type: 'start_turn',
    turn_id: 't',
    message_id: 'm',
    message: 'Do twenty things.',
    model: 'zero',
    policy: { toolset: 'turn_todos' },
  })
  void runner.take(ref, 't')
  for await (const { events } of door.tail(ref, { after: begun.seq })) {
    const end = events.find(event => event.type === 'turn_finished')
    if (end?.type === 'turn_finished') return { ms: performance.now() - started, status: end.data.status }
  }
  throw new Error('the turn never ended')
}

const folder = scratchFolder()
const bare = await bareSqlite(join(folder, 'bare.db'))
const sqlite = openDoor({ store: await openSqliteStore({ path: join(folder, 'ours.db') }) })
const memory = openDoor({ store: openMemoryStore() })
const models = givenModels(new Map([['zero', model]]), 'zero')
const onSqlite = new Worker({ door: sqlite, models })
const inMemory = new Worker({ door: memory, models })

const figures: { bare: number; flushed: number; memory: number; sqlite: number }[] = []
for (let round = 0; round < ROUNDS + 2; round += 1) {
  const bareMs = await bareTurn()
  // A step of ours commits twice: the text, then the tool's answer.
  const flushed = await bareTurn(() => {
    bare.transact(1)
    bare.transact(1)
  })
  const kept = (await ourTurn(memory, inMemory)).ms / STEPS
  const stored = (await ourTurn(sqlite, onSqlite)).ms / STEPS
  if (round >= 2) figures.push({ bare: bareMs, flushed, memory: kept, sqlite: stored })
}
const of = (pick: (figure: (typeof figures)[number]) => number): number => median(figures.map(pick))
const ms = (value: number): string => `${value.toFixed(2)} ms`
const beyond = of(each => each.sqlite - each.flushed)
const lines: Line[] = [
  {
    what: 'a stored step on SQLite, beyond a bare loop that flushes twice a step',
    ours: ms(of(each => each.sqlite)),
    beside: `${ms(of(each => each.flushed))} bare`,
    ratio: `+${ms(beyond)}`,
    goal: 'under 1 ms more',
    met: beyond < 1,
  },
  {
    what: 'a step in memory, beyond a bare loop on the same model',
    ours: ms(of(each => each.memory)),
    beside: `${ms(of(each => each.bare))} bare`,
    ratio: `+${ms(of(each => each.memory - each.bare))}`,
    goal: '',
    met: undefined,
  },
]

const started = performance.now()
const all = await Promise.all(Array.from({ length: AT_ONCE }, () => ourTurn(sqlite, onSqlite)))
const whole = performance.now() - started
const took = all.map(each => each.ms).sort((a, b) => a - b)
const done = all.filter(({ status }) => status === 'done').length
lines.push(
  {
    what: `${AT_ONCE} turns at once on SQLite: finished`,
    ours: `${done} in ${(whole / 1_000).toFixed(1)} s`,
    beside: `${ms(whole / AT_ONCE / STEPS)} a step, ${ms(of(each => each.sqlite))} alone`,
    ratio: `${(whole / AT_ONCE / STEPS / of(each => each.sqlite)).toFixed(2)}×`,
    goal: 'all',
    met: done === AT_ONCE,
  },
  {
    what: 'the first and the last of them',
    ours: `${(took.at(-1) ?? 0).toFixed(0)} ms the last`,
    beside: `${(took[0] ?? 0).toFixed(0)} ms the first`,
    ratio: `${((took.at(-1) ?? 0) / (took[0] ?? 1)).toFixed(2)}×`,
    goal: 'none starves: within 3×',
    met: (took.at(-1) ?? 0) / (took[0] ?? 1) <= 3,
  },
)
printTable(`A turn of ${TASKS} tasks in ${STEPS} model calls, on a model that takes no time`, lines)

await onSqlite.close()
await inMemory.close()
await sqlite.close()
await memory.close()
bare.close()
rmSync(folder, { recursive: true })
