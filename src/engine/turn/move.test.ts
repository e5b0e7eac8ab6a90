import { describe, expect, it } from 'vitest'
import type { Decision } from '../../../test/support/turns.ts'
import { RunDriver } from '../../../test/support/runs.ts'
import { ENDINGS } from '../../core/model/turn.ts'
import { advanceRun, type Run } from './run.ts'
import { budgetIsSpent, budgetOf, type Move, nextMove, noProgress } from './move.ts'
import { BY_PLAN } from '../../../test/support/asked-by.ts'

const WATCHED = { gate: true, max_steps: 2, max_steps_with_plan: 5 } as const

/** A turn with this many steps whose calls got different answers. */
function after(steps: number, run: RunDriver = new RunDriver()): RunDriver {
  for (let count = 0; count < steps; count += 1) run.step('', { answer: `answer ${count}` })
  return run
}

const summary = (move: Move): string => {
  switch (move.type) {
    case 'ask':
      return move.isLast ? `last of ${move.budget}` : `ask of ${move.budget}`
    case 'call':
      return `call ${move.call.id} of step ${move.step.number}`
    case 'judge':
      return `judge ${move.step.text}`
    case 'follow':
      return `follow ${move.followUp}`
    case 'finish':
      return `${ENDINGS[move.because]}: ${move.because}`
    default:
      return move.type
  }
}

const SITUATIONS: Record<string, readonly [made: () => RunDriver, move: string]> = {
  'nothing was said yet': [() => new RunDriver(), 'ask of 10'],
  'a call is not answered': [() => new RunDriver().step('', {}), 'call call-1 of step 1'],
  'one of three calls is answered': [() => new RunDriver().step('', { answer: 1 }, {}, {}), 'call call-2 of step 1'],
  'all calls are answered': [() => new RunDriver().step('', { answer: 1 }, { answer: 2 }), 'ask of 10'],
  'a text, and no plan': [() => new RunDriver().step('Hello.'), 'answered: answered'],
  'a text with a call is not the answer yet': [() => new RunDriver().step('Let me see.', { answer: 1 }), 'ask of 10'],
  'a text while the plan is open, and nobody watches': [
    () => new RunDriver().plan('A').step('Done.'),
    'answered: answered',
  ],
  'a text while the plan is open, behind the gate': [
    () => new RunDriver({ gate: true }).plan('A').step('Done.'),
    'follow 1',
  ],
  'a text once the plan is settled': [
    () => new RunDriver({ gate: true }).plan('A').settle(1).step('Done.'),
    'answered: answered',
  ],
  'a text once what is left is blocked': [
    () => new RunDriver({ gate: true }).plan('A').settle(1, 'blocked').step('No.'),
    'answered: answered',
  ],
  'a follow-up': [() => new RunDriver({ gate: true }).plan('A').step('Done.').followed(), 'ask of 11'],
  'an empty answer is asked about once more': [() => new RunDriver().step(''), 'ask of 10'],
  'two empty answers': [() => new RunDriver().step('').step(' \n'), 'failed: empty'],
  'two answers of zero-width characters': [() => new RunDriver().step('\u200b').step('\u2060\ufeff'), 'failed: empty'],
  'an empty answer after a call': [() => new RunDriver().step('', { answer: 1 }).step(''), 'ask of 10'],
  'an empty answer, and a text': [() => new RunDriver().step('').step('Here I am.'), 'answered: answered'],
  'the ninth step of ten': [() => after(8), 'ask of 10'],
  'the tenth step of ten': [() => after(9), 'last of 10'],
  'after ten of ten': [() => after(10), 'exhausted: budget'],
  'a call that is not answered, after ten of ten': [() => after(9).step('', {}), 'call call-10 of step 10'],
  'a text at the end of the budget': [() => after(9).step('So be it.'), 'answered: answered'],
  'an open task after ten': [() => after(10, new RunDriver().plan('A')), 'ask of 20'],
  'an open task after 49': [() => after(49, new RunDriver().plan('A')), 'last of 50'],
  'an open task after 50': [() => after(50, new RunDriver().plan('A')), 'exhausted: budget'],
  'a text behind the gate after 50': [
    () => after(49, new RunDriver({ gate: true }).plan('A')).step('Still open.'),
    'exhausted: budget',
  ],
  'other limits': [() => after(4, new RunDriver(WATCHED).plan('A')), 'last of 5'],
  'three steps that do and get the same': [
    () => new RunDriver().step('', { answer: 1 }).step('', { answer: 1 }).step('', { answer: 1 }),
    'exhausted: repeats',
  ],
  'two steps that do and get the same': [
    () => new RunDriver().step('', { answer: 1 }).step('', { answer: 1 }),
    'ask of 10',
  ],
  'a limit that was reached': [
    () =>
      new RunDriver()
        .plan('A')
        .step('Done.')
        .fact({ type: 'todos_limit_reached', data: { message: 'enough', remaining: 1, current: null } }),
    'exhausted: limit',
  ],
}

