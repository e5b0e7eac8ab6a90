// AI SDK's own loop, from the plan to the last answer. The model here is a stand-in that needs no network: put yours in its place.
import { MockLanguageModelV4 } from 'ai/test'
import { createRunsheet, openMemoryStore } from 'runsheet'

const runsheet = createRunsheet({ store: openMemoryStore(), policy: { toolset: 'turn_todos' } })
const turn = runsheet.conversation('chat-1').turn('turn-1')
const model = standIn()

// #region loop
import { generateText } from 'ai'
import { planLoop } from 'runsheet/ai-sdk'

const { text, steps } = await generateText({
  model,
  ...(await planLoop(turn, { instructions: 'You are a careful assistant.' })),
  prompt: 'Look, then leap.',
})
// #endregion
console.log(steps.length, 'steps:', text)
console.log((await turn.openTasks()).length, 'tasks open')

await runsheet.close()

/** Plans two steps, answers too early once, and settles each when it is sent back. */
function standIn(): MockLanguageModelV4 {
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  }
  let step = 0
  return new MockLanguageModelV4({
    doGenerate: async () => {
      step += 1
      const [next] = await turn.openTasks()
      if (step === 2 || (step > 1 && !next)) {
        return {
          content: [{ type: 'text', text: next ? 'Will do.' : 'Looked and leapt.' }],
          finishReason: { unified: 'stop', raw: 'stop' },
          usage,
          warnings: [],
        }
      }
      const [toolName, input] = next
        ? ['complete_todo', { todoId: next.id, outcome: `${next.title}: done.` }]
        : ['create_todo', { items: [{ title: 'Look' }, { title: 'Leap' }] }]
      return {
        content: [{ type: 'tool-call', toolCallId: `call-${step}`, toolName, input: JSON.stringify(input) }],
        finishReason: { unified: 'tool-calls', raw: 'tool_calls' },
        usage,
        warnings: [],
      }
    },
  })
}
