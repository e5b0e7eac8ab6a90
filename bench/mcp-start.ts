import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Contender, type Contenders, type Folder } from './mcp-servers.ts'
import { type Line, millis, printTable, times, turnByTurn } from './table.ts'

const ROUNDS = 15

/** From spawn to the answer to `tools/list`. */
export async function benchStart(
  { ours, oursFromSource, bare, bareFromSource }: Contenders,
  folder: Folder,
): Promise<void> {
  const figures = await turnByTurn(ROUNDS, {
    node: nodeAlone,
    ours: () => start(ours, folder(ours)),
    bare: () => start(bare, folder(bare)),
    oursFromSource: () => start(oursFromSource, folder(ours)),
    bareFromSource: () => start(bareFromSource, folder(bare)),
  })
  const line = (what: string, mine: 'ours' | 'oursFromSource', theirs: 'bare' | 'bareFromSource'): Line => ({
    what,
    ours: millis(figures.median(mine)),
    beside: `${millis(figures.median(theirs))} bare`,
    ratio: times(figures.ratio(mine, theirs)),
    goal: 'under 1.20×',
    met: figures.ratio(mine, theirs) < 1.2,
  })
  printTable(`Spawn to tools/list answered (Node alone: ${millis(figures.median('node'))})`, [
    line('installed, beside a bundled bare server', 'ours', 'bare'),
    line('installed, beside a bare server from source', 'ours', 'bareFromSource'),
    line('both from source', 'oursFromSource', 'bareFromSource'),
  ])
}

async function start(contender: Contender, data: string): Promise<number> {
  const started = performance.now()
  const session = await connect(contender, data)
  const took = performance.now() - started
  await session.close()
  return took
}

/** The lower bound of any server. */
async function nodeAlone(): Promise<number> {
  const started = performance.now()
  await once(spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' }), 'exit')
  return performance.now() - started
}
