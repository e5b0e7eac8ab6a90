import { expect, it } from 'vitest'
import { inLongRun } from '../support/children.ts'
import { fault } from '../support/faults.ts'
import { describePostgres } from '../support/postgres-store.ts'
import { Scene } from '../support/turn-scene.ts'
import { STORIES } from '../support/turn-story.ts'

describePostgres('a node that dies, on PostgreSQL', () => {
  fault('kill -9 of the node that drives a turn (postgres)')
  const lines = STORIES.reviewed.commits.map((line, index) => [index + 1, line] as const)
  const some = inLongRun(
    lines,
    lines.filter(([nth]) => [2, 10].includes(nth)),
  )
  for (const when of ['before', 'after'] as const) {
    it.concurrent.each(some)(`[TR21] ${when} commit %i (%s): another node takes the turn over`, (nth, line) =>
      Scene.play(
        STORIES.reviewed,
        async scene => {
          const reader = await scene.start()
          const child = scene.child({ endAt: { when, nth, signal: 'SIGKILL' } })
          await child.ended
          expect(child.lines.find(each => each.startsWith('at '))).toBe(`at ${line}`)
          const other = scene.child()
          await scene.check(reader)
          expect(other.lines.filter(each => each.startsWith('error'))).toEqual([])
        },
        'postgres',
      ),
    )
  }
})
