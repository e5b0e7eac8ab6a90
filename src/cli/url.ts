import { existsSync } from 'node:fs'
import { createClient } from '../client/client.ts'
import { RunsheetError } from '../client/http.ts'
import { CliError } from './cli-error.ts'
import { DataFolder, refuseTracked } from './server/data-folder.ts'
import type { Environment } from './environment.ts'
import { serveCommand } from './invocation.ts'
import { needsRestart } from './server/page-server.ts'
import { ServerLock, type ServerNote } from './server/server-lock.ts'

interface UrlOptions {
  readonly data: string
  readonly token?: string
  readonly environment: Environment
  readonly invocation: string
}

export async function printUrl(options: UrlOptions): Promise<void> {
  console.log(await signInLink(options))
}

/** Asks the server at its local address: behind a proxy its public URL may not resolve here. */
export async function signInLink(options: UrlOptions): Promise<string> {
  const { data, environment } = options
  refuseTracked(data, environment)
  const note = await runningServer(options)
  const token = options.token ?? new DataFolder(data, environment).personToken()
  if (token === undefined) throw otherToken(data)
  try {
    const { code } = await createClient({ url: note.local, token }).loginCode()
    return `${note.url}#code=${code}`
  } catch (error) {
    if (!(error instanceof RunsheetError)) throw error
    if (error.status === 401) throw otherToken(data)
    throw new CliError(
      error.status === 0
        ? `the server for ${data} (process ${note.pid}) does not answer at ${note.local}.`
        : `the server for ${data} did not issue a link: ${error.message}`,
    )
  }
}

async function runningServer({ data, invocation }: UrlOptions): Promise<ServerNote> {
  const serving = existsSync(data) ? ServerLock.serving(data) : undefined
  if (!serving) throw new CliError(`no server is running for ${data}. Start one: ${serveCommand(invocation, data)}`)
  if (serving === 'starting')
    throw new CliError(`the server for ${data} is starting or stopping. Try again in a moment.`)
  if (await needsRestart(serving)) {
    throw new CliError(
      `the database of the server for ${data} was moved, deleted or replaced. End process ${serving.pid}, then: ${serveCommand(invocation, data)}`,
    )
  }
  return serving
}

const otherToken = (data: string): CliError =>
  new CliError(`the server for ${data} was started with RUNSHEET_TOKEN. Set RUNSHEET_TOKEN to the same value.`)
