import type { Json, StoredEvent, ToolCallRecord } from '../domain/event.ts'
import { toolNames } from '../toolsets/index.ts'
import type { Run } from './run.ts'

/** The evidence for a claim: what the tools really answered, and what the model wrote. */
export interface Evidence {
  readonly results: readonly { readonly tool: string; readonly arguments: Json; readonly result: Json }[]
  readonly texts: readonly string[]
}

export const NO_EVIDENCE: Evidence = { results: [], texts: [] }

/** The evidence of a run. Calls of the toolsets' own tools prove nothing. */
export function evidenceOf({ steps }: Run): Evidence {
  return {
    results: steps
      .flatMap(({ calls }) => calls)
      .flatMap(({ tool, arguments: args, answer }) =>
        answer && !toolNames.has(tool) ? [{ tool, arguments: args, result: answer.result }] : [],
      ),
    texts: steps.map(({ text }) => text).filter(text => text.trim() !== ''),
  }
}

/** The evidence of the turns that this one continues: their work counts, too. */
export function evidenceBefore(events: readonly StoredEvent[], turn: string): Evidence {
  const turns = new Set(continuedTurns(events, turn))
  const calls = new Map<string, ToolCallRecord>()
  const results: Evidence['results'][number][] = []
  const texts: string[] = []
  for (const event of events) {
    if (event.turn_id === null || !turns.has(event.turn_id)) continue
    if (event.type === 'step_finished') {
      if (event.data.text.trim() !== '') texts.push(event.data.text)
      for (const call of event.data.tool_calls) calls.set(call.tool_call_id, call)
    }
    if (event.type === 'tool_answered' && !toolNames.has(event.data.tool)) {
      const { tool, result, tool_call_id } = event.data
      results.push({ tool, arguments: calls.get(tool_call_id)?.arguments ?? null, result })
    }
  }
  return { results, texts }
}

/** The chain of turns that a turn continues. */
function continuedTurns(events: readonly StoredEvent[], turn: string): string[] {
  const chain: string[] = []
  for (let next: string | undefined = turn; next !== undefined && !chain.includes(next); ) {
    if (next !== turn) chain.push(next)
    const started = events.find(event => event.type === 'turn_started' && event.turn_id === next)
    next = started?.type === 'turn_started' ? started.data.continue_turn_id : undefined
    if (next === turn) break
  }
  return chain
}
