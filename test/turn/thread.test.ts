import { expect, it, onTestFinished } from 'vitest'
import { claimedOutcome } from '../../src/core/views/thread-log.ts'
import { threadOf } from '../../src/core/views/thread.ts'
import type { OutsideTool } from '../../src/engine/worker/outside.ts'
import type { Decide } from '../support/turns.ts'
import { startTurns } from '../support/turns.ts'
import { threadIn, told } from '../support/thread.ts'

const read: OutsideTool = {
  name: 'read',
  description: '',
  inputSchema: { type: 'object' },
  isRepeatable: true,
  call: async () => 'Twelve figures.',
}

const uses = (tool: string, args: object, text = '') => ({ text, calls: [{ tool, args }] })

/** The first plan is sent back, the second confirmed with edits. */
const decide: Decide = ({ draft_tasks }, count) =>
  count === 0
    ? { action: 'revise', comment: 'Two steps', row_comments: [{ draft_index: 0, comment: 'Which ones?' }] }
    : {
        action: 'confirm',
        comment: 'Good',
        tasks: [{ draft_index: 0, title: 'Collect all figures' }, { title: 'Send it' }],
        row_comments: [{ draft_index: draft_tasks.length - 1, comment: 'Not needed' }],
      }

it('a turn is told by its plans and steps, and the next one goes on with what is left', async () => {
  const turns = await startTurns({
    outside: [read],
    answers: [
      uses('plan', { tasks: [{ title: 'Collect' }] }, 'A plan first.'),
      uses('plan', { tasks: [{ title: 'Collect figures' }, { title: 'Write' }] }),
      uses('read', { path: 'a.csv' }, 'I read the file.'),
      uses('update', { id: 1, outcome: 'Some figures.' }),
      uses('read', { path: 'b.csv' }),
      uses('update', { id: 1, outcome: 'Twelve figures.' }),
      'All is done.',
      'Everything is done.',
      uses('update', { id: 2, status: 'blocked', outcome: 'No address.' }, 'I cannot send it.'),
      'One step is blocked.',
      // The second turn.
      uses('update', { id: 2, outcome: 'Sent.' }, 'I have an address now.'),
      'Sent.',
    ],
    assessor: ['NOT_OK: figures for March are missing', 'OK', 'OK'],
  })
  onTestFinished(turns.close)
  await turns.chat({ turn_id: 't1', message: 'Report' }, decide)
  const { messages, resolutions, thread, conversation } = await shot()
  const [first] = threadOf(conversation, { messages, resolutions, thread })
  expect(told(first ? [first] : [])).toEqual([
    't1:',
    'user: Report',
    'assistant: A plan first.',
    'plan changes_requested: 1 steps, 0 edited, 0 added, 0 removed: Two steps',
    'plan approved: 2 steps, 1 edited, 1 added, 1 removed: Good',
    'step 1 Collect all figures [completed]',
    '  says I read the file.',
    '  uses read ok',
    '  claims completed: Some figures.: refused',
    '  judged not_ok: figures for March are missing',
    '  uses read ok',
    '  claims completed: Twelve figures.: granted',
    '  judged ok: ',
    'step 2 Send it [blocked]',
    '  says I cannot send it.',
    'followed up 2 times, 2 answers',
    'assistant: One step is blocked.',
    'incomplete, blocked left 1 of 2 done, 1 blocked, 0 open',
  ])
  // The server's own tools are the only calls that are left out, and each message is told once.
  expect(told(threadIn(await turns.log()))).toEqual(told(first ? [first] : []))

  const blocked = (await turns.tasks()).find(({ status }) => status === 'blocked')
  await turns.person.changeTask('c1', blocked?.id ?? '', blocked?.version ?? 0, { status: 'pending' })
  await turns.chat({ turn_id: 't2', message: 'Go on', continue_turn_id: 't1' })
  expect(told(threadIn(await turns.log()))).toEqual([
    ...told(first ? [first] : []).slice(0, -1),
    'incomplete 1 of 2 done, 1 blocked, 0 open',
    't2:',
    'user: Go on',
    'step 2 Send it [completed]',
    '  says I have an address now.',
    '  claims completed: Sent.: granted',
    '  judged ok: ',
    'assistant: Sent.',
    'done 2 of 2 done, 0 blocked, 0 open',
  ])

  async function shot() {
    const { conversation: state, view } = await turns.person.snapshot('c1')
    return { ...view, conversation: state }
  }
})

it('[TA14] a person accepts what the judge did not, with what the agent said came of it, and undoes that', async () => {
  const turns = await startTurns({
    answers: [
      uses('plan', { tasks: [{ title: 'Count' }] }),
      uses('update', { id: 1, outcome: 'Eleven.' }),
      uses('update', { id: 1, outcome: 'Twelve.' }),
      'I could not convince the judge.',
    ],
    assessor: ['NOT_OK: March is missing', 'NOT_OK: March is still missing'],
    host: { review: false },
  })
  onTestFinished(turns.close)
  await turns.chat()
  const { view, conversation } = await turns.person.snapshot('c1')
  const [count] = Object.values(conversation.tasks)
  expect(count).toMatchObject({ status: 'blocked', outcome: 'March is still missing' })
  expect(threadOf(conversation, view)).toMatchObject([{ tally: { done: 0, blocked: 1 }, end: { left: 'blocked' } }])
  const outcome = claimedOutcome(view.thread, count?.id ?? '')
  const fields = { status: 'completed', ...(outcome === undefined ? {} : { outcome }) } as const
  const { task } = await turns.person.changeTask('c1', count?.id ?? '', count?.version ?? 0, fields)
  expect(task).toMatchObject({ status: 'completed', judged_by: 'person', outcome: 'Twelve.', standing: 'confirmed' })
  const back = await turns.person.undoTask('c1', task.id, task.version)
  expect(back.task).toMatchObject({ status: 'blocked', outcome: 'March is still missing', judged_by: 'assessor' })
})
