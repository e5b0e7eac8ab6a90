import { expect, it } from 'vitest'
import { NPM, Plan, approved } from '../../../test/support/checked-plan.ts'
import { taskOnWire } from './standing.ts'
import { shortPaths } from './file-change.ts'

const BIN = 'node_modules/.bin'

it('the programs of packages are one entry for each folder, in their place', () => {
  const paths = ['a.test.js', `${BIN}/a`, `${BIN}/b`, 'c.test.js', `packages/x/${BIN}/a`, `packages/x/${BIN}/b`]
  expect(shortPaths(paths)).toEqual([
    'a.test.js',
    'node_modules/.bin (2 files)',
    'c.test.js',
    'packages/x/node_modules/.bin (2 files)',
  ])
  expect(shortPaths([`${BIN}/a`, 'a'])).toEqual([`${BIN}/a`, 'a'])
})

it('the reason of a task counts them, and its check names them all', () => {
  const changes = Array.from(
    { length: 57 },
    (_, index) => ({ path: `${BIN}/p${index}`, is: 'protected', hash: '1' }) as const,
  )
  const plan = new Plan(approved('A', NPM), { title: 'B' })
  plan.runs('failed')
  plan.claims(1)
  plan.runs('passed', { changes })
  plan.resumes(1)
  expect(plan.standing(1)?.reasons).toContain('npm test: changed outside its scope: node_modules/.bin (57 files)')
  expect(taskOnWire(plan.state, plan.task(1)).checks?.[0]?.changes).toEqual(changes)
})
