import { useLayoutEffect, useMemo, useRef } from 'react'
import type { ThreadTurn } from 'runsheet/react'

/** Reuses the object of each unchanged turn, so that a change in one turn does not render the others. */
export function useSameTurns(thread: readonly ThreadTurn[]): readonly ThreadTurn[] {
  const before = useRef<ReadonlyMap<string, { readonly turn: ThreadTurn; readonly form: string }>>(new Map())
  const known = useMemo(
    () =>
      new Map(
        thread.map(turn => {
          const form = JSON.stringify(turn)
          const old = before.current.get(turn.turn_id)
          return [turn.turn_id, old?.form === form ? old : { turn, form }]
        }),
      ),
    [thread],
  )
  useLayoutEffect(() => {
    before.current = known
  }, [known])
  return useMemo(() => [...known.values()].map(({ turn }) => turn), [known])
}
