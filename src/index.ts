export { createRunsheet, openMemoryStore, Runsheet } from './library/runsheet.ts'
export type { Judge, JudgeAnswer, JudgeCall, JudgeCase, RunsheetOptions, Store } from './library/runsheet.ts'
export { Conversation } from './library/conversation.ts'
export type { DecidedReview, StartOptions, TaskEdit } from './library/conversation.ts'
export { Turn } from './library/turn.ts'
export type { CallOptions, FinishedTurn, FunctionDefinition, ToolDefinition, TurnOptions } from './library/turn.ts'
export type { Checks } from './library/handles.ts'
export type { OnReview } from './library/reviewer.ts'

export { Refusal } from './core/model/refusal.ts'
export { StoreError } from './store/store-error.ts'
export type { RefusalCode, RefusalData } from './core/model/refusal.ts'
export type { StoreErrorCode } from './store/store-error.ts'

export type {
  Commit,
  Decision,
  Found,
  ObservedCall,
  Observer,
  Page,
  Paged,
  ReportedCall,
  TailOptions,
} from './engine/door/door.ts'
export type { EvidenceSource, LeftOut, ToolFact } from './core/proof/evidence.ts'
export type { EventData, EventType, Json, StoredEvent } from './core/model/event.ts'
export type { Origin } from './core/model/origin.ts'
export type { Policy, PolicyPatch, ToolsetName } from './core/model/policy.ts'
export type { Resolution } from './core/model/event.ts'
export type { Changes, DraftRow, ReviewRequest } from './core/model/review.ts'
export type { Row } from './core/model/row.ts'
export type { ApprovalDecision, ToolApproval, ToolApprovalRequest, ToolChange } from './core/model/tool-approval.ts'
export type { SentApproval } from './core/views/wire.ts'
export type { Check, CheckSpec, Workspace } from './core/proof/check.ts'
export type { CheckState } from './core/proof/check-state.ts'
export type { Standing } from './core/proof/standing.ts'
export type { ConversationSnapshot } from './core/model/snapshot.ts'
export type { Task, TaskStatus } from './core/model/task.ts'
export type { PlanCounts, TurnStatus } from './core/model/turn.ts'
export type { SearchKind } from './core/text/search.ts'
export type { SessionList, SessionMark } from './core/views/session-list.ts'
export type { Part } from './core/text/search.ts'
export type {
  ClaimView,
  ConversationResult,
  EvidenceAdded,
  EvidenceAnswer,
  EvidenceView,
  MessageResult,
  SearchAnswer,
  CheckStanding,
  CheckView,
  SearchResult,
  SentCheck,
  SentChecks,
  SentRow,
  Session,
  TaskResult,
  TaskView,
  VerdictView,
} from './core/views/wire.ts'
