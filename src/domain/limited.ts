import { projection } from './projection.ts'

/** The turns that a limit ended. */
export interface Limited {
  readonly turns: readonly string[]
  /** The model calls that the newest turn may make at most, however much of its plan is open. */
  readonly max_steps: number | null
}

export const limited = projection<Limited>({
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

function withTurn(state: Limited, turn: string | null): Limited {
  if (turn === null || state.turns.includes(turn)) return state
  return { ...state, turns: [...state.turns, turn] }
}
