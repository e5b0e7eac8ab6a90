import {
  createContext,
  useContext,
  useEffect,
  useMemo,
  useState,
  useSyncExternalStore,
  type ReactElement,
  type ReactNode,
} from 'react'
import type { Client } from '../../../client/client.ts'
import { StringsContext, useStrings, type Strings } from '../texts/strings.ts'
import { initialState, type LiveConversation, type LiveState } from '../../../client/live.ts'
import type { StoredEvent } from '../../../core/model/event.ts'
import { liveSessions, type LiveSessions, type SessionsState } from '../../../client/live-sessions.ts'
import type { Turn } from '../../../core/model/turn.ts'
import type { Review } from '../../../core/model/review.ts'
import type { ConversationSnapshot } from '../../../core/model/snapshot.ts'

/** The context of panels and hooks: the client and the live conversation. */
export interface RunsheetContextValue {
  readonly client: Client
  readonly session: string
  readonly view: ConversationView
}

/** Overrides the provider's context, for use outside of a provider or with another conversation. */
export type RunsheetSource = Partial<RunsheetContextValue>

/** The props of `RunsheetProvider`. */
export interface RunsheetProviderProps {
  readonly client: Client
  /** The conversation's session id. */
  readonly session: string
  /** The conversation does not exist yet: no request is sent before `view.retry` is called. */
  readonly isNew?: boolean
  /** The language of the panels; by default that of the surrounding provider, or English. */
  readonly strings?: Strings
  readonly children?: ReactNode
}

const RunsheetContext = /* @__PURE__ */ createContext<RunsheetContextValue | undefined>(undefined)

/** Provides one live conversation to all panels and hooks inside. */
export function RunsheetProvider(props: RunsheetProviderProps): ReactElement {
  const { client, session, isNew = false, strings, children } = props
  const { state, onEvent, retry } = useConversation(client, session, isNew)
  const value = useMemo(
    () => ({ client, session, view: { state, onEvent, retry } }),
    [client, session, state, onEvent, retry],
  )
  const inherited = useStrings()
  return (
    <RunsheetContext value={value}>
      <StringsContext value={strings ?? inherited}>{children}</StringsContext>
    </RunsheetContext>
  )
}

/** The client and the conversation of the surrounding provider; `source` takes precedence. */
export function useRunsheet(source: RunsheetSource = {}): RunsheetContextValue {
  const context = useRunsheetIfProvided()
  const client = source.client ?? context?.client
  const view = source.view ?? context?.view
  if (!client || !view) throw new Error('Pass client and view, or wrap the component in <RunsheetProvider>.')
  const session = source.session ?? source.view?.state.conversation.session_id ?? context?.session ?? ''
  return { client, session, view }
}

export const useRunsheetIfProvided = (): RunsheetContextValue | undefined => useContext(RunsheetContext)

/** The result of `useConversation`. */
export interface ConversationView {
  readonly state: LiveState
  /** Calls back for each stored event, in order; returns a function that unsubscribes. */
  readonly onEvent: (listener: (event: StoredEvent) => void) => () => void
  /** Reconnects immediately instead of after the backoff. */
  readonly retry: () => void
}

/**
 * Follows a conversation while the component is mounted; reconnects automatically. With `isNew`, the conversation does
 * not exist yet and no request is sent before `retry` is called.
 */
export function useConversation(client: Client, sessionId: string, isNew = false): ConversationView {
  const [live, setLive] = useState<LiveConversation>(IDLE)
  useEffect(() => {
    const opened = client.live(sessionId, isNew ? { isNew } : {})
    setLive(opened)
    return opened.close
    // `isNew` matters only at the start: it changes with the first message.
  }, [client, sessionId])
  const state = useSyncExternalStore(live.subscribe, live.snapshot, IDLE.snapshot)
  return { state, onEvent: live.onEvent, retry: live.retry }
}

const IDLE_STATE = /* @__PURE__ */ initialState('')

const noop = (): void => {}

/** Used before the first effect and on a server. */
const IDLE: LiveConversation = {
  snapshot: () => IDLE_STATE,
  subscribe: () => noop,
  onEvent: () => noop,
  retry: noop,
  close: noop,
}

/** A conversation's turns, oldest first. The `turns` record itself is unordered. */
export const turnsInOrder = ({ turns }: ConversationSnapshot): readonly Turn[] =>
  Object.values(turns).sort((a, b) => (a.started_at < b.started_at ? -1 : 1))

export const reviewsInOrder = ({ reviews }: ConversationSnapshot): readonly Review[] =>
  Object.values(reviews).sort((a, b) => (a.asked_at < b.asked_at ? -1 : 1))

/** The result of `useSessions`. */
export type SessionsHandle = SessionsState & Omit<LiveSessions, 'snapshot' | 'subscribe'>

/** Follows the list of active or archived conversations while the component is mounted. */
export function useSessions(client: Client, list: 'active' | 'archived' = 'active'): SessionsHandle {
  const live = useMemo(() => liveSessions(client, { list }), [client, list])
  const state = useSyncExternalStore(live.subscribe, live.snapshot, live.snapshot)
  const { reload, more, file, unarchive, forget } = live
  return { ...state, reload, more, file, unarchive, forget }
}
