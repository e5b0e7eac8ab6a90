import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import { type CheckScene, checkScene, FOREVER, marked } from '../../test/support/check-scene.ts'
import type { CheckOrder } from '../../test/support/check-runner.ts'
import { type Child, inLongRun, runChild } from '../../test/support/children.ts'
import { fault, held } from '../../test/support/faults.ts'

const onLinux = process.platform === 'linux'

/** A process of ours that runs a check. */
function runner({ workspace, wrap, env }: CheckScene, ...words: readonly string[]): Child {
  const order: CheckOrder = { place: { workspace, wrap, env }, words }
  return runChild(new URL('../../test/support/check-runner.ts', import.meta.url), order)
}

/** Ignores SIGTERM, forks, and leaves the group in each way that does not make a session. */
const stubborn = (scene: CheckScene): string =>
  scene.script('stubborn', "trap '' TERM", `(${FOREVER}) &`, `timeout 1000 ${FOREVER} &`, `echo runs`, FOREVER)

const nothingLeft = (scene: CheckScene) => vi.waitFor(() => expect(marked(scene)).toEqual([]), { timeout: 20_000 })

describe.runIf(onLinux)('when our process is killed', () => {
  fault('kill -9 of a process that runs a check')
  it('its check is killed with all that it started', async () => {
    const scene = checkScene()
    const child = runner(scene, stubborn(scene))
    await child.line(line => line === 'runs')
    await vi.waitFor(() => expect(marked(scene).length).toBeGreaterThan(6))
    child.process.kill('SIGKILL')
    await child.ended
    await nothingLeft(scene)
  })

  it('at any moment of the start, nothing stays behind', async () => {
    const rounds = inLongRun(100, 3)
    const lane = async (offset: number): Promise<void> => {
      const scene = checkScene()
      const program = stubborn(scene)
      for (let round = 0; round < rounds; round += 1) {
        const child = runner(scene, program)
        await child.line(line => line === 'begins')
        await sleep(((round + offset) / rounds) * 40)
        child.process.kill('SIGKILL')
        await child.ended
        await nothingLeft(scene)
        held()
      }
    }
    await Promise.all([0, 0.25, 0.5, 0.75].map(lane))
  })

  it('frozen is not dead: the check goes on', async () => {
    const scene = checkScene()
    scene.script('slow', 'echo runs', 'while [ ! -e go ]; do sleep 0.01; done')
    const child = runner(scene, './slow')
    await child.line(line => line === 'runs')
    child.process.kill('SIGSTOP')
    scene.write('go', '')
    child.process.kill('SIGCONT')
    expect(await child.line(line => line === 'passed')).toBe('passed')
  })
})
