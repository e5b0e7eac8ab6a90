import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { Driver } from './drivers/driver.ts'

const run = promisify(execFile)

/** Where the hosts are kept between runs: 1.4 GB. */
const CACHE = process.env['RUNSHEET_HOSTS'] ?? join(homedir(), '.cache', 'runsheet-hosts')
const INSTALL_MS = 600_000
const VERSION_MS = 60_000

/** The folder with the host's program, which is installed first if need be; from the registry that npm is configured for. */
export async function installed(host: Driver): Promise<string> {
  const folder = join(CACHE, host.command)
  const bin = join(folder, 'node_modules', '.bin')
  if ((await problemWith(host, bin)) === undefined) return bin
  // What is half there would count as installed.
  rmSync(join(folder, 'node_modules'), { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  if (!existsSync(join(folder, 'package.json'))) writeFileSync(join(folder, 'package.json'), '{"private":true}')
  // The scripts of Claude Code and OpenCode put their programs into place.
  const args = ['install', '--no-audit', '--no-fund', '--ignore-scripts=false', `${host.package}@${host.version}`]
  const failure = await run('npm', args, { cwd: folder, env: ENV, timeout: INSTALL_MS }).then(() => undefined, reasonOf)
  const problem = failure ?? (await problemWith(host, bin))
  if (problem === undefined) return bin
  throw new Error(`${host.label} ${host.version} could not be installed in ${folder}: ${problem}`)
}

const ENV = { ...process.env, PATH: [dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter) }

/** Why the program there cannot be used; undefined if it can. */
async function problemWith({ command, version }: Driver, bin: string): Promise<string | undefined> {
  const program = join(bin, command)
  if (!existsSync(program)) return `there is no ${program}`
  try {
    const { stdout } = await run(program, ['--version'], { env: ENV, timeout: VERSION_MS })
    return stdout.includes(version) ? undefined : `${program} is ${stdout.trim()}`
  } catch (error) {
    return reasonOf(error)
  }
}

function reasonOf(error: unknown): string {
  const { stderr, message } = error as Error & { readonly stderr?: string }
  return stderr?.trim() || message
}
