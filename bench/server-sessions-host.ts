import { pino } from 'pino'
import { openDoor } from '../src/engine/door/door.ts'
import { Metrics } from '../src/server/http/metrics.ts'
import { createHttpServer } from '../src/server/http/server.ts'
import { createMcpEndpoint } from '../src/server/mcp/http.ts'
import { roundStateCodec } from '../src/server/mcp/waiters.ts'
import { openMemoryStore } from '../src/store/memory.ts'
import { serveParent, settledMemory } from './server-process.ts'

// A server with `/mcp`, composed as in `runsheet serve`, in its own process.
const TOKENS = { person: 'token-of-a-person', agent: 'token-of-an-agent' } as const

const door = openDoor({ store: openMemoryStore() })
const mcp = createMcpEndpoint({
  door,
  tenant: 'local',
  version: '0.0.0',
  host: {},
  codec: roundStateCodec(TOKENS.person),
  closing: new AbortController().signal,
  pageUrl: async () => undefined,
  onError: () => {},
})
const server = createHttpServer({
  door,
  tokens: TOKENS,
  tenant: 'local',
  version: '0.0.0',
  log: pino({ level: 'silent' }),
  metrics: new Metrics(door),
  mcp: (request, incoming) => mcp.fetch(request, incoming),
  agentWritesPerMinute: 1e9,
})
const { port } = await server.listen(0, '127.0.0.1')

serveParent({
  listening: () => ({ port: Number(port), token: TOKENS.agent }),
  memory: settledMemory,
  sessions: () => mcp.sessions,
})
