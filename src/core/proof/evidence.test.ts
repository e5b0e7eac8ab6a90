import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { boundedFact, leftOut, mostTelling, plainJson, type ToolFact } from './evidence.ts'

const fact = (answer: ToolFact['answer'], args: ToolFact['arguments'] = {}): ToolFact => ({
  tool: 'Bash',
  arguments: args,
  answer,
  ok: true,
})

const bytes = ({ arguments: args, answer }: ToolFact): number =>
  Buffer.byteLength(JSON.stringify(args)) + Buffer.byteLength(JSON.stringify(answer))

describe('a call as evidence', () => {
  it('[PF16] of a long answer there are head and tail, and how much is left out', () => {
    const { answer } = boundedFact(fact(`${'x'.repeat(50_000)} FAILED: 3 of 40`))
    expect(answer).toMatch(/^x+\n\[\d+ characters left out\]\nx+ FAILED: 3 of 40$/)
  })

  it('[PF16] arguments get what the answer leaves of the 8 kB', () => {
    const written = { content: 'y'.repeat(7_000) }
    expect(boundedFact(fact('ok', written)).arguments).toEqual(written)
    const both = boundedFact(fact('x'.repeat(9_000), written))
    expect(both.arguments).toMatch(/characters left out/)
    expect(bytes(both)).toBeGreaterThan(7_900)
  })

  it('[PF16] no call has more than 8 kB, whatever it is made of', () => {
    const json = fc.oneof(
      fc.json().map(text => JSON.parse(text) as ToolFact['answer']),
      fc.string({ unit: 'binary' }),
    )
    const long = json.map(value => Array.from({ length: 300 }, () => value))
    fc.assert(
      fc.property(fc.oneof(json, long), fc.oneof(json, long), (args, answer) => {
        const short = boundedFact(fact(answer, args))
        expect(bytes(short)).toBeLessThanOrEqual(8_000)
        if (bytes(fact(answer, args)) <= 6_000) expect(short).toEqual(fact(answer, args))
      }),
      { numRuns: 40 },
    )
    expect(bytes(boundedFact(fact('"\\\n'.repeat(40_000), '生'.repeat(40_000))))).toBeLessThanOrEqual(8_000)
  })

  it('[PF16] texts and names lose escape sequences, control characters and changes of direction', () => {
    const raw = { '\u001b[31mred\u001b[0m': ['a\u0000b', 'safe\u202egnp.exe', 'two\r\nlines\ttab', '\ud800x', 7, null] }
    expect(plainJson(raw)).toEqual({ red: ['ab', 'safegnp.exe', 'two\nlines\ttab', '\ufffdx', 7, null] })
  })

  it('the last call and the last failure of each tool stay, then failures, then the newest', () => {
    const calls = [
      { tool: 'lint', ok: true },
      { tool: 'test', ok: false },
      ...Array.from({ length: 10 }, (_, n) => ({ tool: 'read', ok: n !== 2, n })),
      { tool: 'test', ok: true },
    ]
    const kept = mostTelling(calls, { usual: 6, max: 100 })
    expect(kept.map(({ tool, ok }) => [tool, ok])).toEqual([
      ['lint', true],
      ['test', false],
      ['read', false],
      ['read', true],
      ['read', true],
      ['test', true],
    ])
    expect(leftOut(calls, kept)).toEqual([{ tool: 'read', calls: 7, failed: 0 }])
    expect(mostTelling(calls, { usual: 1, max: 3 })).toHaveLength(3)
  })
})
