import { chmodSync, existsSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { describe, expect, it, onTestFinished } from 'vitest'
import { machineId } from '../src/checks/workspace.ts'
import { configFolder } from '../src/cli/server/settings.ts'
import {
  createRunsheet,
  openMemoryStore,
  type Runsheet,
  type RunsheetOptions,
  type Store,
  type Task,
} from '../src/index.ts'
import { type ChecksOptions, openChecks } from '../src/library/checks.ts'
import { createRunner, demoModel } from '../src/library/runner.ts'
import { openSqliteStore } from '../src/library/sqlite.ts'
import { approveAll, ScratchWorkspace, seen } from './support/checked-library.ts'
import { Provider } from './support/provider.ts'
import { git, hasGit } from './support/repository.ts'

const workspace = ScratchWorkspace.each()

function open(store: Store, options: Partial<RunsheetOptions> & { checked?: Partial<ChecksOptions> } = {}): Runsheet {
  const { checked, ...rest } = options
  const checks = openChecks({ workspace: workspace.path, ...checked })
  return createRunsheet({ store, checks, onReview: approveAll, policy: { assessor: false }, ...rest })
}

const PLAN = { tasks: [{ title: 'Write the sum', check: 'sh check.sh' }] }
const CLAIM = { id: 1, outcome: 'The sum is in src/sum.txt.' }

describe.each([
  ['memory', async () => openMemoryStore()],
  ['SQLite', async () => openSqliteStore(join(workspace.folder, 'runsheet.db'))],
])('checks in the process of the library, on %s', (_, store) => {
  it('[LI7] a claim is refused while its check is red, and proven once it passes', async () => {
    workspace.write('check.sh', 'test -s src/sum.txt || { echo there is no sum; exit 3; }\n')
    const runsheet = open(await store())
    onTestFinished(() => runsheet.close())
    const chat = runsheet.conversation('chat-1')
    const turn = chat.turn('turn-1')
    expect(await turn.prompt()).toContain('Give a task a check')
    expect(await turn.call('plan', PLAN)).toMatchObject({ ids: [1] })
    expect(await turn.call('update', CLAIM)).toMatchObject({
      error: expect.stringMatching(/`sh check.sh` fails with exit code 3[^]*there is no sum/),
    })
    workspace.write('src/sum.txt', '42')
    expect(await turn.call('update', CLAIM)).toMatchObject({ remaining: 0 })
    expect(await chat.tasks()).toMatchObject([{ status: 'completed', standing: 'proven' }])
    expect((await seen(chat, 'check_ran')).map(({ why, result }) => [why, result])).toEqual([
      ['baseline', 'failed'],
      ['claim', 'failed'],
      ['claim', 'passed'],
    ])
    expect(await turn.finish()).toMatchObject({ status: 'done', standings: { proven: 1, reported: 0 } })
  })
})

describe('checks in the process of the library', () => {
  it('[LI7] what nobody approved never runs, and does not stand in the way', async () => {
    workspace.write('check.sh', 'touch ran\n')
    const runsheet = open(openMemoryStore(), {
      onReview: ({ draft_tasks }) => ({ action: 'confirm', tasks: draft_tasks }),
    })
    onTestFinished(() => runsheet.close())
    const chat = runsheet.conversation('chat-1')
    const turn = chat.turn('turn-1')
    await turn.call('plan', PLAN)
    expect(await turn.call('update', CLAIM)).toMatchObject({ remaining: 0 })
    expect(await chat.tasks()).toMatchObject([{ standing: 'reported', checks: [{ approved: false }] }])
    expect(existsSync(join(workspace.path, 'ran'))).toBe(false)
  })

  it('[LI7] what is allowed runs without approval, with the given variables and behind the wrapper', async () => {
    workspace.write('check.sh', 'echo "$COLOUR $WRAPPED" > said; exit 1\n')
    const runsheet = open(openMemoryStore(), {
      onReview: ({ draft_tasks }) => ({ action: 'confirm', tasks: draft_tasks }),
      checked: { allow: [['sh', 'check.sh']], env: { COLOUR: 'red' }, wrap: ['/usr/bin/env', 'WRAPPED=yes'] },
    })
    onTestFinished(() => runsheet.close())
    const turn = runsheet.conversation('chat-1').turn('turn-1')
    await turn.call('plan', PLAN)
    expect(readFileSync(join(workspace.path, 'said'), 'utf8')).toBe('red yes\n')
  })

  it('[LI7] a runner of the same runsheet drives turns in the workspace', async () => {
    const runsheet = open(openMemoryStore())
    const runner = createRunner({ runsheet, models: { demo: demoModel() } })
    onTestFinished(async () => {
      await runner.close()
      await runsheet.close()
    })
    const chat = runsheet.conversation('chat-1')
    await chat.startTurn('turn-1', { message: 'Compute 1+1.', model: 'demo' })
    const [finished] = await seen(chat, 'turn_finished', 1)
    expect(finished).toMatchObject({ status: 'done' })
  })

  it('[LI7] a run that ends with its process is made again by the next one', async () => {
    workspace.write('check.sh', 'test -s src/sum.txt || sleep 1000\n')
    const opened = async (): Promise<Runsheet> =>
      open(await openSqliteStore(join(workspace.folder, 'runsheet.db')), {
        policy: { assessor: false, review: false },
        checked: { allow: [['sh', 'check.sh']] },
      })
    const first = await opened()
    const chat = first.conversation('chat-1')
    const call = chat.turn('turn-1').call('plan', PLAN)
    await seen(chat, 'check_started', 1)
    await first.close()
    expect(await call).toBe('Error: The store is closed.')
    workspace.write('src/sum.txt', '42')
    const second = await opened()
    onTestFinished(() => second.close())
    const [ran] = await seen(second.conversation('chat-1'), 'check_ran', 1)
    expect(ran).toMatchObject({ why: 'baseline', result: 'passed' })
  })

  it('[LI7] names the workspace as the program does, so that both share its lease', () => {
    const machine = machineId(configFolder(process.env))
    expect(openChecks({ workspace: workspace.path }).workspace).toEqual({ machine, path: realpathSync(workspace.path) })
  })

  it('a person asks for a run, ticks what only a person can see, and accepts changed files', async () => {
    workspace.write('check.sh', 'test -s src/sum.txt\n')
    const runsheet = open(openMemoryStore())
    onTestFinished(() => runsheet.close())
    const chat = runsheet.conversation('chat-1')
    const turn = chat.turn('turn-1')
    await turn.call('plan', PLAN)
    const [task] = await chat.tasks()
    const checks = [...(task?.checks ?? []), { kind: 'person', ask: 'Is it readable?' } as const]
    const { checks: [command, look] = [] } = await chat.changeTask(1, { checks })
    await chat.runCheck(1, command?.id ?? '')
    expect((await seen(chat, 'check_ran', 2)).at(-1)).toMatchObject({ why: 'person', result: 'failed' })
    expect(await chat.tickCheck(1, look?.id ?? '')).toMatchObject({ checks: [{}, { state: 'passed' }] })
    // The check itself is a file that it names, and so is protected.
    workspace.write('check.sh', 'exit 0\n')
    const claim = (): Promise<unknown> => turn.call('update', CLAIM)
    await claim()
    await claim()
    const [cheated] = await chat.tasks()
    expect(cheated).toMatchObject({
      standing: 'reported',
      checks: [{ changes: [{ path: 'check.sh', is: 'protected' }] }, {}],
    })
    expect(await chat.acceptChanges(1, ['check.sh'])).toMatchObject({ standing: 'proven' })
    await expect(chat.runCheck(1, 'nope')).rejects.toMatchObject({ code: 'check_not_found' })
    await expect(chat.stopCheck(1, look?.id ?? '')).resolves.toMatchObject({ number: 1 })
  })

  it('[HD1][HD2] a held-out check of a person refuses a claim, and the agent hears no more than that', async () => {
    const runsheet = open(openMemoryStore())
    onTestFinished(() => runsheet.close())
    const chat = runsheet.conversation('chat-1')
    const turn = chat.turn('turn-1')
    await turn.call('plan', { tasks: [{ title: 'Write the sum' }] })
    const run = ['grep', '42', 'src/sum.txt']
    await chat.changeTask(1, { checks: [{ kind: 'command', run, hidden: true }] })
    // The first call after a person's edit is told of it.
    await turn.call('update', CLAIM)
    expect(await turn.call('update', CLAIM)).toMatchObject({
      error: 'Task 1 is not done: a held-out check failed.',
    })
    workspace.write('src/sum.txt', '42')
    expect(await turn.call('update', CLAIM)).toMatchObject({ remaining: 0 })
    expect(await chat.tasks()).toMatchObject([{ standing: 'proven', checks: [{ run, hidden: true }] }])
  })

  it('refuses a folder that is none, a command that proves nothing, and what openChecks did not return', () => {
    const nowhere = join(workspace.folder, 'nowhere')
    expect(() => openChecks({ workspace: nowhere })).toThrow(/nowhere cannot be used as a workspace/)
    expect(() => openChecks({ workspace: workspace.path, done: [['true']] })).toThrow(/a command that can fail/)
    expect(() => openChecks({ workspace: workspace.path, protect: ['../x'] })).toThrow(/checks.protect/)
    expect(() => openChecks({ workspace: workspace.path, held_out: nowhere })).toThrow(/nowhere is not a folder/)
    expect(() => openChecks({ workspace: workspace.path, held_out: workspace.path })).toThrow(/inside the workspace/)
    const checks = { workspace: { machine: 'm', path: workspace.path } }
    expect(() => createRunsheet({ store: openMemoryStore(), checks })).toThrow('openChecks of runsheet/checks')
  })
})

describe('the gate', () => {
  const planned = { policy: { review: false, assessor: false } } as const

  it('sends a model back to what is open, three times without progress, counted in the log', async () => {
    const path = join(workspace.folder, 'runsheet.db')
    const opened = async (): Promise<Runsheet> => createRunsheet({ store: await openSqliteStore(path), ...planned })
    const first = await opened()
    const turn = first.conversation('chat-1').turn('turn-1', { prefix: 'rs_' })
    expect(await turn.followUp()).toBeUndefined()
    await turn.call('rs_plan', { tasks: [{ title: 'Look' }, { title: 'Leap' }] })
    expect(await turn.followUp()).toMatch(/^The plan is not finished. Open: 1 Look; 2 Leap. Continue: .*rs_update/)
    expect(await turn.followUp()).toBeDefined()
    await turn.call('rs_update', { id: 1, outcome: 'Looked.' })
    // Something was settled: it counts anew.
    expect(await turn.followUp()).toMatch(/Open: 2 Leap\./)
    await first.close()
    const second = await opened()
    onTestFinished(() => second.close())
    const again = second.conversation('chat-1').turn('turn-1', { prefix: 'rs_' })
    expect(await again.followUp()).toBeDefined()
    expect(await again.followUp()).toBeDefined()
    expect(await again.followUp()).toBeUndefined()
    const followed = await seen(second.conversation('chat-1'), 'gate_followed')
    expect(followed.map(({ follow_up }) => follow_up)).toEqual([1, 2, 1, 2, 3])
  })

  it('lets a model end whose plan is done, or whose policy has no gate', async () => {
    const runsheet = createRunsheet({ store: openMemoryStore(), ...planned })
    onTestFinished(() => runsheet.close())
    const chat = runsheet.conversation('chat-1')
    const turn = chat.turn('turn-1')
    await turn.call('plan', { tasks: [{ title: 'Look' }] })
    await chat.setPolicy({ gate: false })
    expect(await turn.followUp()).toBeUndefined()
    await chat.setPolicy({ gate: true })
    expect(await turn.followUp()).toBeDefined()
    await turn.call('update', { id: 1, outcome: 'Looked.' })
    expect(await turn.followUp()).toBeUndefined()
  })

  it('holds a plan whose own check fails, and runs that again before it lets go', async () => {
    workspace.write('lint.sh', 'test -s clean || { echo untidy; exit 1; }\n')
    const runsheet = open(openMemoryStore(), { ...planned, checked: { done: [['sh', 'lint.sh']] } })
    onTestFinished(() => runsheet.close())
    const chat = runsheet.conversation('chat-1')
    const turn = chat.turn('turn-1')
    await turn.call('plan', { tasks: [{ title: 'Look', check: 'sh lint.sh' }, { title: 'Leap' }] })
    await turn.call('update', { id: 2, outcome: 'Leapt.' })
    await chat.changeTask(1, { status: 'completed' })
    expect(await turn.followUp()).toMatch(/`sh lint.sh` fails[^]*untidy/)
    workspace.write('clean', 'yes')
    expect(await turn.followUp()).toBeUndefined()
    expect(await turn.finish()).toMatchObject({ status: 'done' })
  })

  it('waits for the last runs of a plan that nobody claimed, and goes on with what they reopened', async () => {
    workspace.write('check.sh', 'test -s src/sum.txt\n')
    const checked = { allow: [['sh', 'check.sh']] }
    const runsheet = open(openMemoryStore(), { ...planned, checked })
    onTestFinished(() => runsheet.close())
    const chat = runsheet.conversation('chat-1')
    const turn = chat.turn('turn-1')
    await turn.call('plan', { tasks: [...PLAN.tasks, { title: 'Leap' }] })
    workspace.write('src/sum.txt', '42')
    expect(await turn.call('update', CLAIM)).toMatchObject({ remaining: 1 })
    rmSync(join(workspace.path, 'src/sum.txt'))
    await chat.changeTask(2, { status: 'completed' })
    expect(await turn.followUp()).toMatch(
      /Open: 1 Write the sum \(its check `sh check.sh` fails now with exit code 1\)\./,
    )
  })

  it.runIf(hasGit).each([true, false])(
    'runs what the workspace has changed under before a turn ends; gate %s',
    async gate => {
      workspace.script('check.sh', 'test -s src/sum.txt')
      git(workspace.path, 'init', '-q')
      const runsheet = open(openMemoryStore(), { policy: { assessor: false, gate } })
      onTestFinished(() => runsheet.close())
      const chat = runsheet.conversation('chat-1')
      const turn = chat.turn('turn-1')
      await turn.call('plan', PLAN)
      workspace.write('src/sum.txt', '42')
      expect(await turn.call('update', CLAIM)).toEqual({ next: null, remaining: 0 })
      expect(await turn.followUp()).toBeUndefined()
      expect(await seen(chat, 'check_ran')).toHaveLength(2)
      workspace.write('src/sum.txt', '')
      const why = 'Write the sum (its check `sh check.sh` fails now with exit code 1)'
      if (gate) expect(await turn.followUp()).toContain(why)
      expect(await turn.finish()).toMatchObject({
        status: 'incomplete',
        remaining: 1,
        standings: { proven: 0 },
      })
    },
  )

  it('runs everything again before a turn ends where nothing tells what changed', async () => {
    workspace.script('check.sh', 'test -s src/sum.txt')
    symlinkSync('..', join(workspace.path, 'out'))
    const runsheet = open(openMemoryStore(), { policy: { assessor: false, gate: true } })
    onTestFinished(() => runsheet.close())
    const turn = runsheet.conversation('chat-1').turn('turn-1')
    await turn.call('plan', { tasks: [...PLAN.tasks, { title: 'Leap' }] })
    workspace.write('src/sum.txt', '42')
    await turn.call('update', CLAIM)
    expect(await turn.call('update', { id: 2, outcome: 'Leapt.' })).toEqual({ next: null, remaining: 0 })
    expect(await turn.followUp()).toBeUndefined()
    workspace.write('src/sum.txt', '')
    expect(await turn.finish()).toMatchObject({ status: 'incomplete', remaining: 1, standings: { proven: 0 } })
  })

  it('runs a failed check of the plan again in a turn that a runner drives, too', async () => {
    workspace.write('lint.sh', 'test -s clean\n')
    const runsheet = open(openMemoryStore(), { ...planned, checked: { done: [['sh', 'lint.sh']] } })
    const provider = await Provider.start([
      { calls: [{ tool: 'plan', args: { tasks: [{ title: 'Look' }] } }] },
      { calls: [{ tool: 'update', args: { id: 1, outcome: 'Looked.' } }] },
      'That is it.',
      { calls: [{ tool: 'tidy' }] },
      'Now it is.',
    ])
    const tidy = {
      name: 'tidy',
      description: 'Tidies up.',
      inputSchema: { type: 'object' },
      isRepeatable: true,
      call: async () => {
        workspace.write('clean', 'yes')
        return 'tidy'
      },
    } as const
    const model = createOpenAICompatible({ name: 'scripted', baseURL: provider.url })('m')
    const runner = createRunner({ runsheet, models: { m: model }, tools: [tidy] })
    onTestFinished(async () => {
      await runner.close()
      await runsheet.close()
      await provider.close()
    })
    const chat = runsheet.conversation('chat-1')
    await chat.startTurn('turn-1', { message: 'Look.', model: 'm' })
    const [finished] = await seen(chat, 'turn_finished', 1)
    expect(finished).toMatchObject({ status: 'done', because: 'answered' })
    expect(provider.messages(3).at(-1)?.content).toMatch(/the plan is not done: `sh lint.sh` fails/)
    expect(await seen(chat, 'gate_followed')).toHaveLength(1)
  })

  it('[TC12] gives up on a check of the plan that cannot be run: the turn ends incomplete', async () => {
    workspace.script('lint', 'test -s clean')
    const runsheet = open(openMemoryStore(), { ...planned, checked: { done: [['./lint']] } })
    const provider = await Provider.start(({ messages }) => {
      const answers = messages.filter(({ role }) => role === 'tool').length
      if (answers === 0) return { calls: [{ tool: 'plan', args: { tasks: [{ title: 'Look' }] } }] }
      rmSync(join(workspace.path, 'lint'), { force: true })
      return answers === 1 ? { calls: [{ tool: 'update', args: { id: 1, outcome: 'Looked.' } }] } : 'That is it.'
    })
    const model = createOpenAICompatible({ name: 'scripted', baseURL: provider.url })('m')
    const runner = createRunner({ runsheet, models: { m: model } })
    onTestFinished(async () => {
      await runner.close()
      await runsheet.close()
      await provider.close()
    })
    const chat = runsheet.conversation('chat-1')
    await chat.startTurn('turn-1', { message: 'Look.', model: 'm' })
    const [finished] = await seen(chat, 'turn_finished', 1)
    expect(finished).toMatchObject({ status: 'incomplete', because: 'gate', remaining: 0 })
    expect(await seen(chat, 'gate_followed')).toHaveLength(3)
    expect(provider.messages(3).at(-1)?.content).toMatch(
      /`.\/lint` could not be run: The program .\/lint was not found\./,
    )
  })
})

describe('a check of the whole plan', () => {
  it('[TC12] that the model edits or deletes is no pass, also in a plan without other checks; a person accepts it', async () => {
    workspace.script('lint', 'test -s clean')
    const runsheet = open(openMemoryStore(), { checked: { done: [['./lint']] } })
    onTestFinished(() => runsheet.close())
    const chat = runsheet.conversation('chat-1')
    const turn = chat.turn('turn-1')
    await turn.call('plan', { tasks: [{ title: 'Look' }] })
    const claims = (call: number, at = turn) => at.call('update', { id: 1, outcome: 'Looked.' }, { id: `call-${call}` })
    const refused = (text: RegExp) => ({ error: expect.stringMatching(text), remaining: 1 })
    expect(await claims(1)).toEqual({ ...refused(/fails with exit code 1/), next: '1 Look' })
    workspace.script('lint', 'exit 0')
    expect(await claims(2)).toMatchObject(refused(/lint changed outside the scopes of the plan/))
    // Nor is it one in another turn, which finds it as it is now.
    expect(await claims(3, chat.turn('turn-2'))).toMatchObject(refused(/lint changed outside the scopes of the plan/))
    rmSync(join(workspace.path, 'lint'))
    expect(await claims(4)).toMatchObject(refused(/could not be run: The program .\/lint was not found/))
    workspace.script('lint', 'exit 0')
    await claims(5)
    await chat.acceptChanges(1, ['lint'])
    expect(await claims(6)).toEqual({ next: null, remaining: 0 })
  })

  it('that does not pass is named in every answer once nothing is open, whoever settled the last task', async () => {
    workspace.script('lint', 'test -s clean')
    const runsheet = open(openMemoryStore(), { checked: { done: [['./lint']] } })
    onTestFinished(() => runsheet.close())
    const chat = runsheet.conversation('chat-1')
    const turn = chat.turn('turn-1')
    await turn.call('plan', { tasks: [{ title: 'Look' }] })
    await chat.changeTask(1, { status: 'completed', outcome: 'Seen.' })
    await seen(chat, 'check_ran', 1)
    expect(await turn.call('tasks', {})).toMatchObject({
      remaining: 0,
      failing: ['`./lint`, a check of the whole plan, fails with exit code 1.'],
    })
  })

  it('that could not be run at the end of the plan is named in every answer then, with the reason', async () => {
    workspace.script('check', 'test -s src/sum.txt')
    const runsheet = open(openMemoryStore())
    onTestFinished(() => runsheet.close())
    const chat = runsheet.conversation('chat-1')
    const turn = chat.turn('turn-1')
    await turn.call('plan', { tasks: [{ title: 'Write the sum', check: './check' }, { title: 'Tell' }] })
    workspace.write('src/sum.txt', '42')
    expect(await turn.call('update', CLAIM)).toEqual({ next: '2 Tell', remaining: 1 })
    chmodSync(join(workspace.path, 'check'), 0o644)
    const failing = [
      expect.stringMatching(/^`.\/check`, the check of task 1, could not be run: .* is not executable\.$/),
    ]
    expect(await turn.call('update', { id: 2, outcome: 'Told.' })).toEqual({ next: null, remaining: 0, failing })
    expect(await turn.call('tasks', {})).toMatchObject({ failing })
    expect(await chat.tasks()).toMatchObject([{ standing: 'reported' }, {}])
  })

  it('runs before another outcome of a task that is done is answered, and opens it again if it fails', async () => {
    workspace.script('check', 'test -s src/sum.txt')
    const runsheet = open(openMemoryStore())
    onTestFinished(() => runsheet.close())
    const chat = runsheet.conversation('chat-1')
    const turn = chat.turn('turn-1')
    await turn.call('plan', { tasks: [{ title: 'Write the sum', check: './check' }] })
    workspace.write('src/sum.txt', '42')
    expect(await turn.call('update', CLAIM)).toEqual({ next: null, remaining: 0 })
    expect(await turn.call('update', { id: 1, outcome: 'It is 42.' })).toEqual({ next: null, remaining: 0 })
    expect(await chat.tasks()).toMatchObject([{ standing: 'proven', outcome: 'It is 42.' }])
    workspace.write('src/sum.txt', '')
    expect(await turn.call('update', { id: 1, outcome: 'It is 43.' })).toMatchObject({
      error: expect.stringContaining('`./check`'),
      remaining: 1,
    })
    expect(await chat.tasks()).toMatchObject([{ status: 'in_progress' }])
    workspace.write('src/sum.txt', '43')
    expect(await turn.call('update', { id: 1, outcome: 'It is 43.' })).toEqual({ next: null, remaining: 0 })
    expect(await turn.finish()).toMatchObject({ status: 'done' })
  })

  it('runs also where every task was created as done', async () => {
    workspace.script('lint', 'test -s clean')
    const policy = { assessor: false, gate: true, review: false, toolset: 'checklist' } as const
    const runsheet = open(openMemoryStore(), { checked: { done: [['./lint']] }, policy })
    onTestFinished(() => runsheet.close())
    const chat = runsheet.conversation('chat-1')
    const turn = chat.turn('turn-1', { toolset: 'checklist' })
    await turn.call('add_multiple_checklist_items', { items: [{ title: 'A', isChecked: true }] })
    expect(await seen(chat, 'check_ran', 1)).toMatchObject([{ why: 'final', result: 'failed' }])
    expect(await turn.followUp()).toContain('`./lint` fails with exit code 1')
  })

  it('[TC12] may see those protected files change that a row of the plan may', async () => {
    workspace.script('lint', 'test -s clean')
    const runsheet = open(openMemoryStore(), {
      checked: { done: [['./lint']] },
      onReview: ({ draft_tasks: [row] }) => ({
        action: 'confirm',
        tasks: [{ ...row, draft_index: 0, scope: ['lint'] }],
      }),
    })
    onTestFinished(() => runsheet.close())
    const turn = runsheet.conversation('chat-1').turn('turn-1')
    await turn.call('plan', { tasks: [{ title: 'Change the lint' }] })
    workspace.script('lint', 'exit 0')
    expect(await turn.call('update', CLAIM)).toEqual({ next: null, remaining: 0 })
  })
})

describe('a task that the end of its plan opens again', () => {
  it.runIf(hasGit)('[TC12] is not the one that the last runs refuse: it was never done', async () => {
    git(workspace.path, 'init', '-q')
    workspace.script('one.sh', 'test -s src/sum.txt')
    // Passes once.
    workspace.script('two.sh', 'test -s src/sum.txt || exit 1', 'test ! -e ran || exit 1', 'echo > ran')
    const runsheet = open(openMemoryStore())
    onTestFinished(() => runsheet.close())
    const turn = runsheet.conversation('chat-1').turn('turn-1')
    await turn.call('plan', {
      tasks: [
        { title: 'A', check: './one.sh' },
        { title: 'B', check: './two.sh' },
      ],
    })
    workspace.write('src/sum.txt', '42')
    await turn.call('update', { id: 1, outcome: 'x' })
    expect(await turn.call('update', { id: 2, outcome: 'x' })).toEqual({
      error: expect.stringContaining('its check `./two.sh` fails with exit code 1'),
      next: '2 B',
      remaining: 1,
    })
  })

  const TOOLS = {
    runsheet: [
      'plan',
      { tasks: [{ title: 'A' }, { title: 'B' }] },
      'update',
      (task: Task) => ({ id: task.number, outcome: 'x' }),
    ],
    checklist: [
      'add_multiple_checklist_items',
      { items: [{ title: 'A' }, { title: 'B' }] },
      'update_checklist_items',
      (task: Task) => ({ items: [{ id: task.id, isChecked: true }] }),
    ],
    task_manager: [
      'add_task',
      { tasks: [{ title: 'A' }, { title: 'B' }] },
      'complete_task',
      (task: Task) => ({ id: task.id, outcome: 'x' }),
    ],
    turn_todos: [
      'create_todo',
      { items: [{ title: 'A' }, { title: 'B' }] },
      'complete_todo',
      (task: Task) => ({ todoId: task.id, outcome: 'x' }),
    ],
    task_list: ['AddTask', { title: 'A' }, 'CompleteTask', (task: Task) => ({ taskId: String(task.number) })],
  } as const

  it.each(Object.keys(TOOLS) as (keyof typeof TOOLS)[])(
    '[TC12] is named in the answer and the digest: %s',
    async toolset => {
      workspace.script('check', 'test -s src/sum.txt')
      const [plans, plan, settles, settled] = TOOLS[toolset]
      const runsheet = open(openMemoryStore(), { policy: { review: false, assessor: false, toolset } })
      onTestFinished(() => runsheet.close())
      const chat = runsheet.conversation('chat-1')
      const turn = chat.turn('turn-1', { toolset })
      await turn.call(plans, plan)
      if (toolset === 'task_list') await turn.call(plans, { title: 'B' })
      const task = async (index: number): Promise<Task> => (await chat.tasks())[index] as Task
      await chat.changeTask((await task(0)).id, { checks: [{ kind: 'command', run: ['./check'] }] })
      workspace.write('src/sum.txt', '42')
      // The answer to any call lifts the fence.
      await turn.call(settles, settled(await task(0)))
      await turn.call(settles, settled(await task(0)))
      expect((await task(0)).status).toBe('completed')
      rmSync(join(workspace.path, 'src/sum.txt'))
      const { id, number } = await task(0)
      const name = ['runsheet', 'task_list'].includes(toolset) ? number : id
      const why = 'its check `./check` fails now with exit code 1'
      expect(await turn.call(settles, settled(await task(1)))).toMatchObject({ reopened: [`${name} A: ${why}`] })
      expect(await turn.digest()).toContain(`${name} A (open again: ${why})`)
    },
  )
})
