import { expect, it } from 'vitest'
import { type CheckSettings, NO_CHECK_SETTINGS, problemIn, wrapperProblem } from './settings.ts'

const settings = (given: Partial<CheckSettings>): CheckSettings => ({ ...NO_CHECK_SETTINGS, ...given })

it.each<[Partial<CheckSettings>, string]>([
  [{ allow: [['npm', 'test'], ['true']] }, 'checks.allow[1] must be a command that can fail'],
  [{ done: [['npm', 'test'], ['']] }, 'checks.done[1] must not be empty.'],
  [{ done: Array.from({ length: 9 }, () => ['npm', 'test']) }, 'checks.done may have 8 commands at most, got 9.'],
  [{ wrap: [''] }, 'checks.wrap must begin with a program.'],
  [{ env: { 'A=B': 'x' } }, 'checks.env: "A=B" is not the name of a variable.'],
  [{ env: { '': 'x' } }, 'checks.env: "" is not the name of a variable.'],
  [{ protect: ['../x'] }, 'checks.protect[0] must be a path inside the workspace'],
])('%j: %s', (given, problem) => {
  expect(problemIn(settings(given))).toContain(problem)
})

it('a wrapper is looked for at the start, with the PATH that checks get', () => {
  const ours = { PATH: '/usr/bin:/bin' }
  expect(wrapperProblem(settings({ wrap: ['no-such-wrapper', '-x'] }), ours)).toBe(
    'checks.wrap: The program no-such-wrapper was not found. Install it, or change the setting.',
  )
  expect(wrapperProblem(settings({ wrap: ['/bin/no-such-wrapper'] }), ours)).toContain('was not found')
  expect(wrapperProblem(settings({ wrap: ['env'], env: { PATH: '/nowhere' } }), ours)).toContain('was not found')
  for (const wrap of [[], ['env', '-i'], ['/usr/bin/env'], ['./in-the-workspace']]) {
    expect(wrapperProblem(settings({ wrap }), ours)).toBeUndefined()
  }
})

it('nothing is wrong with settings as they are meant', () => {
  const given = { allow: [['npm', 'test']], done: [['make', 'lint']], wrap: ['env'], env: { A: '' }, protect: ['a/**'] }
  expect([problemIn(settings(given)), problemIn(NO_CHECK_SETTINGS)]).toEqual([undefined, undefined])
})
