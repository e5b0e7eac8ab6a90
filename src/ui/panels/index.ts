export {
  RunsheetProvider,
  useRunsheet,
  useConversation,
  useSessions,
  turnsInOrder,
  type ConversationView,
  type RunsheetContextValue,
  type RunsheetProviderProps,
  type RunsheetSource,
  type SessionsHandle,
} from './parts/provider.tsx'
export { ReviewPanel, type ReviewPanelProps } from './review/review-panel.tsx'
export { Timeline, type TimelineProps } from './thread/timeline.tsx'
export { TodosPanel, type TodosPanelProps } from './plan/todos-panel.tsx'
export { StatusIcon } from './parts/icons.tsx'
export { FollowUps, CutLine, RunLine, TurnResult, type FollowUpsProps, type TurnResultProps } from './thread/lines.tsx'
export {
  PlanContinued,
  PlanDecision,
  type PlanContinuedProps,
  type PlanDecisionProps,
} from './thread/plan-decision.tsx'
export { ThreadStep, type ThreadStepProps } from './thread/thread-step.tsx'
export { ToolUse, type ToolUseProps } from './thread/tool-use.tsx'
export { Menu, type MenuItem, type MenuProps } from './parts/menu.tsx'
export { LineInput, type LineInputProps } from './parts/line-input.tsx'
export {
  AutosizeTextarea,
  Button,
  IconButton,
  isComposing,
  type ButtonProps,
  type IconButtonProps,
} from './parts/controls.tsx'
export { plainMarkdown, durationText } from './parts/text.ts'
export {
  useReview,
  type CommentField,
  type DraftProblem,
  type ReviewHandle,
  type ReviewSource,
} from './review/use-review.ts'
export type { Rejection } from './review/rejection.ts'
export type { Reopening, ReviewOutcomeHandle } from './review/outcome.ts'
export type { MoreTime, ReviewError } from './review/decision.ts'
export type { EarlierEdits } from './review/use-draft.ts'
export type { DraftTally, EditableRow, RowFields } from './review/draft.ts'
export type { EditableCheck, ReviewChecks } from './review/draft-checks.ts'
export { useEvidence, useThread, type EvidenceHandle } from './hooks/use-thread.ts'
export {
  ApprovalCards,
  ApprovalCard,
  useApprovals,
  type ApprovalCardProps,
  type ApprovalCardsProps,
  type ApprovalsHandle,
} from './thread/approvals.tsx'
export {
  useTools,
  useSettings,
  type SettingsHandle,
  type SettingsState,
  type ToolsHandle,
  type ToolsState,
} from './hooks/server.ts'
export { useSteering, type SteeringHandle } from './hooks/use-steering.ts'
export {
  usePendingReviews,
  type PendingReviewsHandle,
  type PendingReviewsOptions,
  type WaitingCall,
  type WaitingReview,
  type WaitingTask,
} from './review/use-pending-reviews.ts'
export { groupSessions, type GroupedSessions, type SessionGroup } from '../../client/live-sessions.ts'
export type { PlanTally } from '../../core/views/tally.ts'
export type { StepItem, StepRun, ThreadItem, ThreadTurn, TurnEnd, WorkedStep } from '../../core/views/thread.ts'
export type { PlanCard, PlanRow } from '../../core/views/plan-card.ts'
export type { PlanOutcome } from '../../core/model/review-action.ts'
export { revisionOf, type Revision } from '../../core/views/plan-card.ts'
export { useTasks, type TasksHandle } from './plan/use-tasks.ts'
export type { PlanCheck, PlanProof, TaskCheck, TaskClaim } from './plan/proof.ts'
export type { TaskCounts, UnfinishedTurn } from './plan/progress.ts'
export {
  StringsContext,
  useStrings,
  localeOf,
  type CheckStrings,
  type EventStrings,
  type EvidenceStrings,
  type Strings,
  type ThreadStrings,
  type TimelineStrings,
} from './texts/strings.ts'
export { chinese } from './texts/chinese.ts'
export { english } from './texts/english.ts'
export { errorText, type ErrorCode, type ErrorData, type ErrorStrings, type FieldRule } from './texts/error-text.ts'
