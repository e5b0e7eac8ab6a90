import { describe, it } from 'vitest'
import { fault, held } from '../faults.ts'

describe('one', () => {
  fault('a fault that holds')
  it('counts', () => held(3, { writes: 5 }))
  it('passes', () => {})
})

describe('two', () => {
  fault('a fault in two files')
  describe('within', () => {
    it('passes', () => {})
  })
})
