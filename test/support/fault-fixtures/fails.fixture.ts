import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fault, held } from '../faults.ts'

const fail = (): void => expect(1).toBe(2)

describe('one', () => {
  fault('a test that fails')
  it('fails', fail)
  it('passes', () => {})
})

describe('two', () => {
  fault('a beforeAll that fails')
  beforeAll(fail)
  it('is not run', () => {})
})

describe('three', () => {
  fault('an afterAll that fails')
  afterAll(fail)
  it('passes', () => {})
})

describe('four', () => {
  fault('nothing was injected')
  it('passes', () => held(0))
})

describe('five', () => {
  fault('a row that nobody listed')
  it('passes', () => {})
})
