import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { CLI, inLongRun } from '../support/children.ts'
import { claim, ClaimScene, HERE, PLAN, resultOf, SOON } from '../support/claim-scene.ts'
import { aroundCommits } from '../support/ending.ts'
import { fault } from '../support/faults.ts'
import { hostOf, overHttp, overStdio, startMcpServer } from '../support/mcp.ts'
import { mountSmallDisk, whyNoMounts } from '../support/mounts.ts'
import { describePostgres } from '../support/postgres-store.ts'

const DONE = { next: '2 b', remaining: 1 }

/** What a claim of task 1 is answered, which nobody granted and which does not count. */
async function unproven(scene: ClaimScene, answered: ReturnType<ClaimScene['call']>): Promise<string> {
  const said = JSON.stringify(resultOf(await answered))
  const { id, status } = await scene.task(0)
  expect(status).not.toBe('completed')
  expect((await scene.turns.door.read(HERE)).proof.get(id)?.reds).toBe(0)
  expect((await scene.of('claim_settled')).at(-1)).toMatchObject({ data: { because: 'inconclusive' } })
  expect(await scene.faults()).toEqual([])
  return said
}

/** Variants of a fault that another test here has: only in `npm run test:long`. */
const long = it.runIf(process.env['LONG'])

describe.concurrent('a workspace that fails', () => {
  fault('a workspace or program that is gone')
  it('vanishes before the run: inconclusive; back again, the task can be claimed', () =>
    ClaimScene.play(async scene => {
      await scene.takeOver()
      await scene.planned()
      renameSync(scene.workspace, `${scene.workspace}-away`)
      expect(await unproven(scene, scene.call(claim(1)))).toContain('error')
      renameSync(`${scene.workspace}-away`, scene.workspace)
      expect(resultOf(await scene.call(claim(1, 'call-again')))).toEqual(DONE)
    }))

  long('vanishes while a check runs: inconclusive, though the check passed', () =>
    ClaimScene.play(async scene => {
      await scene.takeOver()
      await scene.planned()
      scene.write('hold-a')
      const answered = scene.call(claim(1))
      await scene.begun('a', 2)
      renameSync(scene.workspace, `${scene.workspace}-away`)
      rmSync(join(`${scene.workspace}-away`, 'hold-a'))
      expect(await unproven(scene, answered)).toContain('The workspace was removed or replaced')
    }),
  )

  long('its program is gone: inconclusive', () =>
    ClaimScene.play(async scene => {
      await scene.takeOver()
      await scene.planned()
      scene.remove('check-a')
      expect(await unproven(scene, scene.call(claim(1)))).toContain('check-a')
    }),
  )
})

describe.concurrent('a check that attacks', () => {
  fault('a check that attacks')
  it.each([
    ['kills its parent', 'kill -9 $PPID; sleep 1'],
    ['prints 1 GB', 'exec head -c 1000000000 /dev/zero'],
  ])('%s: inconclusive, and the server lives', (_, attack) =>
    ClaimScene.play(async scene => {
      scene.script('check-a', '[ -e done-a ] || exit 1', attack)
      const child = await scene.child()
      await scene.planned(child.agent)
      await unproven(scene, scene.call(claim(1), child.agent))
      await scene.nothingRuns()
      expect(child.process.exitCode).toBeNull()
      await scene.call(claim(2), child.agent)
      expect((await scene.task(1)).status).toBe('completed')
    }),
  )
})

describe('a full disk', () => {
  fault('a disk that is full or read-only')
  it('while the result is written: nothing is granted, /readyz says so, and with room the run is made again', async ({
    skip,
  }) => {
    if (whyNoMounts) return skip(whyNoMounts)
    await ClaimScene.play(
      async scene => {
        await scene.takeOver()
        await scene.planned()
        scene.write('hold-a')
        const answered = scene.call(claim(1))
        await scene.begun('a', 2)
        const lost = lostCommits(scene)
        const makeRoom = fill(scene.order.data)
        scene.remove('hold-a')
        const ready = async (): Promise<number> => (await fetch(new URL('/readyz', scene.turns.url))).status
        await vi.waitFor(() => expect(lost.join()).toContain('check_ran'), SOON)
        expect(await ready()).toBe(503)
        expect((await scene.task(0)).status).not.toBe('completed')
        makeRoom()
        expect(resultOf(await answered.catch(() => scene.call(claim(1))))).toEqual(DONE)
        expect(await ready()).toBe(200)
        expect(scene.journal().filter(line => line === 'start a')).toHaveLength(3)
        expect(await scene.faults()).toEqual([])
      },
      { mount: folder => mountSmallDisk(folder, 8).unmount },
    )
  })
})

describePostgres('two nodes on PostgreSQL', () => {
  fault('kill -9 of a process that has a claim checked')
  it('the one without the workspace waits for the other; killed in mid-run and started again, that goes on', () =>
    ClaimScene.play(
      async scene => {
        const [first, bare] = await Promise.all([scene.child(), scene.child({ workspace: undefined })])
        await scene.planned(first.agent)
        expect(resultOf(await scene.call(claim(1), bare.agent))).toEqual(DONE)
        scene.write('hold-b')
        const answered = scene.call(claim(2), bare.agent)
        await scene.begun('b', 2)
        first.process.kill('SIGKILL')
        await first.ended
        await scene.nothingRuns()
        const second = await scene.child()
        await scene.begun('b', 3)
        scene.remove('hold-b')
        expect(resultOf(await answered)).toEqual({ next: null, remaining: 0 })
        expect(second.lines.filter(line => line.startsWith('error'))).toEqual([])
        expect(await scene.faults()).toEqual([])
      },
      { store: 'postgres' },
    ))
})

