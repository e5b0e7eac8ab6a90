import { once } from 'node:events'
import { statSync } from 'node:fs'
import { type CommandCheck, DEFAULT_TIMEOUT_MS } from '../domain/check.ts'
import type { Redactor } from '../domain/redact.ts'
import { Obstacle } from './obstacle.ts'
import { failed, inconclusive, type Outcome, passed } from './outcome.ts'
import { Output } from './output.ts'
import type { Place } from './place.ts'
import { findProgram } from './program.ts'
import { isWithin, startSupervised, type Supervised } from './supervised.ts'
import { folderIn } from './workspace.ts'

/** How a run is followed and bounded. */
export interface Watched {
  readonly redact: Redactor
  readonly signal?: AbortSignal | undefined
  /** Kills it, without the time to end by itself. */
  readonly kill?: AbortSignal | undefined
  /** Called with each piece of output; the function returns the end of the output so far. */
  readonly onOutput?: ((tail: () => string) => void) | undefined
  readonly limits?: Partial<RunLimits> | undefined
}

export interface RunLimits {
  /** How much output is read. */
  readonly outputBytes: number
  /** From SIGTERM to SIGKILL. */
  readonly graceMs: number
}

const LIMITS: RunLimits = { outputBytes: 64_000_000, graceMs: 2_000 }

/** Runs a command to its end, its limits or a stop. No process stays behind, but for daemons. */
export async function runCommand(check: CommandCheck, place: Place, watched: Watched): Promise<Outcome> {
  const command = prepared(check, place)
  if (command instanceof Obstacle) return inconclusive(command.reason)
  const stop = new Stop(check.timeout_ms ?? DEFAULT_TIMEOUT_MS, watched.signal)
  try {
    if (stop.reason !== undefined) return inconclusive(stop.reason)
    return await runPrepared(command, stop, check, place, watched)
  } finally {
    stop.cancel()
  }
}

async function runPrepared(
  command: Command,
  stop: Stop,
  check: CommandCheck,
  place: Place,
  { redact, kill, onOutput, limits }: Watched,
): Promise<Outcome> {
  const { outputBytes, graceMs } = { ...LIMITS, ...limits }
  const folder = identityOf(place.workspace.path)
  const output = new Output({ contains: check.contains, maxBytes: outputBytes, redact })
  const running = await startSupervised(command.words, {
    ...command,
    env: place.env,
    onOutput: chunk => {
      if (!output.take(chunk)) stop.now(`It printed more than ${outputBytes / 1e6} MB and was stopped.`)
      onOutput?.(() => output.liveTail())
    },
  })
  if (running instanceof Obstacle) return inconclusive(running.reason)
  const exit = await untilEnd(running, stop, graceMs, kill)
  const gone = identityOf(place.workspace.path) === folder ? undefined : 'The workspace was removed or replaced.'
  const reason = stop.reason ?? gone ?? unclear(exit, check, place)
  return {
    ...(reason === undefined ? verdict(exit, check, output) : inconclusive(reason)),
    ...(exit === undefined ? {} : { exit }),
    tail: output.tail(),
    output_sha256: output.sha256(),
  }
}

/** Ends a run before its time: at the timeout, by a signal or because of its output. The first reason counts. */
class Stop {
  readonly requested: Promise<void>
  reason: string | undefined
  #request: () => void = () => {}
  readonly #timer: NodeJS.Timeout
  readonly #signal: AbortSignal | undefined
  readonly #onAbort = (): void => this.now('It was stopped.')

  constructor(timeoutMs: number, signal: AbortSignal | undefined) {
    this.requested = new Promise(resolve => {
      this.#request = resolve
    })
    this.#timer = setTimeout(() => this.now(`It did not end within ${timeoutMs / 1_000} s and was stopped.`), timeoutMs)
    this.#signal = signal
    signal?.addEventListener('abort', this.#onAbort)
    if (signal?.aborted) this.#onAbort()
  }

  now(reason: string): void {
    this.reason ??= reason
    this.#request()
  }

  cancel(): void {
    clearTimeout(this.#timer)
    this.#signal?.removeEventListener('abort', this.#onAbort)
  }
}

interface Command {
  readonly words: readonly string[]
  readonly cwd: string
  readonly cat: string
}

/** A command as it is started. Inside a wrapper its own words are left to the wrapper, which may have other programs. */
function prepared({ run, cwd: folder = '.' }: CommandCheck, { workspace, wrap, env }: Place): Command | Obstacle {
  if (process.platform === 'win32') return new Obstacle('Commands are run on Linux and macOS only.')
  const cwd = folderIn(workspace, folder)
  if (cwd instanceof Obstacle) return cwd
  const where = { workspace, cwd, path: env['PATH'] ?? '' }
  const [first = '', ...rest] = [...wrap, ...run]
  const program = findProgram(first, where)
  if (program instanceof Obstacle) return program
  const cat = findProgram('cat', { ...where, path: `${where.path}:/usr/bin:/bin` })
  return cat instanceof Obstacle ? cat : { words: [program.path, ...rest], cwd, cat: cat.path }
}

/** The exit code, or undefined if it is not known. */
async function untilEnd(
  running: Supervised,
  stop: Stop,
  graceMs: number,
  kill: AbortSignal | undefined,
): Promise<number | undefined> {
  await Promise.race([running.ended, stop.requested])
  if (stop.reason === undefined) {
    // It ended in time, however long its output takes.
    stop.cancel()
  } else {
    if (!kill?.aborted) {
      running.terminate()
      await isWithin(graceMs, Promise.race([running.ended, ...(kill ? [once(kill, 'abort')] : [])]))
    }
    if (kill?.aborted) running.kill()
  }
  await running.finish()
  return stop.reason === undefined ? running.ended : undefined
}

/** Why a run that ended by itself says nothing. */
function unclear(exit: number | undefined, check: CommandCheck, place: Place): string | undefined {
  if (exit === undefined) return 'The process that ran it was killed.'
  if (exit === (check.exit ?? 0)) return undefined
  const signal = KILLED_BY[exit]
  if (signal !== undefined) return `It was killed (${signal}).`
  const command = CANNOT_START.has(exit) ? prepared(check, place) : undefined
  return command instanceof Obstacle ? command.reason : undefined
}

/** By someone else: a program that crashes has failed. */
const KILLED_BY: Readonly<Record<number, string>> = { 129: 'SIGHUP', 130: 'SIGINT', 137: 'SIGKILL', 143: 'SIGTERM' }
/** What a shell answers for a program that it cannot start, as do programs that were started. */
const CANNOT_START: ReadonlySet<number> = new Set([126, 127])

function verdict(exit: number | undefined, check: CommandCheck, output: Output): Outcome {
  const expected = check.exit ?? 0
  if (exit !== expected) return failed(`It exited with ${exit}, not with ${expected}.`)
  return output.isFound ? passed : failed(`Its output does not contain ${JSON.stringify(check.contains)}.`)
}

/** Says whether a path still leads to the same folder. */
function identityOf(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path, { bigint: true })
    return `${dev}:${ino}`
  } catch {
    return undefined
  }
}
