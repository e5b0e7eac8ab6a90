import { createContext, type ReactElement, type ReactNode, useContext, useMemo } from 'react'
import type { Client } from '../../../client/client.ts'
import { type Strings, StringsContext, useStrings } from '../texts/strings.ts'
import { type ConversationView, useConversation } from '../hooks/use-conversation.ts'

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

const RunsheetContext = createContext<RunsheetContextValue | undefined>(undefined)

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
