import type { CommandOf, Rules } from '../command.ts'
import { type Conversation, taskInProgress } from '../conversation.ts'
import type { EventData, NewEvent } from '../event.ts'
import { boundedFact, MAX_REPORTS, plainJson, type ToolFact } from '../evidence.ts'
import { lastTurnOf, planById } from '../plan.ts'
import { invalidField, Refusal } from '../refusal.ts'
import { LIMITS, line, Problem } from '../text.ts'
import { findTask, openIn, turnRunning } from './tasks.ts'

export type EvidenceCommand = ToolFact & {
  /** A host or an agent elsewhere reports a call of a tool of its own. */
  readonly type: 'add_evidence'
  readonly evidence_id: string
  readonly source: EventData['evidence_added']['source']
  /** Default: the task in progress. */
  readonly task?: string | number | undefined
}

export const EVIDENCE_RULES: Rules<EvidenceCommand> = { add_evidence: addEvidence }

/**
 * Stores a call that a host or an agent elsewhere reports, for the task in progress or the one that it names. No events: no
 * task is in progress, or the turn has all the reports that it may have.
 */
function addEvidence(state: Conversation, command: CommandOf<'add_evidence'>): NewEvent[] | Refusal {
  const { task: ref, evidence_id, source, ok } = command
  const tool = line(command.tool, LIMITS.reference)
  if (tool instanceof Problem) return invalidField('tool', tool.fact)
  if (typeof ok !== 'boolean') return invalidField('ok', { rule: 'not_a_boolean' })
  if (state.running_turn !== null) return turnRunning(state.running_turn)
  const current = taskInProgress(state)
  const task = ref === undefined ? current : findTask(state, ref)
  if (!task && ref !== undefined) return new Refusal('task_not_found', { ref, ...openIn(state) })
  const turn_id = task ? lastTurnOf(planById(state, task.plan_id)) : ''
  if (!current || !task || hasAllReports(state, turn_id)) return []
  const call = { tool, arguments: plainJson(command.arguments), answer: plainJson(command.answer), ok }
  const data = { evidence_id, task_id: task.id, source, ...boundedFact(call) }
  return [{ type: 'evidence_added', turn_id, data }]
}

const hasAllReports = ({ turns }: Conversation, turnId: string): boolean =>
  (turns.get(turnId)?.reports ?? 0) >= MAX_REPORTS
