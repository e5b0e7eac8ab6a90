import { useMemo, useSyncExternalStore } from 'react'
import type { Client } from '../../../client/client.ts'
import { type ToolsState, ToolsStore } from './tools-store.ts'

/** The agent's MCP servers and tools, and the changes a person can make. */
export interface ToolsHandle extends ToolsState {
  readonly setRule: ToolsStore['setRule']
  readonly remove: ToolsStore['remove']
  readonly retry: ToolsStore['retry']
  readonly reload: ToolsStore['reload']
}

/** Headless tools of a server. Reading them requires a person's token. `isLive` follows changes. */
export function useTools(client: Client, { isLive = false }: { readonly isLive?: boolean } = {}): ToolsHandle {
  const store = useMemo(() => new ToolsStore(client, { isLive }), [client, isLive])
  const state = useSyncExternalStore(store.subscribe, store.snapshot, store.snapshot)
  const { setRule, remove, retry, reload } = store
  return { ...state, setRule, remove, retry, reload }
}
