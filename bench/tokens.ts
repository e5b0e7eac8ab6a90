import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import type { ToolsetName } from '../src/core/model/policy.ts'
import { openDoor } from '../src/engine/door/door.ts'
import { openMemoryStore } from '../src/store/memory.ts'
import { callTool } from '../src/engine/toolsets/calls.ts'
import { openAiTools, promptFor } from '../src/engine/toolsets/guidance.ts'
import { toolsets } from '../src/engine/toolsets/index.ts'
import { benchHostTokens } from './host-tokens.ts'
import { benchMcpTokens } from './mcp-tokens.ts'
import { printTable, type Line } from './table.ts'
import { playScript } from './token-script.ts'

await benchTokens()
await benchMcpTokens()
await benchHostTokens()

async function benchTokens(): Promise<void> {
  const lines: Line[] = []
  for (const name of Object.keys(toolsets) as ToolsetName[]) {
    const definitions = countTokens(JSON.stringify(openAiTools(toolsets[name])))
    const [five, twenty] = [await traffic(name, 5), await traffic(name, 20)]
    const isDefault = name === 'runsheet'
    lines.push({
      what: name,
      ours: `${definitions} + ${five} = ${definitions + five}`,
      beside: `20 tasks: ${twenty}`,
      ratio: `prompt ${countTokens(promptFor(toolsets[name], { isRun: true }))}`,
      goal: isDefault ? 'below 550, 20 tasks below 1,000' : '',
      met: isDefault ? definitions + five < 550 && twenty < 1_000 : undefined,
    })
  }
  printTable('Tokens in the library (o200k_base): definitions + a plan of five, without the prompt', lines)
  console.log(
    'Peers, the same work: Codex update_plan 561; TodoWrite compact 1,045; Gemini 2,042; MCP task servers 1,935 to 10,490.',
  )
}

async function traffic(name: ToolsetName, size: number): Promise<number> {
  const door = openDoor({ store: openMemoryStore() })
  const context = { door, tenant: 'local', conversation: 'bench', turn: 'turn' }
  let tokens = 0
  await playScript(door, name, size, async ([tool, input]) => {
    const answer = await callTool(toolsets[name], tool, input, context)
    tokens += countTokens(tool) + countTokens(JSON.stringify(input)) + countTokens(JSON.stringify(answer))
  })
  await door.close()
  return tokens
}
