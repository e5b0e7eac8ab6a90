import { GATE_MARK } from '../domain/host-marks.ts'
import type { HookCall, HookEvent, HookHost } from './event.ts'
import { hostId } from './host-id.ts'

/** What a host sends, or what its settings put into the arguments of the tool `hook`. */
export type Payload = Readonly<Record<string, unknown>>

interface HostForm {
  /** By the host's name of the event. */
  readonly events: Readonly<Record<string, HookEvent['kind']>>
  readonly session: string
  /** The field with the turn's id. */
  readonly turn?: string
  readonly keepsDigest?: true
  /** How its names of our own tools begin: their answers are in the log already. */
  readonly ours: string
  readonly call: (payload: Payload, event: string) => HookCall
}

/** Claude Code's, which others follow. */
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

const FORMS: Readonly<Record<HookHost, HostForm>> = {
  'claude-code': CLAUDE,
  // It does not say how a command ended.
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

/** The event of a payload; undefined if it is none of ours, or does not say which session it is about. */
export function eventOf(host: HookHost, name: string, payload: Payload): HookEvent | undefined {
  const form = FORMS[host]
  const kind = Object.hasOwn(form.events, name) ? form.events[name] : undefined
  const session = hostId(payload[form.session])
  if (kind === undefined || session === undefined) return undefined
  const turn = form.turn === undefined ? undefined : hostId(payload[form.turn])
  const about = { session, ...(turn === undefined ? {} : { turn }) }
  if (kind === 'prompt') {
    const prompted = { kind, ...about, ...(form.keepsDigest ? { keepsDigest: true as const } : {}) }
    return isPersons(payload['prompt'] ?? firstOf(payload['parts'])) ? prompted : undefined
  }
  // A subagent works for the agent that has the plan: it may stop, and what its tools answered still tells.
  if (kind === 'stop' && (textOf(payload['agent_id']) !== '' || hasNoAnswer(payload))) return undefined
  if (kind !== 'tool') return { kind, ...about }
  const call = form.call(payload, name)
  return call.tool === '' || call.tool.startsWith(form.ours) ? undefined : { kind, ...about, call }
}

/** Qwen Code also reports what goes on after a tool, as an empty prompt; Gemini CLI the text of our own gate. */
const isPersons = (prompt: unknown): boolean =>
  typeof prompt !== 'string' || (prompt.trim() !== '' && !prompt.trimStart().startsWith(GATE_MARK))

/** Gemini CLI's words for an agent that a person stopped before it said anything; one that is empty it asks again itself. */
const hasNoAnswer = ({ prompt_response }: Payload): boolean => prompt_response === '[no response text]'

/** Of the two forms of an answer, the one for the model. */
const shown = (call: HookCall): HookCall => {
  const { llmContent, error } = recordOf(call.answer)
  const ok = call.ok && (error === undefined || error === null)
  return llmContent === undefined ? { ...call, ok } : { ...call, answer: llmContent, ok }
}

/** Gemini CLI puts marks around a text, and reports how a command ended there only, and only if it failed. */
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
