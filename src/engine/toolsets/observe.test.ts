import { Writable } from 'node:stream'
import pino from 'pino'
import { expect, it } from 'vitest'
import { openDoor } from '../door/door.ts'
import { openMemoryStore } from '../../store/memory.ts'
import { toolsets } from './index.ts'
import { logCalls } from './observe.ts'
import { callTool } from './calls.ts'

/** What a logger of this level writes for one call of each outcome. */
async function logged(level: 'debug' | 'info'): Promise<Record<string, unknown>[]> {
  const lines: string[] = []
  const sink = new Writable({
    write: (chunk, _, done) => {
      lines.push(String(chunk))
      done()
    },
  })
  const door = openDoor({ store: openMemoryStore(), observe: logCalls(pino({ level }, sink)) })
  const context = { door, tenant: 'local', turn: 't1', provider: 'openai', model: 'm1' }
  const secret = [{ title: 'secret title' }, { title: 'another' }]
  await callTool(toolsets.turn_todos, 'create_todo', { items: secret }, { ...context, conversation: 'c1' })
  await callTool(toolsets.turn_todos, 'create_todo', { items: 'secret title' }, { ...context, conversation: 'c1' })
  await callTool(
    toolsets.checklist,
    'add_multiple_checklist_items',
    { items: secret },
    { ...context, conversation: 'c1' },
  )
  const review = { ...context, conversation: 'c2', host: { review_timeout_ms: 1 } }
  await callTool(toolsets.runsheet, 'plan', { tasks: secret }, review)
  await callTool(toolsets.runsheet, 'secret tool', {}, review)
  await door.close()
  return lines.map(line => JSON.parse(line))
}

it('every call is logged at debug: what was called, where, by which model, and how it went', async () => {
  const lines = await logged('debug')
  expect(lines.map(({ toolset, tool, items, outcome }) => [toolset, tool, items, outcome])).toEqual([
    ['turn_todos', 'create_todo', 2, 'ok'],
    ['turn_todos', 'create_todo', 0, 'refused'],
    ['checklist', 'add_multiple_checklist_items', 2, 'refused'],
    ['runsheet', 'plan', 2, 'refused'],
    ['runsheet', 'unknown', 0, 'refused'],
  ])
  expect(lines.map(({ session_id, turn_id, tool_call_id }) => [session_id, turn_id, typeof tool_call_id])).toEqual([
    ['c1', 't1', 'string'],
    ['c1', 't1', 'undefined'],
    ['c1', 't1', 'undefined'],
    ['c2', 't1', 'string'],
    ['c2', 't1', 'undefined'],
  ])
  const named = { edge: 'library', provider: 'openai', model: 'm1', duration_ms: expect.any(Number) }
  for (const line of lines) expect(line).toMatchObject(named)
})

it('no line holds what the tasks say, and at info there is no line', async () => {
  expect(JSON.stringify(await logged('debug'))).not.toContain('secret')
  expect(await logged('info')).toEqual([])
})

it('an observer that fails does not fail the call', async () => {
  const observe = (): never => {
    throw new Error('boom')
  }
  const door = openDoor({ store: openMemoryStore(), observe })
  const warned = new Promise(resolve => process.once('warning', resolve))
  const context = { door, tenant: 'local', conversation: 'c1', turn: 't1' }
  expect(await callTool(toolsets.task_list, 'AddTask', { title: 'a' }, context)).toMatchObject({ id: '1' })
  expect(await warned).toMatchObject({ message: 'boom' })
  await door.close()
})
