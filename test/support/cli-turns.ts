import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Client, createClient } from '../../src/client/client.ts'
import { BUILT, runCli } from './children.ts'
import { TOKENS } from './server.ts'
import { type Chat, chatAt } from './turns.ts'

export interface CliOptions {
  readonly data: string
  readonly store?: string
  /** The content of `runsheet.json`. */
  readonly config?: unknown
  readonly env?: NodeJS.ProcessEnv
}

/** For tests: `runsheet serve` as a child process. */
export interface CliTurns extends Chat {
  readonly url: URL
  readonly person: Client
  /** Ends it; resolves with its stderr. */
  readonly end: () => Promise<string>
}

export async function startCli({ data, store = 'sqlite', config, env = {} }: CliOptions): Promise<CliTurns> {
  const settings = join(data, 'runsheet.json')
  if (config !== undefined) writeFileSync(settings, JSON.stringify(config))
  const child = runCli(['serve', '--port', '0', '--data', data, '--store', store, '--config', settings], {
    file: BUILT,
    // The page's settings are the user's: each server has a user of its own.
    env: { XDG_CONFIG_HOME: data, RUNSHEET_TOKEN: TOKENS.person, RUNSHEET_AGENT_TOKEN: TOKENS.agent, ...env },
  })
  const line = await child.line(each => each.startsWith('Runsheet is ready at '))
  const url = new URL(line.replace('Runsheet is ready at ', '').replace(/#.*$/, ''))
  const person = createClient({ url, token: TOKENS.person })
  return {
    url,
    person,
    ...chatAt({ url, person }),
    end: async () => {
      child.process.kill('SIGTERM')
      return (await child.ended).stderr
    },
  }
}