describe('the next move', () => {
  it.each(Object.entries(SITUATIONS))('[TR8] %s', (_, [made, move]) => {
    expect(summary(nextMove(made().told))).toBe(move)
  })

  it.each(Object.entries(SITUATIONS))('[TU4] once a stop was asked for, nothing else is done: %s', (_, [made]) => {
    const stopped = made()
    stopped.run({ type: 'stop_turn', turn_id: stopped.turn })
    expect(summary(nextMove(stopped.told))).toBe('stopped: stopped')
  })

  it('what a person wrote is delivered right before a model call: not before tools were called, nor at an end', () => {
    const run = new RunDriver().writes('Also this.')
    expect(summary(nextMove(run.told))).toBe('deliver')
    expect(summary(nextMove(run.delivered().told))).toBe('ask of 10')
    run.step('', {}).writes('And that.')
    expect(summary(nextMove(run.told))).toBe('call call-1 of step 1')
    expect(summary(nextMove(run.answered('call-1').told))).toBe('deliver')
    expect(summary(nextMove(run.delivered().step('Fine.').writes('Thanks.').told))).toBe('answered: answered')
  })

  it('the last call of a budget has no tools, so that what waits starts the next turn', () => {
    expect(summary(nextMove(after(8).writes('Also this.').told))).toBe('deliver')
    expect(summary(nextMove(after(9).writes('Also this.').told))).toBe('last of 10')
    expect(summary(nextMove(after(10).writes('Also this.').told))).toBe('exhausted: budget')
  })

  it('a turn that waits for a person delivers nothing', () => {
    const run = new RunDriver({ review: true }).step('', { id: 'call-1', tool: 'plan' })
    run.run(run.adds('model', 'A'))
    expect(nextMove(run.writes('Also this.').told)).toEqual({ type: 'park' })
  })

  it('a message of a person is part of the request, and begins the count of follow-ups anew', () => {
    const run = new RunDriver({ gate: true }).plan('A').step('Done.').followed().step('Done.').followed().step('Done.')
    expect(summary(nextMove(run.told))).toBe('follow 3')
    run.followed().writes('Only A.').delivered()
    expect(run.told.request.message).toBe('Do it\n\nOnly A.')
    expect(summary(nextMove(run.step('Done.').told))).toBe('follow 1')
  })

  it('[TR20] a call that waits for a person parks the turn, until it is decided', () => {
    const run = new RunDriver({ review: true }).step('', { id: 'call-1', tool: 'plan' })
    run.run(run.adds('model', 'A'))
    expect(nextMove(run.told)).toEqual({ type: 'park' })
    run.run(run.confirms([{ title: 'A' }]))
    expect(summary(nextMove(run.told))).toBe('call call-1 of step 1')
    expect(run.told.steps[0]?.calls[0]?.review).toEqual({ id: 'review-1', decided: true })
    run.answered('call-1', { confirmed: true }, 'plan')
    expect(summary(nextMove(run.told))).toBe('ask of 11')
  })

  describe('a plan that a person turns down', () => {
    let asked = 0
    /** The model proposes, and a person decides. */
    const proposes = (run: RunDriver, decision: Decision = { action: 'cancel' }): RunDriver => {
      const id = `plan-${(asked += 1)}`
      run.step('', { id, tool: 'plan', arguments: { title: id } })
      const review = { review_id: `review-of-${id}`, tool_call_id: id, ...BY_PLAN }
      run.run({ type: 'edit_tasks', by: 'model', turn_id: run.turn, create: [{ id: `task-${id}`, title: id }], review })
      run.run({ type: 'decide_review', review_id: review.review_id, decision, via: 'http', ids: [run.id(), run.id()] })
      return run
    }
    const answered = (run: RunDriver): RunDriver => run.answered(`plan-${asked}`, { confirmed: false }, 'plan')
    const no = (run: RunDriver): RunDriver => answered(proposes(run))

    it('[TR29] the third no in a row is answered, and ends the turn', () => {
      const run = proposes(no(no(new RunDriver({ review: true }))))
      expect(summary(nextMove(run.told))).toBe(`call plan-${asked} of step 3`)
      expect(summary(nextMove(answered(run).told))).toBe('exhausted: rejected')
    })

    it('[TR29] two do not', () => {
      expect(summary(nextMove(no(no(new RunDriver({ review: true }))).told))).toBe('ask of 10')
    })

    it('[TR29] a plan that is confirmed begins the count anew', () => {
      const run = no(no(new RunDriver({ review: true })))
      answered(proposes(run, { action: 'confirm', tasks: [{ title: 'Yes' }] }))
      expect(summary(nextMove(no(no(run)).told))).toBe('ask of 15')
    })

    const withTasks = (): RunDriver =>
      answered(
        proposes(new RunDriver({ review: true }), { action: 'confirm', tasks: [{ title: 'Yes' }, { title: 'And' }] }),
      )

    it('[TR29] a completed task begins the count anew', () => {
      expect(summary(nextMove(no(no(no(withTasks()).settle(1))).told))).toBe('ask of 14')
    })

    it.each(['blocked', 'cancelled'] as const)('[TR29] a task that is %s does not', status => {
      expect(no(no(withTasks()).settle(1, status)).told.refusals).toBe(2)
    })

    it('[TR29] nor does one that is completed again', () => {
      const run = no(withTasks()).settle(1)
      expect(run.told.refusals).toBe(0)
      run.run(run.sets('model', 1, { status: 'pending' }))
      expect(no(no(run).settle(1)).told.refusals).toBe(2)
    })

    it("[TR29] a person's change begins the count anew", () => {
      const run = no(no(withTasks()))
      run.run(run.sets('person', 2, { title: 'Another' }))
      expect(run.told.refusals).toBe(0)
    })

    it('[TR29] only a cancel of a person is a no: no timeout, no superseded review; a request for changes begins anew', () => {
      const { told } = no(no(new RunDriver({ review: true })))
      const resolved = (data: object): Run => {
        const event = { ...told.request, type: 'task_create_review_resolved', turn_id: told.turn, data } as never
        return advanceRun(told, told.state, [event])
      }
      const cancel = { review_id: 'other', action: 'cancel', created_count: 0 }
      expect(resolved({ ...cancel, reason: 'user_cancelled', via: 'http' }).refusals).toBe(3)
      expect(resolved({ ...cancel, reason: 'review_timeout', via: 'system' }).refusals).toBe(2)
      expect(resolved({ ...cancel, reason: 'panel_closed', via: 'system' }).refusals).toBe(2)
      expect(resolved({ ...cancel, reason: 'superseded', via: 'http' }).refusals).toBe(2)
      expect(resolved({ ...cancel, reason: 'changes_requested', via: 'http' }).refusals).toBe(0)
    })
  })

  it('[TR13] the gate follows three times without anything settled, and then gives up', () => {
    const run = new RunDriver({ gate: true }).plan('A', 'B').step('Done.')
    const moves = [summary(nextMove(run.told))]
    for (let count = 0; count < 3; count += 1) moves.push(summary(nextMove(run.followed().step('Done.').told)))
    expect(moves).toEqual(['follow 1', 'follow 2', 'follow 3', 'answered: gate'])
  })

  it.each(['completed', 'blocked', 'cancelled'] as const)('[TR13] a task that is %s gives it patience anew', status => {
    const run = new RunDriver({ gate: true }).plan('A', 'B').step('Done.').followed().step('Done.').followed()
    expect(run.told.followUps).toBe(2)
    expect(summary(nextMove(run.settle(1, status).step('Done.').told))).toBe('follow 1')
  })

  it('[TR13] tasks settled in another turn are not progress of this one', () => {
    const run = new RunDriver({ gate: true }, 'turn-0').plan('old')
    run.finish('turn-0')
    const later = run.next('turn-1', 'More.')
    later.run(later.adds('model', 'A'))
    later.fact({ type: 'gate_followed', data: { follow_up: 1, open: [] } }, 'turn-1')
    const driver = Object.assign(later, { turn: 'turn-1' })
    expect(driver.told.followUps).toBe(1)
    driver.run(driver.sets('person', 1, { status: 'completed' }))
    expect(driver.told.followUps).toBe(1)
    driver.run(driver.sets('person', 2, { status: 'completed' }))
    expect(driver.told.followUps).toBe(0)
  })

  it('in manage_todos a text is judged as the claim for the current task', () => {
    const run = new RunDriver({ toolset: 'manage_todos', assessor: true }).plan('A', 'B').step('A is done.')
    expect(nextMove(run.told)).toMatchObject({ type: 'judge', task: run.task(1).id })
  })

  it('in manage_todos a text without a plan is an answer', () => {
    const run = new RunDriver({ toolset: 'manage_todos', assessor: true }).step('Hello.')
    expect(summary(nextMove(run.told))).toBe('answered: answered')
  })

  it('[JU4] what the assessor could not judge ends the turn; what it judged on asking again does not', () => {
    const run = new RunDriver({ assessor: true }).plan('A', 'B').step('', { tool: 'update' })
    run.judges(1, { verdict: 'unknown', reason: 'Hm.' })
    expect(summary(nextMove(run.answered('call-1').told))).toBe('exhausted: unjudged')
    run.judges(1)
    expect(summary(nextMove(run.told))).toBe('ask of 11')
  })

  it('[JU4] a verdict on one task says nothing about another that could not be judged', () => {
    const run = new RunDriver({ assessor: true }).plan('A', 'B').step('', { tool: 'update' })
    run.judges(1, { verdict: 'unknown', reason: 'Hm.' })
    run.judges(2)
    expect(summary(nextMove(run.answered('call-1').told))).toBe('exhausted: unjudged')
  })
})

