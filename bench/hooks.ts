import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openDoor } from '../src/engine/door/door.ts'
import { openSqliteStore } from '../src/store/sqlite/store.ts'
import { hostOf, overStdio } from '../test/support/mcp.ts'
import { scratchFolder } from '../test/support/scratch.ts'

// How long a host waits for a hook: as a command, next to a bare Node in the same rounds, and as a tool of the MCP
// process. Also how long a prompt or a status bar waits for its line.

const ROUNDS = Number(process.argv[2] ?? 60)
const GOAL = { command: 60, tool: 10 } as const
const program = fileURLToPath(new URL('../dist/cli/runsheet.js', import.meta.url))
const folder = scratchFolder()
const data = join(folder, 'data')

/** The session id in the recorded payloads. */
const SESSION = '5e55104e-0000-4000-8000-000000000001'
const SHELL = 'echo evidence-42'

type Payload = Readonly<Record<string, unknown>>
interface Timed {
  readonly name: string
  readonly run: (round: number) => number
}

/** Events that each host runs a command for, and whether through a shell. */
const COMMANDS = {
  gemini: { inShell: true, events: ['SessionStart', 'BeforeAgent', 'AfterTool', 'AfterAgent'] },
  qwen: {
    inShell: true,
    events: ['SessionStart', 'UserPromptSubmit', 'PostToolUse', 'PostToolUseFailure', 'Stop'],
  },
  opencode: { inShell: false, events: ['chat.message', 'session.created', 'tool.execute.after', 'session.idle'] },
} as const
/** These run before the host has connected its MCP server: at most they leave the session in a file. */
const EARLY = ['qwen SessionStart', 'opencode chat.message'] as const
const TOOL_CALL = { tool: 'Bash', input: JSON.stringify({ command: SHELL }), response: '{"stdout":"evidence-42"}' }
const TOOLS = { SessionStart: {}, UserPromptSubmit: {}, PostToolUse: TOOL_CALL, Stop: {} } as const

const load = (): string => loadavg()[0]?.toFixed(2) ?? '?'
console.log(
  `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown'}, ${ROUNDS} rounds, load ${load()}. In ms.`,
)
console.log(
  'Counted for a command: from its start to its end, with the shell where the host uses one, Node, the answer and evidence that is handed over. The plan has 10 tasks, its log 150 calls.',
)
try {
  await withPlans()
  benchCommands(
    'Commands before the MCP process is connected',
    EARLY.map(name => ({ ...commandOf(name, 'a-new-session'), name: `${name}, new` })),
  )
  const host = await overStdio(data, hostOf({ era: '2026', name: 'claude-code' }), ['--hooks'])
  const names = Object.entries(COMMANDS).flatMap(([host, { events }]) => events.map(event => `${host} ${event}`))
  benchCommands('Commands beside the MCP process of the host', [...names.map(name => commandOf(name)), sentBack()])
  const line = [process.execPath, program, 'status', '--line', '--data', data]
  benchCommands('Status lines', [
    { name: 'status --line, of a session', run: () => timed(line, JSON.stringify({ session_id: SESSION })) },
    { name: 'status --line, newest', run: () => timed(line, '') },
  ])
  await benchTool(async (event, more) => {
    const { isError } = await host.call('hook', { event, session: SESSION, turn: 'p1', ...more })
    if (isError) throw new Error(`${event} failed`)
  })
  await host.client.close()
  console.log(`\nLoad at the end: ${load()}`)
} finally {
  rmSync(folder, { recursive: true, maxRetries: 5 })
}

async function withPlans(): Promise<void> {
  const door = openDoor({ store: await openSqliteStore({ path: join(data, 'runsheet.db') }) })
  const rounds = Array.from({ length: ROUNDS + 1 }, (_, index) => index - 1)
  for (const conversation of [SESSION, ...rounds.map(heldIn)]) {
    const create = Array.from({ length: 10 }, (_, n) => ({ id: door.newId(), title: `Step ${n + 1} of the report` }))
    await door.run(
      { tenant: 'local', conversation },
      { type: 'open_turn', turn_id: 'p1', toolset: 'runsheet', host: { review: false } },
      { type: 'edit_tasks', by: 'model', turn_id: 'p1', create },
    )
  }
  const ref = { tenant: 'local', conversation: SESSION }
  for (let n = 0; n < 150; n += 1) {
    const call = { tool: 'Bash', arguments: { command: 'npm test' }, answer: 'ok 3\n'.repeat(50), ok: true }
    await door.run(ref, { type: 'add_evidence', evidence_id: `evd_${n}`, source: 'host', ...call })
  }
  await door.close()
}

