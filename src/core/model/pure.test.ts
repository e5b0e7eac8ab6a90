import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { inRun, outside, plain } from '../../../test/support/domain.ts'
import { decide } from '../decide/index.ts'

const folder = import.meta.dirname
const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
  name => name.endsWith('.ts') && !name.endsWith('.test.ts'),
)

describe('the domain', () => {
  it.each(sources)('[LA5] %s has no clock, no randomness, no I/O', name => {
    const source = readFileSync(join(folder, name), 'utf8')
    for (const reach of [
      /Date\.now/,
      /new Date\(\)/,
      /Math\.random/,
      /\bcrypto\b/,
      /\bprocess\./,
      /\bfetch\(/,
      /setTimeout/,
    ]) {
      expect(source).not.toMatch(reach)
    }
    const imported = [...source.matchAll(/from '([^']+)'/g)].map(([, from]) => from)
    for (const from of imported) expect(from).toMatch(/^\.\.?\//)
  })

  it('[LA5] the same state, command and moment decide the same, and the state stays as it was', () => {
    const chat = outside()
    chat.run(chat.adds('model', 'A', 'B', 'C'))
    const before = plain(chat.state)
    const command = chat.edits('model', {
      create: [{ id: chat.id(), title: 'D', order: 1 }],
      change: [{ task: 2, fields: { status: 'in_progress' } }],
      remove: [{ task: 3 }],
    })
    expect(decide(chat.state, command, chat.now)).toStrictEqual(decide(chat.state, command, chat.now))
    expect(plain(chat.state)).toStrictEqual(before)
  })

  it('[EV4] a refused command changes nothing, also where its first half was fine', () => {
    const chat = inRun()
    chat.run(chat.adds('model', 'A'))
    const before = plain(chat.state)
    const half = chat.edits('person', {
      create: [{ id: chat.id(), title: 'B' }],
      change: [
        { task: 1, fields: { title: 'A2' } },
        { task: 9, fields: {} },
      ],
    })
    expect(chat.refusal(half).code).toBe('task_not_found')
    expect(plain(chat.state)).toStrictEqual(before)
  })
})
