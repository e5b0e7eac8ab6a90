import { randomUUID } from 'node:crypto'
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { serve } from '@hono/node-server'
import { McpServer, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import * as z from 'zod'

/**
 * For tests: a small MCP server, as a child process, with tools that work and tools that fail. It speaks stdio, or with
 * `--http PORT` HTTP with sessions that end with it. It logs its calls to FIXTURE_JOURNAL, and prints what follows `--noise` on stderr.
 */
const journal = (line: string): void => {
  const file = process.env['FIXTURE_JOURNAL']
  if (file) appendFileSync(file, `${line}\n`)
}
const noise = process.argv.includes('--noise') ? (process.argv[process.argv.indexOf('--noise') + 1] ?? '') : ''
const text = (said: string) => ({ content: [{ type: 'text' as const, text: said }] })

function build(): McpServer {
  const server = new McpServer({ name: 'fixture', version: '1.0.0' })
  const said = z.object({ text: z.string() })
  server.registerTool(
    'echo',
    { description: 'Says the text again.', inputSchema: said, annotations: { readOnlyHint: true } },
    async input => {
      journal(`echo ${input.text}`)
      return text(input.text)
    },
  )
  server.registerTool(
    'add',
    {
      description: 'Adds two numbers.',
      inputSchema: z.object({ a: z.number(), b: z.number() }),
      outputSchema: z.object({ sum: z.number() }),
      annotations: { idempotentHint: true },
    },
    async ({ a, b }) => ({ ...text(String(a + b)), structuredContent: { sum: a + b } }),
  )
  // What FIXTURE_SCHEMA says: a tool may be described otherwise the next time.
  const file = process.env['FIXTURE_SCHEMA'] ?? ''
  const more = existsSync(file) ? readFileSync(file, 'utf8') : ''
  server.registerTool('note', { description: `Keeps a text.${more}`, inputSchema: said }, async input => {
    journal(`note ${input.text}`)
    return text('kept')
  })
  for (const [name, annotations] of Object.entries({ count: {}, recount: { readOnlyHint: true } })) {
    server.registerTool(name, { description: 'Counts its calls.', annotations }, async ({ mcpReq }) => {
      journal(`${name} ${String(mcpReq._meta?.['runsheet/tool_call_id'])}`)
      return text('counted')
    })
  }
  server.registerTool('fail', { description: 'Does not work.' }, async () => ({
    ...text('the disk is full'),
    isError: true,
  }))
  const secret = process.env['FIXTURE_TOKEN']
  server.registerTool(
    'forge',
    {
      description: `Fails with \u001b[31mnoise for ${secret}.`,
      inputSchema: z.object({ why: z.string().optional().describe(`\u001b[31m\u009b\u202e for ${secret}`) }),
    },
    async () => ({ ...text(`${noise} for ${secret}`), isError: true }),
  )
  server.registerTool('hang', { description: 'Never answers.' }, async () => {
    journal('hang')
    return new Promise<never>(() => {})
  })
  server.registerTool('flood', { description: 'Answers far too much.' }, async () => text('x'.repeat(500_000)))
  server.registerTool('picture', { description: 'Draws.' }, async () => ({
    content: [{ type: 'image', data: 'aGk=', mimeType: 'image/png' }],
  }))
  server.registerTool('environment', { description: 'Lists its variables.' }, async () =>
    text(
      Object.entries(process.env)
        .map(([name, value]) => `${name}=${value}`)
        .join('\n'),
    ),
  )
  for (let count = 1; count <= Number(process.env['FIXTURE_MANY'] ?? 0); count += 1) {
    server.registerTool(`tool_${count}`, { description: `Does thing ${count}.` }, async () => text(String(count)))
  }
  server.registerTool('die', { description: 'Ends the server.' }, async () => {
    journal('die')
    process.exit(1)
  })
  return server
}

process.stderr.write(noise)
const place = process.argv.indexOf('--http')
if (place < 0) {
  journal(`started ${process.pid}`)
  void serveStdio(build)
} else {
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>()
  const answer = async (request: Request): Promise<Response> => {
    journal(`authorization ${request.headers.get('authorization')}`)
    const known = request.headers.get('mcp-session-id')
    if (known !== null) {
      return sessions.get(known)?.handleRequest(request) ?? Response.json({ error: 'no session' }, { status: 404 })
    }
    const transport: WebStandardStreamableHTTPServerTransport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: id => void sessions.set(id, transport),
    })
    await build().connect(transport)
    return transport.handleRequest(request)
  }
  serve({ fetch: answer, port: Number(process.argv[place + 1]), hostname: '127.0.0.1' }, ({ port }) =>
    process.stdout.write(`http://127.0.0.1:${port}/mcp\n`),
  )
}
