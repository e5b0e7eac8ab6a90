// The tools in the OpenAI function format, for a loop of your own and any provider that takes it.
import { callTool, createRunsheet, openAiTools, openMemoryStore, toolsets } from 'runsheet'

const runsheet = createRunsheet({ store: openMemoryStore() })
const toolset = toolsets.turn_todos

// Goes into the request as it is, together with `toolset.prompt` in the system message.
const tools = openAiTools(toolset)
console.log(tools.map(({ function: { name } }) => name))

// What the provider answers: a tool call. Conversation and turn come from you, never from the model.
const call = {
  id: 'call_1',
  function: { name: 'create_todo', arguments: '{"items":[{"title":"Look"},{"title":"Leap"}]}' },
}
const answer = await callTool(toolset, call.function.name, JSON.parse(call.function.arguments), {
  runsheet,
  tenant: 'local',
  conversation: 'chat-1',
  turn: 'turn-1',
  toolCallId: call.id,
})
console.log(JSON.stringify(answer))

await runsheet.close()
