import type { Json } from '../../core/model/event.ts'
import { runCallId, type ToolFact } from '../../core/proof/evidence.ts'
import { type Projection, projection } from '../../core/model/projection.ts'
import { isBlank } from '../../core/model/text.ts'
import { toolsets } from '../toolsets/index.ts'

/** Work done in the turns of a plan, by which claims are judged. */
export interface Work {
  /** The first request, with the person's later messages. */
  readonly request: string
  readonly calls: readonly WorkCall[]
  readonly texts: readonly { readonly text: string; readonly task: string | undefined }[]
  readonly ownTools: readonly string[]
}

/** A call of an outside tool. Calls of the toolset's own tools prove nothing. */
interface WorkCall {
  readonly source: Evidence['source']
  readonly turn: string | null
  readonly call: string
  readonly tool: string
  readonly arguments: Json
  /** The id of the current task when it was made. */
  readonly task: string | undefined
  readonly answered?: { readonly answer: Json; readonly ok: boolean }
  /** How verdicts cite it once it is answered. */
  readonly ref?: string
}

/** A call as the judge sees it. */
export interface Evidence extends ToolFact {
  readonly id: string
  /** Who vouches for it: this process made the call, or the worker's host or the worker reports it. */
  readonly source: 'runsheet' | 'host' | 'agent'
  /** The id of another task, if that was current when it was made. */
  readonly task?: string
}

export const work: Projection<Work> = projection<Work>({
  initial: { request: '', calls: [], texts: [], ownTools: [] },
  on: {
    turn_started: (state, { data: { message, policy } }) => ({
      ...state,
      request: state.request || message,
      ownTools: toolsets[policy.toolset].tools.map(({ name }) => name),
    }),
    message_added: (state, { data: { role, text, synthetic } }) =>
      role === 'user' && !synthetic ? { ...state, request: `${state.request}\n\n${text}` } : state,
    step_finished: (state, { turn_id: turn, data }) => {
      const { text, tool_calls, task_id: task } = data
      // A call with a problem was never made.
      const made = tool_calls.filter(({ tool, problem }) => problem === undefined && !state.ownTools.includes(tool))
      const calls = made.map(call => ({ source: 'runsheet' as const, turn, task, ...call, call: call.tool_call_id }))
      return {
        ...state,
        calls: [...state.calls, ...calls],
        texts: isBlank(text) ? state.texts : [...state.texts, { text, task }],
      }
    },
    tool_answered: (state, { seq, turn_id, data: { tool_call_id, result: answer, ok } }) => ({
      ...state,
      calls: state.calls.map(each =>
        each.call === tool_call_id && each.turn === turn_id
          ? { ...each, answered: { answer, ok }, ref: runCallId(seq) }
          : each,
      ),
    }),
    evidence_added: (state, { turn_id: turn, data }) => {
      const { evidence_id: ref, task_id: task, source, tool, arguments: args, answer, ok } = data
      const call = { source, turn, call: ref, tool, arguments: args, task, answered: { answer, ok }, ref }
      return { ...state, calls: [...state.calls, call] }
    },
  },
})

/**
 * Evidence for a task: the answered calls made while it, or no task, was current. A task without any was worked on
 * early: then all calls, each with its current task.
 */
export function evidenceFor({ calls }: Work, task: string): Evidence[] {
  const all = calls.flatMap(({ source, tool, arguments: args, answered, task: current }, index) =>
    answered ? [{ id: idAt(index), source, tool, arguments: args, ...answered, task: current }] : [],
  )
  const own = all.filter(each => each.task === task)
  const chosen = own.length > 0 ? all.filter(each => each.task === task || each.task === undefined) : all
  return chosen.map(({ task: current, ...evidence }) =>
    current === undefined || current === task ? evidence : { ...evidence, task: current },
  )
}

export const refsOf = ({ calls }: Work, ids: readonly string[]): string[] =>
  calls.flatMap(({ ref }, index) => (ref !== undefined && ids.includes(idAt(index)) ? [ref] : []))

const idAt = (index: number): string => `e${index + 1}`
