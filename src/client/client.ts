import type { Json } from '../domain/event.ts'
import type { PolicyPatch, ToolsetName } from '../domain/policy.ts'
import type { ReviewRequest } from '../domain/review.ts'
import type { SearchKind } from '../domain/search.ts'
import type { SessionList } from '../domain/session-list.ts'
import type { TaskStatus } from '../domain/task.ts'
import type { Template } from '../domain/template.ts'
import type {
  ApprovalAnswer,
  DecisionAnswer,
  ExtendAnswer,
  ReopenAnswer,
  EventAnswer,
  EvidenceAdded,
  EvidenceAnswer,
  FiledSessionAnswer,
  FoundTasksAnswer,
  ModelsAnswer,
  PersonsFields,
  PolicyAnswer,
  QueuedMessageAnswer,
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
} from '../domain/wire.ts'
import { ServerClock } from './clock.ts'
import { type Ask, ask, askJson, type ClientOptions } from './http.ts'
import { type LiveConversation, liveConversation, type LiveOptions } from './live.ts'
import { RunsheetError } from './runsheet-error.ts'

/** A tool call, and the conversation and turn it belongs to. */
export interface ToolCallRequest {
  readonly session_id: string
  readonly turn_id: string
  readonly arguments: unknown
  readonly tool_call_id?: string
  readonly source_user_message_id?: string
  readonly source_assistant_message_id?: string
  /** The model that calls and its provider, for the server's log. */
  readonly provider?: string
  readonly model?: string
}
/** How a message starts a turn. */
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
/** What a person changes about a conversation. */
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

