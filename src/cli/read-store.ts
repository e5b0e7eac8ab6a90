import { type Door, openDoor, type Ref } from '../door/door.ts'
import { LOCAL_TENANT } from '../store/store.ts'
import type { Environment } from './clean-environment.ts'
import { CliError } from './cli-error.ts'
import { existingFolder } from './data-folder.ts'
import { checkStore, openStore, type StoreOptions } from './open-store.ts'

export type ReadOptions = StoreOptions & { readonly environment: Environment }

const PAGE_SIZE = 200

export async function readStore(options: ReadOptions, work: (door: Door) => Promise<void>): Promise<void> {
  checkStore(options.store)
  existingFolder(options)
  const door = openDoor({ store: await openStore(options), readOnly: true })
  try {
    await work(door)
  } finally {
    await door.close()
  }
}

/** Newest first. */
export async function* allConversations({ conversations }: Door): AsyncGenerator<Ref> {
  let cursor: string | undefined
  do {
    const { items, next_cursor } = await conversations.list(LOCAL_TENANT, { limit: PAGE_SIZE, cursor }, 'all')
    for (const { session_id } of items) yield { tenant: LOCAL_TENANT, conversation: session_id }
    cursor = next_cursor ?? undefined
  } while (cursor !== undefined)
}

export async function knownConversation({ conversations }: Door, conversation: string): Promise<Ref> {
  const ref = { tenant: LOCAL_TENANT, conversation }
  if (await conversations.summary(ref)) return ref
  throw new CliError(`there is no conversation ${conversation}.`)
}
