import { describe, expect, it } from 'vitest'
import { RunsheetError } from '../../../client/http.ts'
import type { SettingsAnswer, SettingsChange, TryAnswer } from '../../../core/views/wire.ts'
import { SettingsStore } from './server.ts'

/** A server with a model and a version, and what it was asked. */
class Server {
  version = 1
  model = 'demo'
  asked: string[] = []
  /** Called before each answer. */
  before = (): void => {}

  answer(): SettingsAnswer {
    const setting = <T>(value: T) => ({ value, source: 'default' as const })
    return {
      version: `v${this.version}`,
      scope: 'server',
      settings: {
        model: setting(this.model),
        base_url: setting(null),
        key: { is_set: false, source: 'default' },
        assessor_model: setting(null),
        toolset: setting('runsheet' as const),
        review: setting(true),
        review_timeout_ms: setting(null),
        gate: setting(true),
      },
      problems: [],
    }
  }

  settings = async (): Promise<SettingsAnswer> => {
    this.asked.push('get')
    return this.answer()
  }

  changeSettings = async (version: string, change: SettingsChange): Promise<SettingsAnswer> => {
    this.asked.push(`${version} ${JSON.stringify(change)}`)
    this.before()
    if (version !== `v${this.version}`) {
      throw new RunsheetError(412, { code: 'settings_changed', message: 'The settings have changed since.' })
    }
    this.version += 1
    this.model = change.model ?? this.model
    return this.answer()
  }

  tryModel = async (): Promise<TryAnswer> => {
    this.before()
    return { ok: true, model: this.model, duration_ms: 1 }
  }
}

async function loaded(): Promise<{ server: Server; store: SettingsStore }> {
  const server = new Server()
  const store = new SettingsStore(server)
  await new Promise<void>(resolve => {
    store.subscribe(() => {
      if (store.snapshot().answer) resolve()
    })
  })
  return { server, store }
}

const modelIn = (store: SettingsStore): string | undefined => store.snapshot().answer?.settings.model.value

describe('the settings of a window', () => {
  it('are loaded with the first reader, and changed by the version that it has seen', async () => {
    const { server, store } = await loaded()
    expect(store.snapshot()).toMatchObject({ isLoading: false, isSaving: false, error: undefined })
    expect(await store.save({ model: 'openai:x' })).toBe(true)
    expect(modelIn(store)).toBe('openai:x')
    expect(server.asked).toEqual(['get', 'v1 {"model":"openai:x"}'])
  })

  it('two changes at once are made one after the other', async () => {
    const { server, store } = await loaded()
    expect(await Promise.all([store.save({ model: 'openai:a' }), store.save({ gate: false })])).toEqual([true, true])
    expect(server.asked.slice(1)).toEqual(['v1 {"model":"openai:a"}', 'v2 {"gate":false}'])
  })

  it('if another window was faster, nothing is saved, and this one shows what is there now', async () => {
    const { server, store } = await loaded()
    server.version = 7
    server.model = 'openai:theirs'
    expect(await store.save({ model: 'openai:mine' })).toBe(false)
    expect(store.snapshot()).toMatchObject({ isConflict: true, isSaving: false, error: { code: 'settings_changed' } })
    expect(modelIn(store)).toBe('openai:theirs')
    expect(await store.save({ model: 'openai:mine' })).toBe(true)
    expect(store.snapshot()).toMatchObject({ isConflict: false, error: undefined })
  })

  it('another failure is told, and the next change goes on', async () => {
    const { server, store } = await loaded()
    server.before = () => {
      throw new Error('the network is down')
    }
    expect(await store.save({ gate: false })).toBe(false)
    expect(store.snapshot()).toMatchObject({ isConflict: false, error: { message: 'the network is down' } })
    server.before = () => {}
    expect(await store.save({ gate: false })).toBe(true)
  })

  it('what a try came to is forgotten once the settings change', async () => {
    const { server, store } = await loaded()
    await store.tryModel()
    expect(store.snapshot().tried).toMatchObject({ ok: true, model: 'demo' })
    await store.save({ model: 'openai:x' })
    expect(store.snapshot().tried).toBeUndefined()
    const changing = Promise.withResolvers<void>()
    server.tryModel = async () => {
      await changing.promise
      return { ok: true, model: 'openai:x', duration_ms: 1 }
    }
    const trying = store.tryModel()
    await store.save({ model: 'openai:y' })
    changing.resolve()
    await trying
    expect(store.snapshot()).toMatchObject({ tried: undefined, isTrying: false })
  })

  it('nothing is saved before they are loaded', async () => {
    expect(await new SettingsStore(new Server()).save({ gate: false })).toBe(false)
  })
})
