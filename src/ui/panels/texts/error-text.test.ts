import { describe, expect, it } from 'vitest'
import { RunsheetError } from '../../../client/http.ts'
import type { RefusalCode, RefusalData } from '../../../core/model/refusal.ts'
import { chinese } from './chinese.ts'
import { english } from './english.ts'
import { errorText, type FieldRule } from './error-text.ts'

const error = (code: string, data: object = {}): RunsheetError =>
  new RunsheetError(422, { code, message: 'Words of the server.', ...data })

/** A refusal as the server sends it. */
const refused = <C extends RefusalCode>(code: C, data: RefusalData[C]): RunsheetError => error(code, data)

describe('the text of an error', () => {
  it('names the field and the rule that it breaks, with the numbers', () => {
    const tooLong = refused('invalid_field', { row: 1, field: 'title', rule: 'too_long', limit: 400, got: 401 })
    expect(errorText(english, tooLong)).toBe('Title: at most 400 characters (now 401).')
    expect(errorText(chinese, tooLong)).toBe('标题过长：最多 400 个字符（当前 401）。')
    const tooMany = refused('invalid_field', { field: 'tags', rule: 'too_many', limit: 20, got: 21 })
    expect(errorText(english, tooMany)).toBe('Tags: at most 20 (now 21).')
    const notAllowed = refused('invalid_field', { field: 'priority', rule: 'not_allowed', allowed: ['high', 'low'] })
    expect(errorText(english, notAllowed)).toBe('Priority must be one of: high, low.')
    const outOfRange = refused('invalid_field', { field: 'position', rule: 'out_of_range', min: 1, max: 3 })
    expect(errorText(english, outOfRange)).toBe('Position must be from 1 to 3.')
  })

  it('says of a bad query what it says of a bad field', () => {
    const query = error('invalid_request', { field: 'q', rule: 'too_long', limit: 400, got: 401 })
    expect(errorText(english, query)).toBe('Search: at most 400 characters (now 401).')
    expect(errorText(english, error('invalid_request'))).toBe('Words of the server.')
  })

  it('speaks of two tasks in progress only where the code says so', () => {
    expect(errorText(english, refused('two_in_progress', { row: 1, field: 'status' }))).toBe(
      'Only one task can be “Doing”.',
    )
    expect(errorText(english, refused('invalid_field', { field: 'status', rule: 'not_allowed' }))).toBe(
      'Status: this value is not allowed.',
    )
  })

  it('is a general sentence where the rule is unknown or missing', () => {
    for (const data of [{ rule: 'of_tomorrow' }, { rule: 'toString' }, {}]) {
      expect(errorText(english, error('invalid_field', { field: 'title', ...data }))).toBe(
        'Title: please check this value.',
      )
      expect(errorText(chinese, error('invalid_field', { field: 'title', ...data }))).toBe('请检查标题。')
    }
  })

  it('leaves a field without a name of its own as the server calls it', () => {
    expect(errorText(english, refused('invalid_field', { field: 'agent_type', rule: 'empty' }))).toBe(
      'agent_type cannot be empty.',
    )
  })

  it('says what a check must be', () => {
    const shell = refused('invalid_field', { field: 'checks[1].run', rule: 'invalid', expected: 'one command' })
    expect(errorText(english, shell)).toBe('The check must be one command.')
    expect(errorText(chinese, shell)).toContain('检查必须是一条可能失败的命令')
    const empty = refused('invalid_field', { field: 'check', rule: 'empty' })
    expect(errorText(english, empty)).toBe('The check cannot be empty.')
    const many = refused('invalid_field', { field: 'checks', rule: 'too_many', limit: 8, got: 9 })
    expect(errorText(english, many)).toBe('The check: at most 8 (now 9).')
  })

  it('names statuses in the language of the page', () => {
    const settled = error('status_not_allowed', { from: 'completed', to: 'blocked', allowed: ['pending'] })
    expect(errorText(english, settled)).toBe('A task that is done cannot become blocked. Possible: to do.')
    expect(errorText(chinese, settled)).toBe('“已完成”的任务不能改为“受阻”。可以改为：待办。')
    expect(errorText(english, error('status_not_allowed'))).toBe('This task cannot change to that status.')
  })

  it('falls back to the words of the server, of an error, or of what was thrown', () => {
    expect(errorText(english, error('of_tomorrow'))).toBe('Words of the server.')
    expect(errorText(english, error('constructor'))).toBe('Words of the server.')
    expect(errorText(english, new TypeError('Oh'))).toBe('Oh')
    expect(errorText(english, 'Oh')).toBe('Oh')
  })

  it('does without facts that are not sent', () => {
    expect(errorText(english, error('batch_too_large'))).toBe('The plan has too many steps: remove some.')
    expect(errorText(english, refused('batch_too_large', { limit: 20, got: 21 }))).toBe(
      'The plan has too many steps: at most 20 (now 21).',
    )
    for (const rule of Object.keys(english.errors.byRule) as FieldRule[]) {
      expect(errorText(english, error('invalid_field', { field: 'title', rule })), rule).not.toMatch(/undefined/)
      expect(errorText(chinese, error('invalid_field', { field: 'title', rule })), rule).not.toMatch(
        /undefined|[A-Za-z]/,
      )
    }
  })
})
