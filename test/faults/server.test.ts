import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import { type Client, createClient } from '../../src/client/client.ts'
import { type Child, inLongRun, runCli } from '../support/children.ts'
import { fault, held } from '../support/faults.ts'
import { freshDatabase } from '../support/postgres.ts'
import { scratchFolder } from '../support/scratch.ts'

const KILLS = inLongRun(100, 2)

let data: string
let child: Child | undefined

beforeEach(() => {
  data = scratchFolder()
})
afterEach(async () => {
  child?.process.kill('SIGKILL')
  await child?.ended
  rmSync(data, { recursive: true })
})

describe('one call', () => {
  fault('kill -9 while a call waits for a review')
  it('[TS14] the id that our event shows, sent back after kill -9, waits on for the same review', async () => {
    let { person, agent, kill } = await serve('sqlite')
    const call = { session_id: 'c', turn_id: 't', arguments: { tasks: [{ title: 'one' }] } }
    const cut = agent.call('task_manager', 'add_task', call).catch(() => undefined)
    const reviews = async () => (await person.pendingReviews('c')).reviews
    await expect.poll(reviews, { interval: 5 }).toHaveLength(1)
    const [review] = await reviews()
    await kill()
    await cut
    ;({ person, agent, kill } = await serve('sqlite'))
    const again = agent.call('task_manager', 'add_task', { ...call, tool_call_id: review?.tool_call_id ?? '' })
    expect(await reviews()).toEqual([review])
    const { result } = await person.decide(review?.review_id ?? '', { action: 'confirm', tasks: [{ draft_index: 0 }] })
    expect(await again).toEqual({ result })
    await kill()
  })
})

/** A server in a process of its own, on the same data as the one before it. */
async function serve(store: string): Promise<{ person: Client; agent: Client; kill: () => Promise<void> }> {
  const server = runCli(['serve', '--port', '0', '--data', data, '--store', store, '--agent-writes', '100000'])
  child = server
  const [url = ''] = /http:\S+?(?=#)/.exec(await server.line(() => true)) ?? []
  const client = (token: string): Client => createClient({ url, token: readFileSync(join(data, token), 'utf8').trim() })
  const kill = async (): Promise<void> => {
    server.process.kill('SIGKILL')
    await server.ended
  }
  return { person: client('person-token'), agent: client('agent-token'), kill }
}

describe.each(inLongRun(['sqlite', 'file', 'postgres'], ['sqlite', 'postgres']))('on %s', kind => {
  fault(`kill -9 right after a decision was answered (${kind})`)
  it('[RH2] a decision that was answered with 200 survives kill -9 right after it', async () => {
    const database = kind === 'postgres' ? await freshDatabase(inject('postgresUrl')) : undefined
    const store = database?.url ?? kind
    let { person, agent, kill } = await serve(store)
    for (let round = 0; round < (kind === 'sqlite' ? KILLS : inLongRun(20, 1)); round += 1) {
      const session_id = `c${round}`
      const call = {
        session_id,
        turn_id: 't',
        tool_call_id: 'call-1',
        arguments: { tasks: [{ title: 'one' }, { title: 'two' }] },
      }
      const asked = agent.call('runsheet', 'plan', call).catch(() => undefined)
      const reviews = async () => (await person.pendingReviews(session_id)).reviews
      await expect.poll(reviews, { interval: 5 }).toHaveLength(1)
      const [review] = await reviews()
      const id = review?.review_id ?? ''
      if (round % 3 === 0) {
        // Also one that still waits is found again, with the deadline that it had.
        await kill()
        ;({ person, agent, kill } = await serve(store))
        expect((await person.review(id)).review).toEqual(review)
      }
      const decision = {
        action: 'confirm',
        tasks: [{ draft_index: 1, title: `two ${round}` }, { title: 'mine' }],
        comment: 'as I like it',
      } as const
      const decided = await person.decide(id, decision)
      await kill()
      await asked
      ;({ person, agent, kill } = await serve(store))
      expect((await person.review(id)).review.status).toBe('confirmed')
      expect((await person.tasks(session_id)).tasks.map(({ title }) => title)).toEqual([`two ${round}`, 'mine'])
      expect(await person.decide(id, decision)).toEqual(decided)
      await expect(person.decide(id, { action: 'cancel' })).rejects.toMatchObject({ code: 'review_already_decided' })
      expect(await agent.call('runsheet', 'plan', call)).toEqual({ result: decided.result })
      expect((await person.tasks(session_id)).tasks).toHaveLength(2)
      held()
    }
    await kill()
    await database?.drop()
  })
})
