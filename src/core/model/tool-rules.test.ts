import { describe, expect, it } from 'vitest'
import { fingerprintOf, rulingOf, withRules, type RuledTool, type SavedRules } from './tool-approval.ts'

const tool: RuledTool = {
  server: 'files',
  tool: 'write',
  fingerprint: fingerprintOf('schema', 'place'),
  isReadOnly: false,
  ask: 'all',
}
const saved = (rule: 'ask' | 'always' | 'never', fingerprint?: string): SavedRules => ({
  files: { write: { rule, ...(fingerprint === undefined ? {} : { fingerprint }) } },
})
const reading = { ...tool, isReadOnly: true }

describe('the rule of a tool', () => {
  it('[TO5] without a rule of a person it is what the server is configured with; that a tool only reads counts with `changes` alone', () => {
    const ruled = (ask: RuledTool['ask']) => [tool, reading].map(each => rulingOf({ ...each, ask }, {}).rule)
    expect(ruled('none')).toEqual(['always', 'always'])
    expect(ruled('changes')).toEqual(['ask', 'always'])
    expect(ruled('all')).toEqual(['ask', 'ask'])
    expect(rulingOf(tool, {}).source).toBe('configuration')
  })

  it("[TO5] a person's rule counts before the configuration", () => {
    expect(rulingOf({ ...tool, ask: 'none' }, saved('ask'))).toEqual({ rule: 'ask', source: 'page' })
    expect(rulingOf({ ...tool, ask: 'none' }, saved('never'))).toEqual({ rule: 'never', source: 'page' })
    expect(rulingOf(tool, saved('always', tool.fingerprint))).toEqual({ rule: 'always', source: 'page' })
  })

  it('[TO4] "always" holds for the tool and the server that it was said of; of another it is asked again, with the reason', () => {
    const now = (fingerprint: string) => rulingOf({ ...tool, fingerprint }, saved('always', tool.fingerprint))
    expect(now(fingerprintOf('other', 'place'))).toEqual({ rule: 'ask', source: 'page', changed: 'tool' })
    expect(now(fingerprintOf('schema', 'elsewhere'))).toEqual({ rule: 'ask', source: 'page', changed: 'server' })
    expect(now(fingerprintOf('other', 'elsewhere'))).toEqual({ rule: 'ask', source: 'page', changed: 'tool' })
    // A file without one allows nothing.
    expect(rulingOf(tool, saved('always')).rule).toBe('ask')
  })

  it('[TO4] "never" holds however the tool changes', () => {
    expect(rulingOf({ ...tool, fingerprint: fingerprintOf('other', 'place') }, saved('never')).rule).toBe('never')
  })

  it('[TO5] names of objects are no rules', () => {
    expect(rulingOf({ ...tool, server: 'constructor', tool: 'name' }, {}).rule).toBe('ask')
    expect(rulingOf({ ...tool, tool: 'toString' }, saved('always', tool.fingerprint)).rule).toBe('ask')
  })

  it('[TO5] a rule that is given back leaves nothing behind', () => {
    const rule = { rule: 'never' } as const
    const two = withRules(saved('ask'), [{ server: 'web', tool: 'get', rule }])
    expect(two).toEqual({ files: { write: { rule: 'ask' } }, web: { get: rule } })
    expect(withRules(two, [{ server: 'files', tool: 'write', rule: null }])).toEqual({ web: { get: rule } })
  })
})
