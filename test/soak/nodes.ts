import { type ChildProcess, fork } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Client, createClient } from '../../src/client/client.ts'
import { within } from './figures.ts'
import type { NodeSample } from './judge.ts'
import type { Sample } from './probe.ts'

/** A server under load, in a process of its own. */
export interface Node {
  readonly name: string
  readonly url: URL
  readonly tokens: Readonly<Record<'person' | 'agent', string>>
  readonly person: Client
  readonly agent: Client
  readonly sample: () => Promise<NodeSample>
  /** Lines of its log at the level of errors. */
  readonly errors: () => readonly string[]
  readonly stop: () => Promise<number | null>
}

const path = (file: string): string => fileURLToPath(new URL(file, import.meta.url))
/** The agent is not limited: how fast it writes is up to the soak. */
const LIMITS = ['--agent-writes', '1000000', '--agent-reads', '1000000']

/** `runsheet serve` with a probe, once it is ready. */
export async function startNode(name: string, data: string, store: string): Promise<Node> {
  const args = ['serve', '--port', '0', '--data', data, '--store', store, '--log', 'warn', ...LIMITS]
  const env = Object.fromEntries(Object.entries(process.env).filter(([key]) => !key.startsWith('RUNSHEET_')))
  const child = fork(path('../../src/cli/main.ts'), args, {
    cwd: data,
    env: { ...env, XDG_CONFIG_HOME: '/nowhere' },
    execArgv: ['--expose-gc', `--import=${path('probe.ts')}`],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  const ended = new Promise<number | null>(resolve => child.once('close', resolve))
  const errors = errorsOf(child)
  const url = await readyAt(child, errors)
  const token = (role: string): string => readFileSync(join(data, `${role}-token`), 'utf8').trim()
  const tokens = { person: token('person'), agent: token('agent') }
  return {
    name,
    url,
    tokens,
    person: createClient({ url, token: tokens.person }),
    agent: createClient({ url, token: tokens.agent }),
    errors: () => errors,
    sample: async () => ({ ...(await ask(child)), files: filesOf(child.pid) }),
    stop: () => {
      child.kill('SIGTERM')
      return ended
    },
  }
}

function readyAt(child: ChildProcess, errors: readonly string[]): Promise<URL> {
  return new Promise((resolve, reject) => {
    child.stdout?.on('data', chunk => {
      const [url] = /http:\S+?(?=#)/.exec(String(chunk)) ?? []
      if (url) resolve(new URL(url))
    })
    child.once('close', () => reject(new Error(`The server did not start: ${errors.join('\n')}`)))
  })
}

/** What it says on stderr that is no warning; kept up to a limit, since a broken server may say a lot. */
function errorsOf(child: ChildProcess): readonly string[] {
  const errors: string[] = []
  let rest = ''
  child.stderr?.on('data', chunk => {
    const lines = (rest + String(chunk)).split('\n')
    rest = lines.pop() ?? ''
    errors.push(...lines.filter(isError).slice(0, Math.max(0, 1_000 - errors.length)))
  })
  return errors
}

const isError = (line: string): boolean =>
  line !== '' && !/"level":40,/.test(line) && !line.startsWith('Stopping: finishing')

/** A server whose event loop stands still does not answer. */
function ask(child: ChildProcess): Promise<Sample> {
  const answer = new Promise<Sample>((resolve, reject) => {
    child.once('message', sample => resolve(sample as Sample))
    child.send('sample', error => error && reject(error))
  })
  return within(60_000, answer)
}

function filesOf(pid: number | undefined): number | undefined {
  try {
    return readdirSync(`/proc/${pid}/fd`).length
  } catch {
    return undefined
  }
}
