import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { checkLines, claim, ClaimScene, HERE, markedBy, PLAN, resultOf, SOON } from '../support/claim-scene.ts'
import { aroundCommits } from '../support/ending.ts'
import { inLongRun } from '../support/children.ts'
import { fault } from '../support/faults.ts'
import { TOKENS } from '../support/server.ts'

/** A scene with a claim of task 1 whose check runs, in this process. */
const running = (play: (scene: ClaimScene, answered: ReturnType<ClaimScene['call']>) => Promise<void>): Promise<void> =>
  ClaimScene.play(async scene => {
    await scene.takeOver()
    await scene.planned()
    scene.write('hold-a')
    const answered = scene.call(claim(1))
    await scene.begun('a', 2)
    await play(scene, answered)
  })

/** Resolves once a call has joined an open claim. */
function joinedCall({ turns: { door } }: ClaimScene): Promise<void> {
  const joined = Promise.withResolvers<void>()
  const restore = aroundCommits(door, async (commit, work) => {
    const committed = await commit(work)
    const isJoined = (committed.value as { status?: string } | null)?.status === 'checking'
    if (isJoined && committed.events.length === 0) joined.resolve()
    return committed
  })
  return joined.promise.finally(restore)
}

const said = async (answered: ReturnType<ClaimScene['call']>): Promise<string> =>
  JSON.stringify(resultOf(await answered))

/** Variants of a fault that another test here has: only in `npm run test:long`. */
const long = it.runIf(process.env['LONG'])

describe.concurrent('two claims of the same task at once', () => {
  fault('a claim that is raced, edited, stopped or left')
  it('are one: both calls get its answer, and find it again by their ids', () =>
    running(async (scene, first) => {
      const joined = joinedCall(scene)
      const second = scene.call(claim(1, 'call-other'))
      await joined
      // Other tasks are served meanwhile.
      const third = scene.call(['update', { id: 2, status: 'cancelled', outcome: 'not needed' }, 'call-cancel'])
      expect(resultOf(await third)).toMatchObject({ remaining: 1 })
      scene.remove('hold-a')
      const answer = resultOf(await first)
      expect(resultOf(await second)).toEqual(answer)
      expect(await scene.of('claim_made')).toHaveLength(1)
      expect(resultOf(await scene.call(claim(1, 'call-other')))).toEqual(answer)
      expect(await scene.of('claim_made')).toHaveLength(1)
      expect(await scene.faults()).toEqual([])
    }))

  long('sent together: one claim, one run', () =>
    ClaimScene.play(async scene => {
      await scene.takeOver()
      await scene.planned()
      const ids = ['x-1', 'x-2', 'x-3', 'x-4']
      const answers = await Promise.all(ids.map(id => scene.call(claim(1, id))))
      for (const answer of answers) expect(resultOf(answer)).toEqual({ next: '2 b', remaining: 1 })
      expect(await scene.of('claim_made')).toHaveLength(1)
      expect(scene.journal().filter(line => line === 'start a')).toHaveLength(2)
    }),
  )
})

