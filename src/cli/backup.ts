import { existsSync, rmSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { backUp, finishRestore, plansIn, restore, type Backup, type Restored } from '../store/backup.ts'
import { CliError, reasonOf } from './cli-error.ts'
import { DataFolder, existingFolder } from './server/data-folder.ts'
import type { Environment } from './environment.ts'
import { checkBackedUp, openStore, type StoreOptions } from './server/open-store.ts'
import { contentsText, fileExists, publish } from './terminal/output.ts'
import { ServerLock } from './server/server-lock.ts'

interface BackupOptions extends StoreOptions {
  readonly file: string
  readonly force?: boolean
  readonly environment: Environment
}

export async function writeBackup(options: BackupOptions): Promise<void> {
  const { data, store, force = false } = options
  const file = resolve(options.file)
  checkBackedUp(store)
  existingFolder(options)
  if (!force && existsSync(file)) throw fileExists(options.file)
  // Runs the integrity checks of a normal start, so that a damaged database is not backed up as sound. Kept open during
  // the copy: the last connection to close removes the -wal and -shm files, and the copy's connection is read-only.
  const opened = await openStore({ store, data })
  const temporary = `${file}.new-${process.pid}`
  try {
    const backup = await backUp(data, temporary)
    publish(temporary, file, force)
    report(backup, options.file)
  } catch (error) {
    if (error instanceof CliError) throw error
    throw new CliError(`cannot back up ${data} to ${options.file}: ${reasonOf(error)}`)
  } finally {
    rmSync(temporary, { force: true })
    await opened.close()
  }
}

function report({ skipped, ...contents }: Backup, file: string): void {
  console.log(`Backed up ${contentsText(contents)} to ${file}`)
  if (skipped.length > 0) {
    console.error(`Not in it, because they are no regular files of up to 8 MB: ${skipped.join(', ')}`)
  }
}

interface RestoreOptions extends StoreOptions {
  readonly file: string
  readonly force?: boolean
  readonly environment: Environment
}

/** Restores a backup into the data folder. Requires that no server runs there; keeps the tokens. */
export async function restoreBackup(options: RestoreOptions): Promise<void> {
  const { data, store, file, force = false, environment } = options
  checkBackedUp(store)
  if (!statSync(file, { throwIfNoEntry: false })?.isFile()) throw new CliError(`there is no file ${file}.`)
  const folder = new DataFolder(data, environment)
  const lock = await ServerLock.take(data)
  if (!(lock instanceof ServerLock)) {
    const who = typeof lock === 'object' ? ` (process ${lock.pid})` : ''
    throw new CliError(`a server is running for ${data}${who}. Stop it first.`)
  }
  try {
    const finished = finishRestore(resolve(data))
    if (finished) {
      console.log(`A restore of ${finished.backup} had been interrupted. It is finished now.`)
      reportRestored(finished.restored, data)
      if (finished.backup === resolve(file)) return
    }
    const [some] = plansIn(data)
    if (some !== undefined && !force) throw occupied(data, some)
    reportRestored(await restore(resolve(file), resolve(data)), data)
  } catch (error) {
    if (error instanceof CliError) throw error
    throw new CliError(`cannot restore ${file} to ${data}: ${reasonOf(error)}`)
  } finally {
    lock.release()
  }
  for (const line of folder.warnings) console.error(line)
}

function reportRestored({ aside, ...contents }: Restored, data: string): void {
  console.log(`Restored ${contentsText(contents)} to ${data}`)
  if (aside !== undefined) console.log(`What was there before is in ${aside}`)
}

const occupied = (data: string, some: string): CliError =>
  new CliError(
    `${data} holds plans already (${some}). Restore to another folder with --data, or set them aside with --force.`,
  )
