import { beforeAll, expect, onTestFinished } from 'vitest'
import type { Driver } from './drivers/driver.ts'
import { installed } from './installed.ts'
import { outline, type Plan } from './person.ts'
import { HostScene } from './scene.ts'

/** Installs the host before the tests of a file; returns how a test opens a scene with it. */
export function sceneOf(host: Driver): () => Promise<HostScene> {
  let bin: Promise<string> | undefined
  // A host that cannot be installed fails its tests, each with the reason.
  beforeAll(() => (bin = installed(host)).catch(() => {}))
  return async () => {
    const scene = await HostScene.open(host, (await bin) ?? '')
    onTestFinished(async ({ task }) => {
      if (task.result?.state === 'fail') process.stderr.write(`${host.label}: ${task.name}\n${await scene.story()}`)
      await scene.end()
    })
    return scene
  }
}

/** Waits until the only plan is done, with these tasks; returns it. */
export async function isDone(scene: HostScene, titles: readonly string[]): Promise<Plan> {
  const done = titles.map(title => `${title}: completed`)
  await expect.poll(async () => (await scene.person.plans()).map(outline)).toEqual([done])
  const [plan] = await scene.person.plans()
  if (!plan) throw new Error('there is no plan')
  return plan
}