describe.concurrent('a person acts while a check runs', () => {
  fault('a claim that is raced, edited, stopped or left')
  it('edits the check: its process ends, and the claim is refused, not counted', () =>
    running(async (scene, answered) => {
      const { id, version } = await scene.task(0)
      await scene.turns.person.changeTask('c1', id, version, { check: './check-b' })
      expect(await said(answered)).toContain('A person changed task 1')
      await scene.nothingRuns()
      expect(await scene.of('claim_settled')).toMatchObject([{ data: { result: 'refused', because: 'edited' } }])
      expect((await scene.task(0)).status).not.toBe('completed')
      expect(await scene.faults()).toEqual([])
    }))

  long('edits the title: the claim is recorded, and nothing granted', () =>
    running(async (scene, answered) => {
      const { id, version } = await scene.task(0)
      await scene.turns.person.changeTask('c1', id, version, { title: 'something else' })
      scene.remove('hold-a')
      expect(await said(answered)).toContain('A person changed task 1')
      expect(await scene.of('claim_settled')).toMatchObject([{ data: { result: 'refused', because: 'edited' } }])
      expect(await scene.task(0)).toMatchObject({ title: 'something else', status: 'in_progress' })
    }),
  )

  long('removes the task: its process ends, and the call is answered', () =>
    running(async (scene, answered) => {
      const { id, version } = await scene.task(0)
      await scene.turns.person.removeTask('c1', id, version)
      expect(await said(answered)).not.toContain('remaining":0')
      await scene.nothingRuns()
      expect(await scene.of('claim_settled')).toMatchObject([{ data: { result: 'refused' } }])
      expect(await scene.faults()).toEqual([])
    }),
  )

  long('stops the run: inconclusive, refused, not counted, and the next claim is checked', () =>
    running(async (scene, answered) => {
      const { id, checks = [] } = await scene.task(0)
      await scene.turns.person.stopCheck('c1', id, checks[0]?.id ?? '')
      expect(await said(answered)).toContain('stopped')
      await scene.nothingRuns()
      expect(await scene.of('claim_settled')).toMatchObject([{ data: { result: 'refused', because: 'inconclusive' } }])
      expect((await scene.turns.door.read(HERE)).proof.get(id)?.reds).toBe(0)
      scene.remove('hold-a')
      expect(resultOf(await scene.call(claim(1, 'call-again')))).toEqual({ next: '2 b', remaining: 1 })
    }),
  )

  it('stops the turn of an agent elsewhere: its process ends, and so does the claim', () =>
    running(async (scene, answered) => {
      const refused = expect(answered).rejects.toMatchObject({ code: 'turn_finished' })
      await scene.turns.door.run(HERE, { type: 'stop_turn', turn_id: 't1' })
      await refused
      await scene.nothingRuns()
      expect(await scene.of('claim_settled')).toMatchObject([{ data: { result: 'refused', because: 'stopped' } }])
      expect(await scene.faults()).toEqual([])
    }))

  it.each(inLongRun(['baseline', 'claim'] as const, ['claim'] as const))(
    'stops a turn of ours (%s): the turn ends without its check',
    why =>
      ClaimScene.play(
        async scene => {
          await scene.takeOver()
          if (why === 'baseline') scene.write('hold-a')
          const reader = await scene.turns.open({ message: 'Do a and b.' })
          if (why === 'claim') {
            await scene.ran('baseline', 2)
            scene.write('hold-a')
          }
          await scene.begun('a', why === 'baseline' ? 1 : 2)
          await scene.turns.person.stop('c1', 't1')
          await reader.over
          await scene.nothingRuns()
          expect(reader.of('turn_finished')).toMatchObject([{ data: { status: 'stopped' } }])
          expect((await scene.of('check_started')).length).toBe((await scene.of('check_ran')).length)
          expect(await scene.faults()).toEqual([])
        },
        { answers: ({ messages }) => (messages.some(({ role }) => role === 'assistant') ? CLAIM : PLANNED) },
      ),
  )
})

describe.concurrent('a call that does not wait', () => {
  fault('a claim that is raced, edited, stopped or left')
  it('[CF7] a caller who leaves does not end the run; who repeats the call gets its answer', () =>
    ClaimScene.play(async scene => {
      await scene.takeOver()
      await scene.planned()
      scene.write('hold-a')
      const leave = new AbortController()
      const [tool, args, tool_call_id] = claim(1)
      const body = JSON.stringify({ session_id: 'c1', turn_id: 't1', tool_call_id, arguments: args })
      const headers = { authorization: `Bearer ${TOKENS.agent}`, 'content-type': 'application/json' }
      const url = new URL(`/api/toolsets/runsheet/tools/${tool}`, scene.turns.url)
      const left = fetch(url, { method: 'POST', headers, body, signal: leave.signal })
      await scene.begun('a', 2)
      leave.abort()
      await expect(left).rejects.toThrow()
      scene.remove('hold-a')
      expect(resultOf(await scene.call(claim(1)))).toEqual({ next: '2 b', remaining: 1 })
      expect(scene.journal().filter(line => line === 'start a')).toHaveLength(2)
    }))

  long('[CF7] an edge that cannot wait longer says `checking`; the same call again gets the answer', () =>
    ClaimScene.play(async scene => {
      const child = await scene.child({ waitMs: 200 })
      await scene.planned(child.agent)
      scene.write('hold-a')
      const answer = await scene.call(claim(1), child.agent)
      const [made] = await scene.of('claim_made')
      expect(answer).toEqual({ status: 'checking', claim_id: made?.data.claim_id })
      // Nor does it lift the fence.
      expect((await scene.turns.door.read(HERE)).answered_seq).toBeLessThan(made?.seq ?? 0)
      scene.remove('hold-a')
      await scene.reached('claim_settled')
      expect(resultOf(await scene.call(claim(1), child.agent))).toEqual({ next: '2 b', remaining: 1 })
    }),
  )
})

