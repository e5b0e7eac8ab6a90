import {
  Button,
  type ConversationView,
  type Reopening,
  type TasksHandle,
  type ThreadTurn,
  useThread,
} from 'runsheet/react'
import { ArrowDown } from 'lucide-react'
import {
  type ReactElement,
  type RefObject,
  startTransition,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import type { Task } from 'runsheet/client'
import type { Route } from '../route.ts'
import { type Scene, Turn } from './thread-turn.tsx'
import { useStickToEnd } from './stick-to-end.ts'
import { type PageStrings, usePageStrings } from '../texts/strings.ts'
import { useLaterStrings } from '../texts/english-later.ts'
import './thread.css'

export interface ThreadProps {
  /** A review whose result is shown elsewhere on the page: it has a card only if it was decided. */
  readonly toldElsewhere: string | undefined
  /** Scrolls to the message it names, otherwise to the newest. */
  readonly route: Route
  readonly view: ConversationView
  readonly plan: TasksHandle
  readonly scroller: RefObject<HTMLDivElement | null>
  readonly covered: number
  /** A message that starts a turn, until the log has it. */
  readonly outgoing: string | undefined
  readonly isStopping: boolean
  /** The pending review is rejected, and the rejection can still be undone. */
  readonly isRejected: boolean
  /** Resends a message as edited; undefined if that is not possible now. */
  readonly onResend: ((message: string) => void) | undefined
  /** Retries the latest turn's open tasks, or its request; undefined if that is not possible now. */
  readonly onRetry: ((turn: string) => void) | undefined
  /** The newest plan, if its card can reopen it. */
  readonly reopening: Reopening | undefined
}

export default function Thread(props: ThreadProps): ReactElement {
  const strings = usePageStrings()
  const { toldElsewhere, route, view, plan, scroller, covered, outgoing, isStopping, isRejected, reopening } = props
  const { text, conversation, messages } = view.state
  const words = useLaterStrings().conversation
  const thread = useSameTurns(useThread())
  const first = useFirstShown(thread.length)
  const content = useRef<HTMLDivElement>(null)
  const newest = `${messages.length} ${text?.message_id}`
  const isMessage = route.message !== undefined
  const end = useStickToEnd(scroller, content, { covered, outgoing, newest, beginsAtEnd: !isMessage })
  useShownMessage(route)
  const latest = useRef(props)
  latest.current = props
  const canRetry = props.onRetry !== undefined
  // Each render creates a new array, so compare the visible values.
  const tasks = useSame(new Map(plan.tasks.map(task => [task.id, task])), plan.tasks.map(seenOf).join())
  // Keep the scene stable: a new one renders every turn. Everything else is read from refs on demand.
  const scene = useMemo<Scene>(
    () => ({
      toldElsewhere,
      message: route.message,
      tasks,
      state: () => latest.current.view.state,
      standingOf: task => latest.current.plan.proof.standingOf(task),
      onAccept: task => void latest.current.plan.accept(task),
      onReopen: task => void latest.current.plan.reopen(task),
      onResend: message => latest.current.onResend?.(message),
    }),
    [toldElsewhere, route.message, tasks],
  )
  const retry = useCallback((turn: string): void => latest.current.onRetry?.(turn), [])
  const hasTurns = thread.length > 0
  const isWaiting = conversation.pending_reviews.length > 0
  return (
    <>
      {hasTurns && messages.length === 0 && outgoing === undefined && (
        <p className="app-quiet app-other-agent">
          {isWaiting
            ? isRejected
              ? ''
              : strings.waitingForYou
            : plan.elapsedMs === undefined
              ? words.otherAgentIdle
              : words.otherAgentWorks}
        </p>
      )}
      <div className={`app-messages${props.onResend ? '' : ' app-no-resend'}`} ref={content}>
        {thread.slice(first).map((turn, index, shown) => {
          const isLast = index === shown.length - 1
          const hasCard = turn.items.some(item => item.kind === 'plan' && item.card.review_id === reopening?.reviewId)
          return (
            <Turn
              key={turn.turn_id}
              turn={turn}
              scene={scene}
              isLast={isLast}
              isAtWork={isLast && plan.elapsedMs !== undefined}
              live={isLast ? text?.text : undefined}
              reopening={hasCard && outgoing === undefined ? reopening : undefined}
              onRetry={isLast && canRetry ? retry : undefined}
            />
          )
        })}
        {outgoing !== undefined && (
          <article className="app-message app-message-user app-message-outgoing" aria-label={strings.you}>
            <p className="app-plain" dir="auto">
              {outgoing}
            </p>
          </article>
        )}
        {/* Animate only what runs. */}
        <p className={`app-quiet app-working${isWaiting ? ' app-waits' : ''}`} role="status">
          {outgoing === undefined
            ? isStopping
              ? strings.stopping
              : progressText(view.state, strings, isRejected)
            : strings.panels.sending}
        </p>
      </div>
      {end.isAway && (
        <div className="app-latest">
          <Button onClick={end.go}>
            <ArrowDown size={16} aria-hidden="true" />
            {end.hasNew ? words.newBelow : words.toLatest}
          </Button>
          <span className="rs-sr" role="status">
            {end.hasNew ? words.newBelow : ''}
          </span>
        </div>
      )}
    </>
  )
}

function progressText(
  { conversation, text }: ConversationView['state'],
  strings: PageStrings,
  isRejected: boolean,
): string {
  if (conversation.running_turn === null || text !== null || isRejected) return ''
  // The approval's card shows what it waits for.
  if (conversation.approvals.length > 0) return ''
  return conversation.pending_reviews.length > 0 ? strings.waitingForYou : strings.working
}

const seenOf = ({ id, version, status, title, outcome }: Task): string =>
  JSON.stringify([id, version, status, title, outcome])

/** Turns in the first render, and added per step. */
const SHOWN_AT_ONCE = 15
const SHOWN_PER_STEP = 5

/** Index of the first turn to render. A long conversation starts with the newest and adds earlier ones in steps. */
function useFirstShown(turns: number): number {
  const [first, setFirst] = useState(Math.max(0, turns - SHOWN_AT_ONCE))
  useEffect(() => {
    if (first === 0) return
    // Between two frames, so that typing and scrolling stay responsive.
    const timer = setTimeout(() => startTransition(() => setFirst(Math.max(0, first - SHOWN_PER_STEP))), 16)
    return () => clearTimeout(timer)
  }, [first])
  return first
}

/** Keeps a value's identity while its key is the same. */
function useSame<T>(value: T, key: string): T {
  const kept = useRef({ value, key })
  useLayoutEffect(() => {
    if (kept.current.key !== key) kept.current = { value, key }
  })
  return kept.current.key === key ? kept.current.value : value
}

/** Reuses the object of each unchanged turn, so that a change in one turn does not render the others. */
function useSameTurns(thread: readonly ThreadTurn[]): readonly ThreadTurn[] {
  const before = useRef<ReadonlyMap<string, { readonly turn: ThreadTurn; readonly form: string }>>(new Map())
  const known = useMemo(
    () =>
      new Map(
        thread.map(turn => {
          const form = JSON.stringify(turn)
          const old = before.current.get(turn.turn_id)
          return [turn.turn_id, old?.form === form ? old : { turn, form }]
        }),
      ),
    [thread],
  )
  useLayoutEffect(() => {
    before.current = known
  }, [known])
  return useMemo(() => [...known.values()].map(({ turn }) => turn), [known])
}

/** Scrolls to the route's message once it is rendered, and highlights it briefly. */
function useShownMessage(route: Route): void {
  const shown = useRef<Route>(undefined)
  // Runs on every render because the message may load later.
  useEffect(() => {
    if (route.message === undefined || shown.current === route) return
    const element = document.querySelector<HTMLElement>(`[data-message="${CSS.escape(route.message)}"]`)
    if (!element) return
    shown.current = route
    element.closest('details')?.setAttribute('open', '')
    element.scrollIntoView({ block: 'center' })
    element.focus({ preventScroll: true })
    element.dataset['found'] = ''
    element.addEventListener('animationend', () => delete element.dataset['found'], { once: true })
  })
}
