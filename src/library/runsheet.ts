import {
  exceptStorage,
  openDoor,
  type Door,
  type Found,
  type Observer,
  type Page,
  type Paged,
} from '../engine/door/door.ts'
import type { Json } from '../core/model/event.ts'
import { originOf } from '../core/model/origin.ts'
import { invalidId } from '../core/model/refusal.ts'
import { policyProblem, type PolicyPatch } from '../core/model/policy.ts'
import type { SearchKind } from '../core/text/search.ts'
import type { SessionList } from '../core/views/session-list.ts'
import type { Task } from '../core/model/task.ts'
import { isId } from '../core/model/text.ts'
import type { SearchAnswer, Session } from '../core/views/wire.ts'
import { openMemoryStore as openMemory } from '../store/memory.ts'
import { LOCAL_TENANT, type Store as OpenStore } from '../store/store.ts'
import { verify } from '../store/verify.ts'
import { Conversation } from './conversation.ts'
import { plainMaker } from '../engine/door/checks.ts'
import { Worker } from '../engine/worker/worker.ts'
import type { Workspaces } from '../engine/worker/workspaces.ts'
import { keepInside, openChecksOf, type Checks } from './handles.ts'
import { redactor } from '../core/text/redact.ts'
import { claimJudge, type Judge } from '../engine/worker/judge.ts'
import { Reviewer, type OnReview } from './reviewer.ts'
import { turnAround, type CallOptions } from './turn.ts'
import { NO_CONTEXT } from '../engine/toolsets/calls.ts'

export type { Judge, JudgeAnswer, JudgeCall } from '../engine/worker/judge.ts'
export type { Case as JudgeCase } from '../engine/worker/case.ts'

/**
 * A store for plans. Open one with `openSqliteStore` (`runsheet/sqlite`), `openFileStore` (`runsheet/files`),
 * `openPostgresStore` (`runsheet/postgres`) or `openMemoryStore`.
 */
export interface Store {
  /** `Runsheet.close` does this for you. */
  close(): Promise<void>
}

/** Options of `createRunsheet`. */
export interface RunsheetOptions {
  /** The store of the plans. The runsheet takes ownership and closes it. */
  readonly store: Store
  /** The tenant that owns everything: 1 to 128 characters of A-Z a-z 0-9 _ -. Default `local`. */
  readonly tenant?: string
  /** The policy of new conversations over the toolset's defaults: `{ toolset: 'turn_todos', review: false }`. */
  readonly policy?: PolicyPatch
  /**
   * Decides a review that this process opens: by `Turn.call`, by a runner or through a handler. Return a decision, or
   * nothing to leave it to a person on the page or to `Conversation.decide`. The call that proposed the plan waits.
   */
  readonly onReview?: OnReview
  /**
   * Runs the checks of tasks in this process (`openChecks` of `runsheet/checks`): tools accept checks, and a claim is
   * granted only while they pass. Without it, checks are stored and run in a process that has their workspace.
   */
  readonly checks?: Checks
  /**
   * Judges the claims of models in your own agent loops, where the policy's `assessor` is on. Pass your own function,
   * `async theCase => ({ ok, reason, evidence })`, or one from `createJudge` (`runsheet/ai-sdk`). Without a judge, claims
   * are granted.
   */
  readonly judge?: Judge
  /** Receives the duration and outcome of every tool call, never its content. */
  readonly observe?: Observer
  /**
   * Receives errors that no caller waits for, and storage failures, including those that a tool reported to the model.
   * A storage failure is reported once until storage works again.
   */
  readonly onError?: (error: unknown) => void
}

/** Plans on one store. Create it with `createRunsheet`. */
export class Runsheet {
  readonly #door: Door
  readonly #store: OpenStore
  readonly #tenant: string
  readonly #policy: PolicyPatch
  readonly #reviewer: Reviewer
  readonly #workspaces: Workspaces | undefined
  readonly #worker: Worker

