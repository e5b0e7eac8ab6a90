import type { ServerContext } from '@modelcontextprotocol/server'
import { Driver, outside, underReview } from '../../../test/support/domain.ts'
import { describe, expect, it } from 'vitest'
import {
  bindingOf,
  clientConversation,
  headerProblem,
  isToolsetName,
  signatureOf,
  signedInput,
  turnFor,
  type Binding,
  type ConversationNames,
} from './binding.ts'

const bound = (
  meta: Record<string, unknown>,
  headers: Record<string, string> = {},
  names: Partial<ConversationNames> = {},
): Binding => {
  const req = new Request('http://localhost/mcp', { headers })
  return bindingOf({ mcpReq: { _meta: meta }, http: { req } } as ServerContext, { own: () => 'its-own', ...names })
}

const CODEX = { client: 'codex-mcp-client' }
const CLAUDE = { client: 'claude-code', environment: { CLAUDE_CODE_SESSION_ID: 'claude-session' } }
/** As Codex 0.166 sends it. */
const CODEX_META = {
  callId: 'call_1',
  sessionId: 'codex-session',
  'x-codex-turn-metadata': { session_id: 'codex-session', turn_id: 'codex-turn', turn_trigger: 'user' },
}

describe('where a request belongs', () => {
  it('[MC3] comes from _meta, then headers, then the connection', () => {
    const headers = { 'runsheet-session': 'by-header', 'runsheet-turn': 'turn-by-header' }
    const meta = { 'runsheet/session_id': 'by-meta', 'runsheet/turn_id': 'turn-by-meta' }
    const places = [bound(meta, headers), bound({}, headers), bound({})]
    expect(places.map(({ conversation, turn }) => [conversation, turn])).toEqual([
      ['by-meta', 'turn-by-meta'],
      ['by-header', 'turn-by-header'],
      ['its-own', undefined],
    ])
  })

  it("the order: Codex's session, the plugin's, the last one of a hook, Claude Code's variable", () => {
    const signed = { session: 'by-plugin', call: 'call_9' }
    const hooked = { session: 'by-hook', turn: 'prompt-1' }
    const conversations = [
      bound(CODEX_META, {}, { ...CODEX, signed, hooked }),
      bound({}, {}, { ...CLAUDE, signed, hooked }),
      bound({}, {}, { ...CLAUDE, hooked }),
      bound({}, {}, CLAUDE),
    ].map(({ conversation }) => conversation)
    expect(conversations).toEqual(['codex-session', 'by-plugin', 'by-hook', 'claude-session'])
    expect(bound({}, {}, { session: 'by-option', hooked }).conversation).toBe('by-option')
  })

  it("the turn: Codex's, else the prompt that a hook last named; the call of a plugin is the host's", () => {
    const hooked = { session: 'by-hook', turn: 'prompt-1' }
    expect(bound(CODEX_META, {}, { ...CODEX, hooked }).turn).toBe('codex-turn')
    expect(bound({}, {}, { ...CLAUDE, hooked }).turn).toBe('prompt-1')
    const plugin = bound({}, {}, { signed: { session: 'by-plugin', call: 'call_9' } })
    expect(plugin).toMatchObject({ toolCallId: 'call_9', isHostCallId: true, turn: undefined })
  })

  it('[MC3] the order: _meta, header, --session, Codex, Claude Code, its own', () => {
    const headers = { 'runsheet-session': 'by-header' }
    const all = { session: 'by-option', ...CODEX, environment: CLAUDE.environment }
    const conversations = [
      bound({ ...CODEX_META, 'runsheet/session_id': 'by-meta' }, headers, all),
      bound(CODEX_META, headers, all),
      bound(CODEX_META, {}, all),
      bound(CODEX_META, {}, { ...CODEX, environment: CLAUDE.environment }),
      bound({}, {}, CLAUDE),
      bound({}, {}, { client: 'claude-code', environment: {} }),
    ].map(({ conversation }) => conversation)
    expect(conversations).toEqual(['by-meta', 'by-header', 'by-option', 'codex-session', 'claude-session', 'its-own'])
  })

  it('[MC3] a known host does not take the session of the host from whose shell it was started', () => {
    for (const client of ['opencode', 'gemini-cli-mcp-client', 'qwen-cli-mcp-client-runsheet', 'codex-mcp-client'])
      expect(bound({}, {}, { ...CLAUDE, client }).conversation).toBe('its-own')
    expect(bound({}, {}, { ...CLAUDE, client: 'an SDK of theirs' }).conversation).toBe('claude-session')
  })

  it("[MC3] sessionId and callId are Codex's only", () => {
    const { 'x-codex-turn-metadata': _, ...anyones } = CODEX_META
    expect(bound(anyones, {}, { client: 'a host' })).toMatchObject({ conversation: 'its-own', toolCallId: undefined })
  })

  it('the id of a host that is not one for us is hashed: the same each time, and valid', () => {
    const conversation = (sessionId: unknown): string => bound({ sessionId }, {}, CODEX).conversation
    expect(conversation('a/b c')).toMatch(/^host-[0-9a-f]{32}$/)
    expect(conversation('a/b c')).toBe(conversation('a/b c'))
    expect(conversation('x'.repeat(129))).not.toBe(conversation('x'.repeat(130)))
    expect([conversation(''), conversation(7), conversation(null)]).toEqual(['its-own', 'its-own', 'its-own'])
  })

  it("[MC6] the turn is Codex's, and the call's id is the host's, unless they are named", () => {
    expect(bound(CODEX_META, {}, CODEX)).toMatchObject({ turn: 'codex-turn', toolCallId: 'call_1', isHostCallId: true })
    expect(bound({ 'claudecode/toolUseId': 'toolu_1' }, {}, CLAUDE)).toMatchObject({
      turn: undefined,
      toolCallId: 'toolu_1',
      isHostCallId: true,
    })
    const named = { ...CODEX_META, 'runsheet/turn_id': 't1', 'runsheet/tool_call_id': 'k1' }
    expect(bound(named, {}, CODEX)).toMatchObject({ turn: 't1', toolCallId: 'k1', isHostCallId: false })
  })

  it('carries the ids of its call and messages', () => {
    const meta = {
      'runsheet/tool_call_id': 'call-7',
      'runsheet/source_user_message_id': 'u1',
      'runsheet/source_assistant_message_id': 'a1',
    }
    expect(bound(meta)).toMatchObject({
      toolCallId: 'call-7',
      sources: { source_user_message_id: 'u1', source_assistant_message_id: 'a1' },
    })
  })

  it.each(['', 5, null, 'x'.repeat(1_000)])('[MC3] refuses an invalid name in _meta: %j', name => {
    expect(() => bound({ 'runsheet/session_id': name })).toThrow(/_meta runsheet\/session_id/)
  })
})

