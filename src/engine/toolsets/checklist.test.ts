import { beforeEach, describe, expect, it } from 'vitest'
import { cases, deskPerTest, uuid } from '../../../test/support/desk.ts'
import { checklist } from './checklist.ts'
import { jsonSchemaOf, promptFor, retryFor } from './guidance.ts'

const desk = deskPerTest(checklist)
const { open } = desk

const FORM =
  'a JSON array of objects with `title`, not a comma-separated string: {"items":[{"title":"…"},{"title":"…","isChecked":true}]}'
const add = (input: unknown) => desk.call('add_multiple_checklist_items', input)
const update = (...items: unknown[]) => desk.call('update_checklist_items', { items })
const item = (number: number, title: string, isChecked = false) => ({ id: uuid(number), title, isChecked })

describe('checklist: adding', () => {
  it('the schema is an array with minItems 1, and holds no oneOf or anyOf', () => {
    const [create] = checklist.tools
    expect(create && jsonSchemaOf(create)).toEqual({
      type: 'object',
      properties: {
        items: {
          minItems: 1,
          type: 'array',
          items: {
            type: 'object',
            properties: {
              title: { type: 'string' },
              isChecked: { description: 'already done', type: 'boolean' },
            },
            required: ['title'],
          },
        },
        contextTaskId: { description: 'id of the task that the items belong under', type: 'string' },
      },
      required: ['items'],
    })
    expect(JSON.stringify(checklist.tools.map(jsonSchemaOf))).not.toMatch(/oneOf|anyOf/)
  })

  it('answers what it made, in input order, duplicates kept, checked where they are done', async () => {
    const items = [{ title: ' milk ' }, { title: 'bread', isChecked: true }, { title: 'milk', isChecked: false }]
    expect(await add({ items })).toEqual({
      createdItems: [item(1, 'milk'), item(2, 'bread', true), item(3, 'milk')],
    })
  })

  it('unknown keys are ignored, also __proto__', async () => {
    const items = JSON.parse('[{"title":"milk","id":"7","__proto__":{"isChecked":true}}]')
    expect(await add({ items, turn_id: 't9', session_id: 'other' })).toEqual({ createdItems: [item(1, 'milk')] })
    expect((await desk.tasks())[0]).toMatchObject({ session_id: 'c1', conversation_turn_id: 't1' })
  })

  it('unknown keys may be of any depth', async () => {
    const deep = JSON.parse(`${'['.repeat(2_500)}${']'.repeat(2_500)}`)
    expect(await add({ items: [{ title: 'milk' }], deep })).toEqual({ createdItems: [item(1, 'milk')] })
  })

  it('no string is split', async () => {
    expect(await add({ items: [{ title: 'milk, bread; eggs' }] })).toEqual({
      createdItems: [item(1, 'milk, bread; eggs')],
    })
  })

  it('empty titles are dropped, and do not count to the 20', async () => {
    const items = [{ title: ' ' }, ...Array.from({ length: 20 }, () => ({ title: 'x' })), { title: '' }]
    expect(await add({ items })).toEqual({
      createdItems: Array.from({ length: 20 }, (_, index) => item(index + 1, 'x')),
    })
  })

  it('400 code points are taken', async () => {
    expect(await add({ items: [{ title: '😀'.repeat(400) }] })).toEqual({
      createdItems: [item(1, '😀'.repeat(400))],
    })
  })

  it.each(
    cases(
      [{ items: 'milk, bread' }, 'items must be an array, got a string.'],
      [{ items: ['milk'] }, 'items[0] must be an object, got a string.'],
      [{ items: [{ title: 'a' }, { title: 'b' }, { title: 3 }] }, 'items[2].title must be a string, got 3.'],
      [{ items: [{ title: 'a' }, {}] }, 'items[1].title must be a string, got nothing.'],
      [{ items: [{ title: 'a', isChecked: 'yes' }] }, 'items[0].isChecked must be true or false, got a string.'],
      [{ items: [] }, 'items must have at least 1 entry.'],
      [{ items: { title: 'a' } }, 'items must be an array, got an object.'],
      [{ title: 'a' }, 'items must be an array, got nothing.'],
      ['milk', 'The arguments must be an object, got a string.'],
      [{ items: [{ title: ' ' }, { title: '' }] }, 'At least 1 item is needed.'],
      [
        { items: [{ title: '' }, { title: 'a' }, { title: 'x'.repeat(401) }] },
        'items[2].title must be at most 400 characters, got 401.',
      ],
      [
        { items: [{ title: '\udc00' }] },
        'items[0].title must be well-formed Unicode: it contains half of a surrogate pair.',
      ],
      [{ items: Array.from({ length: 21 }, () => ({ title: 'x' })) }, 'At most 20 items fit into one call, got 21.'],
      [{ items: [{ title: 'x'.repeat(1_000_000) }] }, 'The arguments must be at most 256000 characters.'],
      [{ items: [{ title: 'a' }], contextTaskId: '' }, 'contextTaskId must not be empty.'],
      [
        { items: [{ title: 'a' }], contextTaskId: 'x'.repeat(201) },
        'contextTaskId must be at most 200 characters, got 201.',
      ],
    ),
  )('[TS4] $error: refused as a whole: which element, which limit, the right form', async ({ input, error }) => {
    const { answer, events } = await desk.written(() => add(input))
    expect(answer).toEqual({ error: `${error} Send ${FORM}` })
    expect(events).toEqual([])
  })

  it('contextTaskId hangs the items under that task; an unknown one is refused', async () => {
    await add({ items: [{ title: 'shop' }] })
    await add({ items: [{ title: 'milk' }, { title: 'bread' }], contextTaskId: uuid(1) })
    expect((await desk.tasks()).map(({ parent_id }) => parent_id)).toEqual([undefined, uuid(1), uuid(1)])
    const { answer, events } = await desk.written(() => add({ items: [{ title: 'eggs' }], contextTaskId: uuid(99) }))
    expect(answer).toEqual({
      error: `contextTaskId: There is no item with this id. Open: ${uuid(1)} (shop), ${uuid(3)} (milk), ${uuid(4)} (bread). Send new items as ${FORM}`,
    })
    expect(events).toEqual([])
  })
})

