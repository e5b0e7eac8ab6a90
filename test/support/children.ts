import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { WriterOrder } from './writer.ts'

export interface Child {
  readonly process: ChildProcess
  /** Every line so far. */
  readonly lines: readonly string[]
  /** Resolves with the first matching line, past or future; rejects if the process ends without one. */
  line(fits: (line: string) => boolean): Promise<string>
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null; stderr: string }>
}

/** Runs one of our files as a child process. */
export function runChild(file: URL, argument: unknown, prefix: readonly string[] = []): Child {
  return runProcess([...prefix, process.execPath, programOf(file), JSON.stringify(argument)])
}

/** The path of one of our files as a program: its bundle, if `global-children.ts` made one. */
export function programOf(file: URL): string {
  const path = fileURLToPath(file)
  const bundle = join(process.env['TEST_CHILDREN'] ?? '/nowhere', basename(path).replace(/\.ts$/, '.js'))
  return existsSync(bundle) ? bundle : path
}

/** No settings of the user who runs the tests, nor of the tests in another file. */
export const NO_SETTINGS = { XDG_CONFIG_HOME: join(tmpdir(), `runsheet-config-${process.pid}-${Date.now()}`) }

/** The command line as built: it starts in half the time. Tests of the project `edge` have a build. */
export const BUILT = 'dist/cli/runsheet.js'

/** As built, if the build is newer than the source; `global-children.ts` looks. */
export const CLI = process.env['TEST_CLI'] ?? 'src/cli/main.ts'

/** Root without what lifts permissions. Another user might not reach a clone in root's home. */
const HELD_BACK =
  process.getuid?.() === 0
    ? ['setpriv', ...['--bounding-set', '--inh-caps'].map(set => `${set}=-dac_override,-dac_read_search`)]
    : []

/** Why permissions hold no process back here; undefined if they do. */
export const whyNotHeldBack: string | undefined = (() => {
  if (process.platform === 'win32') return 'needs a file system with permissions'
  const [command, ...args] = HELD_BACK
  const works = command === undefined || spawnSync(command, [...args, 'true']).status === 0
  return works ? undefined : 'root needs setpriv (util-linux)'
})()

/** Runs our command line. Permissions hold it back if `heldBack` is set, even where root runs the tests. */
export function runCli(
  args: readonly string[],
  options: { env?: NodeJS.ProcessEnv; cwd?: string; file?: string; heldBack?: boolean } = {},
): Child {
  const { file = CLI, env = {}, cwd, heldBack = false } = options
  const main = fileURLToPath(new URL(`../../${file}`, import.meta.url))
  const clean = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('RUNSHEET_')))
  return runProcess([...(heldBack ? HELD_BACK : []), process.execPath, main, ...args], {
    env: { ...clean, ...NO_SETTINGS, ...env },
    ...(cwd ? { cwd } : {}),
  })
}

/** Runs our command line and kills it instead of the nth change of a file's name. */
export function killedAtRename(step: number, ...args: readonly string[]): Child['ended'] {
  const file = (name: string): string => fileURLToPath(new URL(name, import.meta.url))
  const program = [process.execPath, '--import', file('killed-at-rename.ts'), file(`../../${CLI}`)]
  const env = { ...process.env, ...NO_SETTINGS, KILL_AT_RENAME: String(step) }
  return runProcess([...program, ...args], { env }).ended
}

/** Runs a command as a child process. */
export function runProcess(
  [command = '', ...args]: readonly string[],
  options: { env?: NodeJS.ProcessEnv; cwd?: string } = {},
): Child {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'], ...options })
  const lines: string[] = []
  let stderr = ''
  child.stderr.on('data', chunk => {
    stderr += String(chunk)
  })
  const reader = createInterface({ input: child.stdout })
  reader.on('line', line => lines.push(line))
  const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null; stderr: string }>(resolve => {
    child.once('close', (code, signal) => resolve({ code, signal, stderr }))
  })
  return {
    process: child,
    lines,
    ended,
    line: fits =>
      new Promise((resolve, reject) => {
        const seen = lines.find(fits)
        if (seen !== undefined) return resolve(seen)
        reader.on('line', line => fits(line) && resolve(line))
        void ended.then(({ stderr }) => reject(new Error(`the process ended first: ${stderr}`)))
      }),
  }
}

export const runWriter = (order: WriterOrder, prefix?: readonly string[]): Child =>
  runChild(new URL('writer.ts', import.meta.url), order, prefix)

/** The writes that a child saw acknowledged, by number, with their seqs. */
export const acknowledged = (child: Child): Map<number, number> =>
  new Map(
    child.lines.flatMap(line => {
      const [, number, seq] = /^ack (\d+) (\d+)$/.exec(line) ?? []
      return number === undefined ? [] : [[Number(number), Number(seq)] as const]
    }),
  )

/** Picks the larger number in `npm run test:long`. */
export const inLongRun = <T>(long: T, short: T): T => (process.env['LONG'] ? long : short)
