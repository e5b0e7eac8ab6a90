import { Button, errorText, localeOf } from 'runsheet/react'
import { type ReactElement, useCallback, useEffect, useId, useState } from 'react'
import type { Client, SearchAnswer, SearchResult } from 'runsheet/client'
import { chatRoute, go, historyRoute, messageRoute, type Route, urlOf } from '../route.ts'
import { isPlain } from '../controls.tsx'
import { useClient } from '../auth.ts'
import { useLaterStrings } from '../texts/english-later.ts'
import { type PageStrings, usePageStrings } from '../texts/strings.ts'

/** The server's limit. */
const MAX_RESULTS = 50
const KINDS = ['conversation', 'task', 'message'] as const

interface SearchResultsProps {
  readonly query: string
}

export function SearchResults({ query }: SearchResultsProps): ReactElement {
  const client = useClient()
  const strings = usePageStrings()
  const search = useSearch(client, query, MAX_RESULTS)
  const { answer, problem, isSearching, retry } = search
  const words = useLaterStrings().filing
  const results = answer?.results ?? []
  return (
    <section className="app-sessions app-results" aria-label={strings.search} aria-busy={isSearching}>
      {problem !== undefined && (
        <div role="alert">
          <p>{errorText(strings.panels, problem)}</p>
          <Button onClick={retry}>{strings.retry}</Button>
        </div>
      )}
      <p className="app-quiet" role="status">
        {!answer && isSearching && problem === undefined && words.searching}
        {answer && results.length === 0 && (
          <>
            {words.noResults(search.query)}
            <small>{words.noResultsHint}</small>
          </>
        )}
        {answer?.indexing && <small>{words.indexing}</small>}
      </p>
      {KINDS.map(kind => (
        <Kind key={kind} heading={words.kinds[kind]} results={results.filter(each => each.kind === kind)} />
      ))}
    </section>
  )
}

interface KindProps {
  readonly heading: string
  readonly results: readonly SearchResult[]
}

function Kind({ heading, results }: KindProps): ReactElement | null {
  const strings = usePageStrings()
  const id = useId()
  if (results.length === 0) return null
  return (
    <>
      <h2 id={id} className="app-found">
        {heading}
      </h2>
      <ul aria-labelledby={id}>
        {results.map(result => (
          <li key={keyOf(result)}>
            <a href={urlOf(routeOf(result))} onClick={event => isPlain(event) && go(routeOf(result))}>
              <span className="app-result">
                <Marked parts={partsOf(result)} />
              </span>
              {result.kind === 'task' && result.excerpt.length > 0 && (
                <small className="app-result">
                  <Marked parts={result.excerpt} />
                </small>
              )}
              <small>{aboutResult(result, strings)}</small>
            </a>
          </li>
        ))}
      </ul>
    </>
  )
}

type Parts = Extract<SearchResult, { readonly kind: 'task' }>['title']

export function Marked({ parts }: { readonly parts: Parts }): ReactElement {
  return (
    <span dir="auto">
      {parts.map(({ text, match = false }, index) => (match ? <mark key={index}>{text}</mark> : text))}
    </span>
  )
}

export function routeOf(result: SearchResult): Route {
  switch (result.kind) {
    case 'conversation':
      return chatRoute(result.session_id)
    case 'task':
      return historyRoute(result.session_id, result.task_id)
    case 'message':
      return messageRoute(result.session_id, result.message_id)
  }
}

export const keyOf = (result: SearchResult): string =>
  `${result.kind} ${result.session_id} ${'task_id' in result ? result.task_id : 'message_id' in result ? result.message_id : ''}`

export const partsOf = (result: SearchResult): Parts => (result.kind === 'message' ? result.excerpt : result.title)

export function aboutResult(result: SearchResult, strings: PageStrings): string {
  const day = new Date(result.created_at).toLocaleDateString(localeOf(strings.panels), { dateStyle: 'medium' })
  const where = result.session_title ?? strings.untitled
  switch (result.kind) {
    case 'conversation':
      return day
    case 'task':
      return `${strings.panels.status[result.status]} · ${where}`
    case 'message':
      return `${result.role === 'user' ? strings.you : strings.assistant} · ${where} · ${day}`
  }
}

const DEBOUNCE_MS = 150

interface Search {
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
