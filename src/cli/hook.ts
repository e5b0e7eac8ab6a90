import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { MAX_HOOK_MS } from '../hosts/hook-event.ts'
import { HOOK_HOSTS } from '../hosts/hosts.ts'
import { expandHome, projectData } from './default-paths.ts'
import type { HookCommand } from './hook-event.ts'
import { askMcpProcess, MAX_PAYLOAD } from './server/hook-socket.ts'

// A separate entry without the command line library: the host waits for it at every event.

export type Environment = Readonly<Record<string, string | undefined>>

/**
 * Answers a host's event and ends the process; `words` are the arguments after `hook`. It must never break the host: on
 * any failure it prints nothing, creates nothing and exits with 0.
 */
export async function runHook(words: readonly string[], environment: Environment): Promise<never> {
  setTimeout(() => process.exit(0), MAX_HOOK_MS)
  try {
    const command = commandOf(words)
    const answer = command && (await answerTo(command, folderOf(words, environment)))
    if (answer) await new Promise(done => process.stdout.write(answer, done))
  } catch {
    // Stay silent.
  }
  process.exit(0)
}

async function answerTo(command: HookCommand, data: string): Promise<string> {
  const payload = await readText(process.stdin)
  if (payload === undefined) return ''
  const answer = await askMcpProcess(data, command, payload)
  // Lazy import: a host waits for each module.
  if (answer === undefined && existsSync(data)) (await import('./hook-event.ts')).noteSession(data, command, payload)
  return answer ?? ''
}

/** Undefined if malformed. Unknown words are ignored: a newer setup may have written them. */
function commandOf(words: readonly string[]): HookCommand | undefined {
  const [name = ''] = words
  const host = HOOK_HOSTS.find(each => each === optionIn(words, '--host'))
  const has = (feature: string): boolean => !words.includes(`--no-${feature}`)
  return host && { name, host, features: { gate: has('gate'), evidence: has('evidence'), digest: has('digest') } }
}

const folderOf = (words: readonly string[], environment: Environment): string =>
  resolve(expandHome(optionIn(words, '--data') ?? environment['RUNSHEET_DATA'] ?? projectData(process.cwd())))

function optionIn(words: readonly string[], name: string): string | undefined {
  const at = words.indexOf(name)
  return at < 0 ? words.find(word => word.startsWith(`${name}=`))?.slice(name.length + 1) : words[at + 1]
}

async function readText(input: AsyncIterable<Buffer>): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of input) {
    bytes += chunk.length
    if (bytes > MAX_PAYLOAD) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
