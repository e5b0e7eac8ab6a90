import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { DEFAULT_TIMEOUT_MS, type CommandCheck, type Program, type WithPrograms } from '../core/proof/check.ts'
import type { Redactor } from '../core/text/redact.ts'
import { HELD_OUT_FOLDER, heldOutProblem } from './approval.ts'
import { Obstacle, failed, inconclusive, passed, type Outcome } from './obstacle.ts'
import { findProgram, isName, type Place, type Where } from './program.ts'
import { isWithin, startSupervised, type Supervised } from './supervised.ts'
import { folderIn } from './workspace.ts'
import { plainText } from '../core/text/plain-text.ts'

export interface Watched {
  readonly redact: Redactor
  readonly signal?: AbortSignal | undefined
  /** Kills it without a grace period. */
  readonly kill?: AbortSignal | undefined
  /** Called with each piece of output; the function returns the output's end so far. */
  readonly onOutput?: ((tail: () => string) => void) | undefined
  readonly limits?: Partial<RunLimits> | undefined
}

export interface RunLimits {
  readonly outputBytes: number
  /** From SIGTERM to SIGKILL. */
  readonly graceMs: number
}

const LIMITS: RunLimits = { outputBytes: 64_000_000, graceMs: 2_000 }

/** A folder for Python's bytecode, new for each run: stale bytecode beside the tests is not read. */
const PYTHON_CACHE = 'PYTHONPYCACHEPREFIX'

/** Runs a command to its end, its limits or a stop. Leaves no process behind except daemons. */
export async function runCommand(check: WithPrograms<CommandCheck>, place: Place, watched: Watched): Promise<Outcome> {
  const command = prepared(check, place)
  if (command instanceof Obstacle) return inconclusive(command.reason)
  if (watched.signal?.aborted) return inconclusive(STOPPED)
  const bytecode = join(tmpdir(), `runsheet-bytecode-${randomUUID()}`)
  const env = { [PYTHON_CACHE]: bytecode, ...command.env }
  try {
    return await runPrepared({ ...command, env }, check, place, watched)
  } finally {
    // A daemon of the check may still write to it.
    await rm(bytecode, { recursive: true, force: true }).catch(() => {})
  }
}

const STOPPED = 'It was stopped.'

async function runPrepared(
  command: Command,
  check: WithPrograms<CommandCheck>,
  place: Place,
  { redact, signal, kill, onOutput, limits }: Watched,
): Promise<Outcome> {
  const { outputBytes, graceMs } = { ...LIMITS, ...limits }
  const folder = identityOf(place.workspace.path)
  const output = new Output({ contains: check.contains, maxBytes: outputBytes, redact })
  // Its reason says why the run ended early.
  const stop = new AbortController()
  const running = await startSupervised(command.words, {
    ...command,
    onOutput: chunk => {
      if (!output.take(chunk)) stop.abort(`It printed more than ${outputBytes / 1e6} MB and was stopped.`)
      onOutput?.(() => output.liveTail())
    },
  })
  if (running instanceof Obstacle) return inconclusive(running.reason)
  const exit = await untilEnd(running, stop, {
    signal,
    kill,
    graceMs,
    timeoutMs: check.timeout_ms ?? DEFAULT_TIMEOUT_MS,
  })
  const early = stop.signal.reason as string | undefined
  const gone = identityOf(place.workspace.path) === folder ? undefined : 'The workspace was removed or replaced.'
  const reason = early ?? gone ?? unclear(exit, check, place)
  return {
    ...(reason === undefined ? verdict(exit, check, output) : inconclusive(reason)),
    ...(exit === undefined ? {} : { exit }),
    tail: output.tail(),
    output_sha256: output.sha256(),
  }
}

interface Command {
  readonly words: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly cat: string
}

