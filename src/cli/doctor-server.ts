import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'
import { promisify } from 'node:util'
import type { Finding, Patient } from './doctor.ts'
import { installCommand } from './invocation.ts'
import { pageEnvironment } from './page-environment.ts'
import { version } from './version.ts'

/** Must match `engines` in package.json. */
const NODE = [22, 16] as const
const ANSWER_MS = 20_000

const run = promisify(execFile)

export async function* checkHost({ host, environment }: Patient): AsyncGenerator<Finding> {
  const tried = host.tried === undefined ? 'not tried; written as its documentation says' : `tried with ${host.tried}`
  const file = onPath(host.command, environment['PATH'])
  const found = file && (await versionOf([file], environment))
  const what = file ? `${host.label} ${found ?? 'does not say its version'}` : `${host.command} is not on the PATH`
  yield { kind: 'note', text: `${what} (${tried})` }
}

export async function checkProgram(patient: Patient): Promise<Finding> {
  const { host, installation, setup, environment, place } = patient
  const [command, script] = installation.program
  const stops = place.scope === 'user' && host.withoutProgram ? `. ${host.withoutProgram}` : ''
  const todo = place.scope === 'user' ? `Write the settings anew: ${setup}${stops}` : `Install it: ${installCommand()}`
  const file = isAbsolute(command) ? command : onPath(command, environment['PATH'])
  if (file === undefined || !existsSync(file)) return { kind: 'wrong', text: `${command} is not there`, todo }
  if (script === undefined) {
    const found = await versionOf([file], environment)
    if (found === undefined) return { kind: 'wrong', text: `${file} does not run`, todo }
    return { kind: 'well', text: `${file} ${found}${sameVersion(found)}` }
  }
  const node = await versionOf([file], environment)
  if (!isNewEnough(node)) {
    return {
      kind: 'wrong',
      text: `${file} is Node ${node ?? 'of no known version'}, and ${NODE.join('.')} is required`,
      todo,
    }
  }
  if (!existsSync(script)) return { kind: 'wrong', text: `${script} is not there`, todo }
  const found = await versionOf([file, script], environment)
  if (found === undefined) return { kind: 'wrong', text: `${script} does not run`, todo }
  return { kind: 'well', text: `${script} ${found}${sameVersion(found)}, with Node ${node}` }
}

export async function* checkServer({ host, server, environment, setup }: Patient): AsyncGenerator<Finding> {
  const { Client } = await import('@modelcontextprotocol/client')
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio')
  const [command, ...args] = server.words
  const env = { ...pageEnvironment(environment), ...server.env }
  const transport = new StdioClientTransport({ command, args, env, stderr: 'pipe' })
  let stderr = ''
  transport.stderr?.on('data', chunk => (stderr = `${stderr}${String(chunk)}`.slice(-2_000)))
  const client = new Client({ name: host.hookClient ?? 'runsheet-doctor', version })
  const started = performance.now()
  try {
    await client.connect(transport, { timeout: ANSWER_MS })
    const { tools } = await client.listTools(undefined, { timeout: ANSWER_MS })
    const names = tools.map(({ name }) => name)
    const seconds = ((performance.now() - started) / 1_000).toFixed(1)
    const shown = names.filter(name => name !== 'hook')
    // The server also answers while it cannot open its storage.
    const [, problem] = /^runsheet: (.+)$/m.exec(stderr) ?? []
    if (problem !== undefined) {
      return yield {
        kind: 'wrong',
        text: problem.replace(/\.$/, ''),
        todo: `Mend that, then try: ${server.words.join(' ')}`,
      }
    }
    yield { kind: 'well', text: `the server answers in ${seconds} s, with ${shown.length} tools: ${shown.join(', ')}` }
    if (host.hookClient && !names.includes('hook')) {
      yield { kind: 'wrong', text: 'the server has no tool for hooks', todo: `Write the settings anew: ${setup}` }
    }
  } catch (error) {
    const why = stderr.trim().split('\n').at(-1) || (error as Error).message
    yield { kind: 'wrong', text: `the server does not start: ${why}`, todo: `Try it: ${server.words.join(' ')}` }
  } finally {
    await client.close().catch(() => {})
  }
}

/** The output of --version; undefined if the program does not run. */
async function versionOf(
  [file = '', ...args]: readonly string[],
  environment: Patient['environment'],
): Promise<string | undefined> {
  try {
    const { stdout } = await run(file, [...args, '--version'], {
      timeout: ANSWER_MS,
      env: pageEnvironment(environment),
    })
    return /\d+\.\d+[\w.-]*/.exec(stdout)?.[0]
  } catch {
    return undefined
  }
}

function isNewEnough(found = '0.0'): boolean {
  const [major = 0, minor = 0] = found.split('.').map(Number)
  return major > NODE[0] || (major === NODE[0] && minor >= NODE[1])
}

const sameVersion = (found: string): string => (found === version ? '' : ` (this is ${version})`)

export function onPath(command: string, path = ''): string | undefined {
  const names = process.platform === 'win32' ? [`${command}.cmd`, `${command}.exe`] : [command]
  return path
    .split(delimiter)
    .flatMap(folder => names.map(name => join(folder, name)))
    .find(file => isAbsolute(file) && existsSync(file))
}
