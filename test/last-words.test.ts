import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { expect, it, onTestFinished } from 'vitest'
import { createRunsheet, openMemoryStore, type PolicyPatch, type TurnStatus } from '../src/index.ts'
import { openChecks } from '../src/library/checks.ts'
import { createRunner } from '../src/library/runner.ts'
import { approveAll, ScratchWorkspace, seen } from './support/checked-library.ts'
import { Provider } from './support/provider.ts'

const workspace = ScratchWorkspace.each()

const PLAN = { tool: 'plan', args: { tasks: [{ title: 'A', check: 'sh check.sh' }, { title: 'B' }] } }
const settles = (id: number) => ({ tool: 'update', args: { id, outcome: 'x' } })
const fixed = (): void => workspace.write('sum.txt', '42')
const broken = (): void => workspace.write('sum.txt', '')

interface Case {
  readonly done?: readonly (readonly string[])[]
  readonly policy?: PolicyPatch
  /** What the model does after the plan, one step after the other. Then it only talks. */
  readonly steps: readonly (() => { readonly tool: string; readonly args: unknown })[]
}

interface Told {
  readonly last: string
  readonly followUps: readonly string[]
  readonly status: TurnStatus
}

/** Runs a turn of our own to its end: its status, its last message and the follow-ups before. */
async function told({ done = [], policy = {}, steps }: Case): Promise<Told> {
  workspace.write('check.sh', 'test -s sum.txt\n')
  const checks = openChecks({ workspace: workspace.path, done })
  const runsheet = createRunsheet({
    store: openMemoryStore(),
    checks,
    onReview: approveAll,
    policy: { assessor: false, gate: true, ...policy },
  })
  const provider = await Provider.start(({ messages }) => {
    const answers = messages.filter(({ role }) => role === 'tool').length
    const call = answers === 0 ? PLAN : steps[answers - 1]?.()
    return call ? { calls: [call] } : 'That is it.'
  })
  const model = createOpenAICompatible({ name: 'scripted', baseURL: provider.url })('m')
  const runner = createRunner({ runsheet, models: { m: model } })
  onTestFinished(async () => {
    await runner.close()
    await runsheet.close()
    await provider.close()
  })
  const chat = runsheet.conversation('chat-1')
  await chat.startTurn('turn-1', { message: 'Do it.', model: 'm' })
  const [{ status } = { status: 'running' as const }] = await seen(chat, 'turn_finished', 1)
  const texts = (await seen(chat, 'message_added')).map(({ text }) => text)
  return { last: texts.at(-1) ?? '', followUps: texts.slice(1, -1), status }
}

const WAYS_OUT =
  'Mend what a check reports and continue; or change the check, or settle the task yourself, in the plan.'

it('a red check is named with each task that it keeps open, to the model and to the person', async () => {
  const { last, followUps } = await told({ steps: [() => settles(1), () => settles(2)] })
  expect(followUps[0]).toContain('Open: 1 A (its check `sh check.sh` fails with exit code 1)')
  expect(last).toBe(
    `That is it.\n\nNo progress after 3 attempts.\n\n1 of 2 done: 1 on the agent's word.\n\nNot done:\n- A (its check \`sh check.sh\` fails with exit code 1)\n\n${WAYS_OUT}`,
  )
})

it('what a check stands against is named where no gate watches, blocked or cancelled', async () => {
  const sets = (id: number, status: string, outcome: string) => ({ tool: 'update', args: { id, status, outcome } })
  const { last, status } = await told({
    policy: { gate: false },
    steps: [() => settles(1), () => sets(1, 'cancelled', 'x'), () => sets(1, 'blocked', 'No way.'), () => settles(2)],
  })
  expect([status, last]).toEqual([
    'incomplete',
    `That is it.\n\n1 of 2 done: 1 on the agent's word; 1 blocked.\n\nNot done:\n- A (blocked: No way; its check \`sh check.sh\` fails with exit code 1)\n\n${WAYS_OUT}`,
  ])
  const cancelled = await told({
    policy: { gate: false },
    steps: [() => sets(1, 'cancelled', 'Not needed.'), () => settles(2)],
  })
  expect([cancelled.status, cancelled.last]).toEqual([
    'incomplete',
    `That is it.\n\n1 of 2 done: 1 on the agent's word; 1 cancelled.\n\nNot done:\n- A (cancelled: Not needed; its check \`sh check.sh\` never passed)\n\n${WAYS_OUT}`,
  ])
})

it('a task that is open again is named even where no gate watches', async () => {
  const { last } = await told({
    policy: { gate: false },
    steps: [() => (fixed(), settles(1)), () => (broken(), settles(2))],
  })
  expect(last).toContain(`Not done:\n- A (its check \`sh check.sh\` fails now with exit code 1)\n\n${WAYS_OUT}`)
})

it('a check of the whole plan that fails, or whose files changed, is named with the way out', async () => {
  workspace.write('lint.sh', 'exit 3\n')
  const done = [['sh', 'lint.sh']]
  const failing = await told({ done, steps: [() => (fixed(), settles(1)), () => settles(2)] })
  expect(failing.last).toContain(
    'The plan is not done: `sh lint.sh`, a check of the whole plan, fails with exit code 3. Mend that, then continue.',
  )
  broken()
  const steps = [() => (fixed(), settles(1)), () => (workspace.write('lint.sh', 'exit 0\n'), settles(2))]
  const edited = await told({ done, steps })
  expect(edited.last).toContain(
    'The plan is not done: `sh lint.sh`, a check of the whole plan, does not count: changed outside the scopes of the plan: lint.sh. Put that back, or leave it to a person, who can accept it. Mend that, then continue.',
  )
})
