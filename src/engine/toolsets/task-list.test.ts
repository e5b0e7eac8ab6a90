import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { scratchFolder } from '../../../test/support/scratch.ts'
import type { Json } from '../../core/model/event.ts'
import { openDoor } from '../door/door.ts'
import { openFileStore } from '../../store/files/store.ts'
import { cases, deskPerTest } from '../../../test/support/desk.ts'
import { jsonSchemaOf, retryFor } from './guidance.ts'
import { taskList } from './task-list.ts'

const desk = deskPerTest(taskList)
const { open } = desk

const add = (title: string, more = {}): Promise<Json> => desk.call('AddTask', { title, ...more })
const call = (tool: string, taskId: unknown): Promise<Json> => desk.call(tool, { taskId })
const list = (): Promise<Json> => desk.call('ListTasks', {})
const task = (id: string, title: string, done = false, description = '') => ({ id, title, description, done })
const NOT_FOUND = { ok: false, error: 'Task not found' }
const CHANGING = ['CompleteTask', 'UncompleteTask', 'DeleteTask']

describe('task_list', () => {
  it('offers five tools, and asks for a title only', () => {
    expect(taskList.tools.map(({ name }) => name)).toEqual([
      'ListTasks',
      'AddTask',
      'CompleteTask',
      'UncompleteTask',
      'DeleteTask',
    ])
    expect(taskList.tools.map(tool => jsonSchemaOf(tool)['required'])).toEqual([
      undefined,
      ['title'],
      ['taskId'],
      ['taskId'],
      ['taskId'],
    ])
  })

  it('ListTasks answers an empty list, and what was added, in order', async () => {
    expect(await list()).toEqual({ tasks: [] })
    expect(await add(' Look ', { description: 'both ways' })).toEqual(task('1', 'Look', false, 'both ways'))
    expect(await add('Leap')).toEqual(task('2', 'Leap'))
    expect(await list()).toEqual({ tasks: [task('1', 'Look', false, 'both ways'), task('2', 'Leap')] })
  })

  it('CompleteTask and UncompleteTask answer the task', async () => {
    await add('Look')
    expect(await call('CompleteTask', '1')).toEqual({ ok: true, task: task('1', 'Look', true) })
    expect(await call('CompleteTask', '1')).toEqual({ ok: true, task: task('1', 'Look', true) })
    expect(await call('UncompleteTask', '1')).toEqual({ ok: true, task: task('1', 'Look') })
    expect(await call('UncompleteTask', '1')).toEqual({ ok: true, task: task('1', 'Look') })
  })

  it('DeleteTask answers ok, and its number is not used again', async () => {
    await add('Look')
    expect(await call('DeleteTask', '1')).toEqual({ ok: true })
    expect(await call('DeleteTask', '1')).toEqual(NOT_FOUND)
    expect(await add('Leap')).toEqual(task('2', 'Leap'))
  })

  it.each(CHANGING)('%s of an id that is not there is refused, and nothing is written', async tool => {
    await add('Look')
    for (const id of ['2', '01', ' 1', '1.0', '', '__proto__', 'toString', '\ud83d', 'x'.repeat(200_000)]) {
      const { answer, events } = await desk.written(() => call(tool, id))
      expect(answer).toEqual(NOT_FOUND)
      expect(events).toEqual([])
    }
  })

  it.each(CHANGING)('%s as the first call of a conversation is refused, and nothing is written', async tool => {
    expect(await call(tool, '1')).toEqual(NOT_FOUND)
    expect(await desk.logged()).toEqual([])
  })

  it.each(
    cases(
      [{}, 'title must be a string, got nothing.'],
      [{ title: ['Look', 'Leap'] }, 'title must be a string, got an array.'],
      [{ title: ' ' }, 'title must not be empty.'],
      [{ title: 'x'.repeat(401) }, 'title must be at most 400 characters, got 401.'],
      [{ title: '\udfff' }, 'title must be well-formed Unicode: it contains half of a surrogate pair.'],
      [{ title: 'a', description: 'x'.repeat(8_001) }, 'description must be at most 8000 characters, got 8001.'],
      [{ title: 'a', description: null }, 'description must be a string, got null.'],
      [{ title: 'x'.repeat(1_000_000) }, 'The arguments must be at most 256000 characters.'],
      [JSON.parse('{"__proto__":{"title":"a"}}'), 'title must be a string, got nothing.'],
    ),
  )('[TS4] $error: refused', async ({ input, error }) => {
    const { answer, events } = await desk.written(() => desk.call('AddTask', input))
    expect(answer).toEqual({ ok: false, error: `${error} Send {"title":"…","description":"…"}` })
    expect(events).toEqual([])
  })

  it('an id that is a number is refused with the form', async () => {
    await add('Look')
    expect(await call('CompleteTask', 1)).toEqual({
      ok: false,
      error: 'taskId must be a string, got 1. Send {"taskId":"1"}',
    })
  })

  it('the list is the conversation’s: other turns see and reach it', async () => {
    await add('Look')
    const other = desk.in('t2')
    expect(await other.call('ListTasks', {})).toEqual({ tasks: [task('1', 'Look')] })
    expect(await other.call('CompleteTask', { taskId: '1' })).toEqual({ ok: true, task: task('1', 'Look', true) })
  })

  it('cancelled ones are not listed and not found; blocked ones count as not done', async () => {
    await add('Look')
    await add('Leap')
    await desk.person({ task: 1, fields: { status: 'cancelled' } }, { task: 2, fields: { status: 'blocked' } })
    expect(await list()).toEqual({ tasks: [task('2', 'Leap')] })
    for (const tool of CHANGING) expect(await call(tool, '1')).toEqual(NOT_FOUND)
    const { answer, events } = await desk.written(() => call('UncompleteTask', '2'))
    expect(answer).toEqual({ ok: true, task: task('2', 'Leap') })
    expect(events).toEqual(['tool_answered'])
    expect(await call('CompleteTask', '2')).toEqual({ ok: true, task: task('2', 'Leap', true) })
  })

  it("a person's change is told once, in this toolset's words, and then the call is taken", async () => {
    await add('Look')
    await desk.person({ task: 1, fields: { details: 'both ways' } })
    const { answer, events } = await desk.written(() => call('DeleteTask', '1'))
    expect(answer).toEqual({
      ok: false,
      error:
        'A person changed task 1 since you last saw it: description is now "both ways". Your change was not made; continue from here.',
    })
    expect(events).toEqual(['tool_answered'])
    expect(await call('DeleteTask', '1')).toEqual({ ok: true })
  })

  it('the retry repeats the form, lists what exists and says not to add it again', async () => {
    await add('Look')
    expect(retryFor(taskList, { state: await desk.state(), turnId: 't2' })).toBe(
      'AddTask takes {"title":"…","description":"…"}, the others {"taskId":"…"}. Already on the list: 1 Look. Do not add these again.',
    )
  })
})

