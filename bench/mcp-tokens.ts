import { Client, InMemoryTransport } from '@modelcontextprotocol/client'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import type { ToolsetName } from '../src/core/model/policy.ts'
import { openDoor } from '../src/engine/door/door.ts'
import { roundStateCodec } from '../src/server/mcp/waiters.ts'
import { createMcpServer } from '../src/server/mcp/server.ts'
import { openMemoryStore } from '../src/store/memory.ts'
import { toolsets } from '../src/engine/toolsets/index.ts'
import { printTable, type Line } from './table.ts'
import { playScript } from './token-script.ts'

export const MAX_MCP_TOKENS = 600

export async function benchMcpTokens(): Promise<void> {
  const lines: Line[] = []
  for (const name of Object.keys(toolsets) as ToolsetName[]) {
    const { definitions, instructions, traffic, wholeList, total } = await mcpTokens(name)
    const isDefault = name === 'runsheet'
    lines.push({
      what: name,
      ours: `${definitions} + ${instructions} + ${traffic} = ${total}`,
      beside: `whole tools/list ${wholeList}, then ${wholeList + instructions + traffic}`,
      ratio: '',
      goal: isDefault ? `at most ${MAX_MCP_TOKENS}` : '',
      met: isDefault ? total <= MAX_MCP_TOKENS : undefined,
    })
  }
  printTable('Tokens over MCP (o200k_base): definitions + instructions + a plan of five', lines)
  console.log(
    "Counted: name, description and inputSchema of every tool; the server's instructions; of each call its tool, its arguments and the text of its " +
      'result. Not counted: outputSchema and annotations, which most hosts do not show the model (the whole list has them), and structuredContent, ' +
      'which says the same as the text: hosts show the model one of the two.',
  )
}

export interface McpTokens {
  readonly definitions: number
  readonly instructions: number
  readonly traffic: number
  /** The sum of what the model receives. */
  readonly total: number
  /** Definitions with outputSchema and annotations. */
  readonly wholeList: number
}

export async function mcpTokens(name: ToolsetName): Promise<McpTokens> {
  const door = openDoor({ store: openMemoryStore() })
  const client = await connectedClient(name, door)
  const { tools } = await client.listTools()
  const shown = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }))
  let traffic = 0
  await playScript(door, name, 5, async ([tool, input]) => {
    const { content } = await client.callTool({ name: tool, arguments: input })
    const answer = content.map(part => (part.type === 'text' ? part.text : '')).join('\n')
    traffic += countTokens(tool) + tokensOf(input) + countTokens(answer)
  })
  const instructions = countTokens(client.getInstructions() ?? '')
  await client.close()
  await door.close()
  const definitions = tokensOf(shown)
  return { definitions, instructions, traffic, total: definitions + instructions + traffic, wholeList: tokensOf(tools) }
}

export async function connectedClient(name: ToolsetName, door: ReturnType<typeof openDoor>): Promise<Client> {
  const onError = (error: unknown): void => console.error(error)
  const server = createMcpServer(
    {
      door,
      tenant: 'local',
      version: '0.0.0',
      host: { toolset: name },
      codec: roundStateCodec('a secret for this run only, long enough'),
      closing: new AbortController().signal,
      pageUrl: async () => undefined,
      onError,
    },
    { era: 'legacy', toolset: toolsets[name], isPerson: true, conversation: () => 'bench' },
  )
  const [clientSide, serverSide] = InMemoryTransport.createLinkedPair()
  await server.connect(serverSide)
  const client = new Client({ name: 'bench', version: '0.0.0' })
  await client.connect(clientSide)
  return client
}

export const tokensOf = (value: unknown): number => countTokens(JSON.stringify(value))
