import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { TOOLSETS } from '../../core/model/policy.ts'
import { openDoor, type Door } from '../door/door.ts'
import { openMemoryStore } from '../../store/memory.ts'
import { Desk } from '../../../test/support/desk.ts'
import { jsonSchemaOf, promptFor, retryFor } from './guidance.ts'
import { toolsets } from './index.ts'
import type { Tool, Toolset } from './toolset.ts'

const all = Object.values(toolsets)
let door: Door
beforeEach(() => {
  door = openDoor({ store: openMemoryStore() })
})
afterEach(() => door.close())

const propertiesOf = (tool: Tool): Record<string, { type?: string }> =>
  jsonSchemaOf(tool)['properties'] as Record<string, { type?: string }>

describe('the toolsets', () => {
  it('[TS22] are the six that a policy can name, each with tools of its own names', () => {
    expect(Object.keys(toolsets)).toEqual(Object.keys(TOOLSETS))
    expect(all.map(({ name }) => name)).toEqual(Object.keys(TOOLSETS))
    const names = all.flatMap(({ tools }) => tools.map(({ name }) => name))
    expect(new Set(names).size).toBe(names.length)
  })

  it('each has one tool that creates; it takes an array, but in task_list', () => {
    const creating = all.map(({ name, tools }) => [
      name,
      tools
        .filter(({ created }) => created)
        .map(tool => Object.entries(propertiesOf(tool)).find(([, { type }]) => type === 'array')?.[0]),
    ])
    expect(Object.fromEntries(creating)).toEqual({
      manage_todos: ['add'],
      checklist: ['items'],
      task_manager: ['tasks'],
      turn_todos: ['items'],
      task_list: [undefined],
      runsheet: ['tasks'],
    })
  })

  it.each(all.filter(({ name }) => name !== 'task_list'))(
    '$name: no tool makes a task of a single item',
    async toolset => {
      const desk = new Desk(door, toolset)
      const single = { title: 'Look', description: 'Look', details: 'x', add: 'Look', items: 'Look', tasks: 'Look' }
      for (const { name } of toolset.tools) {
        await desk.take(name, single)
        await desk.take(name, { ...single, items: { title: 'Look' }, tasks: { title: 'Look' }, add: { title: 'Look' } })
      }
      expect(await desk.tasks()).toEqual([])
      expect((await desk.state()).pending_reviews).toEqual([])
    },
  )

  const isList = ({ name }: Toolset): boolean => TOOLSETS[name].captures

  it.each(all.filter(isList))('$name: nothing has to be done before answering', toolset => {
    const text = promptFor(toolset).replaceAll('\n', ' ')
    expect(text).toMatch(/your answer does not wait for/)
    expect(text).not.toMatch(/before/)
    expect(toolset.tools.some(({ name }) => text.includes(name))).toBe(true)
  })

  const planning = all.filter(each => !isList(each))
  it.each(planning)('$name: the section says when to plan and when not, and to settle before answering', toolset => {
    const text = promptFor(toolset, { isRun: true }).replaceAll('\n', ' ')
    expect(text).toMatch(/several/)
    expect(text).toMatch(/[Ww]ork through/)
    expect(text).toMatch(/[Dd]o not (give your final answer|answer for the whole request) before/)
    expect(text).toMatch(/Do not plan for a plain question or a single step\.$/)
    expect(toolset.tools.some(({ name }) => text.includes(name))).toBe(true)
  })

  it.each(all)('$name: the retry shows a form that its creating tool takes', async toolset => {
    const desk = new Desk(door, toolset, { review: false })
    const text = retryFor(toolset, { state: await desk.state(), turnId: 't1' })
    expect(text).not.toMatch(/nothing|already[^.:]*:|again/i)
    expect((await desk.take(creatorOf(toolset).name, formIn(text))).status).toBe('answered')
    expect(await desk.tasks()).not.toEqual([])
  })

  it.each(all.flatMap(toolset => toolset.tools.map(tool => ({ name: `${toolset.name}: ${tool.name}`, tool }))))(
    '[TS4] $name: the example in a refusal is of the right form',
    ({ tool }) => {
      const parsed = tool.input.safeParse(formIn(tool.example))
      expect(parsed.error).toBeUndefined()
    },
  )
})

const creatorOf = (toolset: Toolset): Tool => {
  const tool = toolset.tools.find(({ created }) => created)
  if (!tool) throw new Error(`${toolset.name} creates nothing`)
  return tool
}

/** The first JSON object in a text. */
function formIn(text: string): unknown {
  for (let end = text.indexOf('}'); end > 0; end = text.indexOf('}', end + 1)) {
    try {
      return JSON.parse(text.slice(text.indexOf('{'), end + 1))
    } catch {
      // Not complete yet.
    }
  }
  return undefined
}
