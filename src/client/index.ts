export { createClient } from './client.ts'
export { randomId } from './random-id.ts'
export { RunsheetError } from './runsheet-error.ts'
export type { ChatRequest, Client, PersonsFields, ToolCallRequest } from './client.ts'
export type { ClientOptions } from './http.ts'
export type { LiveConversation, LiveOptions } from './live.ts'
export type { LiveState } from './live-state.ts'
export type * from '../domain/wire.ts'
export {
  currentTask,
  lineage,
  listed,
  openTasks,
  planHistory,
  planTurnOf,
  tasksInView,
} from '../domain/conversation.ts'
export type { ConversationLike } from '../domain/conversation.ts'
export type { EventData, EventType, StoredEvent, ToolCallRecord } from '../domain/event.ts'
export type { Policy, PolicyPatch, ToolsetName } from '../domain/policy.ts'
export type { Resolution } from '../domain/resolution.ts'
export type { CancelReason, Changes, Review, ReviewRequest, Row, SubmittedRow } from '../domain/review.ts'
export type { ConversationSnapshot } from '../domain/snapshot.ts'
export type { Task, TaskStatus } from '../domain/task.ts'
export type { Template } from '../domain/template.ts'
export type { CallAnswer, Message, MessageCall } from '../domain/transcript.ts'
export type { Turn } from '../domain/turn.ts'
export type { View } from '../domain/view.ts'
export type { TurnWork, Work } from '../domain/work.ts'
