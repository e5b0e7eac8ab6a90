import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { redactor } from '../domain/redact.ts'
import { secretsInUrl } from '../domain/secrets.ts'
import { verifyDatabase } from '../store/sqlite/verify-database.ts'
import { StoreError } from '../store/store-error.ts'
import { verify } from '../store/verify.ts'
import { CliError } from './cli-error.ts'
import { refuseTracked } from './data-folder.ts'
import { checkStore, openStore, storeLabel } from './open-store.ts'
import type { ReadOptions } from './read-store.ts'

/** Prints what differs between the logs of a store and the rows beside them; the exit code is 1 if anything does. */
export async function printVerified(options: ReadOptions): Promise<void> {
  checkStore(options.store)
  refuseTracked(options.data, options.environment)
  const { line } = redactor(secretsInUrl(options.store))
  let count = 0
  for await (const difference of differencesIn(options)) {
    console.log(line(difference))
    count += 1
  }
  const label = storeLabel(options.store)
  console.log(count === 0 ? `${label}: every log agrees with its rows.` : `${label}: ${count} differences.`)
  if (count > 0) process.exitCode = 1
}

async function* differencesIn(options: ReadOptions): AsyncGenerator<string> {
  const { store, data } = options
  if (store === 'memory') throw new CliError('verify cannot use --store memory: it keeps nothing.')
  if (store !== 'sqlite' && store !== 'file') {
    yield* inOpenStore(options)
    return
  }
  const path = join(data, 'runsheet.db')
  if (!existsSync(path)) throw new CliError(`${path} does not exist. Set the data folder with --data.`)
  const files = store === 'file' ? (await import('../store/json/file-problems.ts')).fileProblems : undefined
  try {
    yield* verifyDatabase(path, db => files?.(data, db) ?? [])
  } catch (error) {
    // What cannot be opened differs as well.
    if (!(error instanceof StoreError)) throw error
    yield error.message
  }
}

async function* inOpenStore(options: ReadOptions): AsyncGenerator<string> {
  const store = await openStore(options)
  try {
    yield* verify(store.verifiable())
  } finally {
    await store.close()
  }
}
