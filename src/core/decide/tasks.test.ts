import { describe, expect, it } from 'vitest'
import { authors, dataOf, Driver, idOf, inRun, START, typesOf } from '../../../test/support/domain.ts'
import { openTasks } from '../model/conversation.ts'
import { findTask } from './tasks.ts'

const LATER = '2026-11-02T09:00:01.000Z'
const titled = (count: number): string[] => Array.from({ length: count }, (_, index) => `Task ${index + 1}`)

describe('a new task', () => {
  it('[ID2] has its generated id, the next number, and every default', () => {
    const chat = inRun()
    chat.run(chat.adds('model', 'A', { title: ' B ' }))
    expect(chat.task(2)).toStrictEqual({
      id: idOf(2),
      number: 2,
      session_id: 'chat-1',
      conversation_turn_id: 'turn-1',
      plan_id: 'turn-1',
      title: 'B',
      details: '',
      criteria: '',
      priority: 'medium',
      position: 2,
      tags: [],
      status: 'pending',
      judged_by: null,
      created_by: 'tool',
      version: 1,
      created_at: START,
      updated_at: START,
    })
  })

  it('has what was said about it, cleaned, and where it came from', () => {
    const chat = inRun()
    const said = { title: 'A', details: 'd\r\n', criteria: 'c', priority: 'high', agent_type: 'tester' } as const
    chat.run({
      ...chat.edits('model', { create: [{ id: chat.id(), ...said, tags: ['x', 'x'], outcome: ' so far ' }] }),
      source_user_message_id: 'user-1',
      source_assistant_message_id: 'assistant-1',
    })
    expect(chat.task(1)).toMatchObject({
      ...said,
      details: 'd',
      tags: ['x'],
      outcome: 'so far',
      source_user_message_id: 'user-1',
      source_assistant_message_id: 'assistant-1',
    })
  })

  it('[ID2] gets a number that no task had, not even a removed one', () => {
    const chat = inRun()
    chat.run(chat.adds('model', 'A', 'B'))
    chat.run(chat.removes('model', 2))
    chat.run(chat.adds('model', 'C'))
    expect(chat.task(3).title).toBe('C')
    expect(findTask(chat.state, 2)).toBeUndefined()
  })

  it('says who made it, in created_by and in the event', () => {
    const chat = inRun()
    chat.run(chat.adds('model', 'A'))
    chat.run(chat.adds('person', 'B'))
    chat.run(chat.adds('file', 'C'))
    expect([1, 2, 3].map(number => chat.task(number).created_by)).toEqual(['tool', 'user', 'file'])
    expect(authors(chat.log)).toEqual([
      [1, 'model'],
      [2, 'person'],
      [3, 'file'],
    ])
  })

  it('in progress has started; completed or blocked, it has the marks of that', () => {
    const chat = inRun()
    chat.run(
      chat.adds(
        'person',
        { title: 'A', status: 'in_progress' },
        { title: 'B', status: 'completed' },
        { title: 'C', status: 'blocked' },
      ),
    )
    expect(chat.task(1)).toMatchObject({ status: 'in_progress', started_at: START })
    expect(chat.task(2)).toMatchObject({ status: 'completed', completed_at: START, judged_by: 'person' })
    expect(chat.task(3)).toMatchObject({ status: 'blocked', judged_by: 'person' })
    expect(chat.task(3)).not.toHaveProperty('completed_at')
  })

  it('[TA4] needs no outcome, even when a model makes it as done', () => {
    const chat = inRun()
    chat.run(chat.adds('model', { title: 'A', status: 'completed' }, { title: 'B', status: 'blocked' }))
    expect(chat.statuses()).toEqual(['completed', 'blocked'])
    expect(chat.task(1).judged_by).toBeNull()
  })

  it('needs a unique id: neither one that is listed nor the same one twice', () => {
    const chat = inRun()
    chat.run(chat.adds('model', 'A'))
    for (const id of [idOf(1), 'x', '', 'a/b']) {
      const refusal = chat.refusal(
        chat.edits('model', {
          create: [
            { id: 'x', title: 'B' },
            { id, title: 'C' },
          ],
        }),
      )
      expect([refusal.code, refusal.data]).toMatchObject(['invalid_id', { row: 1, field: 'id' }])
    }
    expect(chat.task(1).title).toBe('A')
  })

  it('cannot be cancelled', () => {
    const chat = inRun()
    const refusal = chat.refusal(chat.adds('person', 'A', { title: 'B', status: 'cancelled' }))
    expect([refusal.code, refusal.data]).toMatchObject(['invalid_field', { row: 1, field: 'status' }])
  })

  it('refuses sources that are no short line', () => {
    const chat = inRun()
    const sourced = chat.edits('model', {
      create: [{ id: chat.id(), title: 'A' }],
      source_user_message_id: 'x'.repeat(201),
    })
    expect(chat.refusal(sourced).data).toMatchObject({ field: 'source_user_message_id' })
  })
})