describe('the budget', () => {
  it.each([
    { steps: 0, open: false, budget: 10, spent: false },
    { steps: 10, open: false, budget: 10, spent: true },
    { steps: 0, open: true, budget: 10, spent: false },
    { steps: 7, open: true, budget: 17, spent: false },
    { steps: 39, open: true, budget: 49, spent: false },
    { steps: 41, open: true, budget: 50, spent: false },
    { steps: 50, open: true, budget: 50, spent: true },
  ])('[TR9] after $steps steps, with an open task $open: $budget', ({ steps, open, budget, spent }) => {
    const run = after(steps, open ? new RunDriver().plan('A') : new RunDriver()).told
    expect([budgetOf(run), budgetIsSpent(run)]).toEqual([budget, spent])
  })

  it('[TR9] what was granted stays granted once the plan is settled', () => {
    const run = new RunDriver().plan('A')
    after(9, run)
    const data = {
      step: 10,
      message_id: 'm',
      text: '',
      tool_calls: [{ tool_call_id: 'x', tool: 'look', arguments: {} }],
      usage: {},
      digest_seq: 1,
      budget: budgetOf(run.told),
    }
    run.fact({ type: 'step_finished', data }).answered('x', 'yes').settle(1)
    expect([budgetOf(run.told), summary(nextMove(run.told))]).toEqual([19, 'ask of 19'])
  })

  it('[TR9] a plan never makes it less than it was', () => {
    const run = new RunDriver({ max_steps: 10, max_steps_with_plan: 10 }).plan('A')
    expect(budgetOf(run.told)).toBe(10)
  })
})

