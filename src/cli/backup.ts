import { existsSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Backup, backUp } from '../store/backup/backup.ts'
import type { Environment } from './clean-environment.ts'
import { CliError } from './cli-error.ts'
import { contentsText } from './counted.ts'
import { existingFolder } from './data-folder.ts'
import { checkBackedUp, openStore, type StoreOptions } from './open-store.ts'
import { fileExists, publish } from './output.ts'
import { reasonOf } from './reason.ts'

export interface BackupOptions extends StoreOptions {
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
