import { Server } from 'node:http'
import { connect, type Socket } from 'node:net'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { fault } from '../support/faults.ts'
import { bearer, statusesIn } from '../support/requests.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { eventually } from '../support/sse.ts'

async function started(): Promise<TestServer> {
  const server = await startServer()
  onTestFinished(() => server.close())
  return server
}

/** A line that stays open, with everything that came over it. */
function line({ url }: TestServer): { socket: Socket; came: () => string; over: Promise<void> } {
  const socket = connect(Number(url.port), '127.0.0.1')
  let came = ''
  socket.on('data', chunk => {
    came += String(chunk)
  })
  socket.on('error', () => {})
  onTestFinished(() => void socket.destroy())
  return { socket, came: () => came, over: new Promise(resolve => socket.once('close', () => resolve())) }
}

/** A request of whose body one byte is missing. */
const unfinished = ({ url }: TestServer, start: string): string =>
  [
    `${start} HTTP/1.1`,
    `Host: ${url.host}`,
    `Authorization: ${bearer('person').authorization}`,
    'Content-Type: application/json',
    'Content-Length: 2',
    '\r\n{',
  ].join('\r\n')

const underWay = (server: TestServer, count: number): Promise<void> =>
  eventually(() => server.server.activity().underWay === count)

describe('a server that ends', () => {
  fault('clients that hold on to a server that ends')
  it('[CL2] is not kept by a request that never comes to its end', { timeout: 15_000 }, async () => {
    const server = await started()
    const { socket, over } = line(server)
    socket.write(unfinished(server, 'PUT /api/sessions/c/policy'))
    await underWay(server, 1)
    await server.server.close(50)
    await over
  })

  it('[CL2] nor by a connection that is kept alive after its last answer', { timeout: 15_000 }, async () => {
    const listen = vi.spyOn(Server.prototype, 'listen')
    const server = await started()
    // So that nothing but its end closes it.
    for (const each of listen.mock.contexts) if (each instanceof Server) each.keepAliveTimeout = 0
    listen.mockRestore()
    const { socket, came, over } = line(server)
    socket.write(unfinished(server, 'PUT /api/sessions/c/policy'))
    await underWay(server, 1)
    const closed = server.server.close(3_600_000)
    socket.write('}')
    await over
    await closed
    expect(statusesIn(came())).toEqual([200])
  })

  it('[HT26] is not ready any more, while it still answers', async () => {
    const server = await started()
    const lines = ['/healthz', '/readyz'].map(path => ({ path, ...line(server) }))
    const head = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: ${server.url.host}\r\n`
    // The second request has begun, so that the line is not idle when the end comes.
    for (const { path, socket } of lines) socket.write(`${head('/readyz')}\r\n${head(path)}`)
    await eventually(() => lines.every(({ came }) => came().endsWith('{"status":"ok"}')))
    const closed = server.server.close(20_000)
    for (const { socket } of lines) socket.write('\r\n')
    await Promise.all([...lines.map(({ over }) => over), closed])
    expect(lines.map(({ came }) => statusesIn(came()))).toEqual([
      [200, 200],
      [200, 503],
    ])
    expect(lines[1]?.came()).toContain('The server is shutting down.')
  })
})
