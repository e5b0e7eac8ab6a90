import { expect, it } from 'vitest'
import { GATE_MARK } from '../../src/core/views/digest.ts'
import type { ReviewRequest } from '../../src/core/model/review.ts'
import { worker } from './agent.ts'
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

export interface TerminalTraits {
  readonly showsAddress: boolean
  /** How often Esc is pressed to stop the agent. */
  readonly escapes: number
}

/** In the terminal of a host that has no forms, the page decides. */
export function terminalSuite(host: Driver, { showsAddress, escapes }: TerminalTraits): void {
  const opened = sceneOf(host)

  it(`${host.label} in a terminal: a plan waits for the page, and is worked through`, async () => {
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

  it(`${host.label} in a terminal: an agent that a person stops is not sent back`, async () => {
    const scene = await opened()
    const work = worker({ tasks: GREETING.tasks.map(({ title }) => ({ title })), stopsAfter: 1 })
    let isThinking = false
    scene.model.script = async request => {
      if (request.said.some(text => text.includes(LATER))) return { text: 'Until tomorrow.' }
      // Gemini CLI asks an agent to go on that had said nothing.
      if (isThinking) return { text: 'As you like.' }
      const answer = await work(request)
      if ('call' in answer) return answer
      isThinking = true
      // Until the host hangs up.
      return new Promise(() => {})
    }
    await scene.setup()
    const terminal = await scene.terminal()
    await terminal.enter(GREETING.prompt)
    await scene.person.confirm(await scene.review())
    await expect.poll(() => isThinking).toBe(true)
    await terminal.keys(...Array<string>(escapes).fill('Escape'))
    await terminal.enter(LATER)
    await terminal.sees('Until tomorrow.')
    const [plan] = await scene.person.plans()
    expect(plan?.events.map(({ type }) => type)).not.toContain('gate_followed')
    expect(scene.model.heard.filter(text => text.includes(GATE_MARK))).toEqual([])
  })
}

const LATER = 'Leave it for today.'
