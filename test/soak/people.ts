import type { Client } from '../../src/client/client.ts'
import { RunsheetError } from '../../src/client/http.ts'
import type { TasksAnswer } from '../../src/core/views/wire.ts'
import { pending } from './agents.ts'
import { allowing, chance, pick, type World } from './world.ts'

const GOALS = ['Compute 1 + 1. Compute 2 + 2.', 'Write a haiku about autumn', 'Plan a birthday party for 20 people']
const QUERIES = ['report', 'write it up', '生日', 'carefully', 'zzz', '"', 'budget', 'added by']
/** What an edit may be refused with: another actor was first. */
const LOST_RACE = [404, 409, 412, 422]

/** A message, and the turn that the demo model makes of it; some readers leave, some turns are stopped. */
export async function chat(world: World): Promise<void> {
  const { url, tokens, person } = world.node()
  const session_id = world.newSession()
  const leaving = new AbortController()
  const ends = AbortSignal.any([leaving.signal, world.ending])
  const asked = fetch(new URL('/api/chat', url), {
    method: 'POST',
    headers: { authorization: `Bearer ${tokens.person}`, 'content-type': 'application/json' },
    body: JSON.stringify({ session_id, turn_id: 't1', message: pick(GOALS), review: true }),
    signal: ends,
  })
  const response = await world.latencies.of('write', asked)
  if (!response.ok) throw new Error(`A turn was answered with ${response.status}.`)
  const reading = drained(response, ends)
  // A failure is awaited further down, and counts there.
  reading.catch(() => undefined)
  const review = await pending(world, world.node(), session_id)
  if (review) {
    const tasks = review.draft_tasks.map(({ title }, draft_index) => ({ draft_index, title }))
    await allowing([409], world.latencies.of('write', person.decide(review.review_id, { action: 'confirm', tasks })))
  }
  if (chance(0.1)) await allowing(LOST_RACE, person.stop(session_id, 't1'))
  if (chance(0.2)) leaving.abort()
  await reading
}

async function drained(response: Response, ends: AbortSignal): Promise<void> {
  try {
    for await (const _ of response.body ?? []) void _
  } catch (error) {
    if (!ends.aborted) throw error
  }
}

/** A person changes a plan: adds, changes, removes, sets the policy, saves a template. */
export async function edit(world: World): Promise<void> {
  const { person } = world.node()
  const session = world.recentSession()
  const write = (asked: Promise<unknown>): Promise<void> => allowing(LOST_RACE, world.latencies.of('write', asked))
  const task = pick(await tasksOf(world, person, session))
  if (!task || chance(0.3)) return write(person.addTask(session, { title: 'By hand', details: 'a detail' }))
  if (chance(0.2)) return write(person.removeTask(session, task.id, task.version))
  if (chance(0.1)) return write(person.saveTemplate(`template-${pick([1, 2, 3])}`, [{ title: task.title }]))
  if (chance(0.1)) return write(person.setPolicy(session, { gate: chance(0.5) }))
  return write(person.changeTask(session, task.id, task.version, { title: `By hand, ${task.version}` }))
}

async function tasksOf({ latencies }: World, person: Client, session: string): Promise<TasksAnswer['tasks']> {
  try {
    return (await latencies.of('read', person.tasks(session, { limit: 20 }))).tasks
  } catch (error) {
    // The first write of a new conversation may still be under way.
    if (error instanceof RunsheetError && error.status === 404) return []
    throw error
  }
}

/** A person looks around. */
export async function look(world: World): Promise<void> {
  const { person, url } = world.node()
  const session = world.recentSession()
  const read = (what: string, asked: Promise<unknown>): Promise<void> =>
    allowing([404], world.latencies.of(what, asked))
  const looks = [
    () => read('search', person.find(pick(QUERIES))),
    () => read('search', person.search(pick(QUERIES), { limit: 20 })),
    () => read('read', person.session(session)),
    () => read('read', person.snapshot(session)),
    () => read('read', person.timeline(session)),
    () => read('list', person.sessions({ limit: 50 })),
    () => read('list', person.sessions({ limit: 20, q: 'report' })),
    () => read('pending list', person.pendingReviews(undefined, { limit: 50 })),
    () => read('read', textAt(new URL('/metrics', url))),
    () => read('read', textAt(new URL('/readyz', url))),
  ]
  await pick(looks)()
}

const textAt = async (url: URL): Promise<string> => (await fetch(url)).text()
