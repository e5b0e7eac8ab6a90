import { describe, expect, it } from 'vitest'
import { Refusal } from './refusal.ts'
import { templateOf } from './template.ts'

describe('a template', () => {
  it('is a name and rows, filled with the defaults', () => {
    expect(templateOf('Release day', [{ title: ' tag it ' }, { title: 'tell them', status: 'done' }])).toEqual({
      name: 'Release day',
      tasks: [
        { title: 'tag it', details: '', criteria: '', priority: 'medium', status: 'todo', tags: [] },
        { title: 'tell them', details: '', criteria: '', priority: 'medium', status: 'done', tags: [] },
      ],
    })
  })

  it.each([
    ['a name', '', [{ title: 'a' }], { field: 'name' }],
    ['a name that is clean', ' a', [{ title: 'a' }], { field: 'name' }],
    ['a name of one line', 'a\nb', [{ title: 'a' }], { field: 'name' }],
    ['a name of 64 characters', 'x'.repeat(65), [{ title: 'a' }], { field: 'name' }],
    ['a title in each row', 'n', [{ title: 'a' }, { details: 'b' }], { row: 1, field: 'title' }],
    ['no row of a draft', 'n', [{ draft_index: 0 }], { row: 0, field: 'draft_index' }],
  ])('needs %s', (_, name, rows, data) => {
    const refused = templateOf(name, rows)
    expect(refused).toBeInstanceOf(Refusal)
    expect(refused).toMatchObject({ code: 'invalid_field', data })
  })

  it('holds 1 to 20 rows', () => {
    expect(templateOf('n', [])).toMatchObject({ code: 'batch_empty' })
    expect(
      templateOf(
        'n',
        Array.from({ length: 21 }, () => ({ title: 'a' })),
      ),
    ).toMatchObject({
      code: 'batch_too_large',
    })
  })
})
