import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { createRunsheet } from 'runsheet'
import { createHandler } from 'runsheet/http'
import { openSqliteStore } from 'runsheet/sqlite'

const runsheet = createRunsheet({ store: await openSqliteStore('.runsheet/runsheet.db') })
const handler = createHandler({
  runsheet,
  basePath: '/runsheet',
  // Look up your own session, cookie or token here.
  authenticate: request => {
    const token = request.headers.get('authorization')
    if (token === 'Bearer ann') return { role: 'person' }
    if (token === 'Bearer bot') return { role: 'agent' }
    return undefined
  },
})

const app = new Hono()
app.all('/runsheet/*', c => handler(c.req.raw))

const port = Number(process.argv[2] ?? 3000)
const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port }, ({ port }) =>
  console.log(`http://127.0.0.1:${port}/runsheet/`),
)

process.once('SIGTERM', async () => {
  await handler.close()
  server.close()
  await runsheet.close()
})
