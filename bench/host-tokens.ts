import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { planDigest } from '../src/core/views/digest.ts'
import { TOOLSETS, type ToolsetName } from '../src/core/model/policy.ts'
import { openDoor } from '../src/engine/door/door.ts'
import { openMemoryStore } from '../src/store/memory.ts'
import { connectedClient, tokensOf } from './mcp-tokens.ts'

interface ListedTool {
  readonly name: string
  readonly description?: string | undefined
  readonly inputSchema: object
}

/** How each host shows a tool to its model, recorded from its requests on 2026-11-16. */
const FORMS: Readonly<Record<string, (tool: ListedTool) => unknown>> = {
  'Claude Code': ({ name, description, inputSchema }) => ({
    name: `mcp__runsheet__${name}`,
    description,
    input_schema: inputSchema,
  }),
  Codex: ({ name, description, inputSchema }) => ({
    type: 'function',
    name,
    description,
    strict: false,
    parameters: inputSchema,
  }),
  'Gemini CLI': ({ name, description, inputSchema }) => ({
    name: `mcp_runsheet_${name}`,
    description,
    parametersJsonSchema: { ...inputSchema, properties: { ...propertiesOf(inputSchema), ...GEMINI_PROPERTY } },
  }),
  OpenCode: ({ name, description, inputSchema }) => ({
    type: 'function',
    function: { name: `runsheet_${name}`, description, parameters: { ...inputSchema, additionalProperties: false } },
  }),
  // One line; the schema is sent when the model asks for the tool.
  'Qwen Code': ({ name, description }) => `- "mcp__runsheet__${name}": "${description}"\n`,
}

/** Gemini CLI adds this to every tool of every server. */
const GEMINI_PROPERTY = {
  wait_for_previous: {
    type: 'boolean',
    description:
      'Set to true to wait for all previously requested tools in this turn to complete before starting. Set to false (or omit) to run in parallel. Use true when this tool depends on the output of previous tools.',
  },
}

const TITLE = 'Write the quarterly report for the finance department, by region'
export const MAX_DIGEST_TOKENS = 400

/**
 * Tokens that a session pays before its first call: the tools as the host shows them, the instructions and the digest.
 */
export async function benchHostTokens(): Promise<void> {
  console.log('\nTokens that a session begins with (o200k_base): the tools in the form of each host')
  const names = Object.keys(TOOLSETS) as ToolsetName[]
  const rows = [
    ['', ...Object.keys(FORMS), 'instructions', 'digest of 5 tasks', 'of 20'],
    ...(await Promise.all(names.map(rowOf))),
  ]
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map(row => (row[column] ?? '').length)))
  for (const row of rows) console.log(row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
  console.log(
    `Counted: name, description and schema of each tool as the host sends them; the server's instructions; the digest of a plan of that many tasks, a third of them done (at most ${MAX_DIGEST_TOKENS}). ` +
      'Not counted: what hosts write around these. The digest comes at the start of a session that has a plan, after compaction, and after changes by others; the hidden tool costs nothing.',
  )
}

async function rowOf(name: ToolsetName): Promise<string[]> {
  const door = openDoor({ store: openMemoryStore() })
  const client = await connectedClient(name, door)
  const { tools } = await client.listTools()
  const instructions = countTokens(client.getInstructions() ?? '')
  await client.close()
  const forms = Object.values(FORMS).map(form => tools.map(form))
  const digests = await Promise.all([5, 20].map(size => digestTokens(name, size)))
  await door.close()
  return [name, ...[...forms.map(textTokens), instructions, ...digests].map(String)]
}

export async function digestTokens(toolset: ToolsetName, size: number): Promise<number> {
  const door = openDoor({ store: openMemoryStore() })
  const ref = { tenant: 'local', conversation: 'bench' }
  const create = Array.from({ length: size }, (_, n) => ({ id: door.newId(), title: `${TITLE} ${n + 1}` }))
  const change = create
    .slice(0, size / 3)
    .map(({ id }) => ({ task: id, fields: { status: 'completed' as const, outcome: 'Done, all as planned.' } }))
  await door.run(
    ref,
    { type: 'open_turn', turn_id: 'p1', toolset, host: { review: false } },
    { type: 'edit_tasks', by: 'model', turn_id: 'p1', create },
    { type: 'edit_tasks', by: 'person', change },
  )
  const tokens = countTokens(planDigest(await door.read(ref)))
  await door.close()
  return tokens
}

const textTokens = (shown: readonly unknown[]): number =>
  shown.every(each => typeof each === 'string') ? countTokens(shown.join('')) : tokensOf(shown)

const propertiesOf = (schema: object): object => ('properties' in schema ? (schema.properties as object) : {})
