import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { mcpTools } from '../../src/engine/turn/mcp-tools.ts'
import { type Child, inLongRun, programOf, runProcess } from '../support/children.ts'
import { fault } from '../support/faults.ts'
import { describePostgres } from '../support/postgres-store.ts'
import { scratchFolder } from '../support/scratch.ts'
import type { TurnChildOrder } from '../support/turn-child.ts'
import { Scene } from '../support/turn-scene.ts'
import { type Story, STORIES } from '../support/turn-story.ts'

/** What was done outside so far: model calls and calls of tools. */
const doneBy = ({ turns: { provider }, tools }: Scene) => ({
  asked: provider.asked.length,
  judged: provider.judged.length,
  calls: [...tools.calls],
})

/** Wakes a frozen process, until it has let go of its turn. */
async function wake(child: Child): Promise<void> {
  const said = child.lines.length
  child.process.kill('SIGCONT')
  await child.line(line => child.lines.indexOf(line, said) >= 0 && line === 'drives 0')
  expect(child.lines.filter(line => line.startsWith('error'))).toEqual([])
}

/** Freezes a process; another one finishes the turn; then it wakes. */
async function freeze(scene: Scene, where: Partial<TurnChildOrder>, line: string): Promise<void> {
  const reader = await scene.start()
  const child = scene.child(where)
  expect(await child.line(each => each.startsWith('at '))).toBe(`at ${line}`)
  await scene.takeOver()
  await scene.check(reader)
  const { seq } = await scene.turns.person.session('c1')
  const done = doneBy(scene)
  await wake(child)
  expect((await scene.turns.person.session('c1')).seq).toBe(seq)
  expect(doneBy(scene)).toEqual(done)
}

const after = (nth: number): Partial<TurnChildOrder> => ({ endAt: { when: 'after', nth, signal: 'SIGSTOP' } })

describe.concurrent('a process that freezes for longer than its lease', () => {
  fault('a driver frozen for longer than its lease')
  const points = [
    { nth: 5, line: 'tool_called', why: 'before a call that is not repeatable', calls: ['lookup'] },
    { nth: 7, line: 'tool_called', why: 'before a call that is repeatable', calls: ['send', 'lookup'] },
    { nth: 10, line: 'claim_made', why: 'before a claim is judged', calls: ['send', 'lookup'] },
    { nth: 17, line: 'step_finished', why: 'before the end', calls: ['send', 'lookup'] },
    { nth: 4, line: 'step_finished', why: 'before it writes down a call', calls: ['send', 'lookup'] },
    { nth: 8, line: 'tool_answered', why: 'before it asks the model', calls: ['send', 'lookup'] },
    { nth: 9, line: 'step_finished', why: 'before a claim is made', calls: ['send', 'lookup'] },
  ]
  it.each(inLongRun(points, points.slice(0, 4)))(
    '[TR21][TR36] after commit $nth ($line), $why: it writes and calls nothing when it wakes',
    ({ nth, line, calls }) =>
      Scene.play(STORIES.reviewed, async scene => {
        await freeze(scene, after(nth), line)
        expect(scene.tools.calls).toEqual(calls)
      }),
  )

  it.each(['ask', 'judge'] as const)('[TR36] before a model call (%s): there is none when it wakes', freezesBefore =>
    Scene.play(STORIES.reviewed, scene => freeze(scene, { freezesBefore }, `before ${freezesBefore}`)),
  )

  it.each([
    ['count', 0],
    ['recount', 1],
  ] as const)('[TR36][TR22] before a call of an MCP server (%s): it is called %i times, not once more', (tool, times) =>
    withCounter(async (url, counted) => {
      const story: Story = {
        body: { message: 'Count.', review: false },
        steps: [{ calls: [{ tool: `far__${tool}`, id: 'call_1' }] }, 'Counted.'],
        commits: [],
        tasks: [],
      }
      await Scene.play(story, async scene => {
        const reader = await scene.start()
        const child = scene.child({ mcp: url, ...after(2) })
        expect(await child.line(each => each.startsWith('at '))).toBe('at tool_called')
        await scene.takeOver(mcpTools({ servers: { far: { url } }, version: '0', onError: () => {} }))
        await reader.over
        expect(counted(tool)).toHaveLength(times)
        await wake(child)
        expect(counted(tool)).toHaveLength(times)
        for (const key of counted(tool)) expect(key).toMatch(/^[\w-]{43}$/)
      })
    }),
  )
})

describePostgres('a node that freezes for longer than its lease, on PostgreSQL', () => {
  fault('a driver frozen for longer than its lease')
  it('[TR21][TR36] before a call: it writes and calls nothing when it wakes', () =>
    Scene.play(STORIES.reviewed, scene => freeze(scene, after(7), 'tool_called'), 'postgres'))
})

/** An MCP server that journals the calls of its tools `count` and `recount`, with their keys. */
async function withCounter(
  work: (url: string, counted: (tool: string) => readonly string[]) => Promise<void>,
): Promise<void> {
  const folder = scratchFolder()
  const journal = join(folder, 'journal')
  const fixture = programOf(new URL('../support/mcp-fixture.ts', import.meta.url))
  const server = runProcess([process.execPath, fixture, '--http', '0'], {
    env: { ...process.env, FIXTURE_JOURNAL: journal },
  })
  const lines = (): string[] => (existsSync(journal) ? readFileSync(journal, 'utf8').split('\n') : [])
  try {
    const url = await server.line(line => line.startsWith('http'))
    await work(url, tool => lines().flatMap(line => (line.startsWith(`${tool} `) ? [line.slice(tool.length + 1)] : [])))
  } finally {
    server.process.kill()
    await server.ended
    rmSync(folder, { recursive: true })
  }
}
