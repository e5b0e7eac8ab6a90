import { createRunsheet, openSqliteStore, openTasks } from 'runsheet'

const runsheet = createRunsheet({ store: await openSqliteStore({ path: '.runsheet/runsheet.db' }) })
const chat = { tenant: 'local', conversation: `chat-${runsheet.newId()}` }

// The agent plans. Review is on by default, so nothing is written yet: a person is asked.
await runsheet.run(
  chat,
  { type: 'open_turn', turn_id: 'turn-1' },
  {
    type: 'edit_tasks',
    by: 'model',
    turn_id: 'turn-1',
    create: [
      { id: runsheet.newId(), title: 'Collect the figures' },
      { id: runsheet.newId(), title: 'Write the report' },
    ],
    review: { review_id: `rev_${chat.conversation}`, tool_call_id: 'call-1' },
  },
)

// The person edits the plan and confirms it; the edited rows are what is written.
const { resolution } = await runsheet.reviews.decide(
  'local',
  `rev_${chat.conversation}`,
  { action: 'confirm', tasks: [{ draft_index: 0 }, { draft_index: 1, title: 'Write a report of two pages' }] },
  'library',
)
console.log(resolution?.changes?.edited)

// The agent works it off; the next task becomes the current one by itself.
const done = { status: 'completed', outcome: 'Twelve figures, from the ledger.' } as const
await runsheet.run(chat, { type: 'edit_tasks', by: 'model', turn_id: 'turn-1', change: [{ task: 1, fields: done }] })
for (const { number, title, status } of openTasks(await runsheet.read(chat))) console.log(number, title, status)

await runsheet.close()