/** A server's routes as functions, for Node and the browser. Errors are thrown as `RunsheetError`. */
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
    /** The server's time in milliseconds, as far as its answers tell. Deadlines are by that clock. */
    now: clock.now,
    login: (code: string) => json<{ token: string }>('/api/login', { method: 'POST', body: { code } }),
    loginCode: (signal?: AbortSignal) => json<{ code: string }>('/api/login/codes', { method: 'POST', signal }),

    /** Conversations: pinned ones first, then by last activity; with `q` those with these words in their title. */
    sessions: (query: Page & { q?: string; list?: SessionList } = {}, signal?: AbortSignal) =>
      json<SessionsAnswer>('/api/sessions', { query: { ...query }, signal }),
    session: (id: string, signal?: AbortSignal) => json<SessionAnswer>(session(id), { signal }),
    /** A conversation to fold events on; `live` does that for you. */
    snapshot: (id: string, signal?: AbortSignal) => json<SnapshotAnswer>(`${session(id)}/snapshot`, { signal }),
    /** One event of the log, such as the answer of a tool call whose result was cut. */
    event: async (id: string, seq: number, signal?: AbortSignal) =>
      (await json<EventAnswer>(`${session(id)}/events/${seq}`, { signal })).event,
    /** The conversation as it is and as it changes. It reconnects by itself until it is closed. */
    live: (id: string, more: LiveOptions = {}): LiveConversation => liveConversation(watched, id, more),
    /**
     * Starts a turn, or attaches to it; resolves once it runs on the server. Follow it with `live`, stop it with
     * `stop`.
     */
    chat: async (request: ChatRequest, signal?: AbortSignal): Promise<void> => {
      const response = await ask(watched, '/api/chat', { method: 'POST', body: request, signal })
      await response.body?.cancel()
    },
    /**
     * Sends a message: it waits for the next model call of the running turn, or starts a turn, as `start` says; without
     * `start`, one that continues the latest. The same id again is the same message.
     */
    sendMessage: (id: string, text: string, messageId?: string, start?: SentStart) =>
      json<SentMessageAnswer>(`${session(id)}/messages`, {
        method: 'POST',
        body: { message_id: messageId, text, start },
      }),
    /** Edits a message that waits. */
    editMessage: (id: string, messageId: string, version: number, text: string) =>
      json<QueuedMessageAnswer>(message(id, messageId), { method: 'PATCH', body: { text }, ...ifMatch(version) }),
    /** Takes back a message that waits. */
    withdrawMessage: (id: string, messageId: string, version: number) =>
      json<QueuedMessageAnswer>(message(id, messageId), { method: 'DELETE', ...ifMatch(version) }),
    /** Sends what waits without waiting for the next model call: stops the turn, whose end starts one with it. */
    sendMessageNow: (id: string, messageId: string) =>
      json<SentNowAnswer>(`${message(id, messageId)}/send`, { method: 'POST' }),
    /** Names, pins or archives a conversation, or takes that back. */
    fileSession: async (id: string, change: Filing) =>
      (await json<FiledSessionAnswer>(session(id), { method: 'PATCH', body: change })).session,
    /** A conversation to keep: as Markdown to read, or its log as JSON lines, which `runsheet import` reads. */
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
    /** Conversations by their title, then tasks, then messages with these words, best first. */
    find: (q: string, query: { limit?: number; kind?: SearchKind } = {}, signal?: AbortSignal) =>
      json<SearchAnswer>('/api/search', { query: { q, ...query }, signal }),
    /** Tasks with these words in title, details and outcome, newest first. */
    search: (q: string, query: Page = {}) => json<FoundTasksAnswer>('/api/tasks', { query: { q, ...query } }),
    /** With a key, a repeated request returns the first one's answer. */
    addTask: (id: string, fields: Omit<PersonsFields, 'approve'> & { title: string }, key?: string) =>
      json<TaskAnswer>(`${session(id)}/tasks`, { method: 'POST', body: fields, ...keyed(key) }),
    changeTask: (id: string, taskId: string, version: number, fields: PersonsFields) =>
      json<TaskAnswer>(task(id, taskId), { method: 'PATCH', body: fields, ...ifMatch(version) }),
    removeTask: (id: string, taskId: string, version: number) =>
      json<TaskAnswer>(task(id, taskId), { method: 'DELETE', ...ifMatch(version) }),
    /** Takes back the change that led to this version of a task. Undoing the version of the answer is a redo. */
    undoTask: (id: string, taskId: string, version: number) =>
      json<TaskAnswer>(`${task(id, taskId)}/undo`, { method: 'POST', body: { version } }),

    /** Asks for a run of an approved check. Its result comes with the events. */
    runCheck: (id: string, taskId: string, checkId: string) => check(id, taskId, checkId, 'run'),
    stopCheck: (id: string, taskId: string, checkId: string) => check(id, taskId, checkId, 'stop'),
    /** Ticks a check that a person looks at. */
    tickCheck: (id: string, taskId: string, checkId: string) => check(id, taskId, checkId, 'tick'),
    /** Accepts changes to guarded files: all that the checks of the task wait for. */
    acceptGuards: (id: string, taskId: string, paths: readonly string[]) =>
      json<TaskAnswer>(`${task(id, taskId)}/guards/accept`, { method: 'POST', body: { paths } }),

    /** The verdicts on a task, what was claimed, and the tool calls that tell most; `liveEvidence` follows them. */
    evidence: (id: string, taskId: string, signal?: AbortSignal) =>
      json<EvidenceAnswer>(`${task(id, taskId)}/evidence`, { signal }),
    /** Reports a tool call of an agent elsewhere. Nothing is stored while no task is in progress. */
    addEvidence: (id: string, call: SentEvidence) =>
      json<EvidenceAdded>(`${session(id)}/evidence`, { method: 'POST', body: call }),

    /**
     * Pending reviews by deadline, of one conversation or of all, page by page, with their conversations; with `origins`
     * also when and by which agent each was opened; with `approvals` also the calls of tools that wait.
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
    /** A review and, once it is decided, what the tool call answers. */
    review: async (id: string): Promise<{ review: ReviewRequest; result?: Json }> => {
      const { reviews, ...answer } = await json<ReviewAnswer>(review(id))
      const [only] = reviews
      if (!only) throw new RunsheetError(404, { code: 'review_not_found', message: `There is no review ${id}.` })
      return { review: only, ...answer }
    },
    /** `keepalive` lets a decision of up to 64 kB outlive the page that sends it. */
    decide: (id: string, decision: SentDecision, { keepalive = false } = {}) =>
      json<DecisionAnswer>(`${review(id)}/decision`, { method: 'POST', body: decision, keepalive }),
    /** Opens a review again that nobody decided. */
    reopen: (id: string) => json<ReopenAnswer>(`${review(id)}/reopen`, { method: 'POST' }),
    /** Gives a review with a deadline more time: from now `ms`, by default as long as it had at first. */
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
    /** Guidance for the next prompt of a model that called the planning tool in the wrong form. */
    retryGuidance: (name: ToolsetName, { session_id, turn_id }: Pick<ToolCallRequest, 'session_id' | 'turn_id'>) =>
      json<RetryAnswer>(`/api/toolsets/${name}/retry`, { query: { session_id, turn_id } }),
    models: () => json<ModelsAnswer>('/api/models'),
    /** Calls a tool: its result, or `pending_review` if a person has not decided within 25 s. */
    call: (toolset: ToolsetName, tool: string, call: ToolCallRequest, signal?: AbortSignal) =>
      json<ToolAnswer>(`/api/toolsets/${toolset}/tools/${encodeURIComponent(tool)}`, {
        method: 'POST',
        body: call,
        signal,
      }),
    /** The MCP servers and tools of the agent, and how each stands. */
    tools: (signal?: AbortSignal) => json<ToolsAnswer>('/api/tools', { signal }),
    /** Sets whether calls of some tools are asked about, always made, or never; null: as the configuration has it. */
    setToolRules: (change: ToolRuleChange) => json<ToolsAnswer>('/api/tools/rules', { method: 'PUT', body: change }),
    /** Takes an MCP server out of the person's own settings file. */
    removeToolServer: (name: string) => json<ToolsAnswer>(toolServer(name), { method: 'DELETE' }),
    /** Connects to a server that failed again, now. */
    retryToolServer: (name: string) => json<ToolsAnswer>(`${toolServer(name)}/retry`, { method: 'POST' }),
    /** Allows a call that waits, or does not. The same decision again changes nothing. */
    decideApproval: (id: string, approvalId: string, decision: SentApproval) =>
      json<ApprovalAnswer>(`${session(id)}/approvals/${encodeURIComponent(approvalId)}`, {
        method: 'POST',
        body: decision,
      }),
    /** The settings of the server as they count now; the key is not among them. */
    settings: (signal?: AbortSignal) => json<SettingsAnswer>('/api/settings', { signal }),
    /** Changes what is named. `version` is that of the settings that the change is based on; another one is refused. */
    changeSettings: (version: string, change: SettingsChange) =>
      json<SettingsAnswer>('/api/settings', { method: 'PATCH', body: change, headers: { 'if-match': version } }),
    /** Makes one small call to a configured model. */
    tryModel: (which: 'model' | 'assessor_model' = 'model', signal?: AbortSignal) =>
      json<TryAnswer>('/api/settings/try', { method: 'POST', body: { which }, signal }),
    openApi: () => json<Json>('/api/openapi.json'),
  }
}
