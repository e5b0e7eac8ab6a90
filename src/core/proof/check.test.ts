import { describe, expect, it } from 'vitest'
import { type CheckKind, cleanCheck, cleanChecks, COST } from './check.ts'
import { Refusal } from '../model/refusal.ts'

const cleaned = (raw: unknown): unknown => {
  const check = cleanCheck(raw, 'check')
  if (check instanceof Refusal) throw new Error(check.message)
  return check
}

const refused = (raw: unknown): { field: string; rule: string } => {
  const check = cleanCheck(raw, 'check')
  if (!(check instanceof Refusal)) throw new Error(`taken as ${JSON.stringify(check)}`)
  const { field = '', rule = '' } = check.data as { field?: string; rule?: string }
  return { field, rule }
}

const command = (...run: string[]): unknown => ({ kind: 'command', run })

describe('a check', () => {
  it.each([
    { kind: 'command', run: ['npm', 'test'] },
    { kind: 'command', run: ['a', ''], cwd: 'web', exit: 3, contains: ' 5 passed ', timeout_ms: 3_600_000 },
    { kind: 'file', path: 'docs/a.md', contains: '# A' },
    { kind: 'file', path: 'old.md', absent: true },
    { kind: 'unchanged', paths: ['src/**', '*.json'] },
    { kind: 'person', ask: 'Does it look right?' },
  ])('[CR2] %j is taken as it is', check => {
    expect(cleaned(check)).toEqual(check)
  })

  it('[CR2] unknown fields and empty options are dropped', () => {
    expect(cleaned({ kind: 'command', run: ['a'], shell: true, cwd: null, exit: undefined })).toEqual(command('a'))
    expect(cleaned({ kind: 'file', path: 'a', absent: false })).toEqual({ kind: 'file', path: 'a' })
  })

  it.each([
    ['check', 'not_an_object', null],
    ['check', 'not_an_object', 'npm test'],
    ['check.kind', 'not_allowed', {}],
    ['check.kind', 'not_allowed', { kind: 'constructor' }],
    ['check.run', 'not_an_array', { kind: 'command', run: 'npm test' }],
    ['check.run', 'empty', { kind: 'command', run: [] }],
    ['check.run', 'too_many', command(...Array.from({ length: 65 }, () => 'a'))],
    ['check.run[0]', 'empty', command(' ')],
    ['check.run[1]', 'not_text', { kind: 'command', run: ['a', 1] }],
    ['check.run[1]', 'invalid', command('a', 'b\0')],
    ['check.run[1]', 'malformed_unicode', command('a', '\ud800')],
    ['check.run[1]', 'too_long', command('a', 'b'.repeat(2_001))],
    ['check.cwd', 'invalid', { kind: 'command', run: ['a'], cwd: '..' }],
    ['check.exit', 'out_of_range', { kind: 'command', run: ['a'], exit: 256 }],
    ['check.exit', 'not_an_integer', { kind: 'command', run: ['a'], exit: '0' }],
    ['check.timeout_ms', 'out_of_range', { kind: 'command', run: ['a'], timeout_ms: 3_600_001 }],
    ['check.contains', 'too_long', { kind: 'command', run: ['a'], contains: 'b'.repeat(401) }],
    ['check.absent', 'not_a_boolean', { kind: 'file', path: 'a', absent: 'yes' }],
    ['check.contains', 'invalid', { kind: 'file', path: 'a', absent: true, contains: 'b' }],
    ['check.paths', 'empty', { kind: 'unchanged', paths: [] }],
    ['check.paths[1]', 'invalid', { kind: 'unchanged', paths: ['a', '../b'] }],
    ['check.ask', 'empty', { kind: 'person', ask: ' ' }],
  ])('[CR2] %s: %s', (field, rule, raw) => {
    expect(refused(raw)).toEqual({ field, rule })
  })

  it.each(['..', '../a', 'a/../../b', String.raw`a\..\b`, '/etc/passwd', '~/a', String.raw`C:\a`])(
    '%s leads out of the workspace',
    path => {
      expect(refused({ kind: 'file', path })).toEqual({ field: 'check.path', rule: 'invalid' })
    },
  )

  it.each(['{..,a}/**', '{a,..}/b', '@(..|a)/**', 'a/{b,c/..}/**'])('the glob %s leads out of it', glob => {
    expect(refused({ kind: 'unchanged', paths: [glob] })).toEqual({ field: 'check.paths[0]', rule: 'invalid' })
  })

  it.each([
    [['true']],
    [['/bin/true']],
    [['false']],
    [[':']],
    [['exit', '0']],
    [['echo', 'ok']],
    [['printf', 'ok']],
    [['env', 'CI=1', 'true']],
    [['env']],
    [['/usr/bin/env', '-i', 'A=b', 'true']],
    [['nice', 'true']],
    [['timeout', '5', 'true']],
    [['timeout', '-k', '1s', '0.5m', 'echo', 'ok']],
    [['nohup', 'sleep', '1']],
  ])('[CR1] %j proves nothing', run => {
    expect(refused(command(...run))).toEqual({ field: 'check.run', rule: 'invalid' })
  })

  it.each([
    [['sh', '-c', 'echo $(npm test)']],
    [['sh', '-c', 'true; npm test']],
    [['sh', '-c', 'echo a > b']],
    [['env', 'CI=1', 'npm', 'test']],
    [['timeout', '60', 'npm', 'test']],
    [['command', '-v', 'node']],
    [['test', '-s', 'report.md']],
    [['[', 'a', '-nt', 'b', ']']],
    [['sh', 'test.sh']],
    [['./test']],
    [['bin/true']],
    [['exit-code']],
  ])('[CR1] %j may prove something', run => {
    expect(cleaned(command(...run))).toEqual(command(...run))
  })

  it.each(['', '  '])('[CR1] %j is in every output', contains => {
    expect(refused({ kind: 'command', run: ['a'], contains })).toEqual({ field: 'check.contains', rule: 'invalid' })
    expect(refused({ kind: 'file', path: 'a', contains })).toEqual({ field: 'check.contains', rule: 'invalid' })
  })

  it('[CR2] what is cheap runs first', () => {
    const kinds: CheckKind[] = ['person', 'command', 'unchanged', 'file']
    expect(kinds.toSorted((a, b) => COST[a] - COST[b])).toEqual(['file', 'unchanged', 'command', 'person'])
  })
})

it('[CR2] the same check twice is refused, in words about checks', () => {
  const check = { kind: 'command', run: ['npm', 'test'], id: 'c1', hash: 'h1' }
  const again = cleanChecks([check, { ...check, id: 'c2' }])
  expect(again).toMatchObject({ message: 'checks[1] must be a check that the task does not have yet.' })
})
