import { memo, type ReactElement, type ReactNode, useMemo } from 'react'
import type { LiveState, Message, Standing, StepItem, Task, ThreadItem, ThreadTurn } from 'runsheet/client'
import {
  ApprovalCards,
  CutLine,
  durationText,
  FollowUps,
  localeOf,
  type PlanCard,
  PlanContinued,
  PlanDecision,
  type Reopening,
  RunLine,
  ThreadStep,
  ToolUse,
  TurnResult,
} from 'runsheet/react'
import { Asked, MessageFoot } from './message.tsx'
import { Said } from './said.tsx'
import { ToolServersDown } from '../chat/notices.tsx'
import { openSettings } from '../route.ts'
import { usePageStrings } from '../texts/strings.ts'
import { useLaterStrings } from '../texts/english-later.ts'

export interface Scene {
  readonly toldElsewhere: string | undefined
  /** The id of the message to scroll to. */
  readonly message: string | undefined
  /** Tasks of the current plan, which can be changed. */
  readonly tasks: ReadonlyMap<string, Task>
  /** Reads the latest state without rendering again when it changes. */
  readonly state: () => LiveState
  readonly standingOf: (task: Task) => Standing | undefined
  readonly onAccept: (task: Task) => void
  readonly onReopen: (task: Task) => void
  readonly onResend: (message: string) => void
}

interface TurnProps {
  readonly turn: ThreadTurn
  readonly scene: Scene
  readonly isLast: boolean
  readonly isAtWork: boolean
  readonly live: string | undefined
  readonly reopening: Reopening | undefined
  readonly onRetry: ((turn: string) => void) | undefined
}

export const Turn = memo(function Turn(props: TurnProps): ReactElement {
  const { turn, scene, isLast, isAtWork, reopening, onRetry } = props
  const strings = usePageStrings()
  const { toldElsewhere, tasks, state, standingOf, onAccept, onReopen } = scene
  const goesOn = isLast && turn.end === undefined
  const current = goesOn ? currentStep(turn.items) : undefined
  const live = goesOn && props.live !== undefined ? <Said text={props.live} isStreaming /> : undefined
  const written = useMemo(
    () =>
      (message: Message): ReactNode => (
        <div key={message.message_id} data-message={message.message_id} tabIndex={-1}>
          {message.text !== '' && <Said text={message.text} />}
          <CutLine of={message} />
        </div>
      ),
    [strings],
  )
  const outcome = useMemo(
    () =>
      (text: string): ReactNode => <Said text={text} />,
    [strings],
  )
  // A successful turn can be repeated; other turns show their own actions.
  const again = onRetry && turn.end?.status === 'done' ? () => onRetry(turn.turn_id) : undefined
  return (
    <section className="app-thread-turn">
      {turn.items.map((item, place) => {
        if (item.kind === 'plan' && item.card.review_id === toldElsewhere && !isDecided(item.card)) return null
        if (item.kind !== 'step') {
          return (
            <Item
              key={keyOf(item)}
              of={item}
              scene={scene}
              isRunning={goesOn && place === turn.items.length - 1}
              reopening={reopening}
              text={written}
              onAgain={place === turn.items.length - 1 ? again : undefined}
            />
          )
        }
        const { step } = item
        const task = tasks.get(step.task_id) ?? state().conversation.tasks[step.task_id]
        const isTaskTold = step.status === 'completed' && step.taken_up !== 'task'
        // Steps of earlier plans are read-only.
        const canChange = tasks.has(step.task_id)
        return (
          <ThreadStep
            key={step.task_id}
            step={step}
            task={canChange ? task : undefined}
            standing={task && isTaskTold ? standingOf(task) : undefined}
            isCurrent={step.task_id === current}
            startsOpen={hasMessage(step.items, scene.message)}
            isRunning={step.task_id === current && isAtWork}
            live={step.task_id === current ? live : undefined}
            renderText={written}
            renderOutcome={outcome}
            onAccept={onAccept}
            onReopen={onReopen}
          />
        )
      })}
      {current === undefined && live && (
        <article className="app-message app-message-assistant" aria-label={strings.assistant}>
          {live}
        </article>
      )}
      {isLast && <ToolServersDown turn={turn} />}
      <TurnResult turn={turn} {...(isLast ? { onSettings: openSettings } : {})} {...(onRetry ? { onRetry } : {})} />
      {turn.end && <TurnFigures turn={turn.turn_id} state={state()} />}
      {isLast && <ApprovalCards turn={turn.turn_id} />}
    </section>
  )
})

interface ItemProps {
  readonly of: Exclude<ThreadItem, { readonly kind: 'step' }>
  readonly scene: Scene
  readonly isRunning: boolean
  readonly reopening: Reopening | undefined
  readonly text: (message: Message) => ReactNode
  readonly onAgain: (() => void) | undefined
}

function Item({ of, scene, isRunning, reopening, text, onAgain }: ItemProps): ReactElement {
  const strings = usePageStrings()
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
      if (message.role === 'user') return <Asked message={message} scene={scene} />
      const isAnswer = message.text !== '' && !message.tool_calls?.length
      return (
        // Focusable, so that a tap reveals its actions.
        <article className="app-message app-message-assistant" aria-label={strings.assistant} tabIndex={-1}>
          {text(message)}
          {calls.map(call => (
            <ToolUse key={call.tool_call_id} call={call} isRunning={isRunning} />
          ))}
          {isAnswer && <MessageFoot message={message} onAgain={onAgain} />}
        </article>
      )
    }
  }
}

const isDecided = ({ outcome }: PlanCard): boolean =>
  outcome === 'approved' || outcome === 'rejected' || outcome === 'changes_requested'

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

interface TurnFiguresProps {
  readonly turn: string
  readonly state: LiveState
}

/** Only for turns that Runsheet drove and that did not fail. */
function TurnFigures({ turn, state }: TurnFiguresProps): ReactElement | null {
  const strings = usePageStrings()
  const { model, status } = state.conversation.turns[turn] ?? {}
  if (model === undefined || status === 'failed') return null
  const words = useLaterStrings().conversation
  const count = (tokens: number): string => tokens.toLocaleString(localeOf(strings.panels))
  const worked = (state.work[turn]?.spans ?? []).reduce((ms, { from, to }) => ms + Date.parse(to) - Date.parse(from), 0)
  const usage = state.thread[turn]?.findLast(mark => mark.kind === 'end')?.usage
  // Do not add up other token counts of the provider.
  const input = Number(usage?.['input_tokens'] ?? 0)
  const output = Number(usage?.['output_tokens'] ?? 0)
  // The demo model counts words.
  const hasTokens = input + output > 0 && model !== 'demo'
  return (
    <p className="app-figures">
      {durationText(worked, strings.panels)}
      {hasTokens && (
        <span title={words.tokensInOut(count(input), count(output))}>
          {' · '}
          {words.tokens(count(input + output))}
        </span>
      )}
    </p>
  )
}
