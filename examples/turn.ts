import { createRunsheet } from 'runsheet'
import { createRunner, demoModel } from 'runsheet/runner'
import { openSqliteStore } from 'runsheet/sqlite'

const runsheet = createRunsheet({ store: await openSqliteStore('.runsheet/runsheet.db') })

// A tool of your own. What it answers is what the assessor judges by.
const weather = {
  name: 'weather',
  description: 'Says what the weather is like in a city.',
  inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  isRepeatable: true,
  call: async () => 'Sunny, 21 degrees.',
}
// The built-in model needs no network and no key. Put a model of AI SDK in its place: { 'gpt-5': openai('gpt-5') }.
const runner = createRunner({ runsheet, models: { demo: demoModel() }, tools: [weather] })

const chat = runsheet.conversation(`chat-${Date.now()}`)
await chat.startTurn('turn-1', {
  message: 'Look up the weather in Rome, then compute 21*2.',
  model: 'demo',
  policy: { review: false },
})
for await (const { events } of chat.events()) {
  for (const event of events) {
    if (event.type === 'task_changed' && event.data.task.outcome)
      console.log(event.data.task.title, '→', event.data.task.outcome)
    if (event.type === 'turn_finished') console.log(event.data.status)
  }
  if (events.some(event => event.type === 'turn_finished')) break
}
await runner.close()
await runsheet.close()
