import { McpServer, ResourceTemplate, type ServerContext } from '@modelcontextprotocol/server'
import { plainJsonSchema } from '../toolsets/formats.ts'
import { promptFor } from '../toolsets/guidance.ts'
import { AWAIT_REVIEW } from '../toolsets/observe.ts'
import { AWAIT_REVIEW_INPUT, Connection, type ConnectionOptions, type McpOptions } from './connection.ts'
import { tasksUri } from './tasks-uri.ts'
import { ALWAYS_LOAD, annotationsOf, displaySchema, inputSchema, outputSchema, titleOf } from './tool-schemas.ts'

export type { ConnectionOptions, McpOptions } from './connection.ts'

/** A toolset as an MCP server, for one connection. */
export function createMcpServer(options: McpOptions, connectionOptions: ConnectionOptions): McpServer {
  const { toolset } = connectionOptions
  const server = new McpServer(
    { name: 'runsheet', title: 'Runsheet', version: options.version },
    {
      capabilities: { tools: {}, resources: { subscribe: true } },
      instructions: `${promptFor(toolset)}\n${PENDING_INSTRUCTION}`,
      requestState: { verify: (state, ctx) => options.codec.verify(state, ctx) },
      jsonSchemaValidator: ACCEPT_ALL,
    },
  )
  const connection = new Connection(server, options, connectionOptions)
  for (const tool of toolset.tools) {
    server.registerTool(
      tool.name,
      {
        title: titleOf(tool),
        description: tool.description,
        inputSchema: inputSchema(tool),
        outputSchema: outputSchema(tool),
        annotations: annotationsOf(tool),
        _meta: ALWAYS_LOAD,
      },
      (input: unknown, ctx: ServerContext) => connection.callTool(tool, input, ctx),
    )
  }
  server.registerTool(
    AWAIT_REVIEW,
    {
      title: titleOf({ name: AWAIT_REVIEW }),
      description: "Wait for the user's decision on a plan.",
      inputSchema: AWAIT_REVIEW_SCHEMA,
      outputSchema: ANY_OBJECT,
      annotations: { readOnlyHint: true, openWorldHint: false },
      _meta: ALWAYS_LOAD,
    },
    (input: unknown, ctx: ServerContext) => connection.awaitReview(input, ctx),
  )
  server.registerResource(
    'tasks',
    new ResourceTemplate(tasksUri('{conversation}'), { list: ctx => connection.listResources(ctx) }),
    { title: 'Task list', description: 'The current tasks of this conversation.', mimeType: 'application/json' },
    (uri, _, ctx) => connection.readTasks(uri.href, ctx),
  )
  connection.sendUpdates()
  return server
}

const PENDING_INSTRUCTION = `"pending_review" means nothing is written yet: call ${AWAIT_REVIEW} and go by its answer. Never assume a yes.`

const AWAIT_REVIEW_SCHEMA = displaySchema(plainJsonSchema(AWAIT_REVIEW_INPUT))
/** It answers as the tool that asked; repeating that schema would cost every conversation 80 tokens. */
const ANY_OBJECT = displaySchema({ type: 'object' })

/** For the SDK's check of submitted forms: the domain validates them, and its refusals say what to fix. */
const ACCEPT_ALL = {
  getValidator: () => (data: unknown) => ({ valid: true as const, data: data as never, errorMessage: undefined }),
}
