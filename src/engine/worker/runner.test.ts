import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { Provider } from '../../../test/support/provider.ts'
import { MODEL, startTurns, type TestTurns } from '../../../test/support/turns.ts'
import { ModelChanged, UnknownModel, type Models } from '../turn/given-models.ts'
import { configuredModels } from '../../models/models.ts'

let server: TestTurns | undefined
afterEach(() => server?.close())

/** Models that cannot be used. */
function failing(error: () => Error): Models & { readonly asked: () => number } {
  let asked = 0
  const fail = (): never => {
    asked += 1
    throw error()
  }
  return {
    names: ['old'],
    defaultName: 'old',
    named: fail,
    providerOf: () => undefined,
    assessorFor: fail,
    asked: () => asked,
  }
}

describe('the runner', () => {
  it('a turn whose model is no longer configured fails, in plain words', async () => {
    server = await startTurns({ models: failing(() => new UnknownModel('The model old is not configured here.')) })
    const reader = await server.chat()
    expect(reader.of('turn_failed')[0]?.data).toMatchObject({ code: 'model_unknown' })
    expect(reader.of('turn_finished')[0]?.data.status).toBe('failed')
    expect(reader.of('message_added').at(-1)?.data.text).toBe('The model old is not configured here.')
  })

  it('a turn whose endpoint the settings have left says so with a code of its own', async () => {
    server = await startTurns({ models: failing(() => new ModelChanged('Continue to go on with another.')) })
    const reader = await server.chat()
    expect(reader.of('turn_failed')[0]?.data).toMatchObject({
      code: 'model_changed',
      message: 'Continue to go on with another.',
    })
  })

  it('a judge that cannot be used gives no verdict, and nothing passes', async () => {
    const worker = await Provider.start(({ messages }) => {
      const answered = messages.filter(({ role }) => role === 'tool').length
      if (answered === 0) return { calls: [{ tool: 'plan', args: { tasks: [{ title: 'Dig' }] } }] }
      return answered === 1 ? { calls: [{ tool: 'update', args: { id: 1, outcome: 'Dug.' } }] } : 'Dug.'
    })
    onTestFinished(() => worker.close())
    const models = await configuredModels({ model: MODEL, url: worker.url, key: 'k' })
    const assessorFor = (): never => {
      throw new UnknownModel('openai needs a key: enter it in the settings.', 'openai:judge')
    }
    server = await startTurns({ models: { ...models, assessorFor }, host: { review: false } })
    const reader = await server.chat()
    expect(reader.of('task_assessed')[0]?.data).toMatchObject({
      verdict: 'unknown',
      model: 'openai:judge',
      reason: expect.stringContaining('could not be reached. openai needs a key'),
    })
    expect(reader.of('turn_finished')[0]?.data.status).toBe('incomplete')
    expect(await server.statuses()).toEqual([['Dig', 'in_progress']])
  })

  it('[JU1] the judge is shown what earlier turns did for the plan, also where nothing was continued', async () => {
    server = await startTurns({
      host: { toolset: 'checklist', assessor: true },
      answers: async (_, count) => {
        if (count === 0)
          return { calls: [{ tool: 'add_multiple_checklist_items', args: { items: [{ title: 'Dig' }] } }] }
        if (count === 1) return 'I have dug three holes.'
        const [task] = (await server?.tasks()) ?? []
        const items = [{ id: task?.id, isChecked: true }]
        return count === 2 ? { calls: [{ tool: 'update_checklist_items', args: { items } }] } : 'Ticked.'
      },
    })
    await server.chat({ message: 'Dig.' })
    await server.chat({ turn_id: 't2', message: 'Tick it.' })
    expect(JSON.stringify(server.provider.judged)).toContain('three holes')
  })
})
