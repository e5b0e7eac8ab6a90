import { describe, expect, it } from 'vitest'
import { Refusal } from './refusal.ts'
import {
  assessorOf,
  changedSettings,
  connectionOf,
  type Fixed,
  modelOf,
  policyOf,
  type SavedSettings,
  type SettingsSources,
  viewOf,
} from './settings.ts'
import type { SettingsChange } from '../views/wire.ts'

const flag = <T>(value: T, by: string): Fixed<T> => ({ value, source: 'flag', by })
const variable = <T>(value: T, by: string): Fixed<T> => ({ value, source: 'environment', by })

const sources = (more: Partial<SettingsSources> = {}): SettingsSources => ({
  fixed: {},
  saved: {},
  file: {},
  variables: {},
  ...more,
})

const KEY = 'sk-a-key-that-is-long-enough-wxyz'
const OPENAI: SavedSettings = { model: 'openai:gpt-5', key: { value: KEY, endpoint: 'openai' } }
const LOCAL: SavedSettings = {
  model: 'openai-compatible:llama',
  base_url: 'http://127.0.0.1:11434/v1',
  key: { value: KEY, endpoint: 'http://127.0.0.1:11434/v1' },
}

/** What the page holds after a change. */
function after(saved: SavedSettings, change: SettingsChange, more: Partial<SettingsSources> = {}): SavedSettings {
  const changed = changedSettings(sources({ ...more, saved }), change)
  if (changed instanceof Refusal) throw changed
  return changed
}

const refused = (change: SettingsChange, more: Partial<SettingsSources> = {}): unknown => {
  const changed = changedSettings(sources(more), change)
  return changed instanceof Refusal ? { code: changed.code, ...changed.data } : changed
}

describe('which source counts', () => {
  it('[SG1] an option or variable before the page, the page before the file, the file before the default', () => {
    const review = (more: Partial<SettingsSources>) => viewOf(sources(more)).review
    const file = { review: false }
    const saved = { review: true }
    expect(review({})).toEqual({ value: true, source: 'default' })
    expect(review({ file })).toEqual({ value: false, source: 'file' })
    expect(review({ file, saved })).toEqual({ value: true, source: 'page' })
    const fixed = { review: variable(false, 'RUNSHEET_REVIEW') }
    expect(review({ file, saved, fixed })).toEqual({
      value: false,
      source: 'environment',
      locked_by: 'RUNSHEET_REVIEW',
      saved: true,
    })
    expect(policyOf(sources({ file: { ...file, gate: false }, saved, fixed }))).toEqual({ review: false, gate: false })
  })

  it('[SG1] models: option, page, default', () => {
    const saved = { model: 'openai:page', assessor_model: 'openai:judge' }
    const fixed = { model: flag('openai:flag', '--model') }
    expect([modelOf(sources()), assessorOf(sources())]).toEqual(['demo', undefined])
    expect([modelOf(sources({ saved })), assessorOf(sources({ saved }))]).toEqual(['openai:page', 'openai:judge'])
    expect(modelOf(sources({ saved, fixed }))).toBe('openai:flag')
    expect(viewOf(sources({ saved, fixed })).model).toEqual({
      value: 'openai:flag',
      source: 'flag',
      locked_by: '--model',
      saved: 'openai:page',
    })
    expect(viewOf(sources()).assessor_model).toEqual({ value: null, source: 'default' })
  })

  it('[SG1] the default toolset, and with it the default of review', () => {
    const shown = (more: Partial<SettingsSources>) => {
      const { toolset, review } = viewOf(sources(more))
      return [toolset, review]
    }
    const byDefault = { source: 'default' }
    const file = { toolset: 'checklist' } as const
    const fixed = { toolset: flag('turn_todos' as const, '--toolset') }
    expect(shown({})).toEqual([
      { ...byDefault, value: 'runsheet' },
      { ...byDefault, value: true },
    ])
    expect(shown({ file })).toEqual([
      { value: 'checklist', source: 'file' },
      { ...byDefault, value: false },
    ])
    expect(shown({ file, fixed })).toEqual([
      { value: 'turn_todos', source: 'flag', locked_by: '--toolset' },
      { ...byDefault, value: false },
    ])
    expect(policyOf(sources({ file, fixed }))).toEqual({ toolset: 'turn_todos' })
  })

  it('[SG1] no deadline is a value like any other', () => {
    const file = { review_timeout_ms: 60_000 }
    expect(viewOf(sources({ file })).review_timeout_ms).toEqual({ value: 60_000, source: 'file' })
    expect(viewOf(sources({ file, saved: { review_timeout_ms: null } })).review_timeout_ms).toEqual({
      value: null,
      source: 'page',
    })
  })

  it('what is locked is refused, with who locks it; the rest can be changed', () => {
    const fixed = { model: flag('demo', '--model'), review: variable(true, 'RUNSHEET_REVIEW') }
    const locked = { code: 'setting_locked', field: 'model', by: '--model' }
    expect(refused({ model: 'openai:x' }, { fixed })).toEqual(locked)
    expect(refused({ unset: ['model'] }, { fixed })).toEqual(locked)
    expect(refused({ review: false }, { fixed })).toMatchObject({ field: 'review', by: 'RUNSHEET_REVIEW' })
    expect(after({}, { gate: false }, { fixed })).toEqual({ gate: false })
  })
})

