import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { inLongRun } from '../../../test/support/children.ts'
import { scratchFolder } from '../../../test/support/scratch.ts'
import type { Command } from '../../core/model/command.ts'
import { listed } from '../../core/model/conversation.ts'
import type { Json } from '../../core/model/event.ts'
import type { SomeFields } from '../../core/model/fields.ts'
import type { Task } from '../../core/model/task.ts'
import { add, openTurn, run, settle } from '../../../test/store/contract.ts'
import { LOCAL_TENANT, type Ref, type Store } from '../store.ts'
import { fileNameOf } from './document.ts'
import { openFileStore } from './store.ts'

const ref: Ref = { tenant: LOCAL_TENANT, conversation: 'chat' }

let data: string
let store: Store
beforeEach(async () => {
  data = scratchFolder()
  store = await openFileStore({ data })
})
afterEach(async () => {
  await store.close()
  rmSync(data, { recursive: true })
})

const pathOf = (conversation: string): string => join(data, '.agents', 'tasks', `${conversation}.json`)
const fileText = (): string => readFileSync(pathOf('chat'), 'utf8')
const inFile = (): { tasks: Record<string, Json>[]; [key: string]: Json | Record<string, Json>[] } =>
  JSON.parse(fileText())
const byAnother = (content: object): void => {
  mkdirSync(dirname(pathOf('chat')), { recursive: true })
  writeFileSync(pathOf('chat'), JSON.stringify(content))
}
const row = (id: string, title: string, done = false): Record<string, Json> => ({ id, title, description: '', done })
const titles = async (): Promise<string[]> => listed(await store.load(ref)).map(({ title }) => title)
const statuses = async (): Promise<string[]> => listed(await store.load(ref)).map(({ status }) => status)