describe.concurrent('no process with the workspace', () => {
  fault('a claim that no process can check')
  it('[CF8] a claim says so and is not counted; later the task can be claimed', () =>
    ClaimScene.play(async scene => {
      const child = await scene.child()
      await scene.planned(child.agent)
      child.process.kill('SIGKILL')
      await child.ended
      expect(await said(scene.call(claim(1)))).toContain('No process with its workspace')
      const { id } = await scene.task(0)
      expect((await scene.turns.door.read(HERE)).proof.get(id)?.reds).toBe(0)
      expect(await scene.of('claim_settled')).toMatchObject([{ data: { result: 'refused', because: 'no_workspace' } }])
      await scene.takeOver()
      expect(resultOf(await scene.call(claim(1, 'call-again')))).toEqual({ next: '2 b', remaining: 1 })
      expect(await scene.faults()).toEqual([])
    }))

  it('[CF8] if it died while it ran the check, too: the run is written down as ended', () =>
    ClaimScene.play(async scene => {
      const child = await scene.child()
      await scene.planned(child.agent)
      scene.write('hold-a')
      const lost = scene.call(claim(1), child.agent).catch(() => undefined)
      await scene.begun('a', 2)
      child.process.kill('SIGKILL')
      await lost
      expect(await said(scene.call(claim(1)))).toContain('No process with its workspace')
      expect((await scene.task(0)).checks).toMatchObject([{ state: 'inconclusive' }])
      expect(await scene.faults()).toEqual([])
    }))

  long('[CF8] the claim that leaves nothing open, though its task has no check: the task stays open, not counted', () =>
    ClaimScene.play(async scene => {
      const child = await scene.child()
      await scene.planned(child.agent)
      await scene.call(claim(1), child.agent)
      await scene.checkless(1)
      child.process.kill('SIGKILL')
      await child.ended
      scene.remove('done-a')
      expect(await said(scene.call(claim(2)))).toContain('No process with its workspace')
      expect((await scene.of('claim_settled')).at(-1)).toMatchObject({
        data: { result: 'refused', because: 'no_workspace' },
      })
      expect(await scene.task(1)).toMatchObject({ status: 'in_progress' })
      // The dead process is fenced off: the next one need not wait for the end of its lease.
      await scene.takeOver()
      expect(resultOf(await scene.call(claim(2, 'call-again')))).toEqual({
        next: '1 a',
        remaining: 1,
        reopened: ['1 a: its check `./check-a` fails now with exit code 1'],
      })
      expect(await scene.task(0)).toMatchObject({ status: 'in_progress', checks: [{ state: 'failed' }] })
    }),
  )

  long('[CF8] killed in the final pass: the claim ends, and nothing of it is left running', () =>
    ClaimScene.play(async scene => {
      const child = await scene.child()
      await scene.planned(child.agent)
      await scene.call(claim(1), child.agent)
      scene.write('hold-a')
      const lost = scene.call(claim(2), child.agent).catch(() => undefined)
      await scene.begun('a', 3)
      const answered = scene.call(claim(2))
      child.process.kill('SIGKILL')
      await lost
      expect(await said(answered)).toContain('No process with its workspace')
      expect(await scene.of('check_ran')).toContainEqual(
        expect.objectContaining({
          data: expect.objectContaining({ why: 'final', reason: 'The process that ran it ended.' }),
        }),
      )
      const { requests, runs } = await scene.turns.door.read(HERE)
      expect([requests, [...runs.values()].filter(({ started }) => started)]).toEqual([[], []])
      const { status, standing_reasons } = await scene.task(0)
      expect([status, standing_reasons?.join()]).toEqual(['completed', expect.not.stringContaining('being checked')])
      expect((await scene.task(1)).status).toBe('in_progress')
      expect(await scene.faults()).toEqual([])
    }),
  )

  long('[TC12] a turn of ours that continues the plan ends incomplete, says why, and counts the whole plan', () =>
    ClaimScene.play(
      async scene => {
        const child = await scene.child()
        await scene.planned(child.agent)
        await scene.call(claim(1), child.agent)
        await scene.checkless(1)
        child.process.kill('SIGKILL')
        await child.ended
        scene.remove('done-a')
        await scene.drive()
        const reader = await scene.turns.open({ message: 'Go on.', turn_id: 't2', continue_turn_id: 't1' })
        await reader.over
        expect(reader.of('turn_finished')).toMatchObject([{ data: { status: 'incomplete', because: 'unchecked' } }])
        const text = reader.of('message_added').at(-1)?.data.text
        expect(text).toMatch(
          /^All done\.\n\n.*no process with its workspace \(.*\) is running.*\n\n2 of 2 done: 1 proven, 1 on/,
        )
        expect((await scene.turns.door.read(HERE)).requests).toEqual([])
      },
      {
        isAway: true,
        answers: ({ messages }) => (messages.some(({ role }) => role === 'tool') ? 'All done.' : CLAIM_B),
      },
    ),
  )

  long('[CF8] a claim in a turn of ours is refused, and the turn goes on', () =>
    ClaimScene.play(
      async scene => {
        const child = await scene.child()
        await scene.planned(child.agent)
        child.process.kill('SIGKILL')
        await child.ended
        await scene.drive()
        const go = { message: 'Go on.', turn_id: 't2', continue_turn_id: 't1', gate: false }
        const reader = await scene.turns.open(go)
        await reader.over
        expect(reader.of('claim_settled')).toMatchObject([{ data: { result: 'refused', because: 'no_workspace' } }])
        expect(JSON.stringify(reader.of('tool_answered'))).toContain('No process with its workspace')
        expect(reader.of('turn_finished')).toMatchObject([{ data: { remaining: 2 } }])
      },
      { isAway: true, answers: ({ messages }) => (messages.some(({ role }) => role === 'tool') ? 'Not done.' : CLAIM) },
    ),
  )

  long('[TC12] with a process that has it, a turn of ours without it is checked there', () =>
    ClaimScene.play(
      async scene => {
        const child = await scene.child({ drives: false })
        await scene.planned(child.agent)
        await scene.call(claim(1), child.agent)
        await scene.checkless(1)
        await scene.drive()
        const reader = await scene.turns.open({ message: 'Go on.', turn_id: 't2', continue_turn_id: 't1' })
        await reader.over
        expect(reader.of('turn_finished')).toMatchObject([{ data: { status: 'done' } }])
        expect((await scene.of('check_ran')).filter(({ data }) => data.why === 'final')).not.toEqual([])
      },
      {
        isAway: true,
        answers: ({ messages }) => (messages.some(({ role }) => role === 'tool') ? 'All done.' : CLAIM_B),
      },
    ),
  )

  long('[CF8] while a person has to tick it, nobody needs the workspace: the claim waits', () =>
    ClaimScene.play(async scene => {
      await scene.takeOver()
      await scene.planned()
      const { id, version } = await scene.task(0)
      const checks = [{ kind: 'person', ask: 'Is it nice?' }] as const
      const { task } = await scene.turns.person.changeTask('c1', id, version, { checks })
      await scene.call(['tasks', {}, 'call-look'])
      const claimed = scene.call(claim(1))
      await scene.reached('claim_made')
      await scene.turns.person.tickCheck('c1', id, task.checks?.[0]?.id ?? '')
      expect(resultOf(await claimed)).toEqual({ next: '2 b', remaining: 1 })
    }),
  )
})

