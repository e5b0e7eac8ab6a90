import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createRunsheet, openMemoryStore, type Runsheet, type RunsheetOptions } from '../src/index.ts'
import { type ChecksOptions, openChecks } from '../src/library/checks.ts'
import { approveAll, ScratchWorkspace } from './support/checked-library.ts'
import { git, hasGit } from './support/repository.ts'

const workspace = ScratchWorkspace.each(each =>
  each.script('check', 'test -s src/sum.txt || { echo there is no sum; exit 3; }'),
)

function open(options: Partial<RunsheetOptions> & { checked?: Partial<ChecksOptions> } = {}): Runsheet {
  const { checked, ...rest } = options
  const checks = openChecks({ workspace: workspace.path, ...checked })
  const policy = { assessor: false, ...rest.policy }
  const runsheet = createRunsheet({ store: openMemoryStore(), checks, onReview: approveAll, ...rest, policy })
  onTestFinished(() => runsheet.close())
  return runsheet
}

const ends = async (runsheet: Runsheet) =>
  (await runsheet.conversation('chat-1').tasks()).map(({ status, standing }) => standing ?? status)

it('[TC12] a plan that ends in another turn is checked there as a whole', async () => {
  const runsheet = open()
  const chat = runsheet.conversation('chat-1')
  const turn = chat.turn('turn-1')
  await turn.call('plan', { tasks: [{ title: 'Write the sum', check: './check' }, { title: 'Tell the team' }] })
  workspace.write('src/sum.txt', '3')
  await turn.call('update', { id: 1, outcome: 'It is in src/sum.txt.' })
  expect(await ends(runsheet)).toEqual(['proven', 'in_progress'])
  workspace.write('src/sum.txt', '')
  await chat.turn('turn-2').call('update', { id: 2, outcome: 'They know.' })
  expect(await ends(runsheet)).toEqual(['in_progress', 'reported'])
})

it('a task that is created as done waits for the claim that runs its check', async () => {
  const policy = { toolset: 'task_manager', review: false } as const
  const runsheet = open({ policy, checked: { allow: [['./check']] } })
  const turn = runsheet.conversation('chat-1').turn('turn-1')
  const task = { title: 'Write the sum', check: './check', status: 'done', outcome: 'It is in src/sum.txt.' }
  const answer = await turn.call('add_task', { tasks: [task] })
  const [made] = await runsheet.conversation('chat-1').tasks()
  const id = made?.id ?? ''
  expect(answer).toMatchObject({
    not_accepted: [{ id, reason: 'Its check runs once you complete it with a call of its own.' }],
  })
  expect(await turn.call('complete_task', { id, outcome: 'It is in src/sum.txt.' })).toMatchObject({
    error: expect.stringContaining('`./check` fails with exit code 3'),
  })
  workspace.write('src/sum.txt', '3')
  await turn.call('complete_task', { id, outcome: 'It is in src/sum.txt.' })
  expect(await ends(runsheet)).toEqual(['proven'])
})

it.runIf(hasGit)(
  '[CM11] a plan does not end over a completed task whose check is known to fail (needs git)',
  async () => {
    git(workspace.path, 'init', '-q')
    const runsheet = open()
    const turn = runsheet.conversation('chat-1').turn('turn-1')
    const check = './check'
    await turn.call('plan', {
      tasks: [
        { title: 'Write the sum', check },
        { title: 'Check the sum', check },
      ],
    })
    workspace.write('src/sum.txt', '3')
    await turn.call('update', { id: 1, outcome: 'It is in src/sum.txt.' })
    workspace.write('src/sum.txt', '')
    await turn.call('update', { id: 2, outcome: 'It is right.' })
    expect(await turn.call('update', { id: 2, status: 'cancelled', outcome: 'Not needed.' })).toMatchObject({
      error: expect.stringContaining('cannot be cancelled. Set it to blocked'),
    })
    await turn.call('update', { id: 2, status: 'blocked', outcome: 'It is not right.' })
    expect(await turn.finish()).toMatchObject({ status: 'incomplete' })
    expect(await ends(runsheet)).toEqual(['in_progress', 'blocked'])
  },
)

it('[TC12] the claim that leaves nothing open is refused while a check of the whole plan fails', async () => {
  workspace.script('lint', 'test -s docs/notes.txt || { echo there are no notes; exit 4; }')
  const runsheet = open({ checked: { done: [['./lint']] } })
  const turn = runsheet.conversation('chat-1').turn('turn-1')
  await turn.call('plan', { tasks: [{ title: 'Write the sum', check: './check' }, { title: 'Tell the team' }] })
  workspace.write('src/sum.txt', '3')
  await turn.call('update', { id: 1, outcome: 'It is in src/sum.txt.' })
  expect(await turn.call('update', { id: 2, outcome: 'They know.' })).toMatchObject({
    error: expect.stringMatching(/`.\/lint`, a check of the whole plan, fails with exit code 4[^]*there are no notes/),
  })
  expect(await ends(runsheet)).toEqual(['proven', 'in_progress'])
  workspace.write('docs/notes.txt', 'x')
  await turn.call('update', { id: 2, outcome: 'They know.' })
  expect(await ends(runsheet)).toEqual(['proven', 'reported'])
})

it('[CR1] a model is told about its own field, with an example that has a check', async () => {
  const turn = open().conversation('chat-1').turn('turn-1')
  const refused = (check: string): Promise<unknown> =>
    turn.call('plan', { tasks: [{ title: 'A' }, { title: 'B', check }] })
  const example = 'Send {"tasks":[{"title":"…","done_when":"…","check":"npm test"}]}'
  const nothing = 'tasks[1].check must be a command that can fail: this one ends the same whatever was done.'
  const variable = 'tasks[1].check must be a command that begins with a program, such as env NAME=value npm test.'
  expect(await refused('true')).toMatchObject({ error: `${nothing} ${example}` })
  expect(await refused('A=b npm test')).toMatchObject({ error: `${variable} ${example}` })
})

it('a plan that ends in another folder proves nothing of what was done in the first', async () => {
  const elsewhere = join(workspace.folder, 'elsewhere')
  mkdirSync(elsewhere)
  const store = openMemoryStore()
  const here = open({ store })
  const plan = [{ title: 'Write the sum', check: './check' }, { title: 'Tell the team' }]
  await here.conversation('chat-1').turn('turn-1').call('plan', { tasks: plan })
  workspace.write('src/sum.txt', '3')
  await here.conversation('chat-1').turn('turn-1').call('update', { id: 1, outcome: 'It is in src/sum.txt.' })
  expect(await ends(here)).toEqual(['proven', 'in_progress'])
  workspace.write('src/sum.txt', '')
  const there = open({ store, checked: { workspace: elsewhere } })
  await there.conversation('chat-1').turn('turn-2').call('update', { id: 2, outcome: 'They know.' })
  expect(await ends(there)).toEqual(['reported', 'reported'])
  const [sum] = await here.conversation('chat-1').tasks()
  expect(sum?.standing_reasons).toContain('./check: passed before the plan went on in another folder')
})
