import { connect, createServer, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { Client } from 'pg'
import { describe, inject } from 'vitest'
import { openPostgresStore, type PostgresStoreOptions } from '../../src/store/postgres/store.ts'
import type { FullStore } from '../../src/store/store.ts'
import { freshDatabase } from './postgres.ts'
import { atTestEnd, tellTestsApart } from './test-end.ts'

export const postgresUrl = inject('postgresUrl')

const described =
  (concurrent: boolean) =>
  (title: string, tests: () => void): void => {
    const why = postgresUrl === '' ? ` (skipped: no PostgreSQL on npm for ${process.platform}-${process.arch})` : ''
    describe.skipIf(postgresUrl === '')(`${title}${why}`, { concurrent }, () => {
      tellTestsApart()
      tests()
    })
  }

/** Tests that need the server; without one they are skipped, and the title says so. `concurrent`: as in `describe`. */
export const describePostgres = Object.assign(described(false), { concurrent: described(true) })

/** A database for one test, gone with it. */
export async function ownDatabase(): Promise<string> {
  const { url, drop } = await freshDatabase(postgresUrl)
  atTestEnd(drop)
  return url
}

/** A store for one test, closed with it. */
export async function ownStore(options: PostgresStoreOptions): Promise<FullStore> {
  const store = await openPostgresStore(options)
  atTestEnd(() => store.close())
  return store
}

/** Runs statements as an operator would, beside the store. */
export async function sql(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(text)).rows
  } finally {
    await client.end()
  }
}

/** Ends connections on the server's side, as an operator or a crash would; returns how many, once we noticed. */
export async function terminate(url: string, which: string): Promise<number> {
  const ended = await sql(
    url,
    `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid() AND ${which}`,
  )
  // The ends are in our sockets by now; one turn of the event loop reads them.
  await turn()
  return ended.length
}

/** A connection to the server that can be cut. */
export interface Line {
  readonly url: string
  /** Drops the server's next message, and the connection with it. */
  loseNextAnswer(): void
  /** Ends the next connection with its start: the server's last word comes together with its first. */
  endNextStart(): void
  /** Cuts every connection, and refuses new ones. */
  cut(): void
}

/** What the server says when it is shut down. */
const FATAL = (() => {
  const fields = Buffer.from('SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0')
  const head = Buffer.from('E\0\0\0\0')
  head.writeInt32BE(4 + fields.length, 1)
  return Buffer.concat([head, fields])
})()
/** Whether this is what the server begins a connection with: that it is authenticated, and ready. */
const isStart = (chunk: Buffer): boolean => chunk.indexOf('R') === 0 && chunk.includes('Z\0\0\0\u0005I')

export async function lineTo(url: string): Promise<Line> {
  const { hostname, port } = new URL(url)
  const sockets = new Set<Socket>()
  let losing = false
  let ending = false
  let isCut = false
  const proxy = createServer(near => {
    const far = connect(Number(port), hostname)
    const drop = (): void => {
      near.destroy()
      far.destroy()
    }
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', drop).on('close', drop)
    }
    near.on('data', chunk => far.write(chunk))
    far.on('data', chunk => {
      if (losing) drop()
      else if (ending && isStart(chunk)) {
        near.end(Buffer.concat([chunk, FATAL]))
        ending = false
      } else near.write(chunk)
      losing = false
    })
    if (isCut) drop()
  })
  await new Promise<void>(resolve => {
    proxy.listen(0, '127.0.0.1', resolve)
  })
  const cut = (): void => {
    isCut = true
    for (const socket of sockets) socket.destroy()
  }
  atTestEnd(() => {
    cut()
    proxy.close()
  })
  const address = proxy.address()
  const own = Object.assign(new URL(url), { port: typeof address === 'object' ? address?.port : '' })
  return {
    url: own.href,
    loseNextAnswer: () => {
      losing = true
    },
    endNextStart: () => {
      ending = true
    },
    cut,
  }
}
