import { createElement, type ReactNode } from 'react'
import { renderToString } from 'react-dom/server'
import { prerender } from 'react-dom/static'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { START, cancels, inRun, underReview, type Driver } from '../../../test/support/domain.ts'
import { CORPUS, corpusLog } from '../../../test/support/corpus.ts'
import { threadIn } from '../../../test/support/thread.ts'
import { createClient, type Client } from '../../client/client.ts'
import { liveState } from '../../client/live.ts'
import type { Cut } from '../../core/model/event.ts'
import type { TaskStatus } from '../../core/model/task.ts'
import type { StepItem, TurnEnd } from '../../core/views/thread.ts'
import * as domain from '../../core/views/view.ts'
import { newRow } from './review/draft.ts'
import {
  CutLine,
  FollowUps,
  PlanDecision,
  ReviewPanel,
  RunLine,
  RunsheetProvider,
  ThreadStep,
  Timeline,
  TodosPanel,
  ToolUse,
  TurnResult,
  useReview,
  useRunsheet,
  useTasks,
  type ConversationView,
  type PlanDecisionProps,
} from './index.ts'

const warnings = vi.spyOn(console, 'error')
beforeEach(() => {
  warnings.mockClear()
})
afterEach(() => {
  vi.unstubAllGlobals()
  expect(warnings).not.toHaveBeenCalled()
})

const view = ({ state, log }: Driver): ConversationView => ({
  state: liveState(
    { conversation: state, view: domain.view.of(log) },
    { status: 'live', text: null, output: null, error: null },
  ),
  onEvent: () => () => {},
  retry: () => {},
})

const client = (now: number): Client => ({ ...createClient({ url: 'http://127.0.0.1:1' }), now: () => now })

/** What a browser has and a server has not: a saved draft, a dismissed review, another clock and another language. */
function becomeBrowser(): void {
  const saved = JSON.stringify({ rows: [newRow({ title: 'Edited' })], comment: 'Hi', proposed: [] })
  const storage = {
    getItem: (key: string) => (key.startsWith('runsheet.review.') ? saved : 'review-1'),
    setItem: () => {},
    removeItem: () => {},
  }
  vi.stubGlobal('localStorage', storage)
  vi.stubGlobal('sessionStorage', storage)
  vi.stubGlobal('navigator', { languages: ['zh-CN'], language: 'zh-CN' })
}

/**
 * Hydration compares the server's HTML with the browser's first render. Both are `renderToString` here: it runs no
 * effects and takes server snapshots, as hydration does.
 */
function firstRenders(render: (client: Client) => ReactNode): { server: string; browser: string } {
  const server = renderToString(render(client(0)))
  becomeBrowser()
  return { server, browser: renderToString(render(client(9e12))) }
}

it('the plan renders on a server as in the first render of a browser', () => {
  const chat = inRun()
  chat.run(chat.adds('model', 'Tag', 'Build'))
  const { server, browser } = firstRenders(from => createElement(TodosPanel, { client: from, view: view(chat) }))
  expect(server).toContain('Tag')
  expect(browser).toBe(server)
})

/** The review is a part that is loaded on demand, for which a server waits. */
async function rendered(node: ReactNode): Promise<string> {
  const { prelude } = await prerender(node)
  return new Response(prelude).text()
}

it('the review renders on a server as in the first render of a browser', async () => {
  const chat = underReview('Tag', 'Build')
  const server = await rendered(createElement(ReviewPanel, { client: client(0), view: view(chat) }))
  becomeBrowser()
  const browser = await rendered(createElement(ReviewPanel, { client: client(9e12), view: view(chat) }))
  expect(server).toContain('Build')
  expect(browser).toBe(server)
})

it('the panel has a field for the comment, unless the page has one', async () => {
  const chat = underReview('Tag')
  const source = { client: client(0), view: view(chat) }
  const OfPage = (): ReactNode => {
    const commentField = { text: 'Mine', setText: () => {}, focus: () => {} }
    const handle = useReview({ ...source, commentField })
    return createElement(ReviewPanel, { ...source, handle })
  }
  expect(await rendered(createElement(ReviewPanel, source))).toContain('rs-comment-input')
  expect(await rendered(createElement(OfPage))).not.toContain('rs-comment-input')
})

it.each([true, false])('a review whose checks were left out says how to have them: %s', async unchecked => {
  const chat = inRun({ review: true })
  const adds = chat.adds('model', 'Tag')
  chat.run({ ...adds, ...(adds.review ? { review: { ...adds.review, unchecked } } : {}) })
  const page = await rendered(createElement(ReviewPanel, { client: client(0), view: view(chat) }))
  expect(page.includes('--workspace')).toBe(unchecked)
})

