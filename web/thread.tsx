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
import { type ConversationView, type Reopening, type TasksHandle, useThread } from 'runsheet/react'
import { conversationStrings } from './english-conversation.ts'
import './thread.css'
import type { PageStrings } from './page-strings.ts'
import type { Route } from './route.ts'
import { type Scene, Turn } from './thread-turn.tsx'
import { useSameTurns } from './use-same-turns.ts'
import { useShownMessage } from './use-shown-message.ts'
import { useStickToEnd } from './use-stick-to-end.ts'

export interface ThreadProps {
  /** A review whose end is told elsewhere on the page: unless it was decided, it has no card. */
  readonly toldElsewhere: string | undefined
  /** May name a message to go to; else it is the newest. */
  readonly route: Route
  readonly view: ConversationView
  readonly plan: TasksHandle
  readonly strings: PageStrings
  readonly scroller: RefObject<HTMLDivElement | null>
  /** Height in pixels of the panel that covers the end. */
  readonly covered: number
  /** The message being sent that starts a turn, before the log has it. */
  readonly outgoing: string | undefined
  readonly isStopping: boolean
  /** The review that waits is rejected, and that can still be undone. */
  readonly isRejected: boolean
  /** Sends a message of the person's again, as they edited it. Without it, it cannot be now. */
  readonly onResend: ((message: string) => void) | undefined
  /** Tries again what the latest turn has left, or its request. Without it, it cannot be now. */
  readonly onRetry: ((turn: string) => void) | undefined
  readonly onSettings: () => void
  /** The newest plan, if it can be opened again from its card. */
  readonly reopening: Reopening | undefined
}

/** The conversation, turn by turn: what was asked, what was decided, the work by step, and how it ended. */
export default function Thread(props: ThreadProps): ReactElement {
  const { toldElsewhere, route, view, plan, strings, scroller, covered, outgoing, isStopping, isRejected, reopening } =
    props
  const { text, conversation, messages } = view.state
  const words = conversationStrings(strings)
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
  // A new array with each render: what can be seen of it is compared.
  const tasks = useSame(new Map(plan.tasks.map(task => [task.id, task])), plan.tasks.map(seenOf).join())
  // As stable as it can be, since a change renders every turn: of the rest the newest is read when it is needed.
  const scene = useMemo<Scene>(
    () => ({
      strings,
      toldElsewhere,
      message: route.message,
      tasks,
      state: () => latest.current.view.state,
      standingOf: task => latest.current.plan.proof.standingOf(task),
      onAccept: task => void latest.current.plan.accept(task),
      onReopen: task => void latest.current.plan.reopen(task),
      onResend: message => latest.current.onResend?.(message),
      onSettings: () => latest.current.onSettings(),
    }),
    [strings, toldElsewhere, route.message, tasks],
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
        {/* Only what runs moves. */}
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
          <button type="button" className="rs-button" onClick={end.go}>
            <ArrowDown size={16} aria-hidden="true" />
            {end.hasNew ? words.newBelow : words.toLatest}
          </button>
          <span className="rs-sr" role="status">
            {end.hasNew ? words.newBelow : ''}
          </span>
        </div>
      )}
    </>
  )
}

/** What the conversation is waiting for, if anything. */
function progressText(
  { conversation, text }: ConversationView['state'],
  strings: PageStrings,
  isRejected: boolean,
): string {
  if (conversation.running_turn === null || text !== null || isRejected) return ''
  // Its card says what it waits for.
  if (conversation.approvals.length > 0) return ''
  return conversation.pending_reviews.length > 0 ? strings.waitingForYou : strings.working
}

const seenOf = ({ id, version, status, title, outcome }: Task): string =>
  JSON.stringify([id, version, status, title, outcome])

/** Turns that are shown at once, and then with each step. */
const SHOWN_AT_ONCE = 15
const SHOWN_PER_STEP = 5

/** The place of the first turn to show. In a long conversation the newest are shown at once, and those before bit by bit. */
function useFirstShown(turns: number): number {
  const [first, setFirst] = useState(Math.max(0, turns - SHOWN_AT_ONCE))
  useEffect(() => {
    if (first === 0) return
    // Between two frames, so that neither typing nor scrolling waits for it.
    const timer = setTimeout(() => startTransition(() => setFirst(Math.max(0, first - SHOWN_PER_STEP))), 16)
    return () => clearTimeout(timer)
  }, [first])
  return first
}

/** The value of an earlier render, as long as its key is the same. */
function useSame<T>(value: T, key: string): T {
  const kept = useRef({ value, key })
  useLayoutEffect(() => {
    if (kept.current.key !== key) kept.current = { value, key }
  })
  return kept.current.key === key ? kept.current.value : value
}