function prepared(check: WithPrograms<CommandCheck>, place: Place): Command | Obstacle {
  const { run, programs = [], cwd: folder = '.' } = check
  if (process.platform === 'win32') return new Obstacle('Commands are run on Linux and macOS only.')
  const { workspace, wrap } = place
  const env = environmentOf(check, place)
  if (env instanceof Obstacle) return env
  const cwd = folderIn(workspace, folder)
  if (cwd instanceof Obstacle) return cwd
  const where = { workspace, cwd, path: env['PATH'] ?? '' }
  const own = run[0] ?? ''
  const script = wrap.length > 0 && isScript(own) ? findProgram(own, where) : undefined
  if (script instanceof Obstacle) return advised(script)
  const [first = '', ...rest] = [...wrap, ...run]
  const program = findProgram(first, where, programs[0])
  if (program instanceof Obstacle) return advised(program)
  const cat = findProgram('cat', { ...where, path: `${where.path}:/usr/bin:/bin` })
  if (cat instanceof Obstacle) return cat
  const PATH = pathFor(own, programs.at(-1), where)
  return { words: [program.path, ...rest], cwd, env: { ...env, PATH }, cat: cat.path }
}

function environmentOf(check: CommandCheck, { env, heldOut, workspace }: Place): Place['env'] | Obstacle {
  if (!check.hidden || heldOut === undefined) return env
  const problem = heldOutProblem(heldOut, [workspace])
  return problem === undefined ? { ...env, [HELD_OUT_FOLDER]: heldOut } : new Obstacle(problem)
}

const advised = ({ reason }: Obstacle): Obstacle =>
  new Obstacle(`${reason} Mend that, or ask a person to change the check.`)

/** The search path. The folder of the approved program comes first if another program would be found. */
function pathFor(word: string, known: Program | null | undefined, where: Where): string {
  const found = known ? findProgram(word, where) : undefined
  const isFound = found && !(found instanceof Obstacle) && found.path === known?.path
  return known && !isFound ? [dirname(known.path), where.path].join(delimiter) : where.path
}

/** Whether it is a workspace file. Other words are left to the wrapper, which may have its own programs. */
const isScript = (word: string): boolean => !isName(word) && !word.startsWith('/')

interface Ends {
  readonly signal: AbortSignal | undefined
  readonly kill: AbortSignal | undefined
  readonly graceMs: number
  readonly timeoutMs: number
}

/** Resolves once the command has ended, was stopped, or took too long, and all its processes are gone. */
async function untilEnd(
  running: Supervised,
  stop: AbortController,
  { signal, kill, graceMs, timeoutMs }: Ends,
): Promise<number | undefined> {
  const onStop = (): void => stop.abort(STOPPED)
  const late = `It did not end within ${timeoutMs / 1_000} s and was stopped.`
  const timer = setTimeout(() => stop.abort(late), timeoutMs)
  signal?.addEventListener('abort', onStop)
  if (signal?.aborted) onStop()
  await Promise.race([running.ended, aborted(stop.signal)])
  // If the command has ended in time, its output may take longer.
  clearTimeout(timer)
  signal?.removeEventListener('abort', onStop)
  if (stop.signal.aborted) {
    if (!kill?.aborted) {
      running.terminate()
      await isWithin(graceMs, Promise.race([running.ended, ...(kill ? [aborted(kill)] : [])]))
    }
    if (kill?.aborted) running.kill()
  }
  await running.finish()
  return stop.signal.aborted ? undefined : running.ended
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort')
}

/** Why an exit code says nothing about the check; undefined if it does. */
function unclear(exit: number | undefined, check: WithPrograms<CommandCheck>, place: Place): string | undefined {
  if (exit === undefined) return 'The process that ran it was killed.'
  if (exit === (check.exit ?? 0)) return undefined
  const signal = KILLED_BY[exit]
  if (signal !== undefined) return `It was killed (${signal}).`
  const command = CANNOT_START.has(exit) ? prepared(check, place) : undefined
  return command instanceof Obstacle ? command.reason : undefined
}

/** Signals sent from outside, because a program that crashes has failed. */
const KILLED_BY: Readonly<Record<number, string>> = { 129: 'SIGHUP', 130: 'SIGINT', 137: 'SIGKILL', 143: 'SIGTERM' }
/** Exit codes of a shell, and of other launchers, for a program that cannot be started. */
const CANNOT_START: ReadonlySet<number> = new Set([126, 127])

