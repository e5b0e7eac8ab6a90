import { createRunsheet, openSqliteStore } from 'runsheet'
import { configuredModels, givenTools, Runner } from 'runsheet/agent'

const runsheet = createRunsheet({ store: await openSqliteStore({ path: '.runsheet/runsheet.db' }) })

// Tools of your own. What they answer is what the judge goes by.
const weather = {
  name: 'weather',
  description: 'Says what the weather is like in a city.',
  inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  isRepeatable: true,
  call: async () => 'Sunny, 21 degrees.',
}

// The runner takes up whatever turn nobody drives: those that you start, and those that a crash left behind.
const runner = new Runner({
  runsheet,
  models: configuredModels({ model: 'demo' }),
  outside: givenTools([weather]),
})
runner.start()

const chat = { tenant: 'local', conversation: `chat-${runsheet.newId()}` }
const { conversation } = await runsheet.run(chat, {
  type: 'start_turn',
  turn_id: 'turn-1',
  message_id: runsheet.newId(),
  message: 'Look up the weather in Rome, then compute 21*2.',
  model: 'demo',
  policy: { review: false },
})
for await (const { events } of runsheet.tail(chat, { after: conversation.seq })) {
  for (const event of events) {
    if (event.type === 'task_changed' && event.data.task.outcome)
      console.log(event.data.task.title, '→', event.data.task.outcome)
    if (event.type === 'turn_finished') console.log(event.data.status)
  }
  if (events.some(event => event.type === 'turn_finished')) break
}
await runner.close()
await runsheet.close()
