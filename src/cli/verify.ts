import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { redactor } from '../core/text/redact.ts'
import { secretsInUrl } from '../core/text/secrets.ts'
import { refuseUnfinished } from '../store/sqlite/moves.ts'
import { verifyDatabase } from '../store/sqlite/verify.ts'
import { StoreError } from '../store/store-error.ts'
import { verify } from '../store/verify.ts'
import { CliError, reasonOf } from './cli-error.ts'
import { refuseTracked } from './server/data-folder.ts'
import { checkStore, openStore, storeLabel, storeLocation, type ReadOptions } from './server/open-store.ts'
import { counted } from './terminal/output.ts'

const DAMAGE: ReadonlySet<string> = new Set(['corrupt', 'newer'])

/** Prints damage in a store and differences from its logs; sets exit code 1 if there are any. */
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
  if (count === 0) return console.log(`${label}: ${checkedIn(options.store)}`)
  process.exitCode = 1
  console.log(`${label}: ${counted(count, 'difference')}.`)
  if (storeLocation(options.store) === 'folder') {
    console.log(
      `Restore a backup, or save what can be read with "sqlite3 runsheet.db .recover" (docs/operate.md, Damage).`,
    )
  }
}

function checkedIn(store: string): string {
  const logs = 'every log can be folded, and agrees with its tasks, turns, reviews and title'
  if (storeLocation(store) !== 'folder') return `${logs}.`
  const files = store === 'file' ? ' Every task file can be read.' : ''
  return `the file, its indexes and every chain are whole; ${logs}.${files} Not checked: templates, idempotency keys, leases and live text.`
}

async function* differencesIn(options: ReadOptions): AsyncGenerator<string> {
  const { store, data } = options
  if (store === 'memory') throw new CliError('verify cannot use --store memory: it keeps nothing.')
  if (store !== 'sqlite' && store !== 'file') {
    yield* inOpenStore(options)
    return
  }
  const path = join(data, 'runsheet.db')
  checkUnfinished(path)
  if (!existsSync(path)) throw new CliError(`${path} does not exist. Set the data folder with --data.`)
  const files = store === 'file' ? (await import('../store/files/files.ts')).fileProblems : undefined
  try {
    yield* verifyDatabase(path, db => files?.(data, db) ?? [])
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    // Damage is a finding; an unreadable file was never checked.
    if (!DAMAGE.has(error.code)) throw new CliError(`cannot verify ${path}: ${reasonOf(error)}`)
    yield reasonOf(error)
  }
}

function checkUnfinished(path: string): void {
  try {
    refuseUnfinished(path)
  } catch (error) {
    throw new CliError(reasonOf(error))
  }
}

async function* inOpenStore(options: ReadOptions): AsyncGenerator<string> {
  const store = await openStore(options)
  try {
    if (store.verifiable) yield* verify(store.verifiable())
  } finally {
    await store.close()
  }
}
