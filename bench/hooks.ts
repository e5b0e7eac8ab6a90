import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openDoor } from '../src/door/door.ts'
import { openSqliteStore } from '../src/store/sqlite/store.ts'
import { hostOf, overStdio } from '../test/support/mcp.ts'
import { scratchFolder } from '../test/support/scratch.ts'

// How long a host waits for a hook: as a command, beside a bare Node in the same run, and as a tool of the MCP process. And
// how long a prompt or a status bar waits for its line.

const ROUNDS = Number(process.argv[2] ?? 60)
const program = fileURLToPath(new URL('../dist/cli/runsheet.js', import.meta.url))
const folder = scratchFolder()
const data = join(folder, 'data')

/** One of each kind, as Gemini CLI and Claude Code send them. */
const CALL = { tool_name: 'Bash', tool_input: { command: 'npm test' }, tool_response: { stdout: 'ok 3\n'.repeat(50) } }
const COMMANDS = {
  SessionStart: {},
  BeforeAgent: { prompt: 'Go on.' },
  AfterTool: CALL,
  AfterAgent: {},
} as const
const TOOL_CALL = { tool: 'Bash', input: JSON.stringify(CALL.tool_input), response: JSON.stringify(CALL.tool_response) }
const TOOLS = { UserPromptSubmit: {}, PostToolUse: TOOL_CALL, Stop: {} } as const

console.log(
  `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown'}, ${ROUNDS} rounds. In ms.`,
)
try {
  await withPlan()
  // The host's MCP process has the database open meanwhile.
  const host = await overStdio(data, hostOf({ era: '2026', name: 'claude-code' }), ['--hooks'])
  benchCommands()
  await benchTool(async (event, more) => {
    const { isError } = await host.call('hook', { event, session: 'chat', turn: 'p1', ...more })
    if (isError) throw new Error(`${event} failed`)
  })
  await host.client.close()
} finally {
  rmSync(folder, { recursive: true, maxRetries: 5 })
}

async function withPlan(): Promise<void> {
  const door = openDoor({ store: await openSqliteStore({ path: join(data, 'runsheet.db') }) })
  const create = Array.from({ length: 10 }, (_, n) => ({ id: door.newId(), title: `Step ${n + 1} of the report` }))
  await door.run(
    { tenant: 'local', conversation: 'chat' },
    { type: 'open_turn', turn_id: 'p1', toolset: 'runsheet', host: { review: false } },
    { type: 'edit_tasks', by: 'model', turn_id: 'p1', create },
  )
  await door.close()
}

function benchCommands(): void {
  const bare = Array.from({ length: ROUNDS }, () => timed(['-e', '0'], ''))
  print('node -e 0', bare)
  for (const [event, more] of Object.entries(COMMANDS)) {
    const args = ['hook', event, '--host', 'gemini', '--data', data]
    benchCommand(`runsheet hook ${event}`, args, JSON.stringify({ session_id: 'chat', ...more }))
  }
  benchCommand('status --line, of a session', ['status', '--line', '--data', data], '{"session_id":"chat"}')
  benchCommand('status --line, newest', ['status', '--line', '--data', data], '')
}

function benchCommand(name: string, args: readonly string[], input: string): void {
  const words = [program, ...args]
  timed(words, input)
  print(
    name,
    Array.from({ length: ROUNDS }, () => timed(words, input)),
  )
}

async function benchTool(call: (event: string, more: object) => Promise<void>): Promise<void> {
  for (const [event, more] of Object.entries(TOOLS)) {
    const times: number[] = []
    for (let round = 0; round < ROUNDS; round += 1) {
      const started = performance.now()
      await call(event, more)
      times.push(performance.now() - started)
    }
    print(`tool hook ${event}`, times)
  }
}

function timed(args: readonly string[], input: string): number {
  const started = performance.now()
  const { status } = spawnSync(process.execPath, args, { input, cwd: folder })
  if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}`)
  return performance.now() - started
}

function print(name: string, times: readonly number[]): void {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number): string => (sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(1).padStart(7)
  console.log(`${name.padEnd(28)} p50 ${at(0.5)}  p95 ${at(0.95)}`)
}
