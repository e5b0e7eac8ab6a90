import type { ModelMessage } from 'ai'
import { describe, expect, it } from 'vitest'
import { RunDriver } from '../../../test/support/runs.ts'
import type { StoredEvent } from '../../core/model/event.ts'
import { HISTORY_TYPES, historyOf } from './history.ts'

function history(run: RunDriver, turn = run.turn, limit = 40): ModelMessage[] {
  const events = run.log.filter(({ type }) => HISTORY_TYPES.includes(type))
  const isOwn = ({ turn_id }: StoredEvent): boolean => turn_id === turn
  const earlier = events.filter(event => !isOwn(event))
  return historyOf(earlier, events.filter(isOwn), limit)
}

/** Role and text of each message, in short. */
const outline = (messages: readonly ModelMessage[]): string[] =>
  messages.map(({ role, content }) => {
    if (typeof content === 'string') return `${role}: ${content}`
    const parts = content.map(part => {
      if (part.type === 'text') return part.text
      if (part.type === 'tool-call') return `calls ${part.toolCallId}`
      return part.type === 'tool-result' ? `answers ${part.toolCallId}` : part.type
    })
    return `${role}: ${parts.join(' + ')}`
  })

/** A turn of two messages: the request and the answer. */
function turns(count: number): RunDriver {
  const run = new RunDriver({}, 'turn-0')
  run.step('answer 0')
  run.finish('turn-0')
  for (let number = 1; number < count; number += 1) {
    const turn = `turn-${number}`
    run.next(turn, `question ${number}`)
    Object.assign(run, { turn })
    run.step(`answer ${number}`)
    run.finish(turn)
  }
  return run
}

