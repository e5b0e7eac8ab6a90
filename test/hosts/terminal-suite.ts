import { expect, it } from 'vitest'
import type { ReviewRequest } from '../../src/domain/review.ts'
import type { Driver } from './drivers/driver.ts'
import { GREETING, isProven, scriptGreeting } from './greeting.ts'
import { sceneOf } from './opened.ts'
import type { HostScene } from './scene.ts'

/** What is of this run only, and how the docs show it. */
export const forDocs = (
  { person, home }: HostScene,
  { session_id }: ReviewRequest,
): Readonly<Record<string, string>> => ({
  [person.server?.local ?? '']: 'http://127.0.0.1:4747/',
  [session_id]: '307a9781-ec0d-4fc9-a3c0-f4aca6a3ad12',
  [home]: '~',
})

/** In the terminal of a host that has no forms, the page decides. */
export function terminalSuite(host: Driver, { showsAddress }: { readonly showsAddress: boolean }): void {
  const opened = sceneOf(host)

  it(`[HO14][HO4] ${host.label} in a terminal: a plan waits for the page, and is worked through`, async () => {
    const scene = await opened()
    scriptGreeting(scene, { stopsAfter: 1 })
    await scene.setup()
    const terminal = await scene.terminal({ env: scene.browser })
    await terminal.enter(GREETING.prompt)
    const review = await scene.review()
    const address = `${scene.person.server?.local}?chat=${review.session_id}`
    await terminal.sees('plan', ...(showsAddress ? [address] : []))
    await expect.poll(() => scene.opened()).toEqual([address])
    if (showsAddress) terminal.record(host.name, GREETING.prompt, forDocs(scene, review))
    await scene.person.confirm(review)
    const { title, events } = await isProven(scene)
    expect(title).toBe(`${host.label} · website · Write greeting.mjs`)
    expect(events.filter(({ type }) => type === 'gate_followed')).toHaveLength(1)
    await terminal.sees('DONE')
    if (!showsAddress) terminal.record(host.name, GREETING.prompt, forDocs(scene, review))
  })
}
