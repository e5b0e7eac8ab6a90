import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createRunsheet, type Runsheet } from '../src/index.ts'
import { openChecks } from '../src/library/checks.ts'
import { openSqliteStore } from '../src/library/sqlite.ts'
import { approveAll, ScratchWorkspace, seen } from './support/checked-library.ts'

const workspace = ScratchWorkspace.each(at => at.script('check.sh', 'test -s src/${1:-sum}.txt'))

async function open(folder: string): Promise<Runsheet> {
  const runsheet = createRunsheet({
    store: await openSqliteStore(join(workspace.folder, 'runsheet.db')),
    checks: openChecks({ workspace: folder, data: workspace.folder }),
    onReview: approveAll,
    policy: { assessor: false },
  })
  onTestFinished(() => runsheet.close())
  return runsheet
}

it('a plan whose folder was renamed says so at once, and goes on where a person writes one of its checks again', async () => {
  const first = await open(workspace.path)
  await first
    .conversation('chat-1')
    .turn('turn-1')
    .call('plan', {
      tasks: [
        { title: 'Write the sum', check: './check.sh' },
        { title: 'Look' },
        { title: 'Write the product', check: 'sh check.sh product' },
      ],
    })
  await first.close()
  const { path: old } = workspace
  workspace.path = `${old}-2`
  renameSync(old, workspace.path)
  const chat = (await open(workspace.path)).conversation('chat-1')
  const claim = async (call: string) => chat.turn('turn-1').call('update', { id: 1, outcome: 'x' }, { id: call })

  expect(await claim('call-1')).toMatchObject({
    error: expect.stringMatching(
      new RegExp(`The folder of its workspace \\(${old}\\) does not exist any more.*settle the task in the plan panel`),
    ),
  })
  const [task] = await chat.tasks()
  const [check] = task?.checks ?? []
  await expect(chat.runCheck(1, check?.id ?? '')).rejects.toMatchObject({
    code: 'check_not_runnable',
    data: { because: 'no_workspace', folder: old },
  })

  await chat.changeTask(1, { checks: [{ kind: 'command', run: ['./check.sh'] }] })
  // Those of both tasks, at the start and now.
  await seen(chat, 'check_ran', 4)
  const moved = [{ workspace: { path: workspace.path }, approved: true, state: 'failed', baseline: 'failed' }]
  expect(await chat.tasks()).toMatchObject([{ checks: moved }, { title: 'Look' }, { checks: moved }])
  workspace.write('src/sum.txt', '42')
  // A person's edit fences, once.
  expect(await claim('call-2')).toMatchObject({ error: expect.stringContaining('checks are now ["./check.sh"]') })
  expect(await claim('call-3')).toMatchObject({ next: '2 Look', remaining: 2 })
  expect((await chat.tasks())[0]).toMatchObject({ status: 'completed', standing: 'proven' })
  workspace.write('src/product.txt', '42')
  await chat.turn('turn-1').call('update', { id: 2, outcome: 'x' }, { id: 'call-4' })
  const last = await chat.turn('turn-1').call('update', { id: 3, outcome: 'x' }, { id: 'call-5' })
  expect(last).toEqual({ next: null, remaining: 0 })
  expect((await chat.tasks()).map(({ standing }) => standing)).toEqual(['proven', 'reported', 'proven'])
})

it('while the folder is gone, the claim that would end the plan is refused, also on a task without a check', async () => {
  const chat = (await open(workspace.path)).conversation('chat-1')
  const turn = chat.turn('turn-1')
  await turn.call('plan', { tasks: [{ title: 'Write the sum', check: './check.sh' }, { title: 'Look' }] })
  workspace.write('src/sum.txt', '42')
  expect(await turn.call('update', { id: 1, outcome: 'x' })).toMatchObject({ remaining: 1 })
  renameSync(workspace.path, `${workspace.path}-2`)
  expect(await turn.call('update', { id: 2, outcome: 'x' }, { id: 'call-1' })).toMatchObject({
    error: expect.stringMatching(
      new RegExp(
        `The folder of its workspace \\(${workspace.path}\\) does not exist any more.*does not count against it`,
      ),
    ),
  })
  expect(await chat.tasks()).toMatchObject([{ standing: 'proven' }, { status: 'in_progress' }])
  renameSync(`${workspace.path}-2`, workspace.path)
  expect(await turn.call('update', { id: 2, outcome: 'x' }, { id: 'call-2' })).toEqual({ next: null, remaining: 0 })
  expect((await chat.tasks()).map(({ standing }) => standing)).toEqual(['proven', 'reported'])
})
