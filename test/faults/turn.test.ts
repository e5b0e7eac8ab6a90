import { describe, expect, it } from 'vitest'
import { inLongRun } from '../support/children.ts'
import { fault, held } from '../support/faults.ts'
import { TOKENS } from '../support/server.ts'
import { LEASE_MS, Scene } from '../support/turn-scene.ts'
import { type Story, STORIES, toldBy } from '../support/turn-story.ts'

/** Lines at which a process has died already, in the short run. */
const seen = new Set<string>()

/**
 * Where a process dies: at every line, or at one of each kind. Behind a line the log is as it is before the next one;
 * what differs is what was done in between, so that a few are enough where time is short.
 */
function pointsOf({ commits }: Story): readonly (readonly ['before' | 'after', nth: number, line: string])[] {
  const lines = commits.map((line, index) => [index + 1, line] as const)
  const every = (['before', 'after'] as const).flatMap(when => lines.map(([nth, line]) => [when, nth, line] as const))
  const isNew = (point: string): boolean => !seen.has(point) && seen.add(point).has(point)
  const isTelling = (line: string): boolean => /^tool_called|todos_resubmitting/.test(line)
  return inLongRun(
    every,
    every.filter(([when, , line]) => (when === 'before' || isTelling(line)) && isNew(`${when} ${line}`)),
  )
}

describe.concurrent('a process that dies while it drives', () => {
  fault('kill -9 of the process that drives a turn')
  for (const [name, story] of Object.entries(STORIES)) {
    it.each(pointsOf(story))(`[TR21] ${name}, %s commit %i (%s): the turn goes on where it was`, (when, nth, line) =>
      Scene.play(story, async scene => {
        const reader = await scene.start()
        const child = scene.child({ endAt: { when, nth, signal: 'SIGKILL' } })
        expect((await child.ended).signal).toBe('SIGKILL')
        expect(child.lines.find(each => each.startsWith('at '))).toBe(`at ${line}`)
        await scene.takeOver()
        await scene.check(reader)
      }),
    )
  }

  it('[TR21] while the model speaks: it is asked again, and what it had said is not kept', () =>
    Scene.play(STORIES.advanced, async scene => {
      const reader = await scene.start()
      const told = toldBy(scene.story)
      let isFirst = true
      scene.turns.provider.script(request => {
        const answer = told(request)
        if (!isFirst || answer !== 'Did a.') return answer
        isFirst = false
        return { text: 'Did half of ', hangs: true }
      })
      const child = scene.child()
      await reader.until(() => reader.asides('text_delta', 'text_snapshot').length > 0)
      child.process.kill('SIGKILL')
      await child.ended
      await scene.takeOver()
      await scene.check(reader)
      expect(JSON.stringify(reader.events)).not.toContain('half')
    }))

  it.each(['send', 'lookup'])('[TR22] while %s runs: only what may be repeated is made again', tool =>
    Scene.play(STORIES.reviewed, async scene => {
      const reader = await scene.start()
      // A lease that a busy machine does not lose before the call.
      const child = scene.child({ leaseMs: 2_000 })
      scene.tools.onCall = called => {
        if (called === tool) child.process.kill('SIGKILL')
      }
      await child.ended
      await scene.takeOver()
      await scene.check(reader)
      expect(scene.tools.calls).toEqual(tool === 'send' ? ['send', 'lookup'] : ['send', 'lookup', 'lookup'])
    }),
  )

  it('[TR21] while a review is pending: it keeps its deadline, and another process handles the decision', () =>
    Scene.play(STORIES.reviewed, async scene => {
      const reader = await scene.turns.open(scene.story.body)
      const child = scene.child()
      await reader.reached('task_create_review_required')
      await child.line(line => line === 'drives 0')
      child.process.kill('SIGKILL')
      await child.ended
      const [before] = reader.of('task_create_review_required')
      const [review] = (await scene.turns.person.pendingReviews('c1')).reviews
      expect(review).toEqual(before?.data)
      await scene.takeOver()
      const { review_id = '', draft_tasks = [] } = review ?? {}
      const tasks = draft_tasks.map(({ title }, draft_index) => ({ title, draft_index }))
      await scene.turns.person.decide(review_id, { action: 'confirm', tasks })
      await scene.check(reader)
    }))

  it.each(['before', 'after'] as const)('[TR1] %s the turn is started: the same request again has it done once', when =>
    Scene.play(STORIES.advanced, async scene => {
      const child = scene.child({ tokens: TOKENS, endAt: { when, nth: 1, signal: 'SIGKILL' } })
      const url = (await child.line(line => line.startsWith('url '))).slice(4)
      const body = { session_id: 'c1', turn_id: 't1', ...scene.story.body }
      const headers = { authorization: `Bearer ${TOKENS.person}`, 'content-type': 'application/json' }
      const lost = fetch(new URL('/api/chat', url), { method: 'POST', headers, body: JSON.stringify(body) })
      await expect(lost).rejects.toThrow()
      const reader = await scene.start()
      await scene.takeOver()
      await scene.check(reader)
    }),
  )

  it(`[TR21] ${inLongRun(40, 3)} times in one turn, at moments of chance`, () =>
    Scene.play(STORIES.reviewed, async scene => {
      const reader = await scene.start()
      for (let death = 0; death < inLongRun(40, 3) && !reader.isOver; death += 1) {
        const child = scene.child()
        await child.line(line => line === 'ready')
        await Promise.race([reader.over, new Promise(resolve => setTimeout(resolve, Math.random() * LEASE_MS * 1.5))])
        child.process.kill('SIGKILL')
        await child.ended
        held()
      }
      await scene.takeOver()
      await scene.check(reader)
    }))
})
