import { useMemo, useSyncExternalStore } from 'react'
import type { Client } from '../client/client.ts'
import { type ToolsState, ToolsStore } from './tools-store.ts'

/** The MCP servers and tools of the agent, and what a person can do with them. */
export interface ToolsHandle extends ToolsState {
  readonly setRule: ToolsStore['setRule']
  readonly remove: ToolsStore['remove']
  readonly retry: ToolsStore['retry']
  readonly reload: ToolsStore['reload']
}

/** The tools of a server without any UI. Only a person's token may read them. `isLive`: as they change. */
export function useTools(client: Client, { isLive = false }: { readonly isLive?: boolean } = {}): ToolsHandle {
  const store = useMemo(() => new ToolsStore(client, { isLive }), [client, isLive])
  const state = useSyncExternalStore(store.subscribe, store.snapshot, store.snapshot)
  const { setRule, remove, retry, reload } = store
  return { ...state, setRule, remove, retry, reload }
}