describe('task_list: review', () => {
  beforeEach(() => open({ review: true }))
  const row = (title: string) => ({ title, details: '', criteria: '', priority: 'medium', status: 'todo', tags: [] })

  it('[TS10] confirmed: the task plus what the person changed', async () => {
    const answer = await desk.decided(add('Look'), { action: 'confirm', tasks: [{ draft_index: 0, title: 'Stare' }] })
    expect(answer).toEqual({
      ...task('1', 'Stare'),
      changes: {
        kept: [],
        edited: [{ from: row('Look'), to: row('Stare') }],
        added: [],
        removed: [],
        reordered: false,
      },
    })
  })

  it('[TS10] cancelled: the common form', async () => {
    expect(await desk.decided(add('Look'), { action: 'cancel' })).toEqual({
      confirmed: false,
      cancelled: true,
      reason: 'user_cancelled',
    })
  })

  it('completing is possible, deleting is refused', async () => {
    await desk.decided(add('Look'), { action: 'confirm', tasks: [{ draft_index: 0 }] })
    const { answer, events } = await desk.written(() => call('DeleteTask', '1'))
    expect(answer).toEqual({
      ok: false,
      error: 'A reviewed task cannot be deleted. Leave it to the person.',
    })
    expect(events).toEqual([])
    expect(await call('CompleteTask', '1')).toEqual({ ok: true, task: task('1', 'Look', true) })
  })
})

describe('task_list: on JSON files', () => {
  let data: string
  const path = (): string => join(data, '.agents/tasks/c1.json')
  const write = (text: string): void => {
    mkdirSync(join(data, '.agents/tasks'), { recursive: true })
    writeFileSync(path(), text)
  }
  beforeEach(async () => {
    await desk.door.close()
    data = scratchFolder()
    desk.door = openDoor({ store: await openFileStore({ data }) })
  })
  afterEach(() => rmSync(data, { recursive: true }))

  it('a task keeps the id that another program gave it', async () => {
    write(
      '{"tasks":[{"id":"a-7","title":"Look","description":"","done":false},{"id":"4","title":"Leap","description":"","done":true}]}',
    )
    expect(retryFor(taskList, { state: await desk.state(), turnId: 't1' })).toMatch(
      /Already on the list: a-7 Look; 4 Leap\./,
    )
    expect(await list()).toEqual({ tasks: [task('a-7', 'Look'), task('4', 'Leap', true)] })
    expect(await call('CompleteTask', 'a-7')).toEqual({ ok: true, task: task('a-7', 'Look', true) })
    expect(await add('Land')).toEqual(task('5', 'Land'))
    expect(await call('DeleteTask', '1')).toEqual(NOT_FOUND)
  })

  it.each(['{ "tasks": [', '{"tasks":{}}', '[]', ''])(
    '[TS8] a file that is broken (%s) answers every call with one line, and is never overwritten',
    async text => {
      await add('Look')
      write(text)
      for (const { name } of taskList.tools) {
        const answer = await desk.call(name, { title: 'x', taskId: '1' })
        expect(answer).toBe('Error: Task file is corrupt or invalid.')
      }
      expect(await desk.call('Nonsense', 3)).toBe('Error: Task file is corrupt or invalid.')
      expect(readFileSync(path(), 'utf8')).toBe(text)
    },
  )
})
