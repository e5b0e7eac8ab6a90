import { existsSync } from 'node:fs'
import { createClient } from '../client/client.ts'
import { RunsheetError } from '../client/runsheet-error.ts'
import { Complaint } from './complaint.ts'
import { DataFolder } from './folder.ts'
import { quoted, self } from './version.ts'

/** A fresh link to the page of the server that serves this folder. It is asked where it listens, whatever its public name. */
export async function printUrl({ data, token }: { readonly data: string; readonly token?: string }): Promise<void> {
  const folder = existsSync(data) ? new DataFolder(data) : undefined
  const note = folder?.server()
  if (!folder || !note) throw nobody(data)
  const person = token ?? folder.personToken()
  if (person === undefined) throw otherToken(data)
  try {
    const { code } = await createClient({ url: note.local, token: person }).loginCode()
    console.log(`${note.url}#code=${code}`)
  } catch (error) {
    if (!(error instanceof RunsheetError) || error.status === 0) throw nobody(data)
    if (error.status !== 401) throw new Complaint(`the server of ${data} does not give out a link: ${error.message}`)
    throw otherToken(data)
  }
}

const nobody = (data: string): Complaint =>
  new Complaint(`no server serves ${data}. Start one with: ${self} serve --data ${quoted(data)}`)

const otherToken = (data: string): Complaint =>
  new Complaint(`the server of ${data} was given a token of its own: set RUNSHEET_TOKEN to the same.`)
