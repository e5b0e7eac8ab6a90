import { isDeepStrictEqual } from 'node:util'
import * as fc from 'fast-check'
import type { Arbitrary } from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { listed, type Conversation } from '../../core/model/conversation.ts'
import type { Json } from '../../core/model/event.ts'
import { openDoor } from '../door/door.ts'
import { openMemoryStore } from '../../store/memory.ts'
import { inLongRun } from '../../../test/support/children.ts'
import { uuid } from '../../../test/support/desk.ts'
import { fault, held } from '../../../test/support/faults.ts'
import { jsonSchemaOf } from './guidance.ts'
import { toolsets } from './index.ts'
import { beginCall } from './calls.ts'
import type { Tool, Toolset } from './toolset.ts'

const VALUES = inLongRun(10_000, 500)
const AT_ONCE = 50
/** Few values are always the same ones: how many of them are accepted would be left to chance. */
const SEED = inLongRun({}, { seed: 7 })

let drawn = 0
let tenants = 0
const door = openDoor({ store: openMemoryStore(), newId: () => uuid((drawn += 1)) })
afterAll(() => door.close())

const all = Object.values(toolsets).flatMap(toolset =>
  toolset.tools.map(tool => ({ name: `${toolset.name}: ${tool.name}`, toolset, tool })),
)

describe.each(all)('$name', ({ toolset, tool }) => {
  fault('values of any kind as input of every tool')
  it(`[TS8] answers ${VALUES} values of any kind, and a refusal writes nothing`, async () => {
    const seen = { ok: 0, refused: 0, pending_review: 0 }
    const property = fc.asyncProperty(
      fc.boolean(),
      fc.array(value(tool), { minLength: AT_ONCE, maxLength: AT_ONCE, size: 'max' }),
      async (review, inputs) => {
        const place = await furnished(toolset, review)
        for (const [index, input] of inputs.entries()) {
          if (index % 10 === 9) await place.personEdits(index)
          seen[await place.checked(tool, input)] += 1
        }
      },
    )
    await fc.assert(property, { numRuns: VALUES / AT_ONCE, ...SEED })
    // Both outcomes must occur, or the fuzz tests only half.
    expect(seen.ok + seen.pending_review).toBeGreaterThan(VALUES / 100)
    expect(seen.refused).toBeGreaterThan(VALUES / 100)
    held(VALUES, { refused: seen.refused })
  })
})

/** A new conversation with tasks of two turns and ids that count from 1. */
async function furnished(toolset: Toolset, review: boolean) {
  drawn = 0
  tenants += 1
  const ref = { tenant: `tenant-${tenants}`, conversation: 'c1' }
  const context = { door, ...ref, turn: 't1', host: { review } }
  const read = (): Promise<Conversation> => door.read(ref)
  const person = { type: 'edit_tasks', by: 'person' } as const
  const open = (turn_id: string) => ({ type: 'open_turn', turn_id, toolset: toolset.name, host: { review } }) as const
  const make = (...titles: string[]) => ({ ...person, create: titles.map(title => ({ id: door.newId(), title })) })
  await door.run(ref, open('t2'), make('Other'), open('t1'), make('Look', 'Leap', 'Look'))

  return {
    async personEdits(index: number): Promise<void> {
      const [task] = listed(await read()).slice(index % 7)
      if (task) await door.run(ref, { ...person, change: [{ task: task.id, fields: { title: `T${index}` } }] })
    },

    /** Calls the tool and checks its answer against what was written. */
    async checked(tool: Tool, input: unknown): Promise<'ok' | 'refused' | 'pending_review'> {
      const before = await read()
      const taken = await beginCall(toolset, tool.name, input, context)
      const after = await read()
      if (taken.status === 'pending_review') {
        // A repeated call may join a review that a newer plan has superseded, and hear so.
        expect([...after.pending_reviews, ...after.unheard_reviews]).toContain(taken.review_id)
        expect(after.tasks).toBe(before.tasks)
        return 'pending_review'
      }
      if (taken.status !== 'answered') throw new Error('there is no assessor and no check here')
      expect(isJson(taken.result)).toBe(true)
      // Answers match their declared schema exactly.
      if (taken.ok) tool.output.strict().parse(taken.result)
      if (taken.ok && !tool.reads) return 'ok'
      expect(after.tasks).toBe(before.tasks)
      const events = await door.conversations.eventsAfter(ref, before.seq, 10)
      const answers = taken.ok || JSON.stringify(taken.result).includes('A person changed task') ? 1 : 0
      // A call that may wait for a review is logged, too.
      const types = events.map(({ type }) => type).filter(type => answers === 0 || type !== 'tool_called')
      expect(types).toEqual(['tool_answered'].slice(0, answers))
      return taken.ok ? 'ok' : 'refused'
    },
  }
}

const isJson = (result: Json): boolean => isDeepStrictEqual(JSON.parse(JSON.stringify(result)), result)

/** Any value, or something close to valid input. */
const value = (tool: Tool): Arbitrary<unknown> => fc.oneof(ANYTHING, near(jsonSchemaOf(tool)), near(jsonSchemaOf(tool)))

interface Schema {
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly enum?: readonly string[]
}

/** Mostly valid input; sometimes, at any depth, something else. */
function near(schema: Schema): Arbitrary<unknown> {
  return fc.oneof({ arbitrary: fitting(schema), weight: 24 }, { arbitrary: ANYTHING, weight: 1 })
}

function fitting(schema: Schema): Arbitrary<unknown> {
  if (schema.enum) return fc.constantFrom(...schema.enum)
  if (Array.isArray(schema.type)) return fc.oneof(...schema.type.map(type => fitting({ type })))
  switch (schema.type) {
    case 'object': {
      const properties = Object.entries(schema.properties ?? {}).map(([key, part]) => [key, near(part)] as const)
      return fc.record(Object.fromEntries(properties), { requiredKeys: [...(schema.required ?? [])] })
    }
    case 'array':
      return fc.oneof(
        { arbitrary: fc.array(near(schema.items ?? {}), { maxLength: 3 }), weight: 30 },
        { arbitrary: fc.array(near(schema.items ?? {}), { minLength: 20, maxLength: 22 }), weight: 1 },
      )
    case 'string':
      return STRINGS
    case 'integer':
    case 'number':
      return fc.oneof(fc.integer({ min: 1, max: 6 }), fc.constantFrom(0, -1, 7, 99, 200, 201, 2 ** 53 - 1, 1.5))
    case 'boolean':
      return fc.boolean()
    default:
      return ANYTHING
  }
}

const STRINGS = fc.oneof(
  { arbitrary: fc.constantFrom('Look', 'Leap', '1', '2', '3', '4'), weight: 6 },
  { arbitrary: fc.integer({ min: 1, max: 6 }).map(uuid), weight: 8 },
  { arbitrary: fc.string({ unit: 'binary', maxLength: 6 }), weight: 2 },
  {
    arbitrary: fc.constantFrom('', ' ', '\u0000', '\ud83d', '__proto__', 'x'.repeat(401), 'y'.repeat(8_001)),
    weight: 1,
  },
)

const ANYTHING: Arbitrary<unknown> = fc.oneof(
  fc.jsonValue({ maxDepth: 2, stringUnit: 'binary' }),
  fc.constantFrom<unknown[]>(
    undefined,
    null,
    '',
    [],
    {},
    -0,
    1e300,
    '{"items":[]}',
    JSON.parse('{"__proto__":{"add":["x"]}}'),
  ),
)
