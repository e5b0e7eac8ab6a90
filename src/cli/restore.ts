import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { finishRestore, plansIn, restore, type Restored } from '../store/backup/restore.ts'
import type { Environment } from './clean-environment.ts'
import { CliError } from './cli-error.ts'
import { contentsText } from './counted.ts'
import { DataFolder } from './data-folder.ts'
import { checkBackedUp, type StoreOptions } from './open-store.ts'
import { reasonOf } from './reason.ts'
import { ServerLock } from './server-lock.ts'

export interface RestoreOptions extends StoreOptions {
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
      report(finished.restored, data)
      if (finished.backup === resolve(file)) return
    }
    const [some] = plansIn(data)
    if (some !== undefined && !force) throw occupied(data, some)
    report(await restore(resolve(file), resolve(data)), data)
  } catch (error) {
    if (error instanceof CliError) throw error
    throw new CliError(`cannot restore ${file} to ${data}: ${reasonOf(error)}`)
  } finally {
    lock.release()
  }
  for (const line of folder.warnings) console.error(line)
}

function report({ aside, ...contents }: Restored, data: string): void {
  console.log(`Restored ${contentsText(contents)} to ${data}`)
  if (aside !== undefined) console.log(`What was there before is in ${aside}`)
}

const occupied = (data: string, some: string): CliError =>
  new CliError(
    `${data} holds plans already (${some}). Restore to another folder with --data, or set them aside with --force.`,
  )
