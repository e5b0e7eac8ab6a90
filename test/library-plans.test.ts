import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { createRunsheet, openMemoryStore, type OnReview, type Runsheet, type RunsheetOptions } from '../src/index.ts'
import { type ChecksOptions, openChecks } from '../src/library/checks.ts'
import { scratchFolder } from './support/scratch.ts'

let folder: string
let workspace: string

beforeEach(() => {
  folder = scratchFolder()
  workspace = join(folder, 'work')
  mkdirSync(workspace)
  // The machine's id is kept there.
  vi.stubEnv('XDG_CONFIG_HOME', join(folder, 'config'))
  script('check', 'test -s sum.txt || { echo there is no sum; exit 3; }')
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
})

const write = (name: string, text: string): void => writeFileSync(join(workspace, name), text)

function script(name: string, ...lines: readonly string[]): void {
  write(name, ['#!/bin/sh', ...lines, ''].join('\n'))
  chmodSync(join(workspace, name), 0o755)
}

/** Confirms what is proposed, with every check. */
const approveAll: OnReview = ({ draft_tasks }) => ({
  action: 'confirm',
  tasks: draft_tasks.map(({ checks = [] }, draft_index) => ({ draft_index, approve: checks.map(({ hash }) => hash) })),
})

function open(options: Partial<RunsheetOptions> & { checked?: Partial<ChecksOptions> } = {}): Runsheet {
  const { checked, ...rest } = options
  const checks = openChecks({ workspace, ...checked })
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
  write('sum.txt', '3')
  await turn.call('update', { id: 1, outcome: 'It is in sum.txt.' })
  expect(await ends(runsheet)).toEqual(['proven', 'in_progress'])
  write('sum.txt', '')
  await chat.turn('turn-2').call('update', { id: 2, outcome: 'They know.' })
  expect(await ends(runsheet)).toEqual(['in_progress', 'reported'])
})

it('[AS4] a task that is created as done waits for the claim that runs its check', async () => {
  const policy = { toolset: 'task_manager', review: false } as const
  const runsheet = open({ policy, checked: { allow: [['./check']] } })
  const turn = runsheet.conversation('chat-1').turn('turn-1')
  const task = { title: 'Write the sum', check: './check', status: 'done', outcome: 'It is in sum.txt.' }
  const answer = await turn.call('add_task', { tasks: [task] })
  const [made] = await runsheet.conversation('chat-1').tasks()
  const id = made?.id ?? ''
  expect(answer).toMatchObject({
    not_accepted: [{ id, reason: 'Its check runs once you complete it with a call of its own.' }],
  })
  expect(await turn.call('complete_task', { id, outcome: 'It is in sum.txt.' })).toMatchObject({
    error: expect.stringContaining('`./check` fails with exit code 3'),
  })
  write('sum.txt', '3')
  await turn.call('complete_task', { id, outcome: 'It is in sum.txt.' })
  expect(await ends(runsheet)).toEqual(['proven'])
})

it('[CM11] a plan does not end over a completed task whose check is known to fail', async () => {
  const runsheet = open()
  const turn = runsheet.conversation('chat-1').turn('turn-1')
  const check = './check'
  await turn.call('plan', {
    tasks: [
      { title: 'Write the sum', check },
      { title: 'Check the sum', check },
    ],
  })
  write('sum.txt', '3')
  await turn.call('update', { id: 1, outcome: 'It is in sum.txt.' })
  write('sum.txt', '')
  await turn.call('update', { id: 2, outcome: 'It is right.' })
  await turn.call('update', { id: 2, status: 'cancelled', outcome: 'Not needed.' })
  expect(await ends(runsheet)).toEqual(['in_progress', 'cancelled'])
})

it('[TC13] the claim that leaves nothing open is refused while a check of the whole plan fails', async () => {
  script('lint', 'test -s notes.txt || { echo there are no notes; exit 4; }')
  const runsheet = open({ checked: { done: [['./lint']] } })
  const turn = runsheet.conversation('chat-1').turn('turn-1')
  await turn.call('plan', { tasks: [{ title: 'Write the sum', check: './check' }, { title: 'Tell the team' }] })
  write('sum.txt', '3')
  await turn.call('update', { id: 1, outcome: 'It is in sum.txt.' })
  expect(await turn.call('update', { id: 2, outcome: 'They know.' })).toMatchObject({
    error: expect.stringMatching(/`.\/lint`, a check of the whole plan, fails with exit code 4[^]*there are no notes/),
  })
  expect(await ends(runsheet)).toEqual(['proven', 'in_progress'])
  write('notes.txt', 'x')
  await turn.call('update', { id: 2, outcome: 'They know.' })
  expect(await ends(runsheet)).toEqual(['proven', 'reported'])
})