describe('what we write', () => {
  it('[FI1] is one file with the listed tasks: id, title, description, done', async () => {
    await store.commit(ref, run(openTurn('t1'), add('t1', 'a', 'b', 'c', 'd')))
    await store.commit(ref, run(settle('t1', 2)))
    await store.commit(
      ref,
      run({
        type: 'edit_tasks',
        by: 'person',
        change: [{ task: 3, fields: { status: 'cancelled', details: 'x' } }],
        remove: [{ task: 4 }],
      }),
    )
    expect(inFile()).toEqual({ tasks: [row('1', 'a'), row('2', 'b', true)] })
    expect(fileText().endsWith('}\n')).toBe(true)
  })

  it('[FI1] is named after the id; a GUID in lower case without dashes', () => {
    expect(fileNameOf('My-Chat_1')).toBe('My-Chat_1.json')
    expect(fileNameOf('0190A0B1-0000-7000-8000-00000000ABCD')).toBe('0190a0b100007000800000000000abcd.json')
    expect(fileNameOf('0190A0B100007000800000000000ABCD')).toBe('0190a0b100007000800000000000abcd.json')
    expect(fileNameOf('0190a0b1-0000-7000-8000-00000000abc')).toBe('0190a0b1-0000-7000-8000-00000000abc.json')
  })

  it('is created with its folder under a relative path, however short', async () => {
    const before = process.cwd()
    process.chdir(data)
    const relative = await openFileStore({ data: 'd' })
    try {
      await relative.commit(ref, run(openTurn('t1'), add('t1', 'a')))
      expect(existsSync(join('d', '.agents', 'tasks', 'chat.json'))).toBe(true)
    } finally {
      await relative.close()
      process.chdir(before)
    }
  })

  it('is created with its folder on the first write; before that the list is empty', async () => {
    expect((await store.load(ref)).seq).toBe(0)
    await store.commit(ref, run(openTurn('t1')))
    expect(existsSync(dirname(pathOf('chat')))).toBe(false)
    await store.commit(ref, run(add('t1', 'a')))
    expect(readdirSync(dirname(pathOf('chat')))).toEqual(['chat.json'])
  })

  it('exists when the call is answered, and is not rewritten if the list did not change', async () => {
    await store.commit(ref, run(openTurn('t1'), add('t1', 'a')))
    const before = fileText()
    await store.commit(
      ref,
      run({
        type: 'record',
        turn_id: 't1',
        fact: { type: 'message_added', data: { message_id: 'm', role: 'user', text: 'hi' } },
      }),
    )
    expect(fileText()).toBe(before)
  })

  it('does not exist if the commit failed, and no temporary file is left', async () => {
    await store.commit(ref, run(openTurn('t1'), add('t1', 'a')))
    const before = fileText()
    await store.close()
    let fails = true
    store = await openFileStore({
      data,
      onFaultPoint: point => {
        if (fails && point === 'written') throw new Error('not written')
      },
    })
    await expect(store.commit(ref, run(add('t1', 'b')))).rejects.toThrow('not written')
    expect(fileText()).toBe(before)
    expect(readdirSync(dirname(pathOf('chat')))).toEqual(['chat.json'])
    fails = false
    await store.commit(ref, run(add('t1', 'c')))
    expect(inFile().tasks.map(({ title }) => title)).toEqual(['a', 'c'])
  })

  it('is given up with an error if another program never stops writing', async () => {
    await store.commit(ref, run(openTurn('t1'), add('t1', 'a')))
    await store.close()
    let spaces = 0
    store = await openFileStore({
      data,
      // Rewrites the file each time ours is ready to be renamed.
      onFaultPoint: point => {
        if (point === 'committed' || (point === 'looked' && spaces > 0)) {
          writeFileSync(pathOf('chat'), `${JSON.stringify({ tasks: [row('1', 'a')] })}${' '.repeat((spaces += 1))}`)
        }
      },
    })
    const saved = store.commit(ref, run(add('t1', 'b')))
    await expect(saved).rejects.toMatchObject({ code: 'unknown_outcome', cause: { code: 'busy' } })
  })

  it('belongs to the first conversation, even before there is a task to write', async () => {
    await store.commit({ ...ref, conversation: 'Chat' }, run(openTurn('t1')))
    await expect(store.commit(ref, run(openTurn('t1'), add('t1', 'a')))).rejects.toMatchObject({ code: 'id_taken' })
    await store.commit({ ...ref, conversation: 'Chat' }, run(add('t1', 'mine')))
    expect(existsSync(pathOf('Chat'))).toBe(true)
  })

  it('refuses a second id that would share a file', async () => {
    await store.commit(
      { ...ref, conversation: '0190a0b1-0000-7000-8000-00000000abcd' },
      run(openTurn('t1'), add('t1', 'a')),
    )
    for (const conversation of ['0190a0b100007000800000000000abcd', '0190A0B1-0000-7000-8000-00000000ABCD']) {
      const second = { ...ref, conversation }
      await expect(store.commit(second, run(openTurn('t1'), add('t1', 'b')))).rejects.toMatchObject({
        code: 'id_taken',
      })
      await expect(store.load(second)).rejects.toMatchObject({ code: 'id_taken' })
    }
  })
})