describe('over MCP', () => {
  fault('a claim over MCP whose caller leaves or whose process dies')
  it('[CF7] a client that cannot wait longer is told `checking`, and waits on with the claim’s id', () =>
    ClaimScene.play(async scene => {
      await scene.takeOver()
      const waitLimits = { holdMs: 200, roundMs: 200 }
      const server = await startMcpServer({ door: scene.turns.door, host: { review: false }, waitLimits })
      const headers = { 'runsheet-session': 'c1' }
      const host = await overHttp(server, hostOf({ era: '2025' }), { headers })
      try {
        await host.call('plan', PLAN[1])
        await scene.ran('baseline', 2)
        scene.write('done-a')
        scene.write('hold-a')
        const { data } = await host.call('update', claim(1)[1])
        const [made] = await scene.of('claim_made')
        expect(data).toMatchObject({ status: 'checking', claim_id: made?.data.claim_id })
        const { claim_id } = data ?? {}
        expect((await host.call('await_review', { claim_id })).data).toMatchObject({ status: 'checking', claim_id })
        scene.remove('hold-a')
        await scene.reached('claim_settled')
        expect((await host.call('await_review', { claim_id })).data).toEqual(DONE)
      } finally {
        await host.client.close()
        await server.close()
      }
    }))

  long('a plan whose checks outlast the client is `checking`; `await_review` waits for them', () =>
    ClaimScene.play(async scene => {
      await scene.takeOver()
      const waitLimits = { holdMs: 200, roundMs: 200 }
      const server = await startMcpServer({ door: scene.turns.door, host: { review: false }, waitLimits })
      const host = await overHttp(server, hostOf({ era: '2025' }), { headers: { 'runsheet-session': 'c1' } })
      try {
        scene.write('hold-a')
        const { data } = await host.call('plan', PLAN[1])
        expect(data).toMatchObject({ status: 'checking' })
        const { claim_id } = data ?? {}
        expect((await host.call('await_review', { claim_id })).data).toMatchObject({ status: 'checking', claim_id })
        scene.remove('hold-a')
        await scene.ran('baseline', 2)
        expect((await host.call('await_review', { claim_id })).data).toMatchObject({ ids: [1, 2], next: '1 a' })
      } finally {
        await host.client.close()
        await server.close()
      }
    }),
  )

  // Leases of the real program last 6 s.
  it.each(inLongRun(['claim', 'baseline'], ['claim']))(
    '[CF1] `runsheet mcp` killed while a check runs (%s): the next one goes on',
    why =>
      ClaimScene.play(async scene => {
        const config = join(scene.folder, 'config')
        mkdirSync(join(config, 'runsheet'), { recursive: true })
        const settings = { checks: { allow: scene.order.allow, env: { RUNSHEET_TEST_MARK: scene.folder } } }
        writeFileSync(join(config, 'runsheet', 'runsheet.json'), JSON.stringify(settings))
        const args = ['--workspace', scene.workspace, '--session', 'c1', '--review', 'off']
        const connect = () =>
          overStdio(scene.order.data, hostOf({ era: '2025' }), args, CLI, {
            env: { XDG_CONFIG_HOME: config },
          })
        const first = await connect()
        if (why === 'baseline') scene.write('hold-a')
        const planned = first.call('plan', PLAN[1]).catch(() => {})
        if (why === 'claim') {
          await planned
          await scene.ran('baseline', 2)
          scene.write('hold-a')
          scene.write('done-a')
          void first.call('update', claim(1)[1]).catch(() => {})
        }
        await scene.begun('a', why === 'claim' ? 2 : 1)
        process.kill(first.pid, 'SIGKILL')
        await scene.nothingRuns()
        scene.remove('hold-a')
        const next = await connect()
        await scene.ran('baseline', 2)
        scene.write('done-a')
        try {
          expect((await next.call('update', claim(1)[1])).data).toEqual(DONE)
          expect(await scene.of('claim_made')).toHaveLength(1)
          expect((await scene.task(0)).standing).toBe('proven')
          expect(await scene.faults()).toEqual([])
        } finally {
          await next.client.close()
          await first.client.close().catch(() => {})
        }
      }),
  )
})

/** The event types of commits that could not be written. */
function lostCommits({ turns: { door } }: ClaimScene): readonly string[] {
  const lost: string[] = []
  const restore = aroundCommits(door, (commit, work) => {
    let types = ''
    return commit(transaction => {
      const value = work(transaction)
      types = transaction.events.map(({ type }) => type).join(' ')
      return value
    }).catch((error: unknown) => {
      lost.push(types)
      throw error
    })
  })
  onTestFinished(restore)
  return lost
}

/** Takes all room of a disk; the function gives it back. */
function fill(folder: string): () => void {
  const ballast = join(folder, 'ballast')
  for (const size of [65_536, 4_096]) {
    try {
      for (;;) writeFileSync(ballast, Buffer.alloc(size), { flag: 'a' })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
    }
  }
  return () => rmSync(ballast)
}
