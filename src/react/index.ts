export { RunsheetProvider, useRunsheet } from './runsheet-provider.tsx'
export type { RunsheetContextValue, RunsheetProviderProps, RunsheetSource } from './runsheet-provider.tsx'

export { ReviewPanel } from './review-panel.tsx'
export type { ReviewPanelProps } from './review-panel.tsx'
export { Timeline } from './timeline.tsx'
export type { TimelineProps } from './timeline.tsx'
export { TodosPanel } from './todos-panel.tsx'
export type { TodosPanelProps } from './todos-panel.tsx'
export { StatusIcon } from './status-icon.tsx'
export { AutosizeTextarea } from './autosize-textarea.tsx'

export { useConversation } from './use-conversation.ts'
export type { ConversationView } from './use-conversation.ts'
export { useReview } from './use-review.ts'
export type { CommentField, DraftProblem, ReviewHandle, ReviewSource } from './use-review.ts'
export type { Rejection } from './use-rejection.ts'
export type { ReviewOutcomeHandle } from './use-review-outcome.ts'
export type { ReviewError } from './use-decision.ts'
export type { EarlierEdits } from './use-draft.ts'
export type { MoreTime } from './use-more-time.ts'
export type { DraftTally, EditableRow, RowFields } from './draft.ts'
export type { EditableCheck } from './draft-checks.ts'
export type { ReviewChecks } from './edit-checks.ts'
export { useEvidence } from './use-evidence.ts'
export type { EvidenceHandle } from './use-evidence.ts'
export { useThread } from './use-thread.ts'
export type {
  PlanTally,
  StepItem,
  StepRun,
  ThreadItem,
  ThreadTurn,
  TurnEnd,
  WorkedStep,
} from '../domain/thread.ts'
export type { PlanCard, PlanOutcome, PlanRow } from '../domain/plan-card.ts'
export { revisionOf } from '../domain/revision.ts'
export type { Revision } from '../domain/revision.ts'
export { useTasks } from './use-tasks.ts'
export type { TasksHandle } from './use-tasks.ts'
export type { PlanCheck, PlanProof, TaskCheck, TaskClaim } from './plan-proof.ts'
export type { TaskCounts, UnfinishedTurn } from './plan-progress.ts'

export { StringsContext, useStrings } from './strings.ts'
export type { CheckStrings, EvidenceStrings, Strings, TimelineStrings } from './strings.ts'
export { chinese } from './chinese.ts'
export { english } from './english.ts'
export { errorText } from './error-text.ts'
export type { ErrorCode, ErrorData, ErrorStrings, FieldRule } from './error-text.ts'
export { localeOf } from './locale.ts'
export { turnsInOrder } from './chronological.ts'
export { isComposing } from './is-composing.ts'