describe('checklist: updating', () => {
  beforeEach(() => add({ items: [{ title: 'milk' }, { title: 'bread' }, { title: 'eggs', isChecked: true }] }))

  it('ticks, unticks and rewords by id, as one commit', async () => {
    const { answer, events } = await desk.written(() =>
      update(
        { id: uuid(1), isChecked: true },
        { id: uuid(2), title: 'rye bread' },
        { id: uuid(3), isChecked: false, title: 'six eggs' },
      ),
    )
    expect(answer).toEqual({
      updatedItems: [item(1, 'milk', true), item(2, 'rye bread'), item(3, 'six eggs')],
      failedItems: [],
    })
    expect(events).toEqual(['task_changed', 'task_changed', 'task_changed', 'tool_answered'])
  })

  it('each element is answered on its own, in the order sent; the first unknown id with what is open', async () => {
    const answer = await update(
      { id: 'nowhere', isChecked: true },
      { id: uuid(1), title: ' ' },
      { id: uuid(2), isChecked: true },
      { id: uuid(3), title: 'x'.repeat(401) },
      { id: '\ud83d'.padEnd(99, 'y'), isChecked: true },
    )
    expect(answer).toEqual({
      updatedItems: [item(2, 'bread', true)],
      failedItems: [
        {
          id: 'nowhere',
          error: `There is no item with this id. Open: ${uuid(1)} (milk).`,
        },
        { id: uuid(1), error: 'title must not be empty.' },
        { id: uuid(3), error: 'title must be at most 400 characters, got 401.' },
        { id: '\ufffd'.padEnd(64, 'y'), error: 'There is no item with this id.' },
      ],
    })
    expect(await desk.statuses()).toEqual([
      ['milk', 'pending'],
      ['bread', 'completed'],
      ['eggs', 'completed'],
    ])
  })

  it('of two elements for one item the later one counts', async () => {
    expect(await update({ id: uuid(1), isChecked: true }, { id: uuid(1), isChecked: false })).toEqual({
      updatedItems: [item(1, 'milk'), item(1, 'milk')],
      failedItems: [],
    })
  })

  it('a box that is as it should be is left alone: blocked and started ones stay what they are', async () => {
    await desk.person({ task: 1, fields: { status: 'in_progress' } })
    await desk.person({ task: 2, fields: { status: 'blocked' } })
    await update({ id: uuid(3) })
    const { answer, events } = await desk.written(() =>
      update({ id: uuid(1), isChecked: false }, { id: uuid(2), isChecked: false }, { id: uuid(3), isChecked: true }),
    )
    expect(answer).toEqual({
      updatedItems: [item(1, 'milk'), item(2, 'bread'), item(3, 'eggs', true)],
      failedItems: [],
    })
    expect(events).toEqual(['tool_answered'])
  })

  it('a cancelled item is not shown', async () => {
    await desk.person({ task: 2, fields: { status: 'cancelled' } })
    expect(await update({ id: uuid(2), isChecked: true })).toEqual({
      updatedItems: [],
      failedItems: [{ id: uuid(2), error: `There is no item with this id. Open: ${uuid(1)} (milk).` }],
    })
    expect(retryFor(checklist, { state: await desk.state(), turnId: 't1' })).toMatch(
      /Already on the checklist: milk; eggs\./,
    )
  })

  it('items of earlier turns are reached: the list is the conversation’s', async () => {
    const answer = await desk.in('t2').call('update_checklist_items', { items: [{ id: uuid(1), isChecked: true }] })
    expect(answer).toEqual({ updatedItems: [item(1, 'milk', true)], failedItems: [] })
  })

  it.each(
    cases(
      [{ items: uuid(1) }, 'items must be an array, got a string.'],
      [{ items: [{ isChecked: true }] }, 'items[0].id must be a string, got nothing.'],
      [{ items: [{ id: 1 }] }, 'items[0].id must be a string, got 1.'],
      [{ items: [] }, 'items must have at least 1 entry.'],
    ),
  )('[TS4] $error: refused, and nothing is written', async ({ input, error }) => {
    const { answer, events } = await desk.written(() => desk.call('update_checklist_items', input))
    expect(answer).toEqual({
      error: `${error} Send {"items":[{"id":"…","isChecked":true}]} Send new items as ${FORM}`,
    })
    expect(events).toEqual([])
  })

  it("a person's change is told once, for that element, and then the element is taken", async () => {
    await desk.person({ task: 1, fields: { title: 'oat milk' } })
    const both = [
      { id: uuid(1), isChecked: true },
      { id: uuid(2), isChecked: true },
    ]
    expect(await update(...both)).toEqual({
      updatedItems: [item(2, 'bread', true)],
      failedItems: [
        {
          id: uuid(1),
          error: `A person changed item ${uuid(1)} since you last saw it: title is now "oat milk". Your change was not made; continue from here.`,
        },
      ],
    })
    expect(await update(...both)).toEqual({
      updatedItems: [item(1, 'oat milk', true), item(2, 'bread', true)],
      failedItems: [],
    })
  })

  it('[TS26] that the element has a check now is told, though no tool here names checks', async () => {
    const check = { kind: 'command', run: ['npm', 'test'], id: 'c1', hash: 'h1' } as const
    await desk.person({ task: 1, fields: { checks: [check] } })
    expect(await update({ id: uuid(1), isChecked: true })).toMatchObject({
      failedItems: [{ error: expect.stringContaining('since you last saw it: checks are now ["npm test"].') }],
    })
  })
})

