import { setTimeout as delay } from 'node:timers/promises'
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export interface Worker {
  ask<T>(what: string, argument?: unknown): Promise<T>
  end(): Promise<void>
}

interface Answered {
  readonly value?: unknown
  readonly error?: string
}

/** Longer than any command takes: a child that hangs is killed and reported. */
const MOST_MS = 60_000

export function startWorker(file: string, argument: unknown): Worker {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), [JSON.stringify(argument)], {
    execArgv: ['--expose-gc', ...profiled(file)],
    serialization: 'advanced',
  })
  const ended = new Promise<void>(resolve => child.once('exit', () => resolve()))
  let last: Promise<unknown> = Promise.resolve()
  const asked = async (what: string, about: unknown): Promise<unknown> => {
    const { value, error } = await new Promise<Answered>(resolve => {
      const timer = setTimeout(() => resolve({ error: 'took too long' }), MOST_MS)
      const done = (answer: Answered): void => {
        clearTimeout(timer)
        child.off('message', done)
        resolve(answer)
      }
      child.on('message', done)
      void ended.then(() => done({ error: 'ended' }))
      child.send({ what, argument: about })
    })
    if (error !== undefined) throw new Error(`${file}, ${what}: ${error}`)
    return value
  }
  return {
    ask: <T>(what: string, about?: unknown) => (last = last.then(() => asked(what, about))) as Promise<T>,
    end: async () => {
      if (child.connected) child.disconnect()
      const cut = setTimeout(() => child.kill('SIGKILL'), 5_000)
      await ended
      clearTimeout(cut)
    },
  }
}

/** With PROFILE=folder the servers write CPU profiles there. */
function profiled(file: string): string[] {
  const folder = process.env['PROFILE']
  return folder && file.includes('host') ? ['--cpu-prof', `--cpu-prof-dir=${folder}`] : []
}

/** Called in the child: its start arguments. */
export const startedWith = (): unknown => JSON.parse(process.argv[2] ?? '{}')

export function serveParent(can: Readonly<Record<string, (argument: never) => unknown>>): void {
  process.on('message', async ({ what, argument }: { what: string; argument: never }) => {
    try {
      process.send?.({ value: await can[what]?.(argument) })
    } catch (error) {
      process.send?.({ error: (error as Error).stack })
    }
  })
  process.on('disconnect', () => process.exit())
}

/** Linux and macOS processes share this clock. */
export const nowMs = (): number => Number(process.hrtime.bigint()) / 1e6

export function busyMeter(): () => number {
  let cpu = process.cpuUsage()
  let at = nowMs()
  return () => {
    const { user, system } = process.cpuUsage(cpu)
    const share = (user + system) / 1_000 / (nowMs() - at)
    cpu = process.cpuUsage()
    at = nowMs()
    return share
  }
}

export interface Memory {
  readonly rss: number
  readonly heap: number
}

export async function settledMemory(): Promise<Memory> {
  for (let round = 0; round < 3; round += 1) {
    globalThis.gc?.()
    await delay(50)
  }
  const { rss, heapUsed, external } = process.memoryUsage()
  return { rss, heap: heapUsed + external }
}
