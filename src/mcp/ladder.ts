import {
  type ClientCapabilities,
  type ElicitResult,
  inputRequired,
  type McpServer,
  type RequestStateCodec,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { Refusal } from '../domain/refusal.ts'
import type { StoredEvent } from '../domain/event.ts'
import { type ReviewRequest, statusAt } from '../domain/review.ts'
import { say } from '../domain/say.ts'
import type { Door } from '../door/door.ts'
import type { ToolContext } from '../toolsets/context.ts'
import type { Toolset } from '../toolsets/toolset.ts'
import { type Complaint, type Content, decisionIn, reviewForm } from './form.ts'
import type { Round } from './review.ts'

/** How the person is asked: by a link to the page, by a form of the client's, or by the page alone. */
export type Rung = 'url' | 'form' | 'page'

export interface Patience {
  /** How long a call is held: clients give up after 60 s. */
  readonly holdMs: number
  /** How long one round of several is. */
  readonly roundMs: number
  /** How many rounds there are before it is `pending_review`: clients make ten. */
  readonly rounds: number
  readonly progressMs: number
  /** How soon a page that is open shows a review, so that the host need not ask as well. */
  readonly panelMs: number
  /** How long a call that is over waits to be told where the page is. */
  readonly pageMs: number
}
export const PATIENCE: Patience = {
  holdMs: 50_000,
  roundMs: 25_000,
  rounds: 8,
  progressMs: 5_000,
  panelMs: 700,
  pageMs: 2_000,
}

export interface Asker {
  readonly door: Door
  readonly server: McpServer
  readonly era: 'legacy' | 'modern'
  readonly patience: Patience
  readonly codec: RequestStateCodec<Round>
  /** Whether what this client's forms answer is a person's word. */
  readonly isPerson: boolean
  /** Where a person decides, if anybody serves that; for a person signed in already. */
  readonly page: (conversation: string, signedIn: boolean) => Promise<string | undefined>
  readonly closing: AbortSignal
  readonly onError: (error: unknown) => void
}

/** A tool call that waits for a person. */
export interface WaitingCall {
  readonly toolset: Toolset
  readonly tool: string
  readonly input: unknown
  readonly review: ReviewRequest
  readonly context: ToolContext
}

/** How the person behind a client is asked, and what their answer does. */
export class Ladder {
  readonly #by: Asker

  constructor(by: Asker) {
    this.#by = by
  }

  async best(call: WaitingCall, ctx: ServerContext): Promise<Rung> {
    const [best = 'page'] = await this.ways(call, ctx)
    return best
  }

  /** The ways that this client has, the best first. Where a page shows the review, or it is decided, there is none to ask. */
  async ways({ review, context }: WaitingCall, ctx: ServerContext): Promise<readonly Exclude<Rung, 'page'>[]> {
    const { elicitation } = this.#capabilities(ctx)
    if (!elicitation) return []
    const canUrl = elicitation.url !== undefined
    // Without a mode it is the older form of the capability, which had but one.
    const canForm = elicitation.form !== undefined || !canUrl
    if (await this.#isShownOrOver(review, context)) return []
    const hasPage = canUrl && (await this.#by.page(review.session_id, false)) !== undefined
    // A form that decides nothing would only mislead.
    return [...(hasPage ? (['url'] as const) : []), ...(canForm && this.#by.isPerson ? (['form'] as const) : [])]
  }

  /** The same question, in the words of this way and era. */
  async question(
    { review }: WaitingCall,
    rung: Rung,
    complaint?: Complaint,
  ): Promise<ReturnType<typeof inputRequired.elicit>> {
    if (rung === 'form') return inputRequired.elicit(reviewForm(review, complaint))
    const url = (await this.#by.page(review.session_id, this.#by.isPerson)) ?? ''
    const message = `Look through ${tasksIn(review)} that the agent proposes. Nothing is written unless you confirm.`
    const question = inputRequired.elicitUrl({ message, url })
    // The older era tells elicitations apart by a name.
    return this.#by.era === 'legacy'
      ? ({ ...question, params: { ...question.params, elicitationId: review.review_id } } as typeof question)
      : question
  }

  /** Writes what the person answered there; or says what is wrong with it. */
  async decide(
    { review, context }: WaitingCall,
    rung: Rung,
    { action, content = {} }: { action: ElicitResult['action']; content?: Content | undefined },
  ): Promise<Complaint | undefined> {
    // To open the page is not to confirm the plan.
    if (rung === 'url' && action === 'accept') return undefined
    const form = action === 'accept' ? decisionIn(review, content) : { decision: NO, places: [] }
    if (!form) return { message: 'The form came back empty.', content }
    try {
      await this.#by.door.reviews.decide(context.tenant, review.review_id, form.decision, 'mcp_form')
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      // Somebody else was first, or time was: the answer tells.
      if (error.code === 'review_already_decided' || error.code === 'review_expired') return undefined
      const at = (row: number, field: string): string => `Task ${form.places[row]}: ${field}`
      return { message: say(error, { at }), content }
    }
    return undefined
  }

  async #isShownOrOver({ review_id, session_id }: ReviewRequest, { tenant }: ToolContext): Promise<boolean> {
    const ref = { tenant, conversation: session_id }
    const state = await this.#by.door.read(ref)
    const review = state.reviews.get(review_id)
    if (review && (review.panels.length > 0 || statusAt(review, new Date().toISOString()) !== 'pending')) return true
    const signal = AbortSignal.any([AbortSignal.timeout(this.#by.patience.panelMs), this.#by.closing])
    for await (const { events } of this.#by.door.tail(ref, { after: state.seq, signal })) {
      if (events.some(event => reviewOverOrShown(event) === review_id)) return true
    }
    return false
  }

  #capabilities({ mcpReq }: ServerContext): ClientCapabilities {
    const envelope = mcpReq.envelope as Readonly<Record<string, unknown>> | undefined
    const own = envelope?.['io.modelcontextprotocol/clientCapabilities']
    return (own as ClientCapabilities | undefined) ?? this.#by.server.server.getClientCapabilities() ?? {}
  }
}

const NO = { action: 'cancel' } as const

/** The review that this event shows in a panel, or ends. */
function reviewOverOrShown({ type, data }: StoredEvent): string | undefined {
  return type === 'review_panel_opened' || type === 'task_create_review_resolved' ? data.review_id : undefined
}

export const tasksIn = ({ draft_tasks: { length } }: ReviewRequest): string =>
  length === 1 ? '1 task' : `${length} tasks`
