import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { DIGEST_MARK } from '../../src/core/views/digest.ts'
import type { ReviewRequest } from '../../src/core/model/review.ts'
import { talker, worker } from './agent.ts'
import { codex } from './drivers/codex.ts'
import { GREETING, isProven, scriptGreeting } from './greeting.ts'
import { isDone, sceneOf } from './opened.ts'
import type { HostScene } from './scene.ts'
import type { Terminal } from './terminal.ts'
import { forDocs } from './terminal-suite.ts'

/** Longer than a machine takes to answer a form. */
const LOOK_MS = 1_500

const open = sceneOf(codex)

async function opened(): Promise<HostScene> {
  const scene = await open()
  scriptGreeting(scene)
  await scene.setup()
  return scene
}

/** Starts Codex, and accepts the hooks. */
async function accepted(scene: HostScene, args: readonly string[] = []): Promise<Terminal> {
  const terminal = await scene.terminal({ args, env: scene.browser, sees: 'Hooks need review' })
  await terminal.press('Down', '› 2. Trust all')
  await terminal.keys('Enter')
  await terminal.sees(codex.terminal.ready)
  return terminal
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
  await terminal.sees(`The page: ${address}`, '1. Approve as proposed, and let its check run')
  await delay(LOOK_MS)
  return { address, review }
}

it('[HO12] the form shows the plan with its check, and one key approves it and lets the check run', async () => {
  const scene = await opened()
  const terminal = await scene.terminal({ sees: 'Hooks need review' })
  terminal.record('codex-hooks', 'Hooks need review')
  await terminal.press('Down', '› 2. Trust all')
  await terminal.keys('Enter')
  await terminal.sees(codex.terminal.ready)
  const { review } = await asked(scene, terminal)
  await terminal.sees('1. Write greeting.mjs', 'Check: node check.mjs', '2. Mention it in the README')
  terminal.record('codex', GREETING.prompt, forDocs(scene, review))
  await terminal.keys('1')
  await isProven(scene)
  await terminal.sees('DONE')
})

it('hooks run once a person has accepted them in /hooks, and doctor says so', async () => {
  const scene = await opened()
  scene.model.script = worker({ tasks: [{ title: 'Look' }, { title: 'Leap' }], stopsAfter: 1 })
  const terminal = await scene.terminal({ sees: 'Hooks need review' })
  await terminal.press('Down', '› 3. Continue without')
  await terminal.keys('Enter')
  await terminal.sees(codex.terminal.ready)
  expect((await scene.attempt('doctor', 'codex')).printed).toContain('you have not accepted the hooks')
  await terminal.enter('/hooks')
  await terminal.sees('4 hooks need review')
  await terminal.keys('t')
  await terminal.keys('Escape')
  expect(await scene.runsheet('doctor', 'codex')).toContain('a person has accepted the hooks')
  await terminal.sees(codex.terminal.ready)
  await terminal.enter('Look, then leap.')
  await terminal.sees('1. Approve as proposed')
  await delay(LOOK_MS)
  await terminal.keys('1')
  const { events } = await isDone(scene, ['1 Look', '2 Leap'])
  expect(events.filter(({ type }) => type === 'gate_followed')).toHaveLength(1)
})

it('changes, rejection and the page; each /new begins another conversation', async () => {
  const scene = await opened()
  const terminal = await accepted(scene)
  const fresh = async (): Promise<void> => {
    await terminal.enter('/new')
    await terminal.sees(codex.terminal.ready)
  }

  const first = await asked(scene, terminal)
  await terminal.keys('2')
  await terminal.sees('What should the agent change?')
  await delay(LOOK_MS)
  await terminal.enter('Shorter, please')
  await terminal.sees('REFUSED: changes_requested')
  await fresh()

  const second = await asked(scene, terminal)
  await terminal.keys('3')
  await terminal.sees('REFUSED: user_cancelled')
  await fresh()

  const third = await asked(scene, terminal)
  await terminal.keys('4')
  await terminal.sees('Calling runsheet.plan', 'esc to interrupt')
  await expect.poll(() => scene.opened()).toEqual([third.address])
  await scene.person.client.decide(third.review.review_id, { action: 'cancel' })
  await terminal.sees('REFUSED: user_cancelled')
  await fresh()

  // A form that is open is withdrawn when the page decides.
  const fourth = await asked(scene, terminal)
  await scene.person.client.decide(fourth.review.review_id, { action: 'cancel' })
  await terminal.sees('REFUSED: user_cancelled')
  expect(new Set([first, second, third, fourth].map(({ address }) => address)).size).toBe(4)
})

it.each(['-a never', '--dangerously-bypass-approvals-and-sandbox'])(
  'with %s Codex shows no form, and decides nothing: the page opens, and a person decides there',
  async words => {
    const scene = await opened()
    const terminal = await accepted(scene, words.split(' '))
    await terminal.enter(GREETING.prompt)
    const review = await scene.review()
    await expect.poll(() => scene.opened()).toEqual([`${scene.person.server?.local}?chat=${review.session_id}`])
    await terminal.sees('Calling runsheet.plan')
    await delay(LOOK_MS)
    expect(terminal.screen).not.toContain('Approve as proposed')
    expect((await scene.person.client.review(review.review_id)).review.status).toBe('pending')
    await scene.person.confirm(review)
    await isProven(scene)
    await terminal.sees('DONE')
  },
)

it('codex resume finds the plan again', async () => {
  const scene = await opened()
  const terminal = await accepted(scene)
  await asked(scene, terminal)
  await terminal.keys('1')
  await isProven(scene)
  await terminal.sees('DONE')
  await terminal.enter('/quit')
  await terminal.sees('It ended: 0')
  scene.model.script = talker
  scene.model.asked.length = 0
  const again = await scene.terminal({ args: ['resume', '--last'] })
  await again.enter('Hello again.')
  await again.sees('Hello.')
  expect(scene.model.heard).toContainEqual(expect.stringContaining(DIGEST_MARK))
  expect(await scene.person.plans()).toHaveLength(1)
})
