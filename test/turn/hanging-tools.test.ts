import { expect, it } from 'vitest'
import { startTurns } from '../support/turns.ts'

it('[TU4] tool servers that never answer block neither a stop nor the exit of the process', async () => {
  const never = Promise.withResolvers<never>()
  const listed = Promise.withResolvers<void>()
  const at = await startTurns({
    answers: ['Never asked.'],
    outside: {
      list: () => {
        listed.resolve()
        return never.promise
      },
      close: async () => {},
    },
  })
  const reader = await at.open({ turn_id: 't1' })
  await listed.promise
  await at.person.stop('c1', 't1')
  await reader.over
  expect(reader.of('turn_finished')[0]?.data.status).toBe('stopped')
  const next = await at.open({ turn_id: 't2' })
  await next.reached('turn_started')
  await at.close()
  expect(at.provider.asked).toEqual([])
})
