import { errorText, IconButton, ReviewPanel, useReview, useRunsheet, useTasks } from 'runsheet/react'
import { History as HistoryIcon, PanelRight } from 'lucide-react'
import { memo, type ReactElement, type ReactNode, Suspense, useCallback, useEffect, useRef, useState } from 'react'
import {
  type ConversationSnapshot,
  isDisputed,
  listed,
  openTasks,
  startedBy,
  type Task,
  type ToolsetName,
} from 'runsheet/client'
import { useCommands } from '../commands.ts'
import { Composer } from './composer.tsx'
import { ConversationTitle } from '../lists/conversation-title.tsx'
import { DisplayToggles, MenuButton } from '../controls.tsx'
import { switchTheme } from '../storage.ts'
import { Messages } from '../thread/messages.tsx'
import { chatRoute, go, historyRoute, isNewSession, type Route, showTitle } from '../route.ts'
import { useHeight, usePlanBeside } from './layout.ts'
import type { FilingActions } from '../lists/filing.ts'
import { chosenPolicy, policiesNow, useModels, useToolsets } from './models.ts'
import { useSend, useTextOwner } from './use-send.ts'
import { part } from '../part.ts'
import { usePageStrings } from '../texts/strings.ts'

interface ChatProps {
  readonly route: Route
  readonly filing: FilingActions
  readonly isCovered: boolean
  readonly waiting: string
  readonly onMenu: () => void
  readonly onChanged: () => void
  /** Reports that nothing in this conversation waits for the person. */
  readonly onQuiet: (session: string | undefined) => void
  readonly onLanguage: () => void
  readonly onSignedOut: () => void
}

const CallOffer = part('CallOffer')
const DemoBanner = part('DemoBanner')
const History = part('History')
const Problem = part('Problem')
const Said = part('Said')
const Steering = part('Steering')
const TodosPanel = part('TodosPanel')
const ToolsetChoice = part('ToolsetChoice')
const ToolsLine = part('ToolsLine')

