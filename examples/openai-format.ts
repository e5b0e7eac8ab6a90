// The tools in the OpenAI function format, for a loop of your own and any provider that takes it.
import { createRunsheet, openMemoryStore } from 'runsheet'

const runsheet = createRunsheet({ store: openMemoryStore(), policy: { toolset: 'turn_todos' } })
const turn = runsheet.conversation('chat-1').turn('turn-1')

// Goes into the request as it is, together with `await turn.prompt()` in the system message.
const tools = turn.tools({ format: 'openai' })
console.log(tools.map(({ function: { name } }) => name))

// What the provider answers: a tool call. Conversation and turn come from you, never from the model.
const call = {
  id: 'call_1',
  function: { name: 'create_todo', arguments: '{"items":[{"title":"Look"},{"title":"Leap"}]}' },
}
const answer = await turn.call(call.function.name, JSON.parse(call.function.arguments), { id: call.id })
console.log(JSON.stringify(answer))

await runsheet.close()