function verdict(exit: number | undefined, check: CommandCheck, output: Output): Outcome {
  const expected = check.exit ?? 0
  if (exit !== expected) return failed(`It exited with ${exit}, not with ${expected}.`)
  return output.isFound ? passed : failed(`Its output does not contain ${JSON.stringify(check.contains)}.`)
}

/** Identifies the folder behind a path, to notice that it was replaced. */
function identityOf(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path, { bigint: true })
    return `${dev}:${ino}`
  } catch {
    return undefined
  }
}

/** Bytes of an output's end that are kept. */
export const MAX_TAIL = 8_000
/** Larger than the tail, because colours and secrets are cut out of it. */
const WINDOW = 64_000
/** Where a text is cut, the word there is dropped, because half a secret is not recognized. */
const MAX_WORD = 2_000

interface Options {
  /** Searched for in the whole output, byte for byte. */
  readonly contains: string | undefined
  readonly maxBytes: number
  readonly redact: Redactor
}

/** Streams a command's output: hashes and searches it, and keeps only its end. */
export class Output {
  readonly #redact: Redactor
  readonly #maxBytes: number
  readonly #hash = createHash('sha256')
  readonly #search: Search | undefined
  /** The last chunks, at least a window of them. */
  readonly #recent: Buffer[] = []
  #recentBytes = 0
  #bytes = 0

  constructor({ contains, maxBytes, redact }: Options) {
    this.#redact = redact
    this.#maxBytes = maxBytes
    this.#search = contains === undefined ? undefined : new Search(contains)
  }

  /** False once the limit is exceeded; the rest is dropped. */
  take(chunk: Buffer): boolean {
    const taken = chunk.subarray(0, this.#maxBytes - this.#bytes)
    this.#hash.update(taken)
    this.#search?.take(taken)
    this.#keep(taken)
    return taken.length === chunk.length
  }

  get isFound(): boolean {
    return this.#search?.isFound ?? true
  }

  /** Covers everything taken. Call once, at the end. */
  sha256(): string {
    return this.#hash.digest('hex')
  }

  /** The end of the output for people and models: plain text, secrets removed. */
  tail(): string {
    return this.#clean(this.#window())
  }

  /** The same during a run, without the last word, which may be half a secret. */
  liveTail(): string {
    const text = this.#window()
    const end = text.slice(-MAX_WORD).replace(/\S+$/, '')
    return this.#clean(text.slice(0, -MAX_WORD) + end)
  }

  #clean(text: string): string {
    return lastBytes(this.#redact.content(plainText(text)) as string, MAX_TAIL)
  }

  #window(): string {
    const text = Buffer.concat(this.#recent).subarray(-WINDOW).toString('utf8')
    return this.#bytes <= WINDOW ? text : text.slice(0, MAX_WORD).replace(/^\S+/, '') + text.slice(MAX_WORD)
  }

  #keep(taken: Buffer): void {
    this.#recent.push(taken)
    this.#bytes += taken.length
    this.#recentBytes += taken.length
    for (let [first] = this.#recent; first && this.#recentBytes - first.length >= WINDOW; [first] = this.#recent) {
      this.#recentBytes -= first.length
      this.#recent.shift()
    }
  }
}

export class Search {
  readonly #sought: Buffer
  #end: Buffer = Buffer.alloc(0)
  isFound = false

  constructor(text: string) {
    this.#sought = Buffer.from(text)
  }

  take(chunk: Buffer): void {
    if (this.isFound) return
    const text = Buffer.concat([this.#end, chunk])
    this.isFound = text.includes(this.#sought)
    // Copied, because a slice would retain the whole chunk.
    this.#end = Buffer.from(text.subarray(Math.max(0, text.length - this.#sought.length + 1)))
  }
}

function lastBytes(text: string, limit: number): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= limit) return text
  const end = bytes.subarray(-limit)
  return end.subarray(end.findIndex(byte => (byte & 0xc0) !== 0x80)).toString('utf8')
}
