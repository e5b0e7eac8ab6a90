// AI SDK's own loop with proof: a plan with a check, AI SDK's tool approval as the review, a claim that is refused while its
// check is red, and a judge. The models here are stand-ins that need no network: put yours in their place.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MockLanguageModelV4 } from 'ai/test'

const project = mkdtempSync(join(tmpdir(), 'runsheet-example-'))
writeFileSync(
  join(project, 'check.mjs'),
  "import { readFileSync } from 'node:fs'\nprocess.exit(+readFileSync('sum.txt') === 42 ? 0 : 1)\n",
)
const model = worker()
const secondModel = says('OK')

// #region setup
import { generateText, jsonSchema, type ModelMessage, tool } from 'ai'
import { createRunsheet, openMemoryStore } from 'runsheet'
import { createJudge, planLoop } from 'runsheet/ai-sdk'
import { openChecks } from 'runsheet/checks'

const runsheet = createRunsheet({
  store: openMemoryStore(),
  checks: openChecks({ workspace: project }), // where checks run, in this process
  judge: createJudge({ model: secondModel }), // rules on what the model claims, after the checks
})
// #endregion
const chat = runsheet.conversation('chat-1')
const turn = chat.turn('turn-1')
const write = tool({
  description: 'Writes sum.txt.',
  inputSchema: jsonSchema<{ text: string }>({ type: 'object', properties: { text: { type: 'string' } } }),
  execute: async ({ text }) => writeFileSync(join(project, 'sum.txt'), text),
})

// #region approval
const messages: ModelMessage[] = [{ role: 'user', content: 'Write the sum of 40 and 2 to sum.txt.' }]
for (;;) {
  const loop = await planLoop(turn, { review: 'approval' })
  const result = await generateText({ model, ...loop, tools: { ...loop.tools, write }, messages })
  messages.push(...result.responseMessages)
  const requests = result.content.filter(part => part.type === 'tool-approval-request')
  if (requests.length === 0) {
    console.log(result.text)
    break
  }
  for (const { reason } of requests) console.log(reason) // ask your user
  const answers = requests.map(
    ({ approvalId }) => ({ type: 'tool-approval-response', approvalId, approved: true }) as const,
  )
  messages.push({ role: 'tool', content: answers })
}
// #endregion
for (const { title, standing, standing_reasons } of await chat.tasks()) {
  console.log(`${title}: ${standing} (${standing_reasons?.join(', ')})`)
}
console.log((await turn.finish()).standings)

await runsheet.close()
rmSync(project, { recursive: true })

/** Plans, claims too early, is refused, does the work, claims again. */
function worker(): MockLanguageModelV4 {
  const claim = ['update', { id: 1, outcome: 'The sum is in sum.txt.' }] as const
  const script = [
    ['plan', { tasks: [{ title: 'Write the sum to sum.txt', check: 'node check.mjs', scope: ['sum.txt'] }] }],
    claim,
    ['write', { text: '42' }],
    claim,
  ] as const
  let step = 0
  return new MockLanguageModelV4({
    doGenerate: async () => {
      const [toolName, input] = script[step++] ?? []
      if (toolName === undefined) return answer([{ type: 'text', text: 'The sum is in sum.txt.' }])
      return answer([{ type: 'tool-call', toolCallId: `call-${step}`, toolName, input: JSON.stringify(input) }])
    },
  })
}

function says(text: string): MockLanguageModelV4 {
  return new MockLanguageModelV4({ doGenerate: async () => answer([{ type: 'text', text }]) })
}

type Generated = Awaited<ReturnType<MockLanguageModelV4['doGenerate']>>

function answer(content: Generated['content']): Generated {
  const reason = content.some(({ type }) => type === 'tool-call') ? 'tool-calls' : 'stop'
  return {
    content,
    finishReason: { unified: reason, raw: reason },
    usage: {
      inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: 1, text: 1, reasoning: 0 },
    },
    warnings: [],
  }
}