describe('the history', () => {
  it('is the request, what the model said and called, and what was answered, in order', () => {
    const run = new RunDriver()
      .step('Let me see.', { answer: { found: 1 } }, { answer: 'two' })
      .said('Go on.')
      .step('It is one.')
    expect(outline(history(run))).toEqual([
      'user: Do it',
      'assistant: Let me see. + calls call-1 + calls call-2',
      'tool: answers call-1',
      'tool: answers call-2',
      'user: Go on.',
      'assistant: It is one.',
    ])
  })

  it('gives texts as texts and everything else as JSON', () => {
    const run = new RunDriver().step('', { answer: 'text' }, { answer: { a: [1] } }, { answer: null })
    const outputs = history(run).flatMap(({ role, content }) => {
      if (role !== 'tool') return []
      return content.map(part => ('output' in part ? part.output : undefined))
    })
    expect(outputs).toEqual([
      { type: 'text', value: 'text' },
      { type: 'json', value: { a: [1] } },
      { type: 'json', value: null },
    ])
  })

  it('leaves out a call without an answer', () => {
    const run = new RunDriver().step('Two things.', { answer: 1 }, {})
    expect(outline(history(run))).toEqual([
      'user: Do it',
      'assistant: Two things. + calls call-1',
      'tool: answers call-1',
    ])
    expect(outline(history(new RunDriver().step('', {})))).toEqual(['user: Do it'])
  })

  it('leaves out answers to calls that this model never made: outside agents call, too', () => {
    const run = new RunDriver({}, 'turn-0')
    run.finish('turn-0')
    run.run({ type: 'open_turn', turn_id: 'outside', toolset: 'runsheet' })
    run.fact(
      { type: 'tool_answered', data: { tool_call_id: 'x', tool: 'plan', result: 1, duration_ms: 1, ok: true } },
      'outside',
    )
    run.next('turn-1', 'And now?')
    expect(outline(history(run, 'turn-1'))).toEqual(['user: Do it', 'user: And now?'])
  })

  it('leaves out empty answers', () => {
    expect(outline(history(new RunDriver().step('').said('Well?')))).toEqual(['user: Do it', 'user: Well?'])
  })

  it('[TR14] the last word on a step stands in its place', () => {
    const run = new RunDriver().step('', { answer: 1 }).step('So far.')
    const data = { message_id: 'message-of-step-2', role: 'assistant', text: 'So far.\n\nNot done:\n- A' } as const
    run.fact({ type: 'message_added', data })
    expect(outline(history(run))).toEqual([
      'user: Do it',
      'assistant: calls call-1',
      'tool: answers call-1',
      'assistant: So far.\n\nNot done:\n- A',
    ])
  })

  it('[TR14] last words that belong to no step stand at the end', () => {
    const run = new RunDriver().step('', { answer: 1 })
    run.fact({ type: 'message_added', data: { message_id: 'other', role: 'assistant', text: 'Stopped.' } })
    expect(outline(history(run)).at(-1)).toBe('assistant: Stopped.')
  })

  it("only the agent's own part of its last words is told", () => {
    const run = new RunDriver().step('', { answer: 1 }).step('So far.')
    const last = { message_id: 'message-of-step-2', role: 'assistant', text: 'So far.\n\nNot done:\n- A' } as const
    run.fact({ type: 'message_added', data: { ...last, answer_length: 7 } })
    expect(outline(history(run)).at(-1)).toBe('assistant: So far.')
    const error = { message_id: 'other', role: 'assistant', text: 'The model could not be reached.' } as const
    run.fact({ type: 'message_added', data: { ...error, answer_length: 0 } })
    expect(outline(history(run)).at(-1)).toBe('assistant: So far.')
  })

  it('the same request is told again once the agent has worked on it, or after another one', () => {
    const worked = new RunDriver({}, 'turn-0').step('', { answer: 1 })
    worked.finish('turn-0')
    worked.next('now', 'Do it')
    expect(outline(history(worked, 'now'))).toEqual([
      'user: Do it',
      'assistant: calls call-1',
      'tool: answers call-1',
      'user: Do it',
    ])
    const other = new RunDriver({}, 'turn-0')
    other.finish('turn-0')
    other.next('turn-1', 'Do something else')
    other.finish('turn-1')
    other.next('now', 'Do it')
    expect(outline(history(other, 'now'))).toEqual(['user: Do it', 'user: Do something else', 'user: Do it'])
  })

  it.each([
    { limit: 40, first: 'user: question 10' },
    { limit: 41, first: 'user: question 10' },
    { limit: 4, first: 'user: question 28' },
    { limit: 3, first: 'user: question 29' },
    { limit: 1, first: 'user: now' },
    { limit: 0, first: 'user: now' },
  ])('of earlier turns the last $limit messages, whole turns only: from $first', ({ limit, first }) => {
    const run = turns(30).next('now', 'now')
    const messages = outline(history(run, 'now', limit))
    expect(messages[0]).toBe(first)
    expect(messages.at(-1)).toBe('user: now')
    expect(messages.length).toBeLessThanOrEqual(limit + 1)
  })

  it('of a turn that is too long by itself the request and the end are told, and nothing older', () => {
    const run = turns(2)
    run.next('long', 'a lot')
    Object.assign(run, { turn: 'long' })
    for (let count = 0; count < 30; count += 1) run.step('', { answer: count })
    run.finish('long')
    run.next('now', 'now')
    const told = outline(history(run, 'now'))
    expect(told[0]).toBe('user: a lot')
    expect(told[1]).toMatch(/^assistant: calls /)
    expect(told.at(-1)).toBe('user: now')
    expect(told.length).toBeLessThanOrEqual(41)
  })

  it('of the turn itself everything is told, however long it is', () => {
    const run = turns(1).next('long', 'a lot')
    Object.assign(run, { turn: 'long' })
    for (let count = 0; count < 50; count += 1) run.step('', { answer: count })
    const messages = outline(history(run, 'long', 2))
    expect(messages).toHaveLength(2 + 1 + 100)
    expect(messages.slice(0, 3)).toEqual(['user: Do it', 'assistant: answer 0', 'user: a lot'])
  })

  it('every call has its answer and every answer its call, wherever the limit cuts', () => {
    const run = new RunDriver({}, 'turn-0')
    for (let turn = 0; turn < 12; turn += 1) {
      if (turn > 0) Object.assign(run.next(`turn-${turn}`, 'more'), { turn: `turn-${turn}` })
      for (let step = 0; step <= turn % 4; step += 1) run.step('', { answer: step }, { answer: step })
      run.step('Done.')
      run.finish(`turn-${turn}`)
    }
    run.next('now', 'now')
    for (let limit = 0; limit <= 100; limit += 1) {
      const lines = outline(history(run, 'now', limit)).join('\n')
      const called = [...lines.matchAll(/calls (\S+)/g)].map(([, id]) => id)
      const answered = [...lines.matchAll(/answers (\S+)/g)].map(([, id]) => id)
      expect(answered).toEqual(called)
      expect(lines.startsWith('user: ')).toBe(true)
    }
  })

  describe('within a turn', () => {
    const long = (name: string): string => `${name} ${'x'.repeat(38_000)}`
    /** Twelve steps, each with a result of 38 kB. */
    function twelve(run = new RunDriver()): RunDriver {
      for (let count = 1; count <= 12; count += 1)
        run.step('', { arguments: { count }, answer: long(`result ${count}`) })
      return run
    }
    const results = (messages: readonly ModelMessage[]): string[] =>
      messages.flatMap(({ role, content }) =>
        role === 'tool'
          ? content.map(part => ('output' in part ? String((part.output as { value: unknown }).value) : ''))
          : [],
      )

    it('old results become a line that says what was left out; the latest stay whole', () => {
      const told = results(history(twelve()))
      expect(told).toHaveLength(12)
      expect(told[0]).toBe('[look answered 38009 characters, which are left out here.]')
      expect(told.at(-1)).toBe(long('result 12'))
    })

    it('at every step the results stay within 100 kB, and every call has its answer', () => {
      const run = new RunDriver()
      for (let count = 1; count <= 12; count += 1) {
        run.step('', { answer: long(`result ${count}`) })
        const messages = history(run)
        expect(JSON.stringify(messages).length).toBeLessThan(110_000)
        const lines = outline(messages).join('\n')
        const called = [...lines.matchAll(/calls (\S+)/g)].map(([, id]) => id)
        expect([...lines.matchAll(/answers (\S+)/g)].map(([, id]) => id)).toEqual(called)
        expect(called).toHaveLength(count)
      }
    })

    it('what was told in short stays so, and the rest stays as it was: a provider can cache it', () => {
      const run = new RunDriver()
      const changes: number[] = []
      for (let count = 1; count <= 12; count += 1) {
        const before = history(run)
        run.step('', { answer: long(`result ${count}`) })
        const after = history(run)
        if (JSON.stringify(after.slice(0, before.length)) !== JSON.stringify(before)) changes.push(count)
      }
      expect(changes).toEqual([3, 5, 7, 9, 11])
    })

    it('the results of the latest step stay whole, up to 200 kB', () => {
      const run = twelve().step('', { answer: long('a') }, { answer: long('b') }, { answer: long('c') })
      expect(results(history(run)).slice(-4)).toEqual([
        expect.stringMatching(/^\[look/),
        long('a'),
        long('b'),
        long('c'),
      ])
    })

    it('beyond that its long results keep head and tail, in equal shares, also later', () => {
      const reads = Array.from({ length: 12 }, (_, count) => ({ answer: `${long(`read ${count}`)} end` }))
      const run = new RunDriver().step('', { answer: 'short' }, ...reads, { answer: { rows: [long('json')] } })
      const told = results(history(run))
      expect(told[0]).toBe('short')
      expect(told[1]).toMatch(/^read 0 x+\n\[\d+ characters left out\]\nx+ end$/)
      expect(told[13]).toMatch(/^\{"rows":\["json x+\n\[\d+ characters left out\]\nx+"\]\}$/)
      const size = told.join('').length
      expect([size > 190_000, size < 201_000]).toEqual([true, true])
      expect(results(history(run.step('', { answer: 'more' }))).join('').length).toBeLessThan(60_000)
    })

    it('long texts count, and the oldest of them keep their beginning and their end', () => {
      const run = new RunDriver()
      for (let count = 1; count <= 12; count += 1) {
        run.step(`text ${count} ${'word '.repeat(16_000)}end ${count}`, { answer: 'ok' })
        expect(JSON.stringify(history(run)).length).toBeLessThan(110_000)
      }
      const told = outline(history(run)).filter(each => each.startsWith('assistant'))
      expect(told).toHaveLength(12)
      expect(told[0]).toMatch(
        /^assistant: text 1 [\s\S]{1,300}\[\d+ characters left out\][\s\S]{1,300}end 1 \+ calls call-1$/,
      )
      expect(told[11]?.length).toBeGreaterThan(80_000)
    })

    it('reasoning counts as text, and is left out with it', () => {
      const run = new RunDriver()
      const reasoning = (text: string) => ({ type: 'reasoning', text, providerOptions: { x: { signature: 's' } } })
      for (let count = 1; count <= 4; count += 1) {
        const tool_calls = [{ tool_call_id: `call-${count}`, tool: 'look', arguments: {} }]
        const call = { type: 'tool-call', toolCallId: `call-${count}`, toolName: 'look', input: {} }
        const parts = [reasoning('r'.repeat(90_000)), { type: 'text', text: 'Hm.' }, call]
        const data = { step: count, message_id: `m${count}`, text: 'Hm.', tool_calls, usage: {}, digest_seq: 0, parts }
        run.fact({ type: 'step_finished', data }).answered(`call-${count}`)
      }
      expect(outline(history(run)).filter(each => each.startsWith('assistant'))).toEqual([
        'assistant: Hm. + calls call-1',
        'assistant: Hm. + calls call-2',
        'assistant: Hm. + calls call-3',
        'assistant: reasoning + Hm. + calls call-4',
      ])
    })

    it('arguments over 10,000 characters are told in short at once', () => {
      const run = new RunDriver().step('', { arguments: { path: 'a', text: 'z'.repeat(1_900_000) }, answer: 'ok' })
      expect(JSON.stringify(history(run)).length).toBeLessThan(1_000)
      const [, said] = history(new RunDriver().step('', { arguments: { text: 'z'.repeat(9_000) }, answer: 'ok' }))
      expect(JSON.stringify(said).length).toBeGreaterThan(9_000)
    })

    it('the last words of earlier turns are told in short, too', () => {
      const run = new RunDriver({}, 'turn-0')
      for (let count = 1; count <= 5; count += 1) {
        const text = `words ${count} ${'x'.repeat(80_000)}`
        run.step(text)
        run.fact({ type: 'message_added', data: { message_id: `message-of-step-${count}`, role: 'assistant', text } })
        run.finish(run.turn)
        Object.assign(run.next(`turn-${count}`, 'more'), { turn: `turn-${count}` })
      }
      expect(JSON.stringify(history(run)).length).toBeLessThan(110_000)
    })

    it('short results stay, failures are told as such, and long arguments are cut', () => {
      const run = new RunDriver().step(
        '',
        { answer: 'short' },
        { arguments: { path: 'a', text: long('t') }, answer: 'ok' },
      )
      run.step('', { id: 'bad', arguments: {} })
      const data = { tool_call_id: 'bad', tool: 'look', result: long('no'), duration_ms: 1, ok: false }
      run.fact({ type: 'tool_answered', data })
      const messages = history(twelve(run))
      expect(results(messages).slice(0, 3)).toEqual([
        'short',
        'ok',
        expect.stringMatching(/^\[look failed with 38003 /),
      ])
      expect(JSON.stringify(messages[1]?.content)).toContain('{"path":"a","text":"t xxx')
      expect(JSON.stringify(messages[1]?.content)).toMatch(/\[37902 characters left out\]/)
    })

    it('results of earlier turns count, too', () => {
      const run = twelve(new RunDriver({}, 'turn-0'))
      run.finish('turn-0')
      run.next('now', 'now')
      expect(JSON.stringify(history(run, 'now')).length).toBeLessThan(110_000)
      expect(results(history(run, 'now'))).toHaveLength(12)
    })
  })
})
