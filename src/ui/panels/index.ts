export { RunsheetProvider, useRunsheet } from './parts/runsheet-provider.tsx'
export type { RunsheetContextValue, RunsheetProviderProps, RunsheetSource } from './parts/runsheet-provider.tsx'

export { ReviewPanel } from './review/review-panel.tsx'
export type { ReviewPanelProps } from './review/review-panel.tsx'
export { Timeline } from './thread/timeline.tsx'
export type { TimelineProps } from './thread/timeline.tsx'
export { TodosPanel } from './tasks/todos-panel.tsx'
export type { TodosPanelProps } from './tasks/todos-panel.tsx'
export { StatusIcon } from './tasks/status-icon.tsx'
export { FollowUps } from './thread/follow-ups.tsx'
export type { FollowUpsProps } from './thread/follow-ups.tsx'
export { PlanContinued, PlanDecision } from './review/plan-decision.tsx'
export type { PlanContinuedProps, PlanDecisionProps } from './review/plan-decision.tsx'
export { CutLine, RunLine } from './thread/step-lines.tsx'
export { ThreadStep } from './thread/thread-step.tsx'
export type { ThreadStepProps } from './thread/thread-step.tsx'
export { ToolUse } from './thread/tool-use.tsx'
export type { ToolUseProps } from './thread/tool-use.tsx'
export { TurnResult } from './tasks/turn-result.tsx'
export type { TurnResultProps } from './tasks/turn-result.tsx'
export { Menu } from './parts/menu.tsx'
export type { MenuItem, MenuProps } from './parts/menu.tsx'
export { LineInput } from './parts/line-input.tsx'
export type { LineInputProps } from './parts/line-input.tsx'
export { AutosizeTextarea } from './parts/autosize-textarea.tsx'
export { plainMarkdown } from './thread/plain-markdown.ts'
export { durationText } from './thread/duration-text.ts'

export { useConversation } from './thread/use-conversation.ts'
export type { ConversationView } from './thread/use-conversation.ts'
export { useReview } from './review/use-review.ts'
export type { CommentField, DraftProblem, ReviewHandle, ReviewSource } from './review/use-review.ts'
export type { Rejection } from './review/use-rejection.ts'
export type { Reopening, ReviewOutcomeHandle } from './review/use-review-outcome.ts'
export type { ReviewError } from './review/use-decision.ts'
export type { EarlierEdits } from './draft/use-draft.ts'
export type { MoreTime } from './review/use-more-time.ts'
export type { DraftTally, EditableRow, RowFields } from './draft/draft.ts'
export type { EditableCheck } from './draft/draft-checks.ts'
export type { ReviewChecks } from './draft/edit-checks.ts'
export { useEvidence } from './tasks/use-evidence.ts'
export type { EvidenceHandle } from './tasks/use-evidence.ts'
export { ApprovalCards } from './thread/approval-cards.tsx'
export type { ApprovalCardsProps } from './thread/approval-cards.tsx'
export { ApprovalCard } from './thread/approval-card.tsx'
export type { ApprovalCardProps } from './thread/approval-card.tsx'
export { useApprovals } from './thread/use-approvals.ts'
export type { ApprovalsHandle } from './thread/use-approvals.ts'
export { useTools } from './thread/use-tools.ts'
export type { ToolsHandle } from './thread/use-tools.ts'
export type { ToolsState } from './thread/tools-store.ts'
export { useSteering } from './thread/use-steering.ts'
export type { SteeringHandle } from './thread/use-steering.ts'
export { usePendingReviews } from './review/use-pending-reviews.ts'
export type {
  PendingReviewsHandle,
  PendingReviewsOptions,
  WaitingCall,
  WaitingReview,
  WaitingTask,
} from './review/use-pending-reviews.ts'
export { useSessions } from './thread/use-sessions.ts'
export type { SessionsHandle } from './thread/use-sessions.ts'
export { groupSessions } from '../../client/session-groups.ts'
export type { GroupedSessions, SessionGroup } from '../../client/session-groups.ts'
export { useSettings } from './thread/use-settings.ts'
export type { SettingsHandle } from './thread/use-settings.ts'
export type { SettingsState } from './thread/settings-store.ts'
export { useThread } from './thread/use-thread.ts'
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
export { useTasks } from './tasks/use-tasks.ts'
export type { TasksHandle } from './tasks/use-tasks.ts'
export type { PlanCheck, PlanProof, TaskCheck, TaskClaim } from './tasks/plan-proof.ts'
export type { TaskCounts, UnfinishedTurn } from './tasks/plan-progress.ts'

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
export { localeOf } from './texts/locale.ts'
export { turnsInOrder } from './thread/chronological.ts'
export { isComposing } from './parts/is-composing.ts'
