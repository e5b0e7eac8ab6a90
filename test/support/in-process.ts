import { fileURLToPath } from 'node:url'
import { vi } from 'vitest'
import { runProgram } from '../../src/cli/program.ts'
import { BUILT, NO_SETTINGS } from './children.ts'

const PROGRAM = fileURLToPath(new URL(`../../${BUILT}`, import.meta.url))

export interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

interface Options {
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv | undefined
}

let last: Promise<unknown> = Promise.resolve()

/** Runs a command in this process, one after the other. */
export function runHere(args: readonly string[], options: Options = {}): Promise<Ran> {
  const ran = last.then(() => run(args, options))
  last = ran.catch(() => {})
  return ran
}

async function run(args: readonly string[], { cwd, env = {} }: Options): Promise<Ran> {
  const before = { folder: process.cwd(), environment: { ...process.env } }
  const clean = Object.entries(process.env).filter(([name]) => !name.startsWith('RUNSHEET_'))
  const [out, err]: [string[], string[]] = [[], []]
  const spies = [
    vi.spyOn(console, 'log').mockImplementation((...texts) => void out.push(`${texts.join(' ')}\n`)),
    vi.spyOn(console, 'error').mockImplementation((...texts) => void err.push(`${texts.join(' ')}\n`)),
    vi.spyOn(process.stdout, 'write').mockImplementation(text => out.push(String(text)) > 0),
  ]
  try {
    setEnvironment({ ...Object.fromEntries(clean), ...NO_SETTINGS, ...env })
    if (cwd !== undefined) process.chdir(cwd)
    await runProgram({
      argv: [process.execPath, 'runsheet', ...args],
      execArgv: [],
      environment: process.env,
      file: PROGRAM,
    })
    return { code: Number(process.exitCode ?? 0), out: out.join('').trimEnd(), err: err.join('') }
  } finally {
    process.exitCode = undefined
    for (const spy of spies) spy.mockRestore()
    process.chdir(before.folder)
    setEnvironment(before.environment)
  }
}

function setEnvironment(environment: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) if (environment[name] === undefined) delete process.env[name]
  Object.assign(process.env, environment)
}
