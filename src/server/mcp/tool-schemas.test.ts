import { describe, expect, it } from 'vitest'
import { toolsets } from '../../engine/toolsets/index.ts'
import type { Tool } from '../../engine/toolsets/toolset.ts'
import { annotationsOf, type DisplaySchema, inputSchema, outputSchema, titleOf } from './tool-schemas.ts'

const tools = Object.values(toolsets).flatMap(toolset => toolset.tools)
const toolNamed = (name: string): Tool => tools.find(tool => tool.name === name) as Tool
const shown = (schema: DisplaySchema): unknown => schema['~standard'].jsonSchema.output({ target: 'draft-2020-12' })

describe('the schemas that clients see', () => {
  it.each(tools)('[MC1] $name: objects, without the URL of a dialect', tool => {
    for (const schema of [inputSchema(tool), outputSchema(tool)]) {
      expect(shown(schema)).toMatchObject({ type: 'object' })
      expect(JSON.stringify(shown(schema))).not.toMatch(/\$schema/)
    }
  })

  it('[MC1] an answer has the types of its fields, and a reviewed one those of a review', () => {
    const onward = {
      next: { type: ['string', 'null'] },
      remaining: { type: 'integer' },
      disputes: { type: 'array' },
      review: { type: 'object' },
    }
    expect(shown(outputSchema(toolNamed('tasks')))).toEqual({
      type: 'object',
      properties: { tasks: { type: 'array' }, failing: { type: 'array' }, ...onward },
    })
    expect(shown(outputSchema(toolNamed('plan')))).toEqual({
      type: 'object',
      properties: {
        ids: { type: 'array' },
        ...onward,
        confirmed: { type: 'boolean' },
        reason: { type: 'string' },
        comment: { type: 'string' },
        changes: {},
        status: { type: 'string' },
        review_id: { type: 'string' },
        url: { type: 'string' },
        message: { type: 'string' },
      },
    })
  })

  it('[MC1] are made once per tool', () => {
    for (const tool of tools) expect(inputSchema(tool)).toBe(inputSchema(tool))
    for (const tool of tools) expect(outputSchema(tool)).toBe(outputSchema(tool))
  })
})

it.each([
  ['plan', 'Plan'],
  ['await_review', 'Await review'],
  ['add_multiple_checklist_items', 'Add multiple checklist items'],
  ['CompleteTask', 'Complete task'],
])('[MC1] the title of %s is %j', (name, title) => {
  expect(titleOf({ name })).toBe(title)
})

describe('the hints of a tool', () => {
  it.each([
    ['tasks', { readOnlyHint: true, openWorldHint: false }],
    ['plan', { destructiveHint: false, openWorldHint: false }],
    ['update', { destructiveHint: false, idempotentHint: true, openWorldHint: false }],
    ['delete_task', { openWorldHint: false }],
  ])("[MC1] %s: what differs from the protocol's defaults", (name, hints) => {
    expect(annotationsOf(toolNamed(name))).toEqual(hints)
  })
})
