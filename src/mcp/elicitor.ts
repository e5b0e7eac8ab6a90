import {
  type ClientCapabilities,
  type ElicitResult,
  inputRequired,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server'
import type { StoredEvent } from '../domain/event.ts'
import { Refusal } from '../domain/refusal.ts'
import { type ReviewRequest, statusAt } from '../domain/review.ts'
import { say } from '../domain/say.ts'
import type { Door } from '../door/door.ts'
import type { ToolContext } from '../toolsets/context.ts'
import { decisionFrom, type FormContent, type FormError, reviewForm } from './review-form.ts'
import type { WaitLimits } from './wait-limits.ts'

/** How a person is asked: the client opens the page, the client shows a form, or the page alone. */
export type AskMethod = 'url' | 'form' | 'page'

/** Methods that go through the client. */
export type ElicitMethod = Exclude<AskMethod, 'page'>

/** A tool call that waits for a person. */
export interface WaitingCall {
  readonly tool: string
  readonly input: unknown
  readonly review: ReviewRequest
  readonly context: ToolContext
}

export interface ElicitorDeps {
  readonly door: Door
  readonly server: McpServer
  readonly era: 'legacy' | 'modern'
  /** Whether answers to this client's forms count as a person's. */
  readonly isPerson: boolean
  /** The page's URL for a conversation, if a server is running; optionally with a sign-in code. */
  readonly pageUrl: (conversation: string, signedIn: boolean) => Promise<string | undefined>
  /** Aborts when this process is about to end. */
  readonly closing: AbortSignal
  readonly waitLimits: WaitLimits
}

/** Asks a person through their MCP client (elicitation), and writes down the answer. */
export class Elicitor {
  readonly #deps: ElicitorDeps

  constructor(deps: ElicitorDeps) {
    this.#deps = deps
  }

  /** The best method that this client supports. */
  async bestMethod(call: WaitingCall, ctx: ServerContext): Promise<AskMethod> {
    const [best = 'page'] = await this.methods(call, ctx)
    return best
  }

  /** The methods that this client supports, best first; none if a page shows the review already or it is decided. */
  async methods({ review, context }: WaitingCall, ctx: ServerContext): Promise<readonly ElicitMethod[]> {
    const { elicitation } = this.#capabilities(ctx)
    if (!elicitation) return []
    const canOpenUrls = elicitation.url !== undefined
    // Without a mode it is the capability of an older protocol, which had forms only.
    const canShowForms = elicitation.form !== undefined || !canOpenUrls
    if (await this.#isShownOrOver(review, context)) return []
    const hasPage = canOpenUrls && (await this.#deps.pageUrl(review.session_id, false)) !== undefined
    // An agent's form could not decide anything.
    const useForm = canShowForms && this.#deps.isPerson
    return [...(hasPage ? (['url'] as const) : []), ...(useForm ? (['form'] as const) : [])]
  }

  /** The elicitation request. */
  async request(
    { review }: WaitingCall,
    method: AskMethod,
    error?: FormError,
  ): Promise<ReturnType<typeof inputRequired.elicit>> {
    if (method === 'form') return inputRequired.elicit(reviewForm(review, error))
    const url = (await this.#deps.pageUrl(review.session_id, this.#deps.isPerson)) ?? ''
    const message = `The agent proposes ${countTasks(review)}. Review them on the page: nothing is written unless you confirm.`
    const request = inputRequired.elicitUrl({ message, url })
    // The 2025 protocol needs an id to tell elicitations apart.
    return this.#deps.era === 'legacy'
      ? ({ ...request, params: { ...request.params, elicitationId: review.review_id } } as typeof request)
      : request
  }

  /** Decides the review as the person answered. Returns what is wrong with the form, if anything. */
  async submit(
    { review, context }: WaitingCall,
    method: AskMethod,
    { action, content = {} }: { action: ElicitResult['action']; content?: FormContent | undefined },
  ): Promise<FormError | undefined> {
    // Opening the page does not confirm the plan.
    if (method === 'url' && action === 'accept') return undefined
    const form = action === 'accept' ? decisionFrom(review, content) : { decision: CANCEL, formRows: [] }
    if (!form) return { message: 'The form came back empty.', content }
    try {
      await this.#deps.door.reviews.decide(context.tenant, review.review_id, form.decision, 'mcp_form')
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      // The call is answered with the decision that came first.
      if (error.code === 'review_already_decided' || error.code === 'review_expired') return undefined
      const at = (row: number, field: string): string => `Task ${form.formRows[row]}: ${field}`
      return { message: say(error, { at }), content }
    }
    return undefined
  }

  async #isShownOrOver({ review_id, session_id }: ReviewRequest, { tenant }: ToolContext): Promise<boolean> {
    const { door, closing, waitLimits } = this.#deps
    const ref = { tenant, conversation: session_id }
    const [state, now] = await Promise.all([door.read(ref), door.now()])
    const review = state.reviews.get(review_id)
    if (review && (review.panels.length > 0 || statusAt(review, now) !== 'pending')) return true
    const signal = AbortSignal.any([AbortSignal.timeout(waitLimits.panelMs), closing])
    for await (const { events } of door.tail(ref, { after: state.seq, signal })) {
      if (events.some(event => reviewShownOrOver(event) === review_id)) return true
    }
    return false
  }

  #capabilities({ mcpReq }: ServerContext): ClientCapabilities {
    const envelope = mcpReq.envelope as Readonly<Record<string, unknown>> | undefined
    const own = envelope?.['io.modelcontextprotocol/clientCapabilities']
    return (own as ClientCapabilities | undefined) ?? this.#deps.server.server.getClientCapabilities() ?? {}
  }
}

const CANCEL = { action: 'cancel' } as const

/** The id of the review that this event shows in a panel or ends. */
function reviewShownOrOver({ type, data }: StoredEvent): string | undefined {
  return type === 'review_panel_opened' || type === 'task_create_review_resolved' ? data.review_id : undefined
}

export const countTasks = ({ draft_tasks: { length } }: ReviewRequest): string =>
  length === 1 ? '1 task' : `${length} tasks`
