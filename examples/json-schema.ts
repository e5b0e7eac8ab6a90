// The tools as plain JSON Schema, and the context set once for everything that runs inside.
import { callTool, createRunsheet, jsonSchemaOf, openMemoryStore, toolsets, withToolContext } from 'runsheet'

const runsheet = createRunsheet({ store: openMemoryStore() })
const { checklist } = toolsets
for (const tool of checklist.tools) console.log(tool.name, JSON.stringify(jsonSchemaOf(tool)))

await withToolContext({ runsheet, tenant: 'local', conversation: 'chat-1', turn: 'turn-1' }, async () => {
  // A wrong form is an answer that teaches the right one.
  console.log(await callTool(checklist, 'add_multiple_checklist_items', { items: 'milk, bread' }))
  console.log(
    await callTool(checklist, 'add_multiple_checklist_items', { items: [{ title: 'milk' }, { title: 'bread' }] }),
  )
})

await runsheet.close()
