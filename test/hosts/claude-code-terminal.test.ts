import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { DIGEST_MARK } from '../../src/core/views/digest.ts'
import type { ReviewRequest } from '../../src/core/model/review.ts'
import { talker } from './agent.ts'
import { claudeCode } from './drivers/claude-code.ts'
import { GREETING, isProven, scriptGreeting } from './greeting.ts'
import { isDone, sceneOf } from './opened.ts'
import type { HostScene } from './scene.ts'
import type { Terminal } from './terminal.ts'
import { forDocs } from './terminal-suite.ts'

/** Longer than a machine takes to answer a form. */
const LOOK_MS = 1_500
const APPROVE = 'Decision: ▸ Approve as shown, and let its check run'

const open = sceneOf(claudeCode)

async function opened(): Promise<HostScene> {
  const scene = await open()
  scene.addSettings(claudeCode.terminal.settings?.(scene.project) ?? {})
  scriptGreeting(scene, { stopsAfter: 1 })
  await scene.setup()
  return scene
}

interface Asked {
  readonly address: string
  readonly review: ReviewRequest
}

/** Asks for the greeting, and looks at the form. */
async function asked(scene: HostScene, terminal: Terminal): Promise<Asked> {
  await terminal.enter(GREETING.prompt)
  const review = await scene.review()
  const address = `${scene.person.server?.local}?chat=${review.session_id}`
  await terminal.sees(APPROVE, `The page: ${address}`)
  await delay(LOOK_MS)
  return { address, review }
}

/** Chooses another decision, counted from the first, and submits the form. */
const choose = (terminal: Terminal, down: number): Promise<void> =>
  terminal.keys('Right', ...Array.from({ length: down }, () => 'Down'), 'Space', 'Up', 'Up', 'Enter')

it('[HO12] the form shows the plan with its check, and three keys approve it and let the check run', async () => {
  const scene = await opened()
  const terminal = await scene.terminal()
  const { review } = await asked(scene, terminal)
  await terminal.sees('Task 1: Write greeting.mjs', 'Check: node check.mjs', 'Task 2: Mention it in the README')
  terminal.record('claude-code', GREETING.prompt, forDocs(scene, review))
  await terminal.keys('Up', 'Up', 'Enter')
  const { events } = await isProven(scene)
  expect(events.filter(({ type }) => type === 'gate_followed')).toHaveLength(1)
  await terminal.sees('DONE')
})

it('a title can be edited in the form, and tasks added and removed', async () => {
  const scene = await opened()
  const terminal = await scene.terminal()
  await asked(scene, terminal)
  await terminal.keys('Down', 'End')
  await terminal.type(' for Ann')
  await terminal.keys('Down', 'Down')
  await terminal.type('Tell Ann')
  await terminal.keys('Down', 'Down')
  await terminal.type('2')
  await terminal.sees('Task 1: Write greeting.mjs for Ann', 'Another task (optional): Tell Ann')
  await terminal.keys(...Array.from({ length: 6 }, () => 'Up'), 'Up', 'Enter')
  await isDone(scene, ['1 Write greeting.mjs for Ann', '2 Tell Ann'])
})

it('changes, rejection, a link and the page; each /clear begins another conversation', async () => {
  const scene = await opened()
  const terminal = await scene.terminal({ env: scene.browser })
  const fresh = async (): Promise<void> => {
    await terminal.enter('/clear')
    await terminal.sees(claudeCode.terminal.ready)
  }

  const first = await asked(scene, terminal)
  await choose(terminal, 1)
  await terminal.sees('What should the agent change?')
  await delay(LOOK_MS)
  await terminal.enter('Shorter, please')
  await terminal.keys('Enter')
  await terminal.sees('REFUSED: changes_requested')
  await fresh()

  const second = await asked(scene, terminal)
  await choose(terminal, 2)
  await terminal.sees('REFUSED: user_cancelled')
  await fresh()

  const third = await asked(scene, terminal)
  await terminal.keys('Escape')
  await terminal.sees('wants to open a URL', third.address)
  await delay(LOOK_MS)
  await terminal.keys('Escape')
  await terminal.sees(`${third.address} · Waiting for a person`)
  expect((await scene.person.client.review(third.review.review_id)).review.status).toBe('pending')
  await scene.person.client.decide(third.review.review_id, { action: 'cancel' })
  await terminal.sees('REFUSED: user_cancelled')
  await fresh()

  const fourth = await asked(scene, terminal)
  await choose(terminal, 3)
  await terminal.sees(`${fourth.address} · Waiting for a person`)
  // Once for each review that came to the page, and never with a code.
  expect(scene.opened()).toEqual([third.address, fourth.address])
  expect(new Set([first, second, third, fourth].map(({ address }) => address)).size).toBe(4)
})

it('claude -c finds the plan again', async () => {
  const scene = await opened()
  const terminal = await scene.terminal()
  await asked(scene, terminal)
  await terminal.keys('Up', 'Up', 'Enter')
  await isProven(scene)
  await terminal.sees('DONE')
  await terminal.enter('/exit')
  await terminal.sees('It ended: 0')
  scene.model.script = talker
  scene.model.asked.length = 0
  const again = await scene.terminal({ args: ['-c'] })
  await again.enter('Hello again.')
  await again.sees('Hello.')
  expect(scene.model.heard).toContainEqual(expect.stringContaining(DIGEST_MARK))
  expect(await scene.person.plans()).toHaveLength(1)
})