describe('no progress', () => {
  const same = { tool: 'look', arguments: { at: 1 }, answer: 'nothing' }
  it.each([
    ['the same thrice', [[same], [same], [same]], true],
    ['the same twice', [[same], [same]], false],
    ['another tool', [[same], [same], [{ ...same, tool: 'see' }]], false],
    ['other arguments', [[same], [same], [{ ...same, arguments: { at: 2 } }]], false],
    ['another answer', [[same], [same], [{ ...same, answer: 'something' }]], false],
    ['one call more', [[same], [same], [same, same]], false],
    ['the same thrice after something else', [[{ ...same, tool: 'see' }], [same], [same], [same]], true],
    ['a text in between', [[same], [same], [], [same]], false],
    ['texts only', [[], [], []], false],
  ] as const)('[TR29] %s', (_, steps, expected) => {
    const run = new RunDriver()
    for (const calls of steps) run.step(calls.length === 0 ? 'Well.' : '', ...calls)
    expect(noProgress(run.told)).toBe(expected)
  })
})

describe('the run', () => {
  it('usage is summed over the steps and the assessor; its calls are not counted as steps', () => {
    const run = new RunDriver({ assessor: true }).plan('A').step('', { answer: 1 }).step('', { answer: 2 })
    run.judges(1, { usage: { input_tokens: 5, output_tokens: 7 } })
    expect(run.told.usage).toEqual({ input_tokens: 9, output_tokens: 9 })
    expect(run.told.steps).toHaveLength(2)
  })

  it('[TR8] what belongs to another turn changes nothing', () => {
    const run = new RunDriver().step('', {}).told
    const foreign = new RunDriver({}, 'turn-9')
      .plan('A')
      .step('Other.', { id: 'call-1', answer: 1 })
      .followed()
      .settle(1)
    expect(advanceRun(run, run.state, foreign.log)).toEqual(run)
  })
})
