import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { limitedBody, limitedFetch, limitedStream } from './limited-fetch.ts'

/** Whether the pieces get through, or why not. */
async function through(limiter: ReturnType<typeof limitedBody>, ...pieces: readonly string[]): Promise<string> {
  const body = ReadableStream.from(pieces.map(piece => new Uint8Array(Buffer.from(piece))))
  return new Response(body.pipeThrough(limiter)).text().catch((error: Error) => error.message)
}

const MANY = "The model's provider sent too much: over"

describe('the bytes of a response', () => {
  it('a body up to the limit is passed on as it is; beyond it is an error', async () => {
    expect(await through(limitedBody(6), 'äö', 'ü')).toBe('äöü')
    expect(await through(limitedBody(5), 'äö', 'ü')).toBe(`${MANY} 0.000005 MB at once.`)
  })

  it.each(['\n\n', '\r\n\r\n'])('events of any number are passed on, within the limit of the stream: %j', async end => {
    const pieces = Array.from({ length: 50 }, (_, count) => `data: ${count}${end}`)
    expect(await through(limitedStream({ event: 14, stream: 1_000 }), ...pieces)).toBe(pieces.join(''))
    expect(await through(limitedStream({ event: 14, stream: 100 }), ...pieces)).toBe(`${MANY} 0.0001 MB in all.`)
  })

  it.each([
    ['one line without an end', 'data: '],
    ['lines without an empty one between them', 'data: 1\n'],
    ['comments', ': 1\r\n'],
  ])('an event that never ends is an error: %s', async (_, piece) => {
    const pieces = Array.from({ length: 50 }, () => piece)
    expect(await through(limitedStream({ event: 100, stream: 1_000 }), ...pieces)).toBe(
      `${MANY} 0.0001 MB in one event.`,
    )
  })
})

describe('a redirect', () => {
  it.each([301, 302, 303, 307, 308])(
    'of status %i is not followed: the key does not go elsewhere, and the error says where it leads',
    async status => {
      const paths: string[] = []
      const server = createServer((request, response) => {
        paths.push(request.url ?? '')
        response.writeHead(status, { location: '/elsewhere?key=secret' }).end('moved')
      }).listen(0, '127.0.0.1')
      onTestFinished(() => void server.close())
      await once(server, 'listening')
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      const asked = limitedFetch(`${url}/v1`, { method: 'POST', body: '{}', headers: { 'x-api-key': 'k' } })
      await expect(asked).rejects.toThrow(`The URL of the model redirects to ${url}/elsewhere. Set that URL instead.`)
      expect(paths).toEqual(['/v1'])
    },
  )
})
