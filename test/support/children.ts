import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { WriterOrder } from './writer.ts'

export interface Child {
  readonly process: ChildProcess
  /** Every line so far. */
  readonly lines: readonly string[]
  /** Resolves with the first line that fits, now or later; rejects if the process ends before. */
  line(fits: (line: string) => boolean): Promise<string>
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null; stderr: string }>
}

/** Runs one of our own files in a process of its own. */
export function runChild(file: URL, argument: unknown, prefix: readonly string[] = []): Child {
  return runProcess([...prefix, process.execPath, fileURLToPath(file), JSON.stringify(argument)])
}

/** The command line of ours, as it is compiled or as it is written. */
export function runCli(
  args: readonly string[],
  options: { env?: NodeJS.ProcessEnv; cwd?: string; file?: string; uid?: number } = {},
): Child {
  const { file = 'src/cli/main.ts', env = {}, cwd, uid } = options
  const main = fileURLToPath(new URL(`../../${file}`, import.meta.url))
  const clean = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('RUNSHEET_')))
  return runProcess([process.execPath, main, ...args], {
    env: { ...clean, ...env },
    ...(cwd ? { cwd } : {}),
    ...(uid ? { uid } : {}),
  })
}

/** A process of its own, by its command and arguments. */
export function runProcess(
  [command = '', ...args]: readonly string[],
  options: { env?: NodeJS.ProcessEnv; cwd?: string; uid?: number } = {},
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

/** The writes that a child saw acknowledged, with the seq that it was told. */
export const acknowledged = (child: Child): Map<number, number> =>
  new Map(
    child.lines.flatMap(line => {
      const [, number, seq] = /^ack (\d+) (\d+)$/.exec(line) ?? []
      return number === undefined ? [] : [[Number(number), Number(seq)] as const]
    }),
  )

/** Larger numbers for the long run; the same tests. */
export const inLongRun = <T>(long: T, short: T): T => (process.env['LONG'] ? long : short)
