import { describe, expect, it } from 'vitest'
import { outside } from '../../../test/support/domain.ts'
import type { Check, CheckSpec } from '../../core/proof/check.ts'
import type { Refusal } from '../../core/model/refusal.ts'
import type { SentDecision } from '../../core/views/wire.ts'
import { type CheckMaker, plainMaker, prepareChecks, preparedChange, preparedDecision, preparedTask } from './checks.ts'
import { BY_PLAN } from '../../../test/support/asked-by.ts'

/** Makes checks with programs of some version. */
function door(version = 1) {
  let drawn = 0
  const checks: CheckMaker = { ...plainMaker, hash: (spec, place) => `v${version}-${plainMaker.hash(spec, place)}` }
  return { checks, newId: () => `id-${version}-${(drawn += 1)}` }
}

const NPM_TEST: CheckSpec = { kind: 'command', run: ['npm', 'test'] }
const known: Check = { ...NPM_TEST, id: 'known', hash: door().checks.hash(NPM_TEST, undefined) }

const refusal = (work: () => unknown): Refusal['data'] => {
  try {
    work()
  } catch (error) {
    return (error as Refusal).data
  }
  throw new Error('it was taken')
}

describe('prepared checks', () => {
  it.each<[string, object]>([
    ['as it was read', { ...known, approved: false, state: 'waiting', baseline: 'not_run' }],
    ['with its fields in another order', { run: ['npm', 'test'], kind: 'command' }],
    ['with a forged id and hash', { ...known, id: 'forged', hash: 'forged' }],
  ])('a known check %s is that check', (_, sent) => {
    const { fields, inserted } = prepareChecks({ checks: [sent as Check] }, [known], undefined, door())
    expect([fields, inserted]).toEqual([{ checks: [known] }, []])
  })

  it('any other gets an id and a hash here', () => {
    const { fields } = prepareChecks({ checks: [{ ...known, exit: 1 }] }, [known], undefined, door())
    expect(fields.checks).toEqual([{ ...known, exit: 1, id: 'id-1-1', hash: expect.stringMatching(/^v1-/) }])
    expect(fields.checks?.[0]?.hash).not.toBe(known.hash)
  })

  it('what comes with the hash of another place is no writing, and approved by that hash', () => {
    const sent = { ...NPM_TEST, id: 'of-a-template', hash: 'elsewhere' }
    const { fields, inserted, approve } = prepareChecks(
      { checks: [sent], approve: ['elsewhere'] },
      [],
      undefined,
      door(),
    )
    const hash = fields.checks?.[0]?.hash
    expect([inserted, approve]).toEqual([[hash], [hash]])
  })

  it('forms that only a program can send are refused, too', () => {
    const prepare = (sent: object): unknown => refusal(() => prepareChecks(sent, [known], undefined, door(), 3))
    expect(prepare({ checks: 'npm test' })).toMatchObject({ row: 3, field: 'checks', rule: 'not_an_array' })
    expect(prepare({ checks: [null] })).toMatchObject({ row: 3, field: 'checks[0]', rule: 'not_an_object' })
    expect(prepare({ check: 1 })).toMatchObject({ row: 3, field: 'check', rule: 'not_text' })
    expect(prepare({ check: '  ' })).toMatchObject({ row: 3, field: 'check', rule: 'empty' })
    expect(prepare({ approve: 'hash' })).toMatchObject({ row: 3, field: 'approve', rule: 'not_an_array' })
  })
})

describe("a person's change", () => {
  it('a check that is written again is what it is now; one that is sent back stays as it was', () => {
    const chat = outside()
    chat.run({
      type: 'edit_tasks',
      by: 'person',
      create: [preparedTask(chat.state, door(1), chat.id(), { title: 'A', check: 'npm test' })],
    })
    const [before] = chat.task(1).checks ?? []
    const after = (sent: object): unknown => preparedChange(chat.state, door(2), 1, sent).fields.checks
    expect(after({ checks: [before] })).toEqual([before])
    expect(after({ check: 'npm test' })).toEqual([{ ...NPM_TEST, id: 'id-2-1', hash: expect.stringMatching(/^v2-/) }])
  })

  it('[PF3] a change of other fields makes no check', () => {
    const chat = outside()
    chat.run(chat.adds('model', 'A'))
    const unused: CheckMaker = {
      split: () => expect.fail('nothing to split'),
      hash: () => expect.fail('nothing to hash'),
    }
    const change = preparedChange(chat.state, { checks: unused, newId: () => 'x' }, 1, { title: 'B' }, 4)
    expect(change).toEqual({ task: 1, fields: { title: 'B' }, if_version: 4 })
  })

  it('in a decision what was proposed stays as it was proposed, whatever the program is by then', () => {
    const chat = outside('runsheet', { review: true })
    const create = [{ id: chat.id(), title: 'A', checks: [known] }]
    chat.run({
      type: 'edit_tasks',
      by: 'model',
      turn_id: 'turn-1',
      create,
      review: { ...BY_PLAN, review_id: 'r', tool_call_id: 'c' },
    })
    const sent: SentDecision = { action: 'confirm', tasks: [{ draft_index: 0, check: 'npm test' }] }
    expect(preparedDecision(chat.state, door(2), 'r', sent)).toMatchObject({ tasks: [{ checks: [known] }] })
    const cancel: SentDecision = { action: 'cancel' }
    expect(preparedDecision(chat.state, door(2), 'r', cancel)).toBe(cancel)
    const back: SentDecision = { action: 'revise', comment: 'More' }
    expect(preparedDecision(chat.state, door(2), 'r', back)).toEqual(back)
  })
})