describe('a task that is named', () => {
  it('is found by id or by number', () => {
    const chat = inRun()
    chat.run(chat.adds('model', 'A', { title: 'B', status: 'completed' }))
    expect(findTask(chat.state, idOf(2))?.title).toBe('B')
    expect(findTask(chat.state, 1)?.title).toBe('A')
    expect(findTask(chat.state, 2)?.title).toBe('B')
    for (const unknown of [3, 0, Number.NaN, '1', idOf(3)]) expect(findTask(chat.state, unknown)).toBeUndefined()
  })

  it('and is not there is refused with what is open, and its element', () => {
    const chat = inRun()
    chat.run(chat.adds('model', ...titled(20)))
    chat.run(chat.adds('model', 'A', 'B', { title: 'C', status: 'completed' }))
    const refusal = chat.refusal(chat.sets('model', 77, { title: 'x' }))
    expect([refusal.code, refusal.data]).toMatchObject(['task_not_found', { row: 0 }])
    expect(refusal.message).toBe(
      `There is no task with this id. Open: ${titled(20)
        .map((title, index) => `${index + 1} (${title})`)
        .join(', ')} and 2 more.`,
    )
    expect(inRun().refusal(chat.sets('model', 1, {})).message).toBe('There is no task with this id. Nothing is open.')
  })
})

describe('one call', () => {
  it('[TA11] is one event and one version step for each task, however often it touches it', () => {
    const chat = inRun()
    chat.run(chat.adds('model', 'A', 'B'))
    const change = [
      { task: 2, fields: { title: 'B2' } },
      { task: 2, fields: { status: 'blocked', outcome: 'x' } },
      { task: idOf(2), fields: { status: 'in_progress' } },
      { task: 2, fields: { priority: 'high' } },
    ] as const
    const events = chat.run(chat.edits('person', { change }))
    expect(authors(events)).toEqual([
      [2, 'person'],
      [1, 'system'],
    ])
    expect([chat.task(1), chat.task(2)]).toMatchObject([
      { version: 2, status: 'pending' },
      { version: 2, title: 'B2', status: 'in_progress', priority: 'high' },
    ])
  })

  it('[TA11] creates, changes and removes in this order', () => {
    const chat = inRun()
    chat.run(chat.adds('model', 'A', 'B'))
    const create = [{ id: chat.id(), title: 'C' }]
    const events = chat.run(
      chat.edits('model', { create, change: [{ task: 1, fields: { title: 'A2' } }], remove: [{ task: 2 }] }),
    )
    expect(typesOf(events)).toEqual(['task_created', 'task_changed', 'task_removed'])
  })

  it('[TA11] steps version and updated_at, and says in `from` what the changed fields were', () => {
    const chat = inRun()
    chat.run(chat.adds('model', { title: 'A', tags: ['x'] }))
    const events = chat
      .wait(1_000)
      .run(chat.sets('person', 1, { title: 'A2', details: 'd', tags: ['x', 'y'], priority: 'medium', agent_type: 'a' }))
    expect(events).toStrictEqual([
      {
        type: 'task_changed',
        seq: 4,
        timestamp: LATER,
        session_id: 'chat-1',
        turn_id: 'turn-1',
        data: { task: chat.task(1), by: 'person', from: { title: 'A', details: '', tags: ['x'], agent_type: null } },
      },
    ])
    expect(chat.task(1)).toMatchObject({ version: 2, updated_at: LATER, created_at: START, details: 'd' })
  })

  it('an outcome that is emptied is gone', () => {
    const chat = inRun()
    chat.run(chat.adds('model', { title: 'A', outcome: 'x' }))
    const events = chat.run(chat.sets('model', 1, { outcome: '' }))
    expect(chat.task(1)).not.toHaveProperty('outcome')
    expect(dataOf(events, 'task_changed')[0]?.from).toStrictEqual({ outcome: 'x' })
  })

  it('cannot change what a task is: its number, its parent, its maker', () => {
    const chat = inRun()
    chat.run(chat.adds('model', 'A'))
    const fields = { parent_id: idOf(1), file_id: 'x', order: 3, number: 9, created_by: 'user', version: 7 }
    expect(chat.run(chat.sets('person', 1, fields))).toEqual([])
  })
})

