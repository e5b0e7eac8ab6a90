import type { EventData, EventType, StoredEvent } from './event.ts'
import type { ToolFact } from './evidence.ts'

/** Calls of outside tools, by how they were answered. */
export interface CallCounts {
  readonly ok: number
  readonly failed: number
  readonly tools: Readonly<Record<string, { readonly ok: number; readonly failed: number }>>
}

/** The events of a plan's turns, to be asked. */
export class PlanLog {
  readonly #events: readonly StoredEvent[]
  /** Turn and call id to the id of the task that was current. */
  readonly #taskOf: ReadonlyMap<string, string | undefined>

  constructor(events: readonly StoredEvent[]) {
    this.#events = events
    this.#taskOf = new Map(
      this.of('step_finished').flatMap(({ turn_id, data: { tool_calls, task_id } }) =>
        tool_calls.map(({ tool_call_id }) => [callKey(turn_id, tool_call_id), task_id] as const),
      ),
    )
  }

  of<T extends EventType>(type: T): readonly Extract<StoredEvent, { readonly type: T }>[] {
    return this.#events.filter((event): event is Extract<StoredEvent, { readonly type: T }> => event.type === type)
  }

  /** The answered calls that were made while this task was current, or while none was. */
  callsOf(taskId: string | undefined): CallCounts {
    const made = this.of('tool_answered').filter(
      ({ turn_id, data }) => isOutside(data) && this.#taskOf.get(callKey(turn_id, data.tool_call_id)) === taskId,
    )
    return countCalls(made.map(({ data }) => data))
  }
}

/** How many calls of each tool succeeded and failed. */
export function countCalls(calls: readonly Pick<ToolFact, 'tool' | 'ok'>[]): CallCounts {
  const counted = (made: typeof calls): { ok: number; failed: number } => {
    const ok = made.filter(call => call.ok).length
    return { ok, failed: made.length - ok }
  }
  const byTool = [...Map.groupBy(calls, ({ tool }) => tool)].map(([tool, made]) => [tool, counted(made)])
  return { ...counted(calls), tools: Object.fromEntries(byTool) as CallCounts['tools'] }
}

/** Calls of the plan's own tools prove nothing. */
const isOutside = ({ edge }: EventData['tool_answered']): boolean => edge === undefined

const callKey = (turn: string | null, call: string): string => JSON.stringify([turn, call])
