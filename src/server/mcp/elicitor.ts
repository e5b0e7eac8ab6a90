import { setTimeout as delay } from 'node:timers/promises'
import { inputRequired, type ElicitResult, type McpServer, type ServerContext } from '@modelcontextprotocol/server'
import type { Instant } from '../../core/model/instant.ts'
import type { Origin } from '../../core/model/origin.ts'
import { Refusal } from '../../core/model/refusal.ts'
import { statusAt, type ReviewRequest } from '../../core/model/review.ts'
import { say } from '../../core/views/say.ts'
import type { Decision, Door } from '../../engine/door/door.ts'
import type { ToolContext } from '../../engine/toolsets/view.ts'
import { clientOf, hostMeta, isHeadlessIn, type Environment } from './client-info.ts'
import {
  answerIn,
  changesForm,
  choiceForm,
  countTasks,
  type FormContent,
  type FormError,
  type FormOptions,
  type FormScreen,
} from './review-form.ts'
import type { WaitLimits } from '../../hosts/hosts.ts'

/** How a client can ask its person: a form, or a link to the page. */
type Way = 'form' | 'url'

export interface Question {
  readonly screen: FormScreen | 'url'
  /** Answers refused so far. */
  readonly refused: number
}

export type Asked = Question & { readonly at: Instant }

export interface Answered {
  readonly action: ElicitResult['action']
  readonly content?: FormContent | undefined
}

/** The next step of a review: ask through the client, send the person to the page, or only wait. */
export type Step =
  | { readonly kind: 'ask'; readonly question: Question; readonly error?: FormError | undefined }
  | { readonly kind: 'show_page' }
  | { readonly kind: 'wait' }

export interface WaitingCall {
  readonly tool: string
  readonly input: unknown
  readonly review: ReviewRequest
  readonly context: ToolContext
  readonly origin: Origin
}

export interface ElicitorDeps {
  readonly door: Door
  readonly server: McpServer
  readonly era: 'legacy' | 'modern'
  /** Whether answers to this client's forms count as a person's. */
  readonly isPerson: boolean
  readonly environment?: Environment | undefined
  /** The page's URL for a conversation if a server is running, optionally with a sign-in code. */
  readonly pageUrl: (conversation: string, signedIn: boolean) => Promise<string | undefined>
  /** Opens a URL in the person's browser. Absent without one. */
  readonly openBrowser?: ((url: string) => void) | undefined
  /** Aborts when this process shuts down. */
  readonly closing: AbortSignal
  readonly waitLimits: WaitLimits
}

const MAX_REFUSED = 4

const WAIT: Step = { kind: 'wait' }
const SHOW_PAGE: Step = { kind: 'show_page' }

/**
 * Asks a person through their MCP client, and records the answer. Tries a form, then a link, then the page. A machine's
 * answer decides nothing, and its channel is not used again on this connection.
 */
export class Elicitor {
  readonly #deps: ElicitorDeps
  readonly #usedByMachine = new Set<Way>()
  readonly #opened = new Set<string>()

  constructor(deps: ElicitorDeps) {
    this.#deps = deps
  }