describe.concurrent('a plan without a review', () => {
  fault('a claim that is raced, edited, stopped or left')
  long(
    'is answered after its checks; an edge that cannot wait says `checking`, and the same call gets the answer',
    () =>
      ClaimScene.play(async scene => {
        const child = await scene.child({ waitMs: 200 })
        scene.write('hold-a')
        expect(await scene.call(PLAN, child.agent)).toEqual({ status: 'checking', claim_id: 'call-plan' })
        const answered = scene.call(PLAN)
        await scene.begun('a', 1)
        scene.remove('hold-a')
        expect(resultOf(await answered)).toMatchObject({ ids: [1, 2], next: '1 a' })
        expect((await scene.of('check_ran')).map(({ data }) => data.result)).toEqual(['failed', 'failed'])
      }),
  )
})

describe.concurrent('a process that is ended in good order', () => {
  fault('a claim that is raced, edited, stopped or left')
  it('twice in the middle of the same run: the next one repeats it, and the claim is granted', () =>
    ClaimScene.play(async scene => {
      const first = await scene.child()
      await scene.planned(first.agent)
      scene.write('hold-a')
      void scene.call(claim(1), first.agent).catch(() => undefined)
      let running = first
      for (let times = 2; times <= 3; times += 1) {
        await scene.begun('a', times)
        running.process.kill('SIGTERM')
        expect(await running.ended).toMatchObject({ code: 0 })
        await scene.nothingRuns()
        running = await scene.child()
      }
      await scene.begun('a', 4)
      scene.remove('hold-a')
      expect(resultOf(await scene.call(claim(1)))).toEqual({ next: '2 b', remaining: 1 })
      expect(await scene.of('check_handed_back')).toHaveLength(2)
      expect(await scene.task(0)).toMatchObject({ standing: 'proven' })
      expect(await scene.faults()).toEqual([])
    }))
})

