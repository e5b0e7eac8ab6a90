// The library in one run. docs/library.md shows it part by part.

// #region create
import { createRunsheet, openMemoryStore, Refusal } from 'runsheet'
import { openSqliteStore } from 'runsheet/sqlite'

const runsheet = createRunsheet({
  store: await openSqliteStore('.runsheet/runsheet.db'),
  // The policy of new conversations, over the toolset's defaults.
  policy: { toolset: 'runsheet', review_timeout_ms: 600_000 },
  // Ask your user. Return nothing to leave the review to the page or to `decide`.
  onReview: ({ draft_tasks }) => ({
    action: 'confirm',
    tasks: draft_tasks.map((_, draft_index) => ({ draft_index })),
    comment: 'Two pages at most, please.',
  }),
})
const chat = runsheet.conversation(`chat-${Date.now()}`)
const turn = chat.turn('turn-1')
// #endregion

// #region tools
const definitions = turn.tools() // { name, description, parameters }
const functions = turn.tools({ format: 'openai' }) // { type: 'function', function }

// Beside other tools: fewer of them, under names of their own.
const beside = chat.turn('turn-1', { prefix: 'plan_', names: ['plan', 'update'] })
console.log(beside.tools().map(({ name }) => name)) // [ 'plan_plan', 'plan_update' ]
// #endregion
console.log(definitions.length, functions.length)

// #region loop
const messages = [await turn.prompt(), 'Collect the figures, then write the report.']
for (;;) {
  const { text, calls } = await model([...messages, await turn.digest()], functions)
  for (const { id, name, input } of calls) {
    messages.push(JSON.stringify(await turn.call(name, input, { id })))
  }
  if (calls.length > 0) continue
  const followUp = await turn.followUp()
  if (followUp === undefined) {
    console.log(text)
    break
  }
  messages.push(followUp)
}
console.log(await turn.finish()) // { status: 'done', remaining: 0, counts: …, standings: … }
// #endregion

// #region person
const task = await chat.addTask({ title: 'Send it to Ann', priority: 'high' })
const changed = await chat.changeTask(task.number, { title: 'Send it to Bob' }, { version: task.version })
const removed = await chat.removeTask(changed.id)
await chat.undoChange(removed.id, removed.version) // the task is back, with its number
// #endregion

// #region errors
try {
  await chat.changeTask(1, { title: 'Count again' }, { version: 1 })
} catch (error) {
  if (!(error instanceof Refusal)) throw error
  console.log(error.message) // Task 1 is at version 2, not 1: it has changed since.
  if (error.is('version_mismatch')) console.log(error.data.task.title, error.data.expected)
}
// #endregion

// #region read
for (const { number, title, status, outcome } of await chat.tasks()) console.log(number, title, status, outcome)
const snapshot = await chat.snapshot() // plain data: JSON.stringify keeps all of it
const { items: sessions } = await runsheet.conversations({ limit: 20 })
const { items: found } = await runsheet.search('figures')
const { results } = await runsheet.find('fig') // titles, tasks and messages, best first
// #endregion
console.log(snapshot.seq, sessions.length > 0, found.length > 0 && results.length > 0)

// #region events
const seen: string[] = []
for await (const { seq, events } of chat.events({ after: 0 })) {
  seen.push(...events.map(({ type }) => type))
  if (seq >= snapshot.seq) break
}
console.log(seen.includes('task_created'))
// #endregion

await runsheet.close()

// #region decide
const elsewhere = createRunsheet({ store: openMemoryStore() })
const session = elsewhere.conversation('chat-1')
const answer = session.turn('turn-1').call('plan', { tasks: [{ title: 'Look' }, { title: 'Leap' }] })

// Anything that can reach the store may decide: this process, another one, the page.
for await (const { events } of session.events()) {
  const asked = events.find(event => event.type === 'task_create_review_required')
  if (!asked) continue
  await session.decide(asked.data.review_id, { action: 'confirm', tasks: [{ draft_index: 1 }, { title: 'Land' }] })
  break
}
console.log(await answer) // { ids: [ 1, 2 ], next: '1 Leap', …, changes: { added: […], removed: [ 'Look' ] } }
// #endregion

await elsewhere.close()

// #region checks
import { writeFileSync } from 'node:fs'
import { openChecks } from 'runsheet/checks'

writeFileSync('notes.test.sh', 'test -s notes.txt')
const proving = createRunsheet({
  store: openMemoryStore(),
  checks: openChecks({ workspace: '.' }),
  // A check runs only once a person allowed it: by its hash.
  onReview: ({ draft_tasks }) => ({
    action: 'confirm',
    tasks: draft_tasks.map(({ checks = [] }, draft_index) => ({
      draft_index,
      approve: checks.map(({ hash }) => hash),
    })),
  }),
})
const notes = proving.conversation('chat-1')
const work = notes.turn('turn-1')
await work.call('plan', { tasks: [{ title: 'Take notes', check: 'sh notes.test.sh', scope: ['notes.txt'] }] })
console.log(await work.call('update', { id: 1, outcome: 'Taken.' })) // { error: '… `sh notes.test.sh` fails with exit code 1 …' }
writeFileSync('notes.txt', 'It rained.')
await work.call('update', { id: 1, outcome: 'Taken.' })
for (const { title, standing } of await notes.tasks()) console.log(title, standing) // Take notes proven
// #endregion

await proving.close()

interface Call {
  readonly id: string
  readonly name: string
  readonly input: unknown
}

/** A stand-in for your model: it plans, settles task by task, and tries to answer too early once. */
async function model(
  told: readonly string[],
  _tools: typeof functions,
): Promise<{ readonly text: string; readonly calls: readonly Call[] }> {
  const script: readonly Call[] = [
    {
      id: 'call-1',
      name: 'plan',
      input: { tasks: [{ title: 'Collect the figures' }, { title: 'Write the report' }] },
    },
    { id: 'call-2', name: 'update', input: { id: 1, outcome: 'Twelve figures, from the ledger.' } },
    { id: 'call-3', name: 'update', input: { id: 2, outcome: 'Two pages, in report.md.' } },
  ]
  const isReminded = told.some(message => message.startsWith('The plan is not finished'))
  const call = script[told.filter(message => message.startsWith('{')).length]
  if (!call || (call.id === 'call-3' && !isReminded)) return { text: 'The report is done.', calls: [] }
  return { text: '', calls: [call] }
}