/** All hooks run in the same rounds as the bare Node, under the same conditions. */
function benchCommands(title: string, hooks: readonly Timed[]): void {
  const bare: Timed = { name: 'node -e 0', run: () => timed([process.execPath, '-e', '0'], '') }
  const all = [bare, ...hooks]
  const times = all.map((): number[] => [])
  for (let round = -1; round < ROUNDS; round += 1) {
    for (const [index, { run }] of all.entries()) {
      const ms = run(round)
      // Round -1 is a warm-up.
      if (round >= 0) times[index]?.push(ms)
    }
  }
  console.log(`\n${title} (load ${load()})`)
  const baseline = at(times[0] ?? [], 0.5)
  for (const [index, { name }] of all.entries()) print(name, times[index] ?? [], index === 0 ? undefined : baseline)
}

type HookHost = keyof typeof COMMANDS

/** `name` is the host and its event. */
function commandOf(name: string, session = SESSION): Timed {
  const [host, event = ''] = name.split(' ') as [HookHost, string?]
  const words = [process.execPath, program, 'hook', event, '--host', host, '--data', data]
  const command = COMMANDS[host].inShell ? ['sh', '-c', words.map(word => `'${word}'`).join(' ')] : words
  const payload = JSON.stringify(recorded(host, event)).replaceAll(SESSION, session)
  return { name, run: () => timed(command, payload) }
}

/** A stop that the gate blocks. Each round uses a new conversation, because the gate gives up after a few. */
function sentBack(): Timed {
  const command = [process.execPath, program, 'hook', 'session.idle', '--host', 'opencode', '--data', data]
  const payload = (round: number): string => JSON.stringify({ sessionID: heldIn(round), note: { since: 0 } })
  return { name: 'opencode session.idle, held', run: round => timed(command, payload(round)) }
}

/** A recorded payload of the host; for tool calls, that of its shell tool. */
function recorded(host: HookHost, event: string): Payload {
  const file = new URL(`../test/hooks/payloads/${host}.json`, import.meta.url)
  const all = JSON.parse(readFileSync(file, 'utf8')) as Payload[]
  const own = all.filter(({ hook_event_name: name }) => name === event)
  const found = own.find(payload => JSON.stringify(payload).includes(SHELL)) ?? own[0]
  if (!found) throw new Error(`${host} has no ${event}`)
  return found
}

async function benchTool(call: (event: string, more: object) => Promise<void>): Promise<void> {
  console.log(`\nThe tool \`hook\` of the MCP process, over stdio (load ${load()})`)
  for (const [event, more] of Object.entries(TOOLS)) {
    const times: number[] = []
    for (let round = 0; round < ROUNDS; round += 1) {
      const started = performance.now()
      await call(event, more)
      times.push(performance.now() - started)
    }
    print(event, times)
  }
}

function heldIn(round: number): string {
  return `held-${round + 1}`
}

function timed([command = '', ...args]: readonly string[], input: string): number {
  const started = performance.now()
  const { status } = spawnSync(command, args, { input, cwd: folder })
  if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}`)
  return performance.now() - started
}

/** Commands have a baseline; tools have none. */
function print(name: string, times: readonly number[], baseline?: number): void {
  const [p50, p95] = [at(times, 0.5), at(times, 0.95)]
  const goal = name.startsWith('node') ? undefined : baseline === undefined ? GOAL.tool : GOAL.command
  const ratio = baseline === undefined ? '' : `  ${(p50 / baseline).toFixed(2)} × bare`
  const met = goal === undefined ? '' : `  goal ${goal}: ${p95 < goal ? 'met' : 'NOT MET'}`
  console.log(`${name.padEnd(32)} p50 ${shown(p50)}  p95 ${shown(p95)}${ratio}${met}`)
}

function shown(ms: number): string {
  return ms.toFixed(1).padStart(6)
}

function at(times: readonly number[], share: number): number {
  const sorted = times.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}
