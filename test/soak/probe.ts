import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setImmediate as turn } from 'node:timers/promises'
import { getHeapSpaceStatistics } from 'node:v8'

// Loaded into a server before its own code; the soak asks it for a sample over IPC.

/** What a server says of itself, after a collection. Bytes and milliseconds. */
export interface Sample {
  /** Without compiled code, which grows for as long as the engine finds functions worth compiling. */
  readonly heap: number
  readonly rss: number
  /** Sockets, timers and whatever else keeps a process alive. */
  readonly resources: number
  readonly timers: number
  /** How late timers were since the last sample. */
  readonly delay: { readonly p99: number; readonly max: number }
}

const delays = monitorEventLoopDelay({ resolution: 10 })
delays.enable()

process.on('message', () => void sample().then(taken => process.send?.(taken)))
// A server that is told to end does not wait for the soak, and one that is left alone ends.
process.channel?.unref()
process.on('disconnect', () => process.kill(process.pid))

async function sample(): Promise<Sample> {
  const delay = { p99: delays.percentile(99) / 1e6, max: delays.max / 1e6 }
  for (let round = 0; round < 2; round += 1) {
    globalThis.gc?.()
    await turn()
  }
  const { external, rss } = process.memoryUsage()
  const resources = process.getActiveResourcesInfo()
  // The collection is not the server's delay.
  setTimeout(() => delays.reset(), 50)
  const timers = resources.filter(name => name === 'Timeout').length
  const heap = external + getHeapSpaceStatistics().reduce(dataIn, 0)
  return { heap, rss, resources: resources.length, timers, delay }
}

const dataIn = (
  sum: number,
  { space_name: name, space_used_size: size }: ReturnType<typeof getHeapSpaceStatistics>[number],
): number => (/^(code|trusted|read_only)/.test(name) ? sum : sum + size)
