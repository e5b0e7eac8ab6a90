import { lazy, type ReactElement, type ReactNode, Suspense, useCallback, useLayoutEffect, useMemo, useRef } from 'react'
import type { Message, StepItem, Task, ThreadItem } from 'runsheet/client'
import {
  CutLine,
  FollowUps,
  type PlanCard,
  PlanContinued,
  PlanDecision,
  type Reopening,
  RunLine,
  type TasksHandle,
  ThreadStep,
  ToolUse,
  TurnResult,
  useRunsheet,
  useThread,
} from 'runsheet/react'
import './thread.css'
import { CopyButton } from './copy-button.tsx'
import { loadPart } from './load-part.ts'
import { beginningOf, Rest } from './long-text.tsx'
import type { PageStrings } from './page-strings.ts'
import type { Route } from './route.ts'
import { useShownMessage } from './use-shown-message.ts'

const Markdown = lazy(() => loadPart(() => import('./markdown.tsx')))

interface ThreadProps {
  /** A review whose end is told elsewhere on the page: unless it was decided, it has no card. */
  readonly toldElsewhere: string | undefined
  /** May name a message to scroll to. */
  readonly route: Route
  readonly strings: PageStrings
  readonly plan: TasksHandle
  /** The newest plan, if it can be opened again from its card. */
  readonly reopening: Reopening | undefined
  /** What the latest turn has left, or its request, is tried again. Without it, it cannot be now. */
  readonly onRetry: ((turn: string) => void) | undefined
  /** It is on the page, or the rest of a long text is. */
  readonly onShown: () => void
}

/** The conversation, turn by turn: what was asked, what was decided, the work by step, and how it ended. */
export default function Thread(props: ThreadProps): ReactElement {
  const { toldElsewhere, route, strings, plan, reopening, onRetry, onShown } = props
  const { view } = useRunsheet()
  const { text, conversation } = view.state
  const thread = useThread()
  useLayoutEffect(onShown, [onShown])
  useShownMessage(route)
  const tasks = useMemo(() => new Map(plan.tasks.map(task => [task.id, task])), [plan.tasks])
  const actions = useRef(plan)
  actions.current = plan
  const accept = useCallback((task: Task): void => void actions.current.accept(task), [])
  const reopen = useCallback((task: Task): void => void actions.current.reopen(task), [])
  const written = useCallback(
    (said: Message): ReactNode => (
      <div key={said.message_id} data-message={said.message_id} tabIndex={-1}>
        {said.text !== '' && <Said text={said.text} strings={strings} onGrown={onShown} />}
        <CutLine of={said} />
      </div>
    ),
    [strings, onShown],
  )
  const outcome = useCallback((text: string): ReactNode => <Said text={text} strings={strings} />, [strings])
  return (
    <>
      {thread.map((turn, index) => {
        const isLast = index === thread.length - 1
        const goesOn = isLast && turn.end === undefined
        const current = goesOn ? currentStep(turn.items) : undefined
        const live = goesOn && text !== null ? <Said text={text.text} strings={strings} isStreaming /> : undefined
        return (
          <section key={turn.turn_id} className="app-thread-turn">
            {turn.items.map((item, place) => {
              if (item.kind === 'plan' && item.card.review_id === toldElsewhere && !isDecided(item.card)) return null
              if (item.kind !== 'step') {
                return (
                  <Item
                    key={keyOf(item)}
                    of={item}
                    strings={strings}
                    isRunning={goesOn && place === turn.items.length - 1}
                    reopening={reopening}
                    text={written}
                  />
                )
              }
              const { step } = item
              const task = tasks.get(step.task_id) ?? conversation.tasks[step.task_id]
              const isTaskTold = step.status === 'completed' && step.taken_up !== 'task'
              // One of a plan that is not in view any more can only be looked at.
              const canChange = tasks.has(step.task_id)
              return (
                <ThreadStep
                  key={step.task_id}
                  step={step}
                  task={canChange ? task : undefined}
                  standing={task && isTaskTold ? plan.proof.standingOf(task) : undefined}
                  isCurrent={step.task_id === current}
                  startsOpen={hasMessage(step.items, route.message)}
                  isRunning={step.task_id === current && plan.elapsedMs !== undefined}
                  live={step.task_id === current ? live : undefined}
                  renderText={written}
                  renderOutcome={outcome}
                  onAccept={accept}
                  onReopen={reopen}
                />
              )
            })}
            {current === undefined && live && (
              <article className="app-message app-message-assistant" aria-label={strings.assistant}>
                {live}
              </article>
            )}
            <TurnResult turn={turn} {...(onRetry && isLast ? { onRetry } : {})} />
          </section>
        )
      })}
    </>
  )
}

