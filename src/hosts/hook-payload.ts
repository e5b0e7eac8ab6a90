import { GATE_MARK } from '../core/views/digest.ts'
import { hostId, type HookHost } from './hosts.ts'
import type { HookCall, HookEvent } from './hook-event.ts'

/** A host's event data: sent by the host, or passed by its settings as arguments of the `hook` tool. */
export type Payload = Readonly<Record<string, unknown>>

interface HostForm {
  readonly events: Readonly<Record<string, HookEvent['kind']>>
  readonly session: string
  readonly turn?: string
  readonly keepsDigest?: true
  /** Prefix of our own tools in this host: their results are already in the log. */
  readonly ours: string
  readonly call: (payload: Payload, event: string) => HookCall
}

/** Other hosts follow Claude Code's form. */
const CLAUDE: HostForm = {
  events: {
    SessionStart: 'start',
    UserPromptSubmit: 'prompt',
    PostToolUse: 'tool',
    PostToolUseFailure: 'tool',
    Stop: 'stop',
  },
  session: 'session_id',
  turn: 'prompt_id',
  ours: 'mcp__runsheet__',
  call: (payload, event) => ({
    tool: textOf(payload['tool_name']),
    arguments: payload['tool_input'] ?? {},
    answer: payload['tool_response'] ?? payload['error'] ?? null,
    ok: event !== 'PostToolUseFailure' && !isError(payload['tool_response']),
  }),
}

const FORMS: Readonly<Partial<Record<HookHost, HostForm>>> = {
  // Codex does not report a command's exit status.
  codex: { ...CLAUDE, turn: 'turn_id' },
  qwen: { ...CLAUDE, call: (payload, event) => shown(CLAUDE.call(payload, event)) },
  gemini: {
    ...CLAUDE,
    events: { SessionStart: 'start', BeforeAgent: 'prompt', AfterTool: 'tool', AfterAgent: 'stop' },
    ours: 'mcp_runsheet_',
    call: (payload, event) => unmarked(shown(CLAUDE.call(payload, event))),
  },
  opencode: {
    events: {
      'session.created': 'start',
      'chat.message': 'prompt',
      'tool.execute.after': 'tool',
      'session.idle': 'stop',
    },
    session: 'sessionID',
    keepsDigest: true,
    ours: 'runsheet_',
    call: ({ tool, args, output, content, metadata }) => ({
      tool: textOf(tool),
      arguments: args ?? {},
      answer: output ?? content ?? null,
      ok: (recordOf(metadata)['exit'] ?? 0) === 0,
    }),
  },
}

export function eventOf(host: HookHost, name: string, payload: Payload): HookEvent | undefined {
  const form = FORMS[host] ?? CLAUDE
  const kind = Object.hasOwn(form.events, name) ? form.events[name] : undefined
  const session = hostId(payload[form.session])
  if (kind === undefined || session === undefined) return undefined
  const turn = form.turn === undefined ? undefined : hostId(payload[form.turn])
  const about = { session, ...(turn === undefined ? {} : { turn }) }
  if (kind === 'prompt') {
    const prompted = { kind, ...about, ...(form.keepsDigest ? { keepsDigest: true as const } : {}) }
    return isPersons(payload['prompt'] ?? firstOf(payload['parts'])) ? prompted : undefined
  }
  // A subagent works for the agent that holds the plan: it may stop, but its tool results still count as evidence.
  if (kind === 'stop' && (textOf(payload['agent_id']) !== '' || hasNoAnswer(payload))) return undefined
  if (kind !== 'tool') return { kind, ...about }
  const call = form.call(payload, name)
  return call.tool === '' || call.tool.startsWith(form.ours) ? undefined : { kind, ...about, call }
}

/** Not prompts from a person: Qwen Code reports an empty prompt after a tool, Gemini CLI our own gate's text. */
const isPersons = (prompt: unknown): boolean =>
  typeof prompt !== 'string' || (prompt.trim() !== '' && !prompt.trimStart().startsWith(GATE_MARK))

/** Gemini CLI's text for an agent that a person stopped before its first output. It retries empty answers itself. */
const hasNoAnswer = ({ prompt_response }: Payload): boolean => prompt_response === '[no response text]'

/** Some answers have one form for display and one for the model; keep the model's. */
const shown = (call: HookCall): HookCall => {
  const { llmContent, error } = recordOf(call.answer)
  const ok = call.ok && (error === undefined || error === null)
  return llmContent === undefined ? { ...call, ok } : { ...call, answer: llmContent, ok }
}

/** Gemini CLI wraps tool output in markers and reports an exit code only in that text, and only for failures. */
function unmarked(call: HookCall): HookCall {
  if (typeof call.answer !== 'string') return call
  const answer = call.answer.replaceAll(/^<untrusted_context>\n|\n<\/untrusted_context>$/g, '')
  if (call.tool !== 'run_shell_command') return { ...call, answer }
  const [, code = '0'] = [...answer.matchAll(/^Exit Code: (-?\d+)$/gm)].at(-1) ?? []
  return { ...call, answer, ok: call.ok && code === '0' }
}

const isError = (response: unknown): boolean => {
  const { isError: failed, is_error } = recordOf(response)
  return failed === true || is_error === true
}

const firstOf = (raw: unknown): unknown => (Array.isArray(raw) ? (raw as readonly unknown[])[0] : undefined)
const recordOf = (raw: unknown): Payload => (typeof raw === 'object' && raw !== null ? (raw as Payload) : {})
const textOf = (raw: unknown): string => (typeof raw === 'string' ? raw : '')

const FIELDS: Readonly<Record<string, readonly string[]>> = {
  session: ['session_id'],
  turn: ['prompt_id', 'turn_id'],
  tool: ['tool_name'],
  call: ['tool_use_id'],
  input: ['tool_input'],
  response: ['tool_response'],
  source: ['source'],
  error: ['error'],
  prompt: ['prompt'],
  agent: ['agent_id'],
}

export function eventOfTool(
  host: HookHost,
  input: unknown,
): { readonly name: string; readonly event: HookEvent } | undefined {
  const args = typeof input === 'object' && input !== null ? (input as Payload) : {}
  const { event: name } = args
  if (typeof name !== 'string') return undefined
  const fields = Object.entries(FIELDS).flatMap(([name, into]) => {
    const value = args[name]
    // Claude Code sends "" for a missing field.
    return value === undefined || value === '' ? [] : into.map(field => [field, unwrapped(name, value)] as const)
  })
  const event = eventOf(host, name, Object.fromEntries(fields))
  return event && { name, event }
}

/** Claude Code sends objects as JSON strings. */
function unwrapped(name: string, value: unknown): unknown {
  if ((name !== 'input' && name !== 'response') || typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}
