import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Client, createClient } from '../../src/client/client.ts'
import { runCli } from './children.ts'
import { TOKENS } from './server.ts'
import { type ChatBody, ChatReader, type Decide } from './turns.ts'

export interface CliOptions {
  readonly data: string
  readonly store?: string
  /** The content of `runsheet.json`. */
  readonly config?: unknown
  readonly env?: NodeJS.ProcessEnv
}

/** For tests: the command line's own server, in a process of its own. */
export interface CliTurns {
  readonly url: URL
  readonly person: Client
  readonly open: (body: ChatBody, decide?: Decide) => Promise<ChatReader>
  /** The same, to the end of its stream. */
  readonly chat: (body: ChatBody, decide?: Decide) => Promise<ChatReader>
  /** Ends it; resolves with what it wrote to stderr. */
  readonly end: () => Promise<string>
}

export async function startCli({ data, store = 'sqlite', config, env = {} }: CliOptions): Promise<CliTurns> {
  const settings = join(data, 'runsheet.json')
  if (config !== undefined) writeFileSync(settings, JSON.stringify(config))
  const child = runCli(['serve', '--port', '0', '--data', data, '--store', store, '--config', settings], {
    env: { RUNSHEET_TOKEN: TOKENS.person, RUNSHEET_AGENT_TOKEN: TOKENS.agent, ...env },
  })
  const line = await child.line(each => each.startsWith('Runsheet is ready at '))
  const url = new URL(line.replace('Runsheet is ready at ', '').replace(/#.*$/, ''))
  const person = createClient({ url, token: TOKENS.person })
  const open = async (body: ChatBody, decide?: Decide): Promise<ChatReader> => {
    const leave = new AbortController()
    const response = await fetch(new URL('/api/chat', url), {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKENS.person}`, 'content-type': 'application/json' },
      body: JSON.stringify({ session_id: 'c1', turn_id: 't1', message: 'Do it.', ...body }),
      signal: leave.signal,
    })
    const reader = new ChatReader(response, leave)
    if (decide) void deciding(person, reader, decide)
    return reader
  }
  return {
    url,
    person,
    open,
    chat: async (body, decide) => {
      const reader = await open(body, decide)
      await reader.over
      return reader
    },
    end: async () => {
      child.process.kill('SIGTERM')
      return (await child.ended).stderr
    },
  }
}

async function deciding(person: Client, reader: ChatReader, decide: Decide): Promise<void> {
  for (let count = 0; ; count += 1) {
    try {
      await reader.reached('task_create_review_required', count + 1)
    } catch {
      return
    }
    const review = reader.of('task_create_review_required').at(count)
    const decision = review && decide(review.data, count)
    if (review && decision) await person.decide(review.data.review_id, decision)
  }
}
