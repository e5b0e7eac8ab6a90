import { taskInProgress } from '../../core/model/conversation.ts'
import type { EventType, Json, StoredEvent } from '../../core/model/event.ts'
import {
  asTextIfLong,
  type EvidenceSource,
  plainJson,
  RUN_CALL_TYPES,
  TASK_EVIDENCE_TYPES,
  taskEvidence,
} from '../../core/proof/evidence.ts'
import type { Redactor } from '../../core/text/redact.ts'
import type { EvidenceAdded, EvidenceAnswer } from '../../core/views/wire.ts'
import type { Ref } from '../../store/store.ts'
import type { Door } from './door.ts'

/** A tool call that the caller reports. */
export interface ReportedCall {
  /** The tool's name: one line of up to 200 characters. */
  readonly tool: string
  /** The arguments, as JSON. */
  readonly arguments?: unknown
  /** The answer, as JSON. */
  readonly answer?: unknown
  /** True if the call succeeded. */
  readonly ok: boolean
  /** The id or number of a task. Default: the task in progress. */
  readonly task?: string | number | undefined
}

export interface Reporting {
  /** The reporter. Set by the edge, never taken from the call itself. */
  readonly source: Exclude<EvidenceSource, 'run'>
  readonly redact: Redactor
}

/**
 * Stores a host's or agent's own tool call as evidence, with secrets redacted. Stores nothing while no task is in
 * progress.
 */
export async function addEvidence(
  door: Door,
  ref: Ref,
  { tool, arguments: args, answer, ok, task }: ReportedCall,
  { source, redact }: Reporting,
): Promise<EvidenceAdded> {
  // Strip escape sequences first: they could split a secret.
  const clean = (value: unknown): Json => redact.entry(asTextIfLong(plainJson(asJson(value))))
  const call = { tool: clean(tool) as string, arguments: clean(args), answer: clean(answer), ok }
  const evidence_id = `evd_${door.newId()}`
  const { value, conversation } = await door.transact(ref, transaction => {
    const command = { type: 'add_evidence', evidence_id, source, task, ...call } as const
    const [added] = transaction.mustRun(command)
    if (added?.type === 'evidence_added') {
      return { stored: true, evidence_id, task_id: added.data.task_id } as const
    }
    const because = taskInProgress(transaction.state) ? 'turn_is_full' : 'no_task_in_progress'
    return { stored: false, because } as const
  })
  return { ...value, seq: conversation.seq }
}

export async function evidenceOf(door: Door, ref: Ref, task: string): Promise<EvidenceAnswer | undefined> {
  const { seq, tasks, turns } = await door.read(ref)
  const read = async (types: readonly EventType[], about?: string): Promise<readonly StoredEvent[]> =>
    (await door.conversations.events(ref, { types, task: about })).filter(event => event.seq <= seq)
  const own = await read(TASK_EVIDENCE_TYPES, task)
  if (own.length === 0 && !tasks.has(task)) return undefined
  // Turns of external agents have no calls of outside tools in the log.
  const isOurs = [...turns.values()].some(({ model }) => model !== undefined)
  return { ...taskEvidence(own, isOurs ? await read(RUN_CALL_TYPES) : [], task), seq }
}

/** A caller may pass anything; only JSON is stored. */
const asJson = (value: unknown): Json => JSON.parse(JSON.stringify(value) ?? 'null') as Json
