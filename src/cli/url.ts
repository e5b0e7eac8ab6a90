import { createClient } from '../client/client.ts'
import { Complaint } from './complaint.ts'
import { DataFolder } from './folder.ts'

/** A fresh link to the page of the server that serves this folder. */
export async function printUrl({ data, token }: { readonly data: string; readonly token?: string }): Promise<void> {
  const folder = new DataFolder(data)
  const note = folder.server()
  if (!note) throw nobody(data)
  const { person } = folder.tokens(token ? { person: token } : {})
  const { code } = await createClient({ url: note.url, token: person })
    .loginCode()
    .catch(() => {
      throw nobody(data)
    })
  console.log(`${note.url}#code=${code}`)
}

const nobody = (data: string): Complaint => new Complaint(`no server serves ${data}. Start one with: runsheet serve`)
