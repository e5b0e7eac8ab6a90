import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Client, createClient } from '../../src/client/client.ts'
import { type Child, CLI, NO_SETTINGS, runProcess } from './children.ts'

/** `runsheet serve` in a process of its own, with its log and what it says of itself. */
export interface WatchedServer {
  readonly child: Child
  readonly url: URL
  readonly person: Client
  readonly agent: Client
  readonly tokens: Readonly<Record<'person' | 'agent', string>>
  /** The lines of its log so far. */
  readonly log: () => Record<string, unknown>[]
  /** The status of `/readyz`, and its reason. */
  readonly ready: () => Promise<[number, string | undefined]>
  /** An agent's small or large write. */
  readonly addTask: (details?: string) => Promise<unknown>
  readonly stop: () => Promise<number | null>
}

/** `prefix`: a command that starts it. */
export async function serveWatched(
  data: string,
  args: readonly string[] = [],
  prefix: readonly string[] = [],
): Promise<WatchedServer> {
  const clean = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('RUNSHEET_')))
  const program = [process.execPath, CLI, 'serve', '--port', '0', '--data', data, ...args]
  const child = runProcess([...prefix, ...program], { env: { ...clean, ...NO_SETTINGS } })
  let stderr = ''
  child.process.stderr?.on('data', chunk => (stderr += String(chunk)))
  const [address = ''] = /http:\S+?(?=#)/.exec(await child.line(line => line.startsWith('Runsheet is ready'))) ?? []
  const url = new URL(address)
  const token = (role: string): string => readFileSync(join(data, `${role}-token`), 'utf8').trim()
  const tokens = { person: token('person'), agent: token('agent') }
  const agent = createClient({ url, token: tokens.agent })
  return {
    child,
    url,
    agent,
    tokens,
    person: createClient({ url, token: tokens.person }),
    log: () => stderr.split('\n').flatMap(line => (line.startsWith('{') ? [JSON.parse(line)] : [])),
    ready: async () => {
      const answer = await fetch(new URL('/readyz', url))
      const body = (await answer.json()) as { error?: { message: string } }
      return [answer.status, body.error?.message]
    },
    addTask: (details = '') =>
      agent.call('task_list', 'AddTask', {
        session_id: 'c1',
        turn_id: 't1',
        arguments: { title: 'x', description: details },
      }),
    stop: async () => {
      child.process.kill('SIGTERM')
      return (await child.ended).code
    },
  }
}