it('the outcome of a review waits for the browser, which knows whether it was closed', () => {
  const chat = inRun({ review: true, review_timeout_ms: 120_000 })
  chat.run(chat.adds('model', 'Tag'))
  chat.wait(200_000)
  chat.run({ type: 'expire_review', review_id: 'review-1' })
  const { server, browser } = firstRenders(from => createElement(ReviewPanel, { client: from, view: view(chat) }))
  expect(server).toBe('')
  expect(browser).toBe(server)
})

it('the parts of a thread render on a server as in the first render of a browser, without a provider', () => {
  for (const name of CORPUS) {
    const log = corpusLog(name)
    const parts = (from: Client) =>
      threadIn(log).flatMap((turn, place) => [
        ...turn.items.map((item, index) => {
          const key = `${place} ${index}`
          const source = { client: from, view: view(underReview('A')) }
          switch (item.kind) {
            case 'plan':
              return createElement(PlanDecision, { key, card: item.card })
            case 'step':
              return createElement(ThreadStep, { key, step: item.step, isCurrent: true })
            case 'follow_ups':
              return createElement(FollowUps, { key, of: item })
            case 'run':
              return createElement(RunLine, { key, of: item.run })
            case 'message':
              return item.calls.map(call => createElement(ToolUse, { key: call.tool_call_id, call, ...source }))
          }
        }),
        createElement(TurnResult, { key: turn.turn_id, turn, onRetry: () => {} }),
      ])
    const { server, browser } = firstRenders(from => createElement('div', {}, parts(from)))
    expect(server.length).toBeGreaterThan(100)
    expect(browser).toBe(server)
    vi.unstubAllGlobals()
  }
})

it('a card counts the comments on steps, and offers Reopen where that is possible', () => {
  const chat = underReview('Tag', 'Build')
  const row_comments = [{ draft_index: 1, comment: 'Why?' }]
  chat.run({ ...cancels(), decision: { action: 'revise', comment: 'Shorter', row_comments } })
  const [card] = threadIn(chat.log).flatMap(({ items }) =>
    items.flatMap(item => (item.kind === 'plan' ? item.card : [])),
  )
  if (!card) throw new Error('no card')
  const shown = (more: Partial<PlanDecisionProps> = {}) =>
    renderToString(createElement(PlanDecision, { card, ...more }))
  expect(shown()).toContain('You asked for changes · 1 comment')
  expect(shown()).not.toContain('Reopen')
  const reopening = { reopen: async () => {}, isBusy: false, error: 'Not now.' }
  expect(shown({ reopening })).toMatch(/<button[^>]*>Reopen<.*Not now\./)
})

it('a failed check shows in a folded step, with Accept anyway, until the task is done', () => {
  const chat = inRun()
  chat.run(chat.adds('model', 'Tag'))
  const [task] = [...chat.state.tasks.values()]
  if (!task) throw new Error('no task')
  const ran = {
    run_id: 'r',
    check_id: 'c',
    hash: 'h',
    why: 'claim',
    duration_ms: 1_200,
    seq: 9,
    check: undefined,
  } as const
  const shown = (result: 'passed' | 'failed', status: TaskStatus): string => {
    const run = { ...ran, task_id: task.id, result, ...(result === 'failed' ? { exit: 1 } : {}) }
    const step = { task_id: task.id, number: 1, title: 'Tag', status, items: [{ kind: 'run', run } as const] }
    const act = { onAccept: () => {}, onReopen: () => {} }
    return renderToString(createElement(ThreadStep, { step, task: { ...task, status }, ...act }))
  }
  expect(shown('failed', 'in_progress')).toMatch(/a check.*failed · exit 1 · 1\.2 s.*Accept anyway/)
  expect(shown('failed', 'in_progress')).not.toContain('Reopen')
  expect(shown('failed', 'blocked')).toContain('Reopen')
  for (const settled of [shown('passed', 'in_progress'), shown('failed', 'completed')]) {
    expect(settled).not.toMatch(/exit 1|passed|Accept anyway/)
  }
})