describe('a removal', () => {
  it('[TA10] marks the task and takes it off the list; the log keeps it', () => {
    const chat = inRun()
    chat.run(chat.adds('model', 'A', 'B'))
    const before = chat.task(2)
    const events = chat.wait(1_000).run(chat.removes('model', 2))
    const gone = { ...before, version: 2, updated_at: LATER, removed_at: LATER }
    expect(dataOf(events, 'task_removed')).toStrictEqual([{ task: gone, by: 'model' }])
    expect(chat.titles()).toEqual(['A'])
    expect(openTasks(chat.state).map(task => task.title)).toEqual(['A'])
    expect(chat.refusal(chat.sets('person', 2, { title: 'x' })).code).toBe('task_not_found')
  })

  it('[TA11] twice in a call is one event, and beats a change in the same call', () => {
    const chat = inRun()
    chat.run(chat.adds('model', 'A', 'B'))
    const change = [{ task: 2, fields: { title: 'B2', status: 'in_progress' } }] as const
    const events = chat.run(chat.edits('person', { change, remove: [{ task: 2 }, { task: idOf(2) }] }))
    expect(authors(events)).toEqual([[2, 'person']])
    expect(chat.statuses()).toEqual(['in_progress'])
  })
})

describe('tasks from a file', () => {
  it('whole numbers go on as numbers where they are free; other ids stay in file_id', () => {
    const chat = new Driver()
    const files = ['7', '8', 'abc', '7', '0', '0120', undefined].map(file_id => ({ title: 'A', file_id }))
    chat.run(chat.adds('file', ...files))
    const numbers = [7, 8, 9, 10, 11, 12, 13]
    expect(numbers.map(number => chat.task(number).file_id)).toEqual([
      undefined,
      undefined,
      'abc',
      '7',
      '0',
      '0120',
      undefined,
    ])
    chat.run(chat.adds('file', { title: 'B', file_id: '9' }))
    expect(chat.task(14).file_id).toBe('9')
  })

  it('only a file has ids of its own', () => {
    const chat = inRun()
    chat.run(chat.adds('person', { title: 'A', file_id: '7' }))
    expect(chat.task(1)).not.toHaveProperty('file_id')
  })

  it('[FI4] open a turn of their own in a conversation without one', () => {
    const chat = new Driver()
    const events = chat.run(chat.adds('file', ...titled(21)))
    expect(events[0]).toMatchObject({ type: 'turn_opened', turn_id: 'file', data: { turn_id: 'file' } })
    expect(chat.task(1).conversation_turn_id).toBe('file')
    chat.run(chat.adds('file', 'More'))
    expect(typesOf(chat.log).filter(type => type === 'turn_opened')).toHaveLength(1)
  })

  it('[FI4] an empty file opens nothing', () => {
    const chat = new Driver()
    expect(chat.run(chat.adds('file'))).toEqual([])
  })
})
