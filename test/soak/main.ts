import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { runCli } from '../support/children.ts'
import { startPostgres } from '../support/postgres.ts'
import { tableOf } from './figures.ts'
import { judge } from './judge.ts'
import { ASKED, loadOn } from './load.ts'
import { type Node, startNode } from './nodes.ts'
import { fillLarge } from './readers.ts'
import { Record } from './record.ts'
import { World } from './world.ts'

// `npm run test:soak`: mixed load on `runsheet serve`; afterwards memory, files, timers and latency must be flat.
// SOAK_MINUTES=15, SOAK_STORE=sqlite, file or postgres (two servers on one database).
const MINUTES = Number(process.env['SOAK_MINUTES'] ?? 15)
const STORE = process.env['SOAK_STORE'] ?? 'sqlite'
/** As many windows as fit, of 30 s; a short run has shorter ones, each long enough for answers of every kind. */
const WINDOW_MS = Math.max(5_000, Math.min(30_000, (MINUTES * 60_000) / 12))
/** The stores keep 1,000 conversations in memory, and the server as many MCP sessions: from then on nothing may grow. */
const ENOUGH = 1_100
const WARM_UP_SPEED = 5
const WARM_UP_MS = 20 * 60_000
/** Clients need a moment to notice that they are gone, and the server one for them. */
const SETTLE_MS = 12_000

const scratch = mkdtempSync(join(tmpdir(), 'runsheet-soak-'))
const ends: (() => unknown)[] = [() => rmSync(scratch, { recursive: true, force: true })]
// An interrupted soak leaves nothing running.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
const say = (line: string): void => void process.stdout.write(`${line}\n`)

try {
  process.exitCode = (await soak()) ? 0 : 1
} finally {
  for (const end of ends.toReversed()) await end()
}

/** Whether everything held. */
async function soak(): Promise<boolean> {
  const { nodes, place } = await start()
  const world = new World(nodes)
  const record = new Record(world)
  await fillLarge(world.node())
  await record.idle('before')
  const running = loadOn(place).map(actor => world.run(actor))
  await warmUp(world)
  say(`measuring for ${MINUTES} min in windows of ${WINDOW_MS / 1_000} s`)
  await record.begin()
  for (const end = Date.now() + MINUTES * 60_000; Date.now() < end - WINDOW_MS / 2; ) {
    await delay(WINDOW_MS)
    say(await record.window())
  }
  world.end()
  await Promise.all(running)
  await delay(SETTLE_MS)
  await record.idle('after')
  const codes = await Promise.all(nodes.map(({ stop }) => stop()))
  const { code: verified, stderr } = await runCli(['verify', ...place]).ended
  if (verified !== 0) say(stderr)
  const verdicts = judge({ ...record.measured(ASKED), codes, verified })
  say(`\n${record.summary()}\n\n${tableOf(verdicts)}`)
  const isHeld = verdicts.every(verdict => verdict.isHeld)
  say(isHeld ? 'held' : 'not held')
  return isHeld
}

/** Fills the caches with the same load, faster. */
async function warmUp(world: World): Promise<void> {
  world.speed = WARM_UP_SPEED
  say(`warming up until there are ${ENOUGH} conversations and MCP sessions`)
  const opened = (): number => world.done.get('abandoned MCP sessions') ?? 0
  const until = performance.now() + WARM_UP_MS
  while (world.sessions < ENOUGH * 1.5 || opened() < ENOUGH * world.nodes.length) {
    if (performance.now() > until) throw new Error(`The warm-up does not end: ${[...world.failures].join('; ')}`)
    await delay(5_000)
    say(`  ${world.sessions} conversations, ${opened()} MCP sessions`)
  }
  world.speed = 1
  // What was begun in a hurry comes to its end first.
  await delay(10_000)
}

async function start(): Promise<{ nodes: Node[]; place: string[] }> {
  if (STORE === 'postgres') {
    const database = await startPostgres()
    ends.push(database.stop)
    const nodes = await Promise.all(['node 1', 'node 2'].map(name => startIn(name, database.url)))
    return { nodes, place: ['--store', database.url, '--data', folder('node 1')] }
  }
  const node = await startIn('server', STORE)
  return { nodes: [node], place: ['--store', STORE, '--data', folder('server')] }
}

function folder(name: string): string {
  return join(scratch, name)
}

async function startIn(name: string, store: string): Promise<Node> {
  mkdirSync(folder(name), { mode: 0o700 })
  const node = await startNode(name, folder(name), store)
  ends.push(node.stop)
  return node
}
