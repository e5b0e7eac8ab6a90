import { describe, expect, it } from 'vitest'
import type { StoredEvent } from '../../src/core/model/event.ts'
import { givenTools } from '../../src/engine/worker/outside.ts'
import { inLongRun } from '../support/children.ts'
import { fault } from '../support/faults.ts'
import { TOKENS } from '../support/server.ts'
import { Scene } from '../support/turn-scene.ts'
import { guardedTools, type Story } from '../support/turn-story.ts'

const CHILD_LEASE_MS = 3_000
const ref = { tenant: 'local', conversation: 'c1' }

const STORY: Story = {
  body: { message: 'Send it.', toolset: 'task_list', review: false, assessor: false, gate: false },
  steps: [{ calls: [{ tool: 'send' }] }, 'Sent.'],
  commits: [
    'step_finished',
    'tool_approval_required',
    'tool_called',
    'tool_answered',
    'step_finished',
    'message_added turn_finished',
  ],
  tasks: [],
}

const EVERY = STORY.commits.flatMap((line, index) =>
  (['before', 'after'] as const).map(when => [when, index + 1, line] as const),
)
/** Around the question, and around what follows the answer. */
const POINTS = inLongRun(
  EVERY,
  EVERY.filter(([, nth]) => nth === 2 || nth === 3),
)

const of = <T extends StoredEvent['type']>(log: readonly StoredEvent[], type: T) =>
  log.filter((event): event is Extract<StoredEvent, { type: T }> => event.type === type)

/** Waits for an event in the log. */
async function seen({ turns }: Scene, type: StoredEvent['type']): Promise<StoredEvent> {
  const end = new AbortController()
  for await (const { events } of turns.door.tail(ref, { signal: end.signal })) {
    const found = events.find(event => event.type === type)
    if (!found) continue
    end.abort()
    return found
  }
  throw new Error(`there was no ${type}`)
}

/** Allows the call as soon as it is asked about. */
async function allow(scene: Scene): Promise<void> {
  const asked = await seen(scene, 'tool_approval_required')
  if (asked.type !== 'tool_approval_required') return
  await scene.turns.person.decideApproval('c1', asked.data.approval_id, { decision: 'allow' })
}

const takeOver = (scene: Scene) => scene.takeOver(givenTools(guardedTools(scene.tools.url)))

/** The call was asked about once, allowed once, and made once; or is said to have been interrupted. */
async function check(scene: Scene): Promise<void> {
  await seen(scene, 'turn_finished')
  const log = await scene.turns.log()
  expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1))
  expect(of(log, 'tool_approval_required')).toHaveLength(1)
  expect(of(log, 'tool_approval_resolved').map(({ data }) => data.decision)).toEqual(['allow'])
  expect(of(log, 'tool_called')).toHaveLength(1)
  expect(of(log, 'turn_finished')[0]?.data.status).toBe('done')
  const [answer] = of(log, 'tool_answered')
  expect(scene.tools.calls.length).toBeLessThanOrEqual(1)
  if (answer?.data.ok) expect(scene.tools.calls).toEqual(['send'])
  else expect(answer?.data.result).toContain('may have run')
  expect((await scene.turns.person.session('c1')).approvals).toEqual([])
}

describe.concurrent('a process that dies while a call waits for a person', () => {
  fault('kill -9 between the steps of a call that waits for a person')

  const dies = (when: 'before' | 'after', nth: number, line: string, store: 'sqlite' | 'postgres' = 'sqlite') =>
    Scene.play(
      STORY,
      async scene => {
        await scene.start()
        const allowed = allow(scene)
        const endAt = { when, nth, signal: 'SIGKILL' } as const
        const child = scene.child({ isGuarded: true, leaseMs: CHILD_LEASE_MS, endAt })
        expect((await child.ended).signal).toBe('SIGKILL')
        expect(child.lines.find(each => each.startsWith('at '))).toBe(`at ${line}`)
        await takeOver(scene)
        await allowed
        await check(scene)
      },
      store,
    )

  it.each(POINTS)('[TO7] %s commit %i (%s): it is asked about once, and made once at most', dies)

  it.each(inLongRun(EVERY, EVERY.slice(2, 4)))('[TO7] %s commit %i (%s), on PostgreSQL', (when, nth, line) =>
    dies(when, nth, line, 'postgres'),
  )

  it('[TO1][TO7] a turn that waits holds nothing: it is decided after all processes are gone, and another goes on', () =>
    Scene.play(STORY, async scene => {
      await scene.start()
      const child = scene.child({ isGuarded: true, leaseMs: CHILD_LEASE_MS })
      const asked = await seen(scene, 'tool_approval_required')
      if (asked.type !== 'tool_approval_required') throw new Error('nothing was asked')
      await child.line(line => line === 'drives 0')
      child.process.kill('SIGKILL')
      await child.ended
      await scene.turns.person.decideApproval('c1', asked.data.approval_id, { decision: 'allow' })
      await takeOver(scene)
      await check(scene)
    }))

  it.each(['before', 'after'] as const)(
    '[TO2][TO7] %s the decision is stored: the same request again is one decision, and one call',
    when =>
      Scene.play(STORY, async scene => {
        await scene.start()
        const endAt = { when, nth: 1, line: 'tool_approval_resolved', signal: 'SIGKILL' } as const
        const child = scene.child({ isGuarded: true, leaseMs: CHILD_LEASE_MS, tokens: TOKENS, endAt })
        const url = (await child.line(line => line.startsWith('url '))).slice(4)
        const asked = await seen(scene, 'tool_approval_required')
        if (asked.type !== 'tool_approval_required') throw new Error('nothing was asked')
        const { approval_id } = asked.data
        const lost = fetch(new URL(`/api/sessions/c1/approvals/${approval_id}`, url), {
          method: 'POST',
          headers: { authorization: `Bearer ${TOKENS.person}`, 'content-type': 'application/json' },
          body: JSON.stringify({ decision: 'allow' }),
        })
        await expect(lost).rejects.toThrow()
        await child.ended
        await scene.turns.person.decideApproval('c1', approval_id, { decision: 'allow' })
        await takeOver(scene)
        await check(scene)
      }),
  )

  it('[TO7] a stop while no process is left denies the call, which is never made', () =>
    Scene.play(STORY, async scene => {
      await scene.start()
      const child = scene.child({ isGuarded: true, leaseMs: CHILD_LEASE_MS })
      await seen(scene, 'tool_approval_required')
      child.process.kill('SIGKILL')
      await child.ended
      const [turn] = (await scene.turns.person.session('c1')).turns
      await scene.turns.person.stop('c1', turn?.turn_id ?? '')
      await takeOver(scene)
      await seen(scene, 'turn_finished')
      const log = await scene.turns.log()
      expect(of(log, 'tool_approval_resolved')[0]?.data).toMatchObject({ decision: 'deny', reason: 'stopped' })
      expect(of(log, 'turn_finished')[0]?.data.status).toBe('stopped')
      expect(scene.tools.calls).toEqual([])
    }))
})
