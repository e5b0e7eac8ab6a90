import { createClient, listed } from 'runsheet/client'

const [url = '', token = ''] = process.argv.slice(2)
const client = createClient({ url, token })

// A conversation as it is and as it changes; it reconnects by itself.
const live = client.live('chat-1')
live.subscribe(() => {
  const { status, conversation } = live.snapshot()
  console.log(status, ...listed(conversation).map(task => `${task.number} ${task.title}: ${task.status}`))
})

// A tool call that waits for a person answers when they have decided, or asks to be made again.
const call = {
  session_id: 'chat-1',
  turn_id: 'turn-1',
  tool_call_id: 'call-1',
  arguments: { tasks: [{ title: 'One' }] },
}
for (;;) {
  const answer = await client.call('runsheet', 'plan', call)
  if ('result' in answer) {
    console.log(answer.result)
    break
  }
}
live.close()
