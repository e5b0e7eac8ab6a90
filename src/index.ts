export { createRunsheet, Runsheet } from './library/runsheet.ts'
export type { Judge, JudgeAnswer, JudgeCall, JudgeCase, RunsheetOptions, Store } from './library/runsheet.ts'
export { Conversation } from './library/conversation.ts'
export type { DecidedReview, StartOptions, TaskEdit } from './library/conversation.ts'
export { Turn } from './library/turn.ts'
export type { CallOptions, FinishedTurn, FunctionDefinition, ToolDefinition, TurnOptions } from './library/turn.ts'
export type { Checks } from './library/handles.ts'
export type { OnReview } from './library/reviewer.ts'
export { openMemoryStore } from './library/memory.ts'

export { Refusal } from './domain/refusal.ts'
export { StoreError } from './store/store-error.ts'
export type { RefusalCode, RefusalData } from './domain/refusal.ts'
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
} from './door/door.ts'
export type { EvidenceSource, LeftOut, ToolFact } from './domain/evidence.ts'
export type { EventData, EventType, Json, StoredEvent } from './domain/event.ts'
export type { Origin } from './domain/origin.ts'
export type { Policy, PolicyPatch, ToolsetName } from './domain/policy.ts'
export type { Resolution } from './domain/event.ts'
export type { Changes, DraftRow, ReviewRequest } from './domain/review.ts'
export type { Row } from './domain/row.ts'
export type { ApprovalDecision, ToolApproval, ToolApprovalRequest, ToolChange } from './domain/tool-approval.ts'
export type { SentApproval } from './domain/wire.ts'
export type { Check, CheckSpec, Workspace } from './domain/check.ts'
export type { CheckState } from './domain/check-state.ts'
export type { Standing } from './domain/standing.ts'
export type { ConversationSnapshot } from './domain/snapshot.ts'
export type { Task, TaskStatus } from './domain/task.ts'
export type { PlanCounts, TurnStatus } from './domain/turn.ts'
export type { SearchKind } from './domain/search.ts'
export type { SessionList, SessionMark } from './domain/session-list.ts'
export type { Part } from './domain/search-marks.ts'
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
} from './domain/wire.ts'
