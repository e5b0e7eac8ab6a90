import { setTimeout as delay } from 'node:timers/promises'
import { McpServer, ResourceTemplate, type RegisteredTool, type ServerContext } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { plainJsonSchema, promptFor } from '../../engine/toolsets/guidance.ts'
import { AWAIT_REVIEW } from '../../engine/toolsets/observe.ts'
import { AWAIT_REVIEW_INPUT, Connection, TASKS_URI, type ConnectionOptions, type McpOptions } from './connection.ts'
import { withChecks, type Toolset } from '../../engine/toolsets/toolset.ts'
import { offerHookTool } from './hook-tool.ts'
import { offerPrompts } from './prompts.ts'
import { rootPaths } from './client-info.ts'
import { ALWAYS_LOAD, annotationsOf, displaySchema, inputSchema, outputSchema, titleOf } from './tool-schemas.ts'

export type { ConnectionOptions, McpOptions } from './connection.ts'

export function createMcpServer(options: McpOptions, connectionOptions: ConnectionOptions): McpServer {
  const { toolset } = connectionOptions
  const server = new McpServer(
    { name: 'runsheet', title: 'Runsheet', version: options.version },
    {
      capabilities: { tools: {}, resources: {} },
      instructions: `${promptFor(offered(toolset, options))}\n${PENDING_INSTRUCTION}`,
      requestState: { verify: (state, ctx) => options.codec.verify(state, ctx) },
      jsonSchemaValidator: ACCEPT_ALL,
    },
  )
  const connection = new Connection(server, options, connectionOptions)
  const registered = new Map<string, RegisteredTool>()
  for (const tool of offered(toolset, options).tools) {
    const made = server.registerTool(
      tool.name,
      {
        title: titleOf(tool),
        description: tool.description,
        inputSchema: inputSchema(tool),
        outputSchema: outputSchema(tool),
        annotations: annotationsOf(tool),
        _meta: ALWAYS_LOAD,
      },
      (input: unknown, ctx: ServerContext) => connection.callTool(tool.name, input, ctx),
    )
    registered.set(tool.name, made)
  }
  if (options.onRoots && connectionOptions.era === 'legacy') {
    offerChecksAtRoots(server, options, toolset, registered, connection)
  }
  const waits = server.registerTool(
    AWAIT_REVIEW,
    {
      title: titleOf({ name: AWAIT_REVIEW }),
      description: "Wait for the user's decision on a plan, or for the checks of a claim.",
      inputSchema: AWAIT_REVIEW_SCHEMA,
      outputSchema: ANY_OBJECT,
      annotations: { readOnlyHint: true, openWorldHint: false },
      _meta: ALWAYS_LOAD,
    },
    (input: unknown, ctx: ServerContext) => connection.awaitReview(input, ctx),
  )
  registered.set(AWAIT_REVIEW, waits)
  server.registerResource(
    'tasks',
    new ResourceTemplate(TASKS_URI, { list: ctx => connection.listResources(ctx) }),
    { title: 'Task list', description: 'The current tasks of this conversation.', mimeType: 'application/json' },
    (uri, _, ctx) => connection.readTasks(uri.href, ctx),
  )
  offerPrompts(server, { ...options, toolset, connection })
  const { hooks } = connectionOptions
  if (hooks) offerHookTool(server, registered, hooks, connection, options)
  return server
}

/** Includes checks where new turns have a workspace. */
const offered = (toolset: Toolset, { door }: McpOptions): Toolset =>
  door.checks.offered?.() ? withChecks(toolset) : toolset

/** How long calls wait for the client's roots. Later ones apply to the next plans. */
const ROOTS_MS = 1_000

/**
 * Requests a client's roots on connection and whenever they change. The planning tool takes checks from the start,
 * because a host lists the tools once, often before it answers. Without a workspace, answers say that checks were left
 * out.
 */
function offerChecksAtRoots(
  { server }: McpServer,
  options: McpOptions,
  toolset: Toolset,
  registered: ReadonlyMap<string, RegisteredTool>,
  connection: Connection,
): void {
  const show = ({ tools }: Toolset): void => {
    for (const tool of tools) {
      if (tool.checked) registered.get(tool.name)?.update({ paramsSchema: inputSchema(tool) })
    }
  }
  const hasWorkspace = (): boolean => options.door.checks.offered?.() !== undefined
  const ask = (): void => {
    const roots = rootPaths(server)
      .then(options.onRoots)
      .catch((cause: unknown) => hasWorkspace() || options.onError(new Error(NO_ROOTS, { cause })))
      .then(() => show(hasWorkspace() ? withChecks(toolset) : toolset))
    connection.waitFor(Promise.race([roots, delay(ROOTS_MS, undefined, { ref: false })]))
  }
  server.oninitialized = () => {
    if (!server.getClientCapabilities()?.roots) return
    if (!hasWorkspace()) show(withChecks(toolset))
    ask()
    server.setNotificationHandler('notifications/roots/list_changed', ask)
  }
}

const NO_ROOTS =
  'The host did not name the folder that it works in, so checks cannot run. Start runsheet mcp with --workspace FOLDER.'

const PENDING_INSTRUCTION = `"pending_review" means nothing is written yet: call ${AWAIT_REVIEW} and go by its answer. Never assume a yes. "checking" means the same of a claim.`

const AWAIT_REVIEW_SCHEMA = displaySchema(plainJsonSchema(AWAIT_REVIEW_INPUT))
/** Answers have the schema of the tool that asked; repeating it would cost every conversation 80 tokens. */
const ANY_OBJECT = displaySchema({ type: 'object' })

/** For the SDK's check of submitted forms: the domain validates them, and its refusals say what to fix. */
const ACCEPT_ALL = {
  getValidator: () => (data: unknown) => ({ valid: true as const, data: data as never, errorMessage: undefined }),
}

export interface StdioOptions
  extends McpOptions,
    Pick<ConnectionOptions, 'session' | 'environment' | 'folder' | 'hooks' | 'secret'> {
  readonly toolset: Toolset
  readonly conversation: string
}

/** Serves one client over stdin and stdout. A person started it, so its forms count as that person's. */
export function serveOverStdio(stdio: StdioOptions): { close(): Promise<void> } {
  const { toolset, conversation, session, environment, folder, hooks, secret, ...options } = stdio
  const own = { toolset, session, environment, folder, hooks, secret, conversation: () => conversation }
  const createServer = ({ era }: { era: 'legacy' | 'modern' }): McpServer =>
    createMcpServer(options, { ...own, era, isPerson: true })
  return serveStdio(createServer, { onerror: options.onError })
}
