import { useCallback, useEffect, useState } from 'react'
import type { Client, SearchAnswer } from 'runsheet/client'

const DEBOUNCE_MS = 150

export interface Search {
  /** The newest answer; kept while the next one loads. */
  readonly answer: SearchAnswer | undefined
  /** The query that `answer` belongs to. */
  readonly query: string
  readonly problem: unknown
  readonly isSearching: boolean
  readonly retry: () => void
}

export function useSearch(client: Client, query: string, limit: number): Search {
  const [found, setFound] = useState<Pick<Search, 'answer' | 'query' | 'problem'>>({
    answer: undefined,
    query: '',
    problem: undefined,
  })
  const [tries, setTries] = useState(0)
  useEffect(() => {
    if (query === '') return setFound({ answer: undefined, query, problem: undefined })
    const leave = new AbortController()
    const timer = setTimeout(() => {
      client.find(query, { limit }, leave.signal).then(
        answer => leave.signal.aborted || setFound({ answer, query, problem: undefined }),
        (problem: unknown) => leave.signal.aborted || setFound({ answer: undefined, query, problem }),
      )
    }, DEBOUNCE_MS)
    return () => {
      clearTimeout(timer)
      leave.abort()
    }
  }, [client, query, limit, tries])
  const retry = useCallback(() => setTries(count => count + 1), [])
  return { ...found, isSearching: found.query !== query, retry }
}
