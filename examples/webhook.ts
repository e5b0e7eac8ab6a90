import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'

const [port = '8080', secret = ''] = process.argv.slice(2)
const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : Buffer.from(secret)
const seen = new Set<string>()

// The raw body: parsed and written again, it may differ by a byte.
function isGenuine({ headers }: IncomingMessage, body: string): boolean {
  const id = String(headers['webhook-id'])
  const timestamp = String(headers['webhook-timestamp'])
  // A recorded delivery that is replayed.
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > 300) return false
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest()
  const [, signature = ''] = String(headers['webhook-signature']).split(',')
  const given = Buffer.from(signature, 'base64')
  return given.length === expected.length && timingSafeEqual(given, expected)
}

const server = createServer(async (request, response) => {
  let body = ''
  for await (const chunk of request) body += String(chunk)
  const genuine = isGenuine(request, body)
  response.writeHead(genuine ? 204 : 401).end()
  if (!genuine) return
  const { id, type, data } = JSON.parse(body)
  // A delivery can come more than once, always with the same id.
  if (seen.has(id)) return
  seen.add(id)
  console.log(type, data)
})
server.listen(Number(port), '127.0.0.1', () => console.log('listening'))
