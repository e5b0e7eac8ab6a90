import { describe, expect, it } from 'vitest'
import { BLANK, differentFields, FIELD_NAMES, fieldTexts, plainFields, type Row, visibleFields } from './row.ts'

const ROW: Row = { ...visibleFields(BLANK), title: 'A' }
const NPM = { kind: 'command', run: ['npm', 'test'], id: 'c1', hash: 'h1' } as const

describe('the fields of a row', () => {
  it('[RE9] a field is edited if its value differs, absent or empty being the same', () => {
    expect(differentFields(ROW, { ...ROW, checks: [], scope: [] })).toEqual([])
    const edited: Row = { title: 'B', details: 'd', criteria: 'c', priority: 'low', status: 'done', tags: ['x'] }
    expect(differentFields(ROW, { ...edited, checks: [NPM], scope: ['a'] })).toEqual(FIELD_NAMES)
  })

  it('[RE9] a check is its content; one that was written anew has no hash', () => {
    expect(differentFields({ ...ROW, checks: [NPM] }, { ...ROW, checks: [{ ...NPM, id: 'c2' }] })).toEqual([])
    const { hash: _hash, ...written } = NPM
    expect(differentFields({ ...ROW, checks: [NPM] }, { ...ROW, checks: [written] })).toEqual(['checks'])
  })

  it('[RE9] the order of a list says nothing', () => {
    const other = { ...NPM, hash: 'h2' }
    const row: Row = { ...ROW, tags: ['x', 'y'], checks: [NPM, other], scope: ['a', 'b'] }
    expect(differentFields(row, { ...row, tags: ['y', 'x'], checks: [other, NPM], scope: ['b', 'a'] })).toEqual([])
  })

  it('[RE9] optional fields are left out where they say nothing', () => {
    expect(visibleFields(BLANK)).not.toHaveProperty('checks')
    expect(visibleFields(BLANK)).not.toHaveProperty('scope')
    expect(visibleFields({ ...BLANK, tags: ['x'], scope: ['a'] })).toMatchObject({
      tags: ['x'],
      scope: ['a'],
    })
  })

  it('what a row says is told by kind, the default not at all', () => {
    const row: Row = { ...ROW, details: 'd', criteria: 'c', priority: 'high', status: 'doing', tags: ['x', 'y'] }
    expect(fieldTexts(row, 'text')).toEqual(['d', 'Done when: c'])
    expect(fieldTexts(row, 'choice', 'line', 'list', 'globs')).toEqual([
      'high priority',
      'starts as doing',
      'tags: x, y',
    ])
    expect(fieldTexts(ROW, 'text', 'choice', 'line', 'list', 'globs')).toEqual([])
    expect(plainFields('globs')).toEqual(['scope'])
  })
})
