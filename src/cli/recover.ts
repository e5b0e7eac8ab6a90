import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import { cutLine, recoverDatabase, type Recovered } from '../store/sqlite/recover.ts'
import { OlderFormatError, verifyDatabase } from '../store/sqlite/verify-database.ts'
import { StoreError } from '../store/store-error.ts'
import { CliError } from './cli-error.ts'
import { counted } from './counted.ts'
import type { Environment } from './clean-environment.ts'
import { refuseTracked } from './data-folder.ts'
import { serveCommand } from './invocation.ts'
import { reasonOf } from './reason.ts'
import { ServerLock } from './server-lock.ts'

export interface RecoverOptions {
  readonly data: string
  readonly environment: Environment
  /** The command that runs this program again, for hints. */
  readonly invocation: string
}

/** Makes a new database of what can be read of a damaged one, and says what was lost. */
export async function recover({ data, environment, invocation }: RecoverOptions): Promise<void> {
  refuseTracked(data, environment)
  const path = join(data, 'runsheet.db')
  if (!['', '-wal', '-head'].some(suffix => existsSync(path + suffix))) {
    throw new CliError(`there is no database in ${data}. Set the data folder with --data.`)
  }
  const lock = await ServerLock.take(data)
  if (!(lock instanceof ServerLock))
    throw new CliError(`a server runs on ${data}. Stop it, and every runsheet mcp that uses the folder.`)
  try {
    if (await isWhole(path)) {
      console.log(`${path} is not damaged; nothing was changed.`)
      return
    }
    for (const line of linesOf(recovered(path))) console.log(line)
    console.log(`Start again with: ${serveCommand(invocation, data)}`)
  } finally {
    lock.release()
  }
}

function recovered(path: string): Recovered {
  try {
    return recoverDatabase(path, new Date())
  } catch (error) {
    throw new CliError(reasonOf(error))
  }
}

async function isWhole(path: string): Promise<boolean> {
  if (!existsSync(path)) return false
  try {
    for await (const _ of verifyDatabase(path)) return false
    return true
  } catch (error) {
    if (error instanceof StoreError && error.code === 'corrupt') return false
    throw new CliError(error instanceof OlderFormatError ? error.message : reasonOf(error))
  }
}

function* linesOf({ acknowledged, events, conversations, templates, cut, kept }: Recovered): Generator<string> {
  const lost = acknowledged - events
  const saved = [
    `${events} of ${counted(acknowledged, 'event')}`,
    counted(conversations, 'conversation'),
    counted(templates, 'template'),
  ]
  yield `Recovered ${saved.join(', ')}.`
  yield lost > 0
    ? `Lost: ${counted(lost, 'event')}. Idempotency keys were dropped: a call that is repeated may run again.`
    : 'Nothing was lost.'
  for (const log of cut) yield cutLine(log)
  yield `The damaged files are kept beside the new one: ${kept.map(file => basename(file)).join(', ')}.`
}
