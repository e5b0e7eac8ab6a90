import { expect, it } from 'vitest'
import type { Driver } from './drivers/driver.ts'
import { GREETING, isProven, scriptGreeting } from './greeting.ts'
import { sceneOf } from './opened.ts'
import type { HostScene } from './scene.ts'

/** How an address of the page looks in the docs. */
export const SHOWN_ADDRESS = 'http://127.0.0.1:4747/'

/** Texts of a run, and how the docs show them. */
export const forDocs = (scene: HostScene): Readonly<Record<string, string>> => ({
  [scene.person.server?.local ?? '-']: SHOWN_ADDRESS,
  [scene.home]: '/home/ann',
})

/** In the terminal of a host that has no forms, the page decides. */
export function terminalSuite(host: Driver, { showsAddress }: { readonly showsAddress: boolean }): void {
  const opened = sceneOf(host)

  it(`[HO14] ${host.label} in a terminal: a plan waits for the page, and is worked through`, async () => {
    const scene = await opened()
    scriptGreeting(scene)
    await scene.setup()
    const terminal = await scene.terminal({ env: scene.browser })
    await terminal.enter(GREETING.prompt)
    const review = await scene.review()
    const address = `${scene.person.server?.local}?chat=${review.session_id}`
    await terminal.sees('plan', ...(showsAddress ? [address] : []))
    await expect.poll(() => scene.opened()).toEqual([address])
    terminal.record(`${host.name}-waits`, forDocs(scene))
    await scene.person.confirm(review)
    await isProven(scene)
    await terminal.sees('DONE')
    terminal.record(`${host.name}-done`, forDocs(scene))
    expect((await scene.person.plans()).map(({ title }) => title)).toEqual([
      `${host.label} · website · Write greeting.mjs`,
    ])
  })
}
