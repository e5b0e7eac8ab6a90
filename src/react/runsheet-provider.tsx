import { createContext, type ReactElement, type ReactNode, useContext, useMemo } from 'react'
import type { Client } from '../client/client.ts'
import { type Strings, StringsContext, useStrings } from './strings.ts'
import { type ConversationView, useConversation } from './use-conversation.ts'

/** What panels and hooks share: the client and the live conversation. */
export interface RunsheetContextValue {
  readonly client: Client
  readonly session: string
  readonly view: ConversationView
}

/** Given explicitly, for use outside of a provider or about another conversation. */
export type RunsheetSource = Partial<RunsheetContextValue>

/** The props of `RunsheetProvider`. */
export interface RunsheetProviderProps {
  readonly client: Client
  /** The conversation's session id. */
  readonly session: string
  /** Nothing was said in it yet: no request is made before `view.retry` is called. */
  readonly isNew?: boolean
  /** The panels' language; by default the one around, or English. */
  readonly strings?: Strings
  readonly children?: ReactNode
}

const RunsheetContext = createContext<RunsheetContextValue | undefined>(undefined)

/** Follows one conversation for all panels and hooks inside. */
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

/** The client and the conversation of the provider around; what `source` gives takes precedence. */
export function useRunsheet(source: RunsheetSource = {}): RunsheetContextValue {
  const context = useRunsheetIfProvided()
  const client = source.client ?? context?.client
  const view = source.view ?? context?.view
  if (!client || !view) throw new Error('Pass client and view, or wrap the component in <RunsheetProvider>.')
  const session = source.session ?? source.view?.state.conversation.session_id ?? context?.session ?? ''
  return { client, session, view }
}

export const useRunsheetIfProvided = (): RunsheetContextValue | undefined => useContext(RunsheetContext)
