import { useEffect, useId, useRef, useState, type ReactElement } from 'react'
import { ShieldQuestion } from 'lucide-react'
import { RunsheetError } from '../../../client/http.ts'
import type { ApprovalDecision, ToolApproval } from '../../../core/model/tool-approval.ts'
import { useRunsheet, type RunsheetSource } from '../parts/provider.tsx'
import { useThreadStrings } from '../texts/use-thread-strings.ts'
import type { Json } from '../../../core/model/event.ts'
import { errorText } from '../texts/error-text.ts'

/** Tool calls that wait for approval, and the decisions a person can make. */
export interface ApprovalsHandle {
  /** Pending approvals, oldest first. Those decided in any window are removed. */
  readonly waiting: readonly ToolApproval[]
  /**
   * Allows a call once, allows the tool from now on, or denies the call. Safe to repeat after a failure. Resolves to
   * whether it is decided, by this window or another.
   */
  readonly decide: (approvalId: string, decision: ApprovalDecision, comment?: string) => Promise<boolean>
  /** The id of the approval whose decision is in flight. */
  readonly deciding: string | undefined
  /** Why the last decision was refused. */
  readonly error: unknown
  /** The call was allowed, but saving "always" failed for this reason. */
  readonly notSaved: string | undefined
}

/** Headless approvals: pending tool calls and their decisions. */
export function useApprovals(source?: RunsheetSource): ApprovalsHandle {
  const { client, session, view } = useRunsheet(source)
  const [deciding, setDeciding] = useState<string>()
  const [error, setError] = useState<unknown>()
  const [notSaved, setNotSaved] = useState<string>()
  const isBusy = useRef(false)
  const decide: ApprovalsHandle['decide'] = async (approvalId, decision, comment) => {
    // A double click is one decision.
    if (isBusy.current) return false
    isBusy.current = true
    setDeciding(approvalId)
    setError(undefined)
    setNotSaved(undefined)
    try {
      const said = comment === undefined ? { decision } : { decision, comment }
      const answer = await client.decideApproval(session, approvalId, said)
      setNotSaved(answer.not_saved)
      return true
    } catch (problem) {
      setError(problem)
      // Another window may have decided first; the log shows that.
      view.retry()
      return problem instanceof RunsheetError && problem.code === 'approval_already_decided'
    } finally {
      isBusy.current = false
      setDeciding(undefined)
    }
  }
  return { waiting: view.state.conversation.approvals, decide, deciding, error, notSaved }
}

/** The props of `ApprovalCards`. */
export interface ApprovalCardsProps extends RunsheetSource {
  /** Shows only the calls of this turn. */
  readonly turn?: string
}

/** The tool calls that wait for approval, one card each. */
export function ApprovalCards({ turn, ...source }: ApprovalCardsProps): ReactElement {
  const { waiting, decide, deciding, error, notSaved } = useApprovals(source)
  const { thread } = useThreadStrings()
  const shown = turn === undefined ? waiting : waiting.filter(({ turn_id }) => turn_id === turn)
  const box = useRef<HTMLDivElement>(null)
  // The card with the pressed button disappears: the next card gets the focus, or the empty container keeps it.
  const hadFocus = useRef(false)
  const cards = shown.map(each => each.approval_id).join()
  useEffect(() => {
    if (!hadFocus.current || document.activeElement !== document.body) return
    hadFocus.current = false
    ;(box.current?.querySelector<HTMLElement>('.rs-ask button') ?? box.current)?.focus()
  }, [cards])
  return (
    <div className="rs-asks" ref={box} tabIndex={-1}>
      {shown.map(approval => (
        <ApprovalCard
          key={approval.approval_id}
          approval={approval}
          isDeciding={deciding === approval.approval_id}
          error={error}
          onDecide={decision => {
            hadFocus.current = true
            void decide(approval.approval_id, decision)
          }}
        />
      ))}
      {notSaved !== undefined && (
        <p className="rs-line rs-ask-error" role="alert">
          {thread.approval.notSaved(notSaved)}
        </p>
      )}
    </div>
  )
}

/** The props of `ApprovalCard`. */
export interface ApprovalCardProps {
  readonly approval: ToolApproval
  readonly isDeciding?: boolean
  /** Why the last decision was refused. */
  readonly error?: unknown
  readonly onDecide: (decision: ApprovalDecision) => void
}

/** A pending tool call with its arguments, and buttons to allow or deny it. */
export function ApprovalCard({ approval, isDeciding = false, error, onDecide }: ApprovalCardProps): ReactElement {
  const { tool, server, server_tool, changed, read_only, fingerprint } = approval
  const strings = useThreadStrings()
  const { approval: words } = strings.thread
  const id = useId()
  const card = useRef<HTMLElement>(null)
  useEffect(() => {
    // Do not steal the focus from someone who is typing.
    if (document.activeElement === null || document.activeElement === document.body) card.current?.focus()
  }, [])
  const button = (decision: ApprovalDecision, kind = ''): ReactElement => (
    <button
      type="button"
      className={`rs-button${kind}`}
      aria-disabled={isDeciding}
      onClick={() => (isDeciding ? undefined : onDecide(decision))}
    >
      {words[decision]}
    </button>
  )
  return (
    <section ref={card} className="rs-ask" tabIndex={-1} aria-labelledby={id}>
      <h2 id={id}>
        <ShieldQuestion size={18} aria-hidden="true" />
        <span>
          {words.asks} <code>{server_tool ?? tool}</code>
          {server !== undefined && <span className="rs-ask-server"> {words.of(server)}</span>}
        </span>
      </h2>
      {changed && (
        <p className="rs-ask-changed" role="note">
          {words.changed[changed]}
        </p>
      )}
      <Arguments of={approval.arguments} none={words.noInput} />
      {read_only && <p className="rs-note">{words.readOnly}</p>}
      {error !== undefined && error !== null && (
        <p className="rs-ask-error" role="alert">
          {errorText(strings, error)}
        </p>
      )}
      <div className="rs-ask-actions">
        {button('allow', ' rs-primary')}
        {fingerprint !== undefined && button('always')}
        {button('deny')}
      </div>
    </section>
  )
}

function Arguments({ of, none }: { readonly of: Json; readonly none: string }): ReactElement {
  const entries = typeof of === 'object' && of !== null && !Array.isArray(of) ? Object.entries(of) : [['', of] as const]
  if (entries.length === 0) return <p className="rs-note">{none}</p>
  return (
    <dl className="rs-ask-input">
      {entries.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <pre className="rs-code" tabIndex={0} dir="auto">
              {typeof value === 'string' ? value : JSON.stringify(value, null, 2)}
            </pre>
          </dd>
        </div>
      ))}
    </dl>
  )
}
