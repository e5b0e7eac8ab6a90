import { afterEach, describe, expect, it } from 'vitest'
import { startTurns, type TestTurns } from '../../test/support/turns.ts'
import { UnknownModel } from './failure.ts'
import type { Models } from './models.ts'

let server: TestTurns | undefined
afterEach(() => server?.close())

/** Models that there is something wrong with. */
function failing(error: () => Error): Models & { readonly asked: () => number } {
  let asked = 0
  const fail = (): never => {
    asked += 1
    throw error()
  }
  return { names: ['old'], usual: 'old', named: fail, assessorFor: fail, asked: () => asked }
}

describe('the runner', () => {
  it('[TR11] a turn whose model is not configured any more fails, in words for a person', async () => {
    server = await startTurns({ models: failing(() => new UnknownModel('The model old is not configured here.')) })
    const reader = await server.chat()
    expect(reader.of('turn_failed')[0]?.data).toMatchObject({ code: 'model_unknown' })
    expect(reader.of('turn_finished')[0]?.data.status).toBe('failed')
    expect(reader.of('message_added').at(-1)?.data.text).toBe('The model old is not configured here.')
  })

  it('[TR15] what nobody foresaw is reported, and not tried again before the lease has run out', async () => {
    const models = failing(() => new Error('a bug'))
    server = await startTurns({ models, leaseMs: 600_000 })
    const reader = await server.open()
    await reader.reached('turn_started')
    for (let count = 0; count < 30; count += 1) await server.ask('GET', '/api/sessions/c1')
    expect([models.asked(), server.complaints]).toEqual([1, [new Error('a bug')]])
    expect(server.runner.size).toBe(0)
    reader.leave()
  })

  it('[TR15] once it has run out, the turn is taken up again', async () => {
    const models = failing(() => (models.asked() < 3 ? new Error('a bug') : new UnknownModel('Enough.')))
    server = await startTurns({ models, leaseMs: 60 })
    const reader = await server.chat()
    expect([models.asked(), reader.of('turn_finished')[0]?.data.status]).toEqual([3, 'failed'])
  })
})
