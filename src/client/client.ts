import type { Json } from '../core/model/event.ts'
import type { PolicyPatch, ToolsetName } from '../core/model/policy.ts'
import type { ReviewRequest } from '../core/model/review.ts'
import type { SearchKind } from '../core/text/search.ts'
import type { SessionList } from '../core/views/session-list.ts'
import type { TaskStatus } from '../core/model/task.ts'
import type { Template } from '../core/model/template.ts'
import type {
  ApprovalAnswer,
  DecisionAnswer,
  EventAnswer,
  EvidenceAdded,
  EvidenceAnswer,
  ExtendAnswer,
  FiledSessionAnswer,
  FoundTasksAnswer,
  InsistAnswer,
  ModelsAnswer,
  PersonsFields,
  PolicyAnswer,
  QueuedMessageAnswer,
  ReopenAnswer,
  RetryAnswer,
  ReviewAnswer,
  ReviewsAnswer,
  SearchAnswer,
  SentApproval,
  SentDecision,
  SentEvidence,
  SentMessageAnswer,
  SentNowAnswer,
  SentRow,
  SessionAnswer,
  SessionsAnswer,
  SettingsAnswer,
  SettingsChange,
  SnapshotAnswer,
  TaskAnswer,
  TasksAnswer,
  TemplatesAnswer,
  TimelineAnswer,
  ToolAnswer,
  ToolRuleChange,
  ToolsAnswer,
  ToolsetAnswer,
  ToolsetsAnswer,
  TryAnswer,
  TurnAnswer,
} from '../core/views/wire.ts'
import { RunsheetError, ServerClock, ask, askJson, type Ask, type ClientOptions } from './http.ts'
import { liveConversation, type LiveConversation, type LiveOptions } from './live.ts'

/** A tool call with its conversation and turn. */
export interface ToolCallRequest {
  readonly session_id: string
  readonly turn_id: string
  readonly arguments: unknown
  readonly tool_call_id?: string
  readonly source_user_message_id?: string
  readonly source_assistant_message_id?: string
  /** The calling model and its provider, for the server's log. */
  readonly provider?: string
  readonly model?: string
}
/** Settings of a turn that a message starts. */
export interface SentStart extends Pick<PolicyPatch, 'toolset' | 'review' | 'assessor' | 'gate'> {
  readonly model?: string
  readonly continue_turn_id?: string
}
/** A message that starts a turn. */
export interface ChatRequest extends SentStart {
  readonly session_id: string
  readonly turn_id: string
  readonly message: string
}
/** The fields of a conversation that a person can change. */
export interface Filing {
  readonly title?: string
  readonly pinned?: boolean
  readonly archived?: boolean
}
interface Page {
  readonly limit?: number
  readonly cursor?: string
}

interface PendingPage extends Page {
  readonly origins?: boolean
  readonly approvals?: boolean
}

/** The functions that `createClient` returns. */
export type Client = ReturnType<typeof createClient>

