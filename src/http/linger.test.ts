import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { afterEach, expect, it, onTestFinished, vi } from 'vitest'
import { answerAndLinger, MAX_LINGER_MS } from './linger.ts'

afterEach(() => void vi.useRealTimers())

it('a client that neither sends its body nor leaves is cut off after 10 s', async () => {
  const asked = Promise.withResolvers<ServerResponse>()
  const server = createServer((_, response) => asked.resolve(response))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  onTestFinished(() => {
    client.destroy()
    server.close()
  })
  const answered = new Promise(resolve => client.once('end', resolve))
  client.on('error', () => {}).resume()
  client.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\nsome')
  const response = await asked.promise
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  answerAndLinger(response, 413, {}, 'too large')
  await answered
  const { socket } = response.req
  vi.advanceTimersByTime(MAX_LINGER_MS - 1)
  expect(socket.destroyed).toBe(false)
  vi.advanceTimersByTime(1)
  expect(socket.destroyed).toBe(true)
})
