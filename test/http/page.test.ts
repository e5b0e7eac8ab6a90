import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { get, type IncomingHttpHeaders } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pageFrom } from '../../src/server/http/page.ts'
import { bearer } from '../support/requests.ts'
import { startServer, type TestServer } from '../support/server.ts'

const SCRIPT = 'export const words = ["plan", "review"]\n'.repeat(500)
const PAGE = '<!doctype html><title>Runsheet</title>'
const IMAGE = Buffer.alloc(4_000)

let at: TestServer
const folder = mkdtempSync(join(tmpdir(), 'runsheet-page-'))
beforeAll(async () => {
  mkdirSync(join(folder, 'assets'))
  writeFileSync(join(folder, 'index.html'), PAGE)
  writeFileSync(join(folder, 'icon.png'), IMAGE)
  writeFileSync(join(folder, 'assets', 'index-1.js'), SCRIPT)
  at = await startServer({ page: pageFrom(folder) })
})
afterAll(async () => {
  await at.close()
  rmSync(folder, { recursive: true })
})

interface Received {
  readonly status: number | undefined
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** What is on the wire: `fetch` would decompress it. */
const ask = (path: string, headers: Record<string, string> = {}): Promise<Received> =>
  new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port: at.url.port, path, headers }, response => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () =>
        resolve({ status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks) }),
      )
    }).on('error', reject)
  })

const encodingOf = async (accepts: string): Promise<string | undefined> =>
  (await ask('/assets/index-1.js', { 'accept-encoding': accepts })).headers['content-encoding']

describe('the files of the page', () => {
  it('are sent compressed, as the browser can read them', async () => {
    const gzip = await ask('/assets/index-1.js', { 'accept-encoding': 'gzip, deflate, br' })
    expect(gzip.headers).toMatchObject({ 'content-encoding': 'gzip', 'content-length': `${gzip.body.length}` })
    expect(gunzipSync(gzip.body).toString()).toBe(SCRIPT)
    expect(gzip.body.length).toBeLessThan(SCRIPT.length / 3)
    const plain = await ask('/assets/index-1.js')
    expect(plain.headers).not.toHaveProperty('content-encoding')
    expect(plain.body.toString()).toBe(SCRIPT)
  })

  it.each([
    ['br;q=0, gzip', 'gzip'],
    ['GZIP', 'gzip'],
    ['*', 'gzip'],
    ['*;q=0', undefined],
    ['gzip; q=0.000', undefined],
    ['identity', undefined],
    ['', undefined],
    ['gzip;q=1;x, ,;', 'gzip'],
    ['br', undefined],
  ])('with "%s" are %s', async (accepts, expected) => {
    expect(await encodingOf(accepts)).toBe(expected)
  })

  it('have a tag for each form, and are not sent again to a browser that has them', async () => {
    const forms = await Promise.all(['gzip', 'identity'].map(form => ask('/', { 'accept-encoding': form })))
    const tags = forms.map(({ headers }) => headers.etag ?? '')
    expect(new Set(tags).size).toBe(2)
    for (const { headers } of forms) {
      expect(headers).toMatchObject({ vary: 'accept-encoding', 'cache-control': 'no-cache' })
    }
    const [gzip = '', plain = ''] = tags
    for (const known of [gzip, `W/${gzip}`, `"other", ${gzip}`, '*']) {
      const again = await ask('/', { 'accept-encoding': 'gzip', 'if-none-match': known })
      expect([known, again.status, again.body.length]).toEqual([known, 304, 0])
      expect(again.headers).toMatchObject({ etag: gzip, vary: 'accept-encoding', 'cache-control': 'no-cache' })
    }
    expect((await ask('/', { 'accept-encoding': 'gzip', 'if-none-match': plain })).status).toBe(200)
    expect((await ask('/assets/index-1.js')).headers['cache-control']).toContain('immutable')
  })

  it('are sent as they are where compressing gains nothing, and answers of the API always', async () => {
    const image = await ask('/icon.png', { 'accept-encoding': 'br, gzip' })
    expect(image.body).toEqual(IMAGE)
    for (const { headers } of [image, await ask('/api/sessions', { ...bearer('person'), 'accept-encoding': 'br' })]) {
      expect(headers).not.toHaveProperty('content-encoding')
      expect(headers).not.toHaveProperty('vary')
    }
  })
})