/** The server's routes as functions, for Node and the browser. They throw `RunsheetError`. */
export function createClient(options: ClientOptions) {
  const clock = new ServerClock()
  const watched = { ...options, fetch: clock.watched(options.fetch) }
  const json = <T>(path: string, request?: Ask): Promise<T> => askJson<T>(watched, path, request)
  const session = (id: string): string => `/api/sessions/${encodeURIComponent(id)}`
  const task = (id: string, taskId: string): string => `${session(id)}/tasks/${encodeURIComponent(taskId)}`
  const message = (id: string, messageId: string): string => `${session(id)}/messages/${encodeURIComponent(messageId)}`
  const toolServer = (name: string): string => `/api/tools/servers/${encodeURIComponent(name)}`
  const ifMatch = (version: number): Pick<Ask, 'headers'> => ({ headers: { 'if-match': String(version) } })
  const keyed = (key: string | undefined): Pick<Ask, 'headers'> =>
    key === undefined ? {} : { headers: { 'idempotency-key': key } }
  const check = (id: string, taskId: string, checkId: string, action: 'run' | 'stop' | 'tick') =>
    json<TaskAnswer>(`${task(id, taskId)}/checks/${encodeURIComponent(checkId)}/${action}`, { method: 'POST' })
  const review = (id: string): string => `/api/task-manager/reviews/${encodeURIComponent(id)}`
  const panel = (id: string, name: string): string => `${review(id)}/panels/${encodeURIComponent(name)}`
  const template = (name: string): string => `/api/task-manager/templates/${encodeURIComponent(name)}`

  return {
    /** The server's time in milliseconds, estimated from its responses. Deadlines use this clock. */
    now: clock.now,
    login: (code: string) => json<{ token: string }>('/api/login', { method: 'POST', body: { code } }),
    loginCode: (signal?: AbortSignal) => json<{ code: string }>('/api/login/codes', { method: 'POST', signal }),

    /** Conversations: pinned first, then by last activity. `q` filters by words in the title. */
    sessions: (query: Page & { q?: string; list?: SessionList } = {}, signal?: AbortSignal) =>
      json<SessionsAnswer>('/api/sessions', { query: { ...query }, signal }),
    session: (id: string, signal?: AbortSignal) => json<SessionAnswer>(session(id), { signal }),
    /** A snapshot to fold events onto; `live` does that for you. */
    snapshot: (id: string, signal?: AbortSignal) => json<SnapshotAnswer>(`${session(id)}/snapshot`, { signal }),
    /** One event of the log, such as the full result of a truncated tool call. */
    event: async (id: string, seq: number, signal?: AbortSignal) =>
      (await json<EventAnswer>(`${session(id)}/events/${seq}`, { signal })).event,
    /** Follows a conversation; reconnects automatically until it is closed. */
    live: (id: string, more: LiveOptions = {}): LiveConversation => liveConversation(watched, id, more),
    /** Starts a turn, or attaches to it; resolves once the server runs it. See `live` and `stop`. */
    chat: async (request: ChatRequest, signal?: AbortSignal): Promise<void> => {
      const response = await ask(watched, '/api/chat', { method: 'POST', body: request, signal })
      await response.body?.cancel()
    },
    /**
     * Queues a message for the next model call of the running turn. If no turn runs, it starts one with the options in
     * `start`, by default one that continues the latest turn. Idempotent by message id.
     */
    sendMessage: (id: string, text: string, messageId?: string, start?: SentStart) =>
      json<SentMessageAnswer>(`${session(id)}/messages`, {
        method: 'POST',
        body: { message_id: messageId, text, start },
      }),
    /** Edits a queued message. */
    editMessage: (id: string, messageId: string, version: number, text: string) =>
      json<QueuedMessageAnswer>(message(id, messageId), { method: 'PATCH', body: { text }, ...ifMatch(version) }),
    /** Withdraws a queued message. */
    withdrawMessage: (id: string, messageId: string, version: number) =>
      json<QueuedMessageAnswer>(message(id, messageId), { method: 'DELETE', ...ifMatch(version) }),
    /** Sends queued messages now: stops the running turn and starts one with them. */
    sendMessageNow: (id: string, messageId: string) =>
      json<SentNowAnswer>(`${message(id, messageId)}/send`, { method: 'POST' }),
    /** Renames, pins or archives a conversation, or undoes that. */
    fileSession: async (id: string, change: Filing) =>
      (await json<FiledSessionAnswer>(session(id), { method: 'PATCH', body: change })).session,
    /** Exports a conversation as Markdown, or its log as JSON lines for `runsheet import`. */
    exportSession: async (id: string, format: 'md' | 'jsonl', signal?: AbortSignal): Promise<Blob> =>
      (await ask(watched, `${session(id)}/export.${format}`, { signal })).blob(),
    timeline: (id: string, taskId?: string) =>
      json<TimelineAnswer>(`${session(id)}/timeline`, { query: { task_id: taskId } }),
    setPolicy: (id: string, policy: PolicyPatch) =>
      json<PolicyAnswer>(`${session(id)}/policy`, { method: 'PUT', body: policy }),
    stop: (id: string, turnId: string) =>
      json<TurnAnswer>(`${session(id)}/turns/${encodeURIComponent(turnId)}/stop`, { method: 'POST' }),

    tasks: (id: string, query: Page & { turn_id?: string; status?: TaskStatus } = {}) =>
      json<TasksAnswer>(`${session(id)}/tasks`, { query: { ...query } }),
    /** Full-text search: conversations by title, then tasks, then messages, best match first. */
    find: (q: string, query: { limit?: number; kind?: SearchKind } = {}, signal?: AbortSignal) =>
      json<SearchAnswer>('/api/search', { query: { q, ...query }, signal }),
    /** Searches the title, details and outcome of tasks, newest first. */
    search: (q: string, query: Page = {}) => json<FoundTasksAnswer>('/api/tasks', { query: { q, ...query } }),
    /** With a key, a retry returns the answer to the first request. */
    addTask: (id: string, fields: Omit<PersonsFields, 'approve'> & { title: string }, key?: string) =>
      json<TaskAnswer>(`${session(id)}/tasks`, { method: 'POST', body: fields, ...keyed(key) }),
    changeTask: (id: string, taskId: string, version: number, fields: PersonsFields) =>
      json<TaskAnswer>(task(id, taskId), { method: 'PATCH', body: fields, ...ifMatch(version) }),
    removeTask: (id: string, taskId: string, version: number) =>
      json<TaskAnswer>(task(id, taskId), { method: 'DELETE', ...ifMatch(version) }),
    /** Has a disputed task done as it is asked. `changeTask` gives the other answers. */
    insist: (id: string, taskId: string, comment?: string) =>
      json<InsistAnswer>(`${task(id, taskId)}/insist`, {
        method: 'POST',
        body: comment === undefined ? {} : { comment },
      }),
    /** Undoes the change that produced this version of a task. Undoing the returned version is a redo. */
    undoTask: (id: string, taskId: string, version: number) =>
      json<TaskAnswer>(`${task(id, taskId)}/undo`, { method: 'POST', body: { version } }),

    /** Requests a run of an approved check. The result arrives as an event. */
    runCheck: (id: string, taskId: string, checkId: string) => check(id, taskId, checkId, 'run'),
    stopCheck: (id: string, taskId: string, checkId: string) => check(id, taskId, checkId, 'stop'),
    /** Ticks a check of kind `person`. */
    tickCheck: (id: string, taskId: string, checkId: string) => check(id, taskId, checkId, 'tick'),
    /** Accepts changes outside the scope, by the paths in `changes` of the task's checks. */
    acceptChanges: (id: string, taskId: string, paths: readonly string[]) =>
      json<TaskAnswer>(`${task(id, taskId)}/changes/accept`, { method: 'POST', body: { paths } }),

    /** The task's verdicts, claims and most relevant tool calls; `liveEvidence` follows them. */
    evidence: (id: string, taskId: string, signal?: AbortSignal) =>
      json<EvidenceAnswer>(`${task(id, taskId)}/evidence`, { signal }),
    /** Reports a tool call of an external agent. Nothing is stored while no task is in progress. */
    addEvidence: (id: string, call: SentEvidence) =>
      json<EvidenceAdded>(`${session(id)}/evidence`, { method: 'POST', body: call }),

    /**
     * Pending reviews with their conversations, by deadline, page by page; of one conversation or of all. `origins`
     * adds when and by which agent each was opened; `approvals` adds pending tool calls and disputes.
     */
    pendingReviews: (
      sessionId?: string,
      { origins = false, approvals = false, ...page }: PendingPage = {},
      signal?: AbortSignal,
    ) => {
      const query = {
        session_id: sessionId,
        ...page,
        ...(origins && { origins: 'true' }),
        ...(approvals && { approvals: 'true' }),
      }
      return json<ReviewsAnswer>('/api/task-manager/reviews/pending', { query, signal })
    },
    /** A review and, once it is decided, the result of its tool call. */
    review: async (id: string): Promise<{ review: ReviewRequest; result?: Json }> => {
      const { reviews, ...answer } = await json<ReviewAnswer>(review(id))
      const [only] = reviews
      if (!only) throw new RunsheetError(404, { code: 'review_not_found', message: `There is no review ${id}.` })
      return { review: only, ...answer }
    },
    /** `keepalive` lets a decision of up to 64 kB outlive the page that sends it. */
    decide: (id: string, decision: SentDecision, { keepalive = false } = {}) =>
      json<DecisionAnswer>(`${review(id)}/decision`, { method: 'POST', body: decision, keepalive }),
    /** Reopens a review that ended without a decision. */
    reopen: (id: string) => json<ReopenAnswer>(`${review(id)}/reopen`, { method: 'POST' }),
    /** Extends a review's deadline to `ms` from now, by default to its original duration. */
    extend: (id: string, ms?: number) =>
      json<ExtendAnswer>(`${review(id)}/extend`, { method: 'POST', body: ms === undefined ? {} : { ms } }),
    showPanel: (id: string, name: string) => json<void>(panel(id, name), { method: 'PUT' }),
    leavePanel: (id: string, name: string) => json<void>(panel(id, name), { method: 'DELETE', keepalive: true }),

    templates: () => json<TemplatesAnswer>('/api/task-manager/templates'),
    template: (name: string) => json<Template>(template(name)),
    saveTemplate: (name: string, tasks: readonly SentRow[]) =>
      json<Template>(template(name), { method: 'PUT', body: { tasks } }),
    renameTemplate: (name: string, to: string) =>
      json<Template>(`${template(name)}/rename`, { method: 'POST', body: { name: to } }),
    deleteTemplate: (name: string) => json<void>(template(name), { method: 'DELETE' }),

    toolsets: () => json<ToolsetsAnswer>('/api/toolsets'),
    toolset: (name: ToolsetName) => json<ToolsetAnswer>(`/api/toolsets/${name}`),
    /** Guidance for the next prompt of a model that called the planning tool with invalid arguments. */
    retryGuidance: (name: ToolsetName, { session_id, turn_id }: Pick<ToolCallRequest, 'session_id' | 'turn_id'>) =>
      json<RetryAnswer>(`/api/toolsets/${name}/retry`, { query: { session_id, turn_id } }),
    models: () => json<ModelsAnswer>('/api/models'),
    /** Calls a tool: returns its result, or `pending_review` if a person has not decided within 25 s. */
    call: (toolset: ToolsetName, tool: string, call: ToolCallRequest, signal?: AbortSignal) =>
      json<ToolAnswer>(`/api/toolsets/${toolset}/tools/${encodeURIComponent(tool)}`, {
        method: 'POST',
        body: call,
        signal,
      }),
    /** The agent's MCP servers and tools, with their status. */
    tools: (signal?: AbortSignal) => json<ToolsAnswer>('/api/tools', { signal }),
    /** Sets whether calls of some tools need approval, are always made, or never; null restores the configured rule. */
    setToolRules: (change: ToolRuleChange) => json<ToolsAnswer>('/api/tools/rules', { method: 'PUT', body: change }),
    /** Removes an MCP server from the person's own settings file. */
    removeToolServer: (name: string) => json<ToolsAnswer>(toolServer(name), { method: 'DELETE' }),
    /** Connects to a server that failed again, now. */
    retryToolServer: (name: string) => json<ToolsAnswer>(`${toolServer(name)}/retry`, { method: 'POST' }),
    /** Allows or denies a pending call. Repeating the same decision changes nothing. */
    decideApproval: (id: string, approvalId: string, decision: SentApproval) =>
      json<ApprovalAnswer>(`${session(id)}/approvals/${encodeURIComponent(approvalId)}`, {
        method: 'POST',
        body: decision,
      }),
    /** The effective server settings, without the key. */
    settings: (signal?: AbortSignal) => json<SettingsAnswer>('/api/settings', { signal }),
    /** Changes the named settings. `version` is the version that the change is based on; a stale one is refused. */
    changeSettings: (version: string, change: SettingsChange) =>
      json<SettingsAnswer>('/api/settings', { method: 'PATCH', body: change, headers: { 'if-match': version } }),
    /** Tests a configured model with one small call. */
    tryModel: (which: 'model' | 'assessor_model' = 'model', signal?: AbortSignal) =>
      json<TryAnswer>('/api/settings/try', { method: 'POST', body: { which }, signal }),
    openApi: () => json<Json>('/api/openapi.json'),
  }
}
