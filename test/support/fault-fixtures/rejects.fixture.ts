import { setTimeout as delay } from 'node:timers/promises'
import { it } from 'vitest'

it('passes, and something fails besides', async () => {
  void Promise.reject(new Error('nobody handles this'))
  await delay(20)
})
