import { describe, expect, it } from 'vitest'
import { inLongRun } from '../support/children.ts'
import { type AgentCall, claim, ClaimScene, PLAN, resultOf } from '../support/claim-scene.ts'
import { fault } from '../support/faults.ts'
import type { Answer, ModelRequest } from '../support/provider.ts'

const RUN = ['check_started', 'check_ran']
/** A run before the work records the files, too. */
const FIRST = ['check_started', 'baseline_taken check_ran']
const FINAL = ['check_requested', ...RUN]

/** What a process commits that serves an agent elsewhere and runs its checks. */
const AGENT = [
  'policy_set turn_opened task_created task_created check_approved check_requested check_approved check_requested tool_answered',
  ...FIRST,
  ...FIRST,
  'tool_called claim_made',
  'check_started',
  'check_ran task_changed task_changed claim_settled tool_answered',
  'tool_called claim_made',
  ...RUN,
  // There is no fingerprint, so that what passed before runs once more.
  ...FINAL,
  'task_changed claim_settled tool_answered',
]

/** What a process commits that drives a turn of ours and runs its checks. */
const OWN = [
  'step_finished',
  'task_created task_created check_approved check_requested check_approved check_requested tool_answered',
  ...FIRST,
  ...FIRST,
  'step_finished',
  'claim_made',
  ...RUN,
  'task_changed task_changed claim_settled tool_answered',
  'step_finished',
  'claim_made',
  ...RUN,
  'task_changed claim_settled tool_answered',
  'step_finished',
  'check_requested check_requested',
  ...RUN,
  ...RUN,
  'message_added turn_finished',
]

type Point = readonly [when: 'before' | 'after', nth: number, line: string]

/** At every commit, or at a few that stand for the others. */
function pointsOf(commits: readonly string[], few: readonly (readonly ['before' | 'after', number])[]): Point[] {
  const every = (['before', 'after'] as const).flatMap(when => commits.map((_, index) => [when, index + 1] as const))
  return inLongRun(every, few).map(([when, nth]) => [when, nth, commits[nth - 1] ?? ''])
}

describe.concurrent('a process that dies in a claim of an agent elsewhere', () => {
  fault('kill -9 of a process that has a claim checked')
  const few = [
    ['after', 3],
    ['after', 8],
    ['before', 9],
    ['after', 15],
  ] as const
  it.each(pointsOf(AGENT, few))(
    '[CF1] %s commit %i (%s): another one goes on, and the call finds its answer',
    (...at) => dying(at, told),
  )

  it.each(inLongRun(['claim', 'final'], ['claim']))(
    '[CF1] while a check runs (%s): it dies, too, and is run again',
    why =>
      ClaimScene.play(async scene => {
        const child = await scene.child()
        await scene.planned(child.agent)
        if (why === 'final') await scene.call(claim(1), child.agent)
        scene.write('hold-a')
        const answered = scene.call(claim(why === 'final' ? 2 : 1), child.agent).catch(() => undefined)
        await scene.begun('a', why === 'final' ? 3 : 2)
        child.process.kill('SIGKILL')
        expect(await answered).toBeUndefined()
        await scene.nothingRuns()
        scene.remove('hold-a')
        await scene.takeOver()
        await finished(scene)
      }),
  )

  it.each(inLongRun(['a'], []))('a check (%s) that dies with every process is inconclusive the third time', () =>
    ClaimScene.play(async scene => {
      const first = await scene.child()
      await scene.planned(first.agent)
      scene.write('hold-a')
      const lost = scene.call(claim(1), first.agent).catch(() => undefined)
      await scene.begun('a', 2)
      first.process.kill('SIGKILL')
      await lost
      const second = await scene.child()
      await scene.begun('a', 3)
      second.process.kill('SIGKILL')
      await second.ended
      await scene.takeOver()
      expect(JSON.stringify(resultOf(await scene.call(claim(1))))).toContain('interrupted 2 times')
      scene.remove('hold-a')
      expect(await scene.task(0)).toMatchObject({ status: 'in_progress' })
      expect(await scene.of('claim_settled')).toMatchObject([{ data: { result: 'refused', because: 'inconclusive' } }])
      expect(resultOf(await scene.call(claim(1, 'call-again')))).toEqual({ next: '2 b', remaining: 1 })
      expect(await scene.faults()).toEqual([])
    }),
  )
})