describe('checklist: review', () => {
  beforeEach(() => open({ review: true }))
  const row = (title: string, status = 'todo') => ({
    title,
    details: '',
    criteria: '',
    priority: 'medium',
    status,
    tags: [],
  })

  it('[TS10] confirmed: the created items plus what the person changed', async () => {
    const answer = await desk.decided(add({ items: [{ title: 'milk' }, { title: 'eggs', isChecked: true }] }), {
      action: 'confirm',
      tasks: [{ draft_index: 1 }, { title: 'bread' }],
    })
    expect(answer).toEqual({
      createdItems: [item(4, 'eggs', true), item(5, 'bread')],
      changes: {
        kept: [row('eggs', 'done')],
        edited: [],
        added: [row('bread')],
        removed: [row('milk')],
        reordered: false,
      },
    })
  })

  it('[TS10] cancelled: the common form', async () => {
    expect(await desk.decided(add({ items: [{ title: 'milk' }] }), { action: 'cancel' })).toEqual({
      confirmed: false,
      cancelled: true,
      reason: 'user_cancelled',
    })
  })

  it('ticking is possible, rewording is refused', async () => {
    await desk.decided(add({ items: [{ title: 'milk' }] }), { action: 'confirm', tasks: [{ draft_index: 0 }] })
    expect(await update({ id: uuid(3), title: 'oat milk' }, { id: uuid(3), isChecked: true })).toEqual({
      updatedItems: [item(3, 'milk', true)],
      failedItems: [
        {
          id: uuid(3),
          error: 'A reviewed item cannot be reworded. Add the new wording as a new item.',
        },
      ],
    })
  })
})

describe('checklist: the words', () => {
  it('the section shows the array form by a short example, isChecked, and no comma-separated string', async () => {
    const section = promptFor(checklist)
    expect(section).toMatch(/JSON array of objects/)
    expect(section).toMatch(/Never send a comma-separated string/)
    const [example = ''] = /\{"items".*\}\]\}/.exec(section) ?? []
    expect(example.length).toBeLessThan(90)
    expect(await add(JSON.parse(example))).toEqual({
      createdItems: [item(1, 'Book the room'), item(2, 'Ask Ann', true)],
    })
  })

  it('the retry repeats the form, lists what exists and says not to create it again', async () => {
    await add({ items: [{ title: 'milk' }, { title: 'bread', isChecked: true }] })
    expect(retryFor(checklist, { state: await desk.state(), turnId: 't2' })).toBe(
      `add_multiple_checklist_items takes ${FORM}, with \`isChecked\` for what is already done. Already on the checklist: milk; bread. Do not create these again.`,
    )
  })
})