describe('a key', () => {
  it('[SG3] a URL or a key of the environment locks both: they belong together', () => {
    const key = { key: variable('k', 'RUNSHEET_MODEL_KEY') }
    expect(refused({ base_url: 'http://evil.example/' }, { fixed: key })).toMatchObject({ by: 'RUNSHEET_MODEL_KEY' })
    const url = { base_url: flag('http://a/v1', '--model-url') }
    expect(refused({ key: KEY }, { fixed: url })).toMatchObject({ code: 'setting_locked', by: '--model-url' })
    expect(connectionOf(sources({ fixed: url, saved: OPENAI }), 'openai:gpt-5')).not.toHaveProperty('key')
    expect(viewOf(sources({ fixed: key, saved: LOCAL })).base_url).toMatchObject({ value: null, saved: LOCAL.base_url })
  })

  it("[SG3] the provider's own variable is for no URL of the page", () => {
    const variables = { openai: 'OPENAI_API_KEY' }
    const own = { model: 'openai:gpt-5' }
    expect(connectionOf(sources({ saved: own, variables }), own.model)).toMatchObject({ mayUseVariable: true })
    expect(viewOf(sources({ saved: own, variables })).key).toEqual({
      is_set: true,
      source: 'environment',
      variable: 'OPENAI_API_KEY',
    })
    const moved = { ...own, base_url: 'http://other.example/v1' }
    expect(connectionOf(sources({ saved: moved, variables }), own.model)).toMatchObject({ mayUseVariable: false })
    expect(viewOf(sources({ saved: moved, variables })).key).toEqual({ is_set: false, source: 'default' })
  })

  it('[SG3] changing the base URL erases it, also by giving the URL up', () => {
    expect(after(LOCAL, { base_url: 'http://evil.example/v1' })).toEqual({
      model: LOCAL.model,
      base_url: 'http://evil.example/v1',
    })
    expect(after(LOCAL, { unset: ['base_url'] })).toEqual({ model: LOCAL.model })
    expect(after(LOCAL, { base_url: 'http://127.0.0.1:11434/v1/' })).toEqual(LOCAL)
    expect(after(LOCAL, { model: 'openai:same-server' }).key).toEqual(LOCAL.key)
  })

  it('[SG3] without a base URL, changing the provider erases it; the demo sends it nowhere, and keeps it', () => {
    expect(after(OPENAI, { model: 'openai:gpt-5-mini' }).key).toEqual(OPENAI.key)
    expect(after(OPENAI, { model: 'anthropic:claude' }).key).toBeUndefined()
    const demo = after(OPENAI, { model: 'demo' })
    expect(after(demo, { model: 'openai:gpt-5' })).toEqual(OPENAI)
    expect(after(demo, { model: 'google:gemini' }).key).toBeUndefined()
    expect(after(demo, { base_url: 'http://evil.example/v1' }).key).toBeUndefined()
    expect(after(after(LOCAL, { model: 'demo' }), { unset: ['base_url'] }).key).toBeUndefined()
  })

  it('[SG3] goes to its endpoint only, even if the file was edited, or a flag names another provider', () => {
    const edited = { ...LOCAL, base_url: 'http://evil.example/v1' }
    expect(connectionOf(sources({ saved: edited }), LOCAL.model ?? '')).not.toHaveProperty('key')
    const fixed = { model: flag('anthropic:claude', '--model') }
    expect(connectionOf(sources({ saved: OPENAI, fixed }), 'anthropic:claude')).not.toHaveProperty('key')
    expect(connectionOf(sources({ saved: OPENAI }), 'anthropic:judge')).not.toHaveProperty('key')
    expect(connectionOf(sources({ saved: OPENAI }), 'openai:judge')).toMatchObject({ key: KEY })
  })

  it('[SG3] belongs to a model: with the demo alone it is refused, and with a judge beside it, it is for the judge', () => {
    expect(refused({ key: KEY })).toMatchObject({ code: 'invalid_field', field: 'key' })
    const judged = after({}, { key: KEY, assessor_model: 'openai:judge' })
    expect(judged.key).toEqual({ value: KEY, endpoint: 'openai' })
    expect(connectionOf(sources({ saved: judged }), 'openai:judge')).toMatchObject({ key: KEY })
    expect(viewOf(sources({ saved: judged })).key).toMatchObject({ is_set: true })
    expect(after({}, { key: KEY, base_url: 'http://a/v1' }).key).toEqual({ value: KEY, endpoint: 'http://a/v1' })
  })

  it('a model of the page is its choice also where URL and key are locked', () => {
    const fixed = { base_url: flag('http://a/v1', '--model-url') }
    const saved = { model: 'openai:gpt-5' }
    expect(connectionOf(sources({ fixed, saved }), 'openai:gpt-5')).toMatchObject({ isOfPage: true, isLocked: true })
    expect(connectionOf(sources({ fixed }), 'openai:gpt-5')).toMatchObject({ isOfPage: false, isLocked: true })
    const locked = { ...fixed, model: flag('openai:gpt-5', '--model') }
    expect(connectionOf(sources({ fixed: locked, saved }), 'openai:gpt-5')).toMatchObject({ isOfPage: false })
    expect(connectionOf(sources({ saved: LOCAL }), 'demo')).toMatchObject({ isOfPage: false })
  })

  it('[SG3] is erased by name, and entered for the endpoint of the same change', () => {
    expect(after(OPENAI, { unset: ['key'] })).toEqual({ model: 'openai:gpt-5' })
    const moved = after(LOCAL, { base_url: 'http://b.example/v1', key: 'another-key' })
    expect(moved.key).toEqual({ value: 'another-key', endpoint: 'http://b.example/v1' })
  })

  it('[SG3] is shown by its last four characters, if it has at least 20, and never otherwise', () => {
    expect(viewOf(sources({ saved: OPENAI })).key).toEqual({ is_set: true, source: 'page', ends_with: 'wxyz' })
    const short = { ...OPENAI, key: { value: 'x'.repeat(19), endpoint: 'openai' } }
    expect(viewOf(sources({ saved: short })).key).toEqual({ is_set: true, source: 'page' })
    const fixed = { key: variable(KEY, 'RUNSHEET_MODEL_KEY') }
    expect(viewOf(sources({ fixed })).key).toEqual({
      is_set: true,
      source: 'environment',
      locked_by: 'RUNSHEET_MODEL_KEY',
    })
    expect(JSON.stringify(viewOf(sources({ saved: LOCAL, fixed })))).not.toContain(KEY)
  })
})

