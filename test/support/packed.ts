import { execFile } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { scratchFolder } from './scratch.ts'

export interface Packed {
  /** A new folder with the tarball installed, and nothing else. */
  readonly folder: string
  readonly files: readonly PackedFile[]
  /** The environment of a process there, without npm's own variables. */
  readonly env: NodeJS.ProcessEnv
  run(command: string, ...args: readonly string[]): Promise<{ readonly stdout: string; readonly stderr: string }>
  read(file: string): string
  /** Installs the optional peers beside it, and the types that a program needs. */
  installPeers(): Promise<void>
  remove(): void
}

interface PackedFile {
  readonly path: string
  readonly size: number
}

const root = fileURLToPath(new URL('../..', import.meta.url))
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly devDependencies: Readonly<Record<string, string>>
  readonly peerDependencies: Readonly<Record<string, string>>
}

const TYPES = ['@types/react', '@types/node']

/**
 * Packs the build and installs it as a user would. Packages come from npm's cache where `npm ci` left them there, else
 * from the registry.
 */
export async function packAndInstall(): Promise<Packed> {
  const folder = scratchFolder()
  const env = { ...outsideOfNpm(), XDG_CONFIG_HOME: join(folder, '.config') }
  const run = (command: string, ...args: readonly string[]) =>
    promisify(execFile)(command, [...args], { cwd: folder, env })
  const { name, files } = await pack(folder, env)
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }')
  const install = (...packages: readonly string[]) =>
    run('npm', 'install', '--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund', ...packages)
  await install(`./${name}`)
  return {
    folder,
    files,
    env,
    run,
    read: file => readFileSync(join(folder, 'node_modules/runsheet', file), 'utf8'),
    installPeers: async () => {
      const names = [...Object.keys(manifest.peerDependencies), ...TYPES]
      await install(...names.map(each => `${each}@${manifest.devDependencies[each]}`))
    },
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
