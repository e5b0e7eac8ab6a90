import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { approveAll, startTurns } from '../support/turns.ts'
import { scratchFolder } from '../support/scratch.ts'

it('in a turn of our own a step goes from red to green to proven, and the last message says so', async () => {
  const workspace = scratchFolder()
  onTestFinished(() => rmSync(workspace, { recursive: true, force: true }))
  mkdirSync(join(workspace, 'src'))
  writeFileSync(join(workspace, 'check.sh'), 'test -s src/sum.txt\n')
  const fix = (): string => {
    writeFileSync(join(workspace, 'src/sum.txt'), '42')
    return 'It is written.'
  }
  const write = {
    name: 'write',
    description: 'Writes the sum.',
    inputSchema: { type: 'object' },
    isRepeatable: true,
    call: async () => fix(),
  }
  const claim = { tool: 'update', args: { id: 1, outcome: 'The sum is in src/sum.txt.' } }
  const at = await startTurns({
    workspace,
    outside: [write],
    answers: [
      {
        calls: [
          { tool: 'plan', args: { tasks: [{ title: 'Write the sum', check: 'sh check.sh' }, { title: 'Look' }] } },
        ],
      },
      { calls: [claim] },
      { calls: [{ tool: 'write', args: {} }] },
      { calls: [claim] },
      { calls: [{ tool: 'update', args: { id: 2, outcome: 'Seen.' } }] },
      'That is it.',
    ],
  })
  onTestFinished(() => at.close())
  const reader = await at.chat({ review: true, assessor: false, gate: false }, approveAll)
  expect(reader.of('check_ran').map(({ data: { why, result, exit } }) => [why, result, exit])).toEqual([
    ['baseline', 'failed', 1],
    ['claim', 'failed', 1],
    ['claim', 'passed', 0],
  ])
  const answers = reader.of('tool_answered').map(({ data }) => data.result)
  expect(answers[1]).toMatchObject({
    error: expect.stringContaining('its check `sh check.sh` fails with exit code 1'),
  })
  expect(reader.of('turn_finished')[0]?.data).toMatchObject({
    status: 'done',
    standings: { proven: 1, confirmed: 0, judged: 0, reported: 1 },
  })
  expect(reader.of('message_added').at(-1)?.data.text).toBe(
    "That is it.\n\n2 of 2 done: 1 proven, 1 on the agent's word.",
  )
})
