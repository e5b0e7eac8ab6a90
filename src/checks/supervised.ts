import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Duplex } from 'node:stream'
import { becauseOf, Obstacle } from './obstacle.ts'

/** A command in its own session. It dies with this process, whatever kills that. */
export interface Supervised {
  /** Resolves with the exit code; undefined if its supervisor was killed. */
  readonly ended: Promise<number | undefined>
  terminate(): void
  kill(): void
  /** Kills leftover processes and resolves once the output is read. */
  finish(): Promise<void>
}

interface Options {
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** The program that passes output on. */
  readonly cat: string
  readonly onOutput: (chunk: Buffer) => void
}

/** How long to wait for output that a leftover process may hold open. */
const DRAIN_MS = 500
const QUIET_MS = 50
/** How long to wait until leftover processes are killed. */
const KILL_MS = 5_000

/**
 * Leads the session. The words are arguments, so no shell parses them.
 * - A watcher reads descriptor 3. For each line it sends SIGTERM to the session's processes; at the end, which also
 *   comes when this process ends, it kills them: until two passes find none, since a process may fork, leave its group
 *   or end at any moment. Without /proc it signals the group. It holds descriptor 5.
 * - The check's parent reports the exit code on descriptor 4. The check gets none of the three.
 * - Output goes through `cat`: Node's pipes are sockets, and /dev/stderr cannot be opened on those.
 * - A trap, unlike an ignored signal, is not inherited, so only the check ends at SIGTERM.
 */
const SUPERVISOR = `
trap : HUP INT QUIT TERM
cat=$1
shift
{
  trap '' HUP INT QUIT TERM
  signal() {
    name=$1 sent=1
    read -r self _ </proc/self/stat || { kill -"$name" 0; return 1; }
    for stat in /proc/[0-9]*/stat; do
      read -r line <"$stat" || continue
      set -- \${line##*) }
      pid=\${stat#/proc/} pid=\${pid%/stat}
      [ "$4" = $$ ] && [ "$1" != Z ] && [ "$pid" != "$self" ] && kill -"$name" "$pid" && sent=0
    done
    return $sent
  }
  while read -r _; do signal TERM; done
  passes=0 empty=0
  while [ $empty -lt 2 ] && [ $passes -lt 100 ]; do
    passes=$((passes + 1)) empty=$((empty + 1))
    signal KILL && empty=0
  done
  kill -KILL 0
} <&3 3<&- >/dev/null 2>&1 4>&- &
exec 3<&- 5>&-
{
  trap : HUP INT QUIT TERM
  (exec "$@" 2>&1 4>&-)
  echo $? >&4
} 2>/dev/null | {
  trap '' HUP INT QUIT TERM
  exec "$cat" 4>&-
}
`

/** Starts a program by its path, without a shell. */
export async function startSupervised(words: readonly string[], options: Options): Promise<Supervised | Obstacle> {
  const { cwd, env, cat, onOutput } = options
  try {
    const child = spawn('/bin/sh', ['-c', SUPERVISOR, 'runsheet-check', cat, ...words], {
      cwd,
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore', 'pipe', 'pipe', 'pipe'],
    })
    await new Promise((resolve, reject) => child.once('spawn', resolve).once('error', reject))
    return supervised(child, onOutput)
  } catch (error) {
    return new Obstacle(`It cannot be started: ${becauseOf(error)}.`)
  }
}

function supervised(child: ChildProcess, onOutput: (chunk: Buffer) => void): Supervised {
  const [, output, , control, status, watcher] = child.stdio as readonly unknown[] as readonly Duplex[]
  const leader = child.pid
  if (!output || !control || !status || !watcher || leader === undefined) throw new Error('The process has no pipes.')
  for (const stream of child.stdio) stream?.on('error', () => {})
  output.on('data', onOutput)
  const closed = once(output, 'close')
  const watched = once(watcher.resume(), 'close')
  const terminate = (): void => void control.write('\n')
  return {
    ended: exitCode(status),
    terminate,
    kill: () => control.destroy(),
    async finish() {
      if (!(await isWithin(QUIET_MS, closed))) {
        terminate()
        await isWithin(DRAIN_MS, closed)
      }
      control.destroy()
      await isWithin(KILL_MS, watched)
      killGroup(leader)
      await isWithin(DRAIN_MS, closed)
      for (const stream of child.stdio) stream?.destroy()
    },
  }
}

/** If the check has killed the watcher, this is all that can be killed. */
function killGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL')
  } catch {
    // Already ended.
  }
}

function exitCode(status: Duplex): Promise<number | undefined> {
  let text = ''
  return new Promise(resolve => {
    status.on('data', chunk => {
      text += String(chunk)
      if (text.endsWith('\n')) resolve(Number(text))
    })
    status.once('close', () => resolve(undefined))
  })
}

export async function isWithin(ms: number, promise: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>(resolve => {
    timer = setTimeout(resolve, ms, false)
  })
  try {
    return await Promise.race([promise.then(() => true), late])
  } finally {
    clearTimeout(timer)
  }
}
