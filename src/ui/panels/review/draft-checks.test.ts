import { describe, expect, it } from 'vitest'
import type { Check } from '../../../core/proof/check.ts'
import { chinese } from '../texts/chinese.ts'
import { checkLabel, conditionsOf, heldOutText, runText, textOf } from '../parts/text.ts'
import { editableChecks, isOwn, newCheck, sentChecks, willRun } from './draft-checks.ts'
import { english } from '../texts/english.ts'

const NPM_TEST: Check = { kind: 'command', run: ['npm', 'test'], id: 'c1', hash: 'h1' }
const QUOTED: Check = { kind: 'command', run: ['npm', 'run', 'type  check'], exit: 3, id: 'c2', hash: 'h2' }
const FILE: Check = { kind: 'file', path: 'CHANGES.md', contains: '1.2', id: 'c3', hash: 'h3' }

describe('the checks of a draft', () => {
  it('[PA11] a proposed check is not approved; approving it sends its hash with it as it was', () => {
    const [check] = editableChecks({ checks: [NPM_TEST] })
    expect(check).toMatchObject({ isApproved: false, isAllowed: false, text: 'npm test' })
    expect(check && [willRun(check), sentChecks([check])]).toEqual([false, { checks: [NPM_TEST] }])
    const approved = check && { ...check, isApproved: true }
    expect(approved && [willRun(approved), sentChecks([approved])]).toEqual([
      true,
      { checks: [NPM_TEST], approve: ['h1'] },
    ])
  })

  it('[PA11] what the configuration allows will run, and is not approved by the person', () => {
    const [check] = editableChecks({ checks: [NPM_TEST], allowed: ['h1'] })
    expect(check && [willRun(check), sentChecks([check])]).toEqual([true, { checks: [NPM_TEST] }])
  })

  it('[PA11] an edited check is a new one, which runs only where the person ticks it, whatever was allowed before', () => {
    const [check] = editableChecks({ checks: [QUOTED], allowed: ['h2'] })
    const typed = { ...check, text: 'npm run lint' } as NonNullable<typeof check>
    expect([isOwn(typed), willRun(typed)]).toEqual([false, false])
    expect(sentChecks([typed])).toEqual({
      checks: [{ kind: 'command', run: 'npm run lint', exit: 3, hash: 'edited c2' }],
    })
    const edited = { ...typed, isApproved: true, isAllowed: false }
    expect(willRun(edited)).toBe(true)
    expect(sentChecks([edited])).toEqual({ checks: [{ kind: 'command', run: 'npm run lint', exit: 3 }] })
    // Back as it was.
    const back = { ...edited, text: textOf(QUOTED), isApproved: false }
    expect([isOwn(back), willRun(back)]).toEqual([false, false])
  })

  it('a command that the person writes is sent as a line; one that was proposed is that one, approved', () => {
    const own = newCheck(' npm run lint ', 'k', [NPM_TEST])
    expect(sentChecks([own])).toEqual({ checks: [{ kind: 'command', run: 'npm run lint' }] })
    const same = newCheck('npm  test', 'k', [NPM_TEST])
    expect(sentChecks([same])).toEqual({ checks: [NPM_TEST], approve: ['h1'] })
    const hidden = newCheck('npm test', 'k', [NPM_TEST], true)
    expect(sentChecks([hidden])).toEqual({ checks: [{ kind: 'command', run: 'npm test', hidden: true }] })
  })

  it('[HD1] a held-out check says so, with what it is', () => {
    expect(checkLabel({ ...NPM_TEST, hidden: true }, english)).toBe('held out: npm test')
    expect(textOf({ ...NPM_TEST, hidden: true })).toBe('npm test')
    expect(heldOutText([NPM_TEST, { ...NPM_TEST, hidden: true }], english)).toBe(', 1 held out')
  })
})

describe('the words for a check', () => {
  it('[PA11] a command is shown as it is, any other check in words', () => {
    const others: Check[] = [
      { kind: 'file', path: 'a', absent: true, id: 'c', hash: 'h' },
      { kind: 'unchanged', paths: ['test/**', 'b'], id: 'c', hash: 'h' },
      { kind: 'person', ask: 'Does it load?', id: 'c', hash: 'h' },
    ]
    expect([NPM_TEST, QUOTED, FILE, ...others].map(check => checkLabel(check, english))).toEqual([
      'npm test',
      "npm run 'type  check'",
      'CHANGES.md exists',
      'a does not exist',
      'test/**, b unchanged',
      'Does it load?',
    ])
    expect([NPM_TEST, FILE].map(check => checkLabel(check, chinese))).toEqual(['npm test', 'CHANGES.md 存在'])
  })

  it('[PA11] everything else that is approved with a check is shown with it', () => {
    expect(conditionsOf({ ...QUOTED, cwd: 'web', contains: 'ok', timeout_ms: 90_000 }, english)).toBe(
      'in web · exits with 3 · contains “ok” · within 90 s',
    )
    expect(conditionsOf(FILE, english)).toBe('contains “1.2”')
    expect(conditionsOf(NPM_TEST, english)).toBe('')
  })

  it('a run says how it ended and how long it took', () => {
    expect(runText({ result: 'failed', exit: 1, duration_ms: 1_240 }, english)).toBe('failed · exit 1 · 1.2 s')
    expect(runText({ result: 'passed', exit: 0, duration_ms: 125_000 }, english)).toBe('passed · 2:05')
    expect(runText({ result: 'failed', exit: 1, duration_ms: 40 }, chinese)).toBe('失败 · 退出码 1 · <0.1 秒')
  })
})