export const Chat = memo(function Chat(props: ChatProps): ReactElement {
  const strings = usePageStrings()

  const { route, filing, isCovered, waiting, onMenu, onChanged, onQuiet, onLanguage, onSignedOut } = props
  const { client, session, view } = useRunsheet()
  const { conversation, status, title, error } = view.state
  const [chosen, setChosen] = useState<{ toolset?: ToolsetName; model?: string }>({})
  const models = useModels(client)
  const toolsets = useToolsets(client)
  const policies = policiesNow(toolsets?.toolsets ?? [], conversation.policy)
  const toolset = chosen.toolset ?? conversation.policy?.toolset ?? toolsets?.default
  const policy = policies.find(each => each.toolset === toolset)
  const model = chosen.model ?? models.byDefault
  const { running_turn: running, archived, pinned } = conversation
  // The stop may have been requested in another window; the turn ends after its current step.
  const [stopping, setStopping] = useState<string>()
  const isStopping =
    running !== null && (stopping === running || (conversation.turns[running]?.stop_requested ?? false))
  // The server answered with an error, so the connection works.
  const hasAnswer = error !== null && error.status > 0 && (status === 'failed' || status === 'reconnecting')
  const panels = useRef<HTMLDivElement>(null)
  const covered = useHeight(panels)

  useEffect(() => {
    if (status === 'failed' && error?.status === 401) onSignedOut()
  }, [status, error, onSignedOut])
  const turnCount = Object.keys(conversation.turns).length
  const waitCount = conversation.pending_reviews.length + conversation.approvals.length + conversation.disputed.length
  useEffect(onChanged, [onChanged, title, turnCount, running, archived, pinned, waitCount])
  useEffect(() => {
    showTitle(title)
  }, [title])

  const { text, setText, outgoing, failure, setFailure, send, sendTyped } = useSend(client, session, view, {
    ...chosenPolicy(policies, conversation.policy, chosen.toolset),
    ...(chosen.model === undefined ? {} : { model: chosen.model }),
  })
  const box = useRef<HTMLTextAreaElement>(null)
  // Text that Enter did not send, until the text or the waiting review changes.
  const [unsent, setUnsent] = useState<string>()
  const owner = useTextOwner(session, text, conversation.reviews[conversation.pending_reviews[0] ?? ''])
  const askAgain = (): void => {
    owner.useForReview()
    setUnsent(text.trim())
  }
  // While a review waits, the message box is its only comment field.
  const review = useReview({
    commentField: {
      text,
      isApart: owner.isFromBefore,
      setText,
      focus: () => {
        box.current?.focus()
        if (owner.isFromBefore) askAgain()
      },
    },
  })
  // The conversation list may be stale and does not know about a rejection that can be undone.
  const isQuiet = conversation.seq > 0 && waitCount === (review.rejection ? 1 : 0)
  useEffect(() => {
    if (isQuiet) onQuiet(session)
    return () => onQuiet(undefined)
  }, [onQuiet, isQuiet, session])
  // Shown in the queue instead.
  const steered = outgoing?.start ? undefined : outgoing?.text
  const plan = useTasks()
  const beside = usePlanBeside()
  const toggleHistory = (): void => go(route.isHistory ? chatRoute(session) : historyRoute(session))
  useCommands({
    history: toggleHistory,
    plan_beside: beside.isPossible ? beside.toggle : undefined,
    theme: switchTheme,
    language: onLanguage,
  })
  const submit = (message: string): void => {
    if (owner.isFromBefore) return askAgain()
    if (review.rejection) void review.rejection.send()
    else if (review.review) void review.revise()
    else sendTyped(message)
  }
  const isRetrying = useRef(false)
  const latest = useRef(conversation)
  latest.current = conversation
  /** Reopens blocked tasks of a turn's plan and continues it. After a failure a retry reopens only the rest. */
  const continueBlocked = async (turn: string, message: string): Promise<void> => {
    if (isRetrying.current) return
    isRetrying.current = true
    try {
      for (const { id, version } of blockedIn(latest.current, turn)) {
        await client.changeTask(session, id, version, { status: 'pending' })
      }
      send(message, { continue_turn_id: turn })
    } catch (error) {
      setFailure({ error, retry: () => void continueBlocked(turn, message) })
    } finally {
      isRetrying.current = false
    }
  }
  /** Continues a turn's open tasks, or sends its message again if there are none. */
  const retryTurn = (turn: string): void => {
    const asked = view.state.messages.find(({ turn_id, role }) => turn_id === turn && role === 'user')?.text
    // A review decision started this turn with text that the person did not write.
    const message = startedBy(view.state.resolutions, turn) ? strings.continueMessage : asked
    if (message === undefined) return
    const isOpen = openTasks(conversation, turn).length > 0
    const isBlocked = blockedIn(conversation, turn).length > 0
    const asksAgain = isOpen && conversation.turns[turn]?.status === 'failed'
    if (isBlocked) void continueBlocked(turn, asksAgain ? message : strings.retryBlockedMessage)
    else send(message, isOpen ? { continue_turn_id: turn } : {})
  }
  const stop = async (): Promise<void> => {
    if (running === null) return
    setFailure(undefined)
    setStopping(running)
    try {
      // Stopping first would end the review without the rejection.
      if (review.rejection && !(await review.rejection.send())) return setStopping(undefined)
      await client.stop(session, running)
    } catch (error) {
      setStopping(undefined)
      setFailure({ error, retry: () => void stop() })
    }
  }
  const renderOutcome = useCallback(
    (outcome: string): ReactNode => (
      <Suspense fallback={outcome}>
        <Said text={outcome} />
      </Suspense>
    ),
    [strings],
  )
  const todos = (
    <Suspense>
      <TodosPanel
        handle={plan}
        isAlwaysOpen={beside.isOn}
        isEndTold={!route.isHistory}
        renderOutcome={renderOutcome}
        onContinue={turn => send(strings.continueMessage, { continue_turn_id: turn })}
      />
    </Suspense>
  )
  return (
    <main className={`app-main${beside.isOn && plan.tasks.length > 0 ? ' app-with-plan' : ''}`} inert={isCovered}>
      <header className="app-head">
        <MenuButton waiting={waiting} onMenu={onMenu} />
        <ConversationTitle actions={filing} />
        <IconButton
          label={strings.history}
          icon={HistoryIcon}
          size={18}
          aria-pressed={route.isHistory}
          onAct={toggleHistory}
        />
        {beside.isPossible && (
          <IconButton
            label={strings.planBeside}
            icon={PanelRight}
            size={18}
            aria-pressed={beside.isOn}
            onAct={beside.toggle}
          />
        )}
        <DisplayToggles onLanguage={onLanguage} />
      </header>
      <div className="app-body">
        <p className="app-notice" role="status">
          {status === 'reconnecting' && !hasAnswer ? strings.reconnecting : ''}
        </p>
        {hasAnswer && error.status !== 401 && <Failed error={error} />}
        {model === 'demo' && (
          <Suspense>
            <DemoBanner hasSandbox={models.hasSandbox(model)} />
          </Suspense>
        )}
        {route.isHistory ? (
          <Suspense fallback={<p className="app-quiet">{strings.loading}</p>}>
            <History task={route.task} covered={covered} />
          </Suspense>
        ) : (
          <Messages
            toldElsewhere={review.outcome?.review.review_id}
            route={route}
            view={view}
            plan={plan}
            covered={covered}
            outgoing={steered === undefined ? outgoing?.text : undefined}
            isStopping={isStopping}
            isRejected={review.rejection !== undefined}
            hasSandbox={models.hasSandbox(model)}
            policy={policy}
            // The panel offers reopening until it is closed.
            reopening={review.outcome?.reopen ? undefined : review.reopening}
            onExample={sendTyped}
            onResend={outgoing || review.review ? undefined : sendTyped}
            onRetry={outgoing || running !== null ? undefined : retryTurn}
          />
        )}
        <div className="app-panels" ref={panels}>
          {failure && <Failed error={failure.error} onRetry={failure.retry} />}
          {review.review && !review.isBusy && unsent && unsent === text.trim() && !owner.isFromBefore && (
            <p className="app-alert app-unsent" role="status">
              {strings.enterAgain}
            </p>
          )}
          {!beside.isOn && conversation.pending_reviews.length === 0 && todos}
          {(review.review || conversation.approvals.length > 0) && (
            <Suspense>
              <CallOffer />
            </Suspense>
          )}
          <ReviewPanel handle={review} />
        </div>
      </div>
      <div className="app-foot">
        {turnCount > 0 && (
          <Suspense>
            <Steering
              outgoing={steered}
              isReview={conversation.pending_reviews.length > 0}
              isTyping={text.trim() !== ''}
              onText={taken => {
                setText(typed => (typed.trim() === '' ? taken : `${taken}\n\n${typed}`))
                box.current?.focus()
              }}
              onSend={sendTyped}
              onDone={() => box.current?.focus()}
            />
          </Suspense>
        )}
        <Composer
          box={box}
          text={text}
          onText={setText}
          isNew={isNewSession(session)}
          isRunning={running !== null}
          about={owner.isFromBefore ? 'before' : review.rejection ? 'rejection' : review.review && 'review'}
          isSending={outgoing !== undefined || review.isBusy}
          isStopping={isStopping}
          choices={
            model === undefined
              ? []
              : [
                  {
                    name: strings.model,
                    value: model,
                    values: models.names,
                    onChoose: value => setChosen({ ...chosen, model: value }),
                  },
                ]
          }
          onSend={submit}
          onStop={() => void stop()}
        >
          {policy && (
            <Suspense>
              <ToolsetChoice
                chosen={policy}
                policies={policies}
                isDisabled={running !== null || outgoing !== undefined}
                onChoose={each => setChosen({ ...chosen, toolset: each })}
              />
            </Suspense>
          )}
        </Composer>
        <Suspense>
          <ToolsLine isDemo={model === 'demo'} isOpen={route.isTools === true} />
        </Suspense>
      </div>
      {beside.isOn && <div className="app-beside">{todos}</div>}
    </main>
  )
})

/** Shows one line until the card has loaded: the server that serves it may be down. */
function Failed({ error, onRetry }: FailedProps): ReactElement {
  const strings = usePageStrings()
  return (
    <Suspense
      fallback={
        <p className="app-alert" role="alert">
          {errorText(strings.panels, error)}
        </p>
      }
    >
      <Problem error={error} onRetry={onRetry} />
    </Suspense>
  )
}

interface FailedProps {
  readonly error: unknown
  readonly onRetry?: () => void
}

const blockedIn = (conversation: ConversationSnapshot, turn: string): readonly Task[] =>
  listed(conversation, turn).filter(task => task.status === 'blocked' && !isDisputed(task))