describe.concurrent('a process that dies in a claim of a turn of ours', () => {
  fault('kill -9 of a process that has a claim checked')
  const few = [
    ['before', 11],
    ['after', 18],
  ] as const
  it.each(pointsOf(OWN, few))('[CF1] %s commit %i (%s): the turn goes on where it was', (when, nth, line) =>
    ClaimScene.play(async scene => {
      scene.turns.provider.script(worker(scene))
      const child = await scene.child({ endAt: { when, nth, signal: 'SIGKILL' } })
      const reader = await scene.turns.open({ message: 'Do a and b.' })
      expect((await child.ended).signal).toBe('SIGKILL')
      expect(child.lines.find(each => each.startsWith('at '))).toBe(`at ${line}`)
      await scene.nothingRuns()
      await scene.takeOver()
      await reader.over
      expect(await scene.faults()).toEqual([])
      expect(reader.of('turn_finished')).toMatchObject([{ data: { status: 'done', standings: { proven: 2 } } }])
      expect(reader.of('step_finished')).toHaveLength(4)
      expect((await scene.of('claim_settled')).map(({ data }) => data.result)).toEqual(['granted', 'granted'])
    }),
  )
})

/** Plays the agent's part to its end; a call that finds nobody is repeated with its id. */
async function told(scene: ClaimScene, child: Awaited<ReturnType<ClaimScene['child']>>): Promise<void> {
  const call = (made: AgentCall): Promise<unknown> => scene.call(made, child.agent).catch(() => scene.call(made))
  await call(PLAN)
  await scene.ran('baseline', 2)
  scene.write('done-a')
  scene.write('done-b')
  await call(claim(1))
  await call(claim(2))
  await child.ended
}

/** All calls have one answer, whoever asks again, and both tasks are proven. */
async function finished(scene: ClaimScene): Promise<void> {
  expect(resultOf(await scene.call(claim(1)))).toEqual({ next: '2 b', remaining: 1 })
  expect(resultOf(await scene.call(claim(2)))).toEqual({ next: null, remaining: 0 })
  expect(await scene.faults()).toEqual([])
  expect((await scene.of('claim_made')).map(({ data }) => data.tool_call_id)).toEqual(['call-1', 'call-2'])
  expect((await scene.of('claim_settled')).map(({ data }) => data.result)).toEqual(['granted', 'granted'])
  expect([await scene.task(0), await scene.task(1)]).toMatchObject([{ standing: 'proven' }, { standing: 'proven' }])
}

type Played = (scene: ClaimScene, child: Awaited<ReturnType<ClaimScene['child']>>) => Promise<void>

/** A scene whose child dies at a point; this process takes over. */
const dying = ([when, nth, line]: Point, play: Played): Promise<void> =>
  ClaimScene.play(async scene => {
    const child = await scene.child({ endAt: { when, nth, signal: 'SIGKILL' } })
    const taken = child.ended.then(async ({ signal }) => {
      expect(signal).toBe('SIGKILL')
      await scene.nothingRuns()
      await scene.takeOver()
    })
    await play(scene, child)
    await taken
    expect(child.lines.find(each => each.startsWith('at '))).toBe(`at ${line}`)
    await finished(scene)
  })

/** A model that plans, works and claims. Its answer depends on the steps so far. */
const worker =
  (scene: ClaimScene) =>
  ({ messages }: ModelRequest): Answer => {
    const steps = messages.filter(({ role }) => role === 'assistant').length
    if (steps > 0) for (const name of ['done-a', 'done-b']) scene.write(name)
    const [tool, args] = [PLAN, claim(1), claim(2)][steps] ?? []
    return tool === undefined ? 'All done.' : { calls: [{ tool, args }] }
  }
