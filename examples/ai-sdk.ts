// The tools in AI SDK's own loop. The model here is a stand-in that needs no network: put yours in its place.
import { MockLanguageModelV4 } from 'ai/test'
import { createRunsheet, openMemoryStore } from 'runsheet'

const runsheet = createRunsheet({ store: openMemoryStore(), policy: { toolset: 'turn_todos' } })
const turn = runsheet.conversation('chat-1').turn('turn-1')
const model = standIn()

// #region loop
import { generateText, isStepCount } from 'ai'
import { aiSdkTools } from 'runsheet/ai-sdk'

const { text, steps } = await generateText({
  model,
  instructions: await turn.prompt(),
  tools: aiSdkTools(turn),
  stopWhen: isStepCount(10),
  prompt: 'Look, then leap.',
})
// #endregion
console.log(steps.length, 'steps:', text)
console.log((await turn.openTasks()).length, 'tasks open')

await runsheet.close()

/** Plans two steps and settles each with what it was told last. */
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
      if (step > 1 && !next) {
        return {
          content: [{ type: 'text', text: 'Looked and leapt.' }],
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
