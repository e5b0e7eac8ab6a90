import { describe, expect, it } from 'vitest'
import { authors, dataOf, type Driver, finishes, inRun, outside, typesOf } from '../../../test/support/domain.ts'

const LATER = '2026-11-02T09:00:01.000Z'
const REJECTS = { verdict: 'not_ok', reason: 'There is no test' } as const

const judged = (): Driver => {
  const chat = inRun({ assessor: true })
  chat.run(chat.adds('model', 'A', 'B'))
  chat.answer()
  chat.wait(1_000)
  return chat
}

describe('a claim', () => {
  it.each(['completed', 'cancelled'] as const)(
    '[AS1] %s by a model in a run is a claim, and is not written',
    status => {
      const chat = judged()
      const { id, title } = chat.task(1)
      const claim = { task: id, title, details: '', criteria: '', status, outcome: 'x', judge: true }
      expect(chat.asked(chat.sets('model', 1, { status, outcome: 'x' }))).toEqual([claim])
      expect(chat.statuses()).toEqual(['in_progress', 'pending'])
    },
  )

  it('[AS1] other changes are not claims', () => {
    const chat = judged()
    for (const fields of [{ status: 'in_progress' }, { title: 'x' }, {}] as const)
      chat.run(chat.sets('model', 2, fields))
    expect(chat.refusal(chat.sets('model', 9, { status: 'completed' })).code).toBe('task_not_found')
    chat.run(chat.sets('model', 1, { status: 'blocked', outcome: 'no key' }))
    expect(chat.task(1)).toMatchObject({ status: 'blocked', judged_by: null })
  })

  it('[TA1] a change that the table forbids is refused without being judged', () => {
    const chat = judged()
    chat.run(chat.sets('person', 1, { status: 'completed' }))
    chat.answer()
    expect(chat.refusal(chat.sets('model', 1, { status: 'cancelled' })).code).toBe('status_not_allowed')
    expect(chat.run(chat.sets('model', 1, { status: 'completed' }))).toEqual([])
  })

  it('[AS1] reopening first, in the same call, does not get around it', () => {
    const chat = judged()
    chat.judges(1)
    const change = [
      { task: 1, fields: { status: 'pending' } },
      { task: 1, fields: { status: 'completed', outcome: 'on my word' } },
    ] as const
    expect(chat.asked(chat.edits('model', { change }))).toMatchObject([{ judge: true }])
    expect(chat.task(1).judged_by).toBe('assessor')
  })

  it('[TA4] a claim of completed needs an outcome before it is judged', () => {
    const chat = judged()
    expect(chat.refusal(chat.sets('model', 1, { status: 'completed' })).code).toBe('outcome_required')
    chat.judges(1, { fields: { status: 'cancelled', outcome: undefined } })
    expect(chat.task(1).status).toBe('cancelled')
  })

  it('[TA4] except in manage_todos, where a text is the claim', () => {
    const chat = inRun({ toolset: 'manage_todos', assessor: true })
    chat.run(chat.adds('model', 'A'))
    chat.judges(1, { fields: { outcome: undefined } })
    expect(chat.task(1).status).toBe('completed')
  })

  it('what a model creates as done in a run is created pending', () => {
    const chat = inRun({ assessor: true })
    const adds = chat.adds(
      'model',
      'A',
      { title: 'B', status: 'completed', outcome: 'x' },
      { title: 'C', status: 'blocked' },
    )
    const id = adds.create?.[1]?.id ?? ''
    expect(chat.asked(adds)).toMatchObject([{ task: id, title: 'B', status: 'completed', outcome: 'x', judge: true }])
    chat.holds(adds)
    chat.run(chat.assesses(id, REJECTS))
    chat.settlesCall()
    expect(chat.statuses()).toEqual(['in_progress', 'pending', 'blocked'])
    expect(chat.task(2)).not.toHaveProperty('completed_at')
  })

  it('[AS1] a person and a file settle as they like', () => {
    const chat = judged()
    chat.run(chat.sets('person', 1, { status: 'completed' }))
    chat.run(chat.sets('file', 2, { status: 'completed' }))
    expect([chat.task(1).judged_by, chat.task(2).judged_by]).toEqual(['person', null])
    chat.run(chat.adds('person', { title: 'C', status: 'completed' }))
    expect(chat.task(3).status).toBe('completed')
  })

  it('[AS5] without a run there is no assessor: the model is believed', () => {
    const chat = outside('runsheet', { review: false, assessor: true })
    chat.run(chat.adds('model', { title: 'A', status: 'completed' }, 'B'))
    chat.run(chat.sets('model', 2, { status: 'completed', outcome: 'x' }))
    expect([chat.task(1), chat.task(2)]).toMatchObject([
      { status: 'completed', judged_by: null },
      { status: 'completed', judged_by: null },
    ])
    expect(chat.refusal(chat.assesses(2)).code).toBe('assessor_required')
  })

  it('[AS5] a run whose policy has no assessor has none', () => {
    const chat = inRun()
    chat.run(chat.adds('model', 'A'))
    expect(chat.refusal(chat.assesses(1)).code).toBe('assessor_required')
    chat.run(chat.sets('model', 1, { status: 'completed', outcome: 'x' }))
    expect(chat.task(1).judged_by).toBeNull()
  })
})

