// The tools as plain JSON Schema.
import { createRunsheet, openMemoryStore } from 'runsheet'

const runsheet = createRunsheet({ store: openMemoryStore(), policy: { toolset: 'checklist' } })
const turn = runsheet.conversation('chat-1').turn('turn-1')
for (const { name, parameters } of turn.tools()) console.log(name, JSON.stringify(parameters))

// Invalid arguments are answered with a valid example.
console.log(await turn.call('add_multiple_checklist_items', { items: 'milk, bread' }))
console.log(await turn.call('add_multiple_checklist_items', { items: [{ title: 'milk' }, { title: 'bread' }] }))

await runsheet.close()