describe('the turn of a call whose host has none', () => {
  const creates = true

  it('[MC6] is a new one in a new conversation', () => {
    expect(turnFor(new Driver().state, creates)).toBe('plan_1')
  })

  it('[MC6] is the open one while its plan has open tasks, or has none yet', () => {
    const chat = outside()
    expect(turnFor(chat.state, creates)).toBe('turn-1')
    chat.run(chat.adds('model', 'A'))
    expect(turnFor(chat.state, creates)).toBe('turn-1')
  })

  it('[MC6] is a new one for a plan that is created once the last one is settled', () => {
    const chat = outside()
    chat.run(chat.adds('model', 'A'))
    chat.run(chat.sets('model', 1, { status: 'completed', outcome: 'Seen' }))
    expect(turnFor(chat.state, creates)).toBe('plan_2')
    expect(turnFor(chat.state, !creates)).toBe('turn-1')
  })

  it('[MC6] is the same while its review waits', () => {
    const chat = outside('runsheet', { review: true })
    chat.run(chat.adds('model', 'A'))
    expect(turnFor(chat.state, creates)).toBe('turn-1')
  })

  it('[MC6] is a new one for a plan that is created after a stop, and not for other calls', () => {
    const chat = outside()
    chat.run(chat.adds('model', 'A'))
    chat.run({ type: 'stop_turn', turn_id: 'turn-1' })
    expect(turnFor(chat.state, creates)).toBe('plan_2')
    expect(turnFor(chat.state, !creates)).toBe('turn-1')
  })

  it('[MC6] never takes the turn of a run of ours', () => {
    expect(turnFor(underReview('A').state, !creates)).toBe('plan_2')
  })

  it('[MC6] has a unique name', () => {
    const chat = new Driver()
    chat.run({ type: 'open_turn', turn_id: 'plan_2', toolset: 'runsheet', host: { review: false } })
    chat.run(chat.adds('model', 'A'))
    chat.run(chat.sets('model', 1, { status: 'completed', outcome: 'Seen' }))
    expect(turnFor(chat.state, creates)).toBe('plan_3')
  })
})

const SECRET = 'a secret of the data folder'
const secret = (): string => SECRET
const signed = (id: string, call: string, mac = signatureOf(SECRET, id, call)): unknown => ({
  title: 'A',
  runsheet_session: { id, call, mac },
})

describe("the signature of OpenCode's plugin", () => {
  it('names the chat and the call, and is taken out before the arguments are validated', () => {
    expect(signedInput(signed('ses_1', 'call_1'), secret)).toEqual({
      input: { title: 'A' },
      signed: { session: 'ses_1', call: 'call_1' },
    })
    expect(signedInput({ title: 'A' }, secret)).toEqual({ input: { title: 'A' }, signed: undefined })
  })

  it.each([
    ['of another chat', signed('ses_2', 'call_1', signatureOf(SECRET, 'ses_1', 'call_1'))],
    ['of another call', signed('ses_1', 'call_2', signatureOf(SECRET, 'ses_1', 'call_1'))],
    ['with another secret', signed('ses_1', 'call_1', signatureOf('other', 'ses_1', 'call_1'))],
    ['without one', { runsheet_session: { id: 'ses_1', call: 'call_1' } }],
    ['as a text', { runsheet_session: 'ses_1' }],
    ['with a shorter one', signed('ses_1', 'call_1', 'ab')],
  ])('%s is invalid', (_, raw) => {
    expect(signedInput(raw, secret).signed).toBe('invalid')
  })

  it('is invalid where there is no secret', () => {
    expect(signedInput(signed('ses_1', 'call_1'), () => undefined).signed).toBe('invalid')
  })
})

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
