import type { TestProject } from 'vitest/node'
import { postgresBinaries, startPostgres } from './postgres.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** A server for the whole run; empty where there is none for this platform. */
    postgresUrl: string
  }
}

/** One PostgreSQL for the whole run. Tests take a database each: see `freshDatabase`. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = postgresBinaries() === undefined ? undefined : await startPostgres()
  if (!server) process.stdout.write('skipped: everything on PostgreSQL (npm has none for this platform)\n')
  project.provide('postgresUrl', server?.url ?? '')
  return async () => server?.stop()
}
