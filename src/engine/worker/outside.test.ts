import { describe, expect, it } from 'vitest'
import type { Json } from '../../core/model/event.ts'
import { redactor } from '../../core/text/redact.ts'
import { answerOf, givenTools, noTools, type OutsideTool, DEFAULT_LIMITS } from './outside.ts'

const tool = (call: OutsideTool['call']): OutsideTool => ({
  name: 'tool',
  description: '',
  inputSchema: { type: 'object' },
  isRepeatable: false,
  call,
})
const never = new AbortController().signal
const answered = (call: OutsideTool['call'], limits = DEFAULT_LIMITS, signal = never) =>
  answerOf(
    tool(call),
    { a: 1 },
    { ids: { toolCallId: 'call_1', idempotencyKey: 'k' }, signal, limits, redact: redactor() },
  )

describe('what an outside tool answers', () => {
  it.each<[string, Json]>([
    ['a text', 'fine'],
    ['an object', { fine: [1, null] }],
    ['nothing', null],
    ['an empty text', ''],
  ])('%s, as it is', async (_, result) => {
    expect(await answered(async () => result)).toEqual({ result, ok: true })
  })

  it('gets its arguments as they are', async () => {
    expect(await answered(async input => input as Json)).toEqual({ result: { a: 1 }, ok: true })
  })

  it.each<[string, OutsideTool['call']]>([
    ['rejects', () => Promise.reject(new Error('the disk is full'))],
    [
      'throws',
      () => {
        throw new Error('the disk is full')
      },
    ],
    ['rejects with a text', () => Promise.reject('the disk is full')],
  ])('a tool that %s is an answer', async (_, call) => {
    expect(await answered(call)).toEqual({ result: 'Error: the disk is full', ok: false })
  })

  it('a tool that throws at once leaves no listener for a later stop', async () => {
    const stop = new AbortController()
    const unhandled: unknown[] = []
    const heard = (reason: unknown): void => void unhandled.push(reason)
    process.on('unhandledRejection', heard)
    await answered(
      () => {
        throw new Error('no')
      },
      DEFAULT_LIMITS,
      stop.signal,
    )
    stop.abort(new Error('Stopped.'))
    await new Promise(resolve => setImmediate(resolve))
    process.off('unhandledRejection', heard)
    expect(unhandled).toEqual([])
  })

  it('a tool that hangs is an answer, and is aborted', async () => {
    let told: unknown
    const hangs: OutsideTool['call'] = (_, signal) =>
      new Promise(() => signal.addEventListener('abort', () => (told = signal.reason)))
    const answer = await answered(hangs, { ...DEFAULT_LIMITS, timeoutMs: 20 })
    expect(answer).toEqual({ result: 'Error: no answer within 0.02 s', ok: false })
    expect(told).toEqual(new Error('no answer within 0.02 s'))
  })

  it.each([
    ['x'.repeat(100), 'x'.repeat(100)],
    [`${'x'.repeat(100)}end`, `${'x'.repeat(50)}\n[3 characters left out]\n${'x'.repeat(47)}end`],
    [`${'x'.repeat(5_000)}end`, `${'x'.repeat(50)}\n[4903 characters left out]\n${'x'.repeat(47)}end`],
    [`${'x'.repeat(49)}😀${'x'.repeat(50)}`, `${'x'.repeat(49)}\ufffd\n[1 characters left out]\n${'x'.repeat(50)}`],
  ])('a result that is too long keeps head and tail, and the model is told', async (result, expected) => {
    const { result: given, ok } = await answered(async () => result, { ...DEFAULT_LIMITS, maxCharacters: 100 })
    expect([given, ok]).toEqual([expected, true])
    expect((given as string).isWellFormed()).toBe(true)
  })

  it('JSON that is too long is cut as text', async () => {
    const list = Array.from({ length: 100 }, (_, place) => ({ place }))
    const text = JSON.stringify(list)
    const { result } = await answered(async () => list, { ...DEFAULT_LIMITS, maxCharacters: 100 })
    expect(result).toBe(`${text.slice(0, 50)}\n[${text.length - 100} characters left out]\n${text.slice(-50)}`)
  })

  it('an error that is too long keeps head and tail', async () => {
    const { result, ok } = await answered(() => Promise.reject(new Error(`${'e'.repeat(90_000)} FATAL`)))
    expect([(result as string).length < 2_100, ok]).toEqual([true, false])
    expect(result).toMatch(/^Error: e+\n\[88006 characters left out\]\ne+ FATAL$/)
  })

  it.each<[string, unknown, Json]>([
    ['undefined', undefined, null],
    ['a number', 3, 3],
    ['a date', new Date(0), '1970-01-01T00:00:00.000Z'],
    ['something that leaves out fields', { a: undefined, b: 1 }, { b: 1 }],
  ])('%s from a program without types is JSON to the model', async (_, given, result) => {
    expect(await answered(async () => given as Json)).toEqual({ result, ok: true })
  })

  it('a result that is not JSON is an answer', async () => {
    const { result, ok } = await answered(async (): Promise<never> => 1n as never)
    expect([(result as string).startsWith('Error: '), ok]).toEqual([true, false])
  })

  it('[TU4] a stop is not an answer of the tool, whether or not the tool heeds it', async () => {
    for (const heeds of [true, false]) {
      const stop = new AbortController()
      const call: OutsideTool['call'] = (_, signal) =>
        new Promise((_resolve, reject) => heeds && signal.addEventListener('abort', () => reject(new Error('mine'))))
      const waiting = answered(call, DEFAULT_LIMITS, stop.signal)
      stop.abort(new Error('Stopped.'))
      await expect(waiting).rejects.toThrow('Stopped.')
    }
  })

  it('[TU4] after a stop nothing is called', async () => {
    let calls = 0
    const call = async (): Promise<Json> => (calls += 1)
    await expect(answered(call, DEFAULT_LIMITS, AbortSignal.abort(new Error('Stopped.')))).rejects.toThrow('Stopped.')
    expect(calls).toBe(0)
  })

  it('the usual limits are 60 s and 40,000 characters', () => {
    expect(DEFAULT_LIMITS).toEqual({ timeoutMs: 60_000, maxCharacters: 40_000 })
  })
})

describe('where tools come from', () => {
  it('a program gives its own, or none', async () => {
    const mine = tool(async () => 1)
    expect(await givenTools([mine]).list()).toEqual([mine])
    expect(await noTools.list()).toEqual([])
    await Promise.all([givenTools([mine]).close(), noTools.close()])
  })
})
