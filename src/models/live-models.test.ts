import { describe, expect, it } from 'vitest'
import { assessorOf, connectionOf, modelOf, type SavedSettings } from '../core/model/settings.ts'
import { LiveModels, type ModelChoice } from './live-models.ts'
import { ModelChanged } from '../engine/turn/given-models.ts'

const KEY = 'a-key-of-a-person'
const A: SavedSettings = { model: 'openai-compatible:m', base_url: 'http://127.0.0.1:1/a' }
const B: SavedSettings = { model: 'openai-compatible:m', base_url: 'http://127.0.0.1:1/b' }
const OPENAI: SavedSettings = { model: 'openai:gpt-5', key: { value: KEY, endpoint: 'openai' } }

function choiceOf(saved: SavedSettings): ModelChoice {
  const sources = { fixed: {}, saved, file: {}, variables: {} }
  return { model: modelOf(sources), assessor: assessorOf(sources), connectionOf: name => connectionOf(sources, name) }
}

/** Models of a process, and how its settings change. */
function process(saved: SavedSettings, environment: Record<string, string> = {}) {
  let current = choiceOf(saved)
  const models = new LiveModels(() => current, { environment })
  return { models, change: (next: SavedSettings) => void (current = choiceOf(next)) }
}

/** Begins a turn: its model, where that is reached, and the model itself. */
async function begin({ models }: ReturnType<typeof process>) {
  const name = models.defaultName
  const endpoint = models.endpointOf(name)
  return { name, endpoint, model: await models.named(name, endpoint) }
}

describe('a turn and its model', () => {
  it('a new turn gets the new model, and one that runs keeps its own', async () => {
    const here = process(A)
    const before = await begin(here)
    here.change(B)
    const after = await begin(here)
    expect(after.endpoint).not.toBe(before.endpoint)
    expect(after.model).not.toBe(before.model)
    expect(await here.models.named(before.name, before.endpoint)).toBe(before.model)
  })

  it('the endpoint in the log does not tell the URL', async () => {
    const { endpoint } = await begin(process(A))
    expect(endpoint).toMatch(/^openai-compatible@[0-9a-f]{12}$/)
  })

  it('after a restart a turn goes on where its endpoint is still the same, whichever model is the default now', async () => {
    const before = await begin(process(A))
    const restarted = process({ ...A, model: 'openai-compatible:other' })
    await expect(restarted.models.named(before.name, before.endpoint)).resolves.toMatchObject({ modelId: 'm' })
  })

  it('after a restart, or on another node, without its endpoint it fails with a code of its own', async () => {
    const before = await begin(process(A))
    for (const elsewhere of [process(B), process({})]) {
      const failed = elsewhere.models.named(before.name, before.endpoint)
      await expect(failed).rejects.toBeInstanceOf(ModelChanged)
      await expect(failed).rejects.toThrow(`The model is now ${elsewhere.models.defaultName}.`)
    }
  })

  it('a key that was changed is used at once; a provider that was left keeps its key while the process lives', async () => {
    const here = process(OPENAI)
    const before = await begin(here)
    here.change({ ...OPENAI, key: { value: 'another-key-of-mine', endpoint: 'openai' } })
    const rotated = await here.models.named(before.name, before.endpoint)
    expect(rotated).not.toBe(before.model)
    here.change({ model: 'anthropic:claude', key: { value: KEY, endpoint: 'anthropic' } })
    expect(here.models.defaultName).toBe('anthropic:claude')
    expect(await here.models.named(before.name, before.endpoint)).toBe(rotated)
  })

  it('a key that was erased is gone for turns that run, too', async () => {
    const here = process(OPENAI)
    const before = await begin(here)
    here.change({ model: 'openai:gpt-5' })
    expect(here.models.defaultName).toBe('openai:gpt-5')
    await expect(here.models.named(before.name, before.endpoint)).rejects.toThrow('openai needs a key')
  })

  it('a turn of the demo model goes on, whatever is the model now', async () => {
    const here = process({})
    const before = await begin(here)
    expect(before).toMatchObject({ name: 'demo', endpoint: undefined })
    here.change(A)
    await expect(here.models.named('demo', undefined)).resolves.toBeDefined()
  })

  it('a turn that no page chose the model of fails if its model is not configured any more', async () => {
    await expect(process(A).models.named('openai:gpt-5')).rejects.toThrow(
      'The model openai:gpt-5 is not configured. Available: openai-compatible:m.',
    )
  })
})

describe('the judge', () => {
  it('is the one of now, also in a turn that runs', async () => {
    const here = process(A)
    const { name, endpoint, model } = await begin(here)
    expect(await here.models.assessorFor(name, endpoint)).toMatchObject({ name, model })
    here.change({ ...A, assessor_model: 'openai-compatible:judge' })
    expect(await here.models.assessorFor(name, endpoint)).toMatchObject({ name: 'openai-compatible:judge' })
    expect(here.models.names).toEqual(['openai-compatible:m', 'openai-compatible:judge'])
  })

  it("[SG3] of another provider does not get the model's key", async () => {
    const { models } = process({ ...OPENAI, assessor_model: 'anthropic:claude' })
    await expect(models.assessorFor('openai:gpt-5', 'openai')).rejects.toThrow(
      'anthropic needs a key: enter it in the settings, or set ANTHROPIC_API_KEY.',
    )
  })
})

it("[SG3] the environment's key does not go to a URL of the page", async () => {
  const moved = { model: 'openai:gpt-5', base_url: 'http://127.0.0.1:1/v1' }
  const { models } = process(moved, { OPENAI_API_KEY: 'a-key-of-the-server' })
  await expect(begin({ models, change: () => {} })).rejects.toThrow('openai needs a key: enter it in the settings.')
  const own = process({ model: 'openai:gpt-5' }, { OPENAI_API_KEY: 'a-key-of-the-server' })
  await expect(begin(own)).resolves.toMatchObject({ endpoint: 'openai' })
})
