import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Driver } from './drivers/driver.ts'

const run = promisify(execFile)

/** Where the hosts are kept between runs: 1.4 GB. */
const CACHE = process.env['RUNSHEET_HOSTS'] ?? join(homedir(), '.cache', 'runsheet-hosts')
const INSTALL_MS = 600_000

/** The folder with the host's program, which is installed first if need be; from the registry that npm is configured for. */
export async function installed(host: Driver): Promise<string> {
  const folder = join(CACHE, host.command)
  if (versionIn(folder, host) !== host.version) {
    mkdirSync(folder, { recursive: true })
    if (!existsSync(join(folder, 'package.json'))) writeFileSync(join(folder, 'package.json'), '{"private":true}')
    const args = ['install', '--no-audit', '--no-fund', '--ignore-scripts', `${host.package}@${host.version}`]
    await run('npm', args, { cwd: folder, timeout: INSTALL_MS }).catch((error: unknown) => {
      const { stderr, message } = error as Error & { readonly stderr?: string }
      throw new Error(`${host.label} ${host.version} could not be installed in ${folder}: ${stderr || message}`)
    })
  }
  return join(folder, 'node_modules', '.bin')
}

function versionIn(folder: string, { package: name }: Driver): string | undefined {
  const manifest = join(folder, 'node_modules', name, 'package.json')
  if (!existsSync(manifest)) return undefined
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { readonly version: string }).version
}
