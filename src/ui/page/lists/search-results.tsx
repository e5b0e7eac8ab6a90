import { type ReactElement, useId } from 'react'
import type { Client, SearchResult } from 'runsheet/client'
import { errorText } from 'runsheet/react'
import { aboutResult, keyOf, Marked, partsOf, routeOf } from './found.tsx'
import type { PageStrings } from '../texts/page-strings.ts'
import { type Route, urlOf } from '../parts/route.ts'
import { isPlain } from './session-link.tsx'
import { useSearch } from './use-search.ts'
import { filingStrings } from '../texts/english-filing.ts'

/** The server's limit. */
const MAX_RESULTS = 50
const KINDS = ['conversation', 'task', 'message'] as const

interface SearchResultsProps {
  readonly client: Client
  readonly strings: PageStrings
  readonly query: string
  readonly onGo: (route: Route) => void
}

export function SearchResults({ client, strings, query, onGo }: SearchResultsProps): ReactElement {
  const search = useSearch(client, query, MAX_RESULTS)
  const { answer, problem, isSearching, retry } = search
  const words = filingStrings(strings)
  const results = answer?.results ?? []
  return (
    <section className="app-sessions app-results" aria-label={strings.search} aria-busy={isSearching}>
      {problem !== undefined && (
        <div role="alert">
          <p>{errorText(strings.panels, problem)}</p>
          <button type="button" className="rs-button" onClick={retry}>
            {strings.retry}
          </button>
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
        <Kind
          key={kind}
          heading={words.kinds[kind]}
          results={results.filter(each => each.kind === kind)}
          strings={strings}
          onGo={onGo}
        />
      ))}
    </section>
  )
}

interface KindProps {
  readonly heading: string
  readonly results: readonly SearchResult[]
  readonly strings: PageStrings
  readonly onGo: (route: Route) => void
}

function Kind({ heading, results, strings, onGo }: KindProps): ReactElement | null {
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
            <a href={urlOf(routeOf(result))} onClick={event => isPlain(event) && onGo(routeOf(result))}>
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