interface ItemProps {
  readonly of: Exclude<ThreadItem, { readonly kind: 'step' }>
  readonly strings: PageStrings
  readonly isRunning: boolean
  readonly reopening: Reopening | undefined
  readonly text: (message: Message) => ReactNode
}

function Item({ of, strings, isRunning, reopening, text }: ItemProps): ReactElement {
  switch (of.kind) {
    case 'plan':
      return (
        <PlanDecision card={of.card} reopening={reopening?.reviewId === of.card.review_id ? reopening : undefined} />
      )
    case 'follow_ups':
      return <FollowUps of={of} renderText={text} />
    case 'run':
      return <RunLine of={of.run} isWhole />
    case 'message': {
      const { message, calls, decided } = of
      if (decided) return <PlanContinued outcome={decided} />
      const isUser = message.role === 'user'
      const isAnswer = !message.tool_calls?.length
      return (
        <article
          className={`app-message app-message-${message.role}`}
          aria-label={isUser ? strings.you : strings.assistant}
          {...(isUser ? { 'data-message': message.message_id, tabIndex: -1 } : {})}
        >
          {isUser ? <Asked text={message.text} strings={strings} /> : text(message)}
          {calls.map(call => (
            <ToolUse key={call.tool_call_id} call={call} isRunning={isRunning} />
          ))}
          {!isUser && message.text !== '' && isAnswer && <CopyButton text={message.text} strings={strings} />}
        </article>
      )
    }
  }
}

interface SaidProps {
  readonly text: string
  readonly strings: PageStrings
  readonly isStreaming?: boolean
  readonly onGrown?: () => void
}

/** What a person asked for. */
function Asked({ text, strings }: Pick<SaidProps, 'text' | 'strings'>): ReactElement {
  const { beginning, rest } = beginningOf(text)
  return (
    <>
      <p className="app-plain" dir="auto">
        {beginning}
      </p>
      <Rest text={rest} showRest={strings.showRest} />
    </>
  )
}

/** What the agent wrote. */
function Said({ strings, ...said }: SaidProps): ReactElement {
  return (
    <Suspense fallback={<p className="app-plain">{beginningOf(said.text).beginning}</p>}>
      <Markdown {...said} showRest={strings.showRest} />
    </Suspense>
  )
}

/** Whether a person decided it. */
const isDecided = ({ outcome }: PlanCard): boolean =>
  outcome === 'approved' || outcome === 'rejected' || outcome === 'changes_requested'

/** The step that is worked on in a turn that goes on. */
const currentStep = (items: readonly ThreadItem[]): string | undefined =>
  items.flatMap(item => (item.kind === 'step' && item.step.status === 'in_progress' ? item.step.task_id : [])).at(-1)

const hasMessage = (items: readonly StepItem[], id: string | undefined): boolean =>
  items.some(item => item.kind === 'text' && item.message.message_id === id)

function keyOf(item: ItemProps['of']): string {
  switch (item.kind) {
    case 'message':
      return item.message.message_id
    case 'plan':
      return item.card.review_id
    case 'run':
      return item.run.run_id
    case 'follow_ups':
      return item.kind
  }
}
