import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * A proxy for clients that cannot send a token: it adds the token and changes nothing else. Its own host and port become
 * the server's; a foreign Host or Origin stays as it is.
 */
export async function startTokenProxy(target: URL, token: string): Promise<{ url: URL; close: () => Promise<void> }> {
  const server = createServer((asked, answer) => pass(asked, answer, headersFor(asked)))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: new URL(target.pathname, `http://127.0.0.1:${port}`),
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }

  function headersFor({ headers }: IncomingMessage): IncomingMessage['headers'] {
    const own = (value: string | undefined) => value?.replace(`127.0.0.1:${port}`, target.host)
    const { host, origin, ...others } = headers
    return {
      ...others,
      host: own(host),
      ...(origin === undefined ? {} : { origin: own(origin) }),
      authorization: `Bearer ${token}`,
    }
  }

  function pass(asked: IncomingMessage, answer: ServerResponse, headers: IncomingMessage['headers']): void {
    const { method = 'GET', url = '/' } = asked
    const { hostname, port } = target
    const passed = request({ hostname, port, method, path: url, headers }, response => {
      answer.writeHead(response.statusCode ?? 502, response.headers)
      answer.flushHeaders()
      response.pipe(answer)
      // A cut stream is cut for the client, too.
      response.once('error', () => answer.destroy())
    })
    passed.once('error', () => answer.destroy())
    answer.once('close', () => passed.destroy())
    asked.pipe(passed)
  }
}