  /** Only waits if a page already shows the review or it is decided. */
  async first(call: WaitingCall, ctx: ServerContext): Promise<Step> {
    if (!this.#hasPerson(ctx)) return WAIT
    const step = await this.#nextWay(['form', 'url'], call, ctx)
    if (step.kind === 'show_page' && !this.#deps.openBrowser) return WAIT
    return (await this.#isShownOrOver(call)) ? WAIT : step
  }

  async request(
    { review }: WaitingCall,
    { screen }: Question,
    ctx: ServerContext,
    error?: FormError,
  ): Promise<ReturnType<typeof inputRequired.elicit>> {
    if (screen === 'changes') return inputRequired.elicit(changesForm(error))
    if (screen === 'choice')
      return inputRequired.elicit(choiceForm(review, await this.#formOptions(review, ctx), error))
    const { isPerson, era, server, pageUrl } = this.#deps
    const { sharesUrls = false } = clientOf(server, ctx).traits
    const url = (await pageUrl(review.session_id, isPerson && !sharesUrls)) ?? ''
    const message = `The agent proposes ${countTasks(review)}. Review them on the page: nothing is written unless you confirm.`
    const request = inputRequired.elicitUrl({ message, url })
    // The 2025 protocol needs an id to tell elicitations apart.
    return era === 'legacy'
      ? ({ ...request, params: { ...request.params, elicitationId: review.review_id } } as typeof request)
      : request
  }

  /**
   * Decides the review as the person answered, and returns the next step. A decided review is not asked about again.
   */
  async answered(call: WaitingCall, asked: Asked, answer: Answered, ctx: ServerContext): Promise<Step> {
    const step = await this.#stepAfter(call, asked, answer, ctx)
    return step.kind === 'wait' || (await this.#isOver(call)) ? WAIT : step
  }

  async #stepAfter(
    call: WaitingCall,
    asked: Asked,
    { action, content = {} }: Answered,
    ctx: ServerContext,
  ): Promise<Step> {
    const { isPerson, waitLimits } = this.#deps
    const { screen } = asked
    if (!this.#hasPerson(ctx) || (await this.#msSince(asked.at)) < waitLimits.personMs) {
      this.#usedByMachine.add(screen === 'url' ? 'url' : 'form')
      return this.#after(asked, call, ctx)
    }
    if (!isPerson) return WAIT
    // Closing a question is not an answer.
    if (action === 'cancel') return this.#after(asked, call, ctx)
    // Opening the page does not confirm the plan.
    if (action === 'accept' && screen === 'url') return WAIT
    const answer = action === 'decline' || screen === 'url' ? REJECTION : answerIn(screen, call.review, content)
    switch (answer.kind) {
      case 'decision': {
        const message = await this.#decide(call, screen, answer.decision, answer.formRows)
        return message === undefined ? WAIT : this.#again(asked, { message, content }, call, ctx)
      }
      case 'invalid':
        return this.#again(asked, { message: answer.message, content }, call, ctx)
      case 'changes':
        return ask('changes')
      case 'page':
        return this.#deps.openBrowser ? SHOW_PAGE : this.#after(asked, call, ctx)
      case 'nothing':
        return this.#after(asked, call, ctx)
    }
  }

  failed(call: WaitingCall, question: Question, ctx: ServerContext): Promise<Step> {
    return this.#after(question, call, ctx)
  }

  /** Opens the review's page in the browser, once, and only if no page shows it. */
  async showPage({ review, context }: WaitingCall, ctx: ServerContext): Promise<void> {
    const { openBrowser, pageUrl, door } = this.#deps
    const { review_id, session_id } = review
    if (!openBrowser || !this.#hasPerson(ctx) || this.#opened.has(review_id)) return
    this.#opened.add(review_id).add(session_id)
    const { reviews } = await door.read({ tenant: context.tenant, conversation: session_id })
    if (reviews.get(review_id)?.panels.length !== 0) return
    // Without a code, because every user of the machine can read command lines.
    const url = await pageUrl(session_id, false)
    if (url !== undefined) openBrowser(url)
  }

  /** Opens a conversation's page in the browser, unless this connection has sent the person there before. */
  openOnce(conversation: string, url: string, ctx: ServerContext): void {
    const { openBrowser } = this.#deps
    if (!openBrowser || !this.#hasPerson(ctx) || this.#opened.has(conversation)) return
    this.#opened.add(conversation)
    openBrowser(url)
  }

  /** Returns the problem with the decision, if any. */
  async #decide(
    { review, context, origin }: WaitingCall,
    screen: Question['screen'],
    decision: Decision,
    formRows: readonly number[],
  ): Promise<string | undefined> {
    const edge = screen === 'url' ? 'mcp_link' : 'mcp_form'
    const door = this.#deps.door.from({ ...origin, actor: 'person', edge })
    try {
      await door.reviews.decide(context.tenant, review.review_id, decision, 'mcp_form')
      return undefined
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      // The call gets the decision that came first.
      if (error.code === 'review_already_decided' || error.code === 'review_expired') return undefined
      return say(error, { at: (row, field) => `Task ${formRows[row] ?? row + 1}: ${field}` })
    }
  }

  async #again({ screen, refused }: Question, error: FormError, call: WaitingCall, ctx: ServerContext): Promise<Step> {
    const question = { screen, refused: refused + 1 }
    return refused < MAX_REFUSED ? { kind: 'ask', question, error } : this.#after(question, call, ctx)
  }

  /** The step after a question without a valid answer. */
  #after({ screen }: Question, call: WaitingCall, ctx: ServerContext): Promise<Step> {
    return this.#nextWay(screen === 'url' ? [] : ['url'], call, ctx)
  }

  async #nextWay(ways: readonly Way[], { review }: WaitingCall, ctx: ServerContext): Promise<Step> {
    const { elicitation } = clientOf(this.#deps.server, ctx).capabilities
    const url = elicitation?.url !== undefined
    // A capability without a mode is an older protocol's, which had forms only. An agent's form cannot decide.
    const form = elicitation !== undefined && (elicitation.form !== undefined || !url) && this.#deps.isPerson
    const way = ways.find(each => ({ form, url })[each] && !this.#usedByMachine.has(each))
    if (way === 'form') return ask('choice')
    return way === 'url' && (await this.#pageUrl(review)) !== undefined ? ask('url') : SHOW_PAGE
  }

  async #formOptions(review: ReviewRequest, ctx: ServerContext): Promise<FormOptions> {
    const { form = 'plain' } = clientOf(this.#deps.server, ctx).traits
    return { pageUrl: await this.#pageUrl(review), kind: form }
  }

  /** The page's URL without a code, if available soon. */
  async #pageUrl({ session_id }: ReviewRequest): Promise<string | undefined> {
    const { pageUrl, waitLimits } = this.#deps
    const url = pageUrl(session_id, false).catch(() => undefined)
    return Promise.race([url, delay(waitLimits.pageUrlMs, undefined, { ref: false })])
  }

  #hasPerson(ctx: ServerContext): boolean {
    const { name } = clientOf(this.#deps.server, ctx)
    return !hostMeta(ctx.mcpReq._meta, name).isHeadless && !isHeadlessIn(this.#deps.environment ?? {}, name)
  }

  async #msSince(at: Instant): Promise<number> {
    return Date.parse(await this.#deps.door.now()) - Date.parse(at)
  }

  async #isOver({ review, context }: WaitingCall): Promise<boolean> {
    const { record } = await this.#deps.door.reviews.get(context.tenant, review.review_id)
    return record.review.status !== 'pending'
  }

  async #isShownOrOver({ review, context }: WaitingCall): Promise<boolean> {
    const { door, closing, waitLimits } = this.#deps
    const { review_id, session_id } = review
    const ref = { tenant: context.tenant, conversation: session_id }
    const signal = AbortSignal.any([AbortSignal.timeout(waitLimits.panelMs), closing])
    for await (const { reviews } of door.states(ref, { signal })) {
      const known = reviews.get(review_id)
      if (known && (known.panels.length > 0 || statusAt(known, await door.now()) !== 'pending')) return true
    }
    return false
  }
}

const ask = (screen: Question['screen']): Step => ({ kind: 'ask', question: { screen, refused: 0 } })

const REJECTION = { kind: 'decision', decision: { action: 'cancel' }, formRows: [] } as const

/** The longest timer that Node supports. */
const MAX_TIMER_MS = 2 ** 31 - 1

export interface LegacyElicitationDeps extends ElicitorDeps {
  readonly onError: (error: unknown) => void
}

/** Elicitation of the 2025 protocol: asks the client while its call is held, one request per review at a time. */
export class LegacyElicitation {
  readonly #deps: LegacyElicitationDeps
  readonly #elicitor: Elicitor
  /** Reviews that the client is being asked about. Each promise resolves when another call may ask. */
  readonly #asking = new Map<string, Promise<void>>()

  constructor(deps: LegacyElicitationDeps, elicitor: Elicitor) {
    this.#deps = deps
    this.#elicitor = elicitor
  }

  /** Asks, or waits while another call asks about the same review. `answered` aborts when the held call is answered. */
  async ask(call: WaitingCall, ctx: ServerContext, answered: AbortSignal): Promise<void> {
    const { review_id } = call.review
    // If the call that asks is cancelled or disconnected, this one takes over.
    for (let other = this.#asking.get(review_id); other; other = this.#asking.get(review_id)) {
      await Promise.race([other, aborted(answered)])
      if (answered.aborted) return
    }
    const done = Promise.withResolvers<void>()
    this.#asking.set(review_id, done.promise)
    const release = (): void => {
      if (this.#asking.get(review_id) === done.promise) this.#asking.delete(review_id)
      done.resolve()
    }
    const over = new AbortController()
    // A disconnected client may have missed the request, so another call may ask. A late answer still counts.
    ctx.http?.req?.signal.addEventListener('abort', release, { once: true, signal: over.signal })
    // Cancelling the call withdraws its request; answering it does not.
    const withdrawn = AbortSignal.any([this.#decided(call, over.signal), ctx.mcpReq.signal])
    try {
      await this.#climb(call, ctx, withdrawn, answered)
    } finally {
      over.abort()
      release()
    }
  }

  /** Aborts once the review is decided by any means, or with `over`. */
  #decided({ review, context }: WaitingCall, over: AbortSignal): AbortSignal {
    const decided = new AbortController()
    this.#deps.door.reviews
      .await(context.tenant, review.review_id, AbortSignal.any([over, this.#deps.closing]))
      .catch(() => {})
      .finally(() => decided.abort('The review was decided elsewhere.'))
      .catch(this.#deps.onError)
    return decided.signal
  }

  async #climb(call: WaitingCall, ctx: ServerContext, withdrawn: AbortSignal, answered: AbortSignal): Promise<void> {
    let step = await this.#elicitor.first(call, ctx)
    let last = step
    while (step.kind === 'ask' && !withdrawn.aborted) {
      last = step
      step = await this.#askOnce(step, call, ctx, withdrawn, answered)
    }
    if (step.kind === 'show_page' && !withdrawn.aborted) await this.#elicitor.showPage(call, ctx)
    if (step.kind === 'wait' && last.kind === 'ask' && last.question.screen === 'url') {
      await this.#completeWhen(withdrawn, call)
    }
  }

  async #askOnce(
    { question, error }: Extract<Step, { kind: 'ask' }>,
    call: WaitingCall,
    ctx: ServerContext,
    withdrawn: AbortSignal,
    answered: AbortSignal,
  ): Promise<Step> {
    const { params } = await this.#elicitor.request(call, question, ctx, error)
    const at = await this.#deps.door.now()
    const response = await this.#elicit(params, ctx, withdrawn, answered)
    if (response === undefined) return this.#elicitor.failed(call, question, ctx)
    return this.#elicitor.answered(call, { ...question, at }, response, ctx)
  }

  /** The client's response; undefined if it failed or the request was withdrawn. */
  async #elicit(
    params: unknown,
    ctx: ServerContext,
    signal: AbortSignal,
    answered: AbortSignal,
  ): Promise<ElicitResult | undefined> {
    // The review's own end withdraws the request, because a person may have extended it.
    const timeout = MAX_TIMER_MS
    // Uses the held call's stream, because the client may have no other open.
    const related = answered.aborted ? {} : { relatedRequestId: ctx.mcpReq.id }
    return ctx.mcpReq
      .elicitInput(params as Parameters<typeof ctx.mcpReq.elicitInput>[0], { signal, timeout, ...related })
      .catch(() => undefined)
  }

  /** Tells a client that shows a link that the review is over. */
  async #completeWhen(withdrawn: AbortSignal, { review }: WaitingCall): Promise<void> {
    await aborted(withdrawn)
    // Best effort: the client may not support the notification, or be gone.
    await this.#deps.server.server
      .createElicitationCompletionNotifier(review.review_id)()
      .catch(() => {})
  }
}

const aborted = (signal: AbortSignal): Promise<unknown> =>
  new Promise(resolve => {
    if (signal.aborted) resolve(undefined)
    else signal.addEventListener('abort', resolve, { once: true })
  })
