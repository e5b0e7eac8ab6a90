import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { answerFor, type HookEvent } from '../../src/hosts/hook-event.ts'
import { eventOf, eventOfTool, type Payload } from '../../src/hosts/hook-payload.ts'
import { HOOK_HOSTS, type HookHost } from '../../src/hosts/hosts.ts'

// What the real hosts sent on 2026-11-16: Claude Code 2.1.325, Codex 0.166.0, Gemini CLI 0.61.0, OpenCode 1.18.33 and Qwen
// Code 0.24.4, with the ids and paths of that machine replaced.
const read = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`payloads/${name}.json`, import.meta.url), 'utf8'))

const nameOf = (payload: Payload): string => payload['hook_event_name'] as string

/** The events of a host as we read them, in order. */
const eventsOf = (host: HookHost): (HookEvent | undefined)[] =>
  (read(host) as Payload[]).map(payload => eventOf(host, nameOf(payload), payload))

const KINDS: Readonly<Record<HookHost, readonly (string | undefined)[]>> = {
  'claude-code': ['start', 'prompt', undefined, 'tool', 'tool', undefined, 'stop', 'stop', undefined],
  codex: ['start', 'prompt', undefined, 'tool', 'tool', undefined, 'stop', 'stop', undefined],
  gemini: ['start', 'prompt', undefined, 'tool', 'tool', undefined, 'stop', undefined, undefined],
  qwen: ['start', 'prompt', undefined, undefined, 'tool', 'tool', undefined, 'stop', undefined, 'stop'],
  opencode: ['start', 'prompt', undefined, 'tool', 'tool', undefined, 'stop', undefined],
}

describe.each(HOOK_HOSTS)('recorded payloads of %s', host => {
  it('are read as starts, prompts, tools and stops; our own tools, follow-ups and other events as nothing', () => {
    expect(eventsOf(host).map(event => event?.kind)).toEqual(KINDS[host])
  })

  it('name the session, and the turn where the host has one', () => {
    const known = eventsOf(host).filter(event => event !== undefined)
    expect(new Set(known.map(({ session }) => session))).toEqual(new Set(['5e55104e-0000-4000-8000-000000000001']))
    const turns = new Set(known.filter(({ kind }) => kind !== 'start').map(({ turn }) => turn))
    const turn = {
      'claude-code': '70a40000-0000-4000-8000-000000000001',
      codex: '70a40000-0000-4000-8000-000000000001',
      qwen: expect.stringMatching(/^host-[0-9a-f]{32}$/) as unknown,
      gemini: undefined,
      opencode: undefined,
    }[host]
    expect([...turns]).toEqual([turn])
  })

  it('carry tool, arguments and answer, and whether it succeeded as far as the host says', () => {
    const calls = eventsOf(host).flatMap(event => (event?.kind === 'tool' ? [event.call] : []))
    expect(calls).toMatchObject([{ arguments: { command: 'echo evidence-42' }, ok: true }, {}])
    expect(JSON.stringify(calls[0]?.answer)).toContain('evidence-42')
    expect(JSON.stringify(calls)).not.toContain('untrusted_context')
    expect(calls[1]).toMatchObject({ arguments: { command: 'cat no-such-file' }, ok: host === 'codex' })
    expect(JSON.stringify(calls[1]?.answer)).toContain('No such file or directory')
  })
})

/** Sessions that go on: recorded with `--resume` and `/compact`, or, for compaction in Codex and Qwen Code, as documented. */
interface LaterStart {
  readonly host: HookHost
  readonly payload: Payload
}
const { recorded, documented } = read('starts') as Readonly<Record<'recorded' | 'documented', readonly LaterStart[]>>

describe('starts of a session that goes on', () => {
  it.each([
    ...recorded.map(each => ({ ...each, how: 'recorded' })),
    ...documented.map(each => ({ ...each, how: 'documented' })),
  ])('$host, $payload.source ($how): a start of the same session', ({ host, payload }) => {
    expect(eventOf(host, nameOf(payload), payload)).toMatchObject({
      kind: 'start',
      session: '5e55104e-0000-4000-8000-000000000001',
    })
  })

  it('every host that resumes or compacts says so', () => {
    const sources = [...recorded, ...documented].map(({ host, payload }) => `${host} ${String(payload['source'])}`)
    expect(sources.toSorted()).toEqual([
      'claude-code compact',
      'claude-code resume',
      'codex compact',
      'codex resume',
      'gemini resume',
      'qwen compact',
      'qwen resume',
    ])
  })
})

describe.each(['claude-code', 'codex'] as const)('recorded arguments of the tool `hook` from %s', host => {
  const inputs = (read('mcp-tool') as Record<string, Payload[]>)[host] ?? []

  it('are read as the same events', () => {
    const events = inputs.map(input => eventOfTool(host, input))
    const tools = events.flatMap(each => (each?.event.kind === 'tool' ? [each.event.call] : []))
    expect(tools).toMatchObject([
      { tool: 'Bash', arguments: { command: 'echo evidence-42' }, ok: true },
      { tool: 'Bash', arguments: { command: 'cat no-such-file' }, ok: host === 'codex' },
    ])
    expect(events.map(each => each?.name)).toContain('UserPromptSubmit')
    expect(events.at(-1)).toMatchObject({ name: 'Stop', event: { kind: 'stop', turn: expect.any(String) as unknown } })
  })
})

describe('events that are not ours', () => {
  it('a subagent may stop', () => {
    expect(eventOf('claude-code', 'Stop', { session_id: 's', agent_id: 'a' })).toBeUndefined()
  })

  it('Gemini CLI stops without an answer when a person stopped it', () => {
    const stop = { session_id: 's', prompt_response: '[no response text]', stop_hook_active: true }
    expect(eventOf('gemini', 'AfterAgent', stop)).toBeUndefined()
  })

  it('[HK8] anything else is nothing: no session, an unknown event, fields of another type', () => {
    expect(eventOf('gemini', 'AfterAgent', {})).toBeUndefined()
    expect(eventOf('gemini', 'toString', { session_id: 's' })).toBeUndefined()
    expect(eventOf('gemini', 'AfterTool', { session_id: 's', tool_name: 7 })).toBeUndefined()
    expect(eventOf('gemini', 'AfterTool', { session_id: { a: 1 }, tool_name: 'x' })).toBeUndefined()
    expect(eventOfTool('codex', 'no object')).toBeUndefined()
    expect(eventOfTool('codex', { event: 'Stop' })).toBeUndefined()
  })
})

describe('answers', () => {
  it('are in the form that each host reads', () => {
    for (const host of ['claude-code', 'codex', 'gemini', 'qwen'] as const) {
      expect(answerFor(host, 'Stop', { kind: 'silence' })).toEqual({})
      expect(answerFor(host, 'Stop', { kind: 'block', reason: 'r' })).toEqual({ decision: 'block', reason: 'r' })
      expect(answerFor(host, 'SessionStart', { kind: 'context', text: 't' })).toEqual({
        hookSpecificOutput: { hookEventName: 'SessionStart', additionalContext: 't' },
      })
    }
    expect(answerFor('opencode', 'session.idle', { kind: 'block', reason: 'r' })).toEqual({ reason: 'r' })
    expect(answerFor('opencode', 'session.created', { kind: 'context', text: 't' })).toEqual({ context: 't' })
  })
})
