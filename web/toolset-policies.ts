import type { Policy } from 'runsheet/client'

/** What a toolset turns on, as a message that chooses it sends it: another toolset's policy need not fit. */
export type ToolsetPolicy = Pick<Policy, 'toolset' | 'review' | 'assessor' | 'gate'>

/** The policy that each toolset starts with. */
export const TOOLSETS: readonly ToolsetPolicy[] = [
  { toolset: 'runsheet', review: true, assessor: true, gate: true },
  { toolset: 'task_manager', review: true, assessor: false, gate: false },
  { toolset: 'manage_todos', review: false, assessor: true, gate: false },
  { toolset: 'turn_todos', review: false, assessor: false, gate: true },
  { toolset: 'checklist', review: false, assessor: false, gate: false },
  { toolset: 'task_list', review: false, assessor: false, gate: false },
]
