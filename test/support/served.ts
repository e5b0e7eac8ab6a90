import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Client, createClient } from '../../src/client/client.ts'
import { BUILT, runCli } from './children.ts'
import { scratchFolder } from './scratch.ts'

/** `runsheet serve` as a process of its own, with a client for each role. */
export interface Served {
  readonly url: URL
  readonly tokens: Readonly<Record<'person' | 'agent', string>>
  readonly person: Client
  readonly agent: Client
  readonly close: () => Promise<void>
}

export async function serveProcess(args: readonly string[] = []): Promise<Served> {
  const data = scratchFolder()
  const child = runCli(['serve', '--port', '0', '--data', data, ...args], {
    cwd: data,
    file: BUILT,
    // The settings of the page are the user's.
    env: { XDG_CONFIG_HOME: join(data, 'config') },
  })
  const [address = ''] = /http:\S+?(?=#)/.exec(await child.line(line => line.startsWith('Runsheet is ready'))) ?? []
  const url = new URL(address)
  const token = (role: string): string => readFileSync(join(data, `${role}-token`), 'utf8').trim()
  const tokens = { person: token('person'), agent: token('agent') }
  return {
    url,
    tokens,
    person: createClient({ url, token: tokens.person }),
    agent: createClient({ url, token: tokens.agent }),
    close: async () => {
      child.process.kill('SIGKILL')
      await child.ended
      rmSync(data, { recursive: true })
    },
  }
}