it('the button that settles a step says what it does; what a later turn took up has none', () => {
  const chat = inRun()
  chat.run(chat.adds('model', 'Tag'))
  const [task] = [...chat.state.tasks.values()]
  if (!task) throw new Error('no task')
  const verdict = {
    kind: 'verdict',
    at: START,
    task_id: task.id,
    verdict: 'not_ok',
    reason: 'No.',
    model: 'm',
    seal: 's',
  } as const
  const words = (status: TaskStatus, items: readonly StepItem[], isLeft = false): string[] => {
    const left = isLeft ? { taken_up: 'plan' as const } : {}
    const step = { task_id: task.id, number: 1, title: 'Tag', status, outcome: '**Done**', items, ...left }
    const act = { onAccept: () => {}, onReopen: () => {}, isCurrent: true }
    const standing = status === 'completed' ? { standing: 'reported' as const } : {}
    const html = renderToString(createElement(ThreadStep, { step, task: { ...task, status }, ...standing, ...act }))
    if (status !== 'in_progress') expect(html).toMatch(/<p[^>]*>Done<\/p>/)
    return [...html.matchAll(/aria-label="([^"]*): Tag"/g)].map(([, word = '']) => word)
  }
  expect(words('blocked', [])).toEqual(['Mark as done', 'Reopen'])
  expect(words('blocked', [verdict])).toEqual(['Accept anyway', 'Reopen'])
  expect(words('in_progress', [verdict])).toEqual(['Accept anyway'])
  const said = { kind: 'call', call: { tool_call_id: 'c', tool: 'read', arguments: {} } } as const
  expect(words('completed', [said])).toEqual(['Confirm', 'Reopen'])
  expect(words('blocked', [verdict], true)).toEqual([])
})

it('Retry is offered where nothing else resumes a turn, and not once everything is done', () => {
  const shown = (status: TurnEnd['status'], left: TurnEnd['left'], done = 1): string => {
    const tally = {
      total: 2,
      done,
      blocked: left === 'blocked' ? 1 : 0,
      disputed: 0,
      open: left === 'open' ? 1 : 0,
      cancelled: 0,
      standings: undefined,
    }
    const turn = { turn_id: 't', items: [], tally, end: { at: START, status, left } }
    return renderToString(createElement(TurnResult, { turn, onRetry: () => {} }))
  }
  for (const status of ['stopped', 'incomplete'] as const) {
    expect(shown(status, 'open')).not.toContain('Retry')
    expect(shown(status, 'blocked')).toContain('Retry blocked')
    expect(shown(status, undefined)).toContain('Retry')
    expect(shown(status, undefined, 2)).not.toContain('Retry')
  }
})

it('an answer that was cut says so, with its size and why', () => {
  const message = {
    message_id: 'm',
    turn_id: 't',
    role: 'assistant',
    text: 'x'.repeat(12_345),
    created_at: START,
  } as const
  const shown = (cut?: Cut): string =>
    renderToString(createElement(CutLine, { of: cut === undefined ? message : { ...message, cut } }))
  expect(shown()).toBe('')
  expect(shown('too_long')).toContain('Cut off here, after 12,345 characters: an answer can have at most 1 MB.')
  expect(shown('output_limit')).toContain('the model reached its output limit')
  expect(shown('content_filter')).toContain('content filter')
})

it('every panel takes a class name', async () => {
  const chat = underReview('Tag')
  const given = { client: client(0), view: view(chat), className: 'mine' }
  const timeline = createElement(Timeline, { client: given.client, sessionId: 'chat-1', className: 'mine' })
  expect(await rendered(createElement(ReviewPanel, given))).toContain('class="rs-panel rs-review mine"')
  expect(renderToString(timeline)).toContain('class="rs-timeline mine"')
  chat.run(chat.confirms([{ draft_index: 0 }]))
  const plan = createElement(TodosPanel, { ...given, view: view(chat) })
  expect(renderToString(plan)).toContain('class="rs-panel rs-todos mine"')
})

it('a provider serves panels and hooks without props', () => {
  const Headless = (): string => {
    const { session } = useRunsheet()
    return `${session}: ${useTasks().counts.total} tasks, ${useReview().rows.length} rows`
  }
  const page = (from: Client) =>
    createElement(
      RunsheetProvider,
      { client: from, session: 'chat-1' },
      createElement(TodosPanel),
      createElement(ReviewPanel),
      createElement(Timeline),
      createElement(Headless),
    )
  const { server, browser } = firstRenders(page)
  expect(server).toContain('chat-1: 0 tasks, 0 rows')
  expect(browser).toBe(server)
})

it('a panel without a provider and without props says what to do', () => {
  expect(() => renderToString(createElement(TodosPanel))).toThrow('<RunsheetProvider>')
  expect(() => renderToString(createElement(Timeline))).toThrow('<RunsheetProvider>')
})

it('[PA11] a hook shows the proposal as rows to edit', () => {
  const chat = underReview('Tag', { title: 'Build', tags: ['ci', 'slow'] })
  const Headless = (): string => {
    const { rows, isEdited, problem, remainingMs } = useReview({ client: client(0), view: view(chat) })
    return JSON.stringify([rows.map(({ title, tags }) => `${title}/${tags}`), isEdited, problem, remainingMs])
  }
  expect(renderToString(createElement(Headless)).replaceAll('&quot;', '"')).toBe(
    '[["Tag/","Build/ci, slow"],false,null,null]',
  )
})