  /** @internal */
  constructor(options: RunsheetOptions) {
    const { store, tenant = LOCAL_TENANT, policy = {}, onReview, observe, onError = () => {}, checks, judge } = options
    if (!isId(tenant)) throw invalidId('tenant')
    const refused = policyProblem(policy)
    if (refused) throw refused
    this.#reviewer = new Reviewer(onReview, onError)
    this.#store = store as OpenStore
    const workspaces = checks && openChecksOf(checks)(() => judge !== undefined)
    if (judge !== undefined && typeof judge !== 'function') {
      throw new TypeError('judge must be a function: async theCase => ({ ok, reason, evidence })')
    }
    const door = openDoor({
      store: this.#store,
      checks: workspaces ?? { ...plainMaker, judges: () => judge !== undefined },
      onError,
      onReviewOpened: (ref, reviewId) => this.#reviewer.opened(this.#door, ref, reviewId),
      ...(observe ? { observe } : {}),
    })
    door.observeStorage(report => {
      if (report.kind === 'failed') onError(report.error)
    })
    this.#door = door.from(originOf('program', 'library'))
    this.#tenant = tenant
    this.#policy = policy
    keepInside(this, { door: this.#door, tenant, policy, workspaces })
    this.#workspaces = workspaces
    const rules = judge && claimJudge({ door, judge: () => judge, redact: redactor() })
    this.#worker = new Worker({ door, workspaces, judge: rules, onError: exceptStorage(onError) })
    this.#worker.start()
  }

  /** Returns a conversation by id. It exists from its first write on. */
  conversation(id: string): Conversation {
    if (!isId(id)) throw invalidId('conversation')
    return new Conversation(id, {
      door: this.#door,
      ref: { tenant: this.#tenant, conversation: id },
      policy: this.#policy,
      reviewer: this.#reviewer,
      workspaces: this.#workspaces,
    })
  }

  /**
   * Calls a tool in the turn that `Turn.within` set, for tools that are defined once for all conversations. Outside of
   * a turn of this runsheet nothing is read or written, and the answer says so.
   */
  async call(name: string, args: unknown, options?: CallOptions): Promise<Json> {
    const turn = turnAround()
    return turn?.inside.deps.door === this.#door ? turn.call(name, args, options) : NO_CONTEXT
  }

  /**
   * Lists conversations: pinned first, then by last activity, without archived ones. `list` selects another list:
   * `archived`, or `all`, ordered by creation so that paging never skips one.
   */
  conversations({ list, ...page }: Partial<Page> & { list?: SessionList } = {}): Promise<Paged<Session>> {
    return this.#door.conversations.list(this.#tenant, { limit: 50, ...page }, list)
  }

  /** Searches the title, details and outcome of tasks in all conversations, newest first; see `find`. */
  search(text: string, page: Partial<Page> = {}): Promise<Found<Task>> {
    return this.#door.search.tasks(this.#tenant, text, { limit: 50, ...page })
  }

  /**
   * Full-text search: conversations by title, then tasks, then messages that contain all the words; more matches first,
   * then newest first. Case and diacritics are ignored, and the last word matches as a prefix. `limit` defaults to 20;
   * at most 50.
   */
  find(text: string, { limit = 20, kind }: { limit?: number; kind?: SearchKind } = {}): Promise<SearchAnswer> {
    return this.#door.search.all(this.#tenant, text, { limit, kind })
  }

  /**
   * Folds every log of the store, compares the result with the stored projections and verifies checksums. Returns one
   * line per difference. Other processes may write meanwhile.
   */
  async verify(): Promise<readonly string[]> {
    const differences: string[] = []
    if (!this.#store.verifiable) return differences
    for await (const difference of verify(this.#store.verifiable())) differences.push(difference)
    return differences
  }

  /**
   * Ends everything that waits, stops running checks (the next process reruns them), finishes writes in flight and
   * closes the store.
   */
  async close(): Promise<void> {
    await this.#worker.close()
    await this.#door.close()
  }
}

/** Opens plans on a store. */
export const createRunsheet = (options: RunsheetOptions): Runsheet => new Runsheet(options)

/** Opens a store in memory, for tests and experiments. Its data is lost when the process ends. */
export const openMemoryStore = (): Store => openMemory()
