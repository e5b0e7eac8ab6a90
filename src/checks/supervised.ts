import { type ChildProcess, spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import { becauseOf, Obstacle } from './obstacle.ts'
import { killSession, terminateSession } from './session.ts'

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

/**
 * Leads the session. The words are arguments, so no shell parses them.
 * - A watcher waits for the end of descriptor 3, which comes when this process ends, and kills the session: process by
 *   process where /proc exists, until two passes find none, since a process may fork, leave its group or end at any
 *   moment; then the group.
 * - The check's parent reports the exit code on descriptor 4. The check gets neither descriptor.
 * - Output goes through `cat`: Node's pipes are sockets, and /dev/stderr cannot be opened on those.
 * - A trap, unlike an ignored signal, is not inherited, so only the check ends at SIGTERM.
 */
const SUPERVISOR = `
trap : HUP INT QUIT TERM
cat=$1
shift
{
  trap '' HUP INT QUIT TERM
  read -r _ <&3
  passes=0 empty=0
  [ -e /proc/self/stat ] || empty=2
  while [ $empty -lt 2 ] && [ $passes -lt 100 ]; do
    passes=$((passes + 1)) empty=$((empty + 1))
    read -r self _ </proc/self/stat
    for stat in /proc/[0-9]*/stat; do
      read -r line <"$stat" || continue
      set -- \${line##*) }
      pid=\${stat#/proc/} pid=\${pid%/stat}
      [ "$4" = $$ ] && [ "$1" != Z ] && [ "$pid" != "$self" ] && kill -KILL "$pid" && empty=0
    done
  done
  kill -KILL 0
} >/dev/null 2>&1 4>&- &
exec 3<&-
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
      stdio: ['ignore', 'pipe', 'ignore', 'pipe', 'pipe'],
    })
    await new Promise((resolve, reject) => child.once('spawn', resolve).once('error', reject))
    return supervised(child, onOutput)
  } catch (error) {
    return new Obstacle(`It cannot be started: ${becauseOf(error)}.`)
  }
}

function supervised(child: ChildProcess, onOutput: (chunk: Buffer) => void): Supervised {
  const [, output, , , status] = child.stdio as readonly Readable[]
  const leader = child.pid
  if (!output || !status || leader === undefined) throw new Error('The process has no pipes.')
  for (const stream of child.stdio) stream?.on('error', () => {})
  output.on('data', onOutput)
  const closed = new Promise<void>(resolve => output.once('close', resolve))
  return {
    ended: exitCode(status),
    terminate: () => terminateSession(leader),
    kill: () => killSession(leader),
    async finish() {
      if (!(await isWithin(QUIET_MS, closed))) {
        terminateSession(leader)
        await isWithin(DRAIN_MS, closed)
      }
      killSession(leader)
      await isWithin(DRAIN_MS, closed)
      for (const stream of child.stdio) stream?.destroy()
    },
  }
}

function exitCode(status: Readable): Promise<number | undefined> {
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
