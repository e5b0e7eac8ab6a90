import { execFile } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { scratchFolder } from './scratch.ts'

export interface Packed {
  /** A new folder with the tarball installed. */
  readonly folder: string
  readonly files: readonly PackedFile[]
  /** The environment of a process there, without npm's own variables. */
  readonly env: NodeJS.ProcessEnv
  run(command: string, ...args: readonly string[]): Promise<{ readonly stdout: string; readonly stderr: string }>
  read(file: string): string
  remove(): void
}

interface PackedFile {
  readonly path: string
  readonly size: number
}

const root = fileURLToPath(new URL('../..', import.meta.url))
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly devDependencies: Readonly<Record<string, string>>
}

/** What a consumer also installs: React, its types, and Node's. */
const BESIDES = ['react', '@types/react', '@types/node']

/**
 * Packs the build and installs it as a user would. Packages come from npm's cache where `npm ci` left them there, else
 * from the registry.
 */
export async function packAndInstall(): Promise<Packed> {
  const folder = scratchFolder()
  const env = outsideOfNpm()
  const run = (command: string, ...args: readonly string[]) =>
    promisify(execFile)(command, [...args], { cwd: folder, env })
  const { name, files } = await pack(folder, env)
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }')
  const besides = BESIDES.map(each => `${each}@${manifest.devDependencies[each]}`)
  // The optional Node is the one that runs this: it is not needed twice.
  const quick = ['--prefer-offline', '--ignore-scripts', '--omit=optional', '--no-audit', '--no-fund']
  await run('npm', 'install', ...quick, `./${name}`, ...besides)
  return {
    folder,
    files,
    env,
    run,
    read: file => readFileSync(join(folder, 'node_modules/runsheet', file), 'utf8'),
    remove: () => rmSync(folder, { recursive: true }),
  }
}

/** Packs without building. Another test may build the page meanwhile: a pack without it is repeated. */
async function pack(to: string, env: NodeJS.ProcessEnv): Promise<{ name: string; files: readonly PackedFile[] }> {
  const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', to]
  for (let tries = 0; tries < 5; tries += 1) {
    const { stdout } = await promisify(execFile)('npm', args, { cwd: root, env, maxBuffer: 2 ** 24 }).catch(() => ({
      stdout: '[]',
    }))
    const [packed] = Object.values(JSON.parse(stdout) as Record<string, { filename: string; files: PackedFile[] }>)
    if (packed && hasPage(packed.files)) return { name: packed.filename, files: packed.files }
  }
  throw new Error('There is nothing to pack. Build first: npm run build')
}

const hasPage = (files: readonly PackedFile[]): boolean =>
  [/^dist\/web\/index\.html$/, /^dist\/web\/assets\/index-.*\.js$/, /^dist\/web\/assets\/index-.*\.css$/].every(name =>
    files.some(({ path, size }) => name.test(path) && size > 0),
  )

/** Without what `npm test` sets for our own folder; the registry's settings stay. */
function outsideOfNpm(): NodeJS.ProcessEnv {
  const ours =
    /^(npm_package_|npm_lifecycle_|npm_config_local_prefix$|INIT_CWD$|RUNSHEET_|NODE_ENV$|NODE_COMPILE_CACHE$|VITEST)/
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !ours.test(name)))
}