describe('a verdict', () => {
  it.each(['completed', 'cancelled'] as const)('[AS1] ok grants what was claimed: %s', status => {
    const chat = judged()
    const events = chat.judges(1, { fields: { status, outcome: ' All\r\ngreen ' } })
    expect(typesOf(events)).toEqual(['task_assessed', 'task_changed', 'task_changed'])
    expect(chat.task(1)).toMatchObject({ status, outcome: 'All\ngreen', judged_by: 'assessor', completed_at: LATER })
    expect(authors(events)).toEqual([
      [1, 'assessor'],
      [2, 'system'],
    ])
    expect(chat.statuses()).toEqual([status, 'in_progress'])
  })

  it('[AS1] ok grants a claim on a blocked task as well', () => {
    const chat = judged()
    chat.run(chat.sets('model', 1, { status: 'blocked', outcome: 'no key' }))
    chat.judges(1, { fields: { outcome: 'found it' } })
    expect(chat.task(1)).toMatchObject({ status: 'completed', outcome: 'found it', judged_by: 'assessor' })
  })

  it('[AS1] ok on a task of an older plan counts where the toolset reaches the conversation', () => {
    const chat = judged()
    chat.run(finishes('turn-1'))
    chat.start('turn-2')
    chat.judges(1)
    expect(chat.task(1)).toMatchObject({ status: 'completed', judged_by: 'assessor' })
  })

  it('[PL5] and is out of reach where it reaches the turn', () => {
    const chat = inRun({ toolset: 'turn_todos', assessor: true })
    chat.run(chat.adds('model', 'A'))
    chat.run(finishes('turn-1'))
    chat.start('turn-2')
    expect(chat.refusal(chat.assesses(1)).code).toBe('task_not_found')
    expect(chat.refusal(chat.assesses(9)).code).toBe('task_not_found')
  })

  it('every verdict is an event', () => {
    const chat = judged()
    for (const verdict of ['unknown', 'not_ok', 'ok'] as const) chat.judges(1, { verdict, reason: 'Because' })
    const { id: task_id } = chat.task(1)
    const said = { task_id, reason: 'Because', model: 'demo:judge', seal: 'sealed' }
    expect(dataOf(chat.log, 'task_assessed')).toStrictEqual([
      { ...said, verdict: 'unknown' },
      { ...said, verdict: 'not_ok' },
      { ...said, verdict: 'ok' },
    ])
    expect(chat.log.find(event => event.type === 'task_assessed')?.turn_id).toBe('turn-1')
  })

  it('any number of unknowns change nothing', () => {
    const chat = judged()
    for (let time = 0; time < 3; time += 1) {
      expect(typesOf(chat.judges(1, { verdict: 'unknown', reason: 'Hm' }))).toEqual(['task_assessed'])
    }
    expect(chat.task(1)).toMatchObject({ status: 'in_progress', version: 1 })
  })

  it('the second not_ok blocks the task with the reason', () => {
    const chat = judged()
    expect(typesOf(chat.judges(1, REJECTS))).toEqual(['task_assessed'])
    chat.judges(1, { verdict: 'unknown' })
    chat.judges(1, { ...REJECTS, reason: 'Still no test' })
    expect(chat.task(1)).toMatchObject({ status: 'blocked', outcome: 'Still no test', judged_by: 'assessor' })
    expect(chat.task(1)).not.toHaveProperty('completed_at')
    expect(chat.statuses()).toEqual(['blocked', 'in_progress'])
  })

  it('each task is counted by itself', () => {
    const chat = judged()
    chat.judges(1, REJECTS)
    chat.judges(2, REJECTS)
    expect(chat.statuses()).toEqual(['in_progress', 'pending'])
  })

  it('a model that blocks and reopens the task does not restart the count', () => {
    const chat = judged()
    chat.judges(1, REJECTS)
    chat.run(chat.sets('model', 1, { status: 'blocked', outcome: 'x' }))
    chat.run(chat.sets('model', 1, { status: 'in_progress' }))
    chat.judges(1, REJECTS)
    expect(chat.task(1)).toMatchObject({ status: 'blocked', outcome: 'There is no test' })
  })

  it.each([
    ['person', { status: 'blocked' }],
    ['person', { title: 'A2' }],
    ['person', { details: 'more' }],
    ['file', { criteria: 'less' }],
  ] as const)('a %s who changes %o restarts the count', (by, fields) => {
    const chat = judged()
    chat.judges(1, REJECTS)
    chat.run(chat.sets(by, 1, fields))
    expect(chat.state.rejections.has(chat.task(1).id)).toBe(false)
  })

  it('a person who changes something else does not restart it', () => {
    const chat = judged()
    chat.judges(1, REJECTS)
    chat.run(chat.sets('person', 1, { priority: 'high', tags: ['x'], outcome: 'so far' }))
    expect(chat.state.rejections.get(chat.task(1).id)).toBe(1)
  })

  it('passing, and going on in another turn, do not restart it', () => {
    const chat = judged()
    chat.judges(1, REJECTS)
    chat.run(finishes('turn-1'))
    chat.start('turn-2', {}, 'turn-1')
    chat.judges(1)
    chat.run(chat.sets('model', 1, { status: 'pending' }))
    chat.judges(1, REJECTS)
    expect(chat.task(1).status).toBe('blocked')
  })

  it('a not_ok that a person overtook does not count', () => {
    const chat = judged()
    chat.run(chat.sets('person', 1, { priority: 'high' }))
    chat.judges(1, REJECTS)
    expect(dataOf(chat.log, 'task_assessed')).toMatchObject([{ verdict: 'not_ok', fenced: true }])
    expect(chat.state.rejections.size).toBe(0)
  })

  it('[CM3] after the block a model has one more claim, and then none until a person changes the task', () => {
    const chat = judged()
    for (const _ of [1, 2]) chat.judges(1, REJECTS)
    const claims = chat.sets('model', 1, { status: 'completed', outcome: 'x' })
    expect(chat.asked(claims)).toHaveLength(1)
    chat.judges(1, REJECTS)
    expect(chat.refusal(claims).message).toContain('Task 1 was turned down 3 times by the assessor.')
    expect(chat.refusal(chat.sets('model', 1, { status: 'cancelled' })).code).toBe('claims_spent')
    chat.run(chat.sets('model', 1, { status: 'pending' }))
    expect(chat.refusal(claims).code).toBe('claims_spent')
    chat.run(chat.sets('person', 1, { details: 'only the first half' }))
    chat.answer()
    expect(chat.asked(claims)).toHaveLength(1)
  })

  it('[CM3] the third rejection blocks a task that was reopened', () => {
    const chat = judged()
    for (const _ of [1, 2]) chat.judges(1, REJECTS)
    chat.run(chat.sets('model', 1, { status: 'pending' }))
    chat.judges(1, { ...REJECTS, reason: 'Not even now' })
    expect(chat.task(1)).toMatchObject({ status: 'blocked', outcome: 'Not even now' })
  })

  it.each(['open', 'blocked', 'passed'] as const)('[AS9] a model cannot delete what was rejected once: %s', state => {
    const chat = judged()
    chat.judges(1, REJECTS)
    if (state === 'blocked') chat.run(chat.sets('model', 1, { status: 'blocked', outcome: 'x' }))
    if (state === 'passed') chat.judges(1)
    expect(chat.refusal(chat.removes('model', 1))).toMatchObject({
      code: 'rejected_task_stays',
      data: { by: 'assessor' },
    })
    chat.run(chat.removes('model', 2))
    chat.run(chat.removes('person', 1))
    expect(chat.titles()).toEqual([])
  })

  it('[AS9] nor in a later turn without an assessor, or from outside', () => {
    const chat = judged()
    chat.judges(1, REJECTS)
    chat.run(finishes('turn-1'))
    chat.start('turn-2', { assessor: false })
    expect(chat.refusal(chat.removes('model', 1)).code).toBe('rejected_task_stays')
    chat.run(finishes('turn-2'))
    chat.run({ type: 'open_turn', turn_id: 'turn-3' })
    expect(chat.refusal(chat.removes('model', 1)).code).toBe('rejected_task_stays')
  })

  it.each([{ title: 'A2' }, { details: 'x' }, { criteria: 'x' }])(
    '[AS9] a model cannot reword what was rejected: %o',
    fields => {
      const chat = judged()
      chat.judges(1, REJECTS)
      for (const settles of [{}, { status: 'completed', outcome: 'x' }, { status: 'blocked', outcome: 'x' }] as const) {
        const refusal = chat.refusal(chat.sets('model', 1, { ...fields, ...settles }))
        expect([refusal.code, refusal.data]).toMatchObject(['rejected_task_stays', { action: 'reword' }])
      }
      chat.run(chat.sets('model', 2, fields))
      chat.run(chat.sets('person', 1, fields))
      chat.answer()
      chat.run(chat.sets('model', 1, { title: 'A3', details: 'y', criteria: 'y' }))
    },
  )

  it('[AS9] the same words are no rewording, and other fields may change', () => {
    const chat = judged()
    chat.judges(1, REJECTS)
    chat.run(chat.sets('model', 1, { title: ' A ', details: '', criteria: '', tags: ['x'], outcome: 'half of it' }))
    expect(chat.task(1)).toMatchObject({ title: 'A', tags: ['x'], outcome: 'half of it' })
  })

  it('counting does not restart when the current task or another field changes', () => {
    const chat = judged()
    chat.judges(1, REJECTS)
    chat.run(chat.sets('model', 2, { status: 'in_progress' }))
    chat.run(chat.sets('model', 1, { status: 'in_progress' }))
    chat.run(chat.sets('model', 1, { priority: 'high' }))
    chat.judges(1, REJECTS)
    expect(chat.task(1).status).toBe('blocked')
  })

  it.each(['', '\u200b', '\u2800 \u0301'])('a reason that nobody can see is told as none: %j', reason => {
    const chat = judged()
    for (const _ of [1, 2]) chat.judges(1, { verdict: 'not_ok', reason })
    expect(chat.task(1)).toMatchObject({ status: 'blocked', outcome: 'The assessor gave no reason.' })
    expect(dataOf(chat.log, 'task_assessed')).toMatchObject(
      [1, 2].map(() => ({ reason: 'The assessor gave no reason.' })),
    )
  })

  it('the reason it is blocked with is cut and cleaned like any outcome', () => {
    const chat = judged()
    const reason = `\ud83d a\r\n\u0000b${'🗒'.repeat(9_000)}`
    chat.judges(1, { verdict: 'not_ok', reason })
    chat.judges(1, { verdict: 'not_ok', reason })
    const { outcome = '' } = chat.task(1)
    expect(Array.from(outcome).length).toBeLessThanOrEqual(8_000)
    expect(outcome).toMatch(/^\ufffd a\n b🗒{7990}/u)
    expect(outcome.isWellFormed()).toBe(true)
  })

  it('a task that is settled by then stays as it is', () => {
    const chat = judged()
    chat.judges(1)
    for (const verdict of ['ok', 'not_ok', 'not_ok'] as const) {
      expect(typesOf(chat.judges(1, { verdict, fields: { status: 'cancelled' } }))).toEqual(['task_assessed'])
    }
    expect(chat.task(1).status).toBe('completed')
  })

  it('it is recorded with its usage and its seal', () => {
    const chat = judged()
    chat.judges(1, { usage: { total_tokens: 3 }, seal: 'abc' })
    expect(dataOf(chat.log, 'task_assessed')).toMatchObject([{ usage: { total_tokens: 3 }, seal: 'abc' }])
  })

  it('on a task that is gone it is recorded, and changes and counts nothing', () => {
    const chat = judged()
    const { id } = chat.task(1)
    chat.run(chat.removes('person', 1))
    for (const said of [REJECTS, {}]) expect(typesOf(chat.judges(id, said))).toEqual(['task_assessed'])
    expect(chat.state.rejections.size).toBe(0)
  })

  it('without a claim, ok is recorded and grants nothing', () => {
    const chat = judged()
    const said = { verdict: 'ok', reason: '', model: 'demo:judge', seal: 'sealed' } as const
    expect(typesOf(chat.run({ type: 'assess_task', turn_id: 'turn-1', task: 1, ...said }))).toEqual(['task_assessed'])
    expect(chat.task(1).status).toBe('in_progress')
  })

  it('on a task that a person edited meanwhile is recorded and grants nothing', () => {
    const chat = judged()
    const [edit] = chat.run(chat.sets('person', 1, { title: 'A2' }))
    expect(typesOf(chat.run(chat.assesses(1)))).toEqual(['task_assessed'])
    chat.judges(1, REJECTS)
    chat.judges(1, REJECTS)
    expect(chat.task(1).status).toBe('in_progress')
    chat.run(chat.assesses(1, { ...REJECTS, basis: edit?.seq }))
    expect([...chat.state.rejections.values()]).toEqual([1])
  })

  it('an edit that the judged work knew of does not count', () => {
    const chat = judged()
    chat.run(chat.sets('person', 1, { title: 'A2' }))
    chat.answer()
    chat.judges(1)
    expect(chat.task(1)).toMatchObject({ title: 'A2', status: 'completed' })
  })

  it('in a turn that is not there or is over is refused', () => {
    const chat = judged()
    expect(chat.refusal(chat.assesses(1, { turn_id: 'turn-9' })).code).toBe('turn_not_found')
    chat.run(finishes('turn-1'))
    expect(chat.refusal(chat.assesses(1)).code).toBe('turn_finished')
  })
})

it('the second not_ok about a task that the model blocked replaces its words by the reason', () => {
  const chat = judged()
  chat.run(chat.sets('model', 1, { status: 'blocked', outcome: 'no key' }))
  chat.judges(1, REJECTS)
  expect(chat.task(1)).toMatchObject({ status: 'blocked', outcome: 'no key', judged_by: null })
  const events = chat.judges(1, REJECTS)
  expect(authors(events)).toEqual([[1, 'assessor']])
  expect(chat.task(1)).toMatchObject({ status: 'blocked', outcome: 'There is no test', judged_by: 'assessor' })
  chat.judges(1, { ...REJECTS, reason: 'Not even now' })
  expect(chat.task(1)).toMatchObject({ status: 'blocked', outcome: 'Not even now', judged_by: 'assessor' })
})

it('what a person blocked keeps their words', () => {
  const chat = judged()
  chat.run(chat.sets('person', 1, { status: 'blocked', outcome: 'wait for Ann' }))
  chat.answer()
  for (const _ of [1, 2]) chat.judges(1, REJECTS)
  expect(chat.task(1)).toMatchObject({ status: 'blocked', outcome: 'wait for Ann', judged_by: 'person' })
})
