import type { TestProject } from 'vitest/node'
import { postgresBinaries, type PostgresServer, startPostgres } from './postgres.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** One server for the whole run; empty where npm has no PostgreSQL for this platform. */
    postgresUrl: string
  }
}

// On the process, since each project loads this module anew and all of them share one server.
declare global {
  var runsheetPostgres: { server: Promise<PostgresServer | undefined>; users: number } | undefined
}

/** Starts PostgreSQL for the projects that ask for it, once. Tests take a database each: see `freshDatabase`. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const shared = (globalThis.runsheetPostgres ??= { server: start(), users: 0 })
  shared.users += 1
  const server = await shared.server
  project.provide('postgresUrl', server?.url ?? '')
  return async () => {
    shared.users -= 1
    if (shared.users === 0) await server?.stop()
  }
}

async function start(): Promise<PostgresServer | undefined> {
  if (postgresBinaries() !== undefined) return startPostgres()
  process.stdout.write('skipped: everything on PostgreSQL (npm has none for this platform)\n')
  return undefined
}
