import { expect, it } from 'vitest'
import { view } from '../core/views/view.ts'
import { emptyFold } from './live.ts'

it('[LC2] a live conversation begins as the fold of an empty log', () => {
  expect(emptyFold('c').view).toEqual(view.initial)
})
