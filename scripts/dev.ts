import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer as createTcpServer, type AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { createServer } from 'vite'

// Hot reload: Vite serves the page and proxies everything else to the server, which restarts when its source changes.
// The server treats Vite as a proxy with a public URL, so Host and Origin checks stay on.

const HOST = '127.0.0.1'
const PAGE_PORT = 4747
const SERVER_PATHS = ['/api', '/mcp', '/healthz', '/readyz', '/metrics']

const port = await freePort()
const proxy = Object.fromEntries(SERVER_PATHS.map(path => [path, `http://${HOST}:${port}`]))
const vite = await createServer({ server: { host: HOST, port: PAGE_PORT, fs: { allow: ['..'] }, proxy } })
await vite.listen()
const [pageUrl = ''] = vite.resolvedUrls?.local ?? []

const main = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url))
const serve = [main, 'serve', ...process.argv.slice(2), '--port', String(port), '--public-url', pageUrl]
const server = spawn(process.execPath, ['--watch', '--watch-preserve-output', ...serve], { stdio: 'inherit' })
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => server.kill(signal))
await once(server, 'exit')
await vite.close()

async function freePort(): Promise<number> {
  const socket = createTcpServer().listen(0, HOST)
  await once(socket, 'listening')
  const { port } = socket.address() as AddressInfo
  socket.close()
  return port
}