describe('a change', () => {
  it.each([
    [{ model: 'gpt-5' }, 'model'],
    [{ model: 'openai:' }, 'model'],
    [{ model: 'openai:a b' }, 'model'],
    [{ model: `openai:${'x'.repeat(201)}` }, 'model'],
    [{ assessor_model: 'judge' }, 'assessor_model'],
    [{ base_url: 'localhost:11434' }, 'base_url'],
    [{ base_url: 'ftp://a/' }, 'base_url'],
    [{ base_url: 'file:///etc/passwd' }, 'base_url'],
    [{ base_url: 'http://name:password@a/' }, 'base_url'],
    [{ base_url: 'http://a/?key=secret' }, 'base_url'],
    [{ base_url: `http://a/${'x'.repeat(2_000)}` }, 'base_url'],
    [{ key: 'short' }, 'key'],
    [{ key: 'with a space in it' }, 'key'],
    [{ key: 'x'.repeat(501) }, 'key'],
    [{ key: 'line\r\nfeed: x' }, 'key'],
    [{ review_timeout_ms: 0 }, 'review_timeout_ms'],
    [{ review_timeout_ms: 31 * 86_400_000 }, 'review_timeout_ms'],
    [{ gate: true, unset: ['gate'] } as const, 'unset'],
  ])('%j is refused, with the field', (change, field) => {
    expect(refused(change)).toMatchObject({ code: 'invalid_field', field })
  })

  it('a refusal does not repeat the key', () => {
    expect(JSON.stringify(refused({ key: 'a secret with spaces' }))).not.toContain('a secret')
  })

  it('[SG1] sets what is named, gives up what is unset, and leaves the rest', () => {
    const saved = { model: 'openai:x', review: false, gate: false }
    expect(after(saved, { gate: true, unset: ['review'] })).toEqual({ model: 'openai:x', gate: true })
    expect(after(saved, {})).toEqual(saved)
  })
})