describe.concurrent('two processes with the same workspace', () => {
  fault('two processes on one workspace, one of them frozen')
  it('[CF9] run one check at a time, for two conversations, too', () =>
    ClaimScene.play(async scene => {
      const [one, other] = await Promise.all([scene.child(), scene.child()])
      await Promise.all([scene.planned(one.agent, 'c1'), scene.planned(other.agent, 'c2')])
      await Promise.all([
        ...[1, 2].map(id => scene.call(claim(id), one.agent, 'c1')),
        ...[1, 2].map(id => scene.call(claim(id), other.agent, 'c2')),
      ])
      for (const session of ['c1', 'c2']) {
        expect(await scene.faults(session)).toEqual([])
        expect((await scene.task(0, session)).status).toBe('completed')
        expect((await scene.task(1, session)).status).toBe('completed')
      }
      const lines = scene.journal()
      for (const [index, line] of lines.entries()) expect(line.startsWith(index % 2 ? 'end' : 'start')).toBe(true)
    }))

  it('a frozen one is overtaken; when it wakes it ends its run and writes nothing', () =>
    ClaimScene.play(async scene => {
      const frozen = await scene.child()
      await scene.planned(frozen.agent)
      scene.write('hold-a')
      const lost = scene.call(claim(1), frozen.agent).catch(() => undefined)
      await scene.begun('a', 2)
      await scene.freeze(frozen)
      await scene.takeOver()
      const answered = scene.call(claim(1))
      await scene.begun('a', 3)
      scene.remove('hold-a')
      expect(resultOf(await answered)).toEqual({ next: '2 b', remaining: 1 })
      const { seq } = await scene.turns.door.read(HERE)
      const saidSoFar = frozen.lines.length
      frozen.process.kill('SIGCONT')
      await vi.waitFor(() => expect(frozen.lines.slice(saidSoFar)).toContain('works 0'), SOON)
      await lost
      expect((await scene.turns.door.read(HERE)).seq).toBe(seq)
      expect(await scene.faults()).toEqual([])
    }))

  long('thawed, it kills its check at once, without asking it to end', () =>
    ClaimScene.play(async scene => {
      scene.script('check-a', `trap 'echo asked >>${scene.folder}/asked' TERM`, ...checkLines(scene.folder, 'a'))
      const frozen = await scene.child()
      await scene.planned(frozen.agent)
      scene.write('hold-a')
      void scene.call(claim(1), frozen.agent).catch(() => undefined)
      await scene.begun('a', 2)
      const old = markedBy(scene.folder)
      await scene.freeze(frozen)
      await scene.takeOver()
      const answered = scene.call(claim(1))
      await scene.begun('a', 3)
      frozen.process.kill('SIGCONT')
      await vi.waitFor(() => expect(markedBy(scene.folder).filter(pid => old.includes(pid))).toEqual([]), SOON)
      expect(existsSync(join(scene.folder, 'asked'))).toBe(false)
      scene.remove('hold-a')
      expect(resultOf(await answered)).toEqual({ next: '2 b', remaining: 1 })
      expect(await scene.faults()).toEqual([])
    }),
  )

  long('frozen right after it wrote down the start: it starts nothing when it wakes', () =>
    ClaimScene.play(async scene => {
      const child = await scene.child({
        endAt: { when: 'after', nth: 3, line: 'check_started', signal: 'SIGSTOP' },
      })
      await scene.planned(child.agent)
      const lost = scene.call(claim(1), child.agent).catch(() => undefined)
      await child.line(line => line.startsWith('at '))
      await scene.takeOver()
      expect(resultOf(await scene.call(claim(1)))).toEqual({ next: '2 b', remaining: 1 })
      const saidSoFar = child.lines.length
      child.process.kill('SIGCONT')
      await vi.waitFor(() => expect(child.lines.slice(saidSoFar)).toContain('works 0'), SOON)
      await lost
      expect(scene.journal().filter(line => line === 'start a')).toHaveLength(2)
      expect(await scene.faults()).toEqual([])
    }),
  )
})

const PLANNED = {
  calls: [
    {
      tool: 'plan',
      args: {
        tasks: [
          { title: 'a', check: './check-a' },
          { title: 'b', check: './check-b' },
        ],
      },
    },
  ],
}
const CLAIM = { calls: [{ tool: 'update', args: { id: 1, outcome: 'did it' } }] }
const CLAIM_B = { calls: [{ tool: 'update', args: { id: 2, outcome: 'did it' } }] }
