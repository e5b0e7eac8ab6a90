import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { type Client, type Filing, RunsheetError } from 'runsheet/client'
import { type SessionsHandle, useSessions } from 'runsheet/react'
import { chatRoute, go, newSession } from '../route.ts'
import { importLater } from '../part.ts'

interface FilingFailure {
  readonly error: unknown
  readonly title?: string
  readonly retry: () => void
}

/** All functions are stable. */
export interface FilingActions {
  readonly change: (id: string, change: Filing) => Promise<boolean>
  /** Archives a conversation; if it is open, opens a new one. */
  readonly archive: (id: string) => Promise<void>
  /** Restores the last archived conversation, and reopens it if it was open. */
  readonly undo: () => Promise<void>
  readonly exportAs: (id: string, title: string, format: 'md' | 'jsonl') => Promise<void>
  readonly forgetFailure: () => void
}

export interface FilingHandle {
  readonly list: SessionsHandle
  readonly actions: FilingActions
  readonly failure: FilingFailure | undefined
}

export function useFiling(client: Client, session: string, onSignedOut: () => void): FilingHandle {
  const list = useSessions(client)
  const [failed, setFailed] = useState<Omit<FilingFailure, 'error'> & { readonly error?: unknown }>()
  const open = useRef(session)
  open.current = session
  /** The archived conversation, if it was open. */
  const left = useRef<string>(undefined)
  const { file, unarchive } = list
  const change = useCallback(
    async (id: string, asked: Filing): Promise<boolean> => {
      setFailed(undefined)
      const isDone = await file(id, asked)
      const { title } = asked
      if (!isDone) setFailed({ retry: () => void change(id, asked), ...(title === undefined ? {} : { title }) })
      return isDone
    },
    [file],
  )
  const exportAs = useCallback(
    async (id: string, title: string, format: 'md' | 'jsonl'): Promise<void> => {
      setFailed(undefined)
      try {
        const { download } = await importLater()
        await download(client, id, title, format)
      } catch (error) {
        setFailed({ error, retry: () => void exportAs(id, title, format) })
      }
    },
    [client],
  )
  const actions = useMemo(
    () => ({
      change,
      exportAs,
      archive: async (id: string): Promise<void> => {
        if (!(await change(id, { archived: true }))) return
        left.current = undefined
        if (open.current !== id) return
        left.current = id
        go(chatRoute(newSession()))
      },
      undo: async (): Promise<void> => {
        if (!(await unarchive())) return setFailed({ retry: () => void actions.undo() })
        if (left.current !== undefined) go(chatRoute(left.current))
      },
      forgetFailure: () => setFailed(undefined),
    }),
    [change, exportAs, unarchive],
  )
  const { error } = list
  useEffect(() => {
    if (error instanceof RunsheetError && error.status === 401) onSignedOut()
  }, [error, onSignedOut])
  const reason = failed && (failed.error ?? error)
  return { list, actions, failure: failed && reason ? { ...failed, error: reason } : undefined }
}
