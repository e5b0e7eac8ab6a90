import { CLIENT_INFO_META_KEY } from '@modelcontextprotocol/server'
import { describe, expect, it } from 'vitest'
import { tasksUri } from './resource-updates.ts'
import { clientConversation } from './binding.ts'
import { headerProblem, isListenRequest, isToolsetName, subscribesElsewhere } from './request-checks.ts'

describe('the conversation of a client without a session', () => {
  it.each([
    ['Claude Code 2', 'mcp-Claude-Code-2'],
    ['../../x', 'mcp--x'],
    ['', 'mcp-client'],
    [undefined, 'mcp-client'],
    ['n'.repeat(200), `mcp-${'n'.repeat(64)}`],
  ])('[MC3] of %j is %s', (client, conversation) => {
    expect(clientConversation(client)).toBe(conversation)
  })
})

describe('the headers of a request', () => {
  it('may be missing, or name what exists', () => {
    const named = { 'runsheet-session': 'chat-1', 'runsheet-turn': 'turn_1', 'runsheet-toolset': 'checklist' }
    expect([{}, named].map(headers => headerProblem(new Headers(headers)))).toEqual([undefined, undefined])
  })

  it.each([
    [{ 'runsheet-session': 'no name' }, /1 to 128/],
    [{ 'runsheet-turn': '' }, /1 to 128/],
    [{ 'runsheet-toolset': 'constructor' }, /must be one of: .*checklist/],
  ])('%j is refused with what is allowed', (headers, words) => {
    expect(headerProblem(new Headers(headers))).toMatch(words)
  })

  it("[MC1] a toolset's name is an own key, not one of the prototype", () => {
    expect(['runsheet', 'toString', ''].map(isToolsetName)).toEqual([true, false, false])
  })
})

describe('a subscription', () => {
  const listen = (uris: unknown, _meta?: Record<string, unknown>): unknown => ({
    method: 'subscriptions/listen',
    params: { notifications: { resourceSubscriptions: uris }, ...(_meta ? { _meta } : {}) },
  })
  const elsewhere = (body: unknown, headers: Record<string, string> = {}): boolean =>
    subscribesElsewhere(new Headers(headers), body)

  it('[MC8] is a subscriptions/listen request', () => {
    expect([listen([]), { method: 'tools/list' }, undefined].map(isListenRequest)).toEqual([true, false, false])
  })

  it("to the list of the client's own conversation is allowed, however that is named", () => {
    const own = tasksUri('chat-1')
    expect(elsewhere(listen([own]), { 'runsheet-session': 'chat-1' })).toBe(false)
    expect(elsewhere(listen([own], { 'runsheet/session_id': 'chat-1' }), { 'runsheet-session': 'chat-2' })).toBe(false)
    const client = { [CLIENT_INFO_META_KEY]: { name: 'a host', version: '1' } }
    expect(elsewhere(listen([tasksUri('mcp-a-host')], client))).toBe(false)
  })

  it('to the list of another conversation is not allowed, not even beside its own', () => {
    const headers = { 'runsheet-session': 'chat-1' }
    expect(elsewhere(listen([tasksUri('chat-2')]), headers)).toBe(true)
    expect(elsewhere(listen([tasksUri('chat-1'), tasksUri('chat-2')]), headers)).toBe(true)
    expect(elsewhere(listen([tasksUri('chat-1')], { 'runsheet/session_id': 'chat-2' }), headers)).toBe(true)
  })

  it.each([5, null, '', 'no name'])('[MC3] an invalid conversation name, %j, is not its own', session => {
    expect(elsewhere(listen([tasksUri('chat-1')], { 'runsheet/session_id': session }))).toBe(true)
  })

  it('[MC3] to other resources is ignored', () => {
    expect(elsewhere(listen(['file:///x', 7]))).toBe(false)
    expect(elsewhere(listen('nothing'))).toBe(false)
    expect(elsewhere({ method: 'tools/list' })).toBe(false)
  })
})
