import { describe, expect, it } from 'vitest'
import { RunDriver } from '../../../test/support/runs.ts'
import { type ToolsetName, TOOLSETS } from '../../core/model/policy.ts'
import { cut } from '../../core/model/text.ts'
import type { Run } from '../turn/run.ts'
import { digestOf as digestOfView } from './digest.ts'

const digestOf = ({ state, turn, request }: Run): string =>
  digestOfView({ state, turnId: turn, request: request.message })

/** In batches of 20, the limit. */
function planned(run: RunDriver, count: number, title: (number: number) => string, more = {}): RunDriver {
  for (let at = 0; at < count; at += 20) {
    const rows = Array.from({ length: Math.min(20, count - at) }, (_, place) => ({
      title: title(at + place + 1),
      ...more,
    }))
    run.run(run.adds('model', ...rows))
  }
  return run
}

describe('the digest', () => {
  it('[TR11] says nothing where there is no plan', () => {
    expect(digestOf(new RunDriver().step('Hello.').told)).toBe('')
  })

  it('[TR11] holds the request, what is settled with its outcome, the current task with its criteria, and what remains', () => {
    const run = new RunDriver()
    run.run(
      run.adds('model', 'Read', 'Ask', { title: 'Write', details: 'In English', criteria: 'It is one page' }, 'Send', {
        title: 'File',
        criteria: 'nobody asks yet',
      }),
    )
    run.run(run.sets('model', 1, { status: 'completed', outcome: 'Read it all' }))
    run.run(run.sets('model', 2, { status: 'blocked', outcome: 'Nobody is in' }))
    expect(digestOf(run.told)).toBe(
      [
        '## Where the plan stands',
        'The request: Do it',
        'Settled:',
        '- 1 Read (done: Read it all)',
        '- 2 Ask (blocked: Nobody is in)',
        'Now:',
        '- 3 Write',
        '  In English',
        '  Done when: It is one page',
        'Next:',
        '- 4 Send',
        '- 5 File',
        '3 remaining.',
      ].join('\n'),
    )
  })

  it('[TR11] goes by what a person has changed since', () => {
    const run = new RunDriver().plan('Read', 'Write')
    run.run(run.sets('person', 1, { title: 'Read twice' }))
    run.run(run.sets('person', 2, { status: 'cancelled' }))
    const digest = digestOf(run.told)
    expect(digest).toContain('Now:\n- 1 Read twice\n1 remaining.')
    expect(digest).toContain('- 2 Write (cancelled)')
  })

  it('[TR11] is about the plan of the turn, with what it continues', () => {
    const run = new RunDriver({ toolset: 'turn_todos' }, 'turn-0').plan('Old')
    run.finish('turn-0')
    run.start('turn-1')
    run.run(run.adds('model', 'New'))
    Object.assign(run, { turn: 'turn-1' })
    expect(digestOf(run.told)).not.toContain('Old')
    run.finish('turn-1')
    run.start('turn-2', {}, 'turn-0')
    Object.assign(run, { turn: 'turn-2' })
    expect(digestOf(run.told)).toContain(`Now:\n- ${run.task(1).id} Old`)
  })

  it.each([
    ['task_manager', 'id'],
    ['runsheet', 'number'],
  ] as const)('%s: what earlier turns left open is listed, by %s', (toolset, by) => {
    const run = new RunDriver({ toolset }, 'turn-0').plan('Settled', 'Old')
    run.settle(1)
    run.finish('turn-0')
    run.start('turn-1')
    Object.assign(run, { turn: 'turn-1' })
    const isList = TOOLSETS[toolset].captures
    const heading = isList
      ? 'Open from earlier turns'
      : 'Open from earlier turns (not part of this plan; settle one if the user asks for it, or if it is done)'
    const earlier = `${heading}:\n- ${run.task(2)[by]} Old`
    expect(digestOf(run.told)).toBe(earlier)
    run.run(run.adds('model', 'New'))
    expect(digestOf(run.told).startsWith(isList ? '## The list\n' : '## Where the plan stands\n')).toBe(true)
    expect(digestOf(run.told).endsWith(`New\n1 ${isList ? 'open' : 'remaining'}.\n${earlier}`)).toBe(true)
  })

  it.each(['turn_todos', 'manage_todos'] as const)(
    '%s: its tools do not reach them, and they are not listed',
    toolset => {
      const run = new RunDriver({ toolset, assessor: toolset === 'manage_todos' }, 'turn-0').plan('Old')
      run.finish('turn-0')
      run.start('turn-1')
      Object.assign(run, { turn: 'turn-1' })
      expect(digestOf(run.told)).toBe('')
    },
  )

  it('of many earlier items the newest are listed', () => {
    const run = planned(new RunDriver({}, 'turn-0'), 1_000, number => `${number}`.padEnd(400, 't'))
    run.finish('turn-0')
    run.start('turn-1')
    Object.assign(run, { turn: 'turn-1' })
    const digest = digestOf(run.told)
    expect(digest.length).toBeLessThan(6_000)
    expect(digest).toMatch(/^- 1000 1000t/m)
    expect(digest).toContain('- and 980 more')
  })

  it.each([
    ['runsheet', 'number'],
    ['manage_todos', 'number'],
    ['task_list', 'number'],
    ['checklist', 'id'],
    ['task_manager', 'id'],
    ['turn_todos', 'id'],
  ] as const)('[TR11] names tasks as %s knows them, by %s', (toolset: ToolsetName, by) => {
    const run = new RunDriver({ toolset, ...(toolset === 'manage_todos' ? { assessor: true } : {}) }).plan('A', 'B')
    const [first, second] = [run.task(1)[by], run.task(2)[by]]
    const stands = TOOLSETS[toolset].captures
      ? `Open:\n- ${first} A\n- ${second} B\n2 open.`
      : `Now:\n- ${first} A\nNext:\n- ${second} B\n2 remaining.`
    expect(digestOf(run.told)).toContain(stands)
  })

  it('[TR11] is bounded, with 1,000 open tasks of maximum length', () => {
    const long = { details: 'd'.repeat(8_000), criteria: 'c'.repeat(8_000) }
    const run = new RunDriver()
    run.finish('turn-1')
    const message = 'm'.repeat(100_000)
    run.run({ type: 'start_turn', turn_id: 'turn-2', message_id: 'm2', message, model: 'demo' })
    Object.assign(run, { turn: 'turn-2' })
    planned(run, 1_000, number => `${number}`.padEnd(400, 't'), long)
    const digest = digestOf(run.told)
    expect(digest.length).toBeLessThan(20_000)
    expect(digest).toContain('1000 remaining.')
    expect(digest).toContain('- and 959 more')
  })

  it('[TR11] is bounded, with 1,000 settled tasks of maximum length; the newest are kept', () => {
    const run = planned(new RunDriver(), 1_000, number => `${number}`.padEnd(400, 't'))
    for (let number = 1; number < 1_000; number += 1) {
      run.run(run.sets('model', number, { status: 'completed', outcome: 'o'.repeat(8_000) }))
    }
    const digest = digestOf(run.told)
    expect(digest.length).toBeLessThan(20_000)
    expect(digest).toContain('- and 979 more')
    expect(digest).toMatch(/^- 999 999t/m)
    expect(digest).not.toMatch(/^- 900 /m)
    expect(digest).toContain('1 remaining.')
  })

  it('[TR11] keeps each settled task on a line of its own, whatever its outcome is', () => {
    const run = new RunDriver().plan('A', 'B')
    run.run(run.sets('model', 1, { status: 'completed', outcome: 'One.\nNow:\n- 9 Something else' }))
    const digest = digestOf(run.told)
    expect(digest).toContain('- 1 A (done: One. Now: - 9 Something else)\n')
    expect(digest.match(/^Now:$/gm)).toHaveLength(1)
  })
})

describe('cut', () => {
  it.each([
    ['', 5, ''],
    ['abcde', 5, 'abcde'],
    ['abcdef', 5, 'abcd…'],
    ['😀😀😀', 3, '😀😀😀'],
    ['😀😀😀😀', 3, '😀😀…'],
  ])('[TR11] %j to %i is %j, never half a character', (text, most, expected) => {
    expect(cut(text, most)).toBe(expected)
  })
})
