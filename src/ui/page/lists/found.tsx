import type { ReactElement } from 'react'
import type { SearchResult } from 'runsheet/client'
import { localeOf } from 'runsheet/react'
import type { PageStrings } from '../texts/page-strings.ts'
import { chatRoute, historyRoute, messageRoute, type Route } from '../parts/route.ts'

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
