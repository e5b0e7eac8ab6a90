import { describe, expect, it } from 'vitest'
import { Refusal } from './refusal.ts'
import { cleanFields, type SomeFields } from './fields.ts'

/** Fields as an edge passes them on, unvalidated. */
const unchecked = (fields: unknown, row?: number): ReturnType<typeof cleanFields> =>
  cleanFields(fields as SomeFields, row)

function refused(fields: unknown, row?: number): Refusal {
  const answer = unchecked(fields, row)
  if (answer instanceof Refusal) return answer
  throw new Error(`Taken: ${JSON.stringify(answer)}`)
}

describe('the fields of a task', () => {
  it('[TA6] are cleaned where they are named, and nowhere else', () => {
    expect(cleanFields({ title: ' A\nB ', details: 'x\r\ny', outcome: undefined })).toEqual({
      title: 'A B',
      details: 'x\ny',
    })
  })

  it('details, criteria and outcome each hold up to 8,000 code points', () => {
    for (const field of ['details', 'criteria', 'outcome']) {
      expect(unchecked({ [field]: '🗒'.repeat(8_000) })).not.toBeInstanceOf(Refusal)
      expect(refused({ [field]: '🗒'.repeat(8_001) }).data).toMatchObject({ field })
    }
  })

  it('[BA2] a refusal names element and field', () => {
    const refusal = refused({ title: 'ok', priority: 'urgent' }, 3)
    expect(refusal.code).toBe('invalid_field')
    expect(refusal.message).toBe('tasks[3].priority must be one of: high, medium, low.')
    expect(refusal.data).toMatchObject({ row: 3, field: 'priority' })
  })

  it('[BA2] without a batch it names the field alone', () => {
    const refusal = refused({ title: '' })
    expect(refusal.message).toBe('title must not be empty.')
    expect(refusal.data).toMatchObject({ field: 'title' })
  })

  it('[BA2] an element that is not an object is refused', () => {
    for (const row of [null, undefined, 'a title', 7]) {
      expect(refused(row, 1).code).toBe('invalid_field')
      expect(refused(row, 1).data).toMatchObject({ row: 1 })
    }
  })

  it('[TA1] a status is one of the table', () => {
    expect(cleanFields({ status: 'blocked' })).toEqual({ status: 'blocked' })
    for (const status of ['done', 'PENDING', '', null, 'toString', ['pending']]) {
      expect(refused({ status }).data).toMatchObject({ field: 'status' })
    }
  })

  it('a position is a number within reason', () => {
    for (const position of [0, -2.5, 1e9, -1e9]) expect(cleanFields({ position })).toEqual({ position })
    expect(cleanFields({ position: -0 })).toStrictEqual({ position: 0 })
    for (const position of [Number.NaN, Number.POSITIVE_INFINITY, 1e9 + 1, -1e9 - 1, '3', null]) {
      expect(refused({ position }).data).toMatchObject({ field: 'position' })
    }
  })

  it('an order is a whole number', () => {
    for (const order of [-1, 0, 3]) expect(cleanFields({ order })).toEqual({ order })
    expect(cleanFields({ order: -0 })).toStrictEqual({ order: 0 })
    for (const order of [1.5, Number.NaN, '1', null]) expect(refused({ order }).data).toMatchObject({ field: 'order' })
  })

  it('hints and references are short lines', () => {
    for (const [field, most] of [
      ['agent_type', 64],
      ['parent_id', 200],
      ['file_id', 200],
    ] as const) {
      expect(unchecked({ [field]: 'x'.repeat(most) })).toEqual({ [field]: 'x'.repeat(most) })
      expect(refused({ [field]: 'x'.repeat(most + 1) }).data).toMatchObject({ field })
    }
  })

  it('what is no field of a task is ignored', () => {
    expect(
      unchecked({ title: 'A', id: 'mine', number: 9, version: 4, judged_by: 'person', created_by: 'user' }),
    ).toEqual({
      title: 'A',
    })
  })
})
