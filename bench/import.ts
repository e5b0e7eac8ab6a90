import { execFile } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { build, type Rolldown } from 'vite'
import { scratchFolder } from '../test/support/scratch.ts'
import { type Line, median, millis, printTable, times } from './table.ts'

// Cost of `import 'runsheet'`, next to a Node that imports nothing, alternating on the same machine.

const ROUNDS = 21
const GOAL_MS = 60
const GOAL_KB = 10
const root = fileURLToPath(new URL('..', import.meta.url))

interface Figures {
  /** From process start until the module is loaded. */
  readonly ms: number
  /** CPU time of the whole process: other load hardly changes it. */
  readonly cpuMs: number
  readonly rssMb: number
}

console.log(`load ${loadavg()[0]?.toFixed(1)} before the run`)
for (const name of ['runsheet', 'runsheet/sqlite', 'runsheet/client']) await benchImport(name)
await benchBundle()

async function benchImport(name: string): Promise<void> {
  const rounds: { ours: Figures; bare: Figures }[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    rounds.push({ bare: await started(''), ours: await started(`await import('${name}');`) })
  }
  const line = (what: string, key: keyof Figures, unit: (figure: number) => string, goal?: number): Line => {
    const difference = median(rounds.map(({ ours, bare }) => ours[key] - bare[key]))
    return {
      what: `${what}: ${unit(difference)} more`,
      ours: unit(median(rounds.map(({ ours }) => ours[key]))),
      beside: `${unit(median(rounds.map(({ bare }) => bare[key])))} bare`,
      ratio: times(median(rounds.map(({ ours, bare }) => ours[key] / bare[key]))),
      goal: goal === undefined ? '' : `under ${goal} ms more`,
      met: goal === undefined ? undefined : difference < goal,
    }
  }
  printTable(`import '${name}'`, [
    line('time', 'ms', millis, name === 'runsheet' ? GOAL_MS : undefined),
    line('processor time', 'cpuMs', millis),
    line('memory', 'rssMb', mb => `${mb.toFixed(1)} MB`),
  ])
}

async function started(code: string): Promise<Figures> {
  const report = `const { user, system } = process.cpuUsage()
    console.log(JSON.stringify({ ms: performance.now(), cpuMs: (user + system) / 1e3, rssMb: process.memoryUsage.rss() / 1e6 }))`
  const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', code + report]
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root })
  return JSON.parse(stdout) as Figures
}

/** Bundle size of the hook, alone and with the client it needs. React is not counted. */
async function benchBundle(): Promise<void> {
  const hook = `export { useConversation } from '${join(root, 'dist/ui/panels/index.js')}'\n`
  const client = `export { createClient } from '${join(root, 'dist/client/index.js')}'\n`
  const [alone, both] = [await bundledKb(hook), await bundledKb(hook + client)]
  console.log(`\nuseConversation alone: ${alone.toFixed(1)} kB gzip; with createClient: ${both.toFixed(1)} kB`)
  console.log(`goal: under ${GOAL_KB} kB, ${both < GOAL_KB ? 'met' : 'NOT MET'}`)
}

async function bundledKb(code: string): Promise<number> {
  const folder = scratchFolder()
  try {
    const entry = join(folder, 'entry.js')
    writeFileSync(entry, code)
    const built = await build({
      configFile: false,
      logLevel: 'error',
      build: {
        write: false,
        minify: true,
        lib: { entry, formats: ['es'] },
        rolldownOptions: { external: /^react(\/|$)/ },
      },
    })
    const [{ output }] = built as [Rolldown.RolldownOutput]
    const text = output.map(file => (file.type === 'chunk' ? file.code : '')).join('')
    return gzipSync(text, { level: 9 }).length / 1_000
  } finally {
    rmSync(folder, { recursive: true })
  }
}
