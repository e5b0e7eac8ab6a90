import { projection } from './projection.ts'

/** The turns that hit a limit. */
export interface LimitedTurns {
  /** Turns that a limit ended. */
  readonly turns: readonly string[]
  /** Most model calls of the latest turn. */
  readonly max_steps: number | null
}

export const limitedTurns = projection<LimitedTurns>({
  initial: { turns: [], max_steps: null },
  on: {
    turn_started: ({ turns }, { data: { policy } }) => ({
      turns,
      max_steps: Math.max(policy.max_steps, policy.max_steps_with_plan),
    }),
    todos_limit_reached: (state, { turn_id }) => withTurn(state, turn_id),
    turn_finished: (state, { data: { turn_id, status, steps } }) =>
      status === 'incomplete' && state.max_steps !== null && steps >= state.max_steps
        ? withTurn(state, turn_id)
        : state,
  },
})

function withTurn(state: LimitedTurns, turn: string | null): LimitedTurns {
  if (turn === null || state.turns.includes(turn)) return state
  return { ...state, turns: [...state.turns, turn] }
}
