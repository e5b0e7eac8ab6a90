import { existsSync } from 'node:fs'
import { isWritable } from '../store/folder.ts'
import type { Finding, Patient } from './doctor.ts'
import { CliError } from './cli-error.ts'
import { configFolder } from './config-folder.ts'
import { exposedLines, refuseTracked } from './data-folder.ts'
import { serveCommand, urlCommand } from './invocation.ts'
import { SettingsOnDisk, UnusableSettings } from './saved-settings.ts'
import { ServerLock } from './server-lock.ts'
import { fixedPort } from './usual-port.ts'

const ANSWER_MS = 3_000

export function* checkData({ data, environment, setup }: Patient): Generator<Finding> {
  if (!existsSync(data))
    return yield { kind: 'wrong', text: `there is no data folder ${data}`, todo: `Make it: ${setup}` }
  try {
    refuseTracked(data, environment)
  } catch (error) {
    if (!(error instanceof CliError)) throw error
    return yield { kind: 'wrong', text: error.message.replace(/\.$/, ''), todo: 'Do one of these' }
  }
  const [exposed] = exposedLines(data)
  const [what, how] = exposed?.split('. Run: ') ?? []
  if (what && how) yield { kind: 'wrong', text: what.replace(/^Runsheet: /, ''), todo: `Run: ${how}` }
  else if (isWritable(data)) yield { kind: 'well', text: `data folder ${data}` }
  else
    yield {
      kind: 'wrong',
      text: `${data} is not writable`,
      todo: 'Make it writable for you, or choose another with --data',
    }
}

export function* checkSettings({ environment }: Patient): Generator<Finding> {
  const disk = new SettingsOnDisk(configFolder(environment))
  try {
    const { model, base_url, key } = disk.read().saved
    const at = base_url === undefined ? '' : ` at ${base_url}`
    const text = `the page's settings name the model ${model}${at}, with ${key ? 'a key' : 'no key'} of their own`
    if (model !== undefined) yield { kind: 'note', text }
  } catch (error) {
    if (!(error instanceof UnusableSettings)) throw error
    yield {
      kind: 'wrong',
      text: `${disk.path} cannot be used: ${error.message}`,
      todo: 'Delete it, and set the settings again on the page',
    }
  }
}

export async function* checkPage({ data, invocation }: Patient): AsyncGenerator<Finding> {
  const serving = existsSync(data) ? ServerLock.serving(data) : undefined
  if (serving === undefined) {
    return yield { kind: 'note', text: 'the page does not run; it starts with the host' }
  }
  if (serving === 'starting') return yield { kind: 'note', text: 'the page is starting' }
  const { url, local, pid } = serving
  const isUp = await answers(local)
  if (!isUp) {
    const todo = `End process ${pid}, then: ${serveCommand(invocation, data)}`
    return yield { kind: 'wrong', text: `the page does not answer at ${local}`, todo }
  }
  yield { kind: 'well', text: `page ${url} (for a sign-in link: ${urlCommand(invocation, data)})` }
  const fixed = fixedPort(data)
  if (fixed === undefined || Number(new URL(local).port) === fixed) return
  const todo = `End what uses port ${fixed}, and process ${pid}; the next start takes that port`
  yield { kind: 'wrong', text: `the page is not on its port ${fixed}, where your browser is signed in`, todo }
}

async function answers(local: string): Promise<boolean> {
  try {
    return (await fetch(new URL('/readyz', local), { signal: AbortSignal.timeout(ANSWER_MS) })).ok
  } catch {
    return false
  }
}
