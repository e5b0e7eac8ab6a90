export { RunsheetProvider, useRunsheet } from './parts/provider.tsx'
export type { RunsheetContextValue, RunsheetProviderProps, RunsheetSource } from './parts/provider.tsx'

export { ReviewPanel } from './review/review-panel.tsx'
export type { ReviewPanelProps } from './review/review-panel.tsx'
export { Timeline } from './thread/timeline.tsx'
export type { TimelineProps } from './thread/timeline.tsx'
export { TodosPanel } from './plan/todos-panel.tsx'
export type { TodosPanelProps } from './plan/todos-panel.tsx'
export { StatusIcon } from './parts/icons.tsx'
export { FollowUps } from './thread/turn-result.tsx'
export type { FollowUpsProps } from './thread/turn-result.tsx'
export { PlanContinued, PlanDecision } from './thread/plan-decision.tsx'
export type { PlanContinuedProps, PlanDecisionProps } from './thread/plan-decision.tsx'
export { CutLine, RunLine } from './thread/step-lines.tsx'
export { ThreadStep } from './thread/thread-step.tsx'
export type { ThreadStepProps } from './thread/thread-step.tsx'
export { ToolUse } from './thread/tool-use.tsx'
export type { ToolUseProps } from './thread/tool-use.tsx'
export { TurnResult } from './thread/turn-result.tsx'
export type { TurnResultProps } from './thread/turn-result.tsx'
export { Menu } from './parts/controls.tsx'
export type { MenuItem, MenuProps } from './parts/controls.tsx'
export { LineInput } from './parts/controls.tsx'
export type { LineInputProps } from './parts/controls.tsx'
export { AutosizeTextarea } from './parts/textarea.tsx'
export { plainMarkdown } from './thread/plain-markdown.ts'
export { durationText } from './parts/check-text.ts'

export { useConversation } from './hooks/use-conversation.ts'
export type { ConversationView } from './hooks/use-conversation.ts'
export { useReview } from './review/use-review.ts'
export type { CommentField, DraftProblem, ReviewHandle, ReviewSource } from './review/use-review.ts'
export type { Rejection } from './review/rejection.ts'
export type { Reopening, ReviewOutcomeHandle } from './review/outcome.ts'
export type { ReviewError } from './review/decision.ts'
export type { EarlierEdits } from './review/use-draft.ts'
export type { MoreTime } from './review/decision.ts'
export type { DraftTally, EditableRow, RowFields } from './review/draft.ts'
export type { EditableCheck } from './review/draft-checks.ts'
export type { ReviewChecks } from './review/draft-checks.ts'
export { useEvidence } from './hooks/use-thread.ts'
export type { EvidenceHandle } from './hooks/use-thread.ts'
export { ApprovalCards } from './thread/approvals.tsx'
export type { ApprovalCardsProps } from './thread/approvals.tsx'
export { ApprovalCard } from './thread/approvals.tsx'
export type { ApprovalCardProps } from './thread/approvals.tsx'
export { useApprovals } from './hooks/use-approvals.ts'
export type { ApprovalsHandle } from './hooks/use-approvals.ts'
export { useTools } from './hooks/use-tools.ts'
export type { ToolsHandle } from './hooks/use-tools.ts'
export type { ToolsState } from './hooks/use-tools.ts'
export { useSteering } from './hooks/use-steering.ts'
export type { SteeringHandle } from './hooks/use-steering.ts'
export { usePendingReviews } from './review/use-pending-reviews.ts'
export type {
  PendingReviewsHandle,
  PendingReviewsOptions,
  WaitingCall,
  WaitingReview,
  WaitingTask,
} from './review/use-pending-reviews.ts'
export { useSessions } from './hooks/use-conversation.ts'
export type { SessionsHandle } from './hooks/use-conversation.ts'
export { groupSessions } from '../../client/session-groups.ts'
export type { GroupedSessions, SessionGroup } from '../../client/session-groups.ts'
export { useSettings } from './hooks/use-settings.ts'
export type { SettingsHandle } from './hooks/use-settings.ts'
export type { SettingsState } from './hooks/use-settings.ts'
export { useThread } from './hooks/use-thread.ts'
export type { PlanTally } from '../../core/views/tally.ts'
export type {
  StepItem,
  StepRun,
  ThreadItem,
  ThreadTurn,
  TurnEnd,
  WorkedStep,
} from '../../core/views/thread.ts'
export type { PlanCard, PlanRow } from '../../core/views/plan-card.ts'
export type { PlanOutcome } from '../../core/model/review-action.ts'
export { revisionOf } from '../../core/views/revision.ts'
export type { Revision } from '../../core/views/revision.ts'
export { useTasks } from './plan/use-tasks.ts'
export type { TasksHandle } from './plan/use-tasks.ts'
export type { PlanCheck, PlanProof, TaskCheck, TaskClaim } from './plan/proof.ts'
export type { TaskCounts, UnfinishedTurn } from './plan/progress.ts'

export { StringsContext, useStrings } from './texts/strings.ts'
export type {
  CheckStrings,
  EventStrings,
  EvidenceStrings,
  Strings,
  ThreadStrings,
  TimelineStrings,
} from './texts/strings.ts'
export { chinese } from './texts/chinese.ts'
export { english } from './texts/english.ts'
export { errorText } from './texts/error-text.ts'
export type { ErrorCode, ErrorData, ErrorStrings, FieldRule } from './texts/error-text.ts'
export { localeOf } from './texts/strings.ts'
export { turnsInOrder } from './hooks/use-conversation.ts'
export { isComposing } from './parts/textarea.tsx'
