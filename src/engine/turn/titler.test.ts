import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { redactor } from '../../core/text/redact.ts'
import { type Door, openDoor } from '../door/door.ts'
import { openMemoryStore } from '../../store/memory.ts'
import { Provider } from '../../../test/support/provider.ts'
import { configuredModels } from '../../models/models.ts'
import { Titler, titleIn } from './titler.ts'

const HERE = { tenant: 'local', conversation: 'c1' }
const MODEL = 'openai-compatible:test'

let provider: Provider
let door: Door
let titler: Titler
let errors: unknown[]

beforeEach(async () => {
  provider = await Provider.start()
  door = openDoor({ store: openMemoryStore() })
  errors = []
  const models = await configuredModels({ model: MODEL, url: provider.url, key: 'k' })
  titler = new Titler({ door, models, redact: redactor(), onError: error => errors.push(error) })
})
afterEach(async () => {
  await titler.close()
  await door.close()
  await provider.close()
})

/** A turn that ended so. */
async function turn(id: string, because: 'answered' | 'error' | 'stopped' = 'answered', model = MODEL): Promise<void> {
  const message = 'Could you please report on the third quarter?'
  const fact = { type: 'message_added', data: { message_id: 'a', role: 'assistant', text: 'Here.' } } as const
  await door.run(
    HERE,
    { type: 'start_turn', turn_id: id, message_id: 'm', message, model, policy: { toolset: 'turn_todos' } },
    { type: 'record', turn_id: id, fact },
    { type: 'finish_turn', turn_id: id, because, steps: 1, usage: {} },
  )
}

/** Looks at the turn, and waits for what comes of it. */
async function looked(id = 't1'): Promise<string | null | undefined> {
  titler.look({ ...HERE, turn: id, attempt: 1 })
  await titler.idle()
  return (await door.conversations.summary(HERE))?.title
}

const FIRST = 'Could you please report on the third quarter?'

describe('a title by the model', () => {
  it('names a conversation after its first answered turn, with few tokens, and counts them', async () => {
    provider.titles(['Third quarter report'])
    await turn('t1')
    expect(await looked()).toBe('Third quarter report')
    const [asked] = provider.named
    expect(asked?.request).toMatchObject({ max_tokens: 400 })
    expect(asked?.request.messages.at(-1)?.content).toBe(JSON.stringify({ request: FIRST, answer: 'Here.' }))
    const [event] = await door.conversations.events(HERE, { types: ['title_set'] })
    expect(event?.data).toMatchObject({ by: 'model', model: MODEL, usage: { input_tokens: 10, output_tokens: 5 } })
  })

  it('asks once, and not after the second turn', async () => {
    provider.titles(['One', 'Two'])
    await turn('t1', 'error')
    expect(await looked()).toBe(FIRST)
    await turn('t2')
    expect(await looked('t2')).toBe('One')
    await looked('t2')
    await turn('t3')
    expect(await looked('t3')).toBe('One')
    expect(provider.named).toHaveLength(1)
  })

  it("a person's title wins, also one that is given while the model is asked", async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    provider.titles([{ text: 'From the model', after: promise }])
    await turn('t1')
    titler.look({ ...HERE, turn: 't1', attempt: 1 })
    await provider.until(({ named }) => named.length === 1)
    await door.run(HERE, { type: 'set_title', by: 'person', title: 'Mine' })
    resolve()
    await titler.idle()
    expect((await door.conversations.summary(HERE))?.title).toBe('Mine')
    expect(errors).toEqual([])
  })

  it('a model that fails, says nothing or is the demo leaves the first message', async () => {
    provider.titles([{ status: 500 }])
    await turn('t1')
    expect(await looked()).toBe(FIRST)
    expect(errors).toMatchObject([{ message: expect.stringContaining('500') as string }])
    provider.titles(['  "" '])
    expect(await looked()).toBe(FIRST)
    const demo = await configuredModels({ model: 'demo' })
    const other = new Titler({ door, models: demo, redact: redactor(), onError: error => errors.push(error) })
    other.look({ ...HERE, turn: 't1', attempt: 1 })
    await other.close()
    expect(errors).toHaveLength(1)
  })

  it('what is under way is given up when the process ends', async () => {
    provider.titles([{ hangs: true }])
    await turn('t1')
    titler.look({ ...HERE, turn: 't1', attempt: 1 })
    await provider.until(({ named }) => named.length === 1)
    await titler.close()
    expect(errors).toEqual([])
  })
})

it.each([
  ['Third quarter report', 'Third quarter report'],
  ['"Third quarter report."', 'Third quarter report'],
  ['# Title: **Third quarter report**\n\nBecause …', 'Third quarter report'],
  ['<think>What is it?</think>\n\nThird quarter report', 'Third quarter report'],
  ['第三季度报告', '第三季度报告'],
  ['', undefined],
  ['```\n```', undefined],
  ['long '.repeat(40), `${'long '.repeat(12).slice(0, 59)}…`],
])('reads %j as the title %j', (answer, title) => {
  expect(titleIn(answer)).toBe(title)
})
