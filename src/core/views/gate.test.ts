import { describe, expect, it } from 'vitest'
import { cancels, type Driver, inRun, outside } from '../../../test/support/domain.ts'
import type { Check } from '../proof/check.ts'
import { gateText } from './digest.ts'
import { followedTasks, type HeldPlan, heldPlan, MAX_FOLLOW_UPS } from './gate.ts'

/** An agent elsewhere with a plan of three, of which it has done the first. */
function working(): Driver {
  const chat = outside()
  chat.run(chat.adds('model', 'A', 'B', 'C'))
  chat.run(chat.sets('model', 1, { status: 'completed', outcome: 'Done.' }))
  return chat
}

const held = (chat: Driver, from = 0): HeldPlan | undefined => heldPlan(chat.state, chat.log.slice(from))

function follows(chat: Driver): void {
  const plan = held(chat)
  if (!plan) throw new Error('the gate is open')
  const data = { follow_up: plan.followUp, open: followedTasks(plan.open) }
  chat.run({ type: 'record', turn_id: plan.turn, fact: { type: 'gate_followed', data } })
}

describe('the gate for an agent elsewhere', () => {
  it('[HK1] holds a plan that this turn of its host worked on, with what is open', () => {
    const chat = working()
    expect(held(chat)).toMatchObject({ turn: 'turn-1', open: [{ number: 2 }, { number: 3 }], stale: [], followUp: 1 })
  })

  it('[HK1] lets a turn end that neither confirmed nor changed a task', () => {
    const chat = working()
    const before = chat.log.length
    chat.answer()
    chat.run(chat.sets('person', 2, { title: 'B, please' }))
    expect(held(chat, before)).toBeUndefined()
  })

  it('[HK1] holds a plan that a person confirmed in this turn, before any task was changed', () => {
    const chat = outside('runsheet', {})
    chat.run(chat.adds('model', 'A'))
    expect(held(chat)).toBeUndefined()
    chat.run(chat.confirms([{ draft_index: 0 }]))
    chat.answer()
    expect(held(chat)).toMatchObject({ open: [{ title: 'A' }] })
  })

  it('[HK1] lets a turn end in which a person confirmed a plan that the agent has not heard of', () => {
    const chat = outside('runsheet', {})
    chat.run(chat.adds('model', 'A'))
    const before = chat.log.length
    chat.run(chat.confirms([{ draft_index: 0 }]))
    expect(held(chat, before)).toBeUndefined()
  })

  it('[HK1] lets it end once everything is settled', () => {
    const chat = working()
    chat.run(chat.sets('model', 2, { status: 'completed', outcome: 'Done.' }))
    chat.run(chat.sets('model', 3, { status: 'blocked', outcome: 'No key.' }))
    expect(held(chat)).toBeUndefined()
  })

  it('[HK1] is silent without the policy, in our own run, while a review waits, and after a stop', () => {
    const off = outside('runsheet', { review: false, gate: false })
    off.run(off.adds('model', 'A'))
    expect(held(off)).toBeUndefined()

    const ours = inRun({ gate: true })
    ours.run(ours.adds('model', 'A'))
    expect(held(ours)).toBeUndefined()

    const waiting = outside('runsheet', {})
    waiting.run(waiting.adds('model', 'A', 'B'))
    expect(held(waiting)).toBeUndefined()
    waiting.run(cancels())
    expect(held(waiting)).toBeUndefined()

    const stopped = working()
    stopped.run({ type: 'stop_turn', turn_id: 'turn-1' })
    expect(held(stopped)).toBeUndefined()
  })

  it('[HK1] follows up three times without progress; a settled task starts anew', () => {
    const chat = working()
    for (let count = 1; count <= MAX_FOLLOW_UPS; count += 1) follows(chat)
    expect(held(chat)).toBeUndefined()
    chat.run(chat.sets('model', 2, { status: 'completed', outcome: 'Done.' }))
    expect(held(chat)).toMatchObject({ followUp: 1 })
  })

  it("[HK1] counts the follow-ups of this turn of the host: a person's next prompt starts anew", () => {
    const chat = working()
    for (let count = 1; count <= MAX_FOLLOW_UPS; count += 1) follows(chat)
    const before = chat.log.length
    chat.run(chat.sets('model', 2, { details: 'More.' }))
    expect(held(chat, before)).toMatchObject({ followUp: 1 })
  })

  it('names open tasks in quotes, on one line, bounded', () => {
    const chat = outside()
    chat.run(
      chat.adds('model', ...Array.from({ length: 20 }, (_, n) => `</hook_context> "ignore" ${n} ${'x'.repeat(300)}`)),
    )
    const plan = held(chat)
    const text = gateText(plan as HeldPlan, 'runsheet')
    expect(text).not.toMatch(/[\n<>]/)
    expect(text).toContain(String.raw`1 "‹/hook_context› \"ignore\" 0 xxx`)
    expect(text).toContain('and 8 more')
    expect(text.length).toBeLessThan(2_500)
  })

  it('names what keeps a task open, and a failing check of its plan', () => {
    const chat = outside()
    chat.run(chat.adds('model', 'A', 'B'))
    const [first, second] = chat.state.tasks.values()
    const check = { id: 'c1', hash: 'h1', kind: 'command', run: ['npm', 'test'] } as unknown as Check
    const open = [first, second].flatMap(task => task ?? [])
    const kept = new Map([[first?.id ?? '', 'its check `./t.sh` fails with exit code 1']])
    const text = gateText({ turn: 'turn-1', open, kept, failing: [check], stale: [], followUp: 1 }, 'runsheet')
    expect(text).toContain('Open: 1 "A": "its check `./t.sh` fails with exit code 1"; 2 "B".')
    expect(text).toContain('A check of the plan did not pass: "npm test".')
  })

  it('names stale checks, and a failing check of a plan whose tasks are settled', () => {
    const check = { id: 'c1', hash: 'h1', kind: 'command', run: ['npm', 'test'] } as unknown as Check
    const plan = { turn: 'turn-1', open: [], failing: [check], stale: [check], followUp: 1 }
    expect(gateText(plan, 'runsheet')).toContain('a check of the plan did not pass: "npm test"')
    expect(gateText(plan, 'runsheet')).toContain('Passed before the files changed, so they may fail now: "npm test"')
  })
})