describe('what another program wrote', () => {
  it('is read leniently: a number as an id, no description or none, no done', async () => {
    byAnother({
      tasks: [
        { id: 7, title: 'a', description: null },
        { id: '8', title: 'b', done: null },
        { id: 9, title: 'c', done: true },
      ],
    })
    expect(await statuses()).toEqual(['in_progress', 'pending', 'completed'])
    await store.commit(ref, run(openTurn('t1'), add('t1', 'd')))
    expect(inFile().tasks).toEqual([row('7', 'a'), row('8', 'b'), row('9', 'c', true), row('10', 'd')])
  })

  it('with only the four fields opens and works', async () => {
    byAnother({ tasks: [row('1', 'Implement API'), row('2', 'Add tests', true)] })
    const state = await store.load(ref)
    expect(
      listed(state).map(({ number, title, status, created_by, judged_by }) => [
        number,
        title,
        status,
        created_by,
        judged_by,
      ]),
    ).toEqual([
      [1, 'Implement API', 'in_progress', 'file', null],
      [2, 'Add tests', 'completed', 'file', null],
    ])
    expect(
      (await store.eventsAfter(ref, 0, 10)).filter(({ type }) => type === 'task_created').map(({ data }) => data),
    ).toMatchObject([{ by: 'file' }, { by: 'file' }])
    await store.commit(ref, run(openTurn('t1'), add('t1', 'Ship it')))
    expect(inFile().tasks.map(({ id }) => id)).toEqual(['1', '2', '3'])
  })

  it('[FI1] keeps unknown ids and fields on both levels, also through a cancel and a reopen', async () => {
    byAnother({
      owner: 'ann',
      tasks: [{ ...row('abc', 'a'), due: '2027-01-01', links: [{ x: 1 }] }, row('7', 'b')],
      meta: { v: 2 },
    })
    await store.commit(ref, run(openTurn('t1'), add('t1', 'c')))
    const { tasks, ...rest } = inFile()
    expect(rest).toEqual({ owner: 'ann', meta: { v: 2 } })
    expect(tasks).toMatchObject([
      { id: 'abc', title: 'a', due: '2027-01-01', links: [{ x: 1 }] },
      { id: '7' },
      { id: '8' },
    ])
    const number = listed(await store.load(ref))[0]?.number ?? 0
    await store.commit(
      ref,
      run({ type: 'edit_tasks', by: 'person', change: [{ task: number, fields: { status: 'cancelled' } }] }),
    )
    expect(inFile().tasks.map(({ id }) => id)).toEqual(['7', '8'])
    await store.commit(
      ref,
      run({ type: 'edit_tasks', by: 'person', change: [{ task: number, fields: { status: 'pending' } }] }),
    )
    expect(inFile().tasks[0]).toMatchObject({ id: 'abc', due: '2027-01-01' })
  })

  it('continues its own numbering where free, and never reuses a number', async () => {
    byAnother({ tasks: [row('5', 'five'), row('x', 'named'), row('2', 'two')] })
    const numbers = async () => listed(await store.load(ref)).map(({ number, file_id }) => [number, file_id])
    expect(await numbers()).toEqual([
      [5, undefined],
      [6, 'x'],
      [7, '2'],
    ])
    await store.commit(ref, run(openTurn('t1'), add('t1', 'ours')))
    expect(inFile().tasks.map(({ id }) => id)).toEqual(['5', 'x', '2', '8'])
  })

  it('[FI4] is imported before the next command: titles, descriptions, done, new, removed and reordered tasks', async () => {
    await store.commit(ref, run(openTurn('t1'), add('t1', 'a', 'b', 'c')))
    byAnother({ tasks: [row('3', 'c', true), { ...row('1', 'A!'), description: 'more' }, row('new', 'd')] })
    const { conversation, events } = await store.commit(ref, run(add('t1', 'e')))
    expect(listed(conversation).map(({ title }) => title)).toEqual(['c', 'A!', 'd', 'e'])
    expect(events.map(({ type }) => type)).toEqual(['task_created'])
    const taken = (await store.eventsAfter(ref, 5, 100)).slice(0, -1)
    expect(new Set(taken.map(event => ('by' in event.data ? event.data.by : undefined)))).toEqual(new Set(['file']))
    expect(taken.map(({ type }) => type).sort()).toEqual([
      'task_changed',
      'task_changed',
      'task_created',
      'task_removed',
    ])
    expect(inFile().tasks.map(({ id, done }) => [id, done])).toEqual([
      ['3', true],
      ['1', false],
      ['new', false],
      ['5', false],
    ])
  })

  it('[FI4] puts a new task where it is in the file', async () => {
    await store.commit(ref, run(openTurn('t1'), add('t1', 'a', 'b')))
    byAnother({ tasks: [row('1', 'a'), row('x', 'x'), row('y', 'y'), row('2', 'b'), row('z', 'z')] })
    expect(await titles()).toEqual(['a', 'x', 'y', 'b', 'z'])
  })

  it('[FI4] overrides our status with its done, both ways, without a judgement', async () => {
    await store.commit(ref, run(openTurn('t1'), add('t1', 'a', 'b')))
    await store.commit(ref, run(settle('t1', 1)))
    byAnother({ tasks: [row('1', 'a', false), row('2', 'b', true)] })
    expect(await statuses()).toEqual(['in_progress', 'completed'])
    expect(listed(await store.load(ref)).map(({ judged_by }) => judged_by)).toEqual([null, null])
  })

  it('leaves a blocked task blocked while it says not done, and completes it when it says done', async () => {
    await store.commit(ref, run(openTurn('t1'), add('t1', 'a', 'b')))
    await store.commit(
      ref,
      run({ type: 'edit_tasks', by: 'person', change: [{ task: 1, fields: { status: 'blocked' } }] }),
    )
    byAnother({ tasks: [row('1', 'a'), row('2', 'B')] })
    expect(await statuses()).toEqual(['blocked', 'in_progress'])
    byAnother({ tasks: [row('1', 'a', true), row('2', 'B')] })
    expect(await statuses()).toEqual(['completed', 'in_progress'])
  })

  it('[FI4] reopens a cancelled task that is in the file again', async () => {
    await store.commit(ref, run(openTurn('t1'), add('t1', 'a', 'b')))
    await store.commit(
      ref,
      run({ type: 'edit_tasks', by: 'person', change: [{ task: 2, fields: { status: 'cancelled' } }] }),
    )
    byAnother({ tasks: [row('1', 'a'), row('2', 'b', true)] })
    expect(await statuses()).toEqual(['in_progress', 'completed'])
  })

  it('[FE1] fences like an edit by a person: a model that did not know of it is refused', async () => {
    await store.commit(ref, run(openTurn('t1'), add('t1', 'a')))
    const { seq } = await store.load(ref)
    byAnother({ tasks: [row('1', 'mine')] })
    const change = {
      type: 'edit_tasks',
      by: 'model',
      turn_id: 't1',
      change: [{ task: 1, fields: { title: 'theirs' } }],
    } as const
    await expect(store.commit(ref, run({ ...change, basis: seq }))).rejects.toMatchObject({
      code: 'edited_by_person',
      data: { changed: { title: 'mine' } },
    })
    expect(await titles()).toEqual(['mine'])
  })

  it('[FI4] in another layout is not a change', async () => {
    await store.commit(ref, run(openTurn('t1'), add('t1', 'a')))
    const { seq } = await store.load(ref)
    byAnother({ tasks: [row('1', 'a')] })
    expect((await store.load(ref)).seq).toBe(seq)
  })

  it('by deletion: the list is empty, the history is kept, and the next write creates it again', async () => {
    await store.commit(ref, run(openTurn('t1'), add('t1', 'a')))
    rmSync(pathOf('chat'))
    expect(await titles()).toEqual([])
    expect((await store.eventsAfter(ref, 3, 10)).map(({ type }) => type)).toEqual(['task_removed'])
    await store.commit(ref, run(add('t1', 'b')))
    expect(inFile().tasks).toEqual([row('2', 'b')])
  })

  it('[FI4] back to the previous content counts as a change', async () => {
    await store.commit(ref, run(openTurn('t1'), add('t1', 'a')))
    const before = fileText()
    await store.commit(ref, run(settle('t1', 1)))
    writeFileSync(pathOf('chat'), before)
    expect(await statuses()).toEqual(['in_progress'])
  })

  it('[FI1] keeps numbers as they were written', async () => {
    mkdirSync(dirname(pathOf('chat')), { recursive: true })
    const odd = '"a": 9007199254740993, "b": 12345678901234567890, "c": 1e400, "d": 1.0, "e": -0.50'
    writeFileSync(pathOf('chat'), `{"tasks":[{"id":"1","title":"a","description":"","done":false,${odd}}],${odd}}`)
    await store.commit(ref, run(openTurn('t1'), add('t1', 'b')))
    await store.commit(
      ref,
      run({ type: 'edit_tasks', by: 'person', change: [{ task: 1, fields: { status: 'cancelled' } }] }),
    )
    await store.close()
    store = await openFileStore({ data })
    await store.commit(
      ref,
      run({ type: 'edit_tasks', by: 'person', change: [{ task: 1, fields: { status: 'pending' } }] }),
    )
    for (const number of ['9007199254740993', '12345678901234567890', '1e400', '1.0', '-0.50']) {
      expect(fileText().split(`: ${number}`)).toHaveLength(3)
    }
  })

  it('[FI10] in another encoding is invalid and left untouched', async () => {
    mkdirSync(dirname(pathOf('chat')), { recursive: true })
    const latin = Buffer.from('{"tasks":[{"id":"1","title":"caf\u00e9","description":"","done":false}]}', 'latin1')
    writeFileSync(pathOf('chat'), latin)
    await expect(store.commit(ref, run(openTurn('t1'), add('t1', 'b')))).rejects.toMatchObject({ code: 'file_invalid' })
    expect(readFileSync(pathOf('chat')).equals(latin)).toBe(true)
  })

  it('[FI1] with a byte order mark is valid', async () => {
    mkdirSync(dirname(pathOf('chat')), { recursive: true })
    writeFileSync(pathOf('chat'), `\uFEFF${JSON.stringify({ tasks: [row('1', 'a')] })}`)
    expect(await titles()).toEqual(['a'])
  })

  it('keeps the permissions of the file', async () => {
    await store.commit(ref, run(openTurn('t1'), add('t1', 'a')))
    chmodSync(pathOf('chat'), 0o600)
    await store.commit(ref, run(add('t1', 'b')))
    expect(statSync(pathOf('chat')).mode & 0o777).toBe(0o600)
  })

  it.each(['looked', 'begun', 'staged', 'prepared', 'written', 'committed'] as const)(
    '[FI4] during a write of ours (at "%s") is not lost, and neither is ours',
    async point => {
      await store.commit(ref, run(openTurn('t1'), add('t1', 'a', 'b')))
      await store.close()
      let once = true
      store = await openFileStore({
        data,
        onFaultPoint: reached => {
          if (reached !== point || !once) return
          once = false
          byAnother({ tasks: [row('1', 'A, by another'), row('2', 'b'), row('x', 'new, by another')] })
        },
      })
      await store.commit(ref, run(add('t1', 'ours')))
      expect((await titles()).sort()).toEqual(['A, by another', 'b', 'new, by another', 'ours'])
      expect(new Set(inFile().tasks.map(({ title }) => title))).toEqual(
        new Set(['A, by another', 'b', 'new, by another', 'ours']),
      )
    },
  )

  describe('and our concurrent changes are both kept', () => {
    const person = (fields: SomeFields): Command => ({
      type: 'edit_tasks',
      by: 'person',
      change: [{ task: 1, fields }],
    })
    const OURS: Record<string, { command: Command; done: (tasks: readonly Task[]) => boolean }> = {
      add: { command: add('t1', 'ours'), done: tasks => tasks.some(({ title }) => title === 'ours') },
      remove: {
        command: { type: 'edit_tasks', by: 'person', remove: [{ task: 1 }] },
        done: tasks => !tasks.some(({ number }) => number === 1),
      },
      cancel: {
        command: person({ status: 'cancelled' }),
        done: tasks => tasks.some(task => task.number === 1 && task.status === 'cancelled'),
      },
      complete: {
        command: person({ status: 'completed' }),
        done: tasks => tasks.some(task => task.number === 1 && task.status === 'completed'),
      },
      rename: { command: person({ title: 'renamed' }), done: tasks => tasks.some(({ title }) => title === 'renamed') },
      move: {
        command: person({ position: 3 }),
        done: tasks => tasks.findIndex(({ number }) => number === 1) > tasks.findIndex(({ number }) => number === 3),
      },
    }
    type Content = { tasks: Record<string, Json>[]; owner?: string }
    const THEIRS: Record<string, { edit: (file: Content) => Content; done: (file: Content) => boolean }> = {
      layout: { edit: file => file, done: () => true },
      field: {
        edit: file => ({
          ...file,
          owner: 'ann',
          tasks: file.tasks.map(task => (task['id'] === '2' ? { ...task, due: 'now' } : task)),
        }),
        done: file => file.owner === 'ann' && file.tasks.some(task => task['due'] === 'now'),
      },
      title: {
        edit: file => ({
          ...file,
          tasks: file.tasks.map(task => (task['id'] === '2' ? { ...task, title: 'theirs' } : task)),
        }),
        done: file => file.tasks.some(task => task['title'] === 'theirs'),
      },
      add: {
        edit: file => ({ ...file, tasks: [...file.tasks, row('x', 'theirs')] }),
        done: file => file.tasks.some(task => task['id'] === 'x'),
      },
    }
    const matrix = Object.keys(OURS).flatMap(ours =>
      Object.keys(THEIRS).flatMap(theirs => ['race', 'crash'].map(how => [ours, theirs, how] as const)),
    )

    it.each(matrix)('[FA1] ours: %s, theirs: %s, in a %s', async (ours, theirs, how) => {
      const mine = OURS[ours]
      const their = THEIRS[theirs]
      if (!mine || !their) throw new Error('not in the table')
      await store.commit(ref, run(openTurn('t1'), add('t1', 'a', 'b', 'c')))
      await store.close()
      const edit = (): void => byAnother(their.edit(inFile()))
      let once = true
      store = await openFileStore({
        data,
        onFaultPoint: point => {
          if (point !== 'committed' || !once) return
          once = false
          if (how === 'race') edit()
          else throw new Error('power cut')
        },
      })
      const keyed = { ...ref, once: { key: 'k', bodyHash: 'h' } }
      const first = store.commit(keyed, run(mine.command))
      if (how === 'crash') {
        await expect(first).rejects.toThrow('power cut')
        await store.close()
        edit()
        store = await openFileStore({ data })
        expect(await store.commit(keyed, run(mine.command))).toMatchObject({ replayed: true })
      } else await first
      const tasks = listed(await store.load(ref))
      expect(mine.done(tasks)).toBe(true)
      expect(their.done(inFile())).toBe(true)
      // And the file matches the list.
      const shown = tasks.filter(({ status }) => status !== 'cancelled').map(({ title }) => title)
      expect(inFile().tasks.map(({ title }) => title)).toEqual(shown)
      expect(readdirSync(dirname(pathOf('chat')))).toEqual(['chat.json'])
    })
  })

  it('[FI16] with a second name (a hard link) is read; a write replaces ours only', async () => {
    byAnother({ tasks: [row('1', 'a')] })
    const second = join(data, 'second.json')
    linkSync(pathOf('chat'), second)
    const before = readFileSync(second, 'utf8')
    await store.commit(ref, run(openTurn('t1'), add('t1', 'b')))
    expect(inFile().tasks).toMatchObject([{ title: 'a' }, { title: 'b' }])
    expect(readFileSync(second, 'utf8')).toBe(before)
  })

  it('[FI16] that has become a link is replaced, not followed', async () => {
    const outside = join(data, 'outside.json')
    writeFileSync(outside, 'not ours')
    await store.commit(ref, run(openTurn('t1'), add('t1', 'a')))
    await store.close()
    store = await openFileStore({
      data,
      onFaultPoint: point => {
        if (point !== 'prepared') return
        rmSync(pathOf('chat'))
        symlinkSync(outside, pathOf('chat'))
      },
    })
    await expect(store.commit(ref, run(add('t1', 'b')))).rejects.toMatchObject({ code: 'unknown_outcome' })
    expect(readFileSync(outside, 'utf8')).toBe('not ours')
  })

  it('that would be larger than 8 MB is refused before anything is committed; shorter texts go on', async () => {
    const wide = '\u{1f600}'.repeat(8_000)
    const count = Math.floor((8 * 2 ** 20) / 32_100) - 10
    byAnother({ tasks: Array.from({ length: count }, (_, id) => ({ ...row(String(id + 1), 'x'), description: wide })) })
    await store.commit(ref, run(openTurn('t1')))
    const batch = (details: string): Command => ({
      type: 'edit_tasks',
      by: 'model',
      turn_id: 't1',
      create: Array.from({ length: 20 }, () => ({ id: crypto.randomUUID(), title: 'x', details })),
    })
    const { seq } = await store.load(ref)
    await expect(store.commit(ref, run(batch(wide)))).rejects.toMatchObject({
      code: 'full',
      message: 'The task file would have more than 8 MB; nothing was written. Shorten or remove tasks.',
    })
    expect((await store.load(ref)).seq).toBe(seq)
    await store.commit(ref, run(add('t1', 'short')))
    expect(statSync(pathOf('chat')).size).toBeLessThanOrEqual(8 * 2 ** 20)
  })

  it('[FI4] the list follows the file through any reordering, additions and removals', async () => {
    const edit = fc.record({
      order: fc.shuffledSubarray(Array.from({ length: 12 }, (_, index) => index)),
      inserts: fc.array(fc.nat(12), { maxLength: 4 }),
    })
    let conversations = 0
    await fc.assert(
      fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 4 }), async edits => {
        const chat = { ...ref, conversation: `order-${(conversations += 1)}` }
        await store.commit(
          chat,
          run(openTurn('t1'), add('t1', ...Array.from({ length: 8 }, (_, index) => `t${index}`))),
        )
        for (const [round, { order, inserts }] of edits.entries()) {
          const before = (
            JSON.parse(readFileSync(pathOf(chat.conversation), 'utf8')) as { tasks: Record<string, Json>[] }
          ).tasks
          const rows = order.map(index => before[index]).filter(each => each !== undefined)
          for (const [index, place] of inserts.entries())
            rows.splice(place, 0, row(`n${round}-${index}`, `new ${round} ${index}`))
          writeFileSync(pathOf(chat.conversation), JSON.stringify({ tasks: rows }))
          const wanted = rows.map(({ title }) => title)
          expect(listed(await store.load(chat)).map(({ title }) => title)).toEqual(wanted)
        }
      }),
      { numRuns: inLongRun(200, 20) },
    )
  })

  it('[FI4] a long list that is reversed in the file is reversed', async () => {
    const rows = Array.from({ length: 900 }, (_, index) => row(`${index + 1}`, `t${index}`))
    byAnother({ tasks: rows })
    await store.load(ref)
    byAnother({ tasks: rows.toReversed() })
    expect(await titles()).toEqual(rows.toReversed().map(({ title }) => title))
  })

  it('[FI1] with keys like __proto__ is plain data', async () => {
    mkdirSync(dirname(pathOf('chat')), { recursive: true })
    writeFileSync(
      pathOf('chat'),
      '{"__proto__":{"polluted":1},"tasks":[{"id":"1","title":"a","description":"","done":false,"__proto__":{"polluted":2},"constructor":3}]}',
    )
    await store.commit(ref, run(openTurn('t1'), add('t1', 'b')))
    expect(fileText()).toContain('"__proto__"')
    expect(fileText()).toContain('"constructor": 3')
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })
})
