import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import { cutLine, finishRecovery, recoverDatabase, type Recovered } from '../store/sqlite/recover.ts'
import { verifyDatabase } from '../store/sqlite/verify-database.ts'
import { StoreError } from '../store/store-error.ts'
import { refKey } from '../store/store.ts'
import { CliError, reasonOf } from './cli-error.ts'
import { refuseTracked } from './data-folder.ts'
import type { Environment } from './environment.ts'
import { serveCommand } from './invocation.ts'
import { counted } from './output.ts'
import { ServerLock } from './server-lock.ts'

interface RecoverOptions {
  readonly data: string
  readonly environment: Environment
  readonly invocation: string
}

export async function recover({ data, environment, invocation }: RecoverOptions): Promise<void> {
  refuseTracked(data, environment)
  const path = join(data, 'runsheet.db')
  if (!['', '-wal', '-head', '-moves'].some(suffix => existsSync(path + suffix))) {
    throw new CliError(`there is no database in ${data}. Set the data folder with --data.`)
  }
  const lock = await ServerLock.take(data)
  if (!(lock instanceof ServerLock))
    throw new CliError(`a server runs on ${data}. Stop it, and every runsheet mcp that uses the folder.`)
  try {
    const finished = explained(() => finishRecovery(path))
    if (!finished && (await isWhole(path))) {
      console.log(`${path} is not damaged; nothing was changed.`)
      return
    }
    for (const line of linesOf(finished ?? explained(() => recoverDatabase(path, new Date())))) console.log(line)
    console.log(`Start again with: ${serveCommand(invocation, data)}`)
  } finally {
    lock.release()
  }
}

function explained<T>(work: () => T): T {
  try {
    return work()
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
    throw new CliError(reasonOf(error))
  }
}

function* linesOf(done: Recovered): Generator<string> {
  const { acknowledged, events, conversations, templates, cut, kept } = done
  const lost = acknowledged - events
  const saved = [
    `${events} of ${counted(acknowledged, 'event')}`,
    counted(conversations, 'conversation'),
    counted(templates, 'template'),
  ]
  yield `Recovered ${saved.join(', ')}.`
  if (lost > 0) yield `Lost: ${counted(lost, 'event')}.`
  for (const log of cut) yield cutLine(log)
  const unnamed = lost - cut.reduce((sum, log) => sum + log.lost, 0)
  if (lost > 0 && unnamed > 0) yield `Of ${counted(unnamed, 'event')} it cannot be said which conversation had them.`
  yield* doubtsOf(done)
  yield `The damaged files are kept beside the new one: ${kept.map(file => basename(file)).join(', ')}.`
}

function* doubtsOf(done: Recovered): Generator<string> {
  const { acknowledged, events, renamed, hasAllTemplates, doubtful, templateChanges, keys } = done
  for (const { now, ...ref } of renamed) yield `A second log of ${refKey(ref)} is now ${now}.`
  if (!hasAllTemplates) yield 'Not all templates can be read.'
  if (doubtful.length > 0) yield `These templates may be old, or may have been deleted: ${doubtful.join(', ')}.`
  if (templateChanges > 0) yield `Lost: the last ${counted(templateChanges, 'change')} of templates.`
  const repeated = 'a call that is repeated may run again'
  if (keys === 'none') yield `Idempotency keys were dropped: ${repeated}.`
  if (keys === 'some') yield `Some idempotency keys cannot be read: ${repeated}.`
  const isWhole = events === acknowledged && hasAllTemplates && templateChanges === 0 && keys === 'all'
  if (isWhole) yield 'Nothing was lost.'
}
