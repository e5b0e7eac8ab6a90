import { createRunsheet } from 'runsheet'
import { openSqliteStore } from 'runsheet/sqlite'

const runsheet = createRunsheet({
  store: await openSqliteStore('.runsheet/runsheet.db'),
  // Ask your user here. This one rewords a task and confirms.
  onReview: ({ draft_tasks }) => ({
    action: 'confirm',
    tasks: draft_tasks.map((_, index) =>
      index === 1 ? { draft_index: 1, title: 'Write two pages' } : { draft_index: index },
    ),
  }),
})
const chat = runsheet.conversation(`chat-${Date.now()}`)
const turn = chat.turn('turn-1')

// Give the model turn.tools() and turn.prompt(), and pass its tool calls on. Nothing is written before the review.
console.log(await turn.call('plan', { tasks: [{ title: 'Collect the figures' }, { title: 'Write the report' }] }))
console.log(await turn.call('update', { id: 1, outcome: 'Twelve figures, from the ledger.' }))

// Before each model call: where the plan stands. Before the last answer: what is still open.
console.log(await turn.digest())
for (const { number, title, status } of await turn.openTasks()) console.log(number, title, status)

console.log(await turn.finish())
await runsheet.close()
